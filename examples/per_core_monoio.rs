//! How do I run an executor on each core, on monoio? (Linux.)
//!
//! As `per_core_tokio`, with monoio's runtime on each thread: io_uring where the kernel has it, epoll else. What does not
//! depend on the host is in `src/per_core`. `docs/PER_CORE.md` is the guide.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<std::process::ExitCode> {
    use clap::Parser;
    use clockworker_examples::per_core::{Options, run};

    run(&Options::parse(), linux::core)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::future::ready;
    use std::io;
    use std::time::Duration;

    use clockworker::monoio::with_timers;
    use clockworker_examples::per_core::{Door, Ended, Session, Worker};
    use monoio::io::{AsyncBufReadExt, AsyncWriteRentExt, BufReader, Splitable};
    use monoio::net::{TcpListener, TcpStream};
    use monoio::time::sleep;
    use monoio::{FusionDriver, RuntimeBuilder};

    /// How long to wait after `accept` failed: most likely there are no file descriptors left, until a connection ends.
    const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

    /// A core's thread.
    pub(crate) fn core(Worker { ex, requests, life }: Worker, door: Door) -> Ended {
        let mut rt = RuntimeBuilder::<FusionDriver>::new().enable_timer().build()?;
        rt.block_on(async move {
            let listener = TcpListener::from_std(door.listener)?;
            let accepting = requests.spawn(accept(listener, door.session));
            with_timers(ex.run_until(life.until_closed(accepting, sleep))).await?;
            with_timers(ex.shutdown(ready(()))).await
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

    async fn connection(stream: TcpStream, mut session: Session) -> io::Result<()> {
        let (read, mut write) = stream.into_split();
        let mut read = BufReader::new(read);
        let mut line = String::new();
        while let Some(length) = session.next(read.read_line(&mut line)).await {
            if length? == 0 {
                break;
            }
            let answer = session.answer(&line).await;
            line.clear();
            write.write_all(answer.into_bytes()).await.0?;
        }
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    panic!("clockworker's feature `monoio` is for Linux");
}
