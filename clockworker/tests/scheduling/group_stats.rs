//! What groups count, and aborts of all tasks of a group or a queue.

use std::future::pending;
use std::time::Duration;

use clockworker::schedulers::{Attributes, Las, Qlas, RunnableFifo, Scheduler, Share, WokenFirst};
use clockworker::{Executor, GroupStats, JoinHandle, Queue, yield_now};

use crate::support::*;

fn with_queue<S: Scheduler + 'static>(scheduler: S) -> (Executor, Queue) {
    let ex = world();
    let queue = ex.new_queue("tested").scheduler(scheduler).create().unwrap();
    (ex, queue)
}

/// Ready, live, spawned, completed, cancelled and panicked.
fn tasks(stats: &GroupStats) -> [u64; 6] {
    let GroupStats { ready, live, spawned, completed, cancelled, panicked, .. } = *stats;
    assert_eq!(spawned, completed + cancelled + panicked + live);
    [ready as u64, live, spawned, completed, cancelled, panicked]
}

fn service(stats: &GroupStats) -> (u64, Duration) {
    (stats.polls.unwrap(), stats.busy.unwrap())
}

#[test]
fn each_group_has_its_own_account_and_tasks_without_a_group_are_in_none() {
    let (ex, queue) = with_queue(Las::new());
    let groups = [queue.group(10), queue.new_group(20).weight(3).open().unwrap()];
    groups[0].spawn(polls("", 3, us(7)));
    groups[0].spawn(polls("", 1, us(2)));
    groups[1].spawn(polls("", 2, us(30)));
    queue.spawn(polls("", 1, us(1)));
    let begun = queue.group_stats();
    assert_eq!(begun.iter().map(tasks).collect::<Vec<_>>(), [[2, 2, 2, 0, 0, 0], [1, 1, 1, 0, 0, 0]]);
    drain(&ex);
    let ended = [groups[0].stats(), groups[1].stats()];
    assert_eq!(queue.group_stats(), ended);
    assert_eq!(ended.each_ref().map(tasks), [[0, 0, 2, 2, 0, 0], [0, 0, 1, 1, 0, 0]]);
    assert_eq!(ended.each_ref().map(service), [(4, us(23)), (2, us(60))]);
    assert_eq!(ended.each_ref().map(|stats| stats.key), [10, 20]);
    assert_eq!(ended[1].attributes, Attributes::new().with_weight(Share::new(3).unwrap()));
    assert_eq!((queue.stats().polls, queue.stats().busy), (7, us(84)));
    drop(groups);
    assert_eq!(queue.group_stats(), []);
    assert_eq!(tasks(&queue.group(10).stats()), [0; 6], "it was forgotten");
}

#[test]
fn where_the_scheduler_needs_no_service_polls_and_time_are_unknown() {
    let known = |(_ex, queue): (Executor, Queue)| {
        let stats = queue.group(1).stats();
        assert_eq!(stats.polls.is_some(), stats.busy.is_some());
        stats.polls.is_some()
    };
    assert!(known(with_queue(Las::new())) && known(with_queue(Qlas::new())));
    assert!(!known(with_queue(WokenFirst::new())) && !known(with_queue(RunnableFifo::new())));
}

#[test]
fn every_end_is_counted_whenever_it_comes() {
    let (ex, queue) = with_queue(Las::new());
    let (group, ends) = (queue.group(1), [Signal::new(), Signal::new()]);
    let waits = |end: &Signal| {
        let end = end.clone();
        group.spawn(async move { end.wait().await })
    };
    let ([finishes, woken], parked) = (ends.each_ref().map(waits), group.spawn(pending::<()>()));
    drain(&ex);
    let fresh = group.spawn(pending::<()>());
    ends.iter().for_each(Signal::set);
    [&woken, &parked, &fresh].into_iter().for_each(|task| task.abort());
    assert_eq!(tasks(&group.stats()), [3, 4, 4, 0, 0, 0], "aborts are still to be admitted");
    drain(&ex);
    assert_eq!(tasks(&group.stats()), [0, 0, 4, 1, 3, 0]);
    finishes.abort();
    drain(&ex);
    assert_eq!(tasks(&group.stats()), [0, 0, 4, 1, 3, 0], "it had finished");
    let panics: JoinHandle<()> = group.spawn(async { std::panic::resume_unwind(Box::new("meant")) });
    assert!(ex.block_on(panics).unwrap_err().is_panic());
    assert_eq!(tasks(&group.stats()), [0, 0, 5, 1, 3, 1]);
}

