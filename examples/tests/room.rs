//! Threads that spawn as fast as they can hold no more tasks than there is room for.

#![forbid(unsafe_code)]

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clockworker::Executor;
use clockworker_examples::room::{Permit, Room};
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::join_all;
use tokio::sync::TryAcquireError;

const MOST: usize = 100;
const THREADS: usize = 4;
const EACH: usize = 20_000;

/// How many tasks there are, from the spawn to the drop of the future; and the most there were.
#[derive(Default)]
struct Count {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct Counted(Arc<Count>);

impl Counted {
    fn new(count: &Arc<Count>) -> Self {
        let now = count.now.fetch_add(1, Ordering::SeqCst) + 1;
        count.most.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

fn spawn(permit: Permit, count: &Arc<Count>) {
    let counted = Counted::new(count);
    drop(permit.spawn(move || async move {
        clockworker::yield_now().await;
        drop(counted);
    }));
}

#[test]
fn threads_that_flood_a_blocked_executor_hold_what_there_is_room_for() {
    let ex = Executor::new();
    ex.new_queue("work").create().unwrap();
    let room = Room::new(ex.handle(), "work", MOST);
    let count = Arc::new(Count::default());
    let flood = |then_wait: bool| {
        let (room, count) = (room.clone(), Arc::clone(&count));
        thread::spawn(move || {
            for number in 0..EACH {
                match room.try_reserve() {
                    Ok(permit) => spawn(permit, &count),
                    Err(_) if !then_wait => return number,
                    Err(error) => {
                        assert_eq!(error, TryAcquireError::NoPermits);
                        spawn(block_on(room.reserve()).unwrap(), &count);
                    }
                }
            }
            EACH
        })
    };
    // The executor does not run.
    let threads: Vec<_> = (0..THREADS).map(|_| flood(false)).collect();
    let spawned: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((spawned, count.now.load(Ordering::SeqCst)), (MOST, MOST));
    // Now it does, when it is not in a poll that blocks.
    let threads: Vec<_> = (0..THREADS).map(|_| flood(true)).collect();
    let end = thread::spawn(move || {
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), EACH))
    });
    ex.block_on(async {
        while !end.is_finished() {
            clockworker::yield_now().await;
        }
        ex.drained().await;
    });
    end.join().unwrap();
    assert_eq!(ex.stats().completed, (MOST + THREADS * EACH) as u64);
    assert_eq!((count.now.load(Ordering::SeqCst), count.most.load(Ordering::SeqCst)), (0, MOST));
}

#[test]
fn rooms_are_given_in_the_order_asked_and_come_back() {
    let ex = Executor::new();
    ex.new_queue("work").create().unwrap();
    let room = Room::new(ex.handle(), "work", 1);
    let permit = room.try_reserve().unwrap();
    let mut waits = [0, 1, 2].map(|_| Box::pin(room.reserve()));
    assert!(waits.iter_mut().all(|wait| wait.now_or_never().is_none()));
    let [first, given_up, last] = &mut waits;
    drop(permit);
    assert!(last.now_or_never().is_none(), "it is the first one's");
    let permit = first.now_or_never().unwrap().unwrap();
    *given_up = Box::pin(room.reserve());
    let task = permit.spawn(pending::<()>);
    assert!(last.now_or_never().is_none());
    task.abort();
    ex.block_on(task).unwrap_err();
    // Also of a task that never came in, and of one that was refused.
    drop(last.now_or_never().unwrap().unwrap().spawn(|| async {}));
    ex.block_on(ex.drained());
    assert!(room.try_reserve().is_ok());
}

#[test]
fn who_waits_is_told_that_the_queue_was_closed() {
    let ex = Executor::new();
    let queue = ex.new_queue("work").create().unwrap();
    let room = Room::new(ex.handle(), "work", 1);
    let held = room.try_reserve().unwrap().spawn(pending::<()>);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let room = room.clone();
            thread::spawn(move || block_on(room.reserve()).is_err())
        })
        .collect();
    let report = ex.block_on(async {
        clockworker::yield_now().await;
        queue.drain(std::future::ready(())).await
    });
    assert_eq!((report.cancelled, report.drained), (1, false));
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    assert!(block_on(held).unwrap_err().is_cancelled());
    assert_eq!(room.try_reserve().unwrap_err(), TryAcquireError::Closed);
    assert!(block_on(join_all([room.reserve(), room.reserve()])).iter().all(Result::is_err));
}
