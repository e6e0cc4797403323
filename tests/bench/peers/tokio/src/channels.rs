// channels.rs: tokio::sync::oneshot, unbounded mpsc, broadcast and watch.
// SPDX-License-Identifier: MIT
use crate::{looped, nanoseconds, Case};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc, oneshot, watch, Notify};
use tokio::task::{yield_now, JoinSet};

const LISTENERS: u64 = 64;
const BATCH: u64 = 16;
const FOLLOWERS: u64 = 10_000;

async fn make_send_receive(n: u64) {
    let mut sum = 0;
    for i in 0..n {
        let (sender, receiver) = oneshot::channel();
        sender.send(i).unwrap();
        sum += receiver.await.unwrap();
    }
    assert_eq!(sum, n * (n - 1) / 2);
}

async fn unbounded(n: u64) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for item in 0..n {
            sender.send(item).unwrap();
            if item % 128 == 127 {
                yield_now().await;
            }
        }
    });
    let mut sum = 0;
    while let Some(item) = receiver.recv().await {
        sum += item;
    }
    assert_eq!(sum, n * (n - 1) / 2);
}

/// Tells one task that all others have come.
struct Meeting {
    others: u64,
    missing: AtomicU64,
    all_here: Notify,
}

impl Meeting {
    fn new(others: u64) -> Arc<Meeting> {
        Arc::new(Meeting { others, missing: AtomicU64::new(0), all_here: Notify::new() })
    }
    fn begin(&self) {
        self.missing.store(self.others, SeqCst);
    }
    fn arrive(&self) {
        if self.missing.fetch_sub(1, SeqCst) == 1 {
            self.all_here.notify_one();
        }
    }
}

async fn total(mut all: JoinSet<u64>) -> u64 {
    let mut sum = 0;
    while let Some(ended) = all.join_next().await {
        sum += ended.unwrap();
    }
    sum
}

async fn broadcast_to_all(n: u64) {
    let values = n / (LISTENERS * BATCH) * BATCH;
    let (sender, _) = broadcast::channel(BATCH as usize);
    let round = Meeting::new(LISTENERS);
    let mut all = JoinSet::new();
    for _ in 0..LISTENERS {
        let mut from = sender.subscribe();
        let round = round.clone();
        all.spawn(async move {
            let mut sum = 0;
            while let Ok(item) = from.recv().await {
                sum += item;
                if item % BATCH == BATCH - 1 {
                    round.arrive();
                }
            }
            sum
        });
    }
    for batch in 0..values / BATCH {
        round.begin();
        for i in 0..BATCH {
            sender.send(batch * BATCH + i).unwrap();
        }
        round.all_here.notified().await;
    }
    drop(sender);
    assert_eq!(total(all).await, LISTENERS * (values * values.saturating_sub(1) / 2));
}

async fn set_for_all(n: u64) {
    let readers = n.min(FOLLOWERS);
    let versions = n / readers;
    let (sender, receiver) = watch::channel(0u64);
    let round = Meeting::new(readers);
    let mut all = JoinSet::new();
    round.begin();
    for _ in 0..readers {
        let mut reader = receiver.clone();
        let round = round.clone();
        all.spawn(async move {
            let mut sum = *reader.borrow_and_update();
            round.arrive();
            while reader.changed().await.is_ok() {
                sum += *reader.borrow_and_update();
                round.arrive();
            }
            sum
        });
    }
    round.all_here.notified().await;
    for version in 1..=versions {
        round.begin();
        sender.send(version).unwrap();
        round.all_here.notified().await;
    }
    drop(sender);
    assert_eq!(total(all).await, readers * (versions * (versions + 1) / 2));
}

pub fn cases() -> Vec<Case> {
    let unbounded_input = "unbounded, 1 sender that yields every 128, 1 receiver, 2,000,000 items";
    let broadcast_input = "64 receivers, 100,000 values, 16 at once, until all have them";
    let watch_input = "10,000 readers, 200 versions, each until all have seen it";
    vec![
        looped(
            ("oneshot", "ns/op", "one task makes one, sends and receives, 5,000,000 times"),
            &[1],
            nanoseconds,
            5_000_000,
            make_send_receive,
        ),
        looped(("unbounded_1_1", "ns/item", unbounded_input), &[], nanoseconds, 2_000_000, unbounded),
        looped(("broadcast_64", "ns/delivery", broadcast_input), &[], nanoseconds, 6_400_000, broadcast_to_all),
        looped(("watch_10k", "ns/wake", watch_input), &[], nanoseconds, 2_000_000, set_for_all),
    ]
}
