//! Where tasks were spawned, by each way to spawn.

use std::fmt::Debug;
use std::panic::Location;

use clockworker::{Executor, JoinSet, new_task, spawn_local};
use clockworker_observe::{EventKind, Observation, Observe};
use futures::FutureExt;

use super::{latency_of, observing};
use crate::support::*;

/// The place of the call of this, in the line that a spawn is in.
#[track_caller]
fn here() -> &'static Location<'static> {
    Location::caller()
}

/// The handle says that its task was spawned in that line of this file.
#[track_caller]
fn assert_at(place: &Location<'_>, handle: impl Debug) {
    let shown = format!("{handle:?}");
    let expected = format!("location: {}:{}:", place.file(), place.line());
    assert!(shown.contains(&expected), "{shown} does not say {expected}");
}

#[test]
fn of_tasks_of_executors_queues_and_groups_and_beside_the_calling_one() {
    let ex = Executor::new();
    let queue = ex.default_queue();
    let group = queue.group(7);
    assert_at(here(), ex.spawn(async {}));
    assert_at(here(), queue.spawn(async {}));
    assert_at(here(), queue.try_spawn(async {}).unwrap());
    assert_at(here(), queue.new_task().tag(1).spawn(async {}));
    assert_at(here(), group.spawn(async {}));
    assert_at(here(), group.try_spawn(async {}).unwrap());
    assert_at(here(), group.new_task().tag(1).spawn(async {}));
    assert_at(here(), ex.spawn(async {}).abort_handle());
    ex.block_on(async {
        assert_at(here(), spawn_local(async {}));
        assert_at(here(), new_task().spawn(async {}));
    });
}

#[test]
fn of_tasks_that_wait_for_room_is_where_they_begin_to_wait() {
    let ex = Executor::new();
    let queue = ex.new_queue("uploads").max_live(1).create().unwrap();
    let first = queue.spawn(async {});
    let (place, mut waiting) = (here(), queue.spawn_when_room(async {}));
    let (in_group, mut group_waiting) = (here(), queue.group(1).spawn_when_room(async {}));
    assert!((&mut waiting).now_or_never().is_none());
    ex.block_on(async {
        first.await.unwrap();
        assert_at(place, waiting.await.unwrap());
        assert_at(in_group, (&mut group_waiting).await.unwrap());
    });
}

#[test]
fn of_tasks_in_join_sets() {
    let ex = Executor::new();
    let mut set = JoinSet::new();
    assert_at(here(), set.spawn_local_on(async {}, &ex));
    assert_at(here(), set.spawn_local_on(async {}, ex.default_queue()));
    assert_at(here(), set.spawn_local_on(async {}, &ex.default_queue().group(1)));
    assert_at(here(), set.spawn_local_on(async {}, &ex.default_queue().new_task()));
    ex.block_on(async { assert_at(here(), set.spawn_local(async {})) });
}

#[test]
fn of_tasks_from_other_threads() {
    let ex = Executor::new();
    let handle = ex.handle();
    elsewhere(|| {
        assert_at(here(), handle.spawn(|| async {}));
        assert_at(here(), handle.spawn_on("default", || async {}));
        assert_at(here(), handle.spawn_in("default", 7, || async {}));
        assert_at(here(), handle.new_task().spawn(|| async {}));
        assert_at(here(), handle.new_task().tag(1).spawn(|| async {}));
    });
}

#[test]
fn of_refused_tasks() {
    let ex = Executor::new();
    let queue = ex.new_queue("closed").create().unwrap();
    queue.close();
    assert_at(here(), queue.spawn(async {}));
    assert_at(here(), ex.handle().spawn_on("closed", || async {}));
    let (queue, handle) = (ex.default_queue().clone(), ex.handle());
    drop(ex);
    assert_at(here(), queue.spawn(async {}));
    assert_at(here(), handle.spawn(|| async {}));
}

#[test]
fn of_tasks_of_a_local_set() {
    let set = clockworker::compat::LocalSet::new();
    assert_at(here(), set.spawn_local(async {}));
    let mut tasks = JoinSet::new();
    assert_at(here(), tasks.spawn_local_on(async {}, &set));
}

/// The lines in which the tasks of a timeline were spawned.
fn lines_of_spawns(ex: &Executor) -> Vec<u32> {
    let events = ex.timeline().events;
    let lines = events.into_iter().filter_map(|event| match event.kind {
        EventKind::Spawned { location, .. } => Some(location.line()),
        _ => None,
    });
    lines.collect()
}

#[test]
fn are_in_the_timeline_and_of_the_longest_poll() {
    let ex = observing(Observation::new().latency().timeline(1 << 16).every_poll());
    let (local, _) = (here(), ex.spawn(async { work(us(9)) }));
    let (remote, _) = (here(), ex.handle().spawn(|| async {}));
    ex.block_on(ex.drained());
    assert_eq!(lines_of_spawns(&ex), [local.line(), remote.line()]);
    let longest = latency_of(&ex, "default").longest_poll.unwrap();
    assert_eq!(longest.location.line(), local.line());
}
