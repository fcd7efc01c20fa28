//! Scenes of aborts, each drawn by lot: tasks yield, wait, wake and abort each other, while the owner thread and other threads
//! abort them too.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};

use anyhow::ensure;
use clockworker::schedulers::{Las, Qlas};
use clockworker::{AbortHandle, Executor, ManualClock, Queue};
use fastrand::Rng;

use crate::driving::poll_once;

/// Of how many kinds aborts are: parked, arriving and ready tasks are aborted from five places; new ones from four, as they are
/// not new to tasks any more; one that is being polled by itself or, meanwhile, by another thread.
pub const KINDS: usize = 3 * 5 + 4 + 2 * 2;

/// What came of a scene.
#[derive(Debug)]
pub struct Played {
    /// All aborts, as their tasks' futures were dropped.
    pub aborts: Vec<Abort>,
    /// Futures that were dropped on another thread than the owner's.
    pub dropped_elsewhere: u64,
    /// Futures that were there at the end.
    pub left: u64,
}

const TURNS: u32 = 60;

/// Plays the scene of that seed to its end.
///
/// # Errors
///
/// If a task panicked, which none is to.
pub fn play(seed: u64) -> anyhow::Result<Played> {
    let known = Known { rng: Rng::with_seed(seed), ..Known::default() };
    let board = Arc::new(Board { owner: thread::current().id(), known: known.into() });
    let cap = board.draw(20) + 1;
    let ex = Executor::builder().clock(ManualClock::new()).poll_cap(cap).build()?;
    let las = ex.new_queue("las").scheduler(Las::new()).create()?;
    let qlas = ex.new_queue("qlas").share(3).scheduler(Qlas::new()).create()?;
    let queues: [Queue; QUEUES] = [ex.default_queue().clone(), las, qlas];
    let count = board.known().rng.usize(2..=20);
    for index in 0..count {
        spawn(&queues, index % queues.len(), &board);
    }
    let mut run = pin!(ex.run_until(main(Arc::clone(&board))));
    let mut turn = || {
        board.known().turns += 1;
        let _never: Poll<()> = poll_once(&mut run);
    };
    for _ in 0..TURNS {
        turn();
        between_turns(&ex, &queues, &board);
    }
    let all = board.known().tasks.len();
    (0..all).for_each(|task| abort(&board, task, Origin::Outside));
    // A drop counts as a poll, so that one turn may not be enough.
    (0..all).for_each(|_| turn());
    let left = board.known().tasks.iter().filter(|state| state.phase != Phase::Done).count() as u64;
    let panicked = ex.stats().panicked;
    ensure!(panicked == 0, "seed {seed}: {panicked} tasks panicked");
    let mut known = board.known();
    let (aborts, dropped_elsewhere) = (std::mem::take(&mut known.aborts), known.dropped_elsewhere);
    Ok(Played { aborts, dropped_elsewhere, left })
}

fn spawn(queues: &[Queue], queue: usize, board: &Arc<Board>) {
    let task = board.enter(queue, Phase::Ready);
    let guard = Guard { board: Arc::clone(board), task };
    let handle = queues[queue].spawn(worker(guard));
    board.known().tasks[task].abort = Some(handle.abort_handle());
}

