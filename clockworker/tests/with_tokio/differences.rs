//! What differs from tokio's `LocalSet` as `docs/MIGRATION.md` says, by tokio's types and by ours: each test has both.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use clockworker::Executor;
use clockworker::compat;
use tokio::sync::mpsc;
use tokio::task::coop::has_budget_remaining;

use crate::support::{caught, current_thread};

/// Polls a future once.
async fn once<F: Future>(future: F) -> Poll<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// Uses up what the poll under way has of tokio's budget.
async fn spend_budget() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    (0..1_000).for_each(|message| sender.send(message).unwrap());
    poll_fn(|cx| {
        while receiver.poll_recv(cx).is_ready() {}
        Poll::Ready(())
    })
    .await;
    assert!(!has_budget_remaining());
}

#[test]
fn tokios_own_tasks_have_an_id_of_tokios_only() {
    let program = async {
        let theirs = tokio::spawn(async { tokio::task::try_id().is_some() });
        assert!(theirs.await.unwrap());
        let none = tokio::spawn(async { compat::try_id() });
        assert_eq!(none.await.unwrap(), None);
        let asks = tokio::spawn(async { compat::id() });
        assert!(asks.await.unwrap_err().is_panic());
        // And the other way round: tokio's is that of the task that the set is run in, of which `block_on` is none.
        compat::spawn_local(async { tokio::task::try_id() }).await.unwrap()
    };
    assert_eq!(compat::LocalSet::new().block_on(&current_thread(), program), None);
}

/// Both: also of a task that has spent it.
#[test]
fn a_poll_begins_with_budget() {
    async fn spends_it_over_and_over() -> bool {
        let mut always = true;
        for _ in 0..10 {
            always &= has_budget_remaining();
            spend_budget().await;
            tokio::task::yield_now().await;
        }
        always
    }
    let rt = current_thread();
    let theirs = tokio::task::LocalSet::new();
    let tasks = [(); 3].map(|()| theirs.spawn_local(spends_it_over_and_over()));
    assert_eq!(theirs.block_on(&rt, futures::future::try_join_all(tasks)).unwrap(), [true; 3]);
    let ours = compat::LocalSet::new();
    let tasks = [(); 3].map(|()| ours.spawn_local(spends_it_over_and_over()));
    assert_eq!(ours.block_on(&rt, futures::future::try_join_all(tasks)).unwrap(), [true; 3]);
}

#[test]
fn what_a_run_spends_is_not_the_hosts() {
    let left = |theirs: bool| async move {
        // In a poll of its own.
        tokio::task::yield_now().await;
        if theirs {
            tokio::task::LocalSet::new().run_until(spend_budget()).await;
        } else {
            compat::LocalSet::new().run_until(spend_budget()).await;
        }
        has_budget_remaining()
    };
    let rt = current_thread();
    assert_eq!((rt.block_on(left(true)), rt.block_on(left(false))), (false, true));
}

#[test]
fn a_join_handle_uses_none_of_it() {
    let rt = current_thread();
    let theirs = tokio::task::LocalSet::new();
    let polled = theirs.run_until(async {
        let task = tokio::task::spawn_local(async {});
        tokio::task::yield_now().await;
        assert!(task.is_finished());
        spend_budget().await;
        once(task).await.is_ready()
    });
    assert!(!rt.block_on(polled), "tokio's waits for budget");
    let ours = compat::LocalSet::new();
    let polled = ours.run_until(async {
        let task = compat::spawn_local(async {});
        compat::yield_now().await;
        assert!(task.is_finished());
        spend_budget().await;
        once(task).await.is_ready()
    });
    assert!(rt.block_on(polled));
}

/// One inside another: a runtime's `block_on` panics, and so does ours where it would stop a runtime; else it runs.
#[test]
fn executors_may_be_nested() {
    let rt = current_thread();
    let nested = |inner: fn() -> u32| move || caught(inner).ok();
    let of_tokio = nested(|| tokio::task::LocalSet::new().block_on(&current_thread(), async { 1 }));
    let of_ours = nested(|| Executor::new().block_on(async { 1 }));
    // In tokio, neither; awaited, either.
    let outer = compat::LocalSet::new();
    let (theirs, ours, awaited) = outer.block_on(&rt, async {
        let inner = Executor::new();
        let task = inner.spawn(async { 1 });
        (of_tokio(), of_ours(), inner.run_until(task).await.unwrap())
    });
    assert_eq!((theirs, ours, awaited), (None, None, 1));
    // Outside tokio ours runs.
    let outer = Executor::new();
    let task = outer.spawn(async move { of_ours() });
    assert_eq!(outer.block_on(task).unwrap(), Some(1));
}
