//! [`AdaptiveLimit`]: as many requests at a time as are answered in time.

use std::cell::Cell;
use std::time::Duration;

use clockworker::{Queue, QueueError};

/// The least number of answers that a decision is made by.
const LEAST: usize = 10;

/// Finds the [`max_live`](Queue::set_max_live) of a queue of requests by the time from accept to answer.
///
/// The limit grows by one where nine answers in ten come in time and some requests were refused, and falls by a fifth where they do not
/// (additive increase, multiplicative decrease: Chiu and Jain, *Computer Networks and ISDN Systems* 17, 1989). A decision is made by twice
/// as many answers as there may be requests. What a request spawns belongs into another queue, or it would count too.
#[derive(Debug)]
pub struct AdaptiveLimit {
    requests: Queue,
    target: Duration,
    limit: Cell<usize>,
    answered: Cell<usize>,
    late: Cell<usize>,
    /// Requests refused until then.
    refused: Cell<u64>,
}

impl AdaptiveLimit {
    /// Limits the queue so that nine answers in ten take no longer than `target`.
    ///
    /// # Errors
    ///
    /// If the queue is gone.
    pub fn new(requests: Queue, target: Duration) -> Result<Self, QueueError> {
        requests.set_max_live(Some(LEAST))?;
        Ok(Self {
            refused: Cell::new(requests.stats().refused),
            requests,
            target,
            limit: Cell::new(LEAST),
            answered: Cell::new(0),
            late: Cell::new(0),
        })
    }

    /// Takes in that a request was answered, which took so long.
    pub fn answered(&self, took: Duration) {
        self.answered.set(self.answered.get() + 1);
        self.late.set(self.late.get() + usize::from(took > self.target));
        if self.answered.get() >= LEAST.max(2 * self.limit.get()) {
            self.decide();
        }
    }

    fn decide(&self) {
        let (answered, late, refused) =
            (self.answered.take(), self.late.take(), self.requests.stats().refused);
        let has_refused = self.refused.replace(refused) < refused;
        let limit = match self.limit.get() {
            limit if 10 * late > answered => (limit * 4 / 5).max(1),
            limit if has_refused => limit + 1,
            limit => limit,
        };
        self.limit.set(limit);
        // It cannot fail while a request of the queue is being answered.
        let _ = self.requests.set_max_live(Some(limit));
    }
}
