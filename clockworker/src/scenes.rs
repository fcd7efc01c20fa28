//! Scenes larger than the models, of which shuttle tries random orders:
//!
//! ```sh
//! RUSTFLAGS="--cfg clockworker_shuttle" cargo test -p clockworker --lib --profile hardened scenes
//! ```
//!
//! Every atomic counts as SeqCst there; orderings are for the models. A failure prints the schedule, which `shuttle::replay`
//! takes. `SCENE_ITERATIONS` says how many orders of each kind are tried: 20,000, if it is not set.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use crate::host::block_on;
use crate::sync::{Arc, ThreadId, thread};
use crate::{AbortHandle, Executor, Handle, JoinHandle, ManualClock};

/// Threads that wake every task, and how often each does.
const WAKERS: usize = 3;
const WAKES: usize = 3;
const TASKS: usize = 3;
/// Of these, the first is awaited on another thread, the second is aborted, and the third is woken until it ends.
const WANTED: usize = WAKERS * WAKES;

/// What a scene counts. Not shuttle's atomics: counting is no step of it.
#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

/// A future's witness: made and dropped on the owner's thread, once each.
struct Witness {
    owner: ThreadId,
    counts: Arc<Counts>,
}

impl Witness {
    fn new(owner: ThreadId, counts: &Arc<Counts>) -> Self {
        assert_eq!(ThreadId::current(), owner, "made on a thread that is not the owner");
        counts.made.fetch_add(1, Ordering::Relaxed);
        Witness { owner, counts: Arc::clone(counts) }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        assert_eq!(ThreadId::current(), self.owner, "dropped on a thread that is not the owner");
        self.counts.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A task that ends when it was woken for every wake, and its waker.
fn woken_task(ex: &Executor, witness: Witness, wakes: &Arc<AtomicUsize>) -> (JoinHandle<usize>, Waker) {
    let slot = Rc::new(RefCell::new(None));
    let filled = Rc::clone(&slot);
    let wakes = Arc::clone(wakes);
    let task = ex.spawn(poll_fn(move |cx| {
        assert_eq!(ThreadId::current(), witness.owner, "polled on a thread that is not the owner");
        filled.borrow_mut().get_or_insert_with(|| cx.waker().clone());
        let seen = wakes.load(Ordering::Relaxed);
        if seen == WANTED { Poll::Ready(seen) } else { Poll::Pending }
    }));
    turn(ex);
    let waker = slot.replace(Some(Waker::noop().clone())).expect("polled once");
    (task, waker)
}

/// One turn of the executor.
fn turn(ex: &Executor) {
    let mut run = pin!(ex.run_until(std::future::pending::<()>()));
    assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

fn wake_all(wakers: Vec<Waker>, wakes: Arc<AtomicUsize>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for _ in 0..WAKES {
            wakes.fetch_add(1, Ordering::Relaxed);
            wakers.iter().for_each(Waker::wake_by_ref);
        }
    })
}

fn abort_soon(abort: AbortHandle) -> thread::JoinHandle<()> {
    thread::spawn(move || abort.abort())
}

fn join_elsewhere(task: JoinHandle<usize>) -> thread::JoinHandle<()> {
    thread::spawn(move || match block_on(task) {
        Ok(seen) => assert_eq!(seen, WANTED),
        Err(error) => assert!(error.is_cancelled()),
    })
}

fn spawn_elsewhere(handle: Handle, owner: ThreadId, counts: Arc<Counts>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let task = handle.spawn(move || {
            let witness = Witness::new(owner, &counts);
            async move { drop(witness) }
        });
        assert!(block_on(task).map_or_else(|error| error.is_cancelled(), |()| true));
    })
}

/// Three threads wake three tasks, others abort one, await one and spawn one; the executor runs until the third task ends,
/// or is dropped before that.
fn scene(runs_to_the_end: bool) {
    let ex = Executor::builder().clock(ManualClock::new()).build().expect("the defaults are valid");
    let owner = ThreadId::current();
    let counts = Arc::new(Counts::default());
    let wakes = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..TASKS).map(|_| woken_task(&ex, Witness::new(owner, &counts), &wakes)).collect();
    let (tasks, wakers): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
    let [awaited, aborted, ending] = <[_; TASKS]>::try_from(tasks).expect("so many were made");
    let mut threads: Vec<_> = (0..WAKERS).map(|_| wake_all(wakers.clone(), Arc::clone(&wakes))).collect();
    drop(wakers);
    threads.push(abort_soon(aborted.abort_handle()));
    threads.push(join_elsewhere(awaited));
    threads.push(spawn_elsewhere(ex.handle(), owner, Arc::clone(&counts)));
    if runs_to_the_end {
        assert_eq!(ex.block_on(ending).expect("nobody aborts it"), WANTED);
    } else {
        turn(&ex);
        drop(ending);
    }
    drop(ex);
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert!(block_on(aborted).map_or_else(|error| error.is_cancelled(), |seen| seen == WANTED));
    assert_eq!(counts.made.load(Ordering::Relaxed), counts.dropped.load(Ordering::Relaxed));
}

fn iterations() -> usize {
    std::env::var("SCENE_ITERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

#[test]
fn all_end_in_random_orders() {
    shuttle::check_random(|| scene(true), iterations());
}

#[test]
fn all_are_answered_when_the_executor_goes_in_random_orders() {
    shuttle::check_random(|| scene(false), iterations());
}

#[test]
fn all_end_where_few_switches_are_badly_placed() {
    shuttle::check_pct(|| scene(true), iterations(), 3);
}

#[test]
fn all_are_answered_where_few_switches_are_badly_placed() {
    shuttle::check_pct(|| scene(false), iterations(), 3);
}
