//! Lending: a task that awaits another one lends it its place. Who is served when, who pays, and what ends it.

mod ends;
mod random;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{Las, RunnableFifo};
use clockworker::{Cap, Executor, Group, JoinHandle, Queue, new_task, spawn_local};

use crate::support::{Signal, VirtualTime, compute, us, yields};

const MS: Duration = us(1_000);

/// Queues with shares of 99, 10 and 1, on virtual time.
struct World {
    sim: VirtualTime,
    ex: Executor,
    high: Queue,
    middle: Queue,
    low: Queue,
}

impl World {
    fn new() -> Self {
        let sim = VirtualTime::new();
        let ex = sim.executor();
        let queue =
            |name, share| ex.new_queue(name).share(share).scheduler(RunnableFifo::new()).create().unwrap();
        let (high, middle, low) = (queue("high", 99), queue("middle", 10), queue("low", 1));
        Self { sim, ex, high, middle, low }
    }

    /// Computes for 1 ms, in polls of 100 µs.
    fn millisecond(&self) -> impl Future<Output = ()> + use<> {
        let sim = self.sim.clone();
        async move {
            for _ in 0..9 {
                sim.work(us(100));
                yields(1).await;
            }
            sim.work(us(100));
        }
    }

    /// Tasks that always have work.
    fn load(&self, queue: &Queue, tasks: usize) {
        (0..tasks).for_each(|_| drop(queue.spawn(compute(&self.sim, us(100)))));
    }

    /// How many live tasks the queues have: high, middle, low.
    fn live(&self) -> [usize; 3] {
        let live = |queue: &Queue| {
            let stats = queue.stats();
            assert_eq!(stats.spawned, stats.completed + stats.cancelled + stats.panicked + stats.live as u64);
            stats.live
        };
        [live(&self.high), live(&self.middle), live(&self.low)]
    }

    fn settle(&self) {
        self.sim.drain(&self.ex);
    }
}

/// Awaits a task by lending it its place.
async fn lend<T>(task: JoinHandle<T>) -> T {
    task.lending().await.unwrap()
}

#[test]
fn the_classic_inversion() {
    for lends in [false, true] {
        let world = World::new();
        world.load(&world.low, 100);
        let awaited = world.low.spawn(world.millisecond());
        let sim = world.sim.clone();
        let took = world.high.spawn(async move {
            match lends {
                true => lend(awaited).await,
                false => awaited.await.unwrap(),
            }
            sim.now()
        });
        let took = world.sim.run(&world.ex, took).unwrap();
        // Without: each of its ten polls waits for those of the hundred others. With: its own time, and one request of the low
        // queue, which is due when the high queue has had one.
        assert_eq!(took, if lends { us(1_500) } else { 101 * MS });
        // The lender's queue pays.
        assert_eq!(world.high.stats().busy, if lends { MS } else { Duration::ZERO });
    }
}

/// The lender's queue gets what it would get if the lender itself had the work.
#[test]
fn beside_a_third_queue_it_is_the_lenders_share_that_counts() {
    for lends in [false, true] {
        let world = World::new();
        world.load(&world.middle, 1);
        world.load(&world.low, 1);
        let awaited = world.low.spawn(world.millisecond());
        let took = world.high.spawn(async move {
            match lends {
                true => lend(awaited).await,
                false => awaited.await.unwrap(),
            }
        });
        world.sim.run(&world.ex, took).unwrap();
        let took = world.sim.now();
        // 2 ms at a share of 1/11, or 1 ms at one of 99/110, and a request of another queue of 0.5 ms.
        let expected = if lends { MS..=us(1_600) } else { 16 * MS..=22 * MS };
        assert!(expected.contains(&took), "{took:?}");
    }
}

#[test]
fn a_place_is_passed_on_whichever_loan_came_first() {
    for outer_first in [false, true] {
        let world = World::new();
        let [done, begin_outer, begin_inner] = [Signal::new(), Signal::new(), Signal::new()];
        let wait = |signal: &Signal| {
            let signal = signal.clone();
            async move { signal.wait().await }
        };
        let (outer, inner, end) = (wait(&begin_outer), wait(&begin_inner), wait(&done));
        let third = world.low.spawn(end);
        let second = world.middle.spawn(async {
            inner.await;
            lend(third).await;
        });
        let first = world.high.spawn(async {
            outer.await;
            lend(second).await;
        });
        world.settle();
        assert_eq!(world.live(), [1, 1, 1]);
        let (earlier, later) = match outer_first {
            true => (&begin_outer, &begin_inner),
            false => (&begin_inner, &begin_outer),
        };
        earlier.set();
        world.settle();
        assert_eq!(world.live(), if outer_first { [2, 0, 1] } else { [1, 2, 0] });
        later.set();
        world.settle();
        assert_eq!(world.live(), [3, 0, 0]);
        done.set();
        world.sim.run(&world.ex, first).unwrap();
        assert_eq!((world.live(), world.high.stats().completed), ([0; 3], 3));
    }
}

