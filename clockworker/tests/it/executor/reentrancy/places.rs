//! Each place where an executor that lives calls user code: that code may use everything there is.

use std::future::{pending, poll_fn};
use std::panic::panic_any;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use clockworker::schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinSet, ManualClock, QueueError, spawn_local, yield_now};

use super::tools::{Tools, use_all, uses_all_at, uses_all_on_drop};
use crate::support::{
    OnDrop, Probe, WakerCall, case, hold, output, poll_once, poll_with, quietly, settle, settle_run, tick,
    untimed,
};

/// Has the executor call [`use_all`] at a place, once.
type Visit = fn(&Rc<Executor>, &Tools);

/// Visits each place, with an executor and tools of its own.
fn visit_all(places: &[(&str, Visit)]) {
    places.iter().for_each(|(place, visit)| visit_one(place, visit));
}

fn visit_one(place: &str, visit: impl Fn(&Rc<Executor>, &Tools)) {
    case(place, || {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        visit(&ex, &tools);
        tools.assert_after(&ex);
    });
}

#[test]
fn polls_and_drops_of_futures() {
    visit_all(&[
        ("the poll of a task", |ex, _| drop(ex.spawn(async { use_all() }))),
        ("the poll of the future being run", |ex, _| ex.block_on(async { use_all() })),
        ("the drop of a future that has completed", |ex, _| {
            let mut guard = Some(uses_all_on_drop());
            ex.spawn(poll_fn(move |_| {
                let _captured = &mut guard;
                Poll::Ready(())
            }));
        }),
        ("the drop of an aborted future", |ex, _| drop_aborted(ex, false)),
        ("the drop of an aborted future that was woken", |ex, _| drop_aborted(ex, true)),
        ("the drop of a future that another task aborts", |ex, tools| {
            let task = tools.queue.spawn(hold(uses_all_on_drop()));
            settle(ex);
            // Runs between this task's poll and its being put back.
            let aborter = ex.spawn(async move {
                task.abort();
                yield_now().await;
                task.abort();
                pending::<()>().await;
            });
            settle(ex);
            aborter.abort();
        }),
        ("the drop of the future being run before its first poll", |ex, _| {
            drop(ex.run_until(hold(uses_all_on_drop())));
        }),
        ("the drop of the future being run", |ex, _| {
            let mut run = Box::pin(ex.run_until(hold(uses_all_on_drop())));
            assert!(settle_run(run.as_mut()).is_none());
        }),
    ]);
}

fn drop_aborted(ex: &Executor, woken: bool) {
    let (probe, guard) = (Probe::new(), uses_all_on_drop());
    let inner = probe.future();
    let task = ex.spawn(async move {
        let _guard = guard;
        inner.await
    });
    settle(ex);
    if woken {
        probe.waker().wake();
    }
    task.abort();
    tick(ex);
    assert!(task.is_finished());
}

#[test]
fn drops_of_outputs() {
    visit_all(&[
        ("the drop of an output that nobody reads", |ex, _| {
            let guard = uses_all_on_drop();
            drop(ex.spawn(async move { guard }));
        }),
        ("the drop of an output with its handle, in the future being run", |ex, _| {
            let guard = uses_all_on_drop();
            let task = ex.spawn(async move { guard });
            settle(ex);
            ex.block_on(async { drop(task) });
        }),
        ("the drop of an output with its handle, in a task", |ex, _| {
            let guard = uses_all_on_drop();
            let task = ex.spawn(async move { guard });
            settle(ex);
            ex.spawn(async { drop(task) });
        }),
    ]);
}

#[test]
#[cfg(panic = "unwind")]
fn the_drop_of_a_panics_payload() {
    visit_one("a panic's payload", |ex, _| {
        drop(ex.spawn(async { quietly(|| panic_any(uses_all_on_drop())) }));
    });
}

#[test]
fn what_makes_a_future_for_another_thread() {
    visit_all(&[
        ("its call", |ex, _| {
            let guard = OnDrop::new(|| ());
            let task = ex.handle().spawn(move || {
                drop(guard);
                use_all();
                async { 1 }
            });
            settle(ex);
            assert_eq!(output(task).unwrap(), 1);
        }),
        ("its drop, as its task is aborted", |ex, _| drop_maker(ex, true)),
        ("its drop, as its queue is closed", |ex, _| drop_maker(ex, false)),
    ]);
}

fn drop_maker(ex: &Executor, aborted: bool) {
    let closed = ex.new_queue("closed").create().unwrap();
    let guard = uses_all_on_drop();
    let task = ex.handle().spawn_on("closed", move || {
        drop(guard);
        pending::<()>()
    });
    // It goes when the executor takes it in.
    if aborted {
        task.abort()
    } else {
        closed.close()
    }
    settle(ex);
    assert_eq!(output(task).unwrap_err().is_refused(), !aborted);
}

