x = "good"
