use sha2::{Digest, Sha256};

fn sum(data: &[u8]) -> String {
    format!("{:x}", Sha256::digest(data))
}
