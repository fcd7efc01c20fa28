//! The probe: what it is told, in order, and what it may do while it is told.

#![allow(missing_docs, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clockworker::probe::{
    AnyTask, Interest, Poll, Polled, Probe, Slice, TaskEnd, TaskView, TurnBegan, TurnEnded, WakerOp, WokenBy,
};
use clockworker::schedulers::{Las, RunnableFifo, Scheduler};
use clockworker::{Executor, Id, current_tag, spawn_local, yield_now};
use futures::channel::oneshot;

use support::*;

#[path = "support/mod.rs"]
mod support;

/// Writes down what it is told, and may panic each time.
#[derive(Default)]
struct Log {
    told: Mutex<Vec<String>>,
    interest: Interest,
    panics: bool,
}

impl Log {
    fn write(&self, line: String) {
        self.told.lock().unwrap().push(line);
        assert!(!self.panics, "as planned");
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

fn name(task: &AnyTask<'_>) -> String {
    task.name().map_or("-", |name| name).to_owned()
}

impl Probe for Log {
    fn interest(&self) -> Interest {
        self.interest
    }

    fn turn_began(&self, turn: TurnBegan) {
        self.write(format!("turn at {}", turn.now_ns));
    }

    fn turn_ended(&self, turn: TurnEnded) {
        self.write(format!("turn over, idle {}", turn.is_idle));
    }

    fn slice(&self, slice: Slice<'_>) {
        self.write(format!("slice of {} with {}", slice.queue().index, slice.queue().ready));
        let ended = slice.run();
        self.write(format!("slice over: {:?}", ended.reason));
    }

    fn spawned(&self, task: &TaskView<'_>) {
        self.write(format!("spawned {} in {}", name(task), task.queue_name().unwrap()));
    }

    fn woken(&self, task: &TaskView<'_>, by: WokenBy) {
        self.write(format!("woken {} {by:?}", name(task)));
    }

    fn woken_elsewhere(&self, task: &AnyTask<'_>) {
        self.write(format!("woken elsewhere {}", name(task)));
    }

    fn poll(&self, poll: Poll<'_>) {
        let line = format!("{:?} {}", poll.kind(), poll.task().map_or_else(String::new, |task| name(&task)));
        assert!(poll.task().is_none_or(|task| Id::current() == Some(task.id())));
        self.write(format!("begin {line}").trim_end().to_owned());
        poll.run();
        self.write(format!("end {line}").trim_end().to_owned());
    }

    fn polled(&self, polled: &Polled<'_>) {
        self.write(format!("polled {} {:?} {}", name(&polled.task), polled.outcome, polled.took_ns));
    }

    fn ended(&self, task: &TaskView<'_>, how: TaskEnd) {
        assert_eq!(Id::current(), Some(task.id()));
        self.write(format!("{how:?} {}", name(task)));
    }

    fn waker(&self, task: &AnyTask<'_>, op: WakerOp) {
        self.write(format!("waker {} {op:?}", name(task)));
    }
}

fn with_log(log: Log) -> (Executor, Arc<Log>) {
    let (ex, log) = (hosted(), Arc::new(log));
    ex.set_probe(Some(log.clone()));
    (ex, log)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

#[test]
fn events_come_in_the_order_in_which_they_happen() {
    let (ex, log) = with_log(Log { interest: Interest::default().every_poll(), ..Log::default() });
    let task = ex.default_queue().new_task().name("a").spawn(async {
        work(us(2));
        yield_now().await;
    });
    ex.default_queue().new_task().name("b").spawn(async { task.await.unwrap() });
    settle(&ex);
    let expected = "spawned a in default
        spawned b in default
        turn at 0
        begin Main
        end Main
        slice of 0 with 2
        begin Task a
        end Task a
        polled a Yielded 2000
        begin Task b
        end Task b
        polled b Pending 0
        begin Task a
        end Task a
        Completed a
        woken b Local
        polled a Finished 0
        begin Task b
        end Task b
        Completed b
        polled b Finished 0
        slice over: Drained
        turn over, idle true";
    assert_eq!(log.take(), lines(expected));
}

#[test]
fn other_threads_tell_of_their_wakes_and_spawns_before_they_come_in() {
    let (ex, log) = with_log(Log::default());
    let (wake, woken) = oneshot::channel::<()>();
    ex.default_queue().new_task().name("a").spawn(async { woken.await.unwrap() });
    settle(&ex);
    let handle = ex.handle();
    log.take();
    elsewhere(|| {
        drop(handle.new_task().name("b").spawn(|| ready(())));
        wake.send(()).unwrap();
    });
    assert_eq!(log.take(), ["woken elsewhere b", "woken elsewhere a"]);
    settle(&ex);
    let told = log.take();
    assert_eq!(told[3..5], ["spawned b in default", "woken a Remote"], "{told:?}");
}

#[test]
fn aborted_tasks_and_the_main_future_are_told_of_and_refused_tasks_are_not() {
    let (ex, log) = with_log(Log::default());
    ex.default_queue().new_task().name("a").spawn(pending::<()>()).abort();
    ex.block_on(ex.drained());
    let told = log.take();
    let of = |what: &str| told.iter().filter(|line| line.ends_with(what)).cloned().collect::<Vec<_>>();
    assert_eq!(of(" a"), ["begin Drop a", "Cancelled a", "end Drop a"]);
    assert!(of("Main").starts_with(&["begin Main".to_owned(), "end Main".to_owned()]), "{told:?}");
    ex.default_queue().close();
    drop(ex.spawn(async {}));
    drop(ex.handle().spawn(|| ready(())));
    settle(&ex);
    let told = log.take();
    assert!(
        told.iter()
            .all(|line| line.starts_with("turn") || line.ends_with("Main") || line.contains("elsewhere")),
        "{told:?}"
    );
}

#[test]
fn a_probe_that_wants_it_is_told_of_wakers() {
    let (ex, log) = with_log(Log { interest: Interest::default().wakers(), ..Log::default() });
    ex.default_queue().new_task().name("a").spawn(std::future::poll_fn(|cx| {
        let waker = cx.waker().clone();
        cx.waker().wake_by_ref();
        elsewhere(|| drop(waker.clone()));
        waker.wake();
        std::task::Poll::Ready(())
    }));
    settle(&ex);
    let told = log.take();
    let wakers: Vec<_> = told.iter().filter(|line| line.starts_with("waker")).collect();
    let expected = ["Clone", "WakeByRef", "Clone", "Drop", "Wake"].map(|op| format!("waker a {op}"));
    assert_eq!(wakers, expected.each_ref());
}

#[test]
fn panics_of_a_probe_are_counted_and_harm_nothing() {
    let (ex, log) = with_log(Log { panics: true, ..Log::default() });
    let (wake, woken) = oneshot::channel::<()>();
    let waits = ex.spawn(woken);
    let aborted = ex.spawn(pending::<()>());
    let handle = ex.handle();
    settle(&ex);
    let sent = elsewhere(|| handle.spawn(|| async { 3 }));
    wake.send(()).unwrap();
    aborted.abort();
    let main = async { (yield_now().await, waits.await.unwrap().unwrap(), sent.await.unwrap()) };
    assert_eq!(ex.block_on(main), ((), (), 3));
    assert!(ex.spawn(async { panic!("as planned") }).is_finished() || ex.stats().live > 0);
    settle(&ex);
    // Each event panicked, but the second half of those that wrap something, which come after the panic of the first.
    assert_eq!(ex.stats().probe_panics, log.take().len() as u64);
    assert_eq!((ex.stats().live, ex.stats().panicked), (0, 1));
}

#[test]
fn a_main_future_that_panics_panics_through_the_probe() {
    let (ex, log) = with_log(Log::default());
    let main = async { resume_unwind(Box::new("over")) };
    let payload = catch_unwind(AssertUnwindSafe(|| ex.block_on(main))).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"over"));
    assert_eq!(ex.stats().probe_panics, 0);
    assert_eq!(ex.block_on(async { 1 }), 1);
    assert!(log.take().contains(&"end Main".to_owned()));
}

/// Runs nothing of what it is given.
struct Idle;

impl Probe for Idle {
    fn slice(&self, _slice: Slice<'_>) {}
    fn poll(&self, _poll: Poll<'_>) {}
}

#[test]
fn what_a_probe_does_not_run_runs_without_it() {
    let ex = hosted();
    ex.set_probe(Some(Arc::new(Idle)));
    let aborted = ex.spawn(pending::<()>());
    aborted.abort();
    assert_eq!(ex.block_on(ex.spawn(async { 1 })).unwrap(), 1);
    assert!(ex.block_on(aborted).unwrap_err().is_cancelled());
}

/// Counts the polls that it is told of, the samples among them, and of how many polls those that are timed stand for.
#[derive(Default)]
struct Timed {
    interest: Interest,
    polls: AtomicU64,
    samples: AtomicU64,
    stand_for: AtomicU64,
}

impl Timed {
    /// Polls of 100 ns each; how many it is told of, and how many polls they stand for.
    fn count<S: Scheduler + 'static>(interest: Interest, scheduler: S, polls: usize) -> [u64; 3] {
        let (ex, probe) = (
            hosted_builder().scheduler(scheduler).build().unwrap(),
            Arc::new(Timed { interest, ..Timed::default() }),
        );
        ex.set_probe(Some(probe.clone()));
        ex.spawn(support::polls("", polls, Duration::from_nanos(100)));
        settle(&ex);
        [&probe.polls, &probe.samples, &probe.stand_for].map(|count| count.load(Ordering::Relaxed))
    }
}

impl Probe for Timed {
    fn interest(&self) -> Interest {
        self.interest
    }

