// main.rs: suite process by Tokio's process::Command; same protocol as bench.hpp.
// SPDX-License-Identifier: MIT
use std::time::Instant;
use tokio::process::Command;

const MOST: usize = 1200;
const PROGRAM: &str = "/bin/true";

fn cpu_us() -> f64 {
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut used) };
    let us = |t: libc::timeval| 1e6 * t.tv_sec as f64 + t.tv_usec as f64;
    us(used.ru_utime) + us(used.ru_stime)
}

fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

async fn start_in_turn(count: usize) {
    for _ in 0..count {
        let mut child = Command::new(PROGRAM).spawn().unwrap();
        assert!(child.wait().await.unwrap().success());
    }
}

async fn start_all(count: usize, at_once: usize) {
    let tasks: Vec<_> = (0..at_once).map(|_| tokio::spawn(start_in_turn(count / at_once))).collect();
    for each in tasks {
        each.await.unwrap();
    }
}

/// Programs a second, or CPU time of this process a program.
fn sample(at_once: usize, is_cpu: bool, threads: usize) -> f64 {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().build().unwrap();
    runtime.block_on(start_all(MOST / 10, at_once));
    let before = cpu_us();
    let start = Instant::now();
    runtime.block_on(start_all(MOST, at_once));
    let seconds = start.elapsed().as_secs_f64();
    if is_cpu { (cpu_us() - before) / MOST as f64 } else { MOST as f64 / seconds }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let cases = [1, 4].into_iter().flat_map(|at_once| [(at_once, false), (at_once, true)]);
    for (at_once, is_cpu) in cases {
        let name = format!("start_wait_{}{}", at_once, if is_cpu { "_cpu" } else { "" });
        if args[1] == "--list" {
            let (unit, better) = if is_cpu { ("us CPU", "lower") } else { ("programs/s", "higher") };
            println!(
                r#"{{"case":"{}","impl":"tokio","role":"peer","unit":"{}","better":"{}","input":"{}, so many at a time","version":"{}","compiler":"{}","extra":false,"threads":2}}"#,
                name, unit, better, PROGRAM, env!("TOKIO_VERSION"), env!("RUSTC_VERSION")
            );
        } else if args[1] == name {
            let value = sample(at_once, is_cpu, args[3].parse().unwrap());
            println!(r#"{{"value":{},"rss_kb":{}}}"#, value, peak_memory_kb());
        }
    }
}
