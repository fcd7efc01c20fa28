//! `run_for`: how long a step is, what it says, when the waker is woken, and each state in which another driver is.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use clockworker::schedulers::{FairGroups, Qlas, RunnableFifo, Scheduler, WokenFirst};
use clockworker::{Cap, Executor, Id, ManualClock, Step, UnhandledPanic, spawn_local, yield_now};

use crate::support::{
    CountingWaker, HookedWaker, OnDrop, WakerCall, assert_usable, bad_waker, caught, complaint_of, hold,
    never_rests, on_thread, output, panic_as_meant, panic_of, parked, poll_once, poll_with, settle_with,
    untimed,
};

const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

const LONG: Duration = Duration::from_secs(3600);

/// An executor on a manual clock, with a waker that is counted.
fn stepped() -> (Executor, ManualClock, Arc<CountingWaker>) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let (wakes, waker) = CountingWaker::new();
    ex.on_ready(waker);
    assert_eq!(wakes.count(), 1, "at once");
    (ex, clock, wakes)
}

/// Each poll takes what the closure says of its number.
async fn works(clock: ManualClock, polls: u64, time_of: impl Fn(u64) -> Duration) {
    for poll in 0..polls {
        clock.advance(time_of(poll));
        yield_now().await;
    }
}

fn after<S: Scheduler + 'static>(scheduler: S, short: u64) {
    let clock = ManualClock::new();
    let ex = Executor::builder().scheduler(scheduler).clock(clock.clone()).build().unwrap();
    let other = ex.new_queue("other").share(3).create().unwrap();
    for queue in [ex.default_queue(), &other] {
        let time_of = move |poll| if poll < short { Duration::from_nanos(10) } else { us(1_000) };
        queue.spawn(works(clock.clone(), u64::MAX, time_of));
    }
    let mut before = clock.now();
    for budget in [0, 1, 500, 999, 1_000, 1_001, 5_500, 16_000, 0, 1].map(us) {
        assert_eq!(ex.run_for(budget), Step::Ready);
        let took = clock.now() - before;
        assert!(took >= budget && took < budget + us(1_000) || took == us(1_000), "{took:?} of {budget:?}");
        before = clock.now();
    }
    assert_eq!(ex.stats().queues.iter().filter(|queue| queue.policy_fault.is_some()).count(), 0);
}

/// Also where polls were short for long, and are long from now on.
#[test]
fn a_step_ends_with_the_poll_in_which_its_budget_is_spent() {
    for short in [0, 1, 7, 31, 32, 33, 100, 1_000] {
        after(WokenFirst::new(), short);
        after(RunnableFifo::new(), short);
        after(FairGroups::new(), short);
        after(Qlas::new(), short);
    }
}

#[test]
fn it_does_so_when_a_second_queue_wakes_in_the_middle_of_a_slice() {
    let (ex, clock, _) = stepped();
    let other = ex.new_queue("other").create().unwrap();
    let (tick, queue) = (clock.clone(), other.clone());
    ex.spawn(works(clock.clone(), u64::MAX, move |poll| {
        match poll {
            0..40 => return Duration::ZERO,
            40 => drop(queue.spawn(works(tick.clone(), u64::MAX, |_| us(100)))),
            _ => {}
        }
        us(100)
    }));
    assert_eq!((ex.run_for(us(950)), clock.now()), (Step::Ready, us(1_000)));
}

#[test]
fn a_budget_of_zero_is_one_poll_or_one_drop() {
    let ex = untimed();
    let tasks: Vec<_> = (0..3).map(|_| ex.spawn(async {})).collect();
    for done in 1..=3 {
        let left = if done < 3 { Step::Ready } else { Step::Idle };
        assert_eq!((ex.run_for(Duration::ZERO), ex.stats().completed), (left, done));
    }
    drop(tasks);
    let held: Vec<_> = (0..2).map(|_| ex.spawn(hold(()))).collect();
    assert_eq!(ex.run_for(LONG), Step::Idle);
    held.iter().for_each(|task| task.abort());
    assert_eq!((ex.run_for(Duration::ZERO), ex.stats().cancelled), (Step::Ready, 1));
    assert_eq!((ex.run_for(Duration::ZERO), ex.stats().cancelled), (Step::Idle, 2));
    assert_usable(&ex);
}

