//! Lending: a task that awaits another one lends it its place. Who is served when, who pays, and what ends it.

mod ends;
mod random;

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clockworker::schedulers::{Las, RunnableFifo};
use clockworker::{Cap, Executor, Group, Id, JoinHandle, Queue, new_task, spawn_local};

use crate::support::*;

const MS: Duration = us(1_000);

/// Queues with shares of 99, 10 and 1, on virtual time.
struct Queues {
    ex: Executor,
    high: Queue,
    middle: Queue,
    low: Queue,
}

impl Queues {
    fn new() -> Self {
        let ex = world();
        let queue =
            |name, share| ex.new_queue(name).share(share).scheduler(RunnableFifo::new()).create().unwrap();
        let (high, middle, low) = (queue("high", 99), queue("middle", 10), queue("low", 1));
        Self { ex, high, middle, low }
    }

    /// How many live tasks the queues have: high, middle, low.
    fn live(&self) -> [usize; 3] {
        [&self.high, &self.middle, &self.low].map(|queue| {
            let stats = queue.stats();
            assert_eq!(stats.spawned, stats.completed + stats.cancelled + stats.panicked + stats.live as u64);
            stats.live
        })
    }

    fn settle(&self) {
        drain(&self.ex);
    }

    fn run<T>(&self, task: JoinHandle<T>) -> T {
        run(&self.ex, task).unwrap()
    }
}

/// Tasks that always have work.
fn load(queue: &Queue, tasks: usize) {
    (0..tasks).for_each(|_| drop(queue.spawn(compute(us(100)))));
}

/// Computes for 1 ms, in polls of 100 µs.
async fn millisecond() {
    polls("", 10, us(100)).await;
}

/// Awaits a task by lending it its place.
async fn lend<T>(task: JoinHandle<T>) -> T {
    task.lending().await.unwrap()
}

/// Awaits a task, and says when it has finished.
async fn wait_for(task: JoinHandle<()>, lends: bool) -> Duration {
    match lends {
        true => lend(task).await,
        false => task.await.unwrap(),
    }
    now()
}

/// A task that waits for a signal, and its signal.
fn waiting(queue: &Queue) -> (JoinHandle<()>, Signal) {
    let signal = Signal::new();
    let waited = signal.clone();
    (queue.spawn(async move { waited.wait().await }), signal)
}

#[test]
fn the_classic_inversion() {
    for lends in [false, true] {
        let q = Queues::new();
        load(&q.low, 100);
        let awaited = q.low.spawn(millisecond());
        // Without: each of its ten polls waits for those of the hundred others. With: its own time, and one request of the low
        // queue, which is due when the high queue has had one.
        let took = q.run(q.high.spawn(wait_for(awaited, lends)));
        assert_eq!(took, if lends { us(1_500) } else { 101 * MS });
        // The lender's queue pays.
        assert_eq!(q.high.stats().busy, if lends { MS } else { Duration::ZERO });
    }
}

/// The lender's queue gets what it would get if the lender itself had the work.
#[test]
fn beside_a_third_queue_it_is_the_lenders_share_that_counts() {
    for lends in [false, true] {
        let q = Queues::new();
        load(&q.middle, 1);
        load(&q.low, 1);
        let awaited = q.low.spawn(millisecond());
        q.run(q.high.spawn(wait_for(awaited, lends)));
        // 2 ms at a share of 1/11, or 1 ms at one of 99/110, and a request of another queue of 0.5 ms.
        let expected = if lends { MS..=us(1_600) } else { 16 * MS..=22 * MS };
        assert!(expected.contains(&now()), "{:?}", now());
    }
}

#[test]
fn a_place_is_passed_on_whichever_loan_came_first() {
    for outer_first in [false, true] {
        let q = Queues::new();
        let [outer, inner] = [Signal::new(), Signal::new()];
        let (begin_outer, begin_inner) = (outer.clone(), inner.clone());
        let (third, done) = waiting(&q.low);
        let second = q.middle.spawn(async move {
            begin_inner.wait().await;
            lend(third).await;
        });
        let first = q.high.spawn(async move {
            begin_outer.wait().await;
            lend(second).await;
        });
        q.settle();
        assert_eq!(q.live(), [1, 1, 1]);
        let (earlier, later) = if outer_first { (&outer, &inner) } else { (&inner, &outer) };
        earlier.set();
        q.settle();
        assert_eq!(q.live(), if outer_first { [2, 0, 1] } else { [1, 2, 0] });
        later.set();
        q.settle();
        assert_eq!(q.live(), [3, 0, 0]);
        done.set();
        q.run(first);
        assert_eq!((q.live(), q.high.stats().completed), ([0; 3], 3));
    }
}

