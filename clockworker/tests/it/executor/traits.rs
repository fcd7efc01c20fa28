//! Which types may cross threads, at compile time.

use std::cell::Cell;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::Waker;

use clockworker::{
    AbortHandle, BuildError, EnterGuard, Executor, ExecutorStats, Group, GroupBuilder, GroupError,
    GroupStats, Handle, Id, JoinError, JoinHandle, JoinSet, ManualClock, PolicyFault, Queue, QueueBuilder,
    QueueError, QueueStats, RemoteTaskBuilder, RunUntil, ShutdownReport, SpawnWhenRoom, Step, TaskBuilder,
    TrySpawnError, YieldNow, yield_now,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::support::OnDrop;

// A join handle goes where its output may go.
assert_impl_all!(JoinHandle<u32>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug);
assert_impl_all!(JoinHandle<Cell<u32>>: Send, Sync);
assert_not_impl_any!(JoinHandle<Rc<u32>>: Send, Sync);
assert_not_impl_any!(JoinHandle<*mut u32>: Send, Sync);
assert_not_impl_any!(JoinHandle<std::sync::MutexGuard<'static, u32>>: Send, Sync);
assert_impl_all!(JoinHandle<Rc<u32>>: Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(JoinHandle<std::marker::PhantomPinned>: Unpin);
assert_impl_all!(JoinHandle<&'static mut Cell<u32>>: UnwindSafe, RefUnwindSafe);
// Two awaiters of one output there cannot be.
assert_not_impl_any!(JoinHandle<u32>: Clone);

// And a set of them where theirs may.
assert_impl_all!(JoinSet<u32>: Send, Sync, Unpin, Debug, Default);
assert_impl_all!(JoinSet<Cell<u32>>: Send, Sync, Unpin);
assert_impl_all!(JoinSet<Rc<u32>>: Unpin);
assert_not_impl_any!(JoinSet<Rc<u32>>: Send, Sync);

// For every thread.
assert_impl_all!(Handle: Send, Sync, Clone, Unpin, Debug);
assert_impl_all!(AbortHandle: Send, Sync, Clone, Unpin, UnwindSafe, RefUnwindSafe, Debug);
assert_impl_all!(JoinError: Send, Sync, Error, Display, Debug, Unpin, UnwindSafe, RefUnwindSafe, Into<std::io::Error>);
assert_impl_all!(Id: Send, Sync, Copy, Hash, Ord, Debug, Display, UnwindSafe);
assert_impl_all!(Waker: Send, Sync);
assert_impl_all!(BuildError: Send, Sync, Error, Clone, PartialEq, UnwindSafe);
assert_impl_all!(QueueError: Send, Sync, Error, Clone, PartialEq, UnwindSafe);
assert_impl_all!(TrySpawnError<Cell<u32>>: Send, Error, Display, Debug, Unpin);
assert_impl_all!(TrySpawnError<Rc<u32>>: Error, Debug);
assert_impl_all!(GroupError: Send, Sync, Error, Clone, PartialEq, UnwindSafe);
assert_impl_all!(RemoteTaskBuilder<'static>: Send, Sync, Clone, Debug);
assert_impl_all!(PolicyFault: Send, Sync, Error, Copy, Hash);
assert_impl_all!(ExecutorStats: Send, Sync, Clone, PartialEq);
assert_impl_all!(QueueStats: Send, Sync, Clone, PartialEq);
assert_impl_all!(GroupStats: Send, Sync, Clone, PartialEq);
assert_impl_all!(ShutdownReport: Send, Sync, Copy, PartialEq, Display);
assert_impl_all!(Step: Send, Sync, Copy, PartialEq, Debug);
assert_impl_all!(ManualClock: Send, Sync, Clone, Debug);
assert_impl_all!(YieldNow: Send, Sync, Unpin);

// For the owner's thread.
assert_not_impl_any!(Executor: Send, Sync);
assert_not_impl_any!(Queue: Send, Sync);
assert_not_impl_any!(Group: Send, Sync);
assert_not_impl_any!(QueueBuilder<'static>: Send, Sync);
assert_not_impl_any!(GroupBuilder<'static>: Send, Sync);
assert_not_impl_any!(TaskBuilder: Send, Sync);
assert_not_impl_any!(RunUntil<'static, std::future::Ready<()>>: Send, Sync);
assert_not_impl_any!(SpawnWhenRoom<std::future::Ready<()>>: Send, Sync);
assert_impl_all!(SpawnWhenRoom<std::marker::PhantomPinned>: Unpin, Debug);
assert_not_impl_any!(EnterGuard: Send, Sync);
assert_impl_all!(Executor: Debug, Default);
assert_impl_all!(Queue: Clone, Debug);
assert_impl_all!(Group: Clone, Debug);
assert_impl_all!(TaskBuilder: Clone, Debug);

#[cfg(feature = "tokio")]
mod compat {
    use clockworker::compat::{LocalSet, RunUntil};

    use super::*;

    assert_not_impl_any!(LocalSet: Send, Sync);
    assert_impl_all!(LocalSet: Unpin, Debug, Default, Future<Output = ()>);
    assert_not_impl_any!(RunUntil<'static, std::future::Ready<()>>: Send, Sync);

    /// What tokio's set of the same tasks gives for `Send` and `Sync`.
    #[test]
    fn the_futures_of_a_join_set_go_where_its_outputs_may() {
        fn send<T: Send + Sync>(_: T) {}
        let mut set = JoinSet::<Cell<u32>>::new();
        send(set.join_next());
        send(set.shutdown());
    }
}

/// The futures of `run_until` are polled by hosts that want them `Unpin`, whatever is run.
#[test]
fn a_run_is_unpin_whatever_it_runs() {
    fn unpin<T: Unpin>(_: T) {}
    let ex = Executor::new();
    let pinned = std::marker::PhantomPinned;
    unpin(ex.run_until(async move {
        let _pinned = pinned;
        clockworker::yield_now().await;
    }));
}

#[test]
fn an_id_is_unlike_every_other_and_reads_as_a_number() {
    let ex = Executor::new();
    let mut ids: Vec<Id> = (0..5_000).map(|_| ex.spawn(async {}).id()).collect();
    let handle = ex.handle();
    let more = std::thread::spawn(move || Vec::from_iter((0..5_000).map(|_| handle.spawn(|| async {}).id())));
    ids.extend(more.join().unwrap());
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 10_000);
    assert!(ids[0].to_string().parse::<u64>().is_ok());
}

#[test]
fn an_id_shows_its_number() {
    let id = Executor::new().spawn(async {}).id();
    assert_eq!(format!("{id:?}"), format!("Id({id})"));
}

#[test]
fn a_task_is_current_again_after_it_dropped_what_another_left() {
    let ex = Executor::new();
    let (said, heard) = mpsc::channel();
    let left = ex.spawn(async { OnDrop::new(move || said.send(Id::current()).unwrap()) });
    let other = left.id();
    let task = ex.spawn(async {
        yield_now().await;
        drop(left);
        Id::current()
    });
    let id = task.id();
    assert_eq!(ex.block_on(task).unwrap(), Some(id));
    assert_eq!(heard.recv().unwrap(), Some(other));
}

#[test]
fn handles_show_their_task() {
    let ex = Executor::new();
    let (place, task) = (std::panic::Location::caller(), ex.spawn(async {}));
    let id = task.id();
    let abort = task.abort_handle();
    assert_eq!(abort.id(), id);
    let shown = |finished: bool| match cfg!(feature = "observe") {
        false => format!("{{ id: {id:?}, finished: {finished} }}"),
        true => format!("{{ id: {id:?}, finished: {finished}, location: {}:{}:", place.file(), place.line()),
    };
    let assert_shows = |shown: String, expected: String| assert!(shown.starts_with(&expected), "{shown}");
    assert_shows(format!("{task:?}"), format!("JoinHandle {}", shown(false)));
    assert_shows(format!("{abort:?}"), format!("AbortHandle {}", shown(false)));
    ex.block_on(task).unwrap();
    assert_shows(format!("{abort:?}"), format!("AbortHandle {}", shown(true)));
}
