//! Why a task gave no output.

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::Mutex;

use super::{Id, Label};

/// Why a task did not finish with an output: it was cancelled, or it panicked.
///
/// What [`JoinHandle`](crate::JoinHandle) resolves to in place of the output.
pub struct JoinError(
    /// Boxed because every cell has room for an error, and most never need it.
    Box<Inner>,
);

struct Inner {
    id: Id,
    label: Label,
    repr: Repr,
}

enum Repr {
    Cancelled(Cause),
    /// `Mutex` makes a `Send` payload `Sync`. Only `JoinError::message` locks it.
    Panicked(Mutex<Box<dyn Any + Send>>),
}

/// What cancelled a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// `abort` was called.
    Aborted,
    /// The executor was shut down before the task finished.
    ShutDown,
    /// The executor was dropped before the task finished.
    ExecutorDropped,
    /// The task was refused when it was spawned.
    Refused(Refused),
    /// It is tokio's, which does not say why.
    #[cfg(feature = "tokio")]
    ByTokio,
}

/// Why a task was refused when it was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    QueueClosed,
    /// The queue holds as many tasks as it takes.
    QueueFull,
    /// The group holds as many tasks as its queue takes of a group.
    GroupFull,
    NoSuchQueue,
    ShutDown,
    ExecutorDropped,
}

impl Refused {
    /// Whether there may be room later.
    pub(crate) fn is_full(self) -> bool {
        matches!(self, Refused::QueueFull | Refused::GroupFull)
    }
}

impl JoinError {
    pub(crate) fn cancelled(id: Id, label: Label, cause: Cause) -> Self {
        Self(Box::new(Inner { id, label, repr: Repr::Cancelled(cause) }))
    }

    pub(crate) fn panicked(id: Id, label: Label, payload: Box<dyn Any + Send>) -> Self {
        Self(Box::new(Inner { id, label, repr: Repr::Panicked(Mutex::new(payload)) }))
    }

    /// Whether the task was cancelled: aborted, left over at shutdown, or refused by a closed queue or a stopped executor.
    /// [`Display`](fmt::Display) says which.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0.repr, Repr::Cancelled(_))
    }

    /// Whether the task was refused when it was spawned: its queue was closed, full or unknown, or its executor had
    /// stopped. Its future was never polled. A refused task also counts as [cancelled](JoinError::is_cancelled).
    pub fn is_refused(&self) -> bool {
        matches!(self.0.repr, Repr::Cancelled(Cause::Refused(_)))
    }

    /// Whether the task was refused because its queue or group was full: it had as many tasks as it takes, or others waited
    /// for room. It also counts as [refused](JoinError::is_refused).
    pub fn is_full(&self) -> bool {
        matches!(self.0.repr, Repr::Cancelled(Cause::Refused(refused)) if refused.is_full())
    }

    /// Whether the task panicked, in its poll or when its future was dropped.
    pub fn is_panic(&self) -> bool {
        matches!(self.0.repr, Repr::Panicked(_))
    }

    /// The panic's payload, for [`resume_unwind`](std::panic::resume_unwind).
    ///
    /// # Panics
    ///
    /// If the task did not panic; see [`try_into_panic`](JoinError::try_into_panic).
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(error) => panic!("`JoinError::into_panic` on a task that did not panic: {error}"),
        }
    }

    /// The panic's payload, or this error back if the task did not panic.
    ///
    /// # Errors
    ///
    /// `self`, if [`is_panic`](JoinError::is_panic) is false.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        let Inner { id, label, repr } = *self.0;
        match repr {
            Repr::Panicked(payload) => {
                Ok(payload.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
            }
            repr => Err(Self(Box::new(Inner { id, label, repr }))),
        }
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.0.id
    }

    /// The task's name, if it was given [one](crate::TaskBuilder::name) and the feature `observe` is on.
    pub fn name(&self) -> Option<&str> {
        self.0.label.name().map(|name| &**name)
    }

    /// Where the task was spawned.
    #[cfg(feature = "observe")]
    pub fn location(&self) -> &'static std::panic::Location<'static> {
        self.0.label.location()
    }

    /// The panic's message, if its payload is text.
    fn message(&self) -> Option<String> {
        let Repr::Panicked(payload) = &self.0.repr else { return None };
        let payload = payload.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let text = payload.downcast_ref::<&'static str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Aborted => "was aborted",
            Cause::ShutDown => "was cancelled: its executor was shut down",
            Cause::ExecutorDropped => "was cancelled: its executor was dropped",
            Cause::Refused(refused) => return write!(f, "was refused: {refused}"),
            #[cfg(feature = "tokio")]
            Cause::ByTokio => "was cancelled by tokio",
        })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::QueueClosed => "its queue is closed",
            Refused::QueueFull => "its queue is full",
            Refused::GroupFull => "its group is full",
            Refused::NoSuchQueue => "there is no queue of that name",
            Refused::ShutDown => "its executor was shut down",
            Refused::ExecutorDropped => "its executor was dropped",
        })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}{} ", self.0.id, self.0.label.after_id())?;
        match &self.0.repr {
            Repr::Cancelled(cause) => write!(f, "{cause}"),
            Repr::Panicked(_) => match self.message() {
                Some(message) => write!(f, "panicked with message {message:?}"),
                None => write!(f, "panicked"),
            },
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, name) = (self.0.id, self.0.label.after_id());
        match &self.0.repr {
            Repr::Cancelled(cause) => write!(f, "JoinError::Cancelled({id:?}{name}, {cause:?})"),
            Repr::Panicked(_) => match self.message() {
                Some(message) => write!(f, "JoinError::Panic({id:?}{name}, {message:?}, ...)"),
                None => write!(f, "JoinError::Panic({id:?}{name}, ...)"),
            },
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        io::Error::other(error)
    }
}

/// So that `?` takes the errors of `spawn_blocking` and of local tasks alike. Keeps whether the task was cancelled or panicked,
/// with the payload. The [id](JoinError::id) is tokio's number, which a task here may have as well.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), clockworker::JoinError> {
/// use clockworker::{Executor, JoinError, spawn_local};
///
/// let ex = Executor::new();
/// let sum = ex.run_until(async {
///     let blocking = tokio::task::spawn_blocking(|| 20).await?;
///     let local = spawn_local(async { 22 }).await?;
///     Ok::<_, JoinError>(blocking + local)
/// });
/// assert_eq!(sum.await?, 42);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "tokio")]
impl From<tokio::task::JoinError> for JoinError {
    #[cfg_attr(feature = "observe", track_caller)]
    fn from(error: tokio::task::JoinError) -> Self {
        // The only way to the number is its text.
        let id = error.id().to_string().parse().ok().and_then(Id::from_u64).unwrap_or_else(Id::next);
        let label = Label::here();
        match error.try_into_panic() {
            Ok(payload) => Self::panicked(id, label, payload),
            Err(_cancelled) => Self::cancelled(id, label, Cause::ByTokio),
        }
    }
}
