//! The lookout's thread: one for all, while any executor is watched. Each test is alone in a process of its own.

use std::fs;
use std::thread;

use super::*;
use crate::support::*;

/// Threads of this process that look for stalls.
fn lookouts() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    // The kernel keeps 15 characters. A thread may end meanwhile.
    let names = threads.filter_map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim_end() == "clockworker-sta").count()
}

/// The name is set by the thread itself, once it runs.
fn wait_for_lookouts(count: usize) {
    while lookouts() != count {
        thread::yield_now();
    }
}

#[test]
fn several_executors_on_several_threads_share_one_thread() {
    in_child(|| {
        assert_eq!(lookouts(), 0);
        thread::scope(|scope| {
            let _here = watched(MS);
            let elsewhere = scope.spawn(|| {
                let (ex, guard, reports) = watched(MS);
                let stall = guilty_main(&ex, &reports);
                wait_for_lookouts(1);
                assert_eq!(stall.thread, None);
                drop(guard);
            });
            elsewhere.join().unwrap();
            wait_for_lookouts(1);
        });
        // `_here` was the last.
        assert_eq!(lookouts(), 0, "the last guard waits for the thread's end");
    });
}

#[test]
fn the_thread_ends_with_the_last_executor_and_begins_again() {
    in_child(|| {
        for _ in 0..100 {
            let ex = Executor::new();
            let guard = StallDetector::new(MS).watch(&ex).unwrap();
            drop(ex);
            // It finds out by itself.
            wait_for_lookouts(0);
            let (ex, other, reports) = watched(MS);
            guilty_main(&ex, &reports);
            drop((other, guard));
            assert_eq!(lookouts(), 0);
        }
    });
}

/// Watches begin and end on several threads at once, so that one thread ends while the next begins.
#[test]
fn watches_come_and_go_on_all_threads() {
    in_child(|| {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let (ex, guard, reports) = watched(MS);
                        guilty_main(&ex, &reports);
                        drop(guard);
                    }
                });
            }
        });
        assert_eq!(lookouts(), 0);
    });
}

#[test]
fn reports_go_to_standard_error_if_asked_for() {
    let said = in_child(|| {
        let (ex, (sender, reports)) = (Executor::new(), channel());
        let _guard = detector(MS, &sender).to_stderr().watch(&ex).unwrap();
        guilty_main(&ex, &reports);
    });
    let Some(said) = said else { return };
    assert!(said.contains("clockworker: a poll of the main future has taken "), "{said}");
    assert!(said.contains("\n  its stack: perf record -g -t "), "{said}");
}