/// FIFO that uses everything when it is dropped.
struct UsesAll<T>(RunnableFifo, #[allow(dead_code, reason = "for its drop")] T);

impl<T> Scheduler for UsesAll<T> {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
}

#[test]
fn drops_of_schedulers() {
    fn create(ex: &Executor, name: &str) -> Result<clockworker::Queue, QueueError> {
        ex.new_queue(name).scheduler(UsesAll(RunnableFifo::new(), uses_all_on_drop())).create()
    }
    visit_all(&[
        ("of a queue that is closed", |ex, _| {
            let queue = create(ex, "holds").unwrap();
            let _entered = ex.enter();
            queue.close();
        }),
        ("of a queue that a task closes", |ex, _| {
            let queue = create(ex, "holds").unwrap();
            drop(ex.spawn(async move { queue.close() }));
        }),
        ("of a queue that is refused", |ex, _| {
            let _entered = ex.enter();
            assert!(create(ex, "las").unwrap_err().is_name_taken());
        }),
    ]);
}

/// Visits a place at each call of a waker.
fn visit_calls(place: &str, visit: fn(&Rc<Executor>, &Tools, WakerCall)) {
    for at in [WakerCall::Clone, WakerCall::Wake, WakerCall::Drop] {
        visit_one(&format!("{at:?} of {place}"), |ex, tools| visit(ex, tools, at));
    }
}

#[test]
fn wakers_of_who_awaits_a_task_or_a_set() {
    visit_calls("a join handle", |ex, _, at| {
        let mut task = ex.spawn(async {
            yield_now().await;
            8
        });
        let hooked = uses_all_at(ex, at);
        assert!(poll_with(&mut task, &hooked.waker()).is_pending());
        settle(ex);
        assert_eq!(output(task).unwrap(), 8);
    });
    visit_calls("a set", |ex, _, at| {
        let mut set = JoinSet::new();
        set.spawn_local_on(async { 8 }, &**ex);
        let hooked = uses_all_at(ex, at);
        assert!(set.poll_join_next(&mut Context::from_waker(&hooked.waker())).is_pending());
        settle(ex);
        assert_eq!(set.try_join_next().unwrap().unwrap(), 8);
    });
    visit_all(&[
        ("a join handle that another polls", |ex, _| {
            let mut task = ex.spawn(pending::<()>());
            let hooked = uses_all_at(ex, WakerCall::Drop);
            assert!(poll_with(&mut task, &hooked.waker()).is_pending());
            assert!(poll_once(&mut task).is_pending());
        }),
        ("a join handle that is dropped", |ex, _| {
            let mut task = ex.spawn(pending::<()>());
            let hooked = uses_all_at(ex, WakerCall::Drop);
            assert!(poll_with(&mut task, &hooked.waker()).is_pending());
        }),
        // The aborted task is among its queue's arrivals when its joiner is woken, and what that does takes it out.
        ("a join handle of a task that is woken by its own end", |ex, _| {
            let probe = Probe::new();
            let (inner, woken) = (probe.future(), Rc::clone(&probe));
            let wakes_itself = OnDrop::new(move || woken.waker().wake());
            let mut task = ex.spawn(async move {
                let _wakes_itself = wakes_itself;
                inner.await
            });
            settle(ex);
            let hooked = uses_all_at(ex, WakerCall::Wake);
            assert!(poll_with(&mut task, &hooked.waker()).is_pending());
            task.abort();
            settle(ex);
            assert!(output(task).unwrap_err().is_cancelled());
        }),
    ]);
}

#[test]
fn wakers_of_hosts_and_of_who_waits_for_the_last_task() {
    visit_calls("a host that sleeps", |ex, _, at| {
        let hooked = uses_all_at(ex, at);
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        // It may have to be polled again after what it did.
        for _ in 0..3 {
            assert!(poll_with(&mut run, &hooked.waker()).is_pending());
        }
        if at != WakerCall::Drop {
            // Wakes it, outside of a poll.
            drop(ex.spawn(async {}));
        }
        // Another host takes over: the first one's waker goes.
        assert!(poll_once(&mut run).is_pending());
    });
    visit_calls("who waits for the last task", |ex, tools, at| {
        let hooked = uses_all_at(ex, at);
        let mut drained = pin!(ex.drained());
        assert!(poll_with(&mut drained, &hooked.waker()).is_pending());
        if at == WakerCall::Wake {
            // All tasks end.
            drop(tools.joined.take());
            tools.probe.finish();
            tools.victim.abort();
            tools.detached.borrow().as_ref().expect("it waits").abort();
            settle(ex);
        }
    });
    visit_all(&[
        ("a host whose run is dropped", |ex, _| {
            let hooked = uses_all_at(ex, WakerCall::Drop);
            assert!(poll_with(&mut pin!(ex.run_until(pending::<()>())), &hooked.waker()).is_pending());
        }),
        ("a host whose run is done", |ex, _| {
            let (main, hooked) = (Probe::new(), uses_all_at(ex, WakerCall::Drop));
            let mut run = pin!(ex.run_until(main.future()));
            assert!(poll_with(&mut run, &hooked.waker()).is_pending());
            main.finish();
            assert!(poll_with(&mut run, &hooked.waker()).is_ready());
            assert!(hooked.is_done());
        }),
    ]);
}

#[test]
fn the_waker_of_a_host_that_is_woken_for_leftover_work() {
    let ex = Rc::new(Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap());
    let tools = Tools::new(&ex);
    for _ in 0..2 {
        drop(ex.spawn(yield_now()));
    }
    let hooked = uses_all_at(&ex, WakerCall::Wake);
    assert!(poll_with(&mut pin!(ex.run_until(pending::<()>())), &hooked.waker()).is_pending());
    assert!(hooked.is_done());
    tools.assert_after(&ex);
}

#[test]
fn the_current_executor_is_found_again_after_a_nested_one_was_dropped() {
    let outer = untimed();
    let task = outer.spawn(async {
        let inner = untimed();
        inner.spawn(hold(OnDrop::new(|| {
            assert!(output(spawn_local(async {})).unwrap_err().is_refused(), "this is the inner one's");
        })));
        settle(&inner);
        drop(inner);
        spawn_local(async { 3 }).await.unwrap()
    });
    assert_eq!(outer.block_on(task).unwrap(), 3);
}