#[test]
fn the_place_is_the_lenders_group_and_attributes() {
    let world = World::new();
    let tenants = world.ex.new_queue("tenants").share(99).scheduler(Las::new()).create().unwrap();
    let (quiet, other) = (tenants.group(1), world.low.group(2));
    let awaited = other.new_task().tag(5).spawn(world.millisecond());
    world.sim.run(&world.ex, quiet.spawn(lend(awaited))).unwrap();
    let stats: Vec<_> = tenants.group_stats().iter().map(|group| (group.key, group.busy)).collect();
    assert_eq!(stats, [(1, Some(MS))]);
    assert_eq!((quiet.stats().completed, quiet.stats().live), (2, 0));
    assert_eq!((other.stats().spawned, other.stats().live), (0, 0));
    // The group at home is known by what holds it: nothing but the handle by now.
    drop(other);
    assert!(world.low.find_group(2).is_none());
}

#[test]
fn what_a_borrower_spawns_goes_home() {
    let world = World::new();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let note = {
        let seen = Rc::clone(&seen);
        move || {
            let queue = Queue::current().unwrap();
            let group = Group::current().map(|group| group.key());
            seen.borrow_mut().push((queue.name().to_owned(), group));
        }
    };
    let begin = Signal::new();
    let borrower = {
        let (note, begin) = (note.clone(), begin.clone());
        world.low.group(7).spawn(async move {
            begin.wait().await;
            note();
            spawn_local(async { drop(Queue::current()) });
            spawn_local({
                let note = note.clone();
                async move { note() }
            });
            new_task().tag(1).spawn(async move { note() });
        })
    };
    let lender = world.high.spawn(lend(borrower));
    world.settle();
    assert_eq!(world.live(), [2, 0, 0]);
    begin.set();
    world.sim.run(&world.ex, lender).unwrap();
    world.settle();
    assert_eq!(*seen.borrow(), vec![("low".to_owned(), Some(7)); 3]);
    let completed = |queue: &Queue| queue.stats().completed;
    assert_eq!((completed(&world.high), completed(&world.low)), (2, 3));
}

#[test]
fn nothing_is_lent_for_the_worse() {
    let world = World::new();
    let cap = Cap::percent(50, 10 * MS).unwrap();
    let capped = world.ex.new_queue("capped").share(1_000).cap(cap).create().unwrap();
    let idle = world.ex.new_queue("idle").share(1_000).idle().create().unwrap();
    let equal = world.ex.new_queue("equal").share(1).create().unwrap();
    // From, to, and whether it moves.
    let cases = [
        (&world.high, &world.high, false),
        (&world.low, &world.high, false),
        (&equal, &world.low, true),
        (&capped, &world.low, false),
        (&world.high, &capped, false),
        (&idle, &world.low, false),
        (&world.low, &idle, true),
        (&capped, &idle, true),
    ];
    for (from, to, moves) in cases {
        let done = Signal::new();
        let borrower = to.spawn({
            let done = done.clone();
            async move { done.wait().await }
        });
        let lender = from.spawn(lend(borrower));
        world.settle();
        let (here, there) = (from.stats().live, to.stats().live);
        let expected = match (moves, from.name() == to.name()) {
            (true, _) => (2, 0),
            (false, true) => (2, 2),
            (false, false) => (1, 1),
        };
        assert_eq!((here, there), expected, "{} to {}", from.name(), to.name());
        done.set();
        world.sim.run(&world.ex, lender).unwrap();
    }
}

#[test]
fn outside_of_tasks_and_to_another_executors_tasks_nothing_is_lent() {
    let world = World::new();
    let begun = Rc::new(Cell::new(false));
    let task = world.low.spawn({
        let (begun, low) = (Rc::clone(&begun), world.low.clone());
        async move {
            begun.set(true);
            yields(1).await;
            low.stats().live
        }
    });
    assert_eq!(world.sim.run(&world.ex, task.lending()).unwrap(), 1, "it stays where it is");
    let other = Executor::new();
    let task = other.spawn(async { 7 });
    let lender = world.high.spawn(async move {
        let mut lending = task.lending();
        let pending = futures_util::poll!(&mut lending).is_pending();
        (pending, other.block_on(lending).unwrap())
    });
    assert_eq!(world.sim.run(&world.ex, lender).unwrap(), (true, 7));
}

#[test]
fn a_task_from_another_thread_is_lent_a_place_once_it_has_come_in() {
    let world = World::new();
    let handle = world.ex.handle();
    let low = world.low.clone();
    let lender = world.high.spawn(async move {
        let remote = std::thread::spawn(move || {
            handle.spawn_on("low", || async {
                yields(3).await;
                clockworker::Id::current()
            })
        });
        let mut lending = remote.join().unwrap().lending();
        let mut seen = Vec::new();
        while futures_util::poll!(&mut lending).is_pending() {
            seen.push(low.stats().live);
            yields(1).await;
        }
        seen
    });
    let seen = world.sim.run(&world.ex, lender).unwrap();
    assert!(!seen.is_empty() && seen.iter().all(|live| *live == 0), "{seen:?}");
}