#[test]
fn what_other_threads_send_does_not_use_up_steps_without_a_budget() {
    let ex = untimed();
    let task = ex.spawn(async {});
    for _ in 0..10_000 {
        drop(ex.handle().spawn(pending::<()>));
    }
    // Admission may take one of them.
    assert_eq!((ex.run_for(Duration::ZERO), ex.run_for(Duration::ZERO)), (Step::Ready, Step::Ready));
    assert!(task.is_finished());
}

#[test]
fn the_cap_of_polls_ends_a_step_where_the_clock_stands_still_only() {
    for runs in [false, true] {
        let builder = Executor::builder().poll_cap(10);
        let ex = if runs { builder } else { builder.clock(ManualClock::new()) }.build().unwrap();
        ex.spawn(works(ManualClock::new(), 99, |_| Duration::ZERO));
        let polls = if runs { 100 } else { 10 };
        let left = if runs { Step::Idle } else { Step::Ready };
        assert_eq!((ex.run_for(LONG), ex.stats().polls), (left, polls));
    }
}

#[test]
fn a_step_that_finds_nothing_is_no_turn() {
    let (ex, clock, wakes) = stepped();
    let (probe, _task) = (parked(&ex).0, ());
    assert_eq!(ex.run_for(LONG), Step::Idle);
    let turns = ex.stats().host_polls;
    clock.advance(LONG);
    (0..9).for_each(|_| assert_eq!(ex.run_for(LONG), Step::Idle));
    assert_eq!((ex.stats().host_polls, probe.polls.get(), wakes.count()), (turns, 1, 1));
    probe.waker().wake();
    assert_eq!((ex.run_for(LONG), probe.polls.get(), ex.stats().host_polls), (Step::Idle, 2, turns + 1));
    let stats = ex.stats();
    assert_eq!(stats.host, LONG, "what was not billed in those calls is the loop's");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the step gives an instant of the system's clock")]
fn a_step_says_when_a_throttled_queue_goes_on() {
    let (ex, clock, wakes) = stepped();
    let queue = ex.new_queue("capped").cap(Cap::new(us(100), us(1_000)).unwrap()).create().unwrap();
    queue.spawn(works(clock.clone(), 5, |_| us(100)));
    for period in 0..5 {
        assert_eq!(clock.now(), us(1_000 * period));
        for passed in [0, 300] {
            clock.advance(us(passed));
            let before = Instant::now();
            let step = ex.run_for(LONG);
            let Step::At(time) = step else { panic!("{step:?}") };
            let left = us(1_000 * (period + 1)) - clock.now();
            assert!(before + left <= time && time <= Instant::now() + left);
        }
        assert_eq!(ex.stats().polls, period + 1);
        clock.advance(us(1_000 * (period + 1)) - clock.now());
    }
    assert_eq!(wakes.count(), 1, "nothing wakes it for a time");
    assert_eq!((ex.run_for(LONG), ex.stats().live), (Step::Idle, 0));
    // A step is due at the time, not only after it.
    queue.spawn(works(clock.clone(), 2, |_| us(100)));
    assert!(matches!(ex.run_for(LONG), Step::At(_)));
    assert_eq!(wakes.count(), 2);
    queue.set_cap(None).unwrap();
    assert_eq!((wakes.count(), ex.run_for(LONG)), (3, Step::Idle));
}

type Cause = fn(&Executor, &Waker);

const CAUSES: [(&str, Cause); 6] = [
    ("a wake", |_, waker| waker.wake_by_ref()),
    ("a spawn", |ex, _| drop(ex.spawn(pending::<()>()))),
    ("a spawn into a new queue", |ex, _| drop(ex.new_queue("new").create().unwrap().spawn(pending::<()>()))),
    ("a spawn by a handle", |ex, _| drop(ex.handle().spawn(pending::<()>))),
    ("a wake on another thread", |_, waker| on_thread(true, || waker.wake_by_ref())),
    ("the end of a queue's tasks", |ex, _| assert!(ex.default_queue().abort_all() > 0)),
];

#[test]
fn the_waker_is_woken_once_after_a_step_that_left_nothing() {
    for (name, cause) in CAUSES {
        let (ex, _, wakes) = stepped();
        let (probe, _task) = parked(&ex);
        let waker = probe.waker();
        assert_eq!(ex.run_for(LONG), Step::Idle);
        let before = wakes.count();
        for round in 1..=2 {
            cause(&ex, &waker);
            assert_eq!(wakes.count(), before + 1, "{name}");
            ex.spawn(pending::<()>());
            assert_eq!(wakes.count(), before + 1, "{name}: once");
            if round == 1 {
                assert_eq!(ex.run_for(Duration::ZERO), Step::Ready, "{name}");
                ex.spawn(pending::<()>());
                waker.wake_by_ref();
                assert_eq!(wakes.count(), before + 1, "{name}: it was told that work is left");
                break;
            }
        }
        assert_eq!((ex.run_for(LONG), ex.stats().ready), (Step::Idle, 0), "{name}");
    }
}

#[test]
fn another_waker_takes_the_place_of_the_first_in_every_state() {
    for state in ["before", "parked", "with work", "in a task", "in its own drop"] {
        let (ex, _, first) = stepped();
        let ex = Rc::new(ex);
        let (second, waker) = CountingWaker::new();
        match state {
            "parked" => assert_eq!(ex.run_for(LONG), Step::Idle),
            "with work" => drop(ex.spawn(async {})),
            _ => {}
        }
        if state == "in a task" {
            let inner = Rc::clone(&ex);
            ex.spawn(async move { inner.on_ready(waker) });
            assert_eq!(ex.run_for(LONG), Step::Idle);
        } else if state == "in its own drop" {
            let inner = Rc::clone(&ex);
            let hooked = HookedWaker::default();
            ex.on_ready((*hooked.waker()).clone());
            let hooked = hooked.on(WakerCall::Drop, move || inner.on_ready(waker));
            ex.on_ready(Waker::noop().clone());
            assert!(hooked.is_done());
        } else {
            ex.on_ready(waker);
        }
        let (of_first, of_second) = (first.count(), second.count());
        assert_eq!(of_second, 1, "{state}");
        assert_eq!(ex.run_for(LONG), Step::Idle);
        ex.spawn(async {});
        assert_eq!((first.count(), second.count()), (of_first, of_second + 1), "{state}");
        assert_eq!(Arc::strong_count(&first), 1, "{state}: it was dropped");
    }
}

#[test]
fn a_waker_that_panics_or_steps_does_no_harm() {
    for at in [WakerCall::Wake, WakerCall::Drop] {
        let ex = Rc::new(untimed());
        let bad = bad_waker(&[at]);
        ex.on_ready((*bad.waker()).clone());
        assert_eq!(ex.run_for(LONG), Step::Idle);
        _ = caught(|| ex.spawn(async {}));
        ex.on_ready(Waker::noop().clone());
        assert_eq!((ex.run_for(LONG), ex.stats().live), (Step::Idle, 0));
        assert!(bad.is_done());
        let (inner, steps) = (Rc::clone(&ex), Rc::new(Cell::new(None)));
        let taken = Rc::clone(&steps);
        let hooked = HookedWaker::new(at, move || taken.set(Some(inner.run_for(LONG))));
        ex.on_ready((*hooked.waker()).clone());
        ex.on_ready(Waker::noop().clone());
        assert_eq!(steps.get(), Some(Step::Idle));
        assert_usable(&ex);
    }
}

#[test]
fn the_executor_drops_the_waker_at_its_end() {
    for steps in 0..3 {
        let (ex, _, wakes) = stepped();
        (0..steps).for_each(|_| assert_eq!(ex.run_for(LONG), Step::Idle));
        let (_probe, task) = parked(&ex);
        drop(ex);
        assert_eq!(Arc::strong_count(&wakes), 1);
        assert!(output(task).unwrap_err().is_cancelled());
    }
}

/// Calls `run_for` where the executor drives, and says what that came to.
fn steps_inside(ex: &Rc<Executor>) -> (impl Fn() + Clone + use<>, Rc<RefCell<Vec<String>>>) {
    let (inner, said) = (Rc::downgrade(ex), Rc::<RefCell<Vec<String>>>::default());
    let says = Rc::clone(&said);
    let call = move || {
        let complaint = complaint_of(|| inner.upgrade().expect("it is driven").run_for(LONG));
        says.borrow_mut().push(complaint);
    };
    (call, said)
}

#[test]
fn inside_what_the_executor_runs_it_panics_with_the_reason() {
    type Drive = fn(&Executor);
    let by_step: Drive = |ex| assert_eq!(ex.run_for(LONG), Step::Idle);
    let by_run: Drive = |ex| assert!(poll_once(&mut pin!(ex.run_until(pending::<()>()))).is_pending());
    for drive in [by_step, by_run] {
        let ex = Rc::new(untimed());
        let (call, said) = steps_inside(&ex);
        let (in_task, in_drop) = (call.clone(), OnDrop::new(call.clone()));
        ex.spawn(async move { in_task() });
        let aborted = ex.spawn(hold(in_drop));
        drive(&ex);
        aborted.abort();
        drive(&ex);
        ex.block_on(async { call() });
        assert_eq!(said.borrow().len(), 3);
        assert!(said.borrow().iter().all(|said| said.contains("`run_for`") && said.contains("run already")));
        assert_usable(&ex);
        // What a shutdown drops.
        let last = OnDrop::new(call.clone());
        ex.spawn(hold(last));
        ex.block_on_shutdown(async {});
        assert_eq!(said.borrow().len(), 4);
        assert_eq!(ex.run_for(LONG), Step::Idle);
    }
}

#[test]
fn inside_a_task_of_another_executor_it_is_a_step_as_any() {
    let (outer, inner) = (untimed(), Rc::new(untimed()));
    let task = inner.spawn(async { spawn_local(async { 1 }).await.unwrap() });
    let steps = Rc::clone(&inner);
    let beside = outer.spawn(async move {
        let before = Id::current();
        assert_eq!(steps.run_for(LONG), Step::Idle);
        assert!(before.is_some() && Id::current() == before);
        spawn_local(async {}).await.unwrap();
    });
    assert_eq!(outer.run_for(LONG), Step::Idle);
    assert_eq!((inner.stats().completed, outer.stats().completed, output(task).unwrap()), (2, 2, 1));
    output(beside).unwrap();
}

#[test]
fn while_the_loop_unwinds_it_is_a_step_as_any() {
    let ex = untimed();
    let task = ex.spawn(async { 1 });
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _step = OnDrop::new(|| assert_eq!(ex.run_for(LONG), Step::Idle));
        panic_as_meant("the loop");
    }));
    assert!(unwound.is_err());
    assert_eq!(output(task).unwrap(), 1);
}

