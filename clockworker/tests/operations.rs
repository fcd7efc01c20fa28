//! Every operation on a queue × the state of the queue × the moment of the call: nothing hangs, nothing is lost.
//!
//! The executor is polled only when it has woken its host, as a host does. The clock moves only where a cap must be waited for.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use clockworker::probe::{Probe, TaskEnd, TaskView};
use clockworker::schedulers::RunnableFifo;
use clockworker::{
    Cap, Executor, Id, JoinError, JoinHandle, JoinSet, ManualClock, Queue, ShutdownReport, yield_now,
};
use clockworker_testing::driving::{CountingWaker, settle_with};
use futures::FutureExt;
use futures::channel::oneshot;

const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    RetireWithTime,
    RetireNow,
    DrainWithTime,
    DrainNow,
    Close,
    AbortAll,
    MaxLive,
    LiftCap,
    SetCap,
    SetShare,
    SetScheduler,
    Stats,
}

use Operation::*;

const OPERATIONS: [Operation; 12] = [
    RetireWithTime,
    RetireNow,
    DrainWithTime,
    DrainNow,
    Close,
    AbortAll,
    MaxLive,
    LiftCap,
    SetCap,
    SetShare,
    SetScheduler,
    Stats,
];

impl Operation {
    /// Whether it cancels the tasks there are. `AbortAll` is of the queue's own.
    fn cancels(self, state: State) -> bool {
        matches!(self, RetireNow | DrainNow) || self == AbortAll && state != State::Parent
    }

    /// Whether the queue is to be gone after its last task.
    fn ends(self) -> bool {
        matches!(self, RetireWithTime | RetireNow | DrainWithTime | DrainNow | Close)
    }

    fn call(self, queue: &Queue) -> Option<Retire> {
        let at_once = |queue: Queue| async move { queue.retire(ready(())).await };
        let in_time = |queue: Queue| async move { queue.retire(pending::<()>()).await };
        match self {
            RetireWithTime => return Some(Box::pin(in_time(queue.clone()))),
            RetireNow => return Some(Box::pin(at_once(queue.clone()))),
            DrainWithTime => {
                let queue = queue.clone();
                return Some(Box::pin(async move { queue.drain(pending::<()>()).await }));
            }
            DrainNow => {
                let queue = queue.clone();
                return Some(Box::pin(async move { queue.drain(ready(())).await }));
            }
            Close => queue.close(),
            AbortAll => _ = queue.abort_all(),
            MaxLive => queue.set_max_live(Some(1)).unwrap(),
            LiftCap => queue.set_cap(None).unwrap(),
            // A parent has none.
            SetCap => _ = queue.set_cap(Some(Cap::new(HOUR, HOUR).unwrap())),
            SetShare => queue.set_share(7).unwrap(),
            SetScheduler => queue.set_scheduler(RunnableFifo::new()).unwrap(),
            Stats => {
                let stats = queue.stats();
                let ended = stats.completed + stats.cancelled + stats.panicked;
                assert_eq!(stats.spawned, ended + stats.live as u64);
            }
        }
        None
    }
}

type Retire = Pin<Box<dyn Future<Output = ShutdownReport>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Plain,
    Child,
    Parent,
    Throttled,
    Idle,
    Empty,
}

const STATES: [State; 6] =
    [State::Plain, State::Child, State::Parent, State::Throttled, State::Idle, State::Empty];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// There is no run.
    Outside,
    /// By the host's own code, while the executor sleeps.
    Parked,
    InMain,
    InTask,
    InOwnTask,
    InDrop,
    InProbe,
    Unwinding,
}

const MOMENTS: [Moment; 8] = [
    Moment::Outside,
    Moment::Parked,
    Moment::InMain,
    Moment::InTask,
    Moment::InOwnTask,
    Moment::InDrop,
    Moment::InProbe,
    Moment::Unwinding,
];

/// Calls the operation, once, when it is dropped or told to.
#[derive(Clone)]
struct Call {
    operation: Operation,
    queue: Queue,
    retire: Rc<RefCell<Option<Retire>>>,
    is_done: Rc<Cell<bool>>,
}

impl Call {
    fn make(&self) {
        assert!(!self.is_done.replace(true), "called twice");
        let mut retire = self.operation.call(&self.queue);
        // It closes the queue at its first poll.
        let done = retire.as_mut().is_some_and(|retire| retire.as_mut().now_or_never().is_some());
        *self.retire.borrow_mut() = retire.filter(|_| !done);
    }
}

struct OnDrop(Call);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.make();
    }
}

thread_local! {
    static IN_PROBE: RefCell<Option<Call>> = const { RefCell::new(None) };
}

struct InEvent;

impl Probe for InEvent {
    fn ended(&self, _task: &TaskView<'_>, _how: TaskEnd) {
        if let Some(call) = IN_PROBE.take() {
            call.make();
        }
    }
}

struct World {
    clock: ManualClock,
    ex: Rc<Executor>,
    /// Elsewhere, for what calls the operation.
    other: Queue,
    subject: Queue,
    /// One that yields some times, and one that waits for the gate.
    tasks: Vec<JoinHandle<()>>,
    gate: Option<oneshot::Sender<()>>,
}

