//! The order inside a queue, as the executor brings it about: every policy, with groups and without.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{
    ArrivalFifo, FairTurns, GroupId, Las, Qlas, Ready, RunnableFifo, Scheduler, Serpt, Task, TaskId,
};
use clockworker::{Executor, Queue};

use crate::support::{Signal, Trace, VirtualTime, poller, us};

struct World {
    sim: VirtualTime,
    trace: Trace,
    ex: Executor,
    queue: Queue,
}

fn world<S: Scheduler + 'static>(scheduler: S) -> World {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let queue = ex.new_queue("tested").scheduler(scheduler).create().unwrap();
    World { sim, trace, ex, queue }
}

impl World {
    /// A task of that many polls of that length, each noted.
    fn task(&self, name: &'static str, polls: usize, length: Duration) -> impl Future<Output = ()> + 'static {
        poller(&self.sim, &self.trace, name, polls, length)
    }

    /// Runs until no task is ready, and gives the trace.
    fn drain(&self) -> String {
        self.sim.drain(&self.ex);
        self.trace.take()
    }
}

// ---- RunnableFifo

#[test]
fn runnable_fifo_goes_by_becoming_ready() {
    let w = world(RunnableFifo::new());
    w.queue.spawn(w.task("a", 3, us(100)));
    w.queue.spawn(w.task("b", 2, us(1)));
    w.queue.spawn(w.task("c", 3, us(10)));
    assert_eq!(w.drain(), "a1 b1 c1 a2 b2 c2 a3 c3");
}

/// The documented order of pushes: what a poll wakes and spawns comes before the polled task itself.
#[test]
fn what_a_poll_wakes_and_spawns_comes_before_the_polled_task() {
    let w = world(RunnableFifo::new());
    let signal = Signal::new();
    w.queue.spawn({
        let (trace, signal) = (w.trace.clone(), signal.clone());
        async move {
            trace.note("w1");
            signal.wait().await;
            trace.note("w2");
        }
    });
    w.queue.spawn({
        let (trace, child) = (w.trace.clone(), w.task("c", 2, us(1)));
        async move {
            trace.note("a1");
            signal.set();
            clockworker::spawn_local(child);
            clockworker::yield_now().await;
            trace.note("a2");
        }
    });
    w.queue.spawn(w.task("b", 1, us(1)));
    assert_eq!(w.drain(), "w1 a1 b1 w2 c1 a2 c2");
}

// ---- ArrivalFifo

#[test]
fn arrival_fifo_goes_by_being_spawned() {
    let w = world(ArrivalFifo::new());
    w.queue.spawn(w.task("a", 3, us(100)));
    w.queue.spawn(w.task("b", 2, us(1)));
    w.queue.spawn(w.task("c", 2, us(10)));
    assert_eq!(w.drain(), "a1 a2 a3 b1 b2 c1 c2");
}

#[test]
fn arrival_fifo_keeps_a_sleepers_place() {
    let w = world(ArrivalFifo::new());
    let signal = Signal::new();
    w.queue.spawn({
        let (trace, signal) = (w.trace.clone(), signal.clone());
        async move {
            trace.note("a1");
            signal.wait().await;
            trace.note("a2");
        }
    });
    w.queue.spawn({
        let trace = w.trace.clone();
        async move {
            for poll in 1..=3 {
                trace.note(format!("b{poll}"));
                if poll == 2 {
                    signal.set();
                }
                clockworker::yield_now().await;
            }
        }
    });
    w.queue.spawn(w.task("c", 1, us(1)));
    assert_eq!(w.drain(), "a1 b1 b2 a2 b3 c1");
}

// ---- Las

#[test]
fn las_goes_by_what_each_task_has_had() {
    let w = world(Las::new());
    w.queue.spawn(w.task("a", 3, us(100)));
    w.queue.spawn(w.task("b", 4, us(60)));
    w.queue.spawn(w.task("c", 2, us(10)));
    // Had so far:           a 0    b 0 c 0  c 10 b 60 a 100 b 120 b 180 a 200
    assert_eq!(w.drain(), "a1 b1 c1 c2 b2 a2 b3 b4 a3");
}

#[test]
fn las_goes_by_what_the_group_has_had() {
    let w = world(Las::new());
    let (greedy, modest) = (w.queue.group(1), w.queue.group(2));
    // Three tasks of one tenant are one competitor.
    greedy.spawn(w.task("a", 2, us(100)));
    greedy.spawn(w.task("b", 2, us(100)));
    greedy.spawn(w.task("c", 2, us(100)));
    modest.spawn(w.task("m", 4, us(140)));
    // Had so far:           g 0 m 0 g100 m140 g200 m280 g300 g400 m420 g500
    assert_eq!(w.drain(), "a1 m1 b1 m2 c1 m3 a2 b2 m4 c2");
}

#[test]
fn las_sees_time_that_was_cut_to_pieces_by_slices() {
    // The host interrupts after each poll, so every slice is one poll; the order must not depend on it.
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.builder().host_budget(us(0)).build().unwrap();
    let queue = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    let w = World { sim, trace, ex, queue };
    w.queue.spawn(w.task("a", 3, us(100)));
    w.queue.spawn(w.task("b", 4, us(60)));
    w.queue.spawn(w.task("c", 2, us(10)));
    assert_eq!(w.drain(), "a1 b1 c1 c2 b2 a2 b3 b4 a3");
    assert_eq!(w.queue.stats().slices, 9);
}

// ---- Qlas

#[test]
fn qlas_goes_by_levels_and_lets_a_task_go_on_within_one() {
    // Level 0 ends at 16.384 µs, level 1 at 32.768, level 2 at 65.536.
    let w = world(Qlas::new());
    w.queue.spawn(w.task("a", 6, us(8)));
    w.queue.spawn(w.task("b", 3, us(8)));
    w.queue.spawn(w.task("c", 1, us(8)));
    // a leaves level 0 after 24 µs, b with its end, c at once. Then a goes on in level 1 until 40 µs, and in level 2.
    assert_eq!(w.drain(), "a1 a2 a3 b1 b2 b3 c1 a4 a5 a6");
}

#[test]
fn qlas_goes_by_what_the_group_has_had() {
    let w = world(Qlas::new());
    let (greedy, modest) = (w.queue.group(1), w.queue.group(2));
    greedy.spawn(w.task("a", 2, us(20)));
    greedy.spawn(w.task("b", 2, us(20)));
    modest.spawn(w.task("m", 4, us(5)));
    // a1 takes the group to level 1, so b is moved there, behind a; the modest one stays in level 0 for all its 20 µs.
    assert_eq!(w.drain(), "a1 m1 m2 m3 m4 a2 b1 b2");
}

// ---- Serpt

/// Of requests of 10 µs and of 200 µs, those that have shown themselves to be of the long kind run one after another,
/// behind all new ones; under Qlas they would take turns at 32.768, 65.536 and 131.072 µs.
#[test]
fn serpt_learns_from_tasks_that_end() {
    let w = world(Serpt::new().with_fair_turns(FairTurns::NEVER));
    for n in 0..200 {
        w.queue.spawn(w.task("", if n % 10 == 0 { 10 } else { 1 }, us(if n % 10 == 0 { 20 } else { 10 })));
        w.sim.drain(&w.ex);
    }
    w.drain();
    w.queue.spawn(w.task("a", 10, us(20)));
    w.queue.spawn(w.task("b", 10, us(20)));
    w.queue.spawn(w.task("c", 1, us(10)));
    assert_eq!(w.drain(), "a1 b1 c1 a2 a3 a4 a5 a6 a7 a8 a9 a10 b2 b3 b4 b5 b6 b7 b8 b9 b10");
}

// ---- Groups and children

/// A task's children are of its group: they cannot get ahead of their tenant's account.
#[test]
fn children_are_charged_to_their_parents_group() {
    let w = world(Las::new());
    let parent = w.queue.group(7);
    parent.spawn({
        let (sim, trace) = (w.sim.clone(), w.trace.clone());
        let children = [w.task("x", 1, us(1)), w.task("y", 1, us(1))];
        async move {
            trace.note("p");
            sim.work(us(100));
            children.into_iter().for_each(|child| drop(clockworker::spawn_local(child)));
        }
    });
    w.queue.spawn(w.task("a", 3, us(60)));
    // a is behind the group, which has had 100 µs, until it has had 120. Were the children new groups, they would come
    // before its second poll.
    assert_eq!(w.drain(), "p a1 a2 x1 y1 a3");
}

#[test]
fn children_are_in_their_parents_queue() {
    let w = world(RunnableFifo::new());
    let other = w.ex.new_queue("other").create().unwrap();
    w.sim.run(&w.ex, async {
        let grandchild = other.spawn(async {
            let child = clockworker::spawn_local(async { drop(clockworker::spawn_local(async {})) });
            child.await.unwrap();
        });
        grandchild.await.unwrap();
        // Outside a task: the default queue.
        clockworker::spawn_local(async {}).await.unwrap();
    });
    w.drain();
    assert_eq!(other.stats().spawned, 3);
    assert_eq!(w.ex.default_queue().stats().spawned, 1);
    assert_eq!(w.queue.stats().spawned, 0);
}

// ---- A user's policy

/// Last in, first out. Notes what it is told.
#[derive(Default)]
struct Lifo {
    ready: Vec<TaskId>,
    told: Rc<RefCell<Vec<String>>>,
}

impl Lifo {
    fn note(&self, what: String) {
        self.told.borrow_mut().push(what);
    }
}

impl Scheduler for Lifo {
    fn push(&mut self, task: Task, why: Ready) {
        self.note(format!("push {} {why:?}", task.id.slot()));
        self.ready.push(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        let next = self.ready.pop();
        next.inspect(|task| self.note(format!("pop {}", task.slot())))
    }

    fn served(&mut self, task: Task, service_ns: u64) {
        self.note(format!("served {} {service_ns}", task.id.slot()));
    }

    fn finished(&mut self, task: Task) {
        self.note(format!("finished {}", task.id.slot()));
    }

    fn group_closed(&mut self, group: GroupId) {
        self.note(format!("group_closed {}", group.index()));
    }
}

#[test]
fn a_users_policy_decides() {
    let w = world(Lifo::default());
    w.queue.spawn(w.task("a", 2, us(1)));
    w.queue.spawn(w.task("b", 2, us(1)));
    w.queue.spawn(w.task("c", 1, us(1)));
    assert_eq!(w.drain(), "c1 b1 b2 a1 a2");
    assert_eq!(w.queue.stats().policy_fault, None);
}

/// Every call that the trait documents, in the order that it documents.
#[test]
fn a_users_policy_is_told_everything_in_order() {
    let told = Rc::new(RefCell::new(Vec::new()));
    let w = world(Lifo { ready: Vec::new(), told: Rc::clone(&told) });
    let signal = Signal::new();
    let tenant = w.queue.group(5);
    tenant.spawn({
        let (sim, signal) = (w.sim.clone(), signal.clone());
        async move {
            sim.work(us(3));
            signal.wait().await;
            sim.work(us(4));
        }
    });
    drop(tenant);
    w.sim.drain(&w.ex);
    w.queue.spawn({
        let sim = w.sim.clone();
        async move {
            signal.set();
            clockworker::spawn_local({
                let sim = sim.clone();
                async move { sim.work(us(2)) }
            });
            sim.work(us(7));
            clockworker::yield_now().await;
            sim.work(us(8));
        }
    });
    w.drain();
    let expected = [
        "push 1 Spawned",
        "pop 1",
        "served 1 3000",
        "push 2 Spawned",
        "pop 2",
        // The waker woke slot 1 before slot 3 was spawned, and slot 2 itself is last.
        "push 1 Woken",
        "push 3 Spawned",
        "served 2 7000",
        "push 2 Yielded",
        "pop 2",
        "served 2 8000",
        "finished 2",
        "group_closed 2",
        "pop 3",
        "served 3 2000",
        "finished 3",
        "group_closed 3",
        "pop 1",
        "served 1 4000",
        "finished 1",
        "group_closed 0",
    ];
    assert_eq!(*told.borrow(), expected);
}

// ---- Several queues

#[test]
fn each_queue_keeps_its_own_policy() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let lifo = ex.new_queue("lifo").scheduler(Lifo::default()).request(us(20)).create().unwrap();
    let las = ex.new_queue("las").scheduler(Las::new()).request(us(20)).create().unwrap();
    let w = World { sim, trace, ex, queue: lifo.clone() };
    for (name, other) in [("a", "x"), ("b", "y")] {
        lifo.spawn(w.task(name, 2, us(10)));
        las.spawn(w.task(other, 2, us(10)));
    }
    // Turns of two polls; inside them last in, first out, and turn by turn.
    assert_eq!(w.drain(), "b1 b2 x1 y1 a1 a2 x2 y2");
}

// ---- Nothing starves

/// Runs `others` beside one task that is ready all the time, and counts their polls until it is polled. The task has had
/// more service than they will ever have; it is older than they are, or younger.
fn polls_before<S: Scheduler + 'static>(
    scheduler: S,
    older: bool,
    others: impl Fn(&World, Rc<RefCell<u64>>),
) -> u64 {
    let w = world(scheduler);
    // The first pop of all counts as a fair turn, which those that follow would have to wait for.
    let first = w.sim.clone();
    w.queue.spawn(async move { first.work(us(2)) });
    w.sim.drain(&w.ex);
    let (start, polls) = (Signal::new(), Rc::new(RefCell::new(0)));
    let victim = {
        let (sim, start, polls) = (w.sim.clone(), start.clone(), Rc::clone(&polls));
        async move {
            sim.work(Duration::from_secs(1_000));
            start.wait().await;
            *polls.borrow()
        }
    };
    let victim = if older {
        let victim = w.queue.spawn(victim);
        w.sim.drain(&w.ex);
        others(&w, polls);
        victim
    } else {
        others(&w, polls);
        w.queue.spawn(victim)
    };
    start.set();
    w.sim.run(&w.ex, victim).unwrap()
}

