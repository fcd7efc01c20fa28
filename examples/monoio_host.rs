//! How do I use it with monoio, on io_uring? (Linux.)
//!
//! As with any host: give `run_until` to its `block_on`. Two things to know:
//!
//! * Wakes from other threads (and so `Handle`, and `abort` from elsewhere) need monoio's feature `sync`.
//! * monoio 0.2 looks at its *timers* only when its thread has nothing to do, so beside tasks that keep the executor busy
//!   all the time none fires (the same is true of busy tasks spawned on monoio itself). Its sockets are served.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Duration;

    use clockworker::Executor;
    use monoio::io::{AsyncReadRentExt, AsyncWriteRentExt};
    use monoio::net::{TcpListener, TcpStream};

    // The fusion driver takes io_uring where the kernel has it, and epoll where not.
    let mut rt = monoio::RuntimeBuilder::<monoio::FusionDriver>::new().enable_timer().build()?;
    let ex = Executor::new();
    rt.block_on(ex.run_until(async {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let server = ex.spawn(async move {
            let (mut stream, _) = listener.accept().await?;
            monoio::time::sleep(Duration::from_millis(1)).await;
            // monoio's reads and writes take a buffer, and give it back with the result.
            let (result, message) = stream.read_exact(vec![0; 4]).await;
            result?;
            stream.write_all(message).await.0
        });
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"ping".to_vec()).await.0?;
        let (result, answer) = stream.read_exact(vec![0; 4]).await;
        result?;
        server.await??;
        println!("sent ping, got {}", String::from_utf8_lossy(&answer));
        Ok(())
    }))
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("monoio's io_uring driver is for Linux");
}
