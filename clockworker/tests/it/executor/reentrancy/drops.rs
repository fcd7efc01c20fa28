//! From destructors: of futures, of outputs, of the future being run, and of the executor.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::thread;

use clockworker::{JoinHandle, spawn_local, yield_now};

use super::tools::{Tools, on_drop};

use crate::support::{
    OnDrop, Probe, assert_balanced, assert_finished, hold, output, settle, settle_run, tick, untimed,
};

#[test]
fn a_future_dropped_on_completion_may_use_everything() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let guard = on_drop(&tools, true);
    let mut guard = Some(guard);
    ex.spawn(poll_fn(move |_| {
        let _captured = &mut guard;
        Poll::Ready(())
    }));
    settle(&ex);
    tools.assert_after(&ex);
}

#[test]
fn a_future_dropped_by_an_abort_may_use_everything() {
    for woken in [false, true] {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        let probe = Probe::new();
        let (inner, guard) = (probe.future(), on_drop(&tools, true));
        let task = ex.spawn(async move {
            let _guard = guard;
            inner.await
        });
        settle(&ex);
        if woken {
            probe.waker().wake();
        }
        task.abort();
        tick(&ex);
        tools.assert_after(&ex);
    }
}

#[test]
fn a_future_dropped_by_an_abort_during_another_tasks_poll_may_use_everything() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let task = tools.queue.spawn(hold(on_drop(&tools, true)));
    settle(&ex);
    // Runs between this task's poll and its being put back.
    let aborter = ex.spawn(async move {
        task.abort();
        yield_now().await;
        task.abort();
        pending::<()>().await;
    });
    settle(&ex);
    tools.assert_after(&ex);
    aborter.abort();
    settle(&ex);
    assert_balanced(&ex.stats());
}

#[test]
fn an_output_that_nobody_reads_may_use_everything_in_its_drop() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let guard = on_drop(&tools, true);
    drop(ex.spawn(async move { guard }));
    settle(&ex);
    tools.assert_after(&ex);
}

#[test]
fn an_output_dropped_with_its_handle_may_use_everything() {
    for inside in [false, true] {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        let guard = on_drop(&tools, true);
        let task = ex.spawn(async move { guard });
        settle(&ex);
        if inside {
            ex.block_on(async { drop(task) });
        } else {
            // Outside a run there is nothing to spawn beside.
            ex.block_on(async {
                spawn_local(async move { drop(task) }).await.unwrap();
            });
        }
        tools.assert_after(&ex);
    }
}

#[test]
fn the_future_being_run_may_use_everything_in_its_drop() {
    for polls in [0, 1] {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        let mut run = Box::pin(ex.run_until(hold(on_drop(&tools, true))));
        if polls > 0 {
            assert!(settle_run(run.as_mut()).is_none());
        }
        drop(run);
        tools.assert_after(&ex);
    }
}

#[test]
fn the_output_of_the_future_being_run_is_the_callers() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let queue = tools.queue.clone();
    let guard = OnDrop::new(move || drop(queue.spawn(async {})));
    drop(ex.block_on(async { guard }));
    settle(&ex);
    assert_balanced(&ex.stats());
}

#[test]
fn futures_dropped_with_the_executor_may_use_everything_and_are_refused() {
    for parked in [false, true] {
        let ex = Rc::new(untimed());
        let tools = Tools::new(&ex);
        let first = ex.spawn(hold(on_drop(&tools, false)));
        let second = tools.queue.group(3).spawn(hold(()));
        if parked {
            settle(&ex);
        }
        drop(Rc::into_inner(ex).expect("the only one"));
        assert_eq!((tools.uses.get(), tools.victim_drops.drops.get(), tools.probe.drops.get()), (1, 1, 1));
        assert!(output(first).unwrap_err().is_cancelled());
        assert!(output(second).unwrap_err().is_cancelled());
        assert!(tools.joined.take().is_none_or(|joined| output(joined).unwrap_err().is_cancelled()));
    }
}

#[test]
fn futures_cancelled_by_a_shutdown_may_use_everything_and_are_refused() {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let task = ex.spawn(hold(on_drop(&tools, false)));
    settle(&ex);
    let report = ex.block_on_shutdown(async {});
    assert_eq!((report.cancelled, report.drained), (4, false));
    assert_eq!(tools.uses.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_balanced(&ex.stats());
    assert_eq!(ex.stats().live, 0);
}

#[test]
fn spawning_in_the_drop_of_a_future_of_a_dropped_executor_ends() {
    // Each future spawns another one like it when it goes. That is refused inside the drop of the one before, so each is
    // deeper in the stack: by some 2.4 KiB in a debug build, which with some layouts is more than a test's 2 MiB in all.
    const FUTURES: u32 = 1_000;
    const STACK: usize = 8 << 20;
    fn respawn(depth: Rc<Cell<u32>>, spawned: Rc<RefCell<Vec<JoinHandle<()>>>>) -> impl Future<Output = ()> {
        hold(OnDrop::new(move || {
            depth.set(depth.get() + 1);
            if depth.get() < FUTURES {
                let again = respawn(Rc::clone(&depth), Rc::clone(&spawned));
                let task = spawn_local(again);
                spawned.borrow_mut().push(task);
            }
        }))
    }
    let test = || {
        let (depth, spawned) = (Rc::default(), Rc::default());
        let ex = untimed();
        ex.spawn(respawn(Rc::clone(&depth), Rc::clone(&spawned)));
        settle(&ex);
        drop(ex);
        assert_eq!(depth.get(), FUTURES, "what is refused is dropped at once, and that is all");
        let refused = spawned.take().into_iter().all(|task| output(task).unwrap_err().is_refused());
        assert!(refused);
    };
    thread::Builder::new().stack_size(STACK).spawn(test).unwrap().join().unwrap();
}

#[test]
fn a_current_executor_is_found_again_after_a_nested_one_was_dropped_inside() {
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
    settle(&outer);
    assert_eq!(output(task).unwrap(), 3);
    assert_finished(&outer.stats(), 2, 0, 0);
}