/// Eight tasks that are never old: each ends after a poll and is followed by a new one.
fn ever_new(w: &World, polls: Rc<RefCell<u64>>) {
    fn next(sim: VirtualTime, polls: Rc<RefCell<u64>>) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            sim.work(us(2));
            *polls.borrow_mut() += 1;
            clockworker::spawn_local(next(sim, polls));
        })
    }
    for _ in 0..8 {
        w.queue.spawn(next(w.sim.clone(), Rc::clone(&polls)));
    }
}

/// Eight tasks that yield for ever.
fn ever_yielding(w: &World, polls: Rc<RefCell<u64>>) {
    for _ in 0..8 {
        let (sim, polls) = (w.sim.clone(), Rc::clone(&polls));
        w.queue.spawn(async move {
            loop {
                sim.work(us(2));
                *polls.borrow_mut() += 1;
                clockworker::yield_now().await;
            }
        });
    }
}

#[test]
fn an_old_task_is_not_starved_by_a_stream_of_new_ones() {
    let every = NonZeroU32::new(4).unwrap();
    // Ready tasks R and unfinished ones L are 9; indices of groups G at most twice as many, as a task that ends is
    // followed by its child before it has left. The old task is alone in its group, and in its level, of two.
    assert_eq!(polls_before(RunnableFifo::new(), true, ever_new), 8);
    let arrival = polls_before(ArrivalFifo::new().with_fair_turns(FairTurns::every(every)), true, ever_new);
    assert!(arrival < 2 * 4 * 10, "{arrival} polls");
    let las = polls_before(Las::new().with_fair_turns(FairTurns::every(every)), true, ever_new);
    assert!(las < 4 * 18, "{las} polls");
    let qlas = polls_before(Qlas::new().with_fair_turns(FairTurns::every(every)), true, ever_new);
    assert!(qlas < 4 * 2, "{qlas} polls");
    let serpt = polls_before(Serpt::new().with_fair_turns(FairTurns::every(every)), true, ever_new);
    assert!(serpt < 4 * 2 * 2, "{serpt} polls");
    // One pop in 32 unless told otherwise.
    let las = polls_before(Las::new(), true, ever_new);
    assert!(las < 32 * 18, "{las} polls");
    let qlas = polls_before(Qlas::new(), true, ever_new);
    assert!(qlas < 32 * 2, "{qlas} polls");
    let serpt = polls_before(Serpt::new(), true, ever_new);
    assert!(serpt < 32 * 2 * 2, "{serpt} polls");
}

#[test]
fn a_late_task_is_not_starved_by_those_that_never_sleep() {
    let every = NonZeroU32::new(4).unwrap();
    assert_eq!(polls_before(RunnableFifo::new(), false, ever_yielding), 8);
    let arrival =
        polls_before(ArrivalFifo::new().with_fair_turns(FairTurns::every(every)), false, ever_yielding);
    assert!(arrival > 8 && arrival < 2 * 4 * 9, "{arrival} polls");
}

/// What fair turns are for: without them the old task starves.
#[test]
fn without_fair_turns_it_starves() {
    let w = world(Las::new().with_fair_turns(FairTurns::NEVER));
    let polls = Rc::new(RefCell::new(0));
    let signal = Signal::new();
    let victim = w.queue.spawn({
        let (sim, signal) = (w.sim.clone(), signal.clone());
        async move {
            sim.work(Duration::from_secs(1_000));
            signal.wait().await;
        }
    });
    w.sim.drain(&w.ex);
    ever_new(&w, Rc::clone(&polls));
    signal.set();
    w.sim.run(&w.ex, w.sim.sleep(us(10_000)));
    assert_eq!(*polls.borrow(), 5_000);
    assert!(!victim.is_finished());
}
