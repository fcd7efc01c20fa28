//! How do I run an executor on each core, on tokio?
//!
//! A thread per core, pinned, each with a `current_thread` runtime and an executor inside. All listen on one address
//! (`SO_REUSEPORT`), cores ask each other by `Handle`, and SIGINT or SIGTERM ends it all with a deadline. What it counts, and
//! what does not depend on the host, is in `src/per_core`. `docs/PER_CORE.md` is the guide.

#![forbid(unsafe_code)]

#[cfg(unix)]
fn main() -> std::io::Result<std::process::ExitCode> {
    use clap::Parser;
    use clockworker_examples::per_core::{Options, run};

    run(&Options::parse(), unix::core)
}

#[cfg(unix)]
mod unix {
    use std::future::ready;
    use std::io;
    use std::time::Duration;

    use clockworker_examples::per_core::{Door, Ended, Session, Worker};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::sleep;

    /// How long to wait after `accept` failed: most likely there are no file descriptors left, until a connection ends.
    const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

    /// A core's thread.
    pub(crate) fn core(Worker { ex, requests, life }: Worker, door: Door) -> Ended {
        let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        rt.block_on(async move {
            let listener = TcpListener::from_std(door.listener)?;
            let accepting = requests.spawn(accept(listener, door.session));
            ex.run_until(life.until_closed(accepting, sleep)).await;
            Ok(ex.shutdown(ready(())).await)
        })
    }

    /// Each connection is a task beside this one: in the same queue.
    async fn accept(listener: TcpListener, session: Session) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(clockworker::spawn_local(connection(stream, session.clone()))),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    async fn connection(mut stream: TcpStream, mut session: Session) -> io::Result<()> {
        let (read, mut write) = stream.split();
        let mut lines = BufReader::new(read).lines();
        while let Some(line) = session.next(lines.next_line()).await {
            let Some(line) = line? else { break };
            write.write_all(session.answer(&line).await.as_bytes()).await?;
        }
        Ok(())
    }
}

#[cfg(not(unix))]
fn main() {
    panic!("SO_REUSEPORT and SIGTERM are Unix's");
}
