//! Schedulers that call back into their executor, from each of their methods, with all that there is. They are at fault and
//! taken out of service, or not; either way no task is lost, none is polled twice, and nobody else notices.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::time::Duration;

use clockworker::schedulers::{Attributes, GroupId, Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, Group, JoinHandle, PolicyFault, Queue, yield_now};

use crate::support::{
    Probe, VirtualTime, assert_balanced, in_child, output, panic_as_meant, poll_once, quietly, settle,
    untimed, yields,
};

/// What a scheduler can get hold of.
struct World {
    ex: Weak<Executor>,
    own: Queue,
    other: Queue,
    /// A task of its own queue, and one of another.
    probes: [Rc<Probe>; 2],
    doomed: JoinHandle<()>,
    group: RefCell<Option<Group>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Spawn,
    SpawnElsewhere,
    Wake,
    WakeAndSpawnElsewhere,
    Abort,
    Join,
    OpenGroup,
    ChangeGroup,
    SpawnWithTag,
    FindAll,
    DropGroup,
    DropGroupAndPanic,
    CreateQueue,
    CloseQueue,
    Reshare,
    Stats,
    Run,
    Shutdown,
}

const DEEDS: [Deed; 18] = [
    Deed::Spawn,
    Deed::SpawnElsewhere,
    Deed::Wake,
    Deed::WakeAndSpawnElsewhere,
    Deed::Abort,
    Deed::Join,
    Deed::OpenGroup,
    Deed::ChangeGroup,
    Deed::SpawnWithTag,
    Deed::FindAll,
    Deed::DropGroup,
    Deed::DropGroupAndPanic,
    Deed::CreateQueue,
    Deed::CloseQueue,
    Deed::Reshare,
    Deed::Stats,
    Deed::Run,
    Deed::Shutdown,
];

impl World {
    fn ex(&self) -> Rc<Executor> {
        self.ex.upgrade().expect("it calls its schedulers")
    }

    fn perform(&self, deed: Deed) {
        match deed {
            Deed::Spawn => drop(self.own.spawn(async {})),
            Deed::SpawnElsewhere => drop(self.other.spawn(async {})),
            Deed::Wake => self.probes.iter().for_each(|probe| probe.waker().wake()),
            Deed::WakeAndSpawnElsewhere => {
                self.perform(Deed::Wake);
                self.perform(Deed::SpawnElsewhere);
            }
            Deed::Abort => self.doomed.abort(),
            Deed::Join => assert!(!self.doomed.is_finished()),
            Deed::OpenGroup => drop(self.own.group(9)),
            Deed::ChangeGroup => self.own.group(5).set_weight(9).unwrap(),
            Deed::SpawnWithTag => drop(self.own.new_task().tag(9).spawn(async {})),
            Deed::FindAll => {
                self.ex().queues().iter().for_each(|queue| assert!(self.ex().queue(&queue.name()).is_some()));
                drop((Queue::current(), Group::current(), self.own.find_group(5)));
                drop(clockworker::new_task().spawn(async {}));
            }
            Deed::DropGroup => drop(self.group.take()),
            Deed::DropGroupAndPanic => {
                let _group = self.group.take();
                panic_as_meant("the scheduler");
            }
            Deed::CreateQueue => self.ex().new_queue("created").create().unwrap().close(),
            Deed::CloseQueue => self.own.close(),
            Deed::Reshare => self.own.set_share(5).unwrap(),
            Deed::Stats => assert_balanced(&self.ex().stats()),
            Deed::Run => drop(poll_once(&mut self.ex().run_until(pending::<()>()))),
            Deed::Shutdown => drop(poll_once(&mut Box::pin(self.ex().shutdown(async {})))),
        }
    }
}

const METHODS: [&str; 11] = [
    "push",
    "pop",
    "push_pop",
    "peek",
    "served",
    "finished",
    "group_closed",
    "group_opened",
    "group_changed",
    "spawned",
    "time_is",
];

/// FIFO, which does something once, in one of its methods.
struct Calls {
    ready: VecDeque<TaskId>,
    world: Rc<OnceCell<World>>,
    from: &'static str,
    deed: Deed,
    done: Rc<Cell<bool>>,
}

impl Calls {
    fn call(&self, from: &str) {
        if self.from == from
            && let Some(world) = self.world.get()
            && !self.done.replace(true)
        {
            world.perform(self.deed);
        }
    }
}

impl Scheduler for Calls {
    const WANTS_CLOCK: bool = true;

