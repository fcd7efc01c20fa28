//! tokio's cooperative budget between the executor, its host and the future being run. (Between tasks: see `coop`.)

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use clockworker::{Executor, ManualClock};
use tokio::sync::mpsc;

use super::coop::{drain, full_channel, on_each_host, patient, patient_on};
use crate::support::{Signal, counts_polls, current_thread, multi_thread};

/// The executor renews the budget itself: no turn of the host is needed, and a poll per budget.
#[test]
fn a_budget_used_up_needs_no_turn_of_the_host() {
    const MESSAGES: usize = 127 * 50;
    let ex = patient();
    let mut receiver = full_channel(MESSAGES);
    let drainer = ex.spawn(async move {
        for _ in 0..MESSAGES {
            receiver.recv().await.unwrap();
        }
    });
    current_thread().block_on(ex.run_until(drainer)).unwrap();
    let stats = ex.stats();
    // One unit of 128 keeps the others.
    assert_eq!((stats.polls, stats.host_polls, stats.host_yields), (50, 1, 0), "{stats:?}");
}

/// What the tasks use up is not taken from the task that polls the executor.
#[test]
fn the_host_keeps_its_budget() {
    /// How many units are left to the caller.
    async fn left() -> usize {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (0..1_000).for_each(|i| sender.send(i).unwrap());
        let mut left = 0;
        poll_fn(|cx| {
            while receiver.poll_recv(cx).is_ready() {
                left += 1;
            }
            Poll::Ready(())
        })
        .await;
        left
    }
    current_thread().block_on(async {
        // In a poll of its own, since the measuring spends it.
        tokio::task::yield_now().await;
        let before = left().await;
        tokio::task::yield_now().await;
        let ex = patient();
        let drainer = ex.spawn(drain(full_channel(1_000), Rc::default()));
        let mut run = pin!(ex.run_until(std::future::pending::<()>()));
        let polled = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await;
        assert!(polled.is_pending() && drainer.is_finished());
        assert_eq!(left().await, before);
    });
}

/// As with tokio's `LocalSet`, whose runs use the budget of the task that awaits them.
#[test]
fn runs_that_are_ready_at_once_let_the_hosts_other_tasks_run() {
    current_thread().block_on(async {
        let ex = patient();
        let is_polled = tokio::spawn(async {});
        let mut runs = 0;
        while !is_polled.is_finished() && runs < 1_000 {
            ex.run_until(async {}).await;
            runs += 1;
        }
        assert_eq!(runs, 129);
    });
}

/// The host's task has spent all of its budget before it polls the executor, so that there is none to renew.
#[test]
fn a_host_without_budget_gets_the_thread_back_after_one_poll() {
    current_thread().block_on(async {
        // Polls take no time, so that the clock is seldom read.
        let ex = patient_on(&ManualClock::new());
        let (signals, hops) = ([Signal::new(), Signal::new()], Rc::new(Cell::new(1_000_i32)));
        for (own, other) in [(0, 1), (1, 0)] {
            let (own, other, hops) = (signals[own].clone(), signals[other].clone(), Rc::clone(&hops));
            ex.spawn(async move {
                loop {
                    own.wait().await;
                    if hops.replace(hops.get() - 1) > 0 {
                        other.set();
                    }
                }
            });
        }
        signals[0].set();
        let mut receiver = full_channel(1_000);
        let mut run = pin!(ex.run_until(std::future::pending::<()>()));
        let [before, after] = poll_fn(|cx| {
            assert!(run.as_mut().poll(cx).is_pending(), "both wait");
            while receiver.poll_recv(cx).is_ready() {}
            hops.set(1_000);
            signals[0].set();
            let before = ex.stats();
            assert!(run.as_mut().poll(cx).is_pending());
            Poll::Ready([before, ex.stats()])
        })
        .await;
        // The other was woken in that poll, and is ready.
        assert_eq!(after.polls - before.polls, 1, "{after:?}");
        assert_eq!(after.host_yields - before.host_yields, 1, "{after:?}");
    });
}

/// The future given to `run_until` is cut short too, and takes turns with the tasks then.
#[test]
fn a_main_future_that_drains_a_full_channel_does_not_stall_the_tasks() {
    const MESSAGES: usize = 127 * 50;
    on_each_host(|ex| async move {
        let polls = Rc::new(Cell::new(0));
        let yielder = ex.spawn(counts_polls(Rc::clone(&polls)));
        let mut receiver = full_channel(MESSAGES);
        for _ in 0..MESSAGES {
            receiver.recv().await.unwrap();
        }
        // One poll at least each time the budget is spent.
        assert!(polls.get() >= MESSAGES / 128, "{} polls", polls.get());
        yielder.abort();
    });
}

/// A foreign `block_on` inside one poll of a task of tokio's has no other budget than that poll.
#[test]
fn runs_that_another_block_on_polls_end_however_many_there_are() {
    let runs = |rt: tokio::runtime::Runtime| {
        rt.block_on(async {
            let ex = Executor::new();
            (0..1_000).map(|i| futures::executor::block_on(ex.run_until(async move { i }))).sum::<u32>()
        })
    };
    assert_eq!([runs(current_thread()), runs(multi_thread())], [499_500; 2]);
}

/// The same in `block_on` of the executor's own, where tokio allows that.
#[test]
fn block_on_inside_a_task_of_tokios_ends_however_often() {
    let rt = multi_thread();
    let task = rt.spawn(async {
        tokio::task::block_in_place(|| {
            let ex = Executor::new();
            (0..1_000).map(|i| ex.block_on(async move { i })).sum::<u32>()
        })
    });
    assert_eq!(rt.block_on(task).unwrap(), 499_500);
}
