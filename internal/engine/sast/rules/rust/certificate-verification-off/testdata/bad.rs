fn client() -> reqwest::Client {
    // ruleid: certificate-verification-off
    reqwest::Client::builder().danger_accept_invalid_certs(true).build().unwrap()
}
