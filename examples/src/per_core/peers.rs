//! What each core knows of the others: their handles, and which of them has a key.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Barrier, OnceLock};

use clockworker::{Handle, JoinError};

/// The queue for what other cores ask.
pub(super) const CALLS: &str = "calls";

thread_local! {
    /// The keys that live on this core. No lock: only tasks of this core come here.
    static COUNTS: RefCell<HashMap<String, u64>> = RefCell::default();
}

#[derive(Debug)]
pub(super) struct Peers {
    handles: Box<[OnceLock<Handle>]>,
    met: Barrier,
}

impl Peers {
    pub(super) fn new(cores: usize) -> Self {
        Self { handles: (0..cores).map(|_| OnceLock::new()).collect(), met: Barrier::new(cores) }
    }

    /// Makes a core known to the others, and waits until all are.
    pub(super) fn meet(&self, core: usize, handle: Handle) {
        self.handles[core].set(handle).expect("each core comes once");
        self.met.wait();
    }

    /// Counts on the core where the key lives: spawns a task there, and waits for it here.
    pub(super) async fn count(&self, key: &str) -> Result<(usize, u64), JoinError> {
        let core = self.home(key);
        let handle = self.handles[core].get().expect("they have met");
        let key = key.to_owned();
        // The closure is sent; the future is made there, and need not be `Send`.
        let count = handle.spawn_on(CALLS, || async { count_here(key) }).await?;
        Ok((core, count))
    }

    fn home(&self, key: &str) -> usize {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        (hash % self.handles.len() as u64) as usize
    }
}

fn count_here(key: String) -> u64 {
    COUNTS.with_borrow_mut(|counts| {
        let count = counts.entry(key).or_default();
        *count += 1;
        *count
    })
}
