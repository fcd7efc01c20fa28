//! The law that two groups which always have work get equal service, whatever they did before.

mod contest;
mod stage;

#[cfg(test)]
mod tests;

use core::fmt;

use crate::Scheduler;
use crate::random::Random;
use contest::{Contest, Course, Polls};
use stage::{End, Stage};

/// The two groups that compete.
const PAIR: [usize; 2] = [0, 1];

/// The others that are there besides in a history.
const CROWD: usize = 8;

/// Two groups of weight 1 that always have work get equal service, within a bound and from a time on, whatever either did
/// before.
///
/// Each check is a *history*, in which the first group works and the second has yet to come, and then a *contest*, in which
/// both always have work. In every stretch of the contest that begins after the time, the service of the two may differ by the
/// bound at most. This is checked for each [`History`], with one task against one and against many, and with polls of equal and
/// of unequal length.
///
/// For policies that promise it: most do not, and are lawful. A policy has to pass [`Laws`](super::Laws) first.
///
/// ```
/// use clockworker_schedulers::laws::EqualService;
/// use clockworker_schedulers::{FairTurns, Las, RunnableFifo};
///
/// // To the poll in the order of becoming ready, while each group has one task and polls are equally long. No further.
/// let fifo = EqualService::new(RunnableFifo::new, 100_000);
/// assert!(fifo.check().is_err());
///
/// // What has had ten seconds alone waits for as long, where attained service is for life.
/// let for_life = || Las::new().without_half_life().with_fair_turns(FairTurns::NEVER);
/// let las = EqualService::new(for_life, 50_000_000).settles_within_ns(1_000_000_000);
/// assert!(las.check().is_err());
/// ```
pub struct EqualService<'a, S> {
    make: Box<dyn Fn() -> S + 'a>,
    bound_ns: u64,
    settles_within_ns: u64,
    history_ns: u64,
    longest_poll_ns: u64,
    tasks: usize,
    others: usize,
    seed: u64,
}

impl<'a, S: Scheduler> EqualService<'a, S> {
    /// Checks the policy that `make` makes, a fresh one for each contest: the service of the two may differ by `bound_ns`.
    pub fn new(make: impl Fn() -> S + 'a, bound_ns: u64) -> Self {
        Self {
            make: Box::new(make),
            bound_ns,
            settles_within_ns: 0,
            history_ns: 10_000_000_000,
            longest_poll_ns: 100_000,
            tasks: 100,
            others: 0,
            seed: 0x4571_7561_6C5F_3031,
        }
    }

    /// Sets from when on the bound holds: after so much service of the queue in the contest. 0 unless set.
    #[must_use]
    pub fn settles_within_ns(self, ns: u64) -> Self {
        Self { settles_within_ns: ns, ..self }
    }

    /// Sets how long the history is, in nanoseconds of service; 10 s unless set.
    #[must_use]
    pub fn history_ns(self, ns: u64) -> Self {
        Self { history_ns: ns, ..self }
    }

    /// Sets the longest poll, for a bound to depend on; 100 µs unless set. Below 16 ns counts as 16. Short ones are a sixteenth.
    #[must_use]
    pub fn longest_poll_ns(self, ns: u64) -> Self {
        Self { longest_poll_ns: ns.max(16), ..self }
    }

    /// Sets how many tasks a group has where it has many; 100 unless set. Below 1 counts as 1.
    #[must_use]
    pub fn tasks(self, tasks: usize) -> Self {
        Self { tasks: tasks.max(1), ..self }
    }

    /// Sets how many other groups come and go, sleep and wake, beside the two in the contest; none unless set.
    #[must_use]
    pub fn others(self, others: usize) -> Self {
        Self { others, ..self }
    }

    /// Sets where what is drawn starts from. Loop over several for a thorough check.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Runs every contest.
    ///
    /// # Errors
    ///
    /// [`Unequal`] tells of the first contest in which the service differed by more than the bound after the time.
    ///
    /// # Panics
    ///
    /// If the policy panics, or breaks one of [`Laws`](super::Laws): it has to pass them first.
    pub fn check(&self) -> Result<EqualReport, Unequal> {
        let many = self.tasks;
        let mut report = EqualReport::default();
        for history in History::ALL {
            for tasks in [[1, 1], [1, many], [many, 1]] {
                for polls in Polls::PAIRS {
                    self.contest(Contest { history, tasks, polls }, &mut report)?;
                }
            }
        }
        Ok(report)
    }

    fn contest(&self, contest: Contest, report: &mut EqualReport) -> Result<(), Unequal> {
        let random = Random::new(self.seed ^ contest.number());
        let mut stage = Stage::new((self.make)(), random);
        self.play_history(&mut stage, &contest);
        let course = self.play_contest(&mut stage, &contest);
        let settled_after_ns = course.settled_after_ns(self.bound_ns);
        report.pops += stage.pops();
        report.contests += 1;
        report.settled_after_ns = report.settled_after_ns.max(settled_after_ns);
        let difference_ns = course.greatest_difference_ns(self.settles_within_ns);
        report.greatest_difference_ns = report.greatest_difference_ns.max(difference_ns);
        if difference_ns <= self.bound_ns {
            return Ok(());
        }
        let (bound_ns, seed) = (self.bound_ns, self.seed);
        Err(Unequal { contest, difference_ns, settled_after_ns, bound_ns, seed })
    }

