//! How do I use it with smol?
//!
//! As with any host: `run_until` is a future, so give it to `smol::block_on`. smol's timers and sockets work in the tasks.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::io;

use clockworker::Executor;
use clockworker_examples::{lateness, saturate};
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream};

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    smol::block_on(ex.run_until(async {
        let foreground = saturate(&ex)?;

        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = foreground.spawn(echo(listener));
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"ping").await?;
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).await?;
        server.await??; // the task's fate, and then its output
        println!("sent ping, got {}", String::from_utf8_lossy(&answer));

        let late = lateness(&foreground, smol::Timer::after).await?;
        println!("timers on smol are late by {late}");
        Ok(())
    }))
}

async fn echo(listener: TcpListener) -> io::Result<()> {
    let (mut stream, _) = listener.accept().await?;
    let mut message = [0; 4];
    stream.read_exact(&mut message).await?;
    stream.write_all(&message).await
}