    fn push(&mut self, task: Task, _why: Ready) {
        self.ready.push_back(task.id);
        self.call("push");
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.call("pop");
        self.ready.pop_front()
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.ready.push_back(task.id);
        self.call("push_pop");
        self.ready.pop_front()
    }

    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.call("peek");
        self.ready.get(ahead).copied()
    }

    fn served(&mut self, _task: Task, _service_ns: u64) {
        self.call("served");
    }

    fn finished(&mut self, _task: Task) {
        self.call("finished");
    }

    fn group_closed(&mut self, _group: GroupId) {
        self.call("group_closed");
    }

    fn group_opened(&mut self, _group: GroupId, _key: u64, _attributes: &Attributes) {
        self.call("group_opened");
    }

    fn group_changed(&mut self, _group: GroupId, _attributes: &Attributes) {
        self.call("group_changed");
    }

    fn spawned(&mut self, _task: Task, _attributes: &Attributes) {
        self.call("spawned");
    }

    fn time_is(&mut self, _now_ns: u64) {
        self.call("time_is");
    }
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

/// Whether the scheduler did what it was to do.
fn check(from: &'static str, deed: Deed, idle: bool) -> bool {
    let ex = Rc::new(untimed());
    let (world, done) = (Rc::new(OnceCell::new()), Rc::new(Cell::new(false)));
    let calls =
        Calls { ready: VecDeque::new(), world: Rc::clone(&world), from, deed, done: Rc::clone(&done) };
    let own = ex.new_queue("own").scheduler(calls).create().unwrap();
    let other = ex.new_queue("other").create().unwrap();
    let probes = [Probe::new(), Probe::new()];
    let tasks = [own.spawn(probes[0].future()), other.spawn(probes[1].future())];
    let doomed = own.spawn(pending::<()>());
    let (parked, more) = spawn_others(&ex, &own, if from == "peek" { 1_100 } else { 0 });
    let (group, weak) = (RefCell::new(Some(own.group(5))), Rc::downgrade(&ex));
    let all =
        World { ex: weak, own: own.clone(), other: other.clone(), probes: probes.clone(), doomed, group };
    assert!(world.set(all).is_ok());
    if idle {
        // Its methods are called while none of its tasks is ready.
        parked.abort();
        let seventh = quietly(|| own.new_group(7).weight(2).open().unwrap());
        // Refused if its queue is gone.
        let _ = quietly(|| seventh.set_weight(3));
        quietly(|| drop(seventh));
        quietly(|| settle(&ex));
        if done.get() && matches!(deed, Deed::Wake | Deed::WakeAndSpawnElsewhere) {
            let polls = probes.each_ref().map(|probe| probe.polls.get());
            assert_eq!(polls, [2; 2], "{deed:?} in {from}, idle");
        }
    }
    let closed = own.is_closed();
    let yields = quietly(|| own.new_task().tag(1).spawn(yields(3)));
    let sixth = quietly(|| own.group(6));
    drop(sixth.spawn(async {}));
    let _ = quietly(|| sixth.set_weight(2));
    drop(sixth);
    let bystander = other.spawn(async { 2 });
    quietly(|| settle(&ex));
    let case = format!("{deed:?} in {from}, idle: {idle}");
    // Those that were refused or cancelled by what it did say so; all others are there.
    if deed != Deed::Shutdown {
        assert_eq!(output(yields).is_ok(), !closed, "{case}");
        assert_eq!(output(bystander).unwrap(), 2, "{case}");
        let woken =
            if matches!(deed, Deed::Wake | Deed::WakeAndSpawnElsewhere) && done.get() { 2 } else { 1 };
        assert_eq!(probes.each_ref().map(|probe| probe.polls.get()), [woken; 2], "{case}");
        probes.iter().for_each(|probe| probe.finish());
        settle(&ex);
        for task in tasks {
            assert_eq!(output(task).unwrap(), woken + 1, "{case}");
        }
    }
    drop(more);
    if deed == Deed::Shutdown {
        quietly(|| ex.block_on_shutdown(async {}));
        assert_eq!(ex.stats().live, 0, "{case}");
    }
    assert_balanced(&ex.stats());
    let fault = own.stats().policy_fault;
    // A shutdown takes from it what it still has.
    let expected = deed == Deed::Shutdown || matches!(fault, None | Some(PolicyFault::Panicked));
    assert!(expected, "{case}: {fault:?}");
    done.get()
}

#[test]
fn no_task_is_lost_whatever_a_scheduler_calls_and_wherever() {
    in_child(|| {
        for from in METHODS {
            for deed in DEEDS {
                for idle in [false, true] {
                    let done = check(from, deed, idle);
                    assert!(done || ["peek", "served"].contains(&from), "{deed:?} in {from}");
                }
            }
        }
    });
}

