//! Tasks that complete and are aborted while they are woken; the wakes go on when they are gone.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use clockworker::{AbortHandle, Executor, JoinHandle};
use fastrand::Rng;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::lanes::Target;
use super::scene::{Board, Outcome, Scene, known, lost, parks_between, watch};
use super::waking::Waking;

/// Tasks of one generation.
const TASKS: usize = 64;
/// What a thread wakes in one generation.
const WAKES: u64 = 16_384;
/// After so many of them it may abort one.
const CHUNK: u64 = 1_024;

/// What the threads get.
struct Generation {
    targets: Vec<Arc<Target>>,
    aborts: Vec<AbortHandle>,
}

pub(super) fn play(scene: Scene, board: &Board) -> anyhow::Result<Outcome> {
    let ex = Executor::new();
    let (done, all_done) = mpsc::unbounded_channel();
    let threads = (0..scene.threads).map(|thread| start(scene.waking(thread, board), done.clone())).collect();
    let generations = scene.wakes.div_ceil(WAKES * scene.threads as u64);
    let mut play = Play {
        scene,
        board,
        ex: &ex,
        rng: Rng::with_seed(!scene.seed),
        threads,
        all_done,
        polls: Rc::default(),
        outcome: Outcome::default(),
    };
    let run = async {
        for _ in 0..generations {
            play.generation().await;
        }
    };
    scene.host.run(&ex, run)?;
    let stats = ex.stats();
    let Play { mut outcome, polls, .. } = play;
    outcome.wakes = generations * WAKES * scene.threads as u64;
    outcome.polls = polls.get();
    outcome.unexplained_polls = outcome.polls.saturating_sub(outcome.wakes + stats.spawned);
    outcome.unaccounted += stats.spawned.abs_diff(stats.completed + stats.cancelled);
    // The books are balanced anew for each run, so from nothing.
    outcome.parks = parks_between(&Executor::new().stats(), &stats);
    Ok(outcome)
}

type Thread = Sender<Arc<Generation>>;

fn start(mut waking: Waking, done: UnboundedSender<u64>) -> Thread {
    let (send, generations): (Thread, Receiver<Arc<Generation>>) = channel();
    thread::spawn(move || {
        for generation in generations {
            let mut checks = 0;
            for _ in 0..WAKES / CHUNK {
                checks += waking.wake_all(&generation.targets, CHUNK);
                if waking.rng.bool() {
                    let at = waking.rng.usize(..TASKS);
                    generation.aborts[at].abort();
                }
            }
            drop(generation);
            if done.send(checks).is_err() {
                return;
            }
        }
    });
    send
}

struct Play<'a> {
    scene: Scene,
    board: &'a Board,
    ex: &'a Executor,
    rng: Rng,
    threads: Vec<Thread>,
    all_done: UnboundedReceiver<u64>,
    polls: Rc<Cell<u64>>,
    outcome: Outcome,
}

impl Play<'_> {
    async fn generation(&mut self) {
        let targets: Vec<_> = (0..TASKS).map(|_| Target::new(self.scene.threads)).collect();
        let tasks: Vec<JoinHandle<()>> = targets.iter().map(|target| self.spawn(target)).collect();
        known(&targets).await;
        self.board.targets.show(&targets);
        let aborts = tasks.iter().map(JoinHandle::abort_handle).collect();
        let generation = Arc::new(Generation { targets, aborts });
        for thread in &self.threads {
            // A thread that is gone has panicked: it is waited for in vain, which the watchdog sees.
            drop(thread.send(Arc::clone(&generation)));
        }
        for _ in 0..self.threads.len() {
            self.outcome.checks += self.all_done.recv().await.unwrap_or(0);
        }
        self.outcome.lost += lost(&generation.targets);
        tasks.iter().for_each(JoinHandle::abort);
        for task in tasks {
            match task.await {
                Ok(()) => {}
                Err(error) if error.is_cancelled() => {}
                Err(_) => self.outcome.unaccounted += 1,
            }
        }
    }

    /// Half of them complete after some wakes.
    fn spawn(&mut self, target: &Arc<Target>) -> JoinHandle<()> {
        let until = if self.rng.bool() { self.rng.u64(1..WAKES / 32) } else { u64::MAX };
        watch(self.ex, target, &self.polls, until)
    }
}
