//! From wakers, when they are cloned, woken and dropped: of whoever awaits a task, of the host, of whoever waits for the last
//! task.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, ready};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use clockworker::{Executor, JoinSet, ManualClock, yield_now};

use super::tools::Tools;

use crate::support::{
    WakerCall, HookedWaker, OnDrop, Probe, assert_finished, hold, output, poll_once, settle, settle_run, untimed,
};

const DEEDS: [WakerCall; 3] = [WakerCall::Clone, WakerCall::Wake, WakerCall::Drop];

/// A waker that uses everything, once, and the executor and tools that it uses.
fn world(at: WakerCall) -> (Rc<Executor>, Rc<Tools>, HookedWaker) {
    let ex = Rc::new(untimed());
    let tools = Tools::new(&ex);
    let hooked = HookedWaker::new(at, {
        let (tools, ex) = (Rc::clone(&tools), Rc::downgrade(&ex));
        move || {
            let ex = ex.upgrade().expect("it is not dropped before");
            let _entered = ex.enter();
            tools.use_all(true);
        }
    });
    (ex, tools, hooked)
}

#[test]
fn of_a_join_handle() {
    for at in DEEDS {
        let (ex, tools, hooked) = world(at);
        let mut task = ex.spawn(async {
            yield_now().await;
            8
        });
        let waker = hooked.waker();
        assert!(pin!(&mut task).poll(&mut Context::from_waker(&waker)).is_pending());
        settle(&ex);
        assert!(hooked.is_done(), "{at:?}");
        assert_eq!(output(task).unwrap(), 8);
        tools.assert_after(&ex);
    }
}

/// The aborted task is in the woken list when its joiner is told, and what that does takes it out.
#[test]
fn of_a_join_handle_whose_task_is_woken_by_its_own_end() {
    let (ex, tools, hooked) = world(WakerCall::Wake);
    let probe = Probe::new();
    let (inner, woken) = (probe.future(), Rc::clone(&probe));
    let wakes_itself = OnDrop::new(move || woken.waker().wake());
    let mut task = ex.spawn(async move {
        let _wakes_itself = wakes_itself;
        inner.await
    });
    settle(&ex);
    let waker = hooked.waker();
    assert!(pin!(&mut task).poll(&mut Context::from_waker(&waker)).is_pending());
    task.abort();
    settle(&ex);
    assert!(hooked.is_done());
    assert!(output(task).unwrap_err().is_cancelled());
    tools.assert_after(&ex);
}

#[test]
fn of_a_join_handle_that_is_dropped_or_awaited_by_another() {
    for replaced in [false, true] {
        let (ex, tools, hooked) = world(WakerCall::Drop);
        let mut task = ex.spawn(pending::<()>());
        let waker = hooked.waker();
        assert!(pin!(&mut task).poll(&mut Context::from_waker(&waker)).is_pending());
        if replaced {
            assert!(poll_once(&mut task).is_pending());
        } else {
            drop(task);
        }
        assert!(hooked.is_done());
        tools.assert_after(&ex);
    }
}

#[test]
fn of_a_task_that_awaits_a_set() {
    for at in DEEDS {
        let (ex, tools, hooked) = world(at);
        let mut set = JoinSet::new();
        set.spawn_local_on(async { 8 }, &*ex);
        let waker = hooked.waker();
        assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
        settle(&ex);
        assert!(hooked.is_done(), "{at:?}");
        assert_eq!(set.try_join_next().unwrap().unwrap(), 8);
        tools.assert_after(&ex);
    }
}

/// The set goes while its first member tells it of its end, and with it the members.
#[test]
fn of_a_task_that_awaits_a_set_and_drops_it() {
    let ex = untimed();
    let probe = Probe::new();
    let set = Rc::new(RefCell::new(Some(JoinSet::new())));
    let hooked = HookedWaker::new(WakerCall::Wake, {
        let set = Rc::clone(&set);
        move || drop(set.take())
    });
    if let Some(set) = &mut *set.borrow_mut() {
        set.spawn_local_on(ready(1), &ex);
        set.spawn_local_on(probe.future(), &ex);
        let waker = hooked.waker();
        assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    }
    settle(&ex);
    assert!(hooked.is_done() && set.borrow().is_none());
    assert_finished(&ex.stats(), 1, 1, 0);
}

