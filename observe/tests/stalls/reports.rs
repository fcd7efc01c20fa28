//! What is reported, and what is not.

use std::hint::spin_loop;
use std::panic::{catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clockworker::yield_now;

use super::*;
use crate::support::*;

/// How long this thread has been ready without a CPU, as far as the kernel has counted.
#[cfg(target_os = "linux")]
fn counted_off_cpu() -> Option<Duration> {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(counted.split(' ').nth(1)?.parse().ok()?))
}

/// It computes by the time of the report, so that its thread is ready. On a machine that lets the lookout sleep all the while, half a
/// threshold is not known.
#[test]
#[cfg(target_os = "linux")]
fn what_a_poll_sleeps_before_it_computes_is_no_wait_for_a_cpu() {
    const THRESHOLD: Duration = Duration::from_millis(400);
    let Some(before) = counted_off_cpu() else { return };
    let (ex, _guard, reports) = watched(THRESHOLD);
    let task = ex.spawn(async move {
        reports.recv_timeout(380 * MS).unwrap_err();
        loop {
            match reports.try_recv() {
                Ok(stall) => return (stall, counted_off_cpu()),
                Err(_) => spin_loop(),
            }
        }
    });
    let (stall, after) = ex.block_on(task).unwrap();
    let counted = after.unwrap() - before;
    let off_cpu = stall.off_cpu.unwrap();
    assert!(off_cpu <= counted + THRESHOLD / 2 + 20 * MS, "{off_cpu:?}, counted {counted:?}: {stall}");
}

/// Computes until told to end.
fn guilty_of_spinning(ended: &AtomicBool) {
    while !ended.load(Ordering::Relaxed) {
        spin_loop();
    }
}

/// One poll of more than 50 ms gives one report at a threshold of 5 ms: it ends only once that at 50 ms was made.
#[test]
fn a_long_poll_gives_one_report_with_all_that_is_known() {
    let (ex, guard, reports) = watched(5 * MS);
    let ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&ended);
    let queue = ex.new_queue("tenants").create().unwrap();
    let ends = StallDetector::new(50 * MS).on_stall(move |_| end.store(true, Ordering::Relaxed));
    let last = ends.watch(&ex).unwrap();
    let (line, task) = (line!(), queue.group(7).spawn(async move { guilty_of_spinning(&ended) }));
    let id = task.id();
    ex.block_on(task).unwrap();
    drop(last);
    let stats = guard.stats();
    drop(guard);
    let all: Vec<Stall> = reports.try_iter().collect();
    assert_eq!((stats.seen, stats.reported, stats.suppressed), (all.len() as u64, all.len() as u64, 0));
    // On a slow machine a poll of the main future may be reported as well.
    let stalls: Vec<&Stall> = all.iter().filter(|stall| stall.holder.kind != PollKind::Main).collect();
    let [stall] = stalls[..] else { panic!("{stalls:#?}") };
    assert_eq!((stall.holder.kind, stall.holder.queue.as_deref()), (PollKind::Task, Some("tenants")));
    assert_eq!((stall.holder.group, stall.holder.task), (Some(7), Some(id)));
    assert_eq!(stall.holder.spawned_at.map(|place| (place.file(), place.line())), Some((file!(), line)));
    assert!(stall.so_far >= 5 * MS && stall.threshold == 5 * MS, "{stall}");
    let text = stall.to_string();
    let place = format!("\n  queue 'tenants', group 7, task {id}, spawned at {}:{line}:", file!());
    assert!(text.starts_with("a poll has taken ") && text.contains(&place), "{text}");
    assert_eq!(stall.thread_id.is_some(), cfg!(target_os = "linux"));
    let counts = std::path::Path::new("/proc/thread-self/schedstat").exists();
    let cpu = stall.on_cpu.zip(stall.off_cpu);
    assert!(cpu.is_some() == counts && cpu.is_none_or(|(on, off)| on + off <= stall.so_far), "{stall}");
}

/// Panics so many frames down, each of which has something to drop.
fn unwind(frames: u32) {
    let _drops = OnDrop::new(|| {});
    if frames == 0 {
        resume_unwind(Box::new(()));
    }
    unwind(frames - 1);
}

/// The reports come while the poll unwinds, again and again.
#[test]
fn a_poll_that_unwinds_is_reported_like_any_other() {
    let (ex, guard, reports) = watched(MS);
    let task = ex.spawn(async move {
        let mut told = 0;
        while told < 300 {
            while reports.try_recv().is_err() {
                catch_unwind(|| unwind(10)).unwrap_err();
            }
            told += 1;
            yield_now().await;
        }
    });
    ex.block_on(task).unwrap();
    assert!(guard.stats().reported >= 300);
}

