// main.rs: suite postgres by tokio-postgres. postgres_tokio CONNINFO single|pipeline CONNECTIONS SECONDS; postgres_tokio --version
// SPDX-License-Identifier: MIT
//
// As its documentation has it: a task that drives each connection, and one that asks. Several queries that are polled at
// once are a pipeline. All on the calling thread, as the other clients.
use futures_util::future::try_join_all;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Error, NoTls};

const BATCH: i32 = 100;

/// User and system time of this process, in ns.
fn cpu() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().unwrap() * 10_000_000;
    (ticks(11), ticks(12))
}

fn peak_kb() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

struct Counter {
    per_sample: f64,
    counts_from: Instant,
    ends: Instant,
    first: Option<(Instant, (u64, u64))>,
    last: Instant,
    samples: Vec<u64>,
}

impl Counter {
    fn new(pipeline: bool, seconds: f64) -> Self {
        let counts_from = Instant::now() + Duration::from_secs_f64(seconds / 3.0);
        Counter {
            per_sample: if pipeline { BATCH as f64 } else { 1.0 },
            counts_from,
            ends: counts_from + Duration::from_secs_f64(seconds),
            first: None,
            last: counts_from,
            samples: Vec::with_capacity(1 << 20),
        }
    }
    fn is_over(&self) -> bool {
        Instant::now() >= self.ends
    }
    fn add(&mut self, began: Instant) {
        let now = Instant::now();
        if now < self.counts_from {
            return;
        }
        self.first.get_or_insert_with(|| (now, cpu()));
        self.last = now;
        self.samples.push((now - began).as_nanos() as u64);
    }
    fn print(&mut self) {
        let (first, (user, system)) = self.first.unwrap();
        let (user_now, system_now) = cpu();
        let count = (self.samples.len() - 1) as f64 * self.per_sample;
        let seconds = (self.last - first).as_secs_f64();
        self.samples.sort_unstable();
        let quantile = |q: f64| self.samples[(q * (self.samples.len() - 1) as f64) as usize] as f64 / 1e3;
        println!(
            "{{\"rate\": {:.1}, \"p50\": {:.2}, \"p99\": {:.2}, \"cpu\": {:.0}, \"user\": {:.0}, \"rss\": {}}}",
            count / seconds,
            quantile(0.5),
            quantile(0.99),
            (user_now - user + system_now - system) as f64 / count,
            (user_now - user) as f64 / count,
            peak_kb()
        );
    }
}

async fn ask(client: Client, counter: Rc<RefCell<Counter>>) -> Result<(), Error> {
    let asked = client.prepare("select $1::int").await?;
    let mut number = 0i32;
    while !counter.borrow().is_over() {
        let began = Instant::now();
        let row = client.query_one(&asked, &[&number]).await?;
        assert_eq!(row.get::<_, i32>(0), number);
        counter.borrow_mut().add(began);
        number += 1;
    }
    Ok(())
}

async fn send_batches(client: Client, counter: Rc<RefCell<Counter>>) -> Result<(), Error> {
    let asked = client.prepare("select $1::int").await?;
    let numbers: Vec<i32> = (0..BATCH).collect();
    while !counter.borrow().is_over() {
        let began = Instant::now();
        let (client, asked) = (&client, &asked);
        let rows = try_join_all(numbers.iter().map(|number| async move { client.query_one(asked, &[number]).await })).await?;
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(row.get::<_, i32>(0), number as i32);
        }
        counter.borrow_mut().add(began);
    }
    Ok(())
}

async fn load(conninfo: &str, pipeline: bool, connections: usize, seconds: f64) -> Result<(), Error> {
    let mut clients = Vec::new();
    for _ in 0..connections {
        let (client, connection) = tokio_postgres::connect(conninfo, NoTls).await?;
        tokio::task::spawn_local(connection);
        clients.push(client);
    }
    let counter = Rc::new(RefCell::new(Counter::new(pipeline, seconds)));
    let mut tasks = Vec::new();
    for client in clients {
        let counts = counter.clone();
        tasks.push(tokio::task::spawn_local(async move {
            if pipeline {
                send_batches(client, counts).await
            } else {
                ask(client, counts).await
            }
        }));
    }
    for task in tasks {
        task.await.unwrap()?;
    }
    counter.borrow_mut().print();
    Ok(())
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() == 2 && words[1] == "--version" {
        println!("{}; {}", env!("CRATE_VERSIONS"), env!("RUSTC_VERSION"));
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    let done = local.block_on(&runtime, load(&words[1], words[2] == "pipeline", words[3].parse().unwrap(), words[4].parse().unwrap()));
    done.unwrap();
}
