//! [`Shedder`]: decides whether an overloaded queue takes one more task.

use clockworker_schedulers::TaskId;

use super::LoadShedding;
use super::records::{FirstPoll, Records};

/// What [`LoadShedding`] does: when a queue is overloaded, and what it takes then. Times are clock readings and nanoseconds.
pub(crate) struct Shedder {
    settings: LoadShedding,
    delay: Delay,
    probe: Option<Probe>,
}

/// The new task whose wait is being measured.
struct Probe {
    id: TaskId,
    spawned_at: u64,
}

impl Shedder {
    pub(crate) fn new(settings: LoadShedding) -> Self {
        let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let delay = Delay::new(ns(settings.target()), ns(settings.interval()));
        Self { settings, delay, probe: None }
    }

    pub(crate) fn settings(&self) -> LoadShedding {
        self.settings
    }

    /// Whether the wait of the task that is spawned next is to be measured.
    pub(crate) fn wants_probe(&self) -> bool {
        self.probe.is_none()
    }

    /// Measures the wait of that task, which is spawned at `now`.
    pub(crate) fn probe(&mut self, id: TaskId, now: u64) {
        self.probe = Some(Probe { id, spawned_at: now });
    }

    /// The task that was foreseen under the id `foreseen` has another.
    pub(crate) fn correct_probe(&mut self, foreseen: TaskId, id: TaskId) {
        if let Some(probe) = &mut self.probe
            && probe.id == foreseen
        {
            probe.id = id;
        }
    }

    /// Looks, at the end of a slice, whether the probe was polled in it. `ready` tasks are left.
    pub(crate) fn end_slice(&mut self, records: &Records, ready: usize, polls: u64, now: u64) {
        if let Some(Probe { id, spawned_at }) = self.probe {
            match records.first_poll(id) {
                FirstPoll::Due => {}
                FirstPoll::Never => self.probe = None,
                FirstPoll::Done => {
                    self.probe = None;
                    self.delay.waited(now.saturating_sub(spawned_at));
                }
            }
        }
        match ready {
            0 => self.delay.forget(),
            _ => self.look(polls, now),
        }
    }

    /// Whether the queue takes one more task beside `ready` ones, after so many polls in all.
    pub(crate) fn admits(&mut self, ready: usize, polls: u64, now: u64) -> bool {
        self.look(polls, now);
        self.delay.admits(ready)
    }

    fn look(&mut self, polls: u64, now: u64) {
        let waits = self.probe.as_ref().map(|probe| now.saturating_sub(probe.spawned_at));
        self.delay.look(polls, waits, now);
    }
}

/// The decision: from how long tasks wait, interval by interval, to whether one more is taken.
struct Delay {
    target_ns: u64,
    interval_ns: u64,
    /// Where the interval under way began. None while nothing is ready.
    began: Option<Moment>,
    /// The shortest wait that ended in the interval under way.
    least_ns: Option<u64>,
    /// What the last interval took, if the queue is overloaded.
    overload: Option<Span>,
}

/// A moment, and how many polls the queue had had.
#[derive(Clone, Copy)]
struct Moment {
    at: u64,
    polls: u64,
}

/// So much time, in which the queue had so many polls.
#[derive(Clone, Copy)]
struct Span {
    ns: u64,
    polls: u64,
}

impl Delay {
    fn new(target_ns: u64, interval_ns: u64) -> Self {
        Self { target_ns, interval_ns, began: None, least_ns: None, overload: None }
    }

    /// A task was polled for the first time, after it had waited for so long.
    fn waited(&mut self, ns: u64) {
        self.least_ns = Some(self.least_ns.map_or(ns, |least| least.min(ns)));
    }

    /// Nothing is ready: no queue stands.
    fn forget(&mut self) {
        (self.began, self.least_ns, self.overload) = (None, None, None);
    }

    /// Ends the interval, if it is over at `now`. A task that was not polled yet `waits` for so long by now.
    fn look(&mut self, polls: u64, waits: Option<u64>, now: u64) {
        let began = *self.began.get_or_insert(Moment { at: now, polls });
        let ns = now.saturating_sub(began.at);
        if ns < self.interval_ns {
            return;
        }
        let is_above = self.least_ns.or(waits).map(|least| least > self.target_ns);
        // Where no task was measured it stays as it was: none was spawned.
        let is_overloaded = is_above.unwrap_or(self.overload.is_some());
        self.overload = is_overloaded.then_some(Span { ns, polls: polls.wrapping_sub(began.polls).max(1) });
        (self.began, self.least_ns) = (Some(Moment { at: now, polls }), None);
    }

    /// Whether one more task is taken beside `ready` ones.
    fn admits(&self, ready: usize) -> bool {
        let Some(Span { ns, polls }) = self.overload else { return true };
        let most_ns = 2 * u128::from(self.target_ns);
        ready as u128 * u128::from(ns) <= most_ns * u128::from(polls)
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests;
