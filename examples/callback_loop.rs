//! How do I run tasks in a loop of callbacks, such as glib's, libuv's or Qt's?
//!
//! By a file descriptor that the loop watches as any other. The waker rings it, the loop calls back, and the callback takes a step. While
//! tasks are ready it rings again, so that the loop's other callbacks come between two steps. I/O and timers stay the loop's: a
//! callback passes on to a task what it has read. With glib this is `unix_fd_add_local`, with libuv `uv_poll_start`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

#[cfg(not(unix))]
fn main() -> Result<(), Box<dyn Error>> {
    Err("this example polls file descriptors".into())
}

#[cfg(unix)]
fn main() -> Result<(), Box<dyn Error>> {
    unix::main()
}

#[cfg(unix)]
mod unix {
    use std::error::Error;
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::rc::Rc;
    use std::sync::Arc;
    use std::task::Wake;
    use std::thread;
    use std::time::{Duration, Instant};

    use clockworker::{Executor, Step, yield_if_due};
    use futures::StreamExt;
    use futures::channel::mpsc;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// How long tasks may keep the loop from its other callbacks.
    const STEP: Duration = Duration::from_millis(1);

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let ex = Rc::new(Executor::new());
        let (bell, watched) = Bell::new()?;
        ex.on_ready(bell.clone().into());
        let mut callbacks = Loop::default();
        let steps = Rc::clone(&ex);
        callbacks.watch(watched, move |watched| {
            // However often it was rung.
            while watched.read(&mut [0; 8]).is_ok_and(|read| read == 8) {}
            match steps.run_for(STEP) {
                Step::Ready => bell.ring(),
                Step::Idle => return Ok(None),
                // Where a queue has a cap. glib would have a timeout added.
                Step::At(time) => return Ok(Some(time)),
            }
            Ok(None)
        });

        let (parts, mut received) = mpsc::unbounded();
        let (socket, peer) = UnixStream::pair()?;
        callbacks.watch(OwnedFd::from(socket).into(), move |socket| {
            let mut part = vec![0; 1024];
            let read = socket.read(&mut part)?;
            part.truncate(read);
            parts.unbounded_send(part).map_err(io::Error::other)?;
            Ok(None)
        });
        let client = thread::spawn(move || (&peer).write_all(b"one\ntwo\nthree\n").map(|()| peer));
        let answers = ex.spawn(async move {
            let mut text = Vec::new();
            while !text.ends_with(b"three\n") {
                text.extend(received.next().await.unwrap_or_default());
            }
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().for_each(|line| println!("{line} -> {}", line.to_uppercase()));
        });

        let primes = ex.spawn(async {
            let mut primes = 0;
            for n in 2..20_000_u32 {
                primes += usize::from((2..n).take_while(|by| by * by <= n).all(|by| n % by != 0));
                yield_if_due().await;
            }
            primes
        });
        while !(answers.is_finished() && primes.is_finished()) {
            callbacks.turn()?;
        }
        println!("{} primes below 20000", ex.block_on(primes)?);
        client.join().map_err(|_| "the client panicked")??;
        Ok(())
    }

    /// What makes the loop call back.
    struct Bell(File);

    impl Bell {
        /// The bell, and what the loop watches.
        fn new() -> io::Result<(Arc<Self>, File)> {
            #[cfg(target_os = "linux")]
            let [rung, watched] = {
                use rustix::event::{EventfdFlags, eventfd};
                let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
                [event.try_clone()?, event]
            };
            #[cfg(not(target_os = "linux"))]
            let [rung, watched] = {
                let (rung, watched) = UnixStream::pair()?;
                rung.set_nonblocking(true)?;
                watched.set_nonblocking(true)?;
                [rung, watched].map(OwnedFd::from)
            };
            Ok((Arc::new(Self(rung.into())), watched.into()))
        }

        fn ring(&self) {
            // It fails only where it was rung so often that it is not to be missed.
            let _ = (&self.0).write(&1_u64.to_ne_bytes());
        }
    }

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.ring();
        }
    }

    /// A loop of callbacks, in place of glib's.
    #[derive(Default)]
    struct Loop(Vec<Source>);

    /// Called when its file can be read, or when it is due: when it is due next.
    type Callback = dyn FnMut(&mut File) -> io::Result<Option<Instant>>;

    struct Source {
        file: File,
        due: Option<Instant>,
        callback: Box<Callback>,
    }

    impl Loop {
        fn watch(
            &mut self,
            file: File,
            callback: impl FnMut(&mut File) -> io::Result<Option<Instant>> + 'static,
        ) {
            self.0.push(Source { file, due: None, callback: Box::new(callback) });
        }

        /// Waits, and calls back.
        #[allow(clippy::disallowed_methods, reason = "a loop with timeouts reads the clock")]
        fn turn(&mut self) -> io::Result<()> {
            let first = self.0.iter().filter_map(|source| source.due).min();
            let timeout = first.map(|due| due.saturating_duration_since(Instant::now()));
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            let files = self.0.iter().map(|source| PollFd::new(&source.file, PollFlags::IN));
            let mut files: Vec<PollFd<'_>> = files.collect();
            poll(&mut files, timeout.as_ref())?;
            let are_readable: Vec<bool> = files.iter().map(|file| !file.revents().is_empty()).collect();
            let now = Instant::now();
            for (source, is_readable) in self.0.iter_mut().zip(are_readable) {
                if is_readable || source.due.is_some_and(|due| due <= now) {
                    source.due = (source.callback)(&mut source.file)?;
                }
            }
            Ok(())
        }
    }
}
