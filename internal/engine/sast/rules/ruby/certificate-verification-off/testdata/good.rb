http = Net::HTTP.new("api.example.org", 443)
http.use_ssl = true
http.verify_mode = OpenSSL::SSL::VERIFY_PEER
