//! Awaits that are ready at once, one after the other: they let others run, as tokio's do. (With tokio's own resources: see
//! `with_tokio/coop`.)

use std::cell::Cell;
use std::rc::Rc;

use clockworker::{Executor, JoinHandle, JoinSet, Queue, spawn_local, yield_now};

use crate::support::*;

/// More than there may be in a poll.
const MANY: usize = 1_000;

/// What is ready at once each time it is awaited.
#[derive(Clone, Copy, Debug)]
enum What {
    JoinHandles,
    JoinSet,
    Room,
    Drained,
    Runs,
}

const ALL: [What; 5] = [What::JoinHandles, What::JoinSet, What::Room, What::Drained, What::Runs];

async fn finished() -> Vec<JoinHandle<()>> {
    let tasks: Vec<_> = (0..MANY).map(|_| spawn_local(async {})).collect();
    while !tasks.iter().all(JoinHandle::is_finished) {
        yield_now().await;
    }
    tasks
}

impl What {
    /// How many are ready before a task is polled that is ready by now.
    async fn before_another(self, other: Queue, idle: Executor) -> usize {
        let handles = if let What::JoinHandles = self { finished().await } else { Vec::new() };
        let (mut handles, mut set) = (handles.into_iter(), JoinSet::new());
        if let What::JoinSet = self {
            (0..MANY).for_each(|_| _ = set.spawn_local(async {}));
            yields(MANY as u32).await;
        }
        let is_polled = Rc::new(Cell::new(false));
        let polled = Rc::clone(&is_polled);
        drop(other.spawn(async move { polled.set(true) }));
        let mut ready = 0;
        while !is_polled.get() && ready < MANY {
            match self {
                What::JoinHandles => handles.next().unwrap().await.unwrap(),
                What::JoinSet => set.join_next().await.unwrap().unwrap(),
                What::Room => drop(idle.default_queue().spawn_when_room(async {}).await.unwrap()),
                What::Drained => idle.drained().await,
                What::Runs => idle.run_until(async {}).await,
            }
            ready += 1;
        }
        ready
    }
}

/// The 129th waits until others were polled, and is ready then.
#[test]
fn another_task_is_polled_by_the_129th() {
    for what in ALL {
        let before = |ex: &Executor| what.before_another(ex.default_queue().clone(), untimed());
        let ex = untimed();
        assert_eq!(ex.block_on(ex.spawn(before(&ex))).unwrap(), 129, "{what:?} in a task");
        let ex = untimed();
        assert_eq!(ex.block_on(before(&ex)), 129, "{what:?} in a run");
        let (ex, inner) = (untimed(), untimed());
        let nested = before(&inner);
        let nested = ex.spawn(async move { inner.run_until(nested).await });
        assert_eq!(ex.block_on(nested).unwrap(), 129, "{what:?} in a run inside a task of another executor");
    }
}

#[test]
fn a_poll_has_as_many_whatever_polls_before_it_had() {
    let ex = untimed();
    let polls = ex.block_on(async {
        let mut tasks = finished().await.into_iter();
        let before = ex.stats().polls;
        let task = spawn_local(async move {
            for _ in 0..9 {
                for _ in 0..100 {
                    tasks.next().unwrap().await.unwrap();
                }
                yield_now().await;
            }
        });
        task.await.unwrap();
        ex.stats().polls - before
    });
    assert_eq!(polls, 10);
}

/// Outside of the executor's polls a handle that is finished is ready.
#[test]
fn outside_of_polls_there_is_no_end() {
    let ex = untimed();
    let tasks: Vec<_> = (0..MANY).map(|_| ex.spawn(async {})).collect();
    settle(&ex);
    assert!(tasks.into_iter().all(|task| output(task).is_ok()));
}
