use std::process::Command;

fn ping(host: &str) {
    Command::new("ping").arg("-c").arg("1").arg(host).status().unwrap();
    Command::new("sh").arg("-c").arg("uptime").status().unwrap();
}
