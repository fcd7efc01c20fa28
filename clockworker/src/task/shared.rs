//! What an executor's tasks, handles and other threads share.

use std::collections::{BTreeMap, HashMap};
use std::ptr::NonNull;

use clockworker_schedulers::QueueId;

use super::inbox::Inbox;
use super::listening::{Listening, LocalProbe};
use super::main_flag::MainFlag;
use super::pool::{Class, Pool};
use super::{Arrivals, Credits, Id, OwnerCell, Placement};
use crate::sync::{Mutex, MutexGuard};

/// Placements whose memory is kept when none is left: some 200 KiB.
const PLACEMENTS_KEPT: usize = 2_048;

/// Lives as long as the last cell, handle or executor that needs it; see [`SharedRef`](crate::task::SharedRef).
pub(crate) struct Shared {
    /// The owner thread's way in.
    local: OwnerCell<Local>,
    /// The other threads' way in.
    pub(crate) inbox: Inbox,
    /// Whether the future given to `run_until` was woken.
    pub(crate) main: MainFlag,
    names: Mutex<Names>,
    /// Of tasks from other threads that are still to be admitted, but of those only that have one.
    placements: Mutex<HashMap<Id, Placement>>,
    pub(super) listening: Listening,
}

/// What only the owner thread reaches.
pub(crate) struct Local {
    pub(crate) arrivals: Arrivals,
    pub(crate) credits: Credits,
    pool: Pool,
    pub(super) probe: LocalProbe,
}

/// Names of queues, for spawns from other threads. A wake never takes the lock.
#[derive(Default)]
struct Names {
    /// Ordered, since comparing a few short names takes less than hashing one.
    queues: BTreeMap<Box<str>, Named>,
    stopped: Option<Stopped>,
    /// Refused spawns that the owner has not counted yet and that belong to no closed queue.
    refused: u64,
}

/// The queue that was given a name last.
struct Named {
    id: QueueId,
    /// Whether it takes tasks. If not, the name is free.
    is_open: bool,
    /// Whether it takes tasks of children, if it is not open.
    drains: bool,
    /// Spawns refused since it was closed that the owner has not counted yet.
    refused: u64,
}

/// Why no queue takes any more tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    ShutDown,
    Dropped,
}

/// Which spawns are refused by an executor or a queue that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refuses {
    /// All but those of tasks under way.
    Outsiders,
    All,
}

impl Named {
    fn close(&mut self, refuses: Refuses) {
        (self.is_open, self.drains) = (false, refuses == Refuses::Outsiders);
    }
}

impl Local {
    fn new() -> Self {
        Self {
            arrivals: Arrivals::default(),
            credits: Credits::default(),
            pool: Pool::new(),
            probe: LocalProbe::default(),
        }
    }
}

impl Shared {
    /// Makes the calling thread the owner.
    pub(crate) fn new() -> Self {
        Self {
            local: OwnerCell::new(Local::new()),
            inbox: Inbox::new(),
            main: MainFlag::new(),
            names: Mutex::new(Names::default()),
            placements: Mutex::new(HashMap::new()),
            listening: Listening::new(),
        }
    }

    /// The owner thread's part, if this is the owner thread.
    #[inline]
    pub(crate) fn local(&self) -> Option<&Local> {
        self.local.get()
    }

    /// The owner thread's part.
    ///
    /// # Safety
    ///
    /// This is the owner thread.
    #[inline(always)]
    pub(super) unsafe fn local_unchecked(&self) -> &Local {
        // SAFETY: the caller's promise.
        unsafe { self.local.get_unchecked() }
    }

    /// Takes the memory of a cell: from the pool, if this is the owner thread.
    #[inline]
    pub(super) fn take_memory(&self, class: Class) -> NonNull<u8> {
        self.local().map_or_else(|| class.allocate(), |local| local.pool.take(class))
    }

    /// Gives the memory of a cell back: to the pool on the owner thread, whose part `local` is.
    ///
    /// # Safety
    ///
    /// [`take_memory`](Self::take_memory) gave it out for this class, and nothing uses it any more.
    #[inline]
    pub(super) unsafe fn give_memory_back(local: Option<&Local>, class: Class, memory: NonNull<u8>) {
        match local {
            // SAFETY: the caller's promise.
            Some(local) => unsafe { local.pool.give_back(class, memory) },
            // SAFETY: as above.
            None => unsafe { class.deallocate(memory) },
        }
    }

    /// Has the pool keep nothing from now on.
    pub(crate) fn close_pool(&self) {
        self.local().into_iter().for_each(|local| local.pool.close());
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        lock(&self.names)
    }

