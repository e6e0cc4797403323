// locks.rs: tokio::sync::Mutex, RwLock, Semaphore, Notify and mpsc.
// SPDX-License-Identifier: MIT
use crate::{allocations, looped, nanoseconds, Case};
use std::future::Future;
use std::sync::Arc;
use tokio::sync::{mpsc, Mutex, Notify, RwLock, Semaphore};
use tokio::task::{yield_now, JoinSet};

const TASKS: u64 = 8;

async fn lock_unlock(n: u64) {
    let mutex = Mutex::new(0u64);
    for _ in 0..n {
        *mutex.lock().await += 1;
    }
    assert_eq!(mutex.into_inner(), n);
}

/// Runs a task of each number below 8 and waits for all.
async fn in_tasks<F>(body: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut all = JoinSet::new();
    for _ in 0..TASKS {
        all.spawn(body());
    }
    while let Some(ended) = all.join_next().await {
        ended.unwrap();
    }
}

async fn lock_contended(n: u64) {
    let mutex = Arc::new(Mutex::new(0u64));
    in_tasks(|| {
        let mutex = mutex.clone();
        async move {
            for _ in 0..n / TASKS {
                *mutex.lock().await += 1;
            }
        }
    })
    .await;
    assert_eq!(*mutex.lock().await, n / TASKS * TASKS);
}

async fn lock_handover(n: u64) {
    let mutex = Arc::new(Mutex::new(0u64));
    in_tasks(|| {
        let mutex = mutex.clone();
        async move {
            for _ in 0..n / TASKS {
                let mut count = mutex.lock().await;
                *count += 1;
                yield_now().await;
            }
        }
    })
    .await;
    assert_eq!(*mutex.lock().await, n / TASKS * TASKS);
}

async fn semaphore(n: u64) {
    let permits = Semaphore::new(2);
    for _ in 0..n {
        let _held = permits.acquire().await.unwrap();
    }
}

async fn semaphore_contended(n: u64) {
    let permits = Arc::new(Semaphore::new(2));
    in_tasks(|| {
        let permits = permits.clone();
        async move {
            for _ in 0..n / TASKS {
                let _held = permits.acquire().await.unwrap();
                yield_now().await;
            }
        }
    })
    .await;
}

async fn ping_pong(n: u64) {
    let ping = Arc::new(Notify::new());
    let pong = Arc::new(Notify::new());
    let other = {
        let (ping, pong) = (ping.clone(), pong.clone());
        tokio::spawn(async move {
            for _ in 0..n {
                ping.notified().await;
                pong.notify_one();
            }
        })
    };
    for _ in 0..n {
        ping.notify_one();
        pong.notified().await;
    }
    other.await.unwrap();
}

/// One receiver: Tokio's channel has no more.
async fn channel_1_1(n: u64) {
    let (sender, mut receiver) = mpsc::channel(128);
    tokio::spawn(async move {
        for item in 0..n {
            sender.send(item).await.unwrap();
        }
    });
    let mut sum = 0;
    while let Some(item) = receiver.recv().await {
        sum += item;
    }
    assert_eq!(sum, n * (n - 1) / 2);
}

async fn read_unlock(n: u64) {
    let lock = RwLock::new(1u64);
    let mut sum = 0;
    for _ in 0..n {
        sum += *lock.read().await;
    }
    assert_eq!(sum, n);
}

async fn read_contended(n: u64) {
    let lock = Arc::new(RwLock::new(1u64));
    in_tasks(|| {
        let lock = lock.clone();
        async move {
            let mut sum = 0;
            for _ in 0..n / TASKS {
                sum += *lock.read().await;
            }
            assert_eq!(sum, n / TASKS);
        }
    })
    .await;
}

async fn read_mostly(n: u64) {
    let lock = Arc::new(RwLock::new(1u64));
    let each = n / TASKS;
    in_tasks(|| {
        let lock = lock.clone();
        async move {
            for i in 0..each {
                if i % 100 == 0 {
                    let mut value = lock.write().await;
                    *value += 1;
                    yield_now().await;
                } else {
                    let value = lock.read().await;
                    let seen = *value;
                    yield_now().await;
                    assert_eq!(*value, seen);
                }
            }
        }
    })
    .await;
    assert_eq!(*lock.read().await, 1 + each.div_ceil(100) * TASKS);
}

pub fn cases() -> Vec<Case> {
    let readers = "8 tasks, 200,000 times each, a sum inside";
    let mostly = "8 tasks, 50,000 times each, a yield inside, every hundredth writes";
    let handover = "8 tasks, 50,000 times each, a yield inside";
    let permits = "2 permits, 8 tasks, 50,000 times each, a yield inside";
    let contended = "8 tasks, 200,000 times each, an increment inside";
    let channel = "bounded 128, 1 sender, 1 receiver, 2,000,000 items";
    let wakes = "two tasks wake each other 500,000 times";
    vec![
        looped(("lock_unlock", "ns/op", "one task, 10,000,000 times"), &[1], nanoseconds, 10_000_000, lock_unlock),
        looped(("lock_contended", "ns/op", contended), &[2], nanoseconds, 1_600_000, lock_contended),
        looped(("lock_handover", "ns/op", handover), &[], nanoseconds, 400_000, lock_handover),
        looped(("read_unlock", "ns/op", "one task, 10,000,000 times"), &[1], nanoseconds, 10_000_000, read_unlock),
        looped(("read_contended", "ns/op", readers), &[2], nanoseconds, 1_600_000, read_contended),
        looped(("read_mostly", "ns/op", mostly), &[], nanoseconds, 400_000, read_mostly),
        looped(
            ("semaphore", "ns/op", "one task acquires and releases, 10,000,000 times"),
            &[1],
            nanoseconds,
            10_000_000,
            semaphore,
        ),
        looped(("semaphore_contended", "ns/op", permits), &[], nanoseconds, 400_000, semaphore_contended),
        looped(("ping_pong", "ns/round trip", wakes), &[], nanoseconds, 500_000, ping_pong),
        looped(("channel_1_1", "ns/item", channel), &[], nanoseconds, 2_000_000, channel_1_1),
        looped(("allocs_lock", "allocations/op", "as lock_handover"), &[1], allocations, 400_000, lock_handover),
        looped(
            ("allocs_semaphore", "allocations/op", "as semaphore_contended"),
            &[1],
            allocations,
            400_000,
            semaphore_contended,
        ),
        looped(("allocs_ping_pong", "allocations/op", "as ping_pong"), &[1], allocations, 500_000, ping_pong),
        looped(("allocs_channel", "allocations/op", "as channel_1_1"), &[1], allocations, 2_000_000, channel_1_1),
    ]
}
