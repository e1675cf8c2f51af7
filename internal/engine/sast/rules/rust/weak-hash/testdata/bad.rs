fn sum(data: &[u8]) -> String {
    // ruleid: weak-hash
    format!("{:x}", md5::compute(data))
}
