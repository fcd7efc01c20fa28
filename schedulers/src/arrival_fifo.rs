//! [`ArrivalFifo`]: the order in which tasks were spawned.

use core::fmt;
use core::num::NonZeroU32;
use core::ops::Bound::Excluded;
use std::collections::BTreeMap;

use crate::turn::Turn;
use crate::{Ready, Scheduler, Task, TaskId};

/// Says in `arrivals` that the slot's task has no arrival number.
const UNKNOWN: u64 = u64::MAX;

/// The task that was spawned first goes first, however often it slept since: first come, first served over whole tasks.
///
/// Good where tasks are requests of like size: what is nearly done is finished before new work is begun, which keeps
/// the response times close together and few tasks half-done. A push and a pop cost O(log R) with *R* tasks ready.
///
/// # Starvation
///
/// An early task that yields for ever would starve all later ones. So every Nth pop ([`fair_every`], 32 unless told
/// otherwise) is a *fair turn*: it takes the next ready task after the one that the last fair turn took, in order of
/// arrival. Fair turns go in rounds, each over the tasks that had arrived when it began; otherwise a stream of
/// new tasks would keep the turns at the far end for ever.
///
/// With *L* tasks spawned and unfinished when a task becomes ready, it is popped within 2·N·L pops: at most *L* fair
/// turns end the round that is under way, and at most *L* reach it in the next.
///
/// [`fair_every`]: ArrivalFifo::fair_every
///
/// ```
/// use clockworker_schedulers::{ArrivalFifo, GroupId, Ready, Scheduler, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut fifo = ArrivalFifo::new();
/// fifo.push(task(0), Ready::Spawned);
/// fifo.push(task(1), Ready::Spawned);
/// assert_eq!(fifo.pop(), Some(task(0).id));
/// fifo.push(task(0), Ready::Yielded); // came first, so goes first again
/// assert_eq!(fifo.pop(), Some(task(0).id));
/// ```
#[derive(Clone, Default)]
pub struct ArrivalFifo {
    /// The ready tasks by arrival number.
    ready: BTreeMap<u64, TaskId>,
    /// Each slot's arrival number, or `UNKNOWN`.
    arrivals: Vec<u64>,
    /// The number of the next arrival.
    next_arrival: u64,
    turn: Turn,
    /// Arrival number of the task that the last fair turn took.
    cursor: u64,
    /// Arrivals from here on wait for the next round of fair turns.
    round_end: u64,
}

impl ArrivalFifo {
    /// Makes an empty one with a fair turn every 32nd pop.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes every `pops`th pop a fair turn. A smaller number shortens the longest wait and dilutes the order.
    #[must_use]
    pub fn fair_every(self, pops: NonZeroU32) -> Self {
        Self { turn: Turn::every(pops), ..self }
    }

    /// Switches fair turns off: strictly the order of arrival, and later tasks starve where an earlier one never
    /// sleeps.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { turn: Turn::never(), ..self }
    }

    /// Takes the next task of the round of fair turns, beginning a new round where this one is over.
    fn pop_fair(&mut self) -> Option<TaskId> {
        if self.cursor < self.round_end {
            let rest = (Excluded(self.cursor), Excluded(self.round_end));
            // An empty range between two excluded equal bounds would panic; the `if` rules it out.
            if let Some((&arrival, _)) = self.ready.range(rest).next() {
                return self.take(arrival);
            }
        }
        self.round_end = self.next_arrival;
        let (&arrival, _) = self.ready.first_key_value()?;
        self.take(arrival)
    }

    fn take(&mut self, arrival: u64) -> Option<TaskId> {
        self.cursor = arrival;
        self.ready.remove(&arrival)
    }

    /// The arrival number of `task`: a new one where it is new (or was never announced).
    fn arrival(&mut self, task: Task, why: Ready) -> u64 {
        let slot = task.id.slot();
        if slot >= self.arrivals.len() {
            self.arrivals.resize(slot + 1, UNKNOWN);
        }
        if why == Ready::Spawned || self.arrivals[slot] == UNKNOWN {
            self.arrivals[slot] = self.next_arrival;
            self.next_arrival += 1;
        }
        self.arrivals[slot]
    }
}

impl Scheduler for ArrivalFifo {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, why: Ready) {
        let arrival = self.arrival(task, why);
        self.ready.insert(arrival, task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        if !self.ready.is_empty() && self.turn.is_fair() {
            return self.pop_fair();
        }
        self.ready.pop_first().map(|(_, id)| id)
    }

    fn finished(&mut self, task: Task) {
        if let Some(arrival) = self.arrivals.get_mut(task.id.slot()) {
            *arrival = UNKNOWN;
        }
    }
}

impl fmt::Debug for ArrivalFifo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrivalFifo")
            .field("ready", &self.ready.len())
            .field("next", &self.ready.first_key_value().map(|(_, id)| id))
            .field("turn", &self.turn)
            .finish_non_exhaustive()
    }
}