    /// Keeps the placement of a task from this thread until it is admitted.
    pub(crate) fn put_placement(&self, task: Id, placement: Placement) {
        lock(&self.placements).insert(task, placement);
    }

    /// Takes the placement of a task away.
    pub(crate) fn take_placement(&self, task: Id) -> Option<Placement> {
        let mut placements = lock(&self.placements);
        let placement = placements.remove(&task);
        if placements.is_empty() && placements.capacity() > PLACEMENTS_KEPT {
            *placements = HashMap::new();
        }
        placement
    }

    /// The names of the queues that may take tasks, in their order.
    pub(crate) fn queue_names(&self, of_child: bool) -> Vec<String> {
        let names = self.names();
        let queues = names.queues.iter();
        queues
            .filter(|(_, named)| named.is_open || of_child && named.drains)
            .map(|(name, _)| name.to_string())
            .collect()
    }

    /// Makes a queue known to other threads. False if the name is taken.
    pub(crate) fn add_name(&self, name: &str, id: QueueId) -> bool {
        let mut names = self.names();
        if names.queues.get(name).is_some_and(|named| named.is_open) {
            return false;
        }
        let closed = names.queues.insert(name.into(), Named { id, is_open: true, drains: false, refused: 0 });
        names.refused += closed.map_or(0, |closed| closed.refused);
        true
    }

    /// Gives an open queue another name in one step. False if the name is taken.
    pub(crate) fn rename(&self, old: &str, name: &str, id: QueueId) -> bool {
        let mut names = self.names();
        if names.queues.get(name).is_some_and(|named| named.is_open) {
            return false;
        }
        let displaced =
            names.queues.insert(name.into(), Named { id, is_open: true, drains: false, refused: 0 });
        names.queues.remove(old);
        names.refused += displaced.map_or(0, |closed| closed.refused);
        true
    }

    /// Hides a closed queue from other threads, or from all but children. Spawns that name it are refused, and counted.
    pub(crate) fn close_name(&self, name: &str, id: QueueId, refuses: Refuses) {
        if let Some(named) = self.names().queues.get_mut(name).filter(|named| named.id == id) {
            named.close(refuses);
        }
    }

    /// Forgets the name of a queue that is gone, unless another has it by now.
    pub(crate) fn remove_name(&self, name: &str, id: QueueId) {
        let mut names = self.names();
        if names.queues.get(name).is_some_and(|named| named.id == id) {
            let gone = names.queues.remove(name);
            names.refused += gone.map_or(0, |gone| gone.refused);
        }
    }

    /// Counts a refused spawn on the queue of that name, or for the executor if there is none.
    pub(crate) fn count_refused(&self, name: &str) {
        let mut names = self.names();
        let is_stopped = names.stopped.is_some();
        match names.queues.get_mut(name) {
            Some(named) if !named.is_open && !is_stopped => named.refused += 1,
            _ => names.refused += 1,
        }
    }

    /// Takes the count of refused spawns on the closed queue of that name, if there is one.
    pub(crate) fn take_refused(&self, name: &str) -> Option<(QueueId, u64)> {
        let mut names = self.names();
        let named = names.queues.get_mut(name).filter(|named| !named.is_open)?;
        Some((named.id, std::mem::take(&mut named.refused)))
    }

    /// Takes the count of refused spawns that belong to no closed queue.
    pub(crate) fn take_refused_elsewhere(&self) -> u64 {
        std::mem::take(&mut self.names().refused)
    }

    /// The queue of that name, if it may take tasks, or a child.
    pub(crate) fn find(
        &self,
        name: &str,
        of_child: impl FnOnce() -> bool,
    ) -> Result<Option<QueueId>, Stopped> {
        let names = self.names();
        match names.queues.get(name) {
            Some(named) if named.is_open || named.drains && of_child() => Ok(Some(named.id)),
            _ => names.stopped.map_or(Ok(None), Err),
        }
    }

    /// Refuses spawns from other threads for this reason. Takes all names away, unless children are to find them.
    pub(crate) fn refuse_tasks(&self, why: Stopped, refuses: Refuses) {
        let mut names = self.names();
        names.stopped = Some(why);
        if refuses == Refuses::Outsiders {
            names.queues.values_mut().filter(|named| named.is_open).for_each(|named| named.close(refuses));
            return;
        }
        let left: u64 = names.queues.values().map(|named| named.refused).sum();
        names.refused += left;
        names.queues.clear();
    }
}

pub(super) fn lock<T>(data: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that could panic runs under these locks, and their data are whole at every step.
    data.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
