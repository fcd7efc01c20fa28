//! How do I use it without any runtime: what do tasks wait for then?
//!
//! For other threads. `Executor::block_on` sleeps while there is nothing to do, and a wake from any thread ends that. Here
//! one thread is the clock and another talks to a TCP socket; the tasks await their answers on channels.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clockworker::Executor;
use clockworker_examples::{lateness, saturate};
use futures::channel::oneshot;

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    ex.block_on(async {
        let foreground = saturate(&ex)?;

        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || echo(&listener));
        let answer = foreground.spawn(elsewhere(move || {
            let mut stream = TcpStream::connect(address)?;
            stream.write_all(b"ping")?;
            let mut answer = [0; 4];
            stream.read_exact(&mut answer)?;
            Ok::<_, io::Error>(answer)
        }));
        let answer = answer.await???; // the task's fate, the thread's, and then the answer
        println!("sent ping, got {}", String::from_utf8_lossy(&answer));

        let clock = clock();
        let late = lateness(&foreground, move |time| sleep(&clock, time)).await?;
        println!("timers of a thread are late by {late}");
        Ok(())
    })
}

fn echo(listener: &TcpListener) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    let mut message = [0; 4];
    stream.read_exact(&mut message)?;
    stream.write_all(&message)
}

/// Does something that blocks on a thread of its own. An error if that panics.
fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (done, is_done) = oneshot::channel();
    thread::spawn(move || done.send(work()));
    is_done
}

/// When to wake somebody, and whom.
type Alarm = (Instant, oneshot::Sender<()>);

/// A thread that wakes one sleeper after the other: here all sleep equally long, so the first comes first.
#[allow(clippy::disallowed_methods, reason = "this thread is the clock")]
fn clock() -> mpsc::Sender<Alarm> {
    let (alarms, set) = mpsc::channel::<Alarm>();
    thread::spawn(move || {
        for (deadline, sleeper) in set {
            thread::sleep(deadline.saturating_duration_since(Instant::now()));
            let _gone = sleeper.send(());
        }
    });
    alarms
}

#[allow(clippy::disallowed_methods, reason = "the clock is told a time")]
fn sleep(clock: &mpsc::Sender<Alarm>, time: Duration) -> oneshot::Receiver<()> {
    let (alarm, woken) = oneshot::channel();
    let _sent = clock.send((Instant::now() + time, alarm));
    woken
}
