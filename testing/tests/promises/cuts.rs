//! Promise 12: `run_until` may be dropped at any await; no task is lost by it.
//!
//! A program is run once to its end, to count the host's polls. Then, for each k, it is run again from the beginning, its
//! driver is dropped after k polls, and the next driver goes on. Turns have one poll of a task, so that there is a cut
//! after every poll.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::thread;

use clockworker::Executor;
use clockworker_testing::effort::pick;
use clockworker_testing::host::Host;
use clockworker_testing::watchdog::watch;
use tokio::sync::{Notify, oneshot};

/// Drivers dropped in a row, each after as many polls, in every second run.
const AGAIN: usize = 5;

#[test]
fn the_driver_may_be_dropped_after_any_of_its_polls() {
    let tasks = pick(4, 40);
    for &host in Host::ALL {
        let cuts = watch(
            move |pulse| {
                let polls = run(host, tasks, &[]).1;
                let cut = |k: u64| {
                    pulse.beat(1);
                    run(host, tasks, &[k]).0 + run(host, tasks, &[k.max(1); AGAIN]).0
                };
                (0..=polls).map(cut).sum::<u64>()
            },
            |cuts| format!("{host:?}, cut after {cuts} polls: a task is lost"),
        );
        println!("{host:?}: {cuts} cuts");
    }
}

/// Runs the program on a host, with a driver dropped after so many polls for each of `cuts`. How many drivers were dropped
/// before they were done, and how often the last was polled.
fn run(host: Host, tasks: usize, cuts: &[u64]) -> (u64, u64) {
    let ex = Executor::builder().poll_cap(1).build().unwrap();
    let ends = Rc::new(Ends::default());
    // Wakes on the owner thread while the executor is not polled, as the host's driver has them.
    let nudges = Rc::new(Notify::new());
    spawn(&ex, &ends, &nudges, tasks);
    let drivers = async {
        let mut dropped = 0;
        for &after in cuts {
            let (_, is_cut) = drive(ex.run_until(ex.drained()), after, &nudges).await;
            dropped += u64::from(is_cut);
        }
        (dropped, drive(ex.run_until(ex.drained()), u64::MAX, &nudges).await.0)
    };
    let run = host.block_on(drivers);
    assert!(ends.0.borrow().iter().all(|&ends| ends == 1), "{host:?}, cut after {cuts:?} polls: {ends:?}");
    run
}

/// Polls a driver until it is done, but at most so many times, then drops it. How often it was polled, and whether it was
/// dropped before it was done.
async fn drive<F: Future>(driver: F, most: u64, nudges: &Notify) -> (u64, bool) {
    let mut driver = Box::pin(driver);
    let mut polls = 0;
    poll_fn(move |cx| {
        if polls < most {
            polls += 1;
            if driver.as_mut().poll(cx).is_ready() {
                return Poll::Ready((polls, false));
            }
        }
        // Also just before the drop, so that there is always something that the executor has not seen yet.
        nudges.notify_waiters();
        // Dropped in the poll that makes up the number, before its wakes come.
        if polls == most { Poll::Ready((polls, true)) } else { Poll::Pending }
    })
    .await
}

/// Tasks that yield, that await others, that are answered by another thread or nudged by this one, and that spawn, in three
/// queues.
fn spawn(ex: &Executor, ends: &Rc<Ends>, nudges: &Rc<Notify>, tasks: usize) {
    let b = ex.new_queue("b").share(3).create().unwrap();
    let queues = [ex.default_queue().clone(), b, ex.new_queue("c").create().unwrap()];
    for (index, queue) in queues.iter().cycle().enumerate().take(tasks) {
        let _yields = queue.spawn(ends.watch(async move {
            for _ in 0..index % 4 {
                clockworker::yield_now().await;
            }
        }));
        let asks = queue.spawn(ends.watch(answered_elsewhere()));
        let _awaits = queue.spawn(ends.watch(async move { drop(asks.await) }));
        let nudge = Rc::clone(nudges);
        let _waits = queue.spawn(ends.watch(async move {
            for _ in 0..3 {
                nudge.notified().await;
            }
        }));
        let inner = Rc::clone(ends);
        let _spawns = queue.spawn(ends.watch(async move {
            let child = clockworker::spawn_local(inner.watch(clockworker::yield_now()));
            drop(child.await);
        }));
    }
}

async fn answered_elsewhere() {
    let (send, receive) = oneshot::channel();
    thread::spawn(move || send.send(()));
    receive.await.unwrap();
}

/// By task: how often it ended.
#[derive(Debug, Default)]
struct Ends(RefCell<Vec<u32>>);

impl Ends {
    /// The future, with its end counted.
    fn watch<F: Future>(self: &Rc<Self>, future: F) -> impl Future<Output = ()> + use<F> {
        let (ends, task) = (Rc::clone(self), self.0.borrow().len());
        self.0.borrow_mut().push(0);
        async move {
            future.await;
            ends.0.borrow_mut()[task] += 1;
        }
    }
}
