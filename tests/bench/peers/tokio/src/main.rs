// main.rs: suite sync by Tokio: its mutex, semaphore, channels, JoinSet and timers; same protocol as bench.hpp.
// SPDX-License-Identifier: MIT
mod channels;
mod groups;
mod locks;
mod selects;
mod times;

use std::alloc::{GlobalAlloc, Layout, System};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Counts allocations while it is asked to.
struct Counting;
static COUNTED: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTED.load(Relaxed) {
            ALLOCATIONS.fetch_add(1, Relaxed);
        }
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a row of `--list` says, and one sample of it in its unit. No threads: as many as are asked for.
pub struct Case {
    pub name: &'static str,
    pub variant: &'static str, // another way to do the same: ends the implementation's name
    pub unit: &'static str,
    pub input: &'static str,
    pub threads: &'static [usize],
    pub sample: Box<dyn Fn(&On) -> f64>,
}

/// Where the tasks run: `tokio` is the work-stealing runtime with this many workers, `tokio_current` the one that has
/// only the thread that blocks on it.
pub struct On(tokio::runtime::Runtime);

impl On {
    fn new(is_current: bool, threads: usize) -> On {
        use tokio::runtime::Builder;
        let mut builder = if is_current { Builder::new_current_thread() } else { Builder::new_multi_thread() };
        On(builder.worker_threads(threads).enable_time().build().unwrap())
    }

    /// Runs `body` as a task of its own, on a worker, and waits.
    pub fn run<T: Send + 'static>(&self, body: impl Future<Output = T> + Send + 'static) -> T {
        self.0.block_on(async { tokio::spawn(body).await.unwrap() })
    }
}

/// How a loop of n operations is measured, warmed up by a tenth of it.
pub type Meter = fn(u64, &dyn Fn(u64)) -> f64;

pub fn nanoseconds(n: u64, work: &dyn Fn(u64)) -> f64 {
    work(n / 10);
    let start = Instant::now();
    work(n);
    start.elapsed().as_nanos() as f64 / n as f64
}

pub fn allocations(n: u64, work: &dyn Fn(u64)) -> f64 {
    let n = n / 10;
    work(n);
    COUNTED.store(true, Relaxed);
    work(n);
    COUNTED.store(false, Relaxed);
    ALLOCATIONS.load(Relaxed) as f64 / n as f64
}

/// A case whose tasks are made by `body`(n).
pub fn looped<F>(
    about: (&'static str, &'static str, &'static str),
    threads: &'static [usize],
    meter: Meter,
    n: u64,
    body: fn(u64) -> F,
) -> Case
where
    F: Future<Output = ()> + Send + 'static,
{
    let (name, unit, input) = about;
    Case { name, variant: "", unit, input, threads, sample: Box::new(move |on| meter(n, &|n| on.run(body(n)))) }
}

/// A figure of /proc/self/status in kB.
pub fn memory_kb(field: &str) -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with(field)).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn cases() -> Vec<Case> {
    let mut all = locks::cases();
    all.extend(channels::cases());
    all.extend(selects::cases());
    all.extend(groups::cases());
    all.extend(times::cases());
    all
}

fn list(counts: &[usize]) {
    for c in cases() {
        for threads in if c.threads.is_empty() { counts } else { c.threads } {
            for implementation in ["tokio", "tokio_current"] {
                if implementation == "tokio_current" && *threads != 1 {
                    continue;
                }
                println!(
                    "{{\"case\":\"{}\",\"impl\":\"{}{}\",\"role\":\"peer\",\"unit\":\"{}\",\"better\":\"lower\",\
                     \"input\":\"{}\",\"version\":\"{}\",\"compiler\":\"{}\",\"extra\":false,\"threads\":{}}}",
                    c.name, implementation, c.variant, c.unit, c.input, env!("TOKIO_VERSION"), env!("RUSTC_VERSION"), threads
                );
            }
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let arg = |i: usize| args.get(i).map(String::as_str).unwrap_or("");
    if arg(1) == "--list" {
        let counts = if args.len() > 2 { arg(2) } else { "1,2" };
        list(&counts.split(',').filter_map(|count| count.parse().ok()).collect::<Vec<_>>());
        return;
    }
    let threads: usize = arg(3).parse().unwrap_or(0);
    let is_current = arg(2).starts_with("tokio_current");
    let found = cases().into_iter().find(|c| {
        let implementation = if is_current { "tokio_current" } else { "tokio" };
        c.name == arg(1) && arg(2) == format!("{implementation}{}", c.variant) && threads > 0 && !(is_current && threads > 1)
    });
    let found = found.unwrap_or_else(|| {
        eprintln!("usage: {} --list [THREADS,...] | CASE IMPL THREADS", arg(0));
        std::process::exit(2)
    });
    let on = On::new(is_current, threads);
    let value = (found.sample)(&on);
    println!("{{\"value\":{value:.9},\"rss_kb\":{}}}", memory_kb("VmHWM:"));
    // Tasks that sleep for an hour are not waited for.
    on.0.shutdown_background();
}