/// A run that is suspended: at rest or with work of its own, the only one or one of two, made before the first step or after it.
#[test]
fn a_run_that_is_suspended_goes_on_with_what_a_step_leaves() {
    for (steps_first, runs, self_wakes) in
        [false, true].iter().flat_map(|&a| [1, 2].into_iter().flat_map(move |b| [0, 3].map(|c| (a, b, c))))
    {
        let (ex, _, of_loop) = stepped();
        let (probe, task) = parked(&ex);
        if steps_first {
            assert_eq!(ex.run_for(LONG), Step::Idle);
        }
        let (gate, opened) = futures::channel::oneshot::channel();
        let body = async {
            for _ in 0..self_wakes {
                yield_now().await;
            }
            opened.await.unwrap()
        };
        let mut run = Box::pin(ex.run_until(body));
        let mut others: Vec<_> = (1..runs).map(|_| Box::pin(ex.run_until(pending::<()>()))).collect();
        let (wakes, waker) = CountingWaker::new();
        assert!(poll_with(&mut run, &waker).is_pending());
        others.iter_mut().for_each(|run| assert!(poll_with(run, &waker).is_pending()));
        assert_eq!(ex.run_for(LONG), Step::Idle);
        // Its host polls it, as it was woken, and it drives.
        assert!(wakes.count() > 0);
        assert!(settle_with(run.as_mut(), &wakes, &waker).is_none());
        others.iter_mut().for_each(|run| assert!(settle_with(run.as_mut(), &wakes, &waker).is_none()));
        let before = wakes.count();
        probe.finish();
        assert_eq!((wakes.count(), task.is_finished()), (before + 1, false), "who has driven last is woken");
        assert_eq!(ex.run_for(LONG), Step::Idle);
        assert!(task.is_finished());
        assert!(settle_with(run.as_mut(), &wakes, &waker).is_none());
        // A wake of its own future reaches its host although a step was last, or meets the wake by the step.
        let before = wakes.count();
        assert_eq!(ex.run_for(LONG), Step::Idle);
        gate.send(5).unwrap();
        assert!(wakes.count() > before);
        assert_eq!(settle_with(run.as_mut(), &wakes, &waker), Some(5));
        // The loop is told that runs have gone, and goes on.
        drop((run, others));
        let before = of_loop.count();
        assert_eq!(ex.run_for(LONG), Step::Idle);
        ex.spawn(async {});
        assert_eq!(of_loop.count(), before + 1);
    }
}

