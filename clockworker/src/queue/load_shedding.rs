//! [`LoadShedding`]: refuses new tasks while tasks wait for too long.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Refuses new tasks of a queue while its tasks wait for too long, instead of letting them queue up.
///
/// The queue measures the *queueing delay* of new tasks: the time from spawn to first poll. Where its minimum stays above the
/// `target` for a whole `interval`, there is a standing queue and not just a burst, and the queue is *overloaded*. Then it
/// refuses a task that would wait for more than twice the target: as many tasks as are ready, times what the last interval took
/// per poll. So under a lasting overload the delay settles at twice the target, and the queue does as much as it can. It is no
/// longer overloaded once a task of an interval has waited for no more than the target, or nothing is ready. A burst that is
/// served within an interval is not refused.
///
/// [`spawn`](crate::Queue::spawn) gives a handle with an [error](crate::JoinError::is_shed), [`try_spawn`](crate::Queue::try_spawn)
/// gives the future back, and [`spawn_when_room`](crate::Queue::spawn_when_room) waits.
/// [`QueueStats::shed`](crate::QueueStats::shed) counts the refusals.
///
/// # What is measured
///
/// One new task at a time, and when the slice ends in which it was polled: so a wait is known to within a slice. What a task
/// waits for after a wake is not looked at. A scheduler that serves new tasks first, as [`Las`](crate::schedulers::Las) does,
/// has short waits under overload too, and sheds nothing. The clock is read once for a task that is measured, never for a poll;
/// a queue without load shedding pays nothing.
///
/// # Where it comes from
///
/// When to shed is CoDel's: Nichols and Jacobson, *Controlling Queue Delay*, ACM Queue 10(5), 2012, and RFC 8289. CoDel then
/// drops at a rate that grows until senders slow down, as TCP's do. Tasks have no such senders, so what to shed is as in Maurer,
/// *Fail at Scale*, ACM Queue 13(8), 2015: whatever is late by twice the target.
///
/// # Example
///
/// ```
/// use clockworker::{Executor, LoadShedding};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ms = Duration::from_millis;
/// let ex = Executor::new();
/// let requests = ex.new_queue("requests").load_shedding(LoadShedding::new(ms(5), ms(100))?).create()?;
/// match requests.try_spawn(async { "an answer" }) {
///     Ok(task) => assert_eq!(ex.block_on(task)?, "an answer"),
///     Err(error) if error.is_shed() => println!("503: try again later"),
///     Err(error) => return Err(error.into()),
/// }
/// assert_eq!(LoadShedding::default(), LoadShedding::new(ms(5), ms(100))?);
/// assert!(LoadShedding::new(ms(5), ms(1)).unwrap_err().is_interval());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadShedding {
    target: Duration,
    interval: Duration,
}

impl LoadShedding {
    /// Sheds load where the delay stays above `target` for an `interval`.
    ///
    /// The target should be several times what a poll of the queue takes, and what its slices are apart: else it is above the
    /// target at any load. The interval should be as long as the bursts that are to be taken.
    ///
    /// # Errors
    ///
    /// If the target is zero, or the interval is shorter than the target.
    pub fn new(target: Duration, interval: Duration) -> Result<Self, LoadSheddingError> {
        if target.is_zero() {
            return Err(LoadSheddingError { kind: Kind::Target });
        }
        if interval < target {
            return Err(LoadSheddingError { kind: Kind::Interval { interval, target } });
        }
        Ok(Self { target, interval })
    }

    /// The delay that is no overload.
    pub fn target(&self) -> Duration {
        self.target
    }

    /// For how long the delay must stay above the target.
    pub fn interval(&self) -> Duration {
        self.interval
    }
}

/// RFC 8289's: a target of 5 ms and an interval of 100 ms.
impl Default for LoadShedding {
    fn default() -> Self {
        Self { target: Duration::from_millis(5), interval: Duration::from_millis(100) }
    }
}

/// Why [`LoadShedding`] makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadSheddingError {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Target,
    Interval { interval: Duration, target: Duration },
}

impl LoadSheddingError {
    /// Whether the target was zero.
    pub fn is_target(&self) -> bool {
        self.kind == Kind::Target
    }

    /// Whether the interval was shorter than the target.
    pub fn is_interval(&self) -> bool {
        matches!(self.kind, Kind::Interval { .. })
    }
}

impl fmt::Display for LoadSheddingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Target => f.write_str("the target delay of load shedding must be more than zero"),
            Kind::Interval { interval, target } => {
                write!(
                    f,
                    "the interval of load shedding is at least its target, {target:?}, not {interval:?}"
                )
            }
        }
    }
}

impl Error for LoadSheddingError {}
