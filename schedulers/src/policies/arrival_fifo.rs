//! [`ArrivalFifo`]: the order in which tasks were spawned.

use core::fmt;

use crate::parts::arrival_order::ArrivalOrder;
use crate::parts::half_life::HalfLife;
use crate::parts::occasions::Occasions;
use crate::{FairTurns, Ready, Scheduler, Task, TaskId};

/// The task that was spawned first goes first, however often it slept since: first come, first served over whole tasks.
///
/// Good where tasks are requests of like size: what is nearly done is finished before new work is begun, which keeps
/// the response times close together and few tasks half-done.
///
/// # Cost
///
/// O(1) on average, by a bitmap over the unfinished tasks in order of arrival. (Finding the next ready one reads at worst a
/// word for each 4,096 of them.) Nothing is allocated but when a task is spawned.
///
/// # Starvation
///
/// An early task that yields for ever would starve all later ones. So every Nth pop, however long polls take ([`FairTurns`];
/// *N* is 32 unless set), is a *fair turn*: it takes the next ready task after the one that the last fair turn took, in order of
/// arrival. Fair turns go in rounds, each over the tasks that had arrived when it began; otherwise a stream of
/// new tasks would keep the turns at the far end for ever.
///
/// With *L* tasks spawned and unfinished when a task becomes ready, it is popped within 2·N·L pops: at most *L* fair
/// turns end the round that is under way, and at most *L* reach it in the next.
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
#[derive(Clone)]
pub struct ArrivalFifo {
    order: ArrivalOrder,
    /// It hears of no service, so only pops count.
    occasions: Occasions,
    /// Where the next fair turn goes on.
    cursor: u32,
    /// Arrivals from here on wait for the next round of fair turns.
    round_end: u32,
}

impl ArrivalFifo {
    /// Makes an empty one with a fair turn every 32nd pop.
    pub const fn new() -> Self {
        let occasions = Occasions::new(FairTurns::DEFAULT, HalfLife::NEVER);
        Self { order: ArrivalOrder::new(), occasions, cursor: 0, round_end: 0 }
    }

    /// Sets how often pops are fair turns. With [`FairTurns::NEVER`] the order is strictly that of arrival, and later tasks
    /// starve where an earlier one never sleeps.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { occasions: self.occasions.with_fair_turns(fair_turns), ..self }
    }

    /// Counts a pop, and says whether it is a fair turn.
    #[inline]
    fn next_is_fair(&mut self) -> bool {
        self.occasions.are_due() && self.settle()
    }

    /// Says whether this pop is a fair turn, as it is one that something is due at.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) -> bool {
        self.occasions.settle().fair
    }

    /// The place of a fair turn: the next of the round, or the first of a new one.
    fn next_of_round(&mut self) -> Option<u32> {
        if let Some(place) = self.order.ready_between(self.cursor, self.round_end) {
            return Some(place);
        }
        self.round_end = self.order.end();
        self.order.first_ready()
    }

    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        let place = match fair {
            true => self.next_of_round()?,
            false => self.order.first_ready()?,
        };
        if fair {
            self.cursor = place + 1;
        }
        self.order.take_ready(place)
    }

    /// The place of `task`: a new one where it is new (or was never announced).
    #[inline]
    fn place(&mut self, task: Task, why: Ready) -> u32 {
        match self.order.place(task.id.slot()) {
            Some(place) if why != Ready::Spawned => place,
            _ => self.order.arrive(task.id, [&mut self.cursor, &mut self.round_end]),
        }
    }
}

impl Default for ArrivalFifo {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for ArrivalFifo {
    const NEEDS_SERVICE: bool = false;

    #[inline]
    fn push(&mut self, task: Task, why: Ready) {
        let place = self.place(task, why);
        self.order.set_ready(place);
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        let fair = self.order.ready_count() > 0 && self.next_is_fair();
        self.pop_by(fair)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let fair = self.next_is_fair();
        let place = self.place(task, Ready::Yielded);
        if !fair && self.order.first_ready().is_none_or(|first| place < first) {
            return Some(task.id); // it goes on
        }
        self.order.set_ready(place);
        self.pop_by(fair)
    }

    /// By the bound on waiting ([Starvation](ArrivalFifo#starvation)). `None` without fair turns.
    fn patience(&self, tasks: usize) -> Option<u64> {
        self.occasions.fair_turns().patience_without_service((tasks as u64).saturating_mul(2))
    }

    fn finished(&mut self, task: Task) {
        self.order.depart(task.id.slot());
    }
}

impl fmt::Debug for ArrivalFifo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrivalFifo")
            .field("ready", &self.order.ready_count())
            .field("fair_turns", self.occasions.fair_turns())
            .finish_non_exhaustive()
    }
}
