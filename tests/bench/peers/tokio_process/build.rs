// build.rs: hands the versions of the compiler and of tokio to the program.
// SPDX-License-Identifier: MIT
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap();
    let output = Command::new(rustc).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let compiler: Vec<&str> = text.split_whitespace().take(2).collect();
    println!("cargo:rustc-env=RUSTC_VERSION={}", compiler.join(" "));
    println!("cargo:rustc-env=TOKIO_VERSION={}", std::env::var("BENCH_TOKIO_VERSION").unwrap());
    println!("cargo:rerun-if-env-changed=BENCH_TOKIO_VERSION");
}
