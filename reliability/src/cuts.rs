//! Promise 12: `run_until` can be dropped at any await; no task is lost by it, and none is polled without a wake.
//!
//! A program is run once to its end, to count the host's polls. Then, for each k, it is run again from the beginning, its
//! driver is dropped after k polls, and the next driver goes on. Turns have one poll of a task, so that there is a cut
//! after every poll.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use clap::Args;
use clockworker::{Executor, QueueError};
use clockworker_testing::host::Host;
use tokio::sync::Notify;

use crate::cases::bar;
use crate::figure::{Figure, none, told};
use crate::watchdog::{Patience, Pulse};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Tasks of each kind.
    #[arg(long, value_name = "N", default_value_t = 40)]
    tasks: usize,
    /// Six tasks of each kind: some seconds.
    #[arg(long, conflicts_with = "tasks")]
    quick: bool,
    #[command(flatten)]
    patience: Patience,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let tasks = if options.quick { 6 } else { options.tasks };
    let mut figures = Vec::new();
    let bar = bar(Host::ALL.len() as u64);
    for &host in Host::ALL {
        bar.set_message(host.to_string());
        let stuck = |runs| format!("{host}: after {runs} runs one does not end: a task is lost");
        let work = move |pulse: Arc<Pulse>| cut_everywhere(host, tasks, &pulse);
        figures.extend(options.patience.watch(|_| {}, work, stuck)?);
        bar.inc(1);
    }
    Ok(figures)
}

fn cut_everywhere(host: Host, tasks: usize, pulse: &Pulse) -> anyhow::Result<[Figure; 4]> {
    /// Drivers dropped in a row, each after as many polls, in every second run.
    const AGAIN: usize = 5;
    let books = Rc::new(Books::default());
    let turns = run(host, tasks, &[], &books)?;
    for k in 0..=turns {
        run(host, tasks, &[k], &books)?;
        run(host, tasks, &[k.max(1); AGAIN], &books)?;
        pulse.beat(2);
    }
    let ended = books.ended.borrow();
    Ok([
        told(12, format!("cuts, {host}"), books.cuts.get()),
        none(12, format!("tasks lost, {host}"), ended.iter().filter(|&&ended| ended == 0).count()),
        none(12, format!("tasks that ended twice, {host}"), ended.iter().filter(|&&ended| ended > 1).count()),
        none(12, format!("polls without a wake, {host}"), books.unwoken.get()),
    ])
}

#[derive(Debug, Default)]
struct Books {
    cuts: Cell<u64>,
    /// By task: how often it ended.
    ended: RefCell<Vec<u32>>,
    unwoken: Cell<u64>,
}

/// Runs the program on a host, with a driver dropped after so many polls for each of `cuts`. How often the last driver was
/// polled.
fn run(host: Host, tasks: usize, cuts: &[u64], books: &Rc<Books>) -> anyhow::Result<u64> {
    let ex = Executor::builder().poll_cap(1).build()?;
    // Wakes on the owner thread while the executor is not polled, as the host's driver has them.
    let nudges = Rc::new(Notify::new());
    spawn(&ex, books, &nudges, tasks)?;
    let turns = host.block_on(async {
        for &after in cuts {
            let (_, is_cut) = drive(ex.run_until(ex.drained()), after, &nudges).await;
            books.cuts.set(books.cuts.get() + u64::from(is_cut));
        }
        drive(ex.run_until(ex.drained()), u64::MAX, &nudges).await.0
    })?;
    Ok(turns)
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
fn spawn(ex: &Executor, books: &Rc<Books>, nudges: &Rc<Notify>, tasks: usize) -> Result<(), QueueError> {
    let queues =
        [ex.default_queue().clone(), ex.new_queue("b").share(3).create()?, ex.new_queue("c").create()?];
    for (index, queue) in queues.iter().cycle().enumerate().take(tasks) {
        let _yields = queue.spawn(booked(books, async move {
            for _ in 0..index % 4 {
                clockworker::yield_now().await;
            }
        }));
        let asks = queue.spawn(booked(books, smol::unblock(|| {})));
        let _awaits = queue.spawn(booked(books, async move { drop(asks.await) }));
        let nudge = Rc::clone(nudges);
        let _waits = queue.spawn(booked(books, async move {
            for _ in 0..3 {
                nudge.notified().await;
            }
        }));
        let inner = Rc::clone(books);
        let _spawns = queue.spawn(booked(books, async move {
            let child = clockworker::spawn_local(booked(&inner, clockworker::yield_now()));
            drop(child.await);
        }));
    }
    Ok(())
}

/// The future, with its end and its polls in the books: each but the first is to have a wake of its own.
fn booked<F: Future>(books: &Rc<Books>, future: F) -> impl Future<Output = ()> + use<F> {
    let task = books.ended.borrow().len();
    books.ended.borrow_mut().push(0);
    let books = Rc::clone(books);
    let woken = Arc::new(AtomicBool::new(true));
    let mut future = Box::pin(future);
    poll_fn(move |cx| {
        if !woken.swap(false, Ordering::AcqRel) {
            books.unwoken.set(books.unwoken.get() + 1);
        }
        let waker = Waker::from(Arc::new(Noting { woken: Arc::clone(&woken), waker: cx.waker().clone() }));
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        polled.map(|_| books.ended.borrow_mut()[task] += 1)
    })
}

struct Noting {
    woken: Arc<AtomicBool>,
    waker: Waker,
}

impl Wake for Noting {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Ordering: Release, as the wake that follows; the poll that it causes sees it.
        self.woken.store(true, Ordering::Release);
        self.waker.wake_by_ref();
    }
}
