//! Promise 5: a woken task waits for a bounded time: docs/BOUNDS.md has the formula.
//!
//! Random workloads on the executor in virtual time. Each delay from a wake to its poll is divided by its bound.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use clockworker::{Executor, HOST_BUDGETS, Queue as ExecutorQueue};
use clockworker_testing::effort::each_seed;
use clockworker_testing::policy::Policy;
use clockworker_testing::virtual_time::VirtualTime;
use fastrand::Rng;

use super::bounds::{self, Others, POLLS_OVERRUN, Queue};
use super::{Reached, log_uniform};

#[test]
fn delays_from_wake_to_poll_keep_their_bound_and_come_near_it() {
    let delays = Rc::new(Delays::default());
    each_seed(1_000, 100_000, |seed| play(seed, &delays));
    let Delays { wakes, contending, come_and_go, beside_aborts, by_fair_turn } = &*delays;
    println!("{} wakes; greatest delay / bound: {contending} for queues that contend,", wakes.get());
    println!("{come_and_go} for queues that come and go, {beside_aborts} beside aborts in the queue,");
    println!("{by_fair_turn} where the least attained service goes first");
    contending.assert_near(0.5);
    come_and_go.assert_near(0.2);
    beside_aborts.assert_near(0.5);
    by_fair_turn.assert_near(0.5);
}

/// The greatest delays, by what the workload is.
#[derive(Default)]
struct Delays {
    wakes: Cell<u64>,
    /// One queue alone, too.
    contending: Reached,
    come_and_go: Reached,
    /// One queue alone, as far as the drops of aborted tasks delay it.
    beside_aborts: Reached,
    /// Under [`Policy::Las`], for a task that has had more than the others.
    by_fair_turn: Reached,
}

struct Scene {
    time: VirtualTime,
    workload: Workload,
    rng: RefCell<Rng>,
    /// By queue, in nanoseconds: what the drops of its aborted tasks took.
    dropped: Vec<Cell<u64>>,
    polls_left: Cell<u64>,
    unfinished: Cell<u64>,
    delays: Rc<Delays>,
}

/// A task that is polled, or was woken.
#[derive(Default)]
struct State {
    is_polled: Cell<bool>,
    /// It begins with a long sleep.
    is_late: Cell<bool>,
    woken: Cell<Option<Woken>>,
}

/// Since when a task is ready.
#[derive(Clone, Copy)]
struct Woken {
    at: Duration,
    /// What drops had taken by then, in nanoseconds.
    dropped: u64,
    /// Whether it was woken during its poll.
    yielded: bool,
}

/// Of a future that is aborted before its first poll: its drop takes so long.
struct Dropped {
    scene: Rc<Scene>,
    queue: usize,
    takes_ns: u64,
}

impl Drop for Dropped {
    fn drop(&mut self) {
        // Noted first, as the drop under way at a wake is the first S.
        let dropped = &self.scene.dropped[self.queue];
        dropped.set(dropped.get() + self.takes_ns);
        self.scene.time.pass(Duration::from_nanos(self.takes_ns));
    }
}

fn play(seed: u64, delays: &Rc<Delays>) {
    let mut rng = Rng::with_seed(seed);
    let workload = Workload::draw(&mut rng);
    let scene = Rc::new(Scene {
        time: VirtualTime::new(),
        dropped: vec![Cell::new(0); workload.queues.len()],
        polls_left: Cell::new(workload.polls),
        unfinished: Cell::new(workload.tasks.iter().sum()),
        workload,
        rng: RefCell::new(rng),
        delays: Rc::clone(delays),
    });
    let ex = scene.set();
    let host_takes = || Duration::from_nanos(scene.rng.borrow_mut().u64(..=scene.workload.host_away));
    scene.time.drive(&ex, || scene.unfinished.get() == 0, host_takes);
}

