//! Everything that a service does with tenants' queues, in any order and from anywhere: queues that come, nest, change and go,
//! tasks that lend, fail, abort each other and spawn, also while they are dropped. Whatever it was, all that is ready is polled, all
//! that was spawned ends once, every handle is answered, and no future is left.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::Poll;
use std::time::Duration;

use clockworker::{
    AbortHandle, Cap, Executor, Group, JoinHandle, LoadShedding, ManualClock, Queue, QueueBuilder,
    spawn_local, yield_now,
};
use clockworker_testing::driving::poll_once;
use clockworker_testing::panics::panic_as_meant;
use clockworker_testing::policy::Policy;
use clockworker_testing::quiet;
use clockworker_testing::random::Random;

/// How many programs, unless the environment says otherwise.
const PROGRAMS: u64 = 300;
/// Polls of the future that the executor runs, each of which does up to three things.
const STEPS: u32 = 300;
/// In which all that is ready is served, also by a queue that has a hundredth of the time.
const MOST_TURNS: u32 = 10_000;
/// How deep tasks and drops spawn.
const DEPTH: u32 = 3;
/// Queues are given these many names, so that some are taken.
const NAMES: usize = 30;
const KEYS: usize = 10;

/// What a program has at hand.
struct World {
    random: RefCell<Random>,
    clock: ManualClock,
    executor: Weak<Executor>,
    queues: RefCell<Vec<Queue>>,
    groups: RefCell<Vec<Group>>,
    joins: RefCell<Vec<JoinHandle<()>>>,
    aborts: RefCell<Vec<AbortHandle>>,
    /// Futures that are not dropped yet.
    futures: Cell<u64>,
    /// Drops of futures that are under way.
    drops: Cell<u32>,
}

/// Does something when its future is dropped.
struct Parting(Rc<World>);

impl Drop for Parting {
    fn drop(&mut self) {
        let world = &self.0;
        world.futures.set(world.futures.get() - 1);
        if world.drops.get() < DEPTH && world.once_in(4) {
            world.drops.set(world.drops.get() + 1);
            world.act(0);
            world.drops.set(world.drops.get() - 1);
        }
    }
}

fn some_of<T: Clone>(all: &RefCell<Vec<T>>, random: &RefCell<Random>) -> Option<T> {
    let all = all.borrow();
    all.get(random.borrow_mut().below(all.len())).cloned()
}

fn micros(n: usize) -> Duration {
    Duration::from_micros(n as u64)
}

impl World {
    fn below(&self, end: usize) -> usize {
        self.random.borrow_mut().below(end)
    }

