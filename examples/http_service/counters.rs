//! What the service has done so far.

use std::cell::Cell;
use std::fmt;

/// A counter on one thread.
#[derive(Debug, Default)]
pub(crate) struct Counter(Cell<u64>);

impl Counter {
    pub(crate) fn add(&self, n: u64) {
        self.0.set(self.0.get() + n);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}

/// The service's counters. Their `Display` is the summary, [`json`](Counters::json) is what `GET /stats` answers.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests answered, however.
    pub(crate) requests: Counter,
    /// Those answered with a status of 400 or more.
    pub(crate) errors: Counter,
    /// Connections that ended in the middle of something.
    pub(crate) broken: Counter,
    /// Chunks of compaction done.
    pub(crate) chunks: Counter,
    /// Shards compacted.
    pub(crate) merges: Counter,
    /// Entries whose checksum was wrong when they were compacted.
    pub(crate) corrupt: Counter,
}

impl Counters {
    pub(crate) fn json(&self) -> String {
        let fields = self.all().map(|(name, counter)| format!("\"{name}\":{}", counter.get()));
        format!("{{{}}}", fields.join(","))
    }

    fn all(&self) -> [(&'static str, &Counter); 6] {
        let Self { requests, errors, broken, chunks, merges, corrupt } = self;
        [
            ("requests", requests),
            ("errors", errors),
            ("broken", broken),
            ("chunks", chunks),
            ("merges", merges),
            ("corrupt", corrupt),
        ]
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [requests, errors, broken, chunks, merges, corrupt] =
            self.all().map(|(_, counter)| counter.get());
        writeln!(f, "{requests} requests, {errors} errors, {broken} broken connections")?;
        write!(f, "{chunks} chunks of compaction, {merges} shards compacted, {corrupt} corrupt entries")
    }
}