    fn poll(&self, poll: Poll<'_>) {
        if poll.task().is_some() {
            self.polls.fetch_add(1, Ordering::Relaxed);
            self.samples.fetch_add(poll.is_sample().into(), Ordering::Relaxed);
        }
        poll.run();
    }

    fn polled(&self, polled: &Polled<'_>) {
        self.stand_for.fetch_add(polled.stands_for.into(), Ordering::Relaxed);
        // A word that the executor sets where it does not tell of a yield.
        assert!(polled.now_ns < 200 || polled.task.word().load(Ordering::Relaxed) != u64::MAX);
        polled.task.word().store(polled.now_ns, Ordering::Relaxed);
    }
}

#[test]
fn one_in_so_many_short_polls_is_a_sample_and_the_rest_need_not_be_told() {
    const POLLS: usize = 100_000;
    let samples = Interest::default().samples(100);
    let [told, drawn, timed] = Timed::count(samples, RunnableFifo::new(), POLLS);
    assert_eq!(told, POLLS as u64);
    // The gaps have the variance of 1 to 199, each as likely: 3,300. So the count has that of 3.3, and five deviations are 58.
    assert!((942..=1_058).contains(&drawn), "{drawn}");
    let [told, again, stands_for] = Timed::count(samples.only_timed(), RunnableFifo::new(), POLLS);
    assert_eq!((again, stands_for), (drawn, timed), "the lots are those of before");
    assert_eq!(told, drawn + timed, "the others are not told");
    let [told, drawn, stands_for] = Timed::count(samples.only_timed(), Las::new(), POLLS);
    assert!(told < POLLS as u64 / 5 && drawn == 0, "{told}: the executor draws its own");
    assert!((0.95..1.05).contains(&(stands_for as f64 / POLLS as f64)), "{stands_for}");
    assert_eq!(Timed::count(Interest::default(), RunnableFifo::new(), 1_000)[1], 0);
    assert_eq!(
        Timed::count(Interest::default().only_timed().every_poll(), RunnableFifo::new(), 1_000),
        [1_000, 0, 1_000]
    );
}

thread_local! {
    /// The executor of a probe that uses it.
    static EXECUTOR: RefCell<Weak<Executor>> = const { RefCell::new(Weak::new()) };
}

/// Uses its executor in so many events of each kind.
struct Busy {
    is_busy: AtomicBool,
    left: Mutex<BTreeMap<&'static str, u32>>,
}

impl Busy {
    const TIMES: u32 = 20;

