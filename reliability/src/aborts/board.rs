//! What is known of every task, and how long each abort took.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::{self, ThreadId};

use clockworker::AbortHandle;
use fastrand::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Spawned by another thread, and not yet seen by the owner.
    New,
    /// It waits for a wake.
    Parked,
    /// Woken, and not yet in its scheduler.
    Arriving,
    /// In its scheduler.
    Ready,
    /// Being polled.
    Running,
    /// Being polled, and woken meanwhile.
    RunningWoken,
    /// Its future is gone.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The owner thread, between two turns.
    Outside,
    /// The future given to `run_until`.
    Main,
    /// A task, maybe itself.
    Task,
    /// Another thread, between two turns.
    ThreadOutside,
    /// Another thread, during a poll.
    ThreadInside,
}

/// An abort of a task whose future has been dropped since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Abort {
    /// Where the task was, and who aborted it.
    pub(super) kind: (Phase, Origin),
    /// Polls of tasks of the same queue that began between the abort and the drop.
    pub(super) polls: u64,
    /// Turns of the executor that began in between.
    pub(super) turns: u64,
}

/// Queues of a scene.
pub(super) const QUEUES: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Known {
    /// Of tasks and of the `run_until` future; and of the tasks of each queue.
    pub(super) polls: u64,
    polls_of: [u64; QUEUES],
    pub(super) turns: u64,
    pub(super) tasks: Vec<TaskState>,
    pub(super) aborts: Vec<Abort>,
    pub(super) dropped_elsewhere: u64,
    pub(super) rng: Rng,
}

#[derive(Debug)]
pub(super) struct TaskState {
    phase: Phase,
    queue: usize,
    /// At which poll it was woken.
    woken_at: u64,
    waker: Option<Waker>,
    pub(super) abort: Option<AbortHandle>,
    /// With the numbers of polls and turns that there had been.
    aborted: Option<Abort>,
}

#[derive(Debug)]
pub(super) struct Board {
    owner: ThreadId,
    known: Mutex<Known>,
}

impl Board {
    /// For an executor of the calling thread.
    pub(super) fn new(seed: u64) -> Arc<Self> {
        let known = Known { rng: Rng::with_seed(seed), ..Known::default() };
        Arc::new(Board { owner: thread::current().id(), known: known.into() })
    }

    pub(super) fn draw(&self, below: u32) -> u32 {
        self.known().rng.u32(..below)
    }

    /// There are no calls into the executor while this is held.
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self, queue: usize, phase: Phase) -> usize {
        let mut known = self.known();
        let woken_at = known.polls;
        known.tasks.push(TaskState { queue, phase, woken_at, waker: None, abort: None, aborted: None });
        known.tasks.len() - 1
    }

    pub(super) fn begin(&self, task: usize, waker: &Waker) {
        let mut known = self.known();
        known.polls += 1;
        let queue = known.tasks[task].queue;
        known.polls_of[queue] += 1;
        // What other threads spawned before this turn is admitted before its first slice.
        let new = known.tasks.iter_mut().filter(|state| state.phase == Phase::New);
        new.for_each(|state| state.phase = Phase::Ready);
        known.tasks[task].phase = Phase::Running;
        known.tasks[task].waker.get_or_insert_with(|| waker.clone());
    }

    /// A poll of a task ends. If it was woken, its scheduler has it.
    pub(super) fn end(&self, task: usize) {
        let state = &mut self.known().tasks[task];
        state.phase = if state.phase == Phase::RunningWoken { Phase::Ready } else { Phase::Parked };
    }

    /// Wakes a task on the owner thread, if it has a waker yet.
    pub(super) fn wake(&self, task: usize) {
        let waker = {
            let mut known = self.known();
            let polls = known.polls;
            let state = &mut known.tasks[task];
            match state.phase {
                Phase::Parked => (state.phase, state.woken_at) = (Phase::Arriving, polls),
                Phase::Running => state.phase = Phase::RunningWoken,
                _ => {}
            }
            state.waker.clone()
        };
        waker.iter().for_each(Waker::wake_by_ref);
    }

    /// Notes that a task is being aborted, and gives what aborts it. None if that was done, or its future is gone.
    pub(super) fn abort(&self, task: usize, origin: Origin) -> Option<AbortHandle> {
        let mut known = self.known();
        let (all_polls, turns) = (known.polls, known.turns);
        let polls = known.polls_of[known.tasks[task].queue];
        let state = &mut known.tasks[task];
        if state.phase == Phase::Done || state.aborted.is_some() {
            return None;
        }
        // Admitted since, between two polls.
        if state.phase == Phase::Arriving && state.woken_at < all_polls {
            state.phase = Phase::Ready;
        }
        let handle = state.abort.clone()?;
        state.aborted = Some(Abort { kind: (state.phase, origin), polls, turns });
        Some(handle)
    }

    fn dropped(&self, task: usize) {
        let mut known = self.known();
        known.dropped_elsewhere += u64::from(thread::current().id() != self.owner);
        let (polls, turns) = (known.polls_of[known.tasks[task].queue], known.turns);
        let state = &mut known.tasks[task];
        state.phase = Phase::Done;
        let waker = state.waker.take();
        let aborted = state.aborted;
        known.aborts.extend(aborted.map(|abort| Abort {
            polls: polls - abort.polls,
            turns: turns - abort.turns,
            ..abort
        }));
        drop(known);
        drop(waker);
    }

    /// Tasks whose futures are there.
    pub(super) fn left(&self) -> u64 {
        self.known().tasks.iter().filter(|state| state.phase != Phase::Done).count() as u64
    }
}

/// Tells the board when it is dropped, with the future that it is in.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) board: Arc<Board>,
    pub(super) task: usize,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.board.dropped(self.task);
    }
}
