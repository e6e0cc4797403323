// main.rs: the echo servers of suites io and udp by Tokio. io_tokio PORT THREADS [current|udp|unix PATH]; io_tokio --version
// SPDX-License-Identifier: MIT
//
// As Tokio's example echo-tcp: a task for each connection. `current` is the runtime that is only the
// calling thread, else the work-stealing one has THREADS workers. `udp` and `unix` are that one, too; Tokio has no calls for
// several datagrams, nor for trains.
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket, UnixListener};

async fn echo<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) {
    let mut buffer = [0u8; 4096];
    loop {
        let count = match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

async fn serve(port: u16) {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(echo(stream));
        }
    }
}

async fn serve_path(path: String) {
    let listener = UnixListener::bind(path).unwrap();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(echo(stream));
        }
    }
}

async fn echo_datagrams(port: u16) {
    let socket = UdpSocket::bind(("127.0.0.1", port)).await.unwrap();
    let mut buffer = vec![0u8; 65536];
    loop {
        if let Ok((count, peer)) = socket.recv_from(&mut buffer).await {
            let _ = socket.send_to(&buffer[..count], peer).await;
        }
    }
}

fn main() {
    use tokio::runtime::Builder;
    let args: Vec<String> = std::env::args().collect();
    let arg = |i: usize| args.get(i).map(String::as_str).unwrap_or("");
    if arg(1) == "--version" {
        println!("{}; {}", env!("TOKIO_VERSION"), env!("RUSTC_VERSION"));
        return;
    }
    let port: u16 = arg(1).parse().unwrap_or(0);
    let threads: usize = arg(2).parse().unwrap_or(0);
    if port == 0 || threads == 0 {
        eprintln!("usage: {} PORT THREADS [current|udp|unix PATH] | --version", arg(0));
        std::process::exit(2);
    }
    let mut builder = if arg(3) == "current" { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    let runtime = builder.worker_threads(threads).enable_io().build().unwrap();
    // As a task of its own, on a worker: what block_on itself runs is polled by the thread that waits.
    runtime.block_on(async {
        match arg(3) {
            "udp" => tokio::spawn(echo_datagrams(port)).await.unwrap(),
            "unix" => tokio::spawn(serve_path(arg(4).to_string())).await.unwrap(),
            _ => tokio::spawn(serve(port)).await.unwrap(),
        }
    });
}
