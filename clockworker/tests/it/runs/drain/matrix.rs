//! Who spawns × when × what drains × from where: children are let in, outsiders refused, and all are counted.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{
    Cap, Executor, Handle, JoinHandle, JoinSet, ManualClock, Queue, ShutdownReport, move_to, spawn_local,
};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::Shared;

use crate::support::{OnDrop, elsewhere, settle, settle_run};

const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Child,
    Local,
    /// In another queue that drains.
    Elsewhere,
    /// A child's child.
    Grandchild,
    /// The task itself comes from the other queue, and then spawns.
    Moved,
    InSet,
    WhenRoom,
    Try,
    HandleInside,
    HandleInsideOnThread,
    HandleOutside,
    Thread,
    /// No task.
    Main,
}

use Who::*;

const ALL: [Who; 13] = [
    Child,
    Local,
    Elsewhere,
    Grandchild,
    Moved,
    InSet,
    WhenRoom,
    Try,
    HandleInside,
    HandleInsideOnThread,
    HandleOutside,
    Thread,
    Main,
];

impl Who {
    fn is_outsider(self) -> bool {
        matches!(self, HandleOutside | Thread | Main)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    Before,
    Draining,
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Executor,
    Queue,
    /// The two queues are its children, and nothing is in it.
    Parent,
    Throttled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Task,
    /// The destructor of an aborted task.
    Drop,
}

/// Whether the child was taken, and has finished.
type Taken = Pin<Box<dyn Future<Output = bool>>>;

/// What the caller spawns with.
#[derive(Clone)]
struct Tools {
    home: Queue,
    other: Queue,
    outside: Handle,
    inside: Option<Handle>,
    /// What the child waits for.
    gate: Shared<oneshot::Receiver<()>>,
}

impl Tools {
    fn call(&self, who: Who) -> Taken {
        let Self { home, other, outside, inside, gate } = self.clone();
        let child = async move { gate.await.is_ok() };
        let (name, inside) = (home.name(), inside.unwrap_or_else(|| outside.clone()));
        match who {
            Child | Main => taken(home.spawn(child)),
            Local => taken(spawn_local(child)),
            Elsewhere => taken(other.spawn(child)),
            Grandchild => taken(home.spawn(async { spawn_local(child).await.unwrap() })),
            Moved => {
                Box::pin(async move { move_to(&other).await.is_ok() && spawn_local(child).await.unwrap() })
            }
            InSet => {
                let mut set = JoinSet::new();
                set.spawn_local_on(child, &other);
                Box::pin(async move { set.join_next().await.is_some_and(|child| child.is_ok()) })
            }
            WhenRoom => match Box::pin(home.spawn_when_room(child)).now_or_never().unwrap() {
                Ok(handle) => taken(handle),
                Err(_) => Box::pin(ready(false)),
            },
            Try => match home.try_spawn(child) {
                Ok(handle) => taken(handle),
                Err(_) => Box::pin(ready(false)),
            },
            HandleInside => taken(inside.spawn_on(&name, || child)),
            HandleInsideOnThread => taken(elsewhere(|| inside.spawn_on(&name, || child))),
            HandleOutside => taken(outside.spawn_on(&name, || child)),
            Thread => taken(elsewhere(|| outside.spawn_on(&name, || child))),
        }
    }
}

fn taken(handle: JoinHandle<bool>) -> Taken {
    Box::pin(async { handle.await.is_ok_and(|finished| finished) })
}

struct World {
    clock: ManualClock,
    ex: Rc<Executor>,
    parent: Queue,
    home: Queue,
    other: Queue,
    drain: Option<Pin<Box<dyn Future<Output = ShutdownReport>>>>,
    report: Option<ShutdownReport>,
}

impl World {
    fn new(what: What) -> Self {
        let clock = ManualClock::new();
        let ex = Rc::new(Executor::builder().clock(clock.clone()).build().unwrap());
        let parent = ex.new_queue("parent").create().unwrap();
        let new =
            |name| if what == What::Parent { parent.new_queue(name) } else { ex.new_queue(name) }.create();
        let (home, other) = (new("home").unwrap(), new("other").unwrap());
        Self { clock, ex, parent, home, other, drain: None, report: None }
    }

    /// Uses the cap up.
    fn throttle(&self) {
        self.home.set_cap(Some(Cap::new(Duration::from_millis(1), HOUR).unwrap())).unwrap();
        let clock = self.clock.clone();
        self.home.spawn(async move { clock.advance(Duration::from_millis(3)) });
        self.go_on_once();
    }

    fn go_on_once(&self) {
        settle(&self.ex);
    }

    fn go_on(&mut self) {
        for _ in 0..2 {
            match self.drain.as_mut().filter(|_| self.report.is_none()) {
                Some(drain) => self.report = settle_run(Pin::new(drain)),
                None => settle(&self.ex),
            }
            // What a throttled queue owes is the quota of three periods.
            self.clock.advance(4 * HOUR);
        }
    }

