//! Schedulers that call back into their executor, from each of their methods, with all that there is. They are at fault and
//! taken out of service, or not; either way no task is lost, none is polled twice, and no other queue notices.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::{Future, pending};
use std::rc::{Rc, Weak};

use clockworker::{Executor, Group, JoinHandle, PolicyFault, Queue, yield_now};

use crate::support::*;

/// What a scheduler can get hold of.
struct Reach {
    ex: Weak<Executor>,
    own: Queue,
    other: Queue,
    /// A task of its own queue, and one of another.
    probes: [Rc<Probe>; 2],
    doomed: JoinHandle<()>,
    group: RefCell<Option<Group>>,
}

impl Reach {
    fn ex(&self) -> Rc<Executor> {
        self.ex.upgrade().expect("it calls its schedulers")
    }

    fn wake(&self) {
        self.probes.iter().for_each(|probe| probe.waker().wake());
    }
}

type Act = fn(&Reach);

/// What a scheduler does, by name.
const ACTS: [(&str, Act); 18] = [
    ("spawn", |reach| drop(reach.own.spawn(async {}))),
    ("spawn elsewhere", |reach| drop(reach.other.spawn(async {}))),
    (WAKE, Reach::wake),
    (WAKE_AND_SPAWN, |reach| {
        reach.wake();
        drop(reach.other.spawn(async {}));
    }),
    ("abort", |reach| reach.doomed.abort()),
    ("join", |reach| assert!(!reach.doomed.is_finished())),
    ("open a group", |reach| drop(reach.own.group(9))),
    ("change a group", |reach| reach.own.group(5).set_weight(9).unwrap()),
    ("spawn with a tag", |reach| drop(reach.own.new_task().tag(9).spawn(async {}))),
    ("find all", |reach| {
        let (ex, own) = (reach.ex(), &reach.own);
        ex.queues().iter().for_each(|queue| assert!(ex.queue(&queue.name()).is_some()));
        drop((Queue::current(), Group::current(), own.find_group(5)));
        drop(clockworker::new_task().spawn(async {}));
    }),
    ("drop a group", |reach| drop(reach.group.take())),
    ("drop a group and panic", |reach| {
        let _group = reach.group.take();
        panic_as_meant("the scheduler");
    }),
    ("create a queue", |reach| reach.ex().new_queue("created").create().unwrap().close()),
    ("close its queue", |reach| reach.own.close()),
    ("change a share", |reach| reach.own.set_share(5).unwrap()),
    ("ask for statistics", |reach| assert_balanced(&reach.ex().stats())),
    ("run", |reach| _ = poll_once(&mut reach.ex().run_until(pending::<()>()))),
    (SHUT_DOWN, |reach| _ = poll_once(&mut Box::pin(reach.ex().shutdown(async {})))),
];

const WAKE: &str = "wake";
const WAKE_AND_SPAWN: &str = "wake and spawn elsewhere";
const SHUT_DOWN: &str = "shut down";

/// What it does it in.
const METHODS: &str =
    "push pop push_pop peek served finished group_closed group_opened group_changed spawned";

/// FIFO, which does something in one of its methods.
fn acting(from: &'static str, act: impl Fn() + 'static) -> Spy {
    Spy::fifo().listening(move |call| {
        if call.to_string().split(' ').next() == Some(from) {
            act();
        }
    })
}

/// A task that waits; and so many that are ready, enough that the scheduler is asked who comes soon, once they are not in
/// order.
fn spawn_others(ex: &Executor, own: &Queue, many: usize) -> (JoinHandle<()>, Vec<JoinHandle<()>>) {
    let spawn = || (0..many).map(|_| own.spawn(yield_now())).collect::<Vec<_>>();
    drop(spawn());
    let parked = own.spawn(pending::<()>());
    settle(ex);
    (parked, spawn())
}

