//! [`Lookout`]: the thread that looks at all executors that are watched. A process has one, while any is watched.

use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::StallError;
use super::error::Kind;
use super::instant;
use super::per_process::PerProcess;
use super::watch::Watch;
use crate::quietly::{drop_quietly, lock};

thread_local! {
    static IS_LOOKOUT: Cell<bool> = const { Cell::new(false) };
}

/// See the [module docs](self).
#[derive(Default)]
pub(super) struct Lookout {
    watches: Mutex<Watches>,
    changed: Condvar,
}

#[derive(Default)]
struct Watches {
    list: Vec<Arc<Watch>>,
    /// The thread that runs, or has run last.
    thread: Option<JoinHandle<()>>,
    /// The number of the thread that looks at the list. 0 if there is none: one that still runs then is about to end.
    runner: u64,
    /// The number of the thread that was started last.
    last_runner: u64,
}

/// The lookout of the calling process.
pub(super) fn get() -> &'static Lookout {
    static LOOKOUTS: PerProcess<Lookout> = PerProcess::new();
    LOOKOUTS.get()
}

/// The time since some moment.
fn now() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(instant).elapsed()
}

impl Lookout {
    /// Looks at one more executor. Starts the thread if there is none.
    pub(super) fn add(&'static self, watch: &Arc<Watch>) -> Result<(), StallError> {
        let mut watches = lock(&self.watches);
        let mut last = None;
        if watches.runner == 0 {
            let number = watches.last_runner + 1;
            let named = thread::Builder::new().name("clockworker-stalls".into());
            let thread = named.spawn(move || self.run(number));
            let thread = thread.map_err(|error| StallError(Kind::Thread(error.to_string())))?;
            last = watches.thread.replace(thread);
            (watches.runner, watches.last_runner) = (number, number);
        }
        watches.list.push(Arc::clone(watch));
        drop(watches);
        self.changed.notify_one();
        // It looks at nothing any more.
        last.into_iter().for_each(|thread| drop(thread.join()));
        Ok(())
    }

    /// Looks no more at an executor whose watch has [ended](Watch::end), and waits until a look under way is over. The last
    /// one ends the thread. On the lookout's own thread, in a hook, it waits for nothing.
    pub(super) fn remove(&self, watch: &Arc<Watch>) {
        let is_lookout = IS_LOOKOUT.get();
        let mut watches = lock(&self.watches);
        let at = watches.list.iter().position(|other| Arc::ptr_eq(other, watch));
        let removed = at.map(|at| watches.list.swap_remove(at));
        let mut thread = None;
        if watches.list.is_empty() && !is_lookout {
            watches.runner = 0;
            thread = watches.thread.take();
        }
        drop(watches);
        self.changed.notify_one();
        if !is_lookout {
            watch.wait_for_look();
        }
        thread.into_iter().for_each(|thread| drop(thread.join()));
        drop(removed);
    }

    /// Looks at all executors, again and again, until none is watched. `number` is this thread's.
    fn run(&self, number: u64) {
        IS_LOOKOUT.set(true);
        let mut looked_at = Vec::new();
        let mut watches = lock(&self.watches);
        while watches.runner == number {
            watches.list.retain(|watch| !watch.is_over());
            let Some(period) = watches.list.iter().map(|watch| watch.period()).min() else {
                watches.runner = 0;
                return;
            };
            looked_at.extend(watches.list.iter().cloned());
            drop(watches);
            looked_at.iter().for_each(|watch| watch.look(now));
            // The last reference may be among these, with a user's hook.
            looked_at.drain(..).for_each(drop_quietly);
            watches = lock(&self.watches);
            if watches.runner == number && !watches.list.is_empty() {
                let waited = self.changed.wait_timeout(watches, period);
                watches = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}
