//! An executor per core: what the examples `per_core_tokio` and `per_core_monoio` share. `docs/PER_CORE.md` is the guide.
//!
//! The service counts. Each key lives on one core, and a connection may be on any: a core asks another by its
//! [`Handle`](clockworker::Handle). Clients send lines:
//!
//! | Line | Answer |
//! |---|---|
//! | `add KEY` | `KEY COUNT, counted on core N` |
//! | `begin` | `begun`: what follows belongs together, and a stop waits for its end |
//! | `end` | `ended` |

mod listeners;
mod options;
mod peers;
mod session;
mod signals;
mod worker;

pub use options::Options;
pub use session::Session;
pub use worker::{Door, Ended, Life, Worker};

use std::io;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

use crate::say;
use peers::Peers;
use tokio::sync::watch;
use worker::{Duty, Event};

/// Runs `work` on a thread per core until SIGINT or SIGTERM, and says how each ended. The code is a failure if anything
/// was cut.
///
/// # Errors
///
/// If the address is not to be had, or there can be no threads or no signal handlers.
pub fn run(options: &Options, work: fn(Worker, Door) -> Ended) -> io::Result<ExitCode> {
    // None where the system does not say which this process may use.
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let count = options.cores.map_or(cores.len().max(1), NonZero::get);
    let listeners = listeners::open(options.address, count)?;
    let address = listeners[0].local_addr()?;
    let (events, told) = channel();
    signals::watch(events.clone())?;
    // What is sent is that the sender is dropped.
    let ((stop, stopped), (close, closed)) = (watch::channel(()), watch::channel(()));
    let peers = Arc::new(Peers::new(count));
    let mut threads = Vec::new();
    for (index, listener) in listeners.into_iter().enumerate() {
        let duty = Duty { grace: options.grace(), stopped: stopped.clone(), closed: closed.clone() };
        // If there are more threads than cores, they share.
        let core = cores.get(index % cores.len().max(1)).copied();
        let (peers, events) = (Arc::clone(&peers), events.clone());
        let thread = move || {
            if !core.is_some_and(core_affinity::set_for_current) {
                let _ = events.send(Event::NotPinned(index));
            }
            let (worker, session) = Worker::new(index, peers, duty, events).map_err(io::Error::other)?;
            work(worker, Door { listener, session })
        };
        threads.push(thread::Builder::new().name(format!("core {index}")).spawn(thread)?);
    }
    drop(events);
    say(&format!("listening on {address}, {count} cores"))?;
    stop_all(&told, stop, count)?;
    drop(close);
    report(threads)
}

/// Waits until it is time to stop, tells all cores, and waits until none of them will ask another any more.
fn stop_all(told: &Receiver<Event>, stop: watch::Sender<()>, cores: usize) -> io::Result<()> {
    let mut stop = Some(stop);
    let mut done = 0;
    while done < cores {
        let Ok(event) = told.recv() else { break };
        match event {
            Event::NotPinned(core) => {
                say(&format!("core {core} is not pinned"))?;
                continue;
            }
            Event::Signal => say("stopping")?,
            Event::Done => done += 1,
        }
        // A core that is done before anybody said so has failed: the others are not to go on without its keys.
        drop(stop.take());
    }
    Ok(())
}

/// Says how each core ended.
fn report(threads: Vec<JoinHandle<Ended>>) -> io::Result<ExitCode> {
    let mut all_is_well = true;
    for (index, thread) in threads.into_iter().enumerate() {
        let (well, how) = match thread.join() {
            Ok(Ok(report)) => (report.cancelled + report.panicked == 0, report.to_string()),
            Ok(Err(error)) => (false, error.to_string()),
            Err(_) => (false, "panicked".to_owned()),
        };
        all_is_well &= well;
        say(&format!("core {index}: {how}"))?;
    }
    Ok(if all_is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::io;
    use std::process::ExitCode;
    use std::thread;

    use clap::Parser;

    use super::{Door, Ended, Options, Worker, run};

    /// Core 1 fails, and core 0 takes no connections, until it is told to stop.
    fn core(Worker { ex, requests, life }: Worker, door: Door) -> Ended {
        if thread::current().name() == Some("core 1") {
            return Err(io::Error::other("no descriptors left"));
        }
        let accepting = requests.spawn(async move {
            pending::<()>().await;
            drop(door);
        });
        ex.block_on(life.until_closed(accepting, |_| pending::<()>()));
        Ok(ex.block_on_shutdown(ready(())))
    }

    #[test]
    fn a_core_that_fails_ends_the_others() {
        let code = run(&Options::parse_from(["test", "--cores", "2"]), core).unwrap();
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::FAILURE));
    }
}