/// Whether the scheduler did, once, what it was to do.
fn check(from: &'static str, (name, act): (&str, Act), idle: bool) -> bool {
    let case = format!("{name} in {from}, idle: {idle}");
    let ex = Rc::new(untimed());
    let (reach, done) = (Rc::new(OnceCell::<Reach>::new()), Rc::new(Cell::new(false)));
    let (within, acted) = (Rc::clone(&reach), Rc::clone(&done));
    let spy = acting(from, move || {
        if let Some(reach) = within.get()
            && !acted.replace(true)
        {
            act(reach);
        }
    });
    let own = ex.new_queue("own").scheduler(spy).create().unwrap();
    let other = ex.new_queue("other").create().unwrap();
    let probes = [Probe::new(), Probe::new()];
    let polls = || probes.each_ref().map(|probe| probe.polls.get());
    let tasks = [own.spawn(probes[0].future()), other.spawn(probes[1].future())];
    let doomed = own.spawn(pending::<()>());
    let (parked, more) = spawn_others(&ex, &own, if from == "peek" { 1_100 } else { 0 });
    let (weak, group) = (Rc::downgrade(&ex), RefCell::new(Some(own.group(5))));
    let all =
        Reach { ex: weak, own: own.clone(), other: other.clone(), probes: probes.clone(), doomed, group };
    assert!(reach.set(all).is_ok());
    let wakes = || done.get() && [WAKE, WAKE_AND_SPAWN].contains(&name);
    if idle {
        // Its methods are called while none of its tasks is ready.
        parked.abort();
        let seventh = quietly(|| own.new_group(7).weight(2).open().unwrap());
        // Refused if its queue is gone.
        let _ = quietly(|| seventh.set_weight(3));
        quietly(|| drop(seventh));
        quietly(|| settle(&ex));
        assert!(!wakes() || polls() == [2; 2], "{case}: {:?}", polls());
    }
    let closed = own.is_closed();
    let yields = quietly(|| own.new_task().tag(1).spawn(yields(3)));
    let sixth = quietly(|| own.group(6));
    drop(sixth.spawn(async {}));
    let _ = quietly(|| sixth.set_weight(2));
    drop(sixth);
    let bystander = other.spawn(async { 2 });
    quietly(|| settle(&ex));
    // Those that were refused or cancelled by what it did say so; all others are there.
    if name == SHUT_DOWN {
        quietly(|| ex.block_on_shutdown(async {}));
        assert_eq!(ex.stats().live, 0, "{case}");
    } else {
        assert_eq!(output(yields).is_ok(), !closed, "{case}");
        assert_eq!(output(bystander).unwrap(), 2, "{case}");
        let expected = if wakes() { 2 } else { 1 };
        assert_eq!(polls(), [expected; 2], "{case}");
        probes.iter().for_each(|probe| probe.finish());
        settle(&ex);
        let finished = tasks.map(|task| output(task).unwrap());
        assert_eq!(finished, [expected + 1; 2], "{case}");
    }
    drop(more);
    assert_balanced(&ex.stats());
    // A shutdown takes from it what it still has.
    let fault = own.stats().policy_fault;
    let expected = name == SHUT_DOWN || matches!(fault, None | Some(PolicyFault::Panicked));
    assert!(expected, "{case}: {fault:?}");
    done.get()
}

#[test]
fn no_task_is_lost_whatever_a_scheduler_calls_and_wherever() {
    in_child(|| {
        for from in METHODS.split(' ') {
            for act in ACTS {
                for idle in [false, true] {
                    let done = check(from, act, idle);
                    assert!(done || ["peek", "served"].contains(&from), "{} in {from}", act.0);
                }
            }
        }
    });
}

/// Found by the fuzz target `hostile_scheduler`: the spawn handed the woken task on, which was refused, and so it was in no list.
#[test]
fn a_wake_is_not_lost_when_a_scheduler_spawns_on_another_queue() {
    let ex = world();
    let other = ex.new_queue("other").create().unwrap();
    let spawns_on = other.clone();
    let spy = acting("served", move || drop(spawns_on.spawn(async {})));
    let queue = ex.new_queue("q").scheduler(spy).create().unwrap();
    let woken = Probe::new();
    // Long enough for each poll to be timed.
    let timed = |future: Box<dyn Future<Output = u32>>| {
        let mut future = Box::into_pin(future);
        queue.spawn(std::future::poll_fn(move |cx| {
            work(us(2));
            future.as_mut().poll(cx)
        }))
    };
    let task = timed(Box::new(woken.future()));
    quietly(|| settle(&ex));
    let finishes = Rc::clone(&woken);
    let waker = timed(Box::new(async move {
        finishes.finish();
        0
    }));
    quietly(|| settle(&ex));
    output(waker).unwrap();
    assert_eq!(output(task).unwrap(), 2);
    assert_eq!((other.stats().completed, queue.stats().policy_fault), (3, None));
}

/// Found by the fuzz target `hostile_scheduler`: the queue had a ready task, and was not among the runnable.
#[test]
fn a_task_runs_that_a_scheduler_spawned_on_its_own_queue_while_that_slept() {
    let (own, ran) = (Rc::new(OnceCell::<Queue>::new()), Rc::new(Cell::new(false)));
    let (within, runs) = (Rc::clone(&own), Rc::clone(&ran));
    let spy = acting("group_closed", move || {
        if let Some(queue) = within.get() {
            let ran = Rc::clone(&runs);
            drop(queue.spawn(async move { ran.set(true) }));
        }
    });
    let ex = untimed();
    let queue = ex.new_queue("q").scheduler(spy).create().unwrap();
    own.set(queue.clone()).unwrap();
    quietly(|| drop(queue.group(1)));
    settle(&ex);
    assert_eq!((ran.get(), queue.stats().policy_fault), (true, Some(PolicyFault::Panicked)));
}
