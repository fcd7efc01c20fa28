//! `run_until`: may be dropped at any poll and resumed, and wakes its host when there is something to do and only then.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use clockworker::schedulers::Las;
use clockworker::{Executor, ManualClock, spawn_local, yield_now};

use crate::support::{
    Count, CountingWaker, OnDrop, Probe, assert_finished, assert_usable, complaint_of, counts_polls, hold,
    on_thread, output, panic_as_meant, panic_of, poll_once, probed, settle, settle_run, untimed, yields,
};

const DRIVEN: &str = "this executor is being run already";

const TASKS: u32 = 9;

/// An executor that does one poll per turn, and tasks of one to nine polls in several queues.
fn busy() -> Executor {
    let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
    let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    let third = ex.new_queue("third").share(5).create().unwrap();
    let queues = [ex.default_queue(), &las, &third];
    (0..TASKS).for_each(|i| drop(queues[i as usize % 3].spawn(yields(i))));
    ex
}

/// Each task has ended, with no more polls than it needs.
#[track_caller]
fn assert_done(ex: &Executor) {
    assert_finished(&ex.stats(), u64::from(TASKS), 0, 0);
    assert_eq!(ex.stats().polls, (1..=u64::from(TASKS)).sum());
}

#[test]
fn a_run_dropped_at_any_poll_loses_no_task_and_polls_none_twice() {
    // How many host polls the whole takes; then one case for each of them.
    let whole = busy();
    settle(&whole);
    assert_done(&whole);
    let host_polls = whole.stats().host_polls;
    assert!(host_polls > 40, "each poll of a task takes a host poll here");
    for polls in 0..=host_polls {
        let ex = busy();
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        for _ in 0..polls {
            assert!(poll_once(&mut run).is_pending());
        }
        drop(run);
        settle(&ex);
        assert_done(&ex);
    }
}

#[test]
fn a_run_dropped_after_each_poll_loses_no_task_and_polls_none_twice() {
    let ex = busy();
    for _ in 0..1_000 {
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        let _ = poll_once(&mut run);
    }
    assert_done(&ex);
}

#[test]
fn a_run_that_ends_leaves_unfinished_tasks_to_the_next() {
    for remote in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let mut task = None;
        ex.block_on(async { task = Some(spawn_local(probe.future())) });
        let task = task.unwrap();
        let polls = probe.polls.get();
        ex.block_on(async { yield_now().await });
        assert!(!task.is_finished() && probe.polls.get() == polls.max(1));
        probe.finish.set(true);
        let waker = probe.waker();
        on_thread(remote, || waker.wake());
        assert_eq!(ex.block_on(task).unwrap(), 2);
    }
}

#[test]
fn a_run_that_is_dropped_or_never_polled_gives_the_executor_free() {
    let ex = untimed();
    let dropped = Count::default();
    let idle = ex.run_until(hold(dropped.guard()));
    assert_eq!(ex.block_on(async { 1 }), 1);
    drop(idle);
    let mut run = Box::pin(ex.run_until(hold(dropped.guard())));
    assert!(poll_once(&mut run).is_pending());
    drop(run);
    assert_eq!(dropped.get(), 2);
    assert_eq!(ex.block_on(async { 2 }), 2);
}

#[test]
fn blocking_on_it_inside_its_own_task_is_a_clear_error() {
    let ex = Rc::new(untimed());
    let bystander = ex.spawn(async {
        yield_now().await;
        5
    });
    for how in ["block_on", "block_on_shutdown", "shutdown"] {
        let inner = Rc::clone(&ex);
        let task = ex.spawn(async move {
            match how {
                "block_on" => inner.block_on(async {}),
                "block_on_shutdown" => drop(inner.block_on_shutdown(async {})),
                _ => drop(inner.shutdown(async {}).await),
            }
        });
        settle(&ex);
        let text = panic_of(output(task));
        assert!(text.starts_with(DRIVEN) && text.contains("await a `JoinHandle` instead"), "{how}: {text}");
        assert!(!ex.handle().is_stopped(), "a shutdown that is refused shuts nothing down");
        assert_usable(&ex);
    }
    assert_eq!(output(bystander).unwrap(), 5);
}

