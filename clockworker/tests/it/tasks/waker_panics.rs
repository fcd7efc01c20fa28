//! Wakers that panic: of those who wait for a task, and of hosts. (Those of hosts at other moments are in `faults`.)

use std::cell::Cell;
use std::future::{Future, pending};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

use clockworker::{Executor, Id, JoinError, JoinHandle, ManualClock};

use super::panics::assert_usable;
use crate::support::{
    OnDrop, Probe, assert_finished, in_child, output, panic_as_meant, poll_once, said, settle, settle_run,
    untimed,
};

/// A waker that panics where it is told to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Touchy {
    clone: bool,
    wake: bool,
    drop: bool,
}

thread_local! {
    static TOUCHED: Cell<(u32, u32, u32)> = const { Cell::new((0, 0, 0)) };
}

#[allow(unsafe_code, reason = "a waker that panics is made by hand")]
impl Touchy {
    /// Where the wakers' data pointers point.
    const ALL: &'static [Touchy] = &{
        let mut all = [Touchy { clone: false, wake: false, drop: false }; 8];
        let mut i = 0;
        while i < all.len() {
            all[i] = Touchy { clone: i & 1 > 0, wake: i & 2 > 0, drop: i & 4 > 0 };
            i += 1;
        }
        all
    };

    fn waker(self) -> Waker {
        static VTABLE: RawWakerVTable = RawWakerVTable::new(
            |data| {
                Touchy::of(data, |touchy, (clones, wakes, drops)| {
                    TOUCHED.set((clones + 1, wakes, drops));
                    if touchy.clone {
                        panic_as_meant("waker's clone");
                    }
                });
                RawWaker::new(data, &VTABLE)
            },
            |data| Touchy::wake(data, true),
            |data| Touchy::wake(data, false),
            Touchy::dropped,
        );
        let data = Touchy::ALL.iter().find(|&&touchy| touchy == self).expect("all are there");
        // SAFETY: the table's functions take the data for a `&'static Touchy`, which is what it is.
        unsafe { Waker::new(std::ptr::from_ref(data).cast(), &VTABLE) }
    }

    fn of(data: *const (), then: impl FnOnce(Touchy, (u32, u32, u32))) {
        // SAFETY: see `waker`.
        then(unsafe { *data.cast::<Touchy>() }, TOUCHED.get());
    }

    fn wake(data: *const (), consume: bool) {
        let then = OnDrop::new(|| {
            if consume {
                Touchy::dropped(data)
            }
        });
        Touchy::of(data, |touchy, (clones, wakes, drops)| {
            TOUCHED.set((clones, wakes + 1, drops));
            if touchy.wake {
                mem::forget(then);
                panic_as_meant("waker's wake");
            }
        });
    }

    fn dropped(data: *const ()) {
        Touchy::of(data, |touchy, (clones, wakes, drops)| {
            TOUCHED.set((clones, wakes, drops + 1));
            if touchy.drop {
                panic_as_meant("waker's drop");
            }
        });
    }
}

/// Polls a handle with a waker, which is then forgotten so that only the executor's clone is dropped.
fn poll_with<T>(task: &mut JoinHandle<T>, touchy: Touchy) -> Result<Poll<Result<T, JoinError>>, String> {
    let waker = mem::ManuallyDrop::new(touchy.waker());
    catch_unwind(AssertUnwindSafe(|| pin!(task).poll(&mut Context::from_waker(&waker)))).map_err(said)
}

#[test]
fn a_join_waker_that_panics_when_cloned_leaves_the_handle_usable() {
    let ex = untimed();
    let mut task = ex.spawn(async { 7 });
    let error = poll_with(&mut task, Touchy { clone: true, ..Touchy::default() }).unwrap_err();
    assert_eq!(error, "waker's clone");
    assert!(poll_once(&mut task).is_pending());
    settle(&ex);
    assert_eq!(output(task).unwrap(), 7);
    assert_usable(&ex);
}