impl World {
    fn new(state: State) -> Self {
        let clock = ManualClock::new();
        let ex = Rc::new(Executor::builder().clock(clock.clone()).build().unwrap());
        let other = ex.new_queue("other").create().unwrap();
        let subject = match state {
            State::Child => other.new_queue("subject").create(),
            State::Idle => ex.new_queue("subject").idle().create(),
            State::Throttled => {
                let cap = Cap::new(Duration::from_millis(1), HOUR).unwrap();
                ex.new_queue("subject").cap(cap).create()
            }
            _ => ex.new_queue("subject").create(),
        }
        .unwrap();
        let home = match state {
            State::Parent => subject.new_queue("below").create().unwrap(),
            _ => subject.clone(),
        };
        if state == State::Throttled {
            let spent = clock.clone();
            subject.spawn(async move { spent.advance(Duration::from_millis(3)) });
            settle(&ex);
        }
        let (gate, opened) = oneshot::channel();
        let mut tasks = Vec::new();
        if state != State::Empty {
            tasks.push(home.spawn(async {
                for _ in 0..3 {
                    yield_now().await;
                }
            }));
            tasks.push(home.spawn(async { opened.await.unwrap() }));
        }
        Self { clock, ex, other, subject, tasks, gate: Some(gate) }
    }
}

fn settle(ex: &Executor) {
    clockworker_testing::driving::settle(ex);
}

fn play(operation: Operation, state: State, moment: Moment) {
    let World { clock, ex, other, subject, tasks, gate } = World::new(state);
    let call = Call { operation, queue: subject.clone(), retire: Rc::default(), is_done: Rc::default() };
    let main_call = (moment == Moment::InMain).then(|| call.clone());
    let main = Box::pin(async move {
        if let Some(call) = main_call {
            call.make();
        }
        pending::<()>().await;
    });
    let (wakes, waker) = CountingWaker::new();
    if moment == Moment::Outside {
        call.make();
    }
    let mut run = Box::pin(ex.run_until(main));
    let mut go_on = || assert_eq!(settle_with(run.as_mut(), &wakes, &waker), None);
    let ours = call.clone();
    let mut ended_before = [moment == Moment::Parked && state != State::Throttled, false].into_iter();
    match moment {
        Moment::Outside | Moment::InMain => {}
        Moment::Parked => {
            go_on();
            let seen = wakes.count();
            call.make();
            assert!(wakes.count() > seen || !needs_turn(operation, state), "the host was not woken");
        }
        Moment::InTask => drop(other.spawn(async move { ours.make() })),
        Moment::InOwnTask => drop(subject.spawn(async move { ours.make() })),
        Moment::InDrop => {
            let guard = OnDrop(ours);
            other.spawn(async move { drop(guard) }).abort();
        }
        Moment::InProbe => {
            ex.set_probe(Some(Arc::new(InEvent)));
            let task = other.spawn(async {});
            drop(task);
            IN_PROBE.set(Some(ours));
        }
        Moment::Unwinding => drop(other.spawn(async move {
            let _guard = OnDrop(ours);
            std::panic::resume_unwind(Box::new("meant"));
        })),
    }
    go_on();
    assert!(call.is_done.get(), "the operation was not called");
    let finish_retire = || {
        let mut retire = call.retire.borrow_mut();
        let report = retire.as_mut().and_then(poll);
        if report.is_some() {
            *retire = None;
        }
        report
    };
    let mut report = finish_retire();
    go_on();
    if state == State::Throttled && !operation.cancels(state) && operation != LiftCap && operation != SetCap {
        assert!(!tasks[0].is_finished(), "it ran above its cap");
        // What it owes is the quota of three periods. A manual clock has no alarm: the host looks again.
        clock.advance(4 * HOUR);
        go_on();
    }
    for (number, task) in tasks.iter().enumerate() {
        assert_eq!(task.is_finished(), number == 0 || operation.cancels(state), "task {number}");
    }
    gate.unwrap().send(()).unwrap_or_default();
    go_on();
    report = report.or_else(finish_retire);
    go_on();
    report = report.or_else(finish_retire);
    assert!(call.retire.borrow().is_none(), "it does not retire");
    if let Some(report) = report {
        assert_eq!(
            (report.drained, report.panicked),
            (matches!(operation, RetireWithTime | DrainWithTime), 0)
        );
        assert!(report.completed + report.cancelled >= 1, "{report}");
    }
    let names: Vec<String> = ex.queues().iter().map(|queue| queue.name()).collect();
    assert_eq!(names.iter().any(|name| name == "subject" || name == "below"), !operation.ends(), "{names:?}");
    drop(run);
    for task in tasks {
        let end = task.now_or_never().expect("it is finished");
        let was_over = ended_before.next() == Some(true);
        let is_cancelled = operation.cancels(state) && !was_over;
        assert_eq!(end.as_ref().err().map(JoinError::is_cancelled), is_cancelled.then_some(true));
    }
    assert_eq!(Id::current(), None);
    let stats = subject.stats();
    assert_eq!(stats.spawned, stats.completed + stats.cancelled + stats.panicked);
    assert_eq!(ex.stats().live, 0);
}

