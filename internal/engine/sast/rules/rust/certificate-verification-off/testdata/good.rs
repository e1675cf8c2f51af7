fn client(root: reqwest::Certificate) -> reqwest::Client {
    reqwest::Client::builder().add_root_certificate(root).build().unwrap()
}
