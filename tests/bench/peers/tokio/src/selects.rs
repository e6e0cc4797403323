// selects.rs: tokio::select! of four channels, and the wait for one channel beside it.
// SPDX-License-Identifier: MIT
use crate::{looped, nanoseconds, Case};
use tokio::sync::mpsc::{channel, Receiver, Sender};

/// Which of the four has the next value: the same ones in each program.
struct NextOfFour(u64);

impl NextOfFour {
    fn new() -> NextOfFour {
        NextOfFour(88_172_645_463_325_252)
    }
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 62) as usize
    }
}

type Senders = [Sender<u64>; 4];
type Receivers = [Receiver<u64>; 4];

fn four() -> (Senders, Receivers) {
    let (a, b, c, d) = (channel(1), channel(1), channel(1), channel(1));
    ([a.0, b.0, c.0, d.0], [a.1, b.1, c.1, d.1])
}

async fn take(from: &mut Receivers) -> u64 {
    let [a, b, c, d] = from;
    tokio::select! {
        Some(value) = a.recv() => value,
        Some(value) = b.recv() => value,
        Some(value) = c.recv() => value,
        Some(value) = d.recv() => value,
        else => unreachable!(),
    }
}

async fn select_ready(n: u64) {
    let (to, mut from) = four();
    let mut which = NextOfFour::new();
    let mut sum = 0;
    for i in 0..n {
        to[which.next()].try_send(i).unwrap();
        sum += take(&mut from).await;
    }
    assert_eq!(sum, n * (n - 1) / 2);
}

async fn receive_wait(n: u64) {
    let (to_me, mut mine) = channel(1);
    let (to_them, mut theirs) = channel(1);
    tokio::spawn(async move {
        for _ in 0..n / 2 {
            let value: u64 = theirs.recv().await.unwrap();
            to_me.try_send(value + 1).unwrap();
        }
    });
    let mut last = 0;
    for _ in 0..n / 2 {
        to_them.try_send(last).unwrap();
        last = mine.recv().await.unwrap() + 1;
    }
    assert_eq!(last, n / 2 * 2);
}

async fn select_wait(n: u64) {
    let (to_me, mut mine) = four();
    let (to_them, mut theirs) = four();
    tokio::spawn(async move {
        let mut which = NextOfFour::new();
        for _ in 0..n / 2 {
            let value = take(&mut theirs).await + 1;
            to_me[which.next()].try_send(value).unwrap();
        }
    });
    let mut which = NextOfFour::new();
    let mut last = 0;
    for _ in 0..n / 2 {
        to_them[which.next()].try_send(last).unwrap();
        last = take(&mut mine).await + 1;
    }
    assert_eq!(last, n / 2 * 2);
}

pub fn cases() -> Vec<Case> {
    let ready = "a send to one of 4 channels, a select of the 4, 5,000,000 times";
    let received = "two tasks answer each other, each by a channel, 2,000,000 turns";
    let selected = "as receive_wait, each by a select of 4 channels, 2,000,000 turns";
    vec![
        looped(("select_ready", "ns/turn", ready), &[1], nanoseconds, 5_000_000, select_ready),
        looped(("receive_wait", "ns/turn", received), &[1], nanoseconds, 2_000_000, receive_wait),
        looped(("select_wait", "ns/turn", selected), &[1], nanoseconds, 2_000_000, select_wait),
    ]
}