impl Scene {
    /// The executor with all tasks. The first queue is its default queue.
    fn set(self: &Rc<Self>) -> Executor {
        let (workload, ns) = (&self.workload, Duration::from_nanos);
        let first = workload.queues[0];
        let builder = match workload.host_budget {
            Some(budget) => self.time.builder().host_budget(ns(budget)),
            None => Executor::builder().clock(self.time.clock()).poll_cap(u32::MAX),
        };
        let builder = builder.share(first.share).request(ns(first.request));
        let ex = builder.build().unwrap();
        workload.policy.set(ex.default_queue()).unwrap();
        for (index, (shape, &tasks)) in workload.queues.iter().zip(&workload.tasks).enumerate() {
            let name = index.to_string();
            let builder = ex.new_queue(&name).share(shape.share).request(ns(shape.request));
            let queue = match index {
                0 => ex.default_queue().clone(),
                _ => workload.policy.create(builder).unwrap(),
            };
            for task in 0..tasks {
                let (scene, state) = (Rc::clone(self), Rc::new(State::default()));
                state.is_late.set(workload.policy == Policy::Las && task > 0);
                scene.note_wake(index, &state);
                let _detached = queue.spawn(poll_fn(move |cx| scene.poll(index, &state, cx.waker())));
            }
        }
        ex
    }

    /// A poll of a task: it works, yields or goes to sleep, and works on; or it ends, when the scene is over.
    fn poll(self: &Rc<Self>, queue: usize, state: &Rc<State>, waker: &Waker) -> Poll<()> {
        self.note_delay(queue, state.woken.take().expect("a poll follows a wake"));
        state.is_polled.set(true);
        let Some(left) = self.polls_left.get().checked_sub(1) else {
            self.unfinished.set(self.unfinished.get() - 1);
            return Poll::Ready(());
        };
        self.polls_left.set(left);
        let (before, after, mut sleep) = self.draw_poll(queue);
        if state.is_late.take() {
            // By then the first task has had more than all fair turns before its own can take.
            sleep = Some(2 * self.workload.until_fair_turn(queue));
        }
        self.time.pass(Duration::from_nanos(before));
        self.abort_some(queue);
        let (scene, woken, waker) = (Rc::clone(self), Rc::clone(state), waker.clone());
        let due = self.time.now() + Duration::from_nanos(sleep.unwrap_or(0));
        let wake = move || {
            scene.note_wake(queue, &woken);
            waker.wake();
        };
        if sleep.is_some() {
            self.time.at(due, wake)
        } else {
            wake()
        }
        self.time.pass(Duration::from_nanos(after));
        state.is_polled.set(false);
        Poll::Pending
    }

    fn note_wake(&self, queue: usize, state: &State) {
        let (at, dropped) = (self.time.now(), self.dropped[queue].get());
        state.woken.set(Some(Woken { at, dropped, yielded: state.is_polled.get() }));
    }

    /// Spawns tasks in that queue and aborts them, now and then.
    fn abort_some(self: &Rc<Self>, queue: usize) {
        let Some(once_in) = self.workload.aborts_once_in else { return };
        let here = ExecutorQueue::current().unwrap();
        while self.rng.borrow_mut().u64(..once_in) == 0 {
            let takes_ns = self.workload.length(&mut self.rng.borrow_mut());
            let dropped = Dropped { scene: Rc::clone(self), queue, takes_ns };
            here.spawn(async move { drop(dropped) }).abort();
        }
    }

    /// How long a poll works before it arranges for the next one, how long after that, and how long it sleeps then.
    fn draw_poll(&self, queue: usize) -> (u64, u64, Option<u64>) {
        let mut rng = self.rng.borrow_mut();
        let length = self.workload.length(&mut rng);
        let before = if rng.bool() { 0 } else { rng.u64(..=length) };
        (before, length - before, self.workload.sleep(queue, &mut rng))
    }

    fn note_delay(&self, queue: usize, woken: Woken) {
        if self.workload.policy == Policy::WokenFirst && woken.yielded {
            return; // one that yields has another bound there
        }
        let delay = (self.time.now() - woken.at).as_nanos() as f64;
        let (dropped, delays) = (self.dropped[queue].get() - woken.dropped, &self.delays);
        delays.wakes.set(delays.wakes.get() + 1);
        if self.workload.policy == Policy::Las {
            return delays.by_fair_turn.note(delay / self.bound(queue, dropped, Others::ComeAndGo));
        }
        delays.come_and_go.note(delay / self.bound(queue, dropped, Others::ComeAndGo));
        let others_contend = self.workload.sleeps_once_in[1..].iter().all(Option::is_none);
        if queue == 0 && others_contend {
            delays.contending.note(delay / self.bound(queue, dropped, Others::Contend));
        }
        let undelayed = self.bound(queue, 0, Others::Contend);
        if self.workload.queues.len() == 1 && delay > undelayed {
            delays.beside_aborts.note(delay / self.bound(queue, dropped, Others::Contend));
        }
    }