    fn begin(&mut self, what: What) {
        let (ex, home, other) = (Rc::clone(&self.ex), self.home.clone(), self.other.clone());
        let parent = self.parent.clone();
        self.drain = Some(Box::pin(async move {
            match what {
                What::Executor => ex.drain(pending::<()>()).await,
                What::Parent => ex.run_until(parent.drain(pending::<()>())).await,
                What::Queue | What::Throttled => {
                    let both = [home, other].map(|queue| async move { queue.drain(pending::<()>()).await });
                    let mut reports = ex.run_until(futures::future::join_all(both)).await;
                    let mut sum = reports.pop().unwrap();
                    sum.completed += reports[0].completed;
                    sum.cancelled += reports[0].cancelled;
                    sum.drained &= reports[0].drained;
                    sum
                }
            }
        }));
        // Whoever waits for a throttled queue goes on waiting.
        self.report = settle_run(Pin::new(self.drain.as_mut().unwrap()));
        assert_eq!(self.report, None, "it drained already");
    }
}

fn play(who: Who, time: Time, what: What, place: Place) {
    let mut world = World::new(what);
    let (open, gate) = oneshot::channel();
    let (call, called) = oneshot::channel();
    let result = Rc::new(RefCell::new(None::<Taken>));
    let (answer, is_called) = (Rc::new(Cell::new(None)), Rc::new(Cell::new(false)));
    let tools = Rc::new(RefCell::new(Tools {
        home: world.home.clone(),
        other: world.other.clone(),
        outside: world.ex.handle(),
        inside: None,
        gate: gate.shared(),
    }));
    let parent = {
        let (tools, result, answer) = (Rc::clone(&tools), Rc::clone(&result), Rc::clone(&answer));
        let is_called = Rc::clone(&is_called);
        world.home.spawn(async move {
            tools.borrow_mut().inside = Handle::current();
            let tools = tools.borrow().clone();
            if place == Place::Drop {
                let _guard =
                    OnDrop::new(move || *result.borrow_mut() = is_called.get().then(|| tools.call(who)));
                return pending().await;
            }
            if called.await == Ok(true) {
                answer.set(Some(tools.call(who).await));
            }
        })
    };
    // Keeps the queue from being gone, but for its parent's sake it stays without.
    let (keep, kept) = oneshot::channel::<()>();
    if what != What::Parent {
        world.other.spawn(async { _ = kept.await });
    }
    world.go_on_once();
    if what == What::Throttled {
        world.throttle();
    }
    let mut call = Some(call);
    let mut make = |is_call: bool| {
        if who == Main && is_call {
            *result.borrow_mut() = Some(tools.borrow().call(who));
            return;
        }
        is_called.set(is_call);
        match (place, call.take()) {
            (Place::Task, Some(call)) => call.send(is_call).unwrap_or_default(),
            (Place::Drop, Some(_)) => parent.abort(),
            (_, None) => {}
        }
    };
    if time == Time::Before {
        make(true);
        world.go_on();
    }
    world.begin(what);
    if time == Time::Draining {
        make(true);
        world.go_on();
    }
    make(false);
    open.send(()).unwrap();
    drop(keep);
    world.go_on();
    let report = world.report.expect("it drains");
    if time == Time::After {
        *result.borrow_mut() = Some(tools.borrow().call(who));
        world.go_on();
    }
    let is_taken = match result.take() {
        Some(taken) => taken.now_or_never().expect("it is known"),
        None => answer.get().expect("it is known"),
    };
    assert_eq!(is_taken, time == Time::Before || time == Time::Draining && !who.is_outsider());
    let children = u64::from(is_taken) + u64::from(is_taken && who == Grandchild);
    let cancelled = u64::from(place == Place::Drop && time != Time::Before);
    let completed = children + u64::from(place == Place::Task) + u64::from(what != What::Parent);
    assert_eq!(
        (report.completed, report.cancelled, report.drained),
        (completed, cancelled, true),
        "{report}"
    );
    let stats = world.ex.stats();
    assert_eq!(stats.refused, u64::from(!is_taken && who != Moved));
    assert_eq!((stats.live, stats.spawned), (0, stats.completed + stats.cancelled + stats.panicked));
    let gone = what != What::Executor;
    assert!(world.ex.queues().iter().all(|queue| !gone || !["home", "other"].contains(&&*queue.name())));
}

#[test]
fn children_are_let_in_and_outsiders_refused() {
    let mut failed = Vec::new();
    let mut played = 0;
    for who in ALL {
        for time in [Time::Before, Time::Draining, Time::After] {
            for what in [What::Executor, What::Queue, What::Parent, What::Throttled] {
                for place in [Place::Task, Place::Drop] {
                    // A destructor awaits no move, and what no task does is the same beside either.
                    if place == Place::Drop && matches!(who, Moved | Main)
                        || (who, time) == (Local, Time::After)
                    {
                        continue;
                    }
                    played += 1;
                    if let Err(payload) = std::panic::catch_unwind(|| play(who, time, what, place)) {
                        let why = payload.downcast_ref::<String>().cloned();
                        let why = why.or_else(|| payload.downcast_ref::<&str>().map(|&why| why.to_owned()));
                        failed.push(format!(
                            "{who:?} {time:?} {what:?} {place:?}: {}",
                            why.unwrap_or_default()
                        ));
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} of {played}:\n{}", failed.len(), failed.join("\n"));
}
