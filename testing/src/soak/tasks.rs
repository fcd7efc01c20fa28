//! What a task does: acts at random, and waits at a [`Gate`], which one wake from elsewhere opens.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use clockworker::{Handle, JoinHandle, JoinSet, yield_now};

use super::ledger::{Entry, Ledger, Output, Tally, resolved, spawning};
use super::shared::Shared;
use crate::panics::panic_as_meant;

thread_local! {
    /// The shared of tasks that other threads spawn on this one.
    pub(super) static SHARED: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
}

/// Spawns a task through a handle, on any thread. Its future is made on the owner's.
pub(super) fn spawn_on(handle: &Handle, queue: &str, ledger: &Arc<Ledger>, id: u64) -> JoinHandle<Output> {
    let entry = Entry::open(ledger, id);
    spawning(id, || handle.spawn_on(queue, move || body(SHARED.with_borrow(Clone::clone), entry)))
}

/// A task's future. Its entry goes with it, after the output was given.
pub(super) fn body(shared: Weak<Shared>, entry: Entry) -> impl Future<Output = Output> {
    if shared.upgrade().is_some_and(|shared| shared.rng.borrow_mut().u8(..32) == 0) {
        entry.panics_when_dropped.set(true);
    }
    let entry = Rc::new(entry);
    let mut inner = Box::pin(take_steps(shared, Rc::clone(&entry)));
    poll_fn(move |cx| {
        let _captured = &entry;
        inner.as_mut().poll(cx)
    })
}

/// Keeps the shared only while it is polled.
async fn take_steps(shared: Weak<Shared>, entry: Rc<Entry>) -> Output {
    let steps = shared.upgrade().map_or(0, |shared| shared.below(12));
    for _ in 0..steps {
        let Some(here) = shared.upgrade() else { break };
        let drawn = here.rng.borrow_mut().u32(..94);
        here.note(entry.id, drawn);
        match drawn {
            0..50 => here.act(),
            50..70 => {
                drop(here);
                yield_now().await;
            }
            70..82 => {
                let gate = Gate::new(&here);
                drop(here);
                gate.await;
            }
            82..90 => {
                let task = later(&here, entry.id);
                drop(here);
                if let Some(task) = task {
                    resolved(&entry.ledger, task.await);
                }
            }
            90..92 => {
                let set = (0..here.below(6)).filter_map(|_| here.spawn()).map(|(_, task)| task).collect();
                drop(here);
                together(&shared, &entry.ledger, set).await;
            }
            _ => {
                entry.end.set(Tally::Panicked);
                panic_as_meant();
            }
        }
    }
    let panics = shared.upgrade().is_some_and(|shared| shared.one_in(16));
    let output = Output::new(&entry.ledger, panics);
    entry.end.set(Tally::Completed);
    output
}

/// The handle of a task that was spawned after this one: so no two wait for each other.
fn later(shared: &Shared, id: u64) -> Option<JoinHandle<Output>> {
    let mut handles = shared.handles.borrow_mut();
    let at = handles.iter().position(|&(other, _)| other > id)?;
    Some(handles.swap_remove(at).1)
}

/// Awaits some of them, and lets the rest go in one way or another.
async fn together(shared: &Weak<Shared>, ledger: &Arc<Ledger>, mut set: JoinSet<Output>) {
    let enough = shared.upgrade().map_or(0, |shared| shared.below(6));
    for _ in 0..enough {
        match set.join_next().await {
            Some(result) => resolved(ledger, result),
            None => break,
        }
    }
    match shared.upgrade().map_or(0, |shared| shared.below(3)) {
        0 => set.detach_all(),
        1 => {
            // As `shutdown`, which would pass the panic of an output's drop on.
            set.abort_all();
            while let Some(result) = set.join_next().await {
                resolved(ledger, result);
            }
        }
        _ => set.abort_all(),
    }
}

pub(super) struct Opener {
    open: Arc<AtomicBool>,
    pub(super) waker: Waker,
    ledger: Arc<Ledger>,
}

impl Opener {
    /// Ends the wait; one in four is woken before for nothing.
    pub(super) fn disturb_and_open(self) {
        if self.ledger.get(Tally::Wakes).is_multiple_of(4) {
            self.waker.wake_by_ref();
        }
        self.open();
    }

    pub(super) fn open(self) {
        // Ordering: Relaxed on purpose: it is the wake that has to publish this.
        self.open.store(true, Ordering::Relaxed);
        self.ledger.add(Tally::Wakes);
        self.waker.wake();
    }
}

/// Waits. At its first poll it hands out the [`Opener`].
pub(super) struct Gate {
    open: Arc<AtomicBool>,
    ledger: Arc<Ledger>,
    /// Who gets the opener; none once it was handed out.
    shared: Option<Weak<Shared>>,
}

impl Gate {
    pub(super) fn new(shared: &Shared) -> Self {
        shared.ledger.add(Tally::Waits);
        Gate { open: Arc::default(), ledger: Arc::clone(&shared.ledger), shared: Some(shared.me.clone()) }
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(shared) = self.shared.take() {
            let (open, ledger) = (Arc::clone(&self.open), Arc::clone(&self.ledger));
            if let Some(shared) = shared.upgrade() {
                shared.hand_out(Opener { open, waker: cx.waker().clone(), ledger });
            }
            return Poll::Pending;
        }
        self.ledger.beat();
        if self.open.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.ledger.add(Tally::WaitsOver);
    }
}
