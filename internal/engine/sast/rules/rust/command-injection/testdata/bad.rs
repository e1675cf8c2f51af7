use std::process::Command;

fn ping(host: &str) {
    // ruleid: command-injection
    Command::new("sh").arg("-c").arg(format!("ping -c 1 {}", host)).status().unwrap();
}