#[test]
fn a_join_waker_that_panics_when_cloned_over_another_one_leaves_the_handle_usable() {
    let ex = untimed();
    let mut task = ex.spawn(async { 7 });
    assert!(poll_once(&mut task).is_pending());
    poll_with(&mut task, Touchy { clone: true, ..Touchy::default() }).unwrap_err();
    settle(&ex);
    assert_eq!(output(task).unwrap(), 7);
    assert_usable(&ex);
}

#[test]
fn a_join_waker_that_panics_when_woken_stops_nobody() {
    let ex = untimed();
    let mut task = ex.spawn(async { 7 });
    let bystander = ex.spawn(async { 8 });
    assert!(poll_with(&mut task, Touchy { wake: true, ..Touchy::default() }).unwrap().is_pending());
    TOUCHED.set((0, 0, 0));
    settle(&ex);
    assert_eq!(TOUCHED.get(), (0, 1, 1), "woken and dropped once");
    assert_eq!((output(task).unwrap(), output(bystander).unwrap()), (7, 8));
    assert_finished(&ex.stats(), 2, 0, 0);
    assert_usable(&ex);
}

#[test]
fn a_join_waker_that_panics_when_dropped_stops_nobody() {
    let touchy = Touchy { drop: true, ..Touchy::default() };
    let ex = untimed();
    // After being woken, replaced by another one, and with its handle.
    let (mut woken, mut replaced, mut detached) =
        (ex.spawn(async { 1 }), ex.spawn(async { 2 }), ex.spawn(async { 3 }));
    for task in [&mut woken, &mut replaced, &mut detached] {
        assert!(poll_with(task, touchy).unwrap().is_pending());
    }
    assert!(poll_once(&mut replaced).is_pending());
    drop(detached);
    settle(&ex);
    assert_eq!((output(woken).unwrap(), output(replaced).unwrap()), (1, 2));
    assert_finished(&ex.stats(), 3, 0, 0);
    assert_usable(&ex);
}

#[test]
fn a_join_waker_that_panics_when_woken_and_when_dropped_does_not_abort_the_process() {
    in_child(|| {
        let ex = untimed();
        let mut task = ex.spawn(async { 7 });
        let touchy = Touchy { wake: true, drop: true, ..Touchy::default() };
        assert!(poll_with(&mut task, touchy).unwrap().is_pending());
        settle(&ex);
        assert_eq!(output(task).unwrap(), 7);
        assert_usable(&ex);
    });
}

#[test]
fn a_join_waker_that_panics_during_executor_drop_stops_nothing() {
    let ex = untimed();
    let probe = Probe::new();
    let mut task = ex.spawn(pending::<()>());
    ex.spawn(probe.future());
    assert!(poll_with(&mut task, Touchy { wake: true, ..Touchy::default() }).unwrap().is_pending());
    settle(&ex);
    drop(ex);
    assert_eq!(probe.drops.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
}

#[test]
fn a_panic_of_a_host_waker_leaves_the_executor_usable() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic_as_meant("host's wake");
        }
    }
    let ex = untimed();
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    let waker = Waker::from(Arc::new(Panics));
    assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| ex.spawn(async { 1 }))).is_err());
    assert!(settle_run(run.as_mut()).is_none());
    drop(run);
    assert_eq!(ex.stats().live, 0);
    assert_usable(&ex);
}

#[test]
fn a_host_waker_that_panics_after_a_task_was_polled_leaves_no_task_current() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic_as_meant("host's wake");
        }
    }
    let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
    let tasks = [(); 2].map(|()| ex.spawn(async { Id::current() }));
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    let waker = Waker::from(Arc::new(Panics));
    let turn = || run.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(catch_unwind(AssertUnwindSafe(turn)).is_err(), "there is a task left, so it wakes its host");
    assert_eq!(Id::current(), None);
    drop(run);
    let ids = tasks.map(|task| Some(task.id()) == ex.block_on(task).unwrap());
    assert_eq!(ids, [true; 2]);
}