#[test]
fn of_a_host_that_sleeps() {
    for at in DEEDS {
        let (ex, tools, hooked) = world(at);
        let waker = hooked.waker();
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        // It may have to be polled again after what it did.
        for _ in 0..3 {
            assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        if at != WakerCall::Drop {
            // Wakes it, outside of a poll.
            drop(ex.spawn(async {}));
        }
        // Another host takes over: the first one's waker goes.
        assert!(poll_once(&mut run).is_pending());
        drop(run);
        assert!(hooked.is_done(), "{at:?}");
        tools.assert_after(&ex);
    }
}

/// What a host's waker gives the executor to do while it is registered, which is when the executor has nothing else to do,
/// is done: the executor does not sleep on it.
#[test]
fn of_a_host_that_is_about_to_sleep() {
    for (at, deed) in [WakerCall::Clone, WakerCall::Drop].into_iter().flat_map(|at| (0..5).map(move |deed| (at, deed)))
    {
        let ex = Rc::new(untimed());
        let (probe, main) = (Probe::new(), Probe::new());
        let done = Arc::new(AtomicUsize::new(0));
        let does = Arc::clone(&done);
        let does = move || {
            does.fetch_add(1, Ordering::Relaxed);
        };
        let _task = ex.spawn(probe.future());
        let aborted = ex.spawn(hold(OnDrop::new(does.clone())));
        let mut run = Box::pin(ex.run_until(main.future()));
        assert!(settle_run(run.as_mut()).is_none());
        let hooked = {
            let (ex, probe, main) = (Rc::clone(&ex), Rc::clone(&probe), Rc::clone(&main));
            HookedWaker::new(at, move || match deed {
                0 => probe.waker().wake(),
                1 => main.waker().wake(),
                2 => drop(ex.spawn(async move { does() })),
                3 => drop(ex.handle().spawn(move || async move { does() })),
                _ => aborted.abort(),
            })
        };
        let waker = hooked.waker();
        let mut cx = [Context::from_waker(&waker), Context::from_waker(Waker::noop())].into_iter();
        // The second host takes the first one's place, whose waker is dropped.
        assert!(run.as_mut().poll(&mut cx.next().unwrap()).is_pending());
        if at == WakerCall::Drop {
            assert!(run.as_mut().poll(&mut cx.next().unwrap()).is_pending());
        }
        assert!(hooked.is_done(), "{at:?}");
        let seen = (probe.polls.get(), main.polls.get(), done.load(Ordering::Relaxed));
        let expected = [(2, 1, 0), (1, 2, 0), (1, 1, 1), (1, 1, 1), (1, 1, 1)];
        assert_eq!(seen, expected[deed], "{at:?}, {deed}");
    }
}

#[test]
fn of_a_host_whose_run_is_over() {
    for done in [false, true] {
        let (ex, tools, hooked) = world(WakerCall::Drop);
        let runs = Rc::new(Cell::new(false));
        let again = {
            let (ex, runs) = (Rc::clone(&ex), Rc::clone(&runs));
            HookedWaker::new(WakerCall::Drop, move || {
                ex.block_on(async {});
                runs.set(true);
            })
        };
        for hooked in [&hooked, &again] {
            let main = Probe::new();
            let waker = hooked.waker();
            let mut run = Box::pin(ex.run_until(main.future()));
            assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            if done {
                main.finish();
                assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
            } else {
                drop(run);
            }
            assert!(hooked.is_done(), "done: {done}");
        }
        assert!(runs.get());
        tools.assert_after(&ex);
    }
}

#[test]
fn of_a_host_that_is_woken_for_leftover_work() {
    let ex = Rc::new(Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap());
    let tools = Tools::new(&ex);
    let hooked = HookedWaker::new(WakerCall::Wake, {
        let tools = Rc::clone(&tools);
        move || tools.use_all(true)
    });
    for _ in 0..2 {
        drop(ex.spawn(yield_now()));
    }
    let waker = hooked.waker();
    assert!(pin!(ex.run_until(pending::<()>())).poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(hooked.is_done());
    tools.assert_after(&ex);
}

#[test]
fn of_somebody_who_waits_for_the_last_task() {
    for at in DEEDS {
        let (ex, tools, hooked) = world(at);
        let waker = hooked.waker();
        {
            let mut drained = pin!(ex.drained());
            assert!(drained.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            if at == WakerCall::Wake {
                // All tasks end.
                drop(tools.joined.take());
                tools.probe.finish();
                tools.victim.abort();
                tools.detached.borrow().as_ref().expect("it waits").abort();
                settle(&ex);
            }
        }
        assert!(hooked.is_done(), "{at:?}");
        tools.assert_after(&ex);
    }
}

/// While its waker is registered, so that nobody would wake it afterwards.
#[test]
fn of_somebody_who_waits_for_the_last_task_and_ends_it() {
    for at in [WakerCall::Clone, WakerCall::Drop] {
        let ex = Rc::new(untimed());
        let probe = Probe::new();
        drop(ex.spawn(probe.future()));
        settle(&ex);
        let hooked = HookedWaker::new(at, {
            let (ex, probe) = (Rc::clone(&ex), Rc::clone(&probe));
            move || {
                probe.finish();
                settle(&ex);
            }
        });
        let waker = hooked.waker();
        let mut drained = pin!(ex.drained());
        let mut polled = drained.as_mut().poll(&mut Context::from_waker(&waker));
        if at == WakerCall::Drop {
            // Another waker takes the place of the first.
            assert!(polled.is_pending());
            polled = poll_once(&mut drained);
        }
        assert!(polled.is_ready() && hooked.is_done(), "{at:?}");
    }
}
