//! How do I write my own scheduler?
//!
//! Implement two methods. This one polls first the task whose polls have been the shortest so far, so that nobody waits for
//! long for a poll of a few microseconds. Every 16th pop goes to the task that has waited for longest, so none starves: a
//! task that is ready with *R* others is polled within 16·(R + 1) pops. `tests/own_scheduler.rs` holds it to that,
//! with the test kit that comes with the policies.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;
use std::time::Duration;

use clockworker::schedulers::{Gone, Ready, Scheduler, Served, Task, TaskId};
use clockworker::{Executor, ManualClock};

/// How many pops there are to each one that goes by age.
pub(crate) const AGING: u64 = 16;

#[derive(Default)]
pub(crate) struct ShortestPollFirst {
    /// Ready tasks by the expected length of their next poll, then by age.
    ready: BTreeMap<(u64, u64), TaskId>,
    /// The same by age: their keys in `ready`.
    ages: BTreeMap<u64, (u64, u64)>,
    /// Expected nanoseconds by slot: slots are small numbers, so no map is needed.
    expected: Vec<u64>,
    pushes: u64,
    pops: u64,
}

impl ShortestPollFirst {
    fn expected(&mut self, task: Task) -> &mut u64 {
        let slot = task.id.slot();
        if slot >= self.expected.len() {
            self.expected.resize(slot + 1, 0);
        }
        &mut self.expected[slot]
    }
}

impl Scheduler for ShortestPollFirst {
    fn push(&mut self, task: Task, _why: Ready) {
        let key = (*self.expected(task), self.pushes);
        self.ready.insert(key, task.id);
        self.ages.insert(self.pushes, key);
        self.pushes += 1;
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.pops += 1;
        let (_, oldest) = self.ages.first_key_value()?;
        let key = if self.pops.is_multiple_of(AGING) { *oldest } else { *self.ready.first_key_value()?.0 };
        self.ages.remove(&key.1);
        self.ready.remove(&key)
    }

    fn served(&mut self, served: Served, _now_ns: u64) {
        if let Served::Task { task, polls, ns: service_ns } = served {
            // (None: the drop of an aborted task.)
            let Some(poll_ns) = service_ns.checked_div(polls.into()) else { return };
            let expected = self.expected(task);
            *expected = *expected / 4 * 3 + poll_ns / 4;
        }
    }

    fn gone(&mut self, gone: Gone) {
        if let Gone::Task(task) = gone {
            *self.expected(task) = 0; // somebody else will have the slot
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = ManualClock::new(); // moves when a task moves it, so the output is always the same
    let ex = Executor::builder().clock(clock.clone()).scheduler(ShortestPollFirst::default()).build()?;
    let task = |name: &'static str, poll: u64, polls: u32| {
        let clock = clock.clone();
        ex.spawn(async move {
            for _ in 0..polls {
                clock.advance(Duration::from_micros(poll));
                clockworker::yield_now().await;
            }
            println!("{name:6} is done at {:?}", clock.now());
        })
    };
    let tasks = [task("long", 1_000, 5), task("medium", 100, 5), task("short", 10, 5)];
    ex.block_on(async {
        for task in tasks {
            task.await?;
        }
        Ok(())
    })
}
