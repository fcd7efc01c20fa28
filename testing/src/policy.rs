//! The schedulers that come with the library, by name.

use clockworker::schedulers::{FairGroups, Las, Qlas, RunnableFifo, Serpt, WokenFirst};
use clockworker::{Queue, QueueBuilder, QueueError};

/// One of the schedulers that come with the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `WokenFirst`, the default.
    WokenFirst,
    /// `RunnableFifo`.
    RunnableFifo,
    /// `Las`.
    Las,
    /// `Qlas`.
    Qlas,
    /// `Serpt`.
    Serpt,
    /// `FairGroups`.
    FairGroups,
}

impl Policy {
    /// All of them.
    pub const ALL: &[Policy] = &[
        Policy::WokenFirst,
        Policy::RunnableFifo,
        Policy::Las,
        Policy::Qlas,
        Policy::Serpt,
        Policy::FairGroups,
    ];

    /// Creates a queue with this scheduler.
    ///
    /// # Errors
    ///
    /// As [`QueueBuilder::create`].
    pub fn create(self, queue: QueueBuilder<'_>) -> Result<Queue, QueueError> {
        match self {
            Policy::WokenFirst => queue.create(),
            Policy::RunnableFifo => queue.scheduler(RunnableFifo::new()).create(),
            Policy::Las => queue.scheduler(Las::new()).create(),
            Policy::Qlas => queue.scheduler(Qlas::new()).create(),
            Policy::Serpt => queue.scheduler(Serpt::new()).create(),
            Policy::FairGroups => queue.scheduler(FairGroups::new()).create(),
        }
    }

    /// Gives a queue this scheduler.
    ///
    /// # Errors
    ///
    /// As [`Queue::set_scheduler`].
    pub fn set(self, queue: &Queue) -> Result<(), QueueError> {
        match self {
            Policy::WokenFirst => queue.set_scheduler(WokenFirst::new()),
            Policy::RunnableFifo => queue.set_scheduler(RunnableFifo::new()),
            Policy::Las => queue.set_scheduler(Las::new()),
            Policy::Qlas => queue.set_scheduler(Qlas::new()),
            Policy::Serpt => queue.set_scheduler(Serpt::new()),
            Policy::FairGroups => queue.set_scheduler(FairGroups::new()),
        }
    }
}
