// build.rs: hands the versions of the compiler and of what the lock file has to the program.
// SPDX-License-Identifier: MIT
use std::process::Command;

fn version_of(lock: &str, name: &str) -> String {
    let head = format!("name = \"{name}\"\nversion = \"");
    let begin = lock.find(&head).expect(name) + head.len();
    let length = lock[begin..].find('"').unwrap();
    format!("{name} {}", &lock[begin..begin + length])
}

fn main() {
    let rustc = std::env::var("RUSTC").unwrap();
    let output = Command::new(rustc).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let compiler: Vec<&str> = text.split_whitespace().take(2).collect();
    let lock = std::fs::read_to_string("Cargo.lock").unwrap();
    let names = ["tokio", "tokio-postgres"];
    let crates: Vec<String> = names.iter().map(|name| version_of(&lock, name)).collect();
    println!("cargo:rustc-env=RUSTC_VERSION={}", compiler.join(" "));
    println!("cargo:rustc-env=CRATE_VERSIONS={}", crates.join(", "));
    println!("cargo:rerun-if-changed=Cargo.lock");
}
