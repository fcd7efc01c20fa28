//! How do I use it with the `block_on` of futures, which has neither timers nor sockets?
//!
//! `run_until` is a future, and any `block_on` will do. Timers and sockets come from a crate that brings its own thread to
//! watch them, as async-io does, which is what smol's are. The same works with `Executor::block_on`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use clockworker::Executor;
use clockworker_examples::{lateness, saturate};
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream};

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    futures::executor::block_on(ex.run_until(async {
        let foreground = saturate(&ex)?;

        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut client = TcpStream::connect(listener.local_addr()?).await?;
        let (mut server, _) = listener.accept().await?;
        let echo = foreground.spawn(async move {
            let mut message = [0; 4];
            server.read_exact(&mut message).await?;
            server.write_all(&message).await
        });
        client.write_all(b"ping").await?;
        let mut answer = [0; 4];
        client.read_exact(&mut answer).await?;
        echo.await??;
        println!("sent ping, got {}", String::from_utf8_lossy(&answer));

        let late = lateness(&foreground, smol::Timer::after).await?;
        println!("timers on futures are late by {late}");
        Ok(())
    }))
}
