// groups.rs: tokio::join!, JoinSet, and abort_all of sets that hold sets.
// SPDX-License-Identifier: MIT
use crate::{allocations, looped, nanoseconds, Case, On};
use std::future::Future;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::{yield_now, JoinSet};

const GROUP: u64 = 1000; // children of a scope, and tasks of a group that is cancelled

async fn ready(value: u64) -> u64 {
    black_box(value)
}

async fn yielding(value: u64) -> u64 {
    yield_now().await;
    black_box(value)
}

/// Eight futures, polled by the task that joins them.
macro_rules! join_8 {
    ($child:expr) => {{
        let all = tokio::join!(
            $child(0), $child(1), $child(2), $child(3), $child(4), $child(5), $child(6), $child(7)
        );
        all.0 + all.1 + all.2 + all.3 + all.4 + all.5 + all.6 + all.7
    }};
}

async fn join_ready(n: u64) {
    for _ in 0..n {
        assert_eq!(join_8!(ready), 28);
    }
}

async fn join_yielding(n: u64) {
    for _ in 0..n {
        assert_eq!(join_8!(yielding), 28);
    }
}

/// The same children as tasks of their own, which other workers may take.
async fn set_of_8<F>(child: fn(u64) -> F) -> u64
where
    F: Future<Output = u64> + Send + 'static,
{
    let mut children = JoinSet::new();
    for value in 0..8 {
        children.spawn(child(value));
    }
    let mut sum = 0;
    while let Some(value) = children.join_next().await {
        sum += value.unwrap();
    }
    sum
}

async fn set_ready(n: u64) {
    for _ in 0..n {
        assert_eq!(set_of_8(ready).await, 28);
    }
}

async fn set_yielding(n: u64) {
    for _ in 0..n {
        assert_eq!(set_of_8(yielding).await, 28);
    }
}

async fn scopes(n: u64) {
    for _ in 0..n / GROUP {
        let mut children = JoinSet::new();
        for value in 0..GROUP {
            children.spawn(ready(value));
        }
        let mut sum = 0;
        while let Some(value) = children.join_next().await {
            sum += value.unwrap();
        }
        assert_eq!(sum, GROUP * (GROUP - 1) / 2);
    }
}

/// Counts tasks; whoever brings the count to `total` notifies.
struct Tally {
    count: AtomicU64,
    total: u64,
    reached: Notify,
}

impl Tally {
    fn new(total: u64) -> Arc<Tally> {
        Arc::new(Tally { count: AtomicU64::new(0), total, reached: Notify::new() })
    }
    fn add(&self) {
        if self.count.fetch_add(1, AcqRel) + 1 == self.total {
            self.reached.notify_one();
        }
    }
    async fn wait(&self) {
        while self.count.load(Acquire) < self.total {
            self.reached.notified().await;
        }
    }
}

/// Adds to a tally when the task is dropped, which is how an aborted one ends.
struct Ends(Arc<Tally>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// A set of tasks that each hold a set of sleeping tasks. abort_all drops the inner sets, and those abort theirs.
async fn cancel_once(total: u64) -> Duration {
    let (asleep, ended) = (Tally::new(total), Tally::new(total));
    let mut groups = JoinSet::new();
    for _ in 0..total / GROUP {
        let (asleep, ended) = (asleep.clone(), ended.clone());
        groups.spawn(async move {
            let mut tasks = JoinSet::new();
            for _ in 0..GROUP {
                let (asleep, ends) = (asleep.clone(), Ends(ended.clone()));
                tasks.spawn(async move {
                    let _ends = ends;
                    asleep.add();
                    tokio::time::sleep(Duration::from_secs(3600)).await;
                });
            }
            while tasks.join_next().await.is_some() {}
        });
    }
    asleep.wait().await;
    let start = Instant::now();
    groups.abort_all();
    while groups.join_next().await.is_some() {}
    ended.wait().await;
    start.elapsed()
}

fn cancel(name: &'static str, total: u64, passes: u32) -> Case {
    let sample = move |on: &On| {
        on.run(cancel_once(total));
        let taken: Duration = (0..passes).map(|_| on.run(cancel_once(total))).sum();
        taken.as_nanos() as f64 / (total as f64 * f64::from(passes))
    };
    let input = "groups of 1,000 tasks that sleep; from the request until all have ended";
    Case { name, variant: "", unit: "ns/task", input, threads: &[], sample: Box::new(sample) }
}

pub fn cases() -> Vec<Case> {
    let ready = "8 children that do not wait, 100,000 groups";
    let in_set = |c: Case| Case { variant: "_join_set", ..c };
    let yielding = "8 children that yield once, 100,000 groups";
    let spawned = "1,000 children spawned and joined, 500 times";
    vec![
        looped(("when_all_8_ready", "ns/group", ready), &[], nanoseconds, 100_000, join_ready),
        looped(("when_all_8_yield", "ns/group", yielding), &[], nanoseconds, 100_000, join_yielding),
        in_set(looped(("when_all_8_ready", "ns/group", ready), &[], nanoseconds, 100_000, set_ready)),
        in_set(looped(("when_all_8_yield", "ns/group", yielding), &[], nanoseconds, 100_000, set_yielding)),
        looped(("scope_1000", "ns/child", spawned), &[], nanoseconds, 500 * GROUP, scopes),
        cancel("cancel_10k", 10_000, 20),
        cancel("cancel_100k", 100_000, 3),
        looped(("allocs_when_all", "allocations/op", "as when_all_8_yield"), &[1], allocations, 100_000, join_yielding),
        looped(("allocs_scope", "allocations/op", "as scope_1000, a child"), &[1], allocations, 500 * GROUP, scopes),
    ]
}
