defp deps do
  [{:plug, "~> 1.3"}]
end
