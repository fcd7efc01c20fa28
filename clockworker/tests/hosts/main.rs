//! The executor inside every host that it names: spawning, the host's timers and sockets beside computation, wakes from
//! other threads, and idling.
//!
//! Nothing here depends on how long anything takes. What is broken hangs, or polls too often.

use std::rc::Rc;

use clockworker::Executor;

#[cfg(all(target_os = "linux", feature = "monoio"))]
#[path = "../support"]
mod support {
    mod child;

    pub(crate) use self::child::*;
}

mod beside;
#[cfg(feature = "hyper")]
mod hyper_executor;
mod io;
mod timers;
mod wakes;
#[cfg(all(target_os = "linux", feature = "monoio"))]
mod with_timers;

fn small_turns() -> Rc<Executor> {
    Rc::new(Executor::builder().poll_cap(16).build().unwrap())
}

macro_rules! every_host_can {
    ($run:ident) => {
        #[test]
        fn spawn_and_join() {
            $run(Default::default(), crate::wakes::spawn_and_join);
        }

        #[test]
        fn wakes_from_other_threads() {
            $run(Default::default(), crate::wakes::wakes_from_other_threads);
        }

        #[test]
        fn idle_does_not_spin() {
            $run(Default::default(), crate::wakes::idle_does_not_spin);
        }

        #[test]
        fn a_throttled_queue_wakes_the_host() {
            $run(Default::default(), crate::wakes::a_throttled_queue_wakes_the_host);
        }

        #[test]
        fn leftover_work_wakes_the_host() {
            $run(crate::small_turns(), crate::wakes::leftover_work_wakes_the_host);
        }
    };
    ($run:ident, $io:ty) => {
        every_host_can!($run);

        #[test]
        fn sockets_beside_computation() {
            $run(Default::default(), crate::beside::sockets_beside_computation::<$io>);
        }

        #[test]
        fn sockets_beside_computation_with_small_turns() {
            $run(crate::small_turns(), crate::beside::sockets_beside_computation::<$io>);
        }

        #[test]
        fn idle_does_not_spin_beside_a_timer() {
            $run(Default::default(), crate::wakes::idle_does_not_spin_beside_a_timer::<$io>);
        }
    };
}

/// `Io::echo` where the host's crate has the traits and streams by the names of tokio's.
macro_rules! echo_with {
    ($host:ident) => {
        async fn echo(messages: u32) {
            use $host::io::{AsyncReadExt, AsyncWriteExt};
            use $host::net::{TcpListener, TcpStream};

            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = clockworker::spawn_local(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut buffer = [0; crate::io::MESSAGE.len()];
                for _ in 0..messages {
                    stream.read_exact(&mut buffer).await.unwrap();
                    stream.write_all(&buffer).await.unwrap();
                }
            });
            let mut stream = TcpStream::connect(address).await.unwrap();
            for _ in 0..messages {
                stream.write_all(&crate::io::MESSAGE).await.unwrap();
                let mut buffer = [0; crate::io::MESSAGE.len()];
                stream.read_exact(&mut buffer).await.unwrap();
                assert_eq!(buffer, crate::io::MESSAGE);
            }
            server.await.unwrap();
        }
    };
}

/// For hosts that look at their timers although a task of theirs, the executor, is ready all the time.
macro_rules! timers_fire_beside_computation {
    ($run:ident, $io:ty) => {
        #[test]
        fn timers_beside_computation() {
            $run(Default::default(), crate::beside::timers_beside_computation::<$io>);
        }

        #[test]
        fn timers_beside_computation_with_small_turns() {
            $run(crate::small_turns(), crate::beside::timers_beside_computation::<$io>);
        }

        #[test]
        fn timers_and_sockets_beside_computation() {
            $run(Default::default(), crate::beside::timers_and_sockets_beside_computation::<$io>);
        }

        #[test]
        fn the_host_has_its_turns() {
            $run(crate::small_turns(), crate::beside::the_host_has_its_turns::<$io>);
        }
    };
}

/// For hosts that themselves look at their timers, on the executor's thread, after each of its turns. The others have
/// theirs fired by another thread (tokio's `multi_thread` runtime by its workers; async-io, which is under smol, by
/// whichever thread has its reactor just then), and when the operating system runs that one is nobody's promise; or after
/// up to 61 turns (tokio's `LocalSet`).
macro_rules! timers_fire_after_the_turn {
    ($run:ident, $io:ty) => {
        #[test]
        fn timers_fire_after_the_turn() {
            thread_local!(static CLOCK: clockworker::ManualClock = clockworker::ManualClock::new());
            let clock = CLOCK.with(Clone::clone);
            let ex = Executor::builder().clock(clock).build().unwrap();
            $run(Rc::new(ex), |ex| crate::timers::timers_fire_after_the_turn::<$io>(ex, CLOCK.with(Clone::clone)));
        }
    };
}

// After the macros that they use.
#[cfg(target_os = "linux")]
mod on_monoio;
mod on_smol;
mod on_tokio;
