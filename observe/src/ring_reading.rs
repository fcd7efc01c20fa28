//! Reads the words of a [`Ring`] as the events of a [`Timeline`](crate::Timeline).

use std::time::Duration;

use clockworker::probe::{PollOutcome, SliceEndReason, TaskRef, WokenBy};

use crate::ring::{Ring, Said};
use crate::{Event, EventKind};

/// What a ring says happened, oldest first.
pub(crate) fn events_of(ring: &Ring) -> Vec<Event> {
    Reading::of(ring).events
}

/// A ring as far as it was read.
#[derive(Default)]
struct Reading {
    events: Vec<Event>,
    /// The time of the next words. None before the first word that says it.
    time: Option<u64>,
    /// The queue whose slice it is.
    running: Option<u32>,
    /// Up to when polls are known.
    polled_until: u64,
    /// Polls since then.
    untimed: Vec<(TaskRef, PollOutcome)>,
    /// What the words before have said of the task to come.
    about: About,
}

/// What is said of a task before it is named.
#[derive(Clone, Copy, Default)]
enum About {
    #[default]
    Nothing,
    Ready {
        queue: u32,
        reason: WokenBy,
    },
    Spawned {
        queue: u32,
    },
    SpawnedAs(TaskRef),
}

impl Reading {
    fn of(ring: &Ring) -> Self {
        let mut reading = Self::default();
        ring.words().for_each(|word| reading.read(ring, word.said()));
        // The slice under way.
        reading.time_polls();
        reading.events.sort_by_key(|event| event.at);
        reading
    }

    fn read(&mut self, ring: &Ring, said: Said) {
        let about = std::mem::take(&mut self.about);
        match (said, about) {
            (Said::Time(now), _) => self.time = Some(now),
            (Said::Ready { queue, remote }, _) => {
                let reason = if remote { WokenBy::Remote } else { WokenBy::Local };
                self.about = About::Ready { queue, reason };
            }
            (Said::Spawned { queue }, _) => self.about = About::Spawned { queue },
            (Said::Task { slot, generation }, About::Ready { queue, reason }) => {
                self.push(EventKind::Ready { task: TaskRef { queue, slot, generation }, reason });
            }
            (Said::Task { slot, generation }, About::Spawned { queue }) => {
                self.about = About::SpawnedAs(TaskRef { queue, slot, generation });
            }
            (Said::Location { index, group }, About::SpawnedAs(task)) => {
                if let Some(location) = ring.location(index) {
                    self.push(EventKind::Spawned { task, location, group });
                }
            }
            (Said::Polled { slot, generation, outcome, timed }, _) => {
                self.poll(slot, generation, outcome, timed);
            }
            (Said::SliceBegan { queue, ready }, _) => self.begin_slice(queue, ready),
            (Said::SliceEnded { queue, reason }, _) => self.end_slice(queue, reason),
            (Said::TurnBegan, _) => self.push(EventKind::TurnBegan),
            (Said::TurnEnded { idle }, _) => self.push(EventKind::TurnEnded { idle }),
            // The first words may be the rest of something.
            (Said::Task { .. } | Said::Location { .. } | Said::Unknown, _) => {}
        }
    }

    fn push(&mut self, kind: EventKind) {
        if let Some(now) = self.time {
            self.events.push(Event { at: Duration::from_nanos(now), kind });
        }
    }

    fn begin_slice(&mut self, queue: u32, ready: u32) {
        if self.running == Some(queue) {
            // Futures of aborted tasks were dropped until now.
            self.polled_until = self.time.unwrap_or(0);
            return;
        }
        self.push(EventKind::SliceBegan { queue, ready });
        self.running = self.time.map(|_| queue);
        self.polled_until = self.time.unwrap_or(0);
    }

    fn end_slice(&mut self, queue: u32, reason: u8) {
        self.time_polls();
        if self.running.take().is_some() {
            self.push(EventKind::SliceEnded { queue, reason: reason_of(reason) });
        }
    }

    /// A poll of the running queue, if it is known which that is.
    fn poll(&mut self, slot: u32, generation: u32, outcome: u8, timed: bool) {
        let Some(queue) = self.running else { return };
        let outcome = match outcome {
            0 => PollOutcome::Pending,
            1 => PollOutcome::Yielded,
            _ => PollOutcome::Finished,
        };
        self.untimed.push((TaskRef { queue, slot, generation }, outcome));
        if timed {
            self.time_polls();
        }
    }

    /// Shares the time since polls were last timed out among those since.
    fn time_polls(&mut self) {
        let (from, until) = (self.polled_until, self.time.unwrap_or(0));
        let polls = self.untimed.len() as u64;
        let part = |done: u64| from + until.saturating_sub(from) * done / polls.max(1);
        for (done, (task, outcome)) in (0..).zip(self.untimed.drain(..)) {
            let (began, ended) = (part(done), part(done + 1));
            let took = Duration::from_nanos(ended - began);
            let kind = EventKind::Polled { task, took, measured_with: polls as u32, outcome };
            self.events.push(Event { at: Duration::from_nanos(began), kind });
        }
        self.polled_until = until;
    }
}

/// The reason that was written as [`number_of`].
fn reason_of(written: u8) -> SliceEndReason {
    match written {
        0 => SliceEndReason::Spent,
        1 => SliceEndReason::Preempted,
        2 => SliceEndReason::Drained,
        3 => SliceEndReason::HostDue,
        _ => SliceEndReason::Other,
    }
}

/// The number by which a ring knows a reason.
pub(crate) fn number_of(reason: SliceEndReason) -> u8 {
    match reason {
        SliceEndReason::Spent => 0,
        SliceEndReason::Preempted => 1,
        SliceEndReason::Drained => 2,
        SliceEndReason::HostDue => 3,
        _ => 4,
    }
}
