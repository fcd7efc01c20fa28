//! How do I use it without a runtime: where do timers and sockets come from then?
//!
//! From other threads. `run_until` is a future, and any `block_on` will do: the one of futures, or `Executor::block_on`, which
//! sleeps while there is nothing to do, until a wake from any thread. async-io, which is what smol's timers and sockets are, brings its own
//! thread to watch them. What blocks has a thread of its own, and answers on a channel.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::net::TcpStream;
use std::thread;

use clockworker::Executor;
use clockworker_examples::{lateness, saturate};
use futures::channel::oneshot;
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    futures::executor::block_on(ex.run_until(async {
        let foreground = saturate(&ex)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let echo = foreground.spawn(async move {
            let (mut server, _) = listener.accept().await?;
            let mut message = [0; 4];
            server.read_exact(&mut message).await?;
            server.write_all(&message).await
        });
        let answer = foreground.spawn(elsewhere(move || ask(TcpStream::connect(address)?)));
        println!("sent ping, got {}", answer.await???); // the task's fate, the thread's, and then the answer
        echo.await??;
        Ok::<_, Box<dyn Error>>(())
    }))?;
    ex.block_on(async {
        let foreground = ex.queue("foreground").ok_or("it was made above")?;
        let late = lateness(&foreground, smol::Timer::after).await?;
        println!("timers of async-io are late by {late}");
        Ok(())
    })
}

/// A client that blocks.
fn ask(mut stream: TcpStream) -> std::io::Result<String> {
    use std::io::{Read, Write};

    stream.write_all(b"ping")?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Does something that blocks on a thread of its own. An error if that panics.
fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (done, is_done) = oneshot::channel();
    thread::spawn(move || done.send(work()));
    is_done
}
