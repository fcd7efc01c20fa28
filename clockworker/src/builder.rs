//! Options of an executor, validated before anything is built.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use clockworker_schedulers::{Scheduler, WokenFirst};

use crate::base::{Clock, UnhandledPanic};
use crate::executor::Executor;
use crate::probe::ExecutorClock;
use crate::queue::QueueError;
use crate::queue_builder::QueueOptions;
use crate::run::{Core, HostLimits};

/// How many polls the executor does at most before it goes back to its host, unless told otherwise.
///
/// Time is what counts ([`Builder::host_budget`]); this is the bound where a clock stands still.
pub const DEFAULT_POLL_CAP: u32 = 8_192;

/// The name of the queue that every executor begins with.
pub const DEFAULT_QUEUE: &str = "default";

/// Builds an [`Executor`]. From [`Executor::builder`].
///
/// # Example
///
/// ```
/// use clockworker::{Executor, schedulers::Qlas};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), clockworker::BuildError> {
/// let ex = Executor::builder()
///     .scheduler(Qlas::new()) // of the default queue
///     .host_budget(Duration::from_micros(100))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder<S = WokenFirst> {
    options: QueueOptions<S>,
    /// None for a budget that tunes itself.
    host_budget: Option<Duration>,
    poll_cap: u32,
    unhandled_panic: UnhandledPanic,
    clock: Option<ExecutorClock>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            options: QueueOptions::default(),
            host_budget: None,
            poll_cap: DEFAULT_POLL_CAP,
            unhandled_panic: UnhandledPanic::default(),
            clock: None,
        }
    }
}

impl<S: Scheduler + 'static> Builder<S> {
    /// The scheduler of the default queue. [`WokenFirst`] unless told otherwise.
    pub fn scheduler<T: Scheduler + 'static>(self, scheduler: T) -> Builder<T> {
        let Builder { options, host_budget, poll_cap, unhandled_panic, clock } = self;
        Builder { options: options.scheduler(scheduler), host_budget, poll_cap, unhandled_panic, clock }
    }

    /// The share of the default queue, see [`QueueBuilder::share`](crate::QueueBuilder::share). 1 unless told
    /// otherwise.
    pub fn share(mut self, share: u32) -> Self {
        self.options.share = share;
        self
    }

    /// The request of the default queue, see [`QueueBuilder::request`](crate::QueueBuilder::request).
    pub fn request(mut self, request: Duration) -> Self {
        self.options.request = request;
        self
    }

    /// Fixes how long tasks may run before the executor goes back to its host, so that I/O and timers of the host are
    /// served.
    ///
    /// Unless told otherwise the executor measures what going back costs when the host finds nothing to do, and runs for
    /// twenty times as long, at least 10 µs: on tokio some 10 to 20 µs. So some twentieth of the thread goes to such visits, and
    /// where polls take longer than that, I/O waits for the poll under way only. While visits find nothing, they become rarer
    /// with each, down to a sixty-fourth. Where the host has tasks of its own, it gets two thirds of the thread at most. And
    /// where polls are short (32 µs in the mean), all tasks that were ready and had not merely yielded are polled before the
    /// next visit, since what it brings goes behind them: one visit for many requests costs less than one for every few. When a
    /// queue has drained that a visit woke, while others have work left, the host is visited at once, so that what its tasks
    /// wrote is sent; not twice in a row. All this stays within [`HOST_BUDGETS`](crate::HOST_BUDGETS).
    ///
    /// The host waits at most this long and one poll more. (Where a single queue is runnable and its scheduler needs no time,
    /// or the future given to `run_until` wakes itself, the clock is read at least every 32 polls, so when polls suddenly
    /// take long it may be 32 of them, once.) Zero means after every such reading.
    ///
    /// A longer budget gives background work more of the thread, a shorter one lets I/O wait less.
    pub fn host_budget(mut self, budget: Duration) -> Self {
        self.host_budget = Some(budget);
        self
    }

    /// How many polls the executor may do before it goes back to its host. [`DEFAULT_POLL_CAP`] unless told otherwise.
    pub fn poll_cap(mut self, polls: u32) -> Self {
        self.poll_cap = polls;
        self
    }

    /// What the executor does when a task panics. [`UnhandledPanic::Ignore`] unless told otherwise.
    ///
    /// # Example
    ///
    /// ```should_panic
    /// use clockworker::{Executor, UnhandledPanic};
    ///
    /// let ex = Executor::builder().unhandled_panic(UnhandledPanic::ShutdownRuntime).build().unwrap();
    /// ex.spawn(async { panic!("nobody awaits this task") });
    /// ex.block_on(std::future::pending::<()>()); // panics, instead of waiting for ever
    /// ```
    pub fn unhandled_panic(mut self, behavior: UnhandledPanic) -> Self {
        self.unhandled_panic = behavior;
        self
    }

    /// Runs the executor on another clock than the system's: a [`ManualClock`](crate::ManualClock), which stands still until it is told to
    /// advance, for exact tests; with the feature `tokio` a `TokioClock`, which tests of tokio may pause; or that of another executor.
    pub fn clock(mut self, clock: impl Into<ExecutorClock>) -> Self {
        self.clock = Some(clock.into());
        self
    }

    /// Builds the executor, owned by the calling thread.
    ///
    /// # Errors
    ///
    /// If an option is out of range: a poll cap of zero, a share or a request that
    /// [`QueueBuilder::create`](crate::QueueBuilder::create) would refuse.
    pub fn build(self) -> Result<Executor, BuildError> {
        if self.poll_cap == 0 {
            return Err(BuildError { kind: Kind::PollCap });
        }
        let limits = HostLimits { budget: self.host_budget, poll_cap: self.poll_cap };
        let clock = self.clock.map_or_else(Clock::system, |clock| clock.0);
        let core = Core::new(clock, limits);
        core.ending.set_unhandled_panic(self.unhandled_panic);
        let default = self.options.create(&core, DEFAULT_QUEUE);
        default
            .map(|default| Executor::from_parts(core, default))
            .map_err(|error| BuildError { kind: Kind::Queue(error) })
    }
}

impl<S> fmt::Debug for Builder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("options", &self.options)
            .field("host_budget", &self.host_budget)
            .field("poll_cap", &self.poll_cap)
            .field("unhandled_panic", &self.unhandled_panic)
            .field("clock", &self.clock)
            .finish()
    }
}

/// Why an executor could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    PollCap,
    Queue(QueueError),
}

impl BuildError {
    /// Whether the poll cap was zero.
    pub fn is_poll_cap(&self) -> bool {
        self.kind == Kind::PollCap
    }

    /// The error of the default queue's options, if that was the reason.
    pub fn queue_error(&self) -> Option<&QueueError> {
        match &self.kind {
            Kind::Queue(error) => Some(error),
            Kind::PollCap => None,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::PollCap => f.write_str("the poll cap must be at least 1"),
            Kind::Queue(error) => write!(f, "default queue: {error}"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.queue_error().map(|error| error as _)
    }
}