/// Polls of a millisecond, back to back. On a machine that stops in one of them that one is long, and may be reported.
#[test]
fn a_thousand_polls_of_a_millisecond_give_none() {
    let (ex, guard, _told) = watched(5 * MS);
    let task = ex.spawn(async {
        let mut long = 0;
        for _ in 0..1_000 {
            long += u64::from(compute_for(MS) >= 5 * MS);
            yield_now().await;
        }
        long
    });
    let long = ex.block_on(task).unwrap();
    let seen = guard.stats().seen;
    assert!(seen <= long, "{seen} stalls, of {long} polls that were long");
}

/// How long it really took, from before the poll does anything to after.
#[allow(clippy::disallowed_methods, reason = "what a poll took is what decides whether it may be reported")]
fn compute_for(time: Duration) -> Duration {
    let began = Instant::now();
    while began.elapsed() < time {
        spin_loop();
    }
    began.elapsed()
}

#[test]
fn a_poll_of_the_main_future_is_in_no_queue() {
    let (ex, guard, reports) = watched(MS);
    let holder = guilty_main(&ex, &reports).holder;
    assert_eq!((holder.queue, holder.group, holder.task, holder.spawned_at), (None, None, None, None));
    assert!(guard.stats().reported >= 1);
}

#[test]
fn the_drop_of_an_aborted_task_is_watched() {
    let (ex, _guard, reports) = watched(MS);
    let task = ex.spawn(hold(OnDrop::new(move || {
        let stall = guilty(PollKind::Drop, &reports);
        note(stall.holder.queue.as_deref().unwrap());
    })));
    ex.block_on(yield_now());
    task.abort();
    assert!(ex.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(trace(), "default");
}

#[test]
fn each_queue_is_reported_by_its_own_name() {
    let (ex, _guard, reports) = watched(MS);
    let reports = Rc::new(reports);
    for name in ["one", "two"] {
        let (queue, reports) = (ex.new_queue(name).create().unwrap(), Rc::clone(&reports));
        let stall = ex.block_on(queue.spawn(async move { guilty(PollKind::Task, &reports) })).unwrap();
        assert_eq!(stall.holder.queue.as_deref(), Some(name));
    }
}

/// The name is the one that the queue has when its task is polled.
#[test]
fn a_renamed_queue_is_reported_by_its_new_name() {
    let (ex, _guard, reports) = watched(MS);
    let queue = ex.new_queue("old").create().unwrap();
    let renamed = queue.clone();
    let task = queue.spawn(async move {
        let first = guilty(PollKind::Task, &reports);
        renamed.rename("new").unwrap();
        yield_now().await;
        (first, guilty(PollKind::Task, &reports))
    });
    let (first, second) = ex.block_on(task).unwrap();
    assert_eq!((first.holder.queue.as_deref(), second.holder.queue.as_deref()), (Some("old"), Some("new")));
}

/// A name is shown of whom it belongs to, and not of the task after it.
#[test]
fn tasks_and_groups_are_reported_by_their_names() {
    let (ex, _guard, reports) = watched(MS);
    let (queue, reports) = (ex.default_queue(), Rc::new(reports));
    let stall = || {
        let reports = Rc::clone(&reports);
        async move { guilty(PollKind::Task, &reports) }
    };
    let group = queue.new_group(7).name("acme").open().unwrap();
    let both = queue.new_task().name("export").spawn(stall());
    let tasks = [both, group.spawn(stall()), queue.spawn(stall())];
    let stalls = tasks.map(|task| ex.block_on(task).unwrap());
    let holders = stalls.each_ref().map(|stall| &stall.holder);
    let names = holders.map(|holder| (holder.task_name.as_deref(), holder.group_name.as_deref()));
    assert_eq!(names, [(Some("export"), None), (None, Some("acme")), (None, None)]);
    let texts = stalls.each_ref().map(ToString::to_string);
    assert!(
        texts[0].contains(&format!(", task {} 'export', ", stalls[0].holder.task.unwrap())),
        "{}",
        texts[0]
    );
    assert!(texts[1].contains(", group 7 'acme', task "), "{}", texts[1]);
}

/// Both executors stand still, and each says so.
#[test]
fn an_executor_inside_a_task_of_another_stalls_both() {
    let (outer, _outer_guard, reports_outer) = watched(MS);
    let (inner, _inner_guard, reports_inner) = watched(MS);
    let task = outer.spawn(async move {
        let outer_id = Id::current().unwrap();
        let task = inner.spawn(async move {
            let stall = guilty(PollKind::Task, &reports_inner);
            // That of the outer task is reported as well, and this is one poll of it.
            let outer_id = reports_outer.iter().find(|stall| stall.holder.task == Some(outer_id));
            (stall.holder.task, outer_id.and_then(|stall| stall.holder.task))
        });
        let id = task.id();
        (id, inner.run_until(task).await.unwrap())
    });
    let id = task.id();
    let (inner_id, reports) = outer.block_on(task).unwrap();
    assert_eq!(reports, (Some(inner_id), Some(id)));
}