#[test]
fn a_drop_of_an_aborted_future_is_its_groups_time_and_no_poll() {
    let (ex, queue) = with_queue(Las::new());
    let group = queue.group(1);
    let task = group.spawn(hold(OnDrop::new(|| work(us(40)))));
    drain(&ex);
    task.abort();
    drain(&ex);
    assert_eq!(service(&group.stats()), (1, us(40)));
}

#[test]
fn after_the_end_of_the_executor_handles_show_how_tasks_ended() {
    for drop_it in [false, true] {
        let (ex, queue) = with_queue(Las::new());
        let groups = [queue.group(1), queue.group(2)];
        let parked = groups[0].spawn(pending::<()>());
        groups[0].spawn(pending::<()>());
        drain(&ex);
        groups[1].spawn(pending::<()>());
        parked.abort();
        match drop_it {
            true => drop(ex),
            false => drop(ex.block_on_shutdown(async {})),
        }
        let ended = groups.each_ref().map(|group| tasks(&group.stats()));
        assert_eq!(ended, [[0, 0, 2, 0, 2, 0], [0, 0, 1, 0, 1, 0]], "dropped: {drop_it}");
        assert_eq!(queue.group(1).stats(), groups[0].stats());
        // A handle from before lets go of its own group, not of one that was opened since.
        let later = queue.group(3);
        drop(groups);
        assert_eq!(queue.group_stats().iter().map(|group| group.key).collect::<Vec<_>>(), [3]);
        drop(later);
        assert_eq!(queue.group_stats(), []);
    }
}

/// Tasks that wait, by group: two of group 1, three of group 2, one of none.
fn waiting(queue: &Queue) -> Vec<JoinHandle<()>> {
    let spawn = |group| match group {
        0 => queue.spawn(pending()),
        group => queue.group(group).spawn(pending()),
    };
    [1, 1, 2, 2, 2, 0].map(spawn).into()
}

#[test]
fn all_tasks_of_a_group_are_aborted_and_no_others() {
    for parked in [false, true] {
        let (ex, queue) = with_queue(Las::new());
        let tasks = waiting(&queue);
        if parked {
            drain(&ex);
        }
        let group = queue.group(2);
        assert_eq!(group.abort_all(), 3);
        drain(&ex);
        let finished: Vec<bool> = tasks.iter().map(|task| task.is_finished()).collect();
        assert_eq!(finished, [false, false, true, true, true, false]);
        assert_eq!((group.abort_all(), queue.group(1).abort_all(), queue.group(9).abort_all()), (0, 2, 0));
        drain(&ex);
        assert_eq!((queue.stats().live, queue.stats().cancelled), (1, 5));
        assert_eq!(run(&ex, group.spawn(async { 3 })).unwrap(), 3, "the group goes on");
    }
}

#[test]
fn all_tasks_of_a_queue_are_aborted_but_the_one_that_says_so() {
    let (ex, queue) = with_queue(Las::new());
    let other = ex.spawn(pending::<()>());
    let tasks = waiting(&queue);
    let own = queue.clone();
    let aborter = queue.group(1).spawn(async move {
        let aborted = own.abort_all();
        yield_now().await;
        aborted
    });
    assert_eq!(run(&ex, aborter).unwrap(), 6);
    drain(&ex);
    assert!(tasks.iter().all(|task| task.is_finished()) && !other.is_finished());
    assert_eq!((queue.stats().live, queue.stats().ready), (0, 0));
}
