//! `with_timers`: that it leaves nothing behind, loses no wake, and says what went wrong. That timers fire is tested in
//! `beside`.

use std::future::Future;
use std::pin::{Pin, pin};
use std::process::Command;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clockworker::monoio::with_timers;
use clockworker::{Executor, yield_now};
use futures::channel::oneshot;
use monoio::{IoUringDriver, LegacyDriver, RuntimeBuilder};

use crate::host::small_turns;
use crate::support::{in_child, in_child_of, never_rests, yields};

/// Runs the body on each driver that there is, with a runtime that has timers and with one that has none.
fn on_each_runtime(body: impl AsyncFn()) {
    RuntimeBuilder::<LegacyDriver>::new().build().unwrap().block_on(body());
    RuntimeBuilder::<LegacyDriver>::new().enable_timer().build().unwrap().block_on(body());
    if monoio::utils::detect_uring() {
        RuntimeBuilder::<IoUringDriver>::new().build().unwrap().block_on(body());
        RuntimeBuilder::<IoUringDriver>::new().enable_timer().build().unwrap().block_on(body());
    }
}

/// An executor that always has work.
fn busy() -> Executor {
    let ex = small_turns();
    for _ in 0..2 {
        ex.spawn(never_rests());
    }
    ex
}

#[test]
fn the_output_is_passed_on() {
    on_each_runtime(async || {
        let ex = busy();
        let output = with_timers(ex.run_until(async {
            yields(1_000).await;
            Rc::new("output")
        }));
        assert_eq!(*output.await.unwrap(), "output");
        assert_eq!(with_timers(std::future::ready(1)).await.unwrap(), 1, "any future will do");
        let report = with_timers(ex.shutdown(yields(10))).await.unwrap();
        assert_eq!(report.cancelled, 2);
    });
}

/// Beside a busy executor that wakes itself, no other task of monoio's is polled at all.
#[test]
fn tasks_of_the_host_have_their_turn() {
    on_each_runtime(async || {
        let ex = busy();
        let neighbour = monoio::spawn(yields(100));
        with_timers(ex.run_until(neighbour)).await.unwrap();
    });
}

/// The run goes from one task of monoio's to another while it waits for another thread.
#[test]
fn the_latest_waker_counts() {
    on_each_runtime(async || {
        let (answer, answered) = oneshot::channel();
        let ex = Rc::new(Executor::new());
        let run = {
            let ex = Rc::clone(&ex);
            async move { with_timers(ex.run_until(answered)).await }
        };
        let mut run: Pin<Box<dyn Future<Output = _>>> = Box::pin(run);
        assert!(futures::poll!(run.as_mut()).is_pending());
        let moved = monoio::spawn(run);
        // It is polled there, and has nothing to do.
        monoio::spawn(yields(1)).await;
        let answerer = thread::spawn(move || answer.send(42).unwrap());
        assert_eq!(moved.await.unwrap(), Ok(42));
        answerer.join().unwrap();
    });
}

/// Wakes from other threads while the executor computes, and when it is idle.
#[test]
fn no_wake_is_lost() {
    on_each_runtime(async || {
        let ex = Executor::builder().poll_cap(2).build().unwrap();
        let handle = ex.handle();
        let (done, is_done) = oneshot::channel();
        let spawner = thread::spawn(move || {
            for n in 0..300 {
                let task = handle.spawn(move || yields(n % 8));
                futures::executor::block_on(task).unwrap();
            }
            done.send(()).unwrap();
        });
        with_timers(ex.run_until(is_done)).await.unwrap().unwrap();
        spawner.join().unwrap();
    });
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// In a process of its own, as others open files meanwhile.
#[test]
fn dropped_midway_it_leaves_nothing_open() {
    in_child(|| {
        on_each_runtime(async || with_timers(drop_runs_midway()).await.unwrap());
    });
}

/// Yields let the driver work: this is run with timers itself.
async fn drop_runs_midway() {
    let ex = busy();
    let before = open_files();
    for polls in 0..10 {
        {
            let mut run = pin!(with_timers(ex.run_until(std::future::pending::<()>())));
            for _ in 0..polls {
                assert!(futures::poll!(run.as_mut()).is_pending());
                assert_eq!(open_files(), before + 2);
                yield_now().await;
            }
        }
        // On io_uring the last operations end, and then the sockets are closed, when the driver is at work.
        let mut waited = 0;
        while open_files() > before {
            assert!(waited < 100, "{} files too many", open_files() - before);
            waited += 1;
            yield_now().await;
        }
    }
    // And the tasks are there still.
    with_timers(ex.run_until(yields(100))).await.unwrap();
}

#[test]
fn without_files_to_open_it_is_an_error() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    in_child_of(command, || {
        on_each_runtime(async || {
            let ex = busy();
            let mut files = Vec::new();
            while let Ok(file) = std::fs::File::open("/dev/null") {
                files.push(file);
            }
            let polled = std::cell::Cell::new(false);
            let refused = with_timers(ex.run_until(async { polled.set(true) })).await;
            drop(files);
            assert!(refused.is_err(), "{refused:?}");
            assert!(!polled.get());
            with_timers(ex.run_until(yields(100))).await.unwrap();
        });
    });
}

/// Timers fire while the executor computes, in more than one executor at a time.
#[test]
fn two_executors_in_one_runtime() {
    let mut rt = RuntimeBuilder::<LegacyDriver>::new().enable_timer().build().unwrap();
    rt.block_on(async {
        let run = async || {
            let ex = busy();
            let sleeps = async {
                for _ in 0..5 {
                    monoio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            with_timers(ex.run_until(sleeps)).await.unwrap();
        };
        futures::join!(monoio::spawn(run()), run());
    });
}
