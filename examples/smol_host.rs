//! How do I use it with smol?
//!
//! As with any host: `run_until` is a future, so give it to `smol::block_on`. smol's timers and sockets work in the tasks.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use clockworker::Executor;
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::unix::UnixStream;

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    smol::block_on(ex.run_until(async {
        let (mut here, mut there) = UnixStream::pair()?;
        let echo = ex.spawn(async move {
            let mut message = [0; 4];
            there.read_exact(&mut message).await?;
            smol::Timer::after(Duration::from_millis(1)).await;
            there.write_all(&message).await
        });
        here.write_all(b"ping").await?;
        let mut answer = [0; 4];
        here.read_exact(&mut answer).await?;
        echo.await??; // the task's fate, and then its output
        println!("sent ping, got {}", String::from_utf8_lossy(&answer));
        Ok(())
    }))
}
