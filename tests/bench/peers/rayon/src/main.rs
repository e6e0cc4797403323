// main.rs: suite fork_join by rayon: `join` for recursions, `scope` for nqueens; same protocol as bench.hpp.
// SPDX-License-Identifier: MIT
mod matmul;
mod nqueens;
mod uts;

use std::time::Instant;

/// What a row of `--list` says, and one sample of it in its unit.
struct Case {
    name: &'static str,
    unit: &'static str,
    better: &'static str,
    input: String,
    extra: bool,
    sample: Box<dyn Fn() -> f64 + Send + Sync>,
}

/// Nanoseconds that `work` takes, divided by `count`.
pub fn nanoseconds_per(count: f64, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / count
}

fn fib(n: i32) -> i64 {
    if n < 2 {
        return n as i64;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn fib_sample() -> f64 {
    fib(27);
    let mut got = 0;
    let taken = nanoseconds_per(48_315_633.0, || got = fib(36));
    assert_eq!(got, 14_930_352);
    taken
}

const FAN_OUT: i64 = 10;

/// The children of a node are halved by `join` until there is one: rayon's fork has two branches.
fn skynet_children(first: i64, part: i64, children: i64) -> i64 {
    if children == 1 {
        return skynet(first, part);
    }
    let left = children / 2;
    let (a, b) = rayon::join(
        || skynet_children(first, part, left),
        || skynet_children(first + left * part, part, children - left),
    );
    a + b
}

fn skynet(first: i64, count: i64) -> i64 {
    if count == 1 {
        return first;
    }
    skynet_children(first, count / FAN_OUT, FAN_OUT)
}

fn skynet_sample() -> f64 {
    const PASSES: i64 = 10;
    skynet(0, 1_000_000);
    let mut got = 0;
    let taken = nanoseconds_per(11_111_110.0, || {
        for _ in 0..PASSES {
            got += skynet(0, 1_000_000);
        }
    });
    assert_eq!(got, PASSES * 499_999_500_000);
    taken
}

fn cases() -> Vec<Case> {
    let case = |name, unit, input: &str, sample: fn() -> f64| Case {
        name,
        unit,
        better: if unit == "GFLOP/s" { "higher" } else { "lower" },
        input: input.to_string(),
        extra: false,
        sample: Box::new(sample),
    };
    let mut all = vec![
        case("fib_36", "ns/task", "n=36, every call a task", fib_sample),
        case("skynet_1m", "ns/task", "1,000,000 leaves, 10 children a node", skynet_sample),
        case("nqueens_13", "ns/node", "n=13, every safe placement a task", nqueens::sample),
        case("matmul_1024", "GFLOP/s", "1024 x 1024 doubles, quadrants down to 32 x 32", matmul::sample),
    ];
    for tree in &uts::TREES {
        all.push(Case {
            name: tree.name,
            unit: "ns/node",
            better: "lower",
            input: format!("{} nodes, depth {}", tree.nodes, tree.depth),
            extra: tree.name != "uts_t1" && tree.name != "uts_t3",
            sample: Box::new(move || uts::sample(tree)),
        });
    }
    all
}

fn peak_memory_kb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn list(counts: &str) {
    for c in cases() {
        for threads in counts.split(',') {
            println!(
                "{{\"case\":\"{}\",\"impl\":\"rayon\",\"role\":\"peer\",\"unit\":\"{}\",\"better\":\"{}\",\
                 \"input\":\"{}\",\"version\":\"{}\",\"compiler\":\"{}\",\"extra\":{},\"threads\":{}}}",
                c.name, c.unit, c.better, c.input, env!("RAYON_VERSION"), env!("RUSTC_VERSION"), c.extra, threads
            );
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let arg = |i: usize| args.get(i).map(String::as_str).unwrap_or("");
    if arg(1) == "--list" {
        list(if args.len() > 2 { arg(2) } else { "1,2" });
        return;
    }
    let threads: usize = arg(3).parse().unwrap_or(0);
    let found = cases().into_iter().find(|c| c.name == arg(1) && arg(2) == "rayon" && threads > 0);
    let found = found.unwrap_or_else(|| {
        eprintln!("usage: {} --list [THREADS,...] | CASE rayon THREADS", arg(0));
        std::process::exit(2)
    });
    // The recursion of uts_t3 is deep; stack is taken only as far as it is touched.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(256 << 20).build().unwrap();
    let value = pool.install(|| (found.sample)());
    println!("{{\"value\":{value:.9},\"rss_kb\":{}}}", peak_memory_kb());
}