async fn worker(guard: Guard) {
    poll_fn(|cx| {
        let (board, task) = (&guard.board, guard.task);
        board.begin(task, cx.waker());
        for _ in 0..board.draw(3) {
            act(board, Origin::Task, Origin::ThreadInside);
        }
        if board.draw(3) == 0 {
            board.wake(task);
        }
        board.end(task);
        if board.draw(100) == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The future that is run: it acts too, and wakes itself, as a rule.
async fn main(board: Arc<Board>) {
    poll_fn(|cx| {
        board.known().polls += 1;
        act(&board, Origin::Main, Origin::ThreadInside);
        if board.draw(16) > 0 {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
    .await
}

fn between_turns(ex: &Executor, queues: &[Queue], board: &Arc<Board>) {
    match board.draw(8) {
        0..4 => act(board, Origin::Outside, Origin::ThreadOutside),
        4 | 5 => {
            let queue = board.known().rng.usize(..queues.len());
            spawn(queues, queue, board);
        }
        _ => spawn_elsewhere(ex, board),
    }
}

/// Another thread spawns a task, and maybe it is aborted before the owner has seen it.
fn spawn_elsewhere(ex: &Executor, board: &Arc<Board>) {
    let task = board.enter(0, Phase::New);
    let guard = Guard { board: Arc::clone(board), task };
    let handle = ex.handle();
    let spawning = thread::spawn(move || {
        let make = move || async move {
            poll_fn(|cx| {
                guard.board.begin(guard.task, cx.waker());
                guard.board.end(guard.task);
                Poll::<()>::Pending
            })
            .await;
            drop(guard);
        };
        handle.spawn(make).abort_handle()
    });
    let Ok(handle) = spawning.join() else { return };
    board.known().tasks[task].abort = Some(handle);
    match board.draw(3) {
        0 => abort(board, task, Origin::Outside),
        1 => abort(board, task, Origin::ThreadOutside),
        _ => {}
    }
}

/// Wakes some tasks and maybe aborts one, itself or through another thread.
fn act(board: &Board, own: Origin, thread: Origin) {
    let tasks = board.known().tasks.len();
    // Often the newest, which no other task has seen yet.
    let any = || board.known().rng.usize(..2 * tasks).min(tasks - 1);
    let (woken, aborted) = (any(), any());
    match board.draw(16) {
        0..8 => board.wake(woken),
        8 => abort(board, aborted, own),
        9 => abort(board, aborted, thread),
        10 => {
            // A task that has just been woken.
            board.wake(aborted);
            abort(board, aborted, if woken % 2 == 0 { own } else { thread });
        }
        _ => {}
    }
}

fn abort(board: &Board, task: usize, origin: Origin) {
    let Some(handle) = board.abort(task, origin) else { return };
    if matches!(origin, Origin::Outside | Origin::Main | Origin::Task) {
        return handle.abort();
    }
    // It panics if the abort does, and then the future is never dropped, which is seen.
    drop(thread::spawn(move || handle.abort()).join());
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
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

/// Who aborts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
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
pub struct Abort {
    /// Where the task was, and who aborted it.
    pub kind: (Phase, Origin),
    /// Polls of tasks of the same queue that began between the abort and the drop.
    pub polls: u64,
    /// Turns of the executor that began in between.
    pub turns: u64,
}

const QUEUES: usize = 3;

#[derive(Default)]
struct Known {
    /// Of tasks and of the `run_until` future; and of the tasks of each queue.
    polls: u64,
    polls_of: [u64; QUEUES],
    turns: u64,
    tasks: Vec<TaskState>,
    aborts: Vec<Abort>,
    dropped_elsewhere: u64,
    rng: Rng,
}

struct TaskState {
    phase: Phase,
    queue: usize,
    /// At which poll it was woken.
    woken_at: u64,
    waker: Option<Waker>,
    abort: Option<AbortHandle>,
    /// With the numbers of polls and turns that there had been.
    aborted: Option<Abort>,
}

struct Board {
    owner: ThreadId,
    known: Mutex<Known>,
}

impl Board {
    fn draw(&self, below: u32) -> u32 {
        self.known().rng.u32(..below)
    }

    /// There are no calls into the executor while this is held.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, queue: usize, phase: Phase) -> usize {
        let mut known = self.known();
        let woken_at = known.polls;
        known.tasks.push(TaskState { queue, phase, woken_at, waker: None, abort: None, aborted: None });
        known.tasks.len() - 1
    }

    fn begin(&self, task: usize, waker: &Waker) {
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
    fn end(&self, task: usize) {
        let state = &mut self.known().tasks[task];
        state.phase = if state.phase == Phase::RunningWoken { Phase::Ready } else { Phase::Parked };
    }

    /// Wakes a task on the owner thread, if it has a waker yet.
    fn wake(&self, task: usize) {
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
    fn abort(&self, task: usize, origin: Origin) -> Option<AbortHandle> {
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
        let took = |since: Abort| Abort { polls: polls - since.polls, turns: turns - since.turns, ..since };
        known.aborts.extend(aborted.map(took));
        drop(known);
        drop(waker);
    }
}

/// Tells the board when it is dropped, with the future that it is in.
struct Guard {
    board: Arc<Board>,
    task: usize,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.board.dropped(self.task);
    }
}
