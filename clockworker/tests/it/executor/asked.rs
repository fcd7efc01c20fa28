//! What other threads ask of an executor.

use std::future::{Future, pending};
use std::pin::pin;
use std::task::{Context, Poll};
use std::thread;

use clockworker::{Executor, ExecutorStats, GoneError, Handle};
use futures::FutureExt;
use futures::executor::block_on;

use crate::support::{CountingWaker, untimed};

/// Asks from another thread, while the executor runs until it has answered.
fn ask(ex: &Executor) -> ExecutorStats {
    let handle = ex.handle();
    let (tell, told) = futures::channel::oneshot::channel();
    let asking = thread::spawn(move || tell.send(block_on(handle.stats())).is_ok());
    let stats = ex.block_on(told).unwrap().unwrap();
    assert!(asking.join().unwrap());
    stats
}

/// The counts that a question could change.
fn counts(stats: &ExecutorStats) -> [u64; 8] {
    let ExecutorStats { polls, slices, spawned, completed, cancelled, panicked, refused, .. } = *stats;
    [polls, slices, spawned, completed, cancelled, panicked, refused, stats.live as u64]
}

#[test]
fn the_answer_is_what_the_executor_says_and_is_counted_nowhere() {
    let ex = Executor::new();
    ex.new_queue("other").create().unwrap().spawn(pending::<()>());
    ex.spawn(async {});
    ex.block_on(clockworker::yield_now());
    let before = ex.stats();
    let answer = ask(&ex);
    assert_eq!(counts(&answer), counts(&before));
    assert_eq!(answer.queues, before.queues);
    assert_eq!(counts(&ex.stats()), counts(&before));
    assert_eq!(ask(&ex).queues, before.queues);
}

#[test]
fn a_task_may_ask_its_own_executor() {
    let ex = Executor::new();
    let handle = ex.handle();
    let stats = ex.block_on(ex.spawn(async move { handle.stats().await })).unwrap().unwrap();
    assert_eq!((stats.live, stats.spawned, stats.polls), (1, 1, 1));
}

#[test]
fn a_question_wakes_a_sleeping_host_and_the_next_turn_answers_it() {
    let ex = untimed();
    let (woken, host) = CountingWaker::new();
    let mut run = pin!(ex.run_until(pending::<()>()));
    let mut cx = Context::from_waker(&host);
    assert_eq!(run.as_mut().poll(&mut cx), Poll::Pending);
    let handle = ex.handle();
    let mut asked = pin!(handle.stats());
    assert!(asked.as_mut().now_or_never().is_none());
    assert_eq!(woken.count(), 1);
    assert_eq!(run.as_mut().poll(&mut cx), Poll::Pending);
    assert_eq!(woken.count(), 1);
    assert_eq!(asked.as_mut().now_or_never().unwrap().unwrap().host_polls, 2);
}

#[test]
fn a_question_that_is_given_up_changes_nothing() {
    let ex = Executor::new();
    let handle = ex.handle();
    assert!(handle.stats().now_or_never().is_none());
    ex.block_on(clockworker::yield_now());
    assert_eq!(counts(&ex.stats()), [0; 8]);
}

#[test]
fn a_shut_down_executor_answers_in_its_next_run() {
    let ex = Executor::new();
    ex.spawn(async {});
    ex.block_on_shutdown(pending::<()>());
    assert_eq!(ask(&ex).completed, 1);
    assert_eq!(ex.stats().refused, 0);
}

#[test]
fn a_question_to_one_that_is_dropped_meanwhile_is_answered_or_refused() {
    let ex = Executor::new();
    let handle = ex.handle();
    let mut asked = pin!(handle.stats());
    assert!(asked.as_mut().now_or_never().is_none());
    drop(ex);
    // The last look of an executor at its inbox is when it is dropped.
    assert!(asked.as_mut().now_or_never().expect("it waits for nothing").is_ok());
    let error = block_on(handle.stats()).unwrap_err();
    assert!(error.is_dropped() && !error.is_forked());
    assert_eq!(error.to_string(), "the executor gives no answer: it was dropped");
}

#[test]
fn a_guard_of_another_executor_does_not_mislead_it() {
    let (ex, other) = (Executor::new(), Executor::new());
    other.spawn(pending::<()>());
    let handle = ex.handle();
    let guard = other.enter();
    let stats = ex.block_on(async { handle.stats().await }).unwrap();
    assert_eq!(stats.live, 0);
    drop(guard);
}

#[test]
fn many_threads_may_ask_at_once() {
    let ex = Executor::new();
    let (tell, mut told) = futures::channel::mpsc::unbounded();
    for _ in 0..8 {
        let (handle, tell) = (ex.handle(), tell.clone());
        thread::spawn(move || {
            for _ in 0..100 {
                tell.unbounded_send(block_on(handle.stats()).is_ok()).unwrap();
            }
        });
    }
    drop(tell);
    let answers = ex.block_on(async {
        let mut answers = 0;
        while let Some(is_answered) = futures::StreamExt::next(&mut told).await {
            assert!(is_answered);
            answers += 1;
        }
        answers
    });
    assert_eq!((answers, ex.stats().spawned), (800, 0));
}

fn assert_send<T: Send>(_: T) {}

#[test]
fn the_question_may_go_to_another_thread() {
    fn of(handle: &Handle) -> impl Future<Output = Result<ExecutorStats, GoneError>> + '_ {
        handle.stats()
    }
    let ex = Executor::new();
    assert_send(ex.handle().stats());
    drop(of(&ex.handle()));
}
