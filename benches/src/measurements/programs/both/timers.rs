//! Sleeps and timeouts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until, timeout};

use super::support::{run, spawn_all, timed};
use super::task::{spawn_local, yield_now};
use crate::harness::Sample;
use crate::measurements::programs::{CPU_TIME, LATENCY, Setting, TIME_PER_POLL};
use crate::stopwatch::now;
use crate::workload::spin;

/// Tasks that always have work, and how long a poll of theirs takes.
const HOGS: usize = 4;
const POLL: Duration = Duration::from_micros(50);

/// By how much sleeps were too long.
type Lateness = RefCell<Vec<Option<Duration>>>;

/// Timers that go off every five milliseconds beside hogs: the hogs' time per poll, and how late the timers are.
pub(super) fn timers_beside_hogs(setting: &Setting) -> Sample {
    let (timers, window) = (setting.size(100, 5), setting.size(300, 20) as u64);
    run(async move {
        let (polls, lateness) = (Rc::new(Cell::new(0)), Rc::<Lateness>::default());
        (0..HOGS).for_each(|_| drop(spawn_local(hog(polls.clone()))));
        let start = now();
        (0..timers).for_each(|_| drop(spawn_local(tick(start, lateness.clone()))));
        sleep(Duration::from_millis(window)).await;
        let per_poll = (now() - start).as_nanos() as f64 / f64::from(polls.get());
        Sample::default().number(TIME_PER_POLL, per_poll).waits(LATENCY, lateness.take())
    })
}

async fn hog(polls: Rc<Cell<u32>>) {
    loop {
        spin::burn(POLL);
        polls.set(polls.get() + 1);
        yield_now().await;
    }
}

async fn tick(start: Instant, lateness: Rc<Lateness>) {
    for number in 1.. {
        sleep_and_record(start + number * Duration::from_millis(5), &lateness).await;
    }
}

async fn sleep_and_record(deadline: Instant, lateness: &Lateness) {
    sleep_until(deadline.into()).await;
    lateness.borrow_mut().push(Some(now() - deadline));
}

/// Very many tasks that sleep once, all of them at the same time: the thread's CPU time, and how late they wake.
pub(super) fn sleepers(setting: &Setting) -> Sample {
    let (sleepers, spawning) = (setting.size(100_000, 200), setting.size(150, 2));
    let millisecond = Duration::from_millis(1);
    run(async move {
        let lateness = Rc::<Lateness>::default();
        let (start, before) = (now(), spin::cpu_time());
        spawn_all(sleepers, |number| {
            let deadline = start + (spawning + number % 100) as u32 * millisecond;
            let lateness = lateness.clone();
            async move { sleep_and_record(deadline, &lateness).await }
        })
        .await;
        let cpu = (spin::cpu_time() - before).as_nanos() as f64;
        Sample::default().number(CPU_TIME, cpu).waits(LATENCY, lateness.take())
    })
}

pub(super) fn timeouts(setting: &Setting) -> Sample {
    let (tasks, times) = (setting.size(100, 5), setting.size(1_000, 5));
    timed(spawn_all(tasks, |_| async move {
        for _ in 0..times {
            timeout(Duration::from_secs(5), yield_now()).await.expect("a yield is short");
        }
    }))
}