#[test]
fn when_the_run_that_drove_last_ends_the_loop_is_woken() {
    let (ex, _, of_loop) = stepped();
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    assert_eq!(ex.run_for(LONG), Step::Idle);
    assert!(poll_once(&mut run).is_pending());
    let before = of_loop.count();
    ex.spawn(async {});
    assert_eq!(of_loop.count(), before, "the run has driven last");
    drop(run);
    assert_eq!((of_loop.count(), ex.run_for(LONG), ex.stats().live), (before + 1, Step::Idle, 0));
}

#[test]
fn block_on_goes_on_between_steps() {
    let (ex, _, of_loop) = stepped();
    let task = ex.spawn(async { yield_now().await });
    assert_eq!(ex.run_for(Duration::ZERO), Step::Ready);
    ex.block_on(task).unwrap();
    let before = of_loop.count();
    assert_eq!(ex.run_for(LONG), Step::Idle);
    ex.spawn(never_rests());
    assert_eq!((of_loop.count(), ex.run_for(Duration::ZERO)), (before + 1, Step::Ready));
}

#[test]
fn a_step_in_which_the_executor_fails_panics_as_a_run_does() {
    let ex = Executor::builder().unhandled_panic(UnhandledPanic::ShutdownRuntime).build().unwrap();
    let task = ex.spawn(async { panic_as_meant("a task") });
    let other = ex.spawn(pending::<()>());
    for _ in 0..2 {
        assert!(complaint_of(|| ex.run_for(LONG)).contains("unhandled panic"));
    }
    assert_eq!(panic_of::<()>(output(task)), "a task");
    assert!(output(other).unwrap_err().is_cancelled());
}

/// The host of a run that is alone is woken by the first step, as it is not alone any more. That host may not step.
#[test]
fn a_host_that_steps_when_the_first_step_wakes_it_panics_with_the_reason() {
    let ex = Rc::new(untimed());
    let (call, said) = steps_inside(&ex);
    let hooked = HookedWaker::new(WakerCall::Wake, call);
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    assert!(poll_with(&mut run, &hooked.waker()).is_pending());
    assert_eq!(ex.run_for(LONG), Step::Idle);
    assert!(said.borrow()[0].contains("run already"));
    drop(run);
    assert_usable(&ex);
}
