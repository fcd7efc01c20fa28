//! Why a group could not be opened or changed.

use std::error::Error;
use std::fmt;

use clockworker_schedulers::ShareError;

use super::QueueError;

/// Why a group could not be opened or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupError {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Weight(ShareError),
    Open(u64),
    Queue(QueueError),
}

impl GroupError {
    pub(crate) fn weight(error: ShareError) -> Self {
        Self { kind: Kind::Weight(error) }
    }

    pub(crate) fn open(key: u64) -> Self {
        Self { kind: Kind::Open(key) }
    }

    pub(crate) fn queue(error: QueueError) -> Self {
        Self { kind: Kind::Queue(error) }
    }

    /// Whether the weight was out of range.
    pub fn is_weight(&self) -> bool {
        matches!(self.kind, Kind::Weight(_))
    }

    /// Whether the group is open with other attributes.
    pub fn is_open(&self) -> bool {
        matches!(self.kind, Kind::Open(_))
    }

    /// The queue's error, if that was the reason: the queue is gone, or its executor has stopped.
    pub fn queue_error(&self) -> Option<&QueueError> {
        match &self.kind {
            Kind::Queue(error) => Some(error),
            Kind::Weight(_) | Kind::Open(_) => None,
        }
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Weight(error) => write!(f, "a group's weight is a share: {error}"),
            Kind::Open(key) => write!(f, "group {key} is open with other attributes"),
            Kind::Queue(error) => error.fmt(f),
        }
    }
}

impl Error for GroupError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::Weight(error) => Some(error),
            Kind::Open(_) => None,
            Kind::Queue(error) => Some(error),
        }
    }
}
