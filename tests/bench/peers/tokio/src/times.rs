// times.rs: tokio::time: tasks that sleep, and limits that are not reached.
// SPDX-License-Identifier: MIT
use crate::{allocations, looped, memory_kb, nanoseconds, Case, On};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{yield_now, JoinSet};
use tokio::time::{sleep, timeout};

const SLEEPERS: u64 = 1_000_000;
const HOUR: Duration = Duration::from_secs(3600);

/// User and system time of the process in nanoseconds.
fn cpu_time() -> i64 {
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut used) };
    let nanoseconds = |t: libc::timeval| t.tv_sec * 1_000_000_000 + t.tv_usec * 1000;
    nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime)
}

async fn sleeps(n: u64) {
    let mut all = JoinSet::new();
    let mut random = 88_172_645_463_325_252_u64;
    for _ in 0..n {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        all.spawn(sleep(Duration::from_nanos(random % 1_000_000_000)));
    }
    while all.join_next().await.is_some() {}
}

fn sleep_cpu(on: &On) -> f64 {
    on.run(sleeps(1000));
    let before = cpu_time();
    on.run(sleeps(SLEEPERS));
    (cpu_time() - before) as f64 / SLEEPERS as f64
}

fn sleep_memory(on: &On) -> f64 {
    let asleep = Arc::new(AtomicU64::new(0));
    let counted = asleep.clone();
    on.run(async move {
        for _ in 0..SLEEPERS {
            let asleep = counted.clone();
            tokio::spawn(async move {
                asleep.fetch_add(1, Relaxed);
                sleep(HOUR).await;
            });
        }
        while counted.load(Relaxed) < SLEEPERS {
            yield_now().await;
        }
    });
    assert_eq!(asleep.load(Relaxed), SLEEPERS);
    let megabytes = memory_kb("VmRSS:") as f64 * 1024.0 / 1e6;
    println!("{{\"value\":{megabytes:.3},\"rss_kb\":{}}}", memory_kb("VmHWM:"));
    std::process::exit(0) // without taking a million tasks apart
}

async fn ready(value: u64) -> u64 {
    black_box(value)
}

async fn yielding(value: u64) -> u64 {
    yield_now().await;
    black_box(value)
}

async fn limited_ready(n: u64) {
    for i in 0..n {
        assert_eq!(timeout(HOUR, ready(i)).await, Ok(i));
    }
}

async fn limited_yielding(n: u64) {
    for i in 0..n {
        assert_eq!(timeout(HOUR, yielding(i)).await, Ok(i));
    }
}

pub fn cases() -> Vec<Case> {
    let random = "1,000,000 tasks, each sleeps a random time of up to 1 s";
    let resident = "resident while 1,000,000 tasks sleep";
    let ready = "a limit of 1 h around a task that does not wait, 1,000,000 times";
    let yielding = "a limit of 1 h around a task that yields once, 500,000 times";
    let own = |name, unit, input, threads, sample: fn(&On) -> f64| Case {
        name,
        variant: "",
        unit,
        input,
        threads,
        sample: Box::new(sample),
    };
    vec![
        own("sleep_1m", "CPU ns/task", random, &[], sleep_cpu),
        own("sleep_1m_memory", "MB", resident, &[1], sleep_memory),
        looped(("timeout_ready", "ns/op", ready), &[1], nanoseconds, 1_000_000, limited_ready),
        looped(("timeout_yield", "ns/op", yielding), &[1], nanoseconds, 500_000, limited_yielding),
        looped(("allocs_timeout", "allocations/op", "as timeout_yield"), &[1], allocations, 500_000, limited_yielding),
    ]
}