#[test]
fn a_scheduler_that_calls_back_into_its_executor_is_at_fault_and_no_more() {
    // It has a queue of its own executor, spawns on it, and closes it, from inside its own methods.
    struct Calls(VecDeque<TaskId>, Rc<OnceCell<Queue>>, &'static str);
    impl Calls {
        fn call(&self, from: &str) {
            if self.2 == from
                && let Some(queue) = self.1.get()
            {
                drop(queue.spawn(async {}));
                drop(queue.group(1));
                queue.close();
                let _ = queue.stats();
            }
        }
    }
    impl Scheduler for Calls {
        fn push(&mut self, task: Task, _why: Ready) {
            self.0.push_back(task.id);
            self.call("push");
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.call("pop");
            self.0.pop_front()
        }
        fn served(&mut self, _task: Task, _service_ns: u64) {
            self.call("served");
        }
        fn finished(&mut self, _task: Task) {
            self.call("finished");
        }
    }
    for from in ["push", "pop", "served", "finished"] {
        let ex = untimed();
        let own = Rc::new(OnceCell::new());
        let queue =
            ex.new_queue("q").scheduler(Calls(VecDeque::new(), Rc::clone(&own), from)).create().unwrap();
        let before = queue.spawn(async {
            yield_now().await;
            1
        });
        own.set(queue).unwrap();
        let other = ex.spawn(async { 2 });
        quietly(|| settle(&ex));
        assert_eq!((output(before).unwrap(), output(other).unwrap()), (1, 2), "{from}");
        assert_eq!(ex.stats().live, 0, "{from}");
        drop(ex);
        drop(own);
    }
}

/// Found by the fuzz target `hostile_scheduler`: the spawn handed the woken task on, which was refused, and nobody had it.
#[test]
fn a_wake_is_not_lost_when_a_scheduler_spawns_on_another_queue() {
    struct Spawns(VecDeque<TaskId>, Queue);
    impl Scheduler for Spawns {
        fn push(&mut self, task: Task, _why: Ready) {
            self.0.push_back(task.id);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop_front()
        }
        fn served(&mut self, _task: Task, _service_ns: u64) {
            drop(self.1.spawn(async {}));
        }
    }
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let other = ex.new_queue("other").create().unwrap();
    let queue = ex.new_queue("q").scheduler(Spawns(VecDeque::new(), other.clone())).create().unwrap();
    let woken = Probe::new();
    let timed = |future: Pin<Box<dyn Future<Output = u32>>>| {
        let (sim, mut future) = (sim.clone(), future);
        // Long enough for each poll to be timed.
        queue.spawn(poll_fn(move |cx| {
            sim.work(Duration::from_micros(2));
            future.as_mut().poll(cx)
        }))
    };
    let task = timed(Box::pin(woken.future()));
    quietly(|| settle(&ex));
    let waker = {
        let woken = Rc::clone(&woken);
        timed(Box::pin(async move {
            woken.finish();
            0
        }))
    };
    quietly(|| settle(&ex));
    output(waker).unwrap();
    assert_eq!(output(task).unwrap(), 2);
    assert_eq!((other.stats().completed, queue.stats().policy_fault), (3, None));
}

/// Found by the fuzz target `hostile_scheduler`: the queue had a ready task, and was not among the runnable.
#[test]
fn a_task_runs_that_a_scheduler_spawned_on_its_own_queue_while_that_slept() {
    struct Spawns(VecDeque<TaskId>, Rc<OnceCell<Queue>>, Rc<Cell<bool>>);
    impl Scheduler for Spawns {
        fn push(&mut self, task: Task, _why: Ready) {
            self.0.push_back(task.id);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop_front()
        }
        fn group_closed(&mut self, _group: GroupId) {
            if let Some(queue) = self.1.get() {
                let ran = Rc::clone(&self.2);
                drop(queue.spawn(async move { ran.set(true) }));
            }
        }
    }
    let (own, ran) = (Rc::default(), Rc::default());
    let ex = untimed();
    let scheduler = Spawns(VecDeque::new(), Rc::clone(&own), Rc::clone(&ran));
    let queue = ex.new_queue("q").scheduler(scheduler).create().unwrap();
    own.set(queue.clone()).unwrap();
    quietly(|| drop(queue.group(1)));
    settle(&ex);
    assert_eq!((ran.get(), queue.stats().policy_fault), (true, Some(PolicyFault::Panicked)));
}