    fn new() -> Self {
        let kinds = [
            "turn",
            "turn over",
            "slice",
            "slice over",
            "spawned",
            "woken",
            "poll",
            "poll over",
            "polled",
            "ended",
        ];
        let left = kinds.map(|kind| (kind, Self::TIMES)).into();
        Self { is_busy: AtomicBool::new(false), left: Mutex::new(left) }
    }

    fn work(&self, event: &'static str) {
        let Some(ex) = EXECUTOR.with_borrow(Weak::upgrade) else { return };
        // What it does is told, too.
        if self.is_busy.load(Ordering::Relaxed) || self.left.lock().unwrap()[event] == 0 {
            return;
        }
        *self.left.lock().unwrap().get_mut(event).unwrap() -= 1;
        self.is_busy.store(true, Ordering::Relaxed);
        let _entered = ex.enter();
        assert_eq!(ex.stats().queues.len(), ex.queues().len());
        let (wake, woken) = oneshot::channel();
        drop(ex.default_queue().group(7).spawn(woken));
        drop(spawn_local(async move {
            assert_eq!(current_tag(), None, "it inherits nothing");
            _ = wake.send(());
        }));
        spawn_local(pending::<()>()).abort();
        let queue = ex.new_queue("probe").create().unwrap();
        drop(queue.spawn(async {}));
        queue.close();
        ex.default_queue().set_share(2).unwrap();
        ex.default_queue().set_scheduler(RunnableFifo::new()).unwrap();
        self.is_busy.store(false, Ordering::Relaxed);
    }
}

impl Probe for Busy {
    fn turn_began(&self, _turn: TurnBegan) {
        self.work("turn");
    }

    fn turn_ended(&self, _turn: TurnEnded) {
        self.work("turn over");
    }

    fn slice(&self, slice: Slice<'_>) {
        self.work("slice");
        slice.run();
        self.work("slice over");
    }

