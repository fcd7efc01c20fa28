//! Reads the words of a [`Ring`] as the events of a [`Timeline`](crate::Timeline).

use std::panic::Location;
use std::time::Duration;

use clockworker::probe::{PollOutcome, TaskRef, WokenBy};

use crate::ring::{Ring, Said, Word};
use crate::{Event, EventKind};

/// What a ring says happened, oldest first.
pub(crate) fn events_of(ring: &Ring) -> Vec<Event> {
    let mut reading = Reading { locations: ring.locations(), ..Reading::default() };
    let mut words = ring.words().map(Word::said);
    while let Some(said) = words.next() {
        reading.read(said, &mut words);
    }
    // The slice under way.
    reading.time_polls();
    reading.events.sort_by_key(|event| event.at);
    reading.events
}

/// A ring as far as it was read.
#[derive(Default)]
struct Reading {
    events: Vec<Event>,
    /// By the index that words give.
    locations: Vec<&'static Location<'static>>,
    /// The time of the next words. None before the first word that says it.
    time: Option<u64>,
    /// The queue whose slice it is.
    running: Option<u32>,
    /// Up to when polls are known.
    polled_until: u64,
    /// Polls since then.
    untimed: Vec<(TaskRef, PollOutcome)>,
}

impl Reading {
    /// Reads a word, with those after it that say more of it.
    fn read(&mut self, said: Said, more: &mut impl Iterator<Item = Said>) {
        match said {
            Said::Time(now) => self.time = Some(now),
            Said::Ready { queue, remote } => {
                if let Some(Said::Task { slot, generation }) = more.next() {
                    let reason = if remote { WokenBy::Remote } else { WokenBy::Local };
                    self.push(EventKind::Ready { task: TaskRef { queue, slot, generation }, reason });
                }
            }
            Said::Spawned { queue } => {
                if let Some(Said::Task { slot, generation }) = more.next()
                    && let Some(Said::Location { index, group }) = more.next()
                    && let Some(&location) = self.locations.get(index as usize)
                {
                    let task = TaskRef { queue, slot, generation };
                    self.push(EventKind::Spawned { task, location, group });
                }
            }
            Said::Left { queue } => {
                if let Some(Said::Task { slot, generation }) = more.next() {
                    self.push(EventKind::Left { task: TaskRef { queue, slot, generation } });
                }
            }
            Said::Polled { slot, generation, outcome, timed } => {
                // Unless it is not known whose slice it is.
                let task = self.running.map(|queue| TaskRef { queue, slot, generation });
                self.untimed.extend(task.map(|task| (task, outcome)));
                if timed && task.is_some() {
                    self.time_polls();
                }
            }
            Said::SliceBegan { queue, ready } => {
                // A slice that goes on: futures of aborted tasks were dropped until now.
                if self.running != Some(queue) {
                    self.push(EventKind::SliceBegan { queue, ready });
                    self.running = self.time.map(|_| queue);
                }
                self.polled_until = self.time.unwrap_or(0);
            }
            Said::SliceEnded { queue, reason } => {
                self.time_polls();
                if self.running.take().is_some() {
                    self.push(EventKind::SliceEnded { queue, reason });
                }
            }
            Said::TurnBegan => self.push(EventKind::TurnBegan),
            Said::TurnEnded { idle } => self.push(EventKind::TurnEnded { idle }),
            // The first words may be the rest of something.
            Said::Task { .. } | Said::Location { .. } | Said::Unknown => {}
        }
    }

    fn push(&mut self, kind: EventKind) {
        if let Some(now) = self.time {
            self.events.push(Event { at: Duration::from_nanos(now), kind });
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
