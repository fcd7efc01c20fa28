//! How do I use it with monoio, on io_uring or epoll? (Linux.)
//!
//! As with any host, give `run_until` to its `block_on`, but wrapped in `with_timers`: beside tasks that keep the executor
//! busy all the time, monoio 0.2 would fire no timer else. Turn on the feature `monoio` of `clockworker` for this.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use monoio::{IoUringDriver, LegacyDriver, RuntimeBuilder};

    linux::run("epoll", RuntimeBuilder::<LegacyDriver>::new().enable_timer().build()?)?;
    // In a program of your own take the `FusionDriver`: io_uring where the kernel has it for you, epoll else.
    if monoio::utils::detect_uring() {
        linux::run("io_uring", RuntimeBuilder::<IoUringDriver>::new().enable_timer().build()?)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::io;

    use clockworker::Executor;
    use clockworker::monoio::with_timers;
    use clockworker_examples::{lateness, saturate};
    use monoio::io::{AsyncReadRentExt, AsyncWriteRentExt};
    use monoio::net::{TcpListener, TcpStream};

    pub(crate) fn run<D: monoio::Driver>(
        driver: &str,
        mut rt: monoio::Runtime<D>,
    ) -> Result<(), Box<dyn Error>> {
        let ex = Executor::new();
        // An error of `with_timers` itself comes first: it needs a pair of sockets.
        rt.block_on(with_timers(ex.run_until(async {
            let foreground = saturate(&ex)?;

            let listener = TcpListener::bind("127.0.0.1:0")?;
            let address = listener.local_addr()?;
            let server = foreground.spawn(echo(listener));
            let mut stream = TcpStream::connect(address).await?;
            // monoio's reads and writes take a buffer, and give it back with the result.
            stream.write_all(b"ping".to_vec()).await.0?;
            let (result, answer) = stream.read_exact(vec![0; 4]).await;
            result?;
            server.await??;
            println!("sent ping over {driver}, got {}", String::from_utf8_lossy(&answer));

            let late = lateness(&foreground, monoio::time::sleep).await?;
            println!("timers on monoio, {driver}, are late by {late}");
            Ok(())
        })))?
    }

    async fn echo(listener: TcpListener) -> io::Result<usize> {
        let (mut stream, _) = listener.accept().await?;
        let (result, message) = stream.read_exact(vec![0; 4]).await;
        result?;
        stream.write_all(message).await.0
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("clockworker's feature `monoio` is for Linux");
}
