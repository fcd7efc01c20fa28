//! What other threads ask of an executor.

use std::future::pending;
use std::pin::pin;
use std::thread;

use clockworker::{Executor, ExecutorStats};
use futures::FutureExt;
use futures::executor::block_on;

use crate::support::{CountingWaker, elsewhere, poll_with, serve, untimed};

/// Asks from another thread, while the executor runs until it has answered.
fn ask(ex: &Executor) -> ExecutorStats {
    let handle = ex.handle();
    serve(ex, move || block_on(handle.stats()).unwrap())
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
    assert!(poll_with(&mut run, &host).is_pending());
    let handle = ex.handle();
    let mut asked = pin!(handle.stats());
    assert!(asked.as_mut().now_or_never().is_none());
    assert_eq!(woken.count(), 1);
    assert!(poll_with(&mut run, &host).is_pending());
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
    let handle = ex.handle();
    let answers = serve(&ex, move || {
        let ask = || (0..100).filter(|_| block_on(handle.stats()).is_ok()).count();
        thread::scope(|scope| {
            let asking = [(); 8].map(|()| scope.spawn(ask));
            asking.map(|thread| thread.join().unwrap()).iter().sum::<usize>()
        })
    });
    assert_eq!((answers, ex.stats().spawned), (800, 0));
}

#[test]
fn the_question_may_go_to_another_thread() {
    let handle = Executor::new().handle();
    let asked = handle.stats();
    assert!(elsewhere(|| block_on(asked)).is_err());
}