/// Whether there is work for a sleeping executor after the operation.
fn needs_turn(operation: Operation, state: State) -> bool {
    let has_tasks = state != State::Empty;
    has_tasks && operation.cancels(state)
        || state == State::Throttled && matches!(operation, LiftCap | SetCap)
}

fn poll(retire: &mut Retire) -> Option<ShutdownReport> {
    match retire.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(report) => Some(report),
        Poll::Pending => None,
    }
}

#[test]
fn nothing_hangs_and_nothing_is_lost() {
    let mut failed = Vec::new();
    std::panic::set_hook(Box::new(|_| {}));
    for operation in OPERATIONS {
        for state in STATES {
            for moment in MOMENTS {
                // A throttled queue polls no task, so none of its own calls anything.
                if (state, moment) == (State::Throttled, Moment::InOwnTask) {
                    continue;
                }
                let played = std::panic::catch_unwind(|| play(operation, state, moment));
                if let Err(payload) = played {
                    let why = payload.downcast_ref::<String>().cloned();
                    let why = why.or_else(|| payload.downcast_ref::<&str>().map(|why| (*why).to_owned()));
                    failed.push(format!("{operation:?} {state:?} {moment:?}: {}", why.unwrap_or_default()));
                }
            }
        }
    }
    drop(std::panic::take_hook());
    assert!(failed.is_empty(), "{} of the matrix:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn a_question_that_a_drop_answers_leaves_no_current_task() {
    let ex = Executor::new();
    let handle = ex.handle();
    assert!(handle.stats().now_or_never().is_none(), "the drop answers it");
    drop(ex);
    assert_eq!(Id::current(), None);
}

#[test]
fn a_queue_that_is_gone_does_not_show_its_successors_time() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let gone = ex.new_queue("gone").create().unwrap();
    gone.close();
    let next = ex.new_queue("next").create().unwrap();
    let task = next.spawn(async move {
        clock.advance(Duration::from_millis(5));
        gone.stats().busy
    });
    assert_eq!(ex.block_on(task).unwrap(), Duration::ZERO);
}

#[test]
fn the_event_of_a_task_from_another_thread_is_part_of_no_task() {
    static SEEN: Mutex<Vec<(Option<Id>, Option<String>)>> = Mutex::new(Vec::new());
    struct Parents;
    impl Probe for Parents {
        fn spawned(&self, _task: &TaskView<'_>) {
            SEEN.lock().unwrap().push((Id::current(), Queue::current().map(|queue| queue.name())));
        }
    }
    let ex = Executor::new();
    let busy = ex.new_queue("busy").create().unwrap();
    let handle = ex.handle();
    let sender = busy.spawn(async move {
        thread::spawn(move || drop(handle.spawn(|| async {}))).join().unwrap();
        yield_now().await;
    });
    ex.set_probe(Some(Arc::new(Parents)));
    ex.block_on(async {
        sender.await.unwrap();
        yield_now().await;
    });
    assert_eq!(*SEEN.lock().unwrap(), [(None, None)]);
}

/// A waker of which all that can panic does, once it is armed.
struct Panics(Arc<AtomicBool>);

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        assert!(!self.0.load(Relaxed), "meant");
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        assert!(!self.0.load(Relaxed), "meant");
    }
}

fn panics(armed: &Arc<AtomicBool>) -> Waker {
    Waker::from(Arc::new(Panics(Arc::clone(armed))))
}

/// Drops a value while the thread unwinds. The host's waker panics, and so does the value's, when it is dropped.
fn drop_while_unwinding<T>(ex: &Executor, make: impl FnOnce(&mut Context<'_>) -> T) {
    let armed = Arc::default();
    let (host, own) = (panics(&armed), panics(&armed));
    let value = make(&mut Context::from_waker(&own));
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    assert!(run.as_mut().poll(&mut Context::from_waker(&host)).is_pending());
    drop(own);
    armed.store(true, Relaxed);
    let unwinding = catch_unwind(AssertUnwindSafe(move || {
        let _value = value;
        resume_unwind(Box::new("the first"));
    }));
    armed.store(false, Relaxed);
    assert_eq!(unwinding.unwrap_err().downcast_ref(), Some(&"the first"));
}

#[test]
fn what_is_dropped_while_unwinding_does_not_abort() {
    let ex = Executor::new();
    let mut set = JoinSet::new();
    set.insert(ex.spawn(pending::<()>()));
    drop_while_unwinding(&ex, |_| set);
    let full = ex.new_queue("full").max_live(1).create().unwrap();
    let task = full.spawn(pending::<()>());
    drop_while_unwinding(&ex, |cx| {
        let mut waits = full.spawn_when_room(async {});
        assert!(waits.poll_unpin(cx).is_pending());
        waits
    });
    drop_while_unwinding(&ex, |cx| {
        let mut retires = Box::pin(full.retire(pending::<()>()));
        assert!(retires.poll_unpin(cx).is_pending());
        retires
    });
    assert!(!task.is_finished());
}