#[test]
fn the_place_is_the_lenders_group_and_attributes() {
    let q = Queues::new();
    let tenants = q.ex.new_queue("tenants").share(99).scheduler(Las::new()).create().unwrap();
    let (quiet, other) = (tenants.group(1), q.low.group(2));
    let awaited = other.new_task().tag(5).spawn(millisecond());
    q.run(quiet.spawn(lend(awaited)));
    let stats: Vec<_> = tenants.group_stats().iter().map(|group| (group.key, group.busy)).collect();
    assert_eq!(stats, [(1, Some(MS))]);
    assert_eq!((quiet.stats().completed, quiet.stats().live), (2, 0));
    assert_eq!((other.stats().spawned, other.stats().live), (0, 0));
    // The group at home is known by what holds it: nothing but the handle by now.
    drop(other);
    assert!(q.low.find_group(2).is_none());
}

#[test]
fn what_a_borrower_spawns_goes_home() {
    let q = Queues::new();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let notes = Rc::clone(&seen);
    let note = move || {
        let group = Group::current().map(|group| group.key());
        notes.borrow_mut().push((Queue::current().unwrap().name(), group));
    };
    let begin = Signal::new();
    let begun = begin.clone();
    let borrower = q.low.group(7).spawn(async move {
        begun.wait().await;
        note();
        spawn_local(async { drop(Queue::current()) });
        let again = note.clone();
        spawn_local(async move { again() });
        new_task().tag(1).spawn(async move { note() });
    });
    let lender = q.high.spawn(lend(borrower));
    q.settle();
    assert_eq!(q.live(), [2, 0, 0]);
    begin.set();
    q.run(lender);
    q.settle();
    assert_eq!(*seen.borrow(), vec![("low".to_owned(), Some(7)); 3]);
    assert_eq!((q.high.stats().completed, q.low.stats().completed), (2, 3));
}

#[test]
fn nothing_is_lent_for_the_worse() {
    let q = Queues::new();
    let cap = Cap::percent(50, 10 * MS).unwrap();
    let capped = q.ex.new_queue("capped").share(1_000).cap(cap).create().unwrap();
    let idle = q.ex.new_queue("idle").share(1_000).idle().create().unwrap();
    let equal = q.ex.new_queue("equal").share(1).create().unwrap();
    // From, to, and how many live tasks each has then: it moves or not.
    let cases = [
        (&q.high, &q.high, (2, 2)),
        (&q.low, &q.high, (1, 1)),
        (&equal, &q.low, (2, 0)),
        (&capped, &q.low, (1, 1)),
        (&q.high, &capped, (1, 1)),
        (&idle, &q.low, (1, 1)),
        (&q.low, &idle, (2, 0)),
        (&capped, &idle, (2, 0)),
    ];
    for (from, to, expected) in cases {
        let (borrower, done) = waiting(to);
        let lender = from.spawn(lend(borrower));
        q.settle();
        let live = (from.stats().live, to.stats().live);
        assert_eq!(live, expected, "{} to {}", from.name(), to.name());
        done.set();
        q.run(lender);
    }
}

#[test]
fn outside_of_tasks_and_to_another_executors_tasks_nothing_is_lent() {
    let q = Queues::new();
    let low = q.low.clone();
    let task = q.low.spawn(async move {
        yields(1).await;
        low.stats().live
    });
    assert_eq!(run(&q.ex, task.lending()).unwrap(), 1, "it stays where it is");
    let other = Executor::new();
    let task = other.spawn(async { 7 });
    let lender = q.high.spawn(async move {
        let mut lending = task.lending();
        let pending = futures_util::poll!(&mut lending).is_pending();
        (pending, other.block_on(lending).unwrap())
    });
    assert_eq!(q.run(lender), (true, 7));
}

#[test]
fn a_task_from_another_thread_is_lent_a_place_once_it_has_come_in() {
    let q = Queues::new();
    let (handle, low) = (q.ex.handle(), q.low.clone());
    let lender = q.high.spawn(async move {
        let three_yields = || async {
            yields(3).await;
            Id::current()
        };
        let remote = thread::spawn(move || handle.spawn_on("low", three_yields));
        let mut lending = remote.join().unwrap().lending();
        let mut seen = Vec::new();
        while futures_util::poll!(&mut lending).is_pending() {
            seen.push(low.stats().live);
            yields(1).await;
        }
        seen
    });
    let seen = q.run(lender);
    assert!(!seen.is_empty() && seen.iter().all(|live| *live == 0), "{seen:?}");
}
