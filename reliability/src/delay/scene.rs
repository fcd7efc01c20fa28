//! A workload, played on the executor.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::schedulers::RunnableFifo;
use clockworker::{BuildError, Executor, QueueError};
use clockworker_testing::virtual_time::VirtualTime;
use fastrand::Rng;

use super::formula::Others;
use super::workload::Workload;
use crate::cases::Worst;

/// What became of a workload.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) wakes: u64,
    /// The greatest delay in parts of its bound.
    pub(super) worst: Worst,
    /// In parts of the bound that holds where the other queues contend all the time: of the first queue, and of any.
    pub(super) first_beside_contenders: Worst,
    pub(super) any_beside_contenders: Worst,
}

struct Scene {
    seed: u64,
    time: VirtualTime,
    workload: Workload,
    rng: RefCell<Rng>,
    /// By queue, in nanoseconds: where the others come and go, and where they contend.
    bounds: Vec<(f64, f64)>,
    polls_left: Cell<u64>,
    unfinished: Cell<u64>,
    outcome: RefCell<Outcome>,
}

/// Plays it to its end.
pub(super) fn play(workload: Workload, rng: Rng, seed: u64) -> anyhow::Result<Outcome> {
    let time = VirtualTime::new();
    let ex = executor(&workload, &time)?;
    let bounds = (0..workload.queues.len())
        .map(|of| {
            let setting = workload.setting();
            (setting.longest_delay(of, Others::ComeAndGo), setting.longest_delay(of, Others::Contend))
        })
        .collect();
    let scene = Rc::new(Scene {
        seed,
        time,
        bounds,
        polls_left: Cell::new(workload.polls),
        unfinished: Cell::new(workload.queues.iter().map(|queue| queue.tasks).sum()),
        workload,
        rng: RefCell::new(rng),
        outcome: RefCell::default(),
    });
    spawn_all(&ex, &scene)?;
    let host_takes = || Duration::from_nanos(scene.rng.borrow_mut().u64(..=scene.workload.host.away));
    scene.time.drive(&ex, || scene.unfinished.get() == 0, host_takes)?;
    let outcome = scene.outcome.borrow().clone();
    Ok(outcome)
}

/// The first queue is the executor's default queue.
fn executor(workload: &Workload, time: &VirtualTime) -> Result<Executor, BuildError> {
    let first = workload.queues[0];
    let budget = Duration::from_nanos(workload.host.budget);
    let builder = Executor::builder().clock(time.clock()).host_budget(budget).poll_cap(u32::MAX);
    builder
        .scheduler(RunnableFifo::new())
        .share(first.share)
        .request(Duration::from_nanos(first.request))
        .build()
}

fn spawn_all(ex: &Executor, scene: &Rc<Scene>) -> Result<(), QueueError> {
    for (index, shape) in scene.workload.queues.iter().enumerate() {
        let request = Duration::from_nanos(shape.request);
        let queue = match index {
            0 => ex.default_queue().clone(),
            _ => {
                let name = index.to_string();
                let queue = ex.new_queue(&name).share(shape.share).request(request);
                queue.scheduler(RunnableFifo::new()).create()?
            }
        };
        for _ in 0..shape.tasks {
            let woken = Rc::new(Cell::new(Some(scene.time.now())));
            let _detached = queue.spawn(Worker { scene: Rc::clone(scene), queue: index, woken });
        }
    }
    Ok(())
}

/// A task: it works, then yields or sleeps, until the scene is over.
struct Worker {
    scene: Rc<Scene>,
    queue: usize,
    /// Since when it is ready.
    woken: Rc<Cell<Option<Duration>>>,
}

impl Future for Worker {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.scene.saw(self.queue, self.woken.take());
        let Some(left) = self.scene.polls_left.get().checked_sub(1) else {
            self.scene.unfinished.set(self.scene.unfinished.get() - 1);
            return Poll::Ready(());
        };
        self.scene.polls_left.set(left);
        let (before, after, sleep) = self.scene.draw(self.queue);
        self.scene.time.pass(Duration::from_nanos(before));
        match sleep {
            None => wake(&self.scene.time, &self.woken, cx.waker()),
            Some(sleep) => {
                let (time, woken, waker) =
                    (self.scene.time.clone(), Rc::clone(&self.woken), cx.waker().clone());
                let due = time.now() + Duration::from_nanos(sleep);
                self.scene.time.at(due, move || wake(&time, &woken, &waker));
            }
        }
        self.scene.time.pass(Duration::from_nanos(after));
        Poll::Pending
    }
}

fn wake(time: &VirtualTime, woken: &Cell<Option<Duration>>, waker: &Waker) {
    woken.set(Some(time.now()));
    waker.wake_by_ref();
}

impl Scene {
    /// What a poll does: it works, arranges for its next one, and works on; how long each, and how long it sleeps then.
    fn draw(&self, queue: usize) -> (u64, u64, Option<u64>) {
        let mut rng = self.rng.borrow_mut();
        let length = self.workload.length(&mut rng);
        let before = if rng.bool() { 0 } else { rng.u64(..=length) };
        (before, length - before, self.workload.sleep(queue, &mut rng))
    }

    /// A task is polled that was woken then.
    fn saw(&self, queue: usize, woken: Option<Duration>) {
        let mut outcome = self.outcome.borrow_mut();
        // A poll without a wake is no promise kept: not a number.
        let delay = woken.map_or(f64::NAN, |woken| (self.time.now() - woken).as_nanos() as f64);
        let (bound, beside_contenders) = self.bounds[queue];
        outcome.wakes += 1;
        outcome.worst.add(delay / bound, self.seed);
        outcome.any_beside_contenders.add(delay / beside_contenders, self.seed);
        if queue == 0 {
            outcome.first_beside_contenders.add(delay / beside_contenders, self.seed);
        }
    }
}
