//! How do I use tokio's timers and sockets in my tasks?
//!
//! Run the executor as one future inside tokio: tokio does the I/O, Clockworker decides which task runs next. Turn on the
//! feature `tokio` of `clockworker` for this.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use clockworker::Executor;
use clockworker_examples::{lateness, saturate};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn main() -> Result<(), Box<dyn Error>> {
    // A current_thread runtime is the natural host. With a multi_thread one, `block_on` keeps to this thread too.
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ex = Executor::new();
    rt.block_on(ex.run_until(serve_and_ask(&ex)))
}

async fn serve_and_ask(ex: &Executor) -> Result<(), Box<dyn Error>> {
    // Computation does not keep tokio from its sockets and timers: the executor goes back to it every 200 µs.
    let foreground = saturate(ex)?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    foreground.spawn(serve(listener));
    for question in ["one", "two", "three"] {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(question.as_bytes()).await?;
        stream.shutdown().await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        println!("{question} -> {answer}");
    }

    let late = lateness(&foreground, tokio::time::sleep).await?;
    println!("timers on tokio are late by {late}");
    Ok(())
}

/// Answers each connection in a task of its own, in the queue that this task is in.
async fn serve(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        clockworker::spawn_local(async move {
            let mut question = String::new();
            stream.read_to_string(&mut question).await?;
            stream.write_all(question.to_uppercase().as_bytes()).await
        });
    }
}
