x = "good"
y = "ev{-}il"  # want "evil"
