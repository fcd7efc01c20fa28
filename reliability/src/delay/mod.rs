//! Promise 5: the delay from a wake to the poll that it causes has a bound, and docs/BOUNDS.md has its formula.
//!
//! Random workloads in virtual time, on the real executor. Each delay is divided by its bound.

mod workload;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use clockworker::Executor;
use clockworker::schedulers::RunnableFifo;
use clockworker_testing::virtual_time::VirtualTime;
use fastrand::Rng;

use crate::bounds::Others;
use crate::cases::{Cases, Worst};
use crate::figure::{Figure, told};
use workload::Workload;

/// Holds the delay from wake to poll against its formula, in random workloads on a virtual clock.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    cases: Cases,
}

/// The worst delay of each kind of workload, in parts of its bound.
#[derive(Debug, Default)]
struct Tally {
    wakes: u64,
    one_queue: Worst,
    steady: Worst,
    restless: Worst,
    /// The same in parts of the bound that holds where queues always contend.
    restless_by_steady: Worst,
}

/// Plays all workloads.
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut tally = Tally::default();
    let count = options
        .cases
        .play(100_000, 1_000, |seed| play(seed, &mut tally).with_context(|| format!("seed {seed}")))?;
    let mut figures = vec![told(5, "workloads in virtual time", count), told(5, "wakes", tally.wakes)];
    let kinds = [
        ("one queue", tally.one_queue),
        ("queues that always contend", tally.steady),
        ("queues that come and go", tally.restless),
    ];
    figures.extend(kinds.into_iter().flat_map(|(kind, worst)| {
        worst.figures(5, &format!("greatest delay from wake to poll / bound, {kind}"), 1.0)
    }));
    let what =
        "greatest delay from wake to poll, queues that come and go / bound of queues that always contend";
    figures.push(told(5, what, tally.restless_by_steady.value));
    Ok(figures)
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
    tally: RefCell<Tally>,
}

/// Since when a task is ready.
type Woken = Rc<Cell<Option<Duration>>>;

/// Plays a random workload to its end.
fn play(seed: u64, tally: &mut Tally) -> anyhow::Result<()> {
    let mut rng = Rng::with_seed(seed);
    let workload = Workload::draw(&mut rng);
    let bound = |of, others| workload.longest_delay(of, others);
    let queues = 0..workload.queues.len();
    let scene = Rc::new(Scene {
        seed,
        time: VirtualTime::new(),
        bounds: queues.map(|of| (bound(of, Others::ComeAndGo), bound(of, Others::Contend))).collect(),
        polls_left: Cell::new(workload.polls),
        unfinished: Cell::new(workload.tasks.iter().sum()),
        workload,
        rng: RefCell::new(rng),
        tally: RefCell::new(std::mem::take(tally)),
    });
    let ex = scene.set()?;
    let host_takes = || Duration::from_nanos(scene.rng.borrow_mut().u64(..=scene.workload.host_away));
    scene.time.drive(&ex, || scene.unfinished.get() == 0, host_takes)?;
    *tally = scene.tally.take();
    Ok(())
}

impl Scene {
    /// The executor with all tasks. The first queue is its default queue.
    fn set(self: &Rc<Self>) -> anyhow::Result<Executor> {
        let (workload, ns) = (&self.workload, Duration::from_nanos);
        let first = workload.queues[0];
        let builder = self.time.builder().host_budget(ns(workload.host_budget));
        let builder = builder.scheduler(RunnableFifo::new()).share(first.share).request(ns(first.request));
        let ex = builder.build()?;
        for (index, (shape, &tasks)) in workload.queues.iter().zip(&workload.tasks).enumerate() {
            let name = index.to_string();
            let builder = ex.new_queue(&name).share(shape.share).request(ns(shape.request));
            let queue = match index {
                0 => ex.default_queue().clone(),
                _ => builder.scheduler(RunnableFifo::new()).create()?,
            };
            for _ in 0..tasks {
                let (scene, woken) = (Rc::clone(self), Woken::new(Cell::new(Some(self.time.now()))));
                let _detached = queue.spawn(poll_fn(move |cx| scene.poll(index, &woken, cx.waker())));
            }
        }
        Ok(ex)
    }

    /// A poll of a task: it works, yields or goes to sleep, and works on; or finishes, when the scene is over.
    fn poll(&self, queue: usize, woken: &Woken, waker: &Waker) -> Poll<()> {
        self.saw(queue, woken.take());
        let Some(left) = self.polls_left.get().checked_sub(1) else {
            self.unfinished.set(self.unfinished.get() - 1);
            return Poll::Ready(());
        };
        self.polls_left.set(left);
        let (before, after, sleep) = self.draw(queue);
        self.time.pass(Duration::from_nanos(before));
        let (time, woken, waker) = (self.time.clone(), Rc::clone(woken), waker.clone());
        let due = time.now() + Duration::from_nanos(sleep.unwrap_or(0));
        let wake = move || {
            woken.set(Some(time.now()));
            waker.wake();
        };
        if sleep.is_some() {
            self.time.at(due, wake)
        } else {
            wake()
        }
        self.time.pass(Duration::from_nanos(after));
        Poll::Pending
    }

    /// How long a poll works before it arranges for the next one, how long after that, and how long it sleeps then.
    fn draw(&self, queue: usize) -> (u64, u64, Option<u64>) {
        let mut rng = self.rng.borrow_mut();
        let length = self.workload.length(&mut rng);
        let before = if rng.bool() { 0 } else { rng.u64(..=length) };
        (before, length - before, self.workload.sleep(queue, &mut rng))
    }

    /// A task is polled that was woken then.
    fn saw(&self, queue: usize, woken: Option<Duration>) {
        // A poll without a wake is no promise kept: not a number.
        let delay = woken.map_or(f64::NAN, |woken| (self.time.now() - woken).as_nanos() as f64);
        let (bound, beside_contenders) = self.bounds[queue];
        let (mut tally, seed) = (self.tally.borrow_mut(), self.seed);
        tally.wakes += 1;
        if self.bounds.len() == 1 {
            return tally.one_queue.add(delay / bound, seed);
        }
        tally.restless.add(delay / bound, seed);
        tally.restless_by_steady.add(delay / beside_contenders, seed);
        if queue == 0 && self.workload.is_steady() {
            tally.steady.add(delay / beside_contenders, seed);
        }
    }
}
