//! What only Clockworker's tasks can wait for.

use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use clockworker::{JoinSet, move_to, yield_now};

use super::clockworker::{Clockworker, Join};
use super::event::{Event, spawning};
use super::interpreter::{Run, Waiting};
use super::op::{Rest, Script, TaskName, Thread, Wait};
use super::task::{Output, TaskFuture};
use crate::panics::drop_contained;

/// How the task `by` waits.
pub(super) fn waiting(run: &Run<Clockworker>, by: TaskName, wait: &Wait) -> Option<Waiting> {
    Some(match *wait {
        Wait::Thread => Box::pin(for_thread(run, by.is_multiple_of(4))),
        Wait::Room(slot, ref script) => Box::pin(spawn_when_room(run, slot, script)?),
        Wait::Set { first, tasks, awaited, rest } => {
            let tasks = first..first.saturating_add(tasks.into());
            Box::pin(await_some(collect(run, tasks), awaited, rest))
        }
        Wait::Moved(slot) => {
            let (queue, _) = run.queue(slot).or_else(|| run.queue(0))?;
            let (queue, trace) = (run.subject.queue(queue), run.trace.clone());
            run.subject.note_moves();
            Box::pin(async move {
                trace.note(Event::Moves(by));
                _ = move_to(&queue).await;
            })
        }
        Wait::Retired(slot, yields) => {
            let queue = run.subject.queue(run.closing(slot)?);
            Box::pin(async move {
                queue.retire(yield_often(yields)).await;
            })
        }
    })
}

async fn yield_often(times: u8) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// Waits for another thread, which is asked at the first poll and ends the wait by one wake. If `disturbed`, the task is woken
/// before for nothing.
pub(super) fn for_thread(run: &Run<Clockworker>, disturbed: bool) -> impl Future<Output = ()> + use<> {
    let (weak, open) = (Rc::downgrade(run), Arc::new(AtomicBool::new(false)));
    let mut is_asked = false;
    poll_fn(move |cx| {
        if is_asked {
            return if open.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending };
        }
        is_asked = true;
        let (open, waker) = (Arc::clone(&open), cx.waker().clone());
        if let Some(run) = weak.upgrade() {
            run.subject.threads.have(move || {
                if disturbed {
                    waker.wake_by_ref();
                }
                // Ordering: Relaxed on purpose: it is the wake that has to publish this.
                open.store(true, Ordering::Relaxed);
                waker.wake();
            });
        }
        Poll::Pending
    })
}

fn spawn_when_room(
    run: &Run<Clockworker>,
    slot: u8,
    script: &Arc<Script>,
) -> Option<impl Future<Output = ()> + use<>> {
    let (task, (queue, _), weak) = (script.name, run.queue(slot)?, Rc::downgrade(run));
    let mut future = TaskFuture::new(run, script, queue);
    future.in_line = true;
    let mut room = run.subject.queue(queue).spawn_when_room(future);
    Some(async move {
        // It counts as spawned when it no longer waits.
        let spawned = poll_fn(|cx| spawning(task, || Pin::new(&mut room).poll(cx))).await;
        let Some(run) = weak.upgrade() else { return };
        if let Ok(join) = spawned {
            run.trace.note(Event::Spawned(task, Some(queue), Thread::Owner));
            run.keep_handle(task, run.subject.keep_abort(task, join));
        }
    })
}

/// Those that were spawned here: a set aborts in the order of ids, and what ids another thread gives depends on the process.
fn collect(run: &Run<Clockworker>, tasks: Range<TaskName>) -> JoinSet<Output> {
    let here = tasks.filter(|of| !run.subject.foreign.borrow().contains(of));
    here.filter_map(|of| run.take_handle(of)).map(|Join(handle)| handle).collect()
}

/// Awaits some of them, and lets the rest go in one way or another.
async fn await_some(mut set: JoinSet<Output>, awaited: u8, rest: Rest) {
    for _ in 0..awaited {
        match set.join_next().await {
            Some(result) => drop_contained(result),
            None => break,
        };
    }
    match rest {
        Rest::Detached => set.detach_all(),
        Rest::Aborted => {
            // As `shutdown`, which would pass the panic of an output's drop on.
            set.abort_all();
            while let Some(result) = set.join_next().await {
                drop_contained(result);
            }
        }
        Rest::Dropped => drop(set),
    }
}