    /// What happened before: the first group worked, and the second has no task yet.
    fn play_history(&self, stage: &mut Stage<S>, contest: &Contest) {
        let history = contest.history;
        if history == History::None {
            return;
        }
        stage.fill(PAIR[0], contest.tasks[0]);
        let crowd = if history == History::Crowded { CROWD } else { 0 };
        (0..crowd).for_each(|other| stage.fill(PAIR.len() + other, 1));
        let mut passed = 0;
        while passed < self.history_ns {
            let service_ns = stage.random().around(self.longest_poll_ns / 2);
            passed += service_ns;
            match history {
                History::OnAndOff => {
                    stage.poll(|_, _| (service_ns, End::Sleeps));
                    stage.wake_one();
                }
                History::Drawn => self.draw_a_step(stage, service_ns),
                _ => _ = stage.poll(|_, _| (service_ns, End::Yields)),
            }
        }
        if history == History::Reopened {
            stage.empty(PAIR[0]);
        }
        (0..CROWD).for_each(|other| stage.empty(PAIR.len() + other));
    }

    /// Anything: groups come, go, come back, sleep and wake.
    fn draw_a_step(&self, stage: &mut Stage<S>, service_ns: u64) {
        let end = match stage.random().below(40) {
            0..20 => End::Yields,
            20..39 => End::Sleeps,
            _ => End::Finishes,
        };
        stage.poll(|_, _| (service_ns, end));
        if stage.random().one_in(2) {
            stage.wake_one();
        }
        let group = stage.random().below(PAIR.len() + CROWD);
        if stage.random().one_in(16) {
            stage.fill(group, 1);
        }
        if stage.random().one_in(256) {
            stage.empty(group);
        }
    }

    fn play_contest(&self, stage: &mut Stage<S>, contest: &Contest) -> Course {
        for group in PAIR {
            stage.fill(group, contest.tasks[group]);
            stage.wake_all(group);
        }
        let mut course = Course::default();
        let longest = self.longest_poll_ns;
        let lasts = self.settles_within_ns.saturating_mul(2).saturating_add(longest.saturating_mul(1_000));
        while course.passed_ns() < lasts {
            let polled = stage.poll(|group, random| match contest.polls.get(group) {
                Some(polls) => (polls.draw(longest, random), End::Yields),
                None => (random.around(longest / 2), End::drawn(random)),
            });
            if let Some((group, service_ns)) = polled {
                course.note(group, service_ns);
            }
            for other in PAIR.len()..PAIR.len() + self.others {
                if stage.random().one_in(4) {
                    stage.wake_all(other);
                    stage.fill(other, 1);
                }
            }
        }
        course
    }
}

impl<S> fmt::Debug for EqualService<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EqualService")
            .field("bound_ns", &self.bound_ns)
            .field("settles_within_ns", &self.settles_within_ns)
            .field("history_ns", &self.history_ns)
            .field("longest_poll_ns", &self.longest_poll_ns)
            .field("tasks", &self.tasks)
            .field("others", &self.others)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// What happened before two groups compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum History {
    /// Nothing.
    None,
    /// The first group worked alone.
    Alone,
    /// It worked beside eight others, which have left.
    Crowded,
    /// It slept after every poll, and was woken at once.
    OnAndOff,
    /// It worked alone, was closed, and comes back under the same key.
    Reopened,
    /// Both, and others, came, went, came back, slept and woke at random.
    Drawn,
}

impl History {
    const ALL: [Self; 6] =
        [Self::None, Self::Alone, Self::Crowded, Self::OnAndOff, Self::Reopened, Self::Drawn];
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Alone => "alone",
            Self::Crowded => "crowded",
            Self::OnAndOff => "on and off",
            Self::Reopened => "reopened",
            Self::Drawn => "drawn",
        })
    }
}

/// What a check that found nothing unequal went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EqualReport {
    /// Contests.
    pub contests: u64,
    /// Tasks popped.
    pub pops: u64,
    /// The most by which the service of the two differed in a stretch after the time.
    pub greatest_difference_ns: u64,
    /// The longest that it took, in service of the queue, until they differed by the bound at most.
    pub settled_after_ns: u64,
}

/// The service of two groups that always have work differed by more than the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unequal {
    contest: Contest,
    difference_ns: u64,
    bound_ns: u64,
    settled_after_ns: u64,
    seed: u64,
}

impl Unequal {
    /// What had happened before.
    pub fn history(&self) -> History {
        self.contest.history
    }

    /// How many tasks each of the two had.
    pub fn tasks(&self) -> [usize; 2] {
        self.contest.tasks
    }

    /// The most by which their service differed in a stretch after the time, in nanoseconds.
    pub fn difference_ns(&self) -> u64 {
        self.difference_ns
    }

    /// After how much service of the queue the bound held, if it did before the end.
    pub fn settled_after_ns(&self) -> u64 {
        self.settled_after_ns
    }

    /// The seed to see it again with: [`EqualService::seed`].
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl fmt::Display for Unequal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { contest, difference_ns, bound_ns, settled_after_ns, seed } = self;
        let Contest { history, tasks: [first, second], polls } = contest;
        write!(
            f,
            "the service of two groups that always had work differed by {difference_ns} ns, where {bound_ns} are allowed \
             (history \"{history}\", {first} tasks against {second}, polls {polls:?}, settled after {settled_after_ns} ns; \
             replay with seed {seed:#x})"
        )
    }
}

impl core::error::Error for Unequal {}