#[test]
fn a_run_inside_its_own_task_or_run_is_as_its_future() {
    let ex = Rc::new(untimed());
    let inside = |ex: &Rc<Executor>| {
        let ex = Rc::clone(ex);
        async move {
            let task = ex.spawn(async {
                yield_now().await;
                3
            });
            ex.run_until(async { task.await.unwrap() }).await
        }
    };
    assert_eq!(ex.block_on(ex.spawn(inside(&ex))).unwrap(), 3);
    assert_eq!(ex.block_on(inside(&ex)), 3);
}

/// Many of them, too: none of the runs that ride lets a later one drive inside the turn.
#[test]
fn runs_inside_a_run_never_drive() {
    let ex = Rc::new(untimed());
    let inner = Rc::clone(&ex);
    let bystander = Probe::new();
    drop(ex.spawn(bystander.future()));
    let polls = Rc::clone(&bystander);
    let task = ex.spawn(async move {
        yield_now().await;
        let before = polls.polls.get();
        polls.waker().wake();
        for _ in 0..3 {
            let mut run = pin!(inner.run_until(pending::<()>()));
            assert!(poll_once(&mut run).is_pending());
            let text = complaint_of(|| inner.block_on(async {}));
            assert!(text.starts_with(DRIVEN), "{text}");
        }
        assert_eq!(polls.polls.get(), before, "no other task is polled inside a poll");
    });
    assert!(ex.block_on(task).is_ok());
}

#[test]
fn running_it_inside_the_future_being_run_or_a_drop_is_a_clear_error() {
    let ex = Rc::new(untimed());
    let text = complaint_of(|| ex.block_on(async { ex.block_on(async {}) }));
    assert!(text.starts_with(DRIVEN), "{text}");
    // Caught inside, it goes on at once.
    let answer = ex.block_on(async {
        complaint_of(|| ex.block_on(async {}));
        spawn_local(async { 8 }).await.unwrap()
    });
    assert_eq!(answer, 8);
    let inner = Rc::downgrade(&ex);
    let runs = OnDrop::new(move || inner.upgrade().expect("it is running").block_on(async {}));
    let task = ex.spawn(hold(runs));
    settle(&ex);
    task.abort();
    settle(&ex);
    assert!(panic_of(output(task)).starts_with(DRIVEN));
    assert_usable(&ex);
}

#[test]
fn beside_a_run_another_may_begin_end_and_shut_down() {
    let ex = untimed();
    let (probe, task) = probed(&ex);
    let mut first = Box::pin(ex.run_until(task));
    assert!(settle_run(first.as_mut()).is_none());
    // Neither that nor its drop takes the executor from the first.
    let mut second = Box::pin(ex.run_until(pending::<()>()));
    assert!(settle_run(second.as_mut()).is_none());
    drop(second);
    assert_eq!(ex.block_on(ex.spawn(async { 1 })).unwrap(), 1);
    probe.finish();
    assert_eq!(settle_run(first.as_mut()).expect("done").unwrap(), 2);
    let mut third = Box::pin(ex.run_until(pending::<()>()));
    assert!(settle_run(third.as_mut()).is_none());
    let stays = ex.spawn(pending::<()>());
    assert_eq!(ex.block_on_shutdown(ready(())).cancelled, 1);
    assert!(settle_run(third.as_mut()).is_none());
    assert!(output(stays).unwrap_err().is_cancelled());
}

#[test]
fn another_executor_runs_inside_a_task() {
    let outer = untimed();
    let task = outer.spawn(async {
        let inner = untimed();
        let answer = inner.block_on(async {
            let a = spawn_local(async { 40 });
            yield_now().await;
            a.await.unwrap()
        });
        // Back outside, spawns go to the outer one.
        let b = spawn_local(async { 2 });
        assert_eq!(inner.stats().spawned, 1);
        answer + b.await.unwrap()
    });
    assert_eq!(outer.block_on(task).unwrap(), 42);
    assert_finished(&outer.stats(), 2, 0, 0);
}

#[test]
fn another_executor_is_awaited_inside_a_task() {
    let outer = untimed();
    let inner = Rc::new(untimed());
    let driven = Rc::clone(&inner);
    let (probe, inside) = probed(&inner);
    let task = outer.spawn(async move { driven.run_until(inside).await.unwrap() });
    settle(&outer);
    assert_eq!(probe.polls.get(), 1);
    // The wake goes to the inner executor, whose host is the outer's task.
    probe.finish();
    settle(&outer);
    assert_eq!(output(task).unwrap(), 2);
    assert_eq!(inner.stats().completed, 1);
}