    fn spawned(&self, _task: &TaskView<'_>) {
        self.work("spawned");
    }

    fn woken(&self, _task: &TaskView<'_>, _by: WokenBy) {
        self.work("woken");
    }

    fn poll(&self, poll: Poll<'_>) {
        self.work("poll");
        poll.run();
        self.work("poll over");
    }

    fn polled(&self, _polled: &Polled<'_>) {
        self.work("polled");
    }

    fn ended(&self, _task: &TaskView<'_>, _how: TaskEnd) {
        self.work("ended");
    }
}

#[test]
fn a_probe_may_use_its_executor_in_every_event() {
    let ex = Rc::new(hosted());
    EXECUTOR.set(Rc::downgrade(&ex));
    let probe = Arc::new(Busy::new());
    ex.set_probe(Some(probe.clone()));
    for _ in 0..Busy::TIMES {
        drop(ex.default_queue().new_task().tag(7).spawn(yields(3)));
    }
    for _ in 0..100 {
        settle(&ex);
    }
    let stats = ex.stats();
    assert_eq!((stats.probe_panics, stats.panicked, stats.live), (0, 0, 0), "{stats:?}");
    let left = std::mem::take(&mut *probe.left.lock().unwrap());
    assert!(left.values().all(|&left| left == 0), "{left:?}");
    assert_eq!(stats.spawned, stats.completed + stats.cancelled);
}

/// Takes itself away, or puts another in its place.
struct Replaces;

impl Probe for Replaces {
    fn poll(&self, poll: Poll<'_>) {
        poll.run();
        EXECUTOR.with_borrow(Weak::upgrade).unwrap().set_probe(None);
    }
}

#[test]
fn a_probe_may_be_replaced_in_an_event_and_in_a_task() {
    let ex = Rc::new(hosted());
    EXECUTOR.set(Rc::downgrade(&ex));
    ex.set_probe(Some(Arc::new(Replaces)));
    assert_eq!(ex.block_on(ex.spawn(async { 1 })).unwrap(), 1);
    assert!(ex.probe().is_none());
    let (log, inner) = (Arc::new(Log::default()), Rc::clone(&ex));
    let (set, held) = (log.clone(), Rc::clone(&ex));
    ex.spawn(async move {
        inner.set_probe(Some(set));
        yield_now().await;
        held.set_probe(None);
    });
    settle(&ex);
    let told = log.take();
    // The slice goes on without it, and ends after that poll.
    let slice =
        ["slice of 0 with 1", "begin Task -", "end Task -", "polled - Finished 0", "slice over: Preempted"];
    assert_eq!(told, slice);
    assert!(Arc::try_unwrap(log).is_ok(), "nothing holds it any more");
}

#[test]
fn a_probe_is_let_go_when_its_executor_is_dropped() {
    let (ex, log) = with_log(Log::default());
    let (handle, task) = (ex.handle(), ex.spawn(pending::<()>()));
    drop(ex);
    assert!(log.take().contains(&"Cancelled -".to_owned()));
    assert!(Arc::try_unwrap(log).is_ok(), "neither a handle nor a task holds it");
    drop((handle, task));
}

/// Wakes a task when it is told of the task's poll, and notes how many tasks were ready in each slice.
#[derive(Default)]
struct Wakes {
    waker: Mutex<Option<std::task::Waker>>,
    ready: Mutex<Vec<usize>>,
}

impl Probe for Wakes {
    fn polled(&self, _: &Polled<'_>) {
        self.waker.lock().unwrap().take().into_iter().for_each(std::task::Waker::wake);
    }

    fn slice(&self, slice: Slice<'_>) {
        self.ready.lock().unwrap().push(slice.queue().ready);
        slice.run();
    }
}

#[test]
fn a_task_that_is_woken_when_its_poll_is_told_is_polled_again() {
    let (ex, probe) = (untimed(), Arc::new(Wakes::default()));
    ex.set_probe(Some(probe.clone()));
    let mut polls = 0;
    let task = ex.spawn(std::future::poll_fn(move |cx| {
        polls += 1;
        *probe.waker.lock().unwrap() = (polls == 1).then(|| cx.waker().clone());
        if polls == 1 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    }));
    settle(&ex);
    assert!(task.is_finished());
}

#[test]
fn aborted_tasks_are_not_ready_in_a_slice() {
    let (ex, probe) = (untimed(), Arc::new(Wakes::default()));
    ex.set_probe(Some(probe.clone()));
    let tasks: Vec<_> = (0..5).map(|_| ex.spawn(async {})).collect();
    tasks[1..].iter().for_each(|task| task.abort());
    settle(&ex);
    assert_eq!(probe.ready.lock().unwrap()[0], 1);
}