    fn once_in(&self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn policy(&self) -> Policy {
        Policy::ALL[self.below(Policy::ALL.len())]
    }

    fn cap(&self) -> Cap {
        Cap::percent(1 + self.below(100) as u32, micros(1_000 + self.below(9_000))).expect("it is valid")
    }

    fn shedding(&self) -> LoadShedding {
        LoadShedding::new(micros(200), micros(2_000)).expect("it is valid")
    }

    fn take_join(&self) -> Option<JoinHandle<()>> {
        let number = self.below(self.joins.borrow().len());
        let mut joins = self.joins.borrow_mut();
        (number < joins.len()).then(|| joins.swap_remove(number))
    }

    fn keep(&self, join: JoinHandle<()>) {
        self.aborts.borrow_mut().push(join.abort_handle());
        self.joins.borrow_mut().push(join);
        let first = self.aborts.borrow().len().saturating_sub(100);
        let forgotten: Vec<_> = self.aborts.borrow_mut().drain(..first).collect();
        drop(forgotten);
    }

    /// What makes no sense for that queue is refused: that is an answer too.
    fn create(&self) {
        let name = self.below(NAMES).to_string();
        let above = some_of(&self.queues, &self.random).filter(|_| !self.once_in(3));
        let created = match (&above, self.executor.upgrade()) {
            (Some(parent), _) => self.build(parent.new_queue(&name)),
            (None, Some(executor)) => self.build(executor.new_queue(&name)),
            (None, None) => return,
        };
        self.queues.borrow_mut().extend(created);
    }

    fn build(&self, queue: QueueBuilder<'_>) -> Option<Queue> {
        let mut queue = queue.share(1 + self.below(99) as u32).request(micros(50 + self.below(2_000)));
        if self.once_in(6) {
            queue = queue.max_live(1 + self.below(5)).max_ready(1 + self.below(5));
        }
        if self.once_in(6) {
            queue = queue.max_live_per_group(1 + self.below(3));
        }
        if self.once_in(8) {
            queue = queue.cap(self.cap());
        }
        if self.once_in(8) {
            queue = queue.load_shedding(self.shedding());
        }
        if self.once_in(16) {
            queue = queue.idle();
        }
        self.policy().create(queue).ok()
    }

    /// Does one thing. Tasks that it spawns may spawn so deep.
    fn act(self: &Rc<Self>, depth: u32) {
        match self.below(6) {
            0 => self.create(),
            1 => {
                let join = self.take_join();
                drop(join.filter(|_| self.once_in(2)).inspect(JoinHandle::abort));
            }
            2 => {
                if let Some(group) = some_of(&self.groups, &self.random) {
                    self.act_on_group(&group, depth);
                }
            }
            _ => {
                if let Some(queue) = some_of(&self.queues, &self.random) {
                    self.act_on_queue(&queue, depth);
                }
            }
        }
    }

    fn act_on_group(self: &Rc<Self>, group: &Group, depth: u32) {
        match self.below(8) {
            0 => drop(group.abort_all()),
            1 => drop(group.set_weight(1 + self.below(100) as u32)),
            2 => self.groups.borrow_mut().retain(|kept| kept.key() != group.key()),
            _ => {
                let due = micros(self.below(900));
                let task = group.new_task().priority(self.below(9) as i8).deadline(due);
                self.keep(task.spawn(self.task(depth)));
            }
        }
    }

    // Refusals are answers: of a closed queue, a name that is taken, a cap of a parent.
    fn act_on_queue(self: &Rc<Self>, queue: &Queue, depth: u32) {
        match self.below(40) {
            0 => queue.close(),
            1 => drop(queue.abort_all()),
            2 => self.queues.borrow_mut().retain(|kept| kept.name() != queue.name()),
            3 => drop(self.policy().set(queue)),
            4 => drop(queue.rename(&self.below(NAMES).to_string())),
            5 => drop(queue.set_share(1 + self.below(1_000) as u32)),
            6 => drop(queue.set_request(micros(1 + self.below(3_000)))),
            7 => drop(queue.set_cap(self.once_in(4).then(|| self.cap()))),
            8 => drop(queue.set_max_live(self.once_in(2).then(|| 1 + self.below(9)))),
            9 => drop(queue.set_load_shedding(self.once_in(2).then(|| self.shedding()))),
            10 => self.retire(queue),
            11..16 => {
                let weight = 1 + self.below(10) as u32;
                let group = queue.new_group(self.below(KEYS) as u64).weight(weight).open();
                self.groups.borrow_mut().extend(group.ok());
            }
            16..20 => match queue.try_spawn(self.task(depth)) {
                Ok(join) => self.keep(join),
                Err(refused) => drop(refused.into_future()),
            },
            20..22 => {
                if let Some(executor) = self.executor.upgrade() {
                    let (name, key) = (queue.name(), self.below(KEYS) as u64);
                    self.keep(executor.handle().spawn_in(&name, key, yield_now));
                }
            }
            _ => self.keep(queue.spawn(self.task(depth))),
        }
    }

    /// Retires a queue within some polls of a task of another queue, or of its own.
    fn retire(self: &Rc<Self>, queue: &Queue) {
        let (Some(by), polls, queue) = (some_of(&self.queues, &self.random), self.below(20), queue.clone())
        else {
            return;
        };
        let parting = self.parting();
        self.keep(by.spawn(async move {
            let _parting = parting;
            let deadline = async {
                for _ in 0..polls {
                    yield_now().await;
                }
            };
            queue.retire(deadline).await;
        }));
    }

    fn parting(self: &Rc<Self>) -> Parting {
        self.futures.set(self.futures.get() + 1);
        Parting(Rc::clone(self))
    }

    fn task(self: &Rc<Self>, depth: u32) -> Pin<Box<dyn Future<Output = ()>>> {
        let parting = self.parting();
        let (kind, polls) = (self.below(12), self.below(9));
        Box::pin(async move {
            for poll in 0..polls {
                parting.0.clock.advance(Duration::from_nanos(parting.0.below(40_000) as u64));
                parting.0.step(kind, poll, depth).await;
            }
        })
    }

    /// What tasks of a kind do between two polls, and what they wait for.
    async fn step(self: &Rc<Self>, kind: usize, poll: usize, depth: u32) {
        match kind {
            0 | 1 => yield_now().await,
            2 => {
                if let Some(join) = self.take_join() {
                    drop(join.await);
                }
            }
            3 | 4 => {
                if let Some(join) = self.take_join() {
                    self.lend(join).await;
                }
            }
            5 if depth > 0 => self.keep(spawn_local(self.task(depth - 1))),
            6 if depth > 0 => {
                if let Some(queue) = some_of(&self.queues, &self.random) {
                    self.lend(queue.spawn(self.task(depth - 1))).await;
                }
            }
            7 => some_of(&self.aborts, &self.random).iter().for_each(AbortHandle::abort),
            8 if poll == 5 => panic_as_meant(),
            9 => {
                drop(Queue::current().map(|queue| self.policy().set(&queue)));
                yield_now().await;
            }
            10 => {
                if let Some(queue) = some_of(&self.queues, &self.random)
                    && let Ok(join) = queue.spawn_when_room(self.task(depth.saturating_sub(1))).await
                {
                    self.keep(join);
                }
            }
            _ => self.act(depth.saturating_sub(1)),
        }
    }

    /// Lends a task the place of the calling one, until that is done, or takes it back before.
    async fn lend(&self, join: JoinHandle<()>) {
        let mut lending = join.lending();
        let is_done = poll_fn(|cx| Poll::Ready(Pin::new(&mut lending).poll(cx).is_ready())).await;
        for _ in 0..self.below(4) {
            yield_now().await;
        }
        if !is_done && self.once_in(2) {
            drop(lending.await);
        }
    }
}

fn program(seed: u64) {
    let clock = ManualClock::new();
    let executor = Rc::new(Executor::builder().clock(clock.clone()).build().expect("it is valid"));
    let world = Rc::new(World {
        random: RefCell::new(Random::new(seed)),
        clock: clock.clone(),
        executor: Rc::downgrade(&executor),
        queues: RefCell::new(vec![executor.default_queue().clone()]),
        groups: RefCell::default(),
        joins: RefCell::default(),
        aborts: RefCell::default(),
        futures: Cell::new(0),
        drops: Cell::new(0),
    });
    executor.block_on(async {
        for _ in 0..STEPS {
            clock.advance(micros(20));
            (0..world.below(4)).for_each(|_| world.act(DEPTH));
            yield_now().await;
        }
    });
    // Nothing is added any more, so what is ready is polled, and tasks are left that wait for one another.
    executor.block_on(async {
        for _ in 0..MOST_TURNS {
            if executor.stats().ready == 0 {
                return;
            }
            clock.advance(micros(1_000));
            yield_now().await;
        }
        panic!("some are ready for ever: {:?}", executor.stats());
    });
    let stats = executor.stats();
    let ended = stats.completed + stats.cancelled + stats.panicked;
    assert_eq!(stats.spawned, ended + stats.live as u64, "{stats:?}");
    if world.once_in(2) {
        let deadline = async {
            for _ in 0..50 {
                clock.advance(micros(1_000));
                yield_now().await;
            }
        };
        executor.block_on_shutdown(deadline);
        assert_eq!(executor.stats().live, 0);
    }
    drop(executor);
    for mut join in world.joins.take() {
        assert!(poll_once(&mut join).is_ready(), "a handle is not answered");
    }
    drop((world.queues.take(), world.groups.take(), world.aborts.take()));
    assert_eq!(world.futures.get(), 0, "futures are left");
}

#[test]
fn whatever_tenants_do_everything_ends_once() {
    quiet::install();
    let programs =
        std::env::var("PROGRAMS").map_or(PROGRAMS, |number| number.parse().expect("`PROGRAMS` is a number"));
    for seed in 0..programs {
        let run = std::panic::catch_unwind(|| program(seed));
        assert!(run.is_ok() && quiet::unmeant() == 0, "the program of seed {seed}");
    }
}
