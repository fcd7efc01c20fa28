//! What can be asked of [`Eevdf`] without changing it.

use core::fmt;

use super::entry::{Entry, State};
use super::{Eevdf, Lag, QueueId, Share, VirtualTime};

impl Eevdf {
    /// Whether `woken` should cut the slice of `running` short: it is eligible and its virtual deadline is earlier. O(1).
    ///
    /// That `running` may have ceased to be eligible does not count: it may finish the request that it was picked for.
    /// `false` where either is not runnable.
    #[inline]
    pub fn preempts(&self, woken: QueueId, running: QueueId) -> bool {
        if !self.is_eligible(woken) || !self.is_runnable(running) {
            return false;
        }
        (self.entries[woken.index()].deadline, woken) < (self.entries[running.index()].deadline, running)
    }

    /// What is left of the current request, in nanoseconds: the slice to grant. Above 0 while runnable; 0 if unknown.
    #[inline]
    pub fn left_ns(&self, id: QueueId) -> u64 {
        self.known(id).map_or(0, |entry| entry.left_ns)
    }

    /// The service the queue is owed, w·(V − v); if asleep, its credit, or less than nothing while it is in debt; zero if
    /// unknown.
    ///
    /// V is rounded down to a unit of virtual time, so the result is low by less than w units: 10⁻⁶ ns at most.
    pub fn lag(&self, id: QueueId) -> Lag {
        let now = self.clock.now();
        match self.known(id) {
            Some(entry) if self.runnable > 0 && entry.counts() => Lag::from_raw(entry.lag(now)),
            Some(entry) => Lag::from_raw(entry.lag_asleep(now, self.busy_period)),
            None => Lag::ZERO,
        }
    }

    /// Whether the queue is runnable and has received no more than it is owed. Exact.
    #[inline]
    pub fn is_eligible(&self, id: QueueId) -> bool {
        self.is_runnable(id) && self.clock.has_reached(self.entries[id.index()].v)
    }

    /// Whether the queue is runnable.
    #[inline]
    pub fn is_runnable(&self, id: QueueId) -> bool {
        self.state(id) == State::Runnable
    }

    /// The number of runnable queues.
    #[inline]
    pub fn runnable(&self) -> usize {
        self.runnable
    }

    /// The queue's share; `None` if unknown.
    pub fn share(&self, id: QueueId) -> Option<Share> {
        self.known(id).map(|entry| entry.share)
    }

    /// The queue's request in nanoseconds, as it will be from the next one on; 0 if unknown.
    pub fn request_ns(&self, id: QueueId) -> u64 {
        self.known(id).map_or(0, |entry| entry.request_ns)
    }

    /// V, rounded down.
    pub fn virtual_time(&self) -> VirtualTime {
        VirtualTime::from_raw(self.clock.now())
    }

    /// The queue's virtual runtime v; `None` unless it is runnable.
    pub fn virtual_runtime(&self, id: QueueId) -> Option<VirtualTime> {
        let entry = self.known(id)?;
        (entry.state == State::Runnable).then_some(VirtualTime::from_raw(entry.v))
    }

    /// The queue's virtual deadline; `None` unless it is runnable.
    pub fn virtual_deadline(&self, id: QueueId) -> Option<VirtualTime> {
        let entry = self.known(id)?;
        (entry.state == State::Runnable).then_some(VirtualTime::from_raw(entry.deadline))
    }

    #[inline]
    pub(super) fn state(&self, id: QueueId) -> State {
        match self.entries.get(id.index()) {
            Some(entry) if entry.generation == id.generation => entry.state,
            _ => State::Vacant,
        }
    }

    #[inline]
    pub(super) fn id_at(&self, index: u32) -> QueueId {
        QueueId { index, generation: self.entries[index as usize].generation }
    }

    #[inline]
    fn known(&self, id: QueueId) -> Option<&Entry> {
        let known = |entry: &&Entry| entry.state != State::Vacant && entry.generation == id.generation;
        self.entries.get(id.index()).filter(known)
    }
}

impl fmt::Debug for Eevdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eevdf")
            .field("queues", &(self.entries.len() - self.vacant.len()))
            .field("runnable", &self.runnable())
            .field("shares", &self.clock.shares())
            .field("virtual_time", &self.clock.now())
            .finish_non_exhaustive()
    }
}