    /// What a wait may be, in which drops of aborted tasks of the queue took so long.
    fn bound(&self, queue: usize, dropped: u64, others: Others) -> f64 {
        let workload = &self.workload;
        let in_queue = match workload.policy {
            Policy::Las => workload.until_fair_turn(queue),
            _ => workload.tasks[queue].saturating_sub(1) * workload.longest_poll,
        };
        let delay = bounds::delay(&workload.queues, queue, in_queue + dropped, others);
        // Where the budget tunes itself, each visit but an early one comes after this, and early ones never twice in a row.
        let least = HOST_BUDGETS.start().as_nanos() as u64;
        match workload.host_budget {
            Some(budget) => bounds::with_host(delay, budget, workload.host_away),
            None => bounds::with_host(delay, least, 2 * workload.host_away),
        }
    }
}

/// What is drawn before a workload begins. Times are in nanoseconds.
struct Workload {
    queues: Vec<Queue>,
    /// By queue: how many tasks it has.
    tasks: Vec<u64>,
    /// By queue: its tasks sleep once in so many polls; none if they always contend.
    sleeps_once_in: Vec<Option<u64>>,
    longest_poll: u64,
    lengths: Lengths,
    /// None if it tunes itself.
    host_budget: Option<u64>,
    /// The longest that the host is away between two turns.
    host_away: u64,
    longest_sleep: u64,
    /// Its tasks spawn others and abort them, once in so many; none if they never do.
    aborts_once_in: Option<u64>,
    /// What its queues are under.
    policy: Policy,
    /// After so many polls the tasks end.
    polls: u64,
}

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
        let all_sleep = rng.bool();
        let others = (1..count).map(|_| all_sleep.then(|| rng.u64(1..=20)));
        // In the order in which they are drawn.
        Workload {
            queues,
            tasks,
            sleeps_once_in: [Some(first)].into_iter().chain(others).collect(),
            longest_poll,
            lengths: match rng.u8(..3) {
                0 => Lengths::Longest,
                1 => Lengths::Any,
                _ => Lengths::Seldom(rng.u64(2..=20)),
            },
            host_budget: match rng.u8(..3) {
                0 => None,
                1 => Some(u64::MAX),
                _ => Some(log_uniform(rng, 10_000, 10_000_000)),
            },
            host_away: if rng.bool() { 0 } else { log_uniform(rng, 1, 200_000) },
            longest_sleep: log_uniform(rng, longest_poll, 100 * longest_poll),
            polls: rng.u64(200..=2_000),
            aborts_once_in: rng.bool().then(|| rng.u64(2..=20)),
            policy: [Policy::WokenFirst, Policy::RunnableFifo, Policy::Las][rng.usize(..3)],
        }
        .timed_each()
    }

    /// Where service decides, with polls that are each timed. A lot may charge a poll many times over.
    fn timed_each(mut self) -> Self {
        const TIMED: u64 = 5_000;
        if self.policy == Policy::Las {
            self.lengths = Lengths::Longest;
            self.longest_poll = self.longest_poll.max(TIMED);
            for queue in &mut self.queues {
                queue.longest_poll = self.longest_poll;
                queue.overrun = POLLS_OVERRUN * self.longest_poll;
            }
        }
        self
    }

    /// The service of a queue under [`Policy::Las`] until a ready task has its fair turn at the latest.
    fn until_fair_turn(&self, queue: usize) -> u64 {
        const ONE_IN: u64 = 32;
        ONE_IN * (self.tasks[queue] + 1) * (self.longest_poll + 256)
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
        let sleeps = self.sleeps_once_in[queue].is_some_and(|once_in| rng.u64(..once_in) == 0);
        sleeps.then(|| rng.u64(..=self.longest_sleep))
    }
}
