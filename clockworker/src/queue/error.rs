//! Why a queue could not be created or changed.

use std::error::Error;
use std::fmt;

use clockworker_schedulers::ShareError;

use super::limits::MAX_TASKS;

/// Why a queue could not be created or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    NameTaken(Box<str>),
    Share(ShareError),
    Request,
    Limit { name: &'static str, given: usize },
    EmptyName,
    Closed(Box<str>),
    ParentClosed(Box<str>),
    CappedParent(Box<str>),
    IdleNested,
    TooDeep { most: usize },
    Stopped,
    Dropped,
}

impl QueueError {
    pub(crate) fn name_taken(name: &str) -> Self {
        Self { kind: Kind::NameTaken(name.into()) }
    }

    pub(crate) fn empty_name() -> Self {
        Self { kind: Kind::EmptyName }
    }

    pub(crate) fn closed(name: &str) -> Self {
        Self { kind: Kind::Closed(name.into()) }
    }

    pub(crate) fn dropped() -> Self {
        Self { kind: Kind::Dropped }
    }

    pub(crate) fn stopped() -> Self {
        Self { kind: Kind::Stopped }
    }

    pub(crate) fn share(error: ShareError) -> Self {
        Self { kind: Kind::Share(error) }
    }

    pub(crate) fn request() -> Self {
        Self { kind: Kind::Request }
    }

    pub(crate) fn limit(name: &'static str, given: usize) -> Self {
        Self { kind: Kind::Limit { name, given } }
    }

    pub(crate) fn parent_closed(parent: &str) -> Self {
        Self { kind: Kind::ParentClosed(parent.into()) }
    }

    pub(crate) fn capped_parent(parent: &str) -> Self {
        Self { kind: Kind::CappedParent(parent.into()) }
    }

    pub(crate) fn idle_nested() -> Self {
        Self { kind: Kind::IdleNested }
    }

    pub(crate) fn too_deep(most: usize) -> Self {
        Self { kind: Kind::TooDeep { most } }
    }

    /// Whether an open queue has the name already.
    pub fn is_name_taken(&self) -> bool {
        matches!(self.kind, Kind::NameTaken(_))
    }

    /// Whether the name was empty.
    pub fn is_empty_name(&self) -> bool {
        self.kind == Kind::EmptyName
    }

    /// Whether the share was out of range.
    pub fn is_share(&self) -> bool {
        matches!(self.kind, Kind::Share(_))
    }

    /// Whether the request was zero.
    pub fn is_request(&self) -> bool {
        self.kind == Kind::Request
    }

    /// Whether a limit on the number of tasks was out of range.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, Kind::Limit { .. })
    }

    /// Whether the queue was closed, and, unless it was to be renamed, its last task has finished; or a child's parent was closed.
    pub fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::Closed(_) | Kind::ParentClosed(_))
    }

    /// Whether queues cannot be [nested](crate::Queue::new_queue) so: too deep, an idle one as parent or child, or a capped one as
    /// parent.
    pub fn is_nesting(&self) -> bool {
        matches!(self.kind, Kind::CappedParent(_) | Kind::IdleNested | Kind::TooDeep { .. })
    }

    /// Whether the executor was shut down or dropped.
    pub fn is_stopped(&self) -> bool {
        matches!(self.kind, Kind::Stopped | Kind::Dropped)
    }
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::NameTaken(name) => write!(f, "there is an open queue named {name:?} already"),
            Kind::Share(error) => error.fmt(f),
            Kind::Request => f.write_str("a queue's request must be more than zero"),
            Kind::Limit { name, given } => write!(f, "{name} is between 1 and {MAX_TASKS}, not {given}"),
            Kind::EmptyName => f.write_str("a queue's name has at least one character, not \"\""),
            Kind::Closed(name) => write!(f, "the queue {name:?} is closed"),
            Kind::ParentClosed(parent) => write!(f, "the parent {parent:?} is closed"),
            Kind::CappedParent(parent) => {
                write!(f, "the queue {parent:?} cannot have both children and a cap: cap the children")
            }
            Kind::IdleNested => f.write_str("an idle queue can have neither a parent nor children"),
            Kind::TooDeep { most } => {
                write!(f, "at most {most} queues may be above a queue, not {}", most + 1)
            }
            Kind::Stopped => f.write_str("the executor was shut down"),
            Kind::Dropped => f.write_str("the executor was dropped"),
        }
    }
}

impl Error for QueueError {}
