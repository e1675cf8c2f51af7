import stripe

stripe.api_key = "sk{-}_live_oQoaF1LlqsajAIxNKu8iS2G8"  # want "Stripe access token"
client = Client(api_key="NPRVdD53X83RZJzzzzgE{-}OzdmenCkhvMdgaKjIg8x")  # want "Generic secret"
npm = "npm{-}_benyjqwx4hh5344tfjgvq4k7bn7xj8b7tfq7"  # want "npm access token"