#[test]
fn the_future_being_run_is_polled_when_woken_and_only_then() {
    let ex = untimed();
    let probe = Probe::new();
    let mut run = pin!(ex.run_until(probe.future()));
    assert!(settle_run(run.as_mut()).is_none());
    assert_eq!(probe.polls.get(), 1);
    // Tasks come and go.
    for _ in 0..100 {
        ex.spawn(yield_now());
    }
    assert!(settle_run(run.as_mut()).is_none());
    assert_eq!((probe.polls.get(), ex.stats().completed), (1, 100));
    // Several wakes before a poll are one.
    let waker = probe.waker();
    waker.wake_by_ref();
    thread::scope(|scope| drop(scope.spawn(|| waker.wake_by_ref()).join()));
    assert!(settle_run(run.as_mut()).is_none());
    assert_eq!(probe.polls.get(), 2);
    probe.finish();
    assert_eq!(settle_run(run.as_mut()), Some(3));
}

#[test]
fn a_future_being_run_that_wakes_itself_lets_tasks_go_on_beside_it() {
    let ex = untimed();
    let polled = Rc::new(Cell::new(0));
    ex.spawn(counts_polls(Rc::clone(&polled)));
    let mut left = 100;
    let mut run = pin!(ex.run_until(poll_fn(|cx| {
        left -= 1;
        if left == 0 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })));
    assert!(settle_run(run.as_mut()).is_some());
    assert!(polled.get() >= 99, "the task got only {} polls", polled.get());
}

#[test]
fn a_future_being_run_that_yields_waits_for_whom_an_abort_has_woken() {
    let ex = untimed();
    let stays = ex.spawn(pending::<()>());
    let abort = stays.abort_handle();
    let joins = ex.spawn(async move { stays.await.unwrap_err().is_cancelled() });
    settle(&ex);
    abort.abort();
    ex.block_on(yield_now());
    assert!(joins.is_finished(), "the future being run went first");
}

#[test]
fn tasks_spawned_before_between_and_during_runs_all_run() {
    let ex = untimed();
    let done = Rc::new(RefCell::new(Vec::new()));
    let note = |name: &'static str| {
        let done = Rc::clone(&done);
        async move { done.borrow_mut().push(name) }
    };
    ex.spawn(note("before"));
    let (during, nested) = (note("during"), note("nested"));
    let outer = async {
        let inner = spawn_local(nested);
        during.await;
        inner.await.unwrap();
    };
    ex.block_on(async { spawn_local(outer).await.unwrap() });
    ex.spawn(note("between"));
    ex.block_on(async { yield_now().await });
    assert_eq!(*done.borrow(), ["before", "during", "nested", "between"]);
}

#[test]
fn a_run_that_is_over_keeps_nothing_of_its_host() {
    for how in ["dropped", "done", "shut down", "woken and dropped", "moved and dropped", "panicked"] {
        let ex = untimed();
        let (main, task) = (Probe::new(), Probe::new());
        drop(ex.spawn(task.future()));
        let (wakes, waker) = CountingWaker::new();
        let before = Arc::strong_count(&wakes);
        let mut cx = Context::from_waker(&waker);
        let mut run: Pin<Box<dyn Future<Output = ()> + '_>> = if how == "shut down" {
            Box::pin(async {
                let _report = ex.shutdown(main.future()).await;
            })
        } else {
            let panics = how == "panicked";
            let future = main.future();
            Box::pin(ex.run_until(async move {
                future.await;
                if panics {
                    panic_as_meant("main");
                }
            }))
        };
        assert!(run.as_mut().poll(&mut cx).is_pending());
        assert!(Arc::strong_count(&wakes) > before, "it is to be woken");
        match how {
            "woken and dropped" => task.waker().wake(),
            "moved and dropped" => assert!(settle_run(Pin::new(&mut run)).is_none()),
            "panicked" => {
                main.finish();
                complaint_of(|| run.as_mut().poll(&mut cx));
            }
            "done" | "shut down" => {
                main.finish();
                assert!(run.as_mut().poll(&mut cx).is_ready());
                assert_eq!(Arc::strong_count(&wakes), before, "{how}, and not dropped yet");
            }
            _ => {}
        }
        drop(run);
        assert_eq!(Arc::strong_count(&wakes), before, "{how}");
        settle(&ex);
    }
}
