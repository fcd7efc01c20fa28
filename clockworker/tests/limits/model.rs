//! Random programs of spawns, waits, aborts and limits, against a model that is a list and no more.
//!
//! After most steps the executor settles. After each the model says exactly who has been called, how many times, and what is
//! full.

use std::future::pending;
use std::task::Poll;

use clockworker::{Executor, Group, JoinHandle, Queue};
use fastrand::Rng;

use crate::polled::Polled;
use crate::support::*;

const GROUPS: usize = 3;

/// One that waits, in the executor and in the model.
struct Waiting {
    polled: Polled,
    /// The last stands for none.
    group: usize,
    /// Whether there is room for it in its group.
    in_group: bool,
    called: bool,
}

#[derive(Default)]
struct Limits {
    live: Option<usize>,
    live_per_group: Option<usize>,
}

struct World {
    ex: Executor,
    queue: Queue,
    groups: Vec<Group>,
    /// By group.
    tasks: Vec<(usize, JoinHandle<()>)>,
    /// The groups of those that were aborted since the executor settled, which are there until it does.
    ending: Vec<usize>,
    /// Tasks spawned since then, which are ready until it does.
    ready: usize,
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    most: Limits,
}

fn below(count: usize, most: Option<usize>) -> bool {
    most.is_none_or(|most| count < most)
}

impl World {
    fn new() -> Self {
        let ex = untimed();
        let queue = ex.new_queue("q").create().unwrap();
        let groups = (0..GROUPS as u64).map(|key| queue.group(key)).collect();
        let (tasks, ending, waiting) = Default::default();
        Self { ex, queue, groups, tasks, ending, ready: 0, waiting, most: Limits::default() }
    }

    fn group_has_room(&self, group: usize) -> bool {
        let tasks = self.tasks.iter().map(|&(of, _)| of).chain(self.ending.iter().copied());
        let live = tasks.filter(|&of| of == group).count();
        let kept = self.waiting.iter().filter(|waiting| waiting.group == group && waiting.in_group).count();
        group == GROUPS || below(live + kept, self.most.live_per_group)
    }

    fn has_room(&self) -> bool {
        let kept = self.waiting.iter().filter(|waiting| waiting.called).count();
        below(self.tasks.len() + self.ending.len() + kept, self.most.live)
    }

    /// Whether the model would take a task now: `Some(true)` says that the group is full, `Some(false)` the queue.
    fn refuses(&self, group: usize) -> Option<bool> {
        let waits_for_group = |waiting: &Waiting| !waiting.in_group && waiting.group == group;
        if group != GROUPS && (!self.group_has_room(group) || self.waiting.iter().any(waits_for_group)) {
            return Some(true);
        }
        let waits = |waiting: &Waiting| waiting.in_group && !waiting.called;
        (!self.has_room() || self.waiting.iter().any(waits)).then_some(false)
    }

    /// Gives out the room there is: in each group, then in the queue, each time to the one that came first.
    fn call(&mut self) {
        for i in 0..self.waiting.len() {
            if !self.waiting[i].in_group && self.group_has_room(self.waiting[i].group) {
                self.waiting[i].in_group = true;
            }
        }
        while self.has_room() {
            let Some(first) = self.waiting.iter_mut().find(|waiting| waiting.in_group && !waiting.called)
            else {
                return;
            };
            first.called = true;
        }
    }

    fn step(&mut self, random: &mut Rng) {
        match random.u32(..12) {
            0..=1 => self.try_spawn(random.usize(..=GROUPS)),
            2..=4 => self.wait(random.usize(..=GROUPS)),
            5..=6 if !self.waiting.is_empty() => self.poll(random.usize(..self.waiting.len())),
            7 if !self.waiting.is_empty() => drop(self.waiting.remove(random.usize(..self.waiting.len()))),
            8..=9 if !self.tasks.is_empty() => {
                // Several at once, so that one slice makes room for several.
                for _ in 0..=random.usize(..self.tasks.len().min(3)) {
                    let (group, task) = self.tasks.remove(random.usize(..self.tasks.len()));
                    task.abort();
                    self.ending.push(group);
                }
            }
            10 => {
                self.most.live = Some(random.usize(..6)).filter(|&most| most > 0);
                self.queue.set_max_live(self.most.live).unwrap();
            }
            11 => {
                self.most.live_per_group = Some(random.usize(..4)).filter(|&most| most > 0);
                self.queue.set_max_live_per_group(self.most.live_per_group).unwrap();
            }
            _ => {}
        }
        if random.u32(..3) > 0 {
            self.settle();
        }
        self.call();
    }

    fn settle(&mut self) {
        settle(&self.ex);
        self.ending.clear();
        self.ready = 0;
    }

    fn spawned(&mut self, group: usize, task: JoinHandle<()>) {
        self.tasks.push((group, task));
        self.ready += 1;
    }

    fn try_spawn(&mut self, group: usize) {
        let expected = self.refuses(group);
        let tried = match self.groups.get(group) {
            Some(group) => group.try_spawn(pending()),
            None => self.queue.try_spawn(pending()),
        };
        match tried {
            Ok(task) => {
                assert_eq!(expected, None);
                self.spawned(group, task);
            }
            Err(error) => assert_eq!(expected, Some(error.is_group_full())),
        }
    }

    fn wait(&mut self, group: usize) {
        let waiter = match self.groups.get(group) {
            Some(group) => group.spawn_when_room(pending()),
            None => self.queue.spawn_when_room(pending()),
        };
        let (mut polled, full) = (Polled::new(waiter), self.refuses(group));
        match polled.poll() {
            Poll::Ready(task) => {
                assert_eq!(full, None);
                self.spawned(group, task.unwrap());
            }
            Poll::Pending => {
                assert!(full.is_some());
                self.waiting.push(Waiting { polled, group, in_group: full == Some(false), called: false });
            }
        }
    }

    fn poll(&mut self, i: usize) {
        match self.waiting[i].polled.poll() {
            Poll::Pending => assert!(!self.waiting[i].called),
            Poll::Ready(task) => {
                let waiting = self.waiting.remove(i);
                assert!(waiting.called);
                self.spawned(waiting.group, task.unwrap());
            }
        }
    }

    fn check(&self) {
        for waiting in &self.waiting {
            let wakes = waiting.polled.wakes.count();
            assert_eq!(wakes, usize::from(waiting.called), "woken once it is called, and once");
        }
        let stats = self.queue.stats();
        let wait = self.waiting.iter().filter(|waiting| !waiting.called).count();
        assert_eq!((stats.live, stats.waiting), (self.tasks.len() + self.ending.len(), wait));
        assert_eq!(stats.ready, self.ready);
    }
}

#[test]
fn random_programs_agree_with_a_list() {
    for seed in 1..=400 {
        let (mut random, mut world) = (Rng::with_seed(seed), World::new());
        for step in 0..120 {
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                world.step(&mut random);
                world.check();
            }));
            assert!(ran.is_ok(), "seed {seed}, step {step}");
        }
        // When all that is called is polled and all tasks end, each waiter gets its turn.
        while !world.waiting.is_empty() {
            while let Some(called) = world.waiting.iter().position(|waiting| waiting.called) {
                world.poll(called);
            }
            world.tasks.drain(..).for_each(|(_, task)| task.abort());
            world.settle();
            world.call();
            world.check();
        }
    }
}
