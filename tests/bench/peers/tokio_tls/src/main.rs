// main.rs: the servers of suite tls by Tokio. tls_tokio PORT THREADS MODE FOLDER rustls|openssl [current]; tls_tokio --version
// SPDX-License-Identifier: MIT
//
// As the examples of tokio-rustls and tokio-openssl: a task for each connection. MODE says what it does with it: echo,
// source or sink. `current` is the runtime that is only the calling thread, else the work-stealing one has THREADS workers.
use std::fs::File;
use std::io::BufReader;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const BULK: usize = 64 * 1024;

#[derive(Clone, Copy)]
enum Mode {
    Echo,
    Source,
    Sink,
}

async fn echo<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> std::io::Result<()> {
    let mut buffer = [0u8; 4096];
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..count]).await?;
        stream.flush().await?;
    }
}

async fn source<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> std::io::Result<()> {
    let mut request = [0u8; 4096];
    if stream.read(&mut request).await? == 0 {
        return Ok(());
    }
    let content = vec![b'x'; BULK];
    loop {
        stream.write_all(&content).await?;
    }
}

async fn sink<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> std::io::Result<()> {
    let mut buffer = vec![0u8; BULK];
    while stream.read(&mut buffer).await? != 0 {}
    Ok(())
}

async fn serve_one<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, mode: Mode) {
    // When a client has said its farewell (close_notify) the connection is dropped, as nginx does it.
    let _ = match mode {
        Mode::Echo => echo(&mut stream).await,
        Mode::Source => source(&mut stream).await,
        Mode::Sink => sink(&mut stream).await,
    };
}

/// How a connection becomes an encrypted one.
#[derive(Clone)]
enum Acceptor {
    Rustls(tokio_rustls::TlsAcceptor),
    OpenSsl(openssl::ssl::SslAcceptor),
}

fn by_rustls(folder: &str) -> Acceptor {
    use tokio_rustls::rustls::{Certificate, PrivateKey, ServerConfig, Ticketer};
    let open = |name: &str| BufReader::new(File::open(format!("{folder}/{name}.pem")).unwrap());
    let chain = rustls_pemfile::certs(&mut open("cert")).unwrap();
    let key = rustls_pemfile::pkcs8_private_keys(&mut open("key")).unwrap().remove(0);
    let mut config = ServerConfig::builder()
        .with_safe_defaults()
        .with_no_client_auth()
        .with_single_cert(chain.into_iter().map(Certificate).collect(), PrivateKey(key))
        .unwrap();
    config.ticketer = Ticketer::new().unwrap(); // as the others: tickets, no memory of sessions
    Acceptor::Rustls(tokio_rustls::TlsAcceptor::from(Arc::new(config)))
}

fn by_openssl(folder: &str) -> Acceptor {
    use openssl::ssl::{SslAcceptor, SslFiletype, SslMethod};
    let mut builder = SslAcceptor::mozilla_modern_v5(SslMethod::tls()).unwrap();
    builder.set_certificate_chain_file(format!("{folder}/cert.pem")).unwrap();
    builder.set_private_key_file(format!("{folder}/key.pem"), SslFiletype::PEM).unwrap();
    Acceptor::OpenSsl(builder.build())
}

async fn handle(stream: TcpStream, acceptor: Acceptor, mode: Mode) {
    match acceptor {
        Acceptor::Rustls(acceptor) => {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve_one(stream, mode).await;
            }
        }
        Acceptor::OpenSsl(acceptor) => {
            let ssl = openssl::ssl::Ssl::new(acceptor.context()).unwrap();
            let mut stream = tokio_openssl::SslStream::new(ssl, stream).unwrap();
            if Pin::new(&mut stream).accept().await.is_ok() {
                serve_one(stream, mode).await;
            }
        }
    }
}

async fn serve(port: u16, acceptor: Acceptor, mode: Mode) {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(handle(stream, acceptor.clone(), mode));
        }
    }
}

fn main() {
    use tokio::runtime::Builder;
    let args: Vec<String> = std::env::args().collect();
    let arg = |i: usize| args.get(i).map(String::as_str).unwrap_or("");
    if arg(1) == "--version" {
        println!("{}; {}", env!("CRATE_VERSIONS"), env!("RUSTC_VERSION"));
        return;
    }
    let port: u16 = arg(1).parse().unwrap_or(0);
    let threads: usize = arg(2).parse().unwrap_or(0);
    let mode = match arg(3) {
        "echo" => Some(Mode::Echo),
        "source" => Some(Mode::Source),
        "sink" => Some(Mode::Sink),
        _ => None,
    };
    if port == 0 || threads == 0 || mode.is_none() || args.len() < 6 {
        eprintln!("usage: {} PORT THREADS echo|source|sink FOLDER rustls|openssl [current] | --version", arg(0));
        std::process::exit(2);
    }
    let acceptor = if arg(5) == "openssl" { by_openssl(arg(4)) } else { by_rustls(arg(4)) };
    let mut builder = if arg(6) == "current" { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    let runtime = builder.worker_threads(threads).enable_io().build().unwrap();
    // As a task of its own, on a worker: what block_on itself runs is polled by the thread that waits.
    runtime.block_on(async { tokio::spawn(serve(port, acceptor, mode.unwrap())).await.unwrap() });
}
