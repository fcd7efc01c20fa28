//! Promise 5: the delay from a wake to the poll that it causes has a bound, and docs/BOUNDS.md has its formula.
//!
//! Random workloads in virtual time, on the real executor. Each delay is divided by its bound.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use anyhow::Context;
use clockworker::Executor;
use clockworker::schedulers::RunnableFifo;
use clockworker_testing::virtual_time::VirtualTime;
use fastrand::Rng;

use crate::bounds::{self, Others, POLLS_OVERRUN, Queue};
pub(crate) use crate::cases::Cases as Options;
use crate::cases::{Worst, log_uniform};
use crate::figure::{Figure, told};

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

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut tally = Tally::default();
    let count = options
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

fn play(seed: u64, tally: &mut Tally) -> anyhow::Result<()> {
    let mut rng = Rng::with_seed(seed);
    let workload = Workload::draw(&mut rng);
    let bound = |of: usize, others| {
        let delay = bounds::delay(&workload.queues, of, workload.tasks[of], others);
        bounds::with_host(delay, workload.host_budget, workload.host_away)
    };
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
        let others_contend = self.workload.restless[1..].iter().all(Option::is_none);
        if queue == 0 && others_contend {
            tally.steady.add(delay / beside_contenders, seed);
        }
    }
}

/// Everything about a workload that is drawn before it begins. Times are in nanoseconds.
#[derive(Clone, Debug)]
struct Workload {
    queues: Vec<Queue>,
    /// By queue: how many tasks it has.
    tasks: Vec<u64>,
    /// By queue: its tasks sleep once in so many polls; none if they always contend.
    restless: Vec<Option<u64>>,
    longest_poll: u64,
    lengths: Lengths,
    host_budget: u64,
    /// The longest that the host is away between two turns.
    host_away: u64,
    longest_sleep: u64,
    /// After so many polls the tasks finish.
    polls: u64,
}

#[derive(Clone, Copy, Debug)]
enum Lengths {
    Longest,
    Any,
    /// Next to nothing, and the longest once in so many.
    Seldom(u64),
}

impl Workload {
    fn draw(rng: &mut Rng) -> Self {
        let longest_poll = log_uniform(rng, 1_000, 1_000_000);
        let count = if rng.u8(..4) == 0 { rng.usize(1..=8) } else { rng.usize(1..=3) };
        let widest = [1, 10, 1_000][rng.usize(..3)];
        let crowd = [2, 8, 64][rng.usize(..3)];
        let request = log_uniform(rng, 1_000, 2_000_000);
        let alike = rng.bool();
        let queues = (0..count).map(|_| {
            let share = log_uniform(rng, 1, widest) as u32;
            let request = if alike { request } else { log_uniform(rng, 1_000, 2_000_000) };
            let overrun = POLLS_OVERRUN * longest_poll;
            (Queue { share, request, longest_poll, overrun }, rng.u64(1..=crowd))
        });
        let (queues, tasks): (Vec<_>, Vec<_>) = queues.unzip();
        let first = rng.u64(1..=4);
        let all_restless = rng.bool();
        let others = (1..count).map(|_| all_restless.then(|| rng.u64(1..=20)));
        // In the order in which they are drawn.
        Workload {
            queues,
            tasks,
            restless: [Some(first)].into_iter().chain(others).collect(),
            longest_poll,
            lengths: match rng.u8(..3) {
                0 => Lengths::Longest,
                1 => Lengths::Any,
                _ => Lengths::Seldom(rng.u64(2..=20)),
            },
            host_budget: if rng.bool() { u64::MAX } else { log_uniform(rng, 10_000, 10_000_000) },
            host_away: if rng.bool() { 0 } else { log_uniform(rng, 1, 200_000) },
            longest_sleep: log_uniform(rng, longest_poll, 100 * longest_poll),
            polls: rng.u64(200..=2_000),
        }
    }

    fn length(&self, rng: &mut Rng) -> u64 {
        match self.lengths {
            Lengths::Longest => self.longest_poll,
            Lengths::Any => rng.u64(..=self.longest_poll),
            Lengths::Seldom(once_in) if rng.u64(..once_in) == 0 => self.longest_poll,
            Lengths::Seldom(_) => rng.u64(..=self.longest_poll / 100),
        }
    }

    /// How long a task of that queue sleeps after a poll; none if it yields.
    fn sleep(&self, queue: usize, rng: &mut Rng) -> Option<u64> {
        let sleeps = self.restless[queue].is_some_and(|once_in| rng.u64(..once_in) == 0);
        sleeps.then(|| rng.u64(..=self.longest_sleep))
    }
}
