http = Net::HTTP.new("api.example.org", 443)
# ruleid: certificate-verification-off
http.verify_mode = OpenSSL::SSL::VERIFY_NONE
