//! The calls of a policy while random programs open, change, find and close groups, spawn and abort: each
//! group is opened before a task of it is pushed, and closed once, after its last; each task with attributes is spawned once.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::future::pending;
use std::rc::Rc;

use clockworker::schedulers::{Attributes, GroupId, Ready, Task, TaskId};
use clockworker::{Executor, Group, Handle, JoinHandle, Queue, spawn_local};
use fastrand::Rng;

use crate::support::*;

/// What a policy knows by its calls, and what was wrong with them.
#[derive(Default)]
struct Knowledge {
    open: HashMap<GroupId, (u64, Attributes)>,
    /// Unfinished tasks that were pushed, with their groups.
    tasks: HashMap<TaskId, GroupId>,
    /// The task that finished last, if it was without a group: its own is to be closed next.
    alone: Option<Task>,
    /// A task that was spawned, and is to be pushed next.
    spawned: Option<Task>,
    /// How many tasks were spawned with each tag.
    tags: BTreeMap<u64, usize>,
    wrong: Vec<String>,
}

impl Knowledge {
    fn check(&mut self, right: bool, what: impl FnOnce() -> String) {
        if !right {
            self.wrong.push(what());
        }
    }

    /// Whether a task may be in that group: its own, whose index is its slot, or one that is open, which has no task's slot.
    fn may_have(&self, task: Task) -> bool {
        (task.group.index() == task.id.slot()) != self.open.contains_key(&task.group)
    }

    /// Takes a call in, and notes what is wrong with it.
    fn hear(&mut self, call: Call<'_>) {
        match call {
            Call::Push(task, why) => {
                let (open, spawned) = (self.may_have(task), self.spawned.take());
                self.check(open, || format!("{task:?} pushed into a closed group"));
                self.check(spawned.is_none_or(|spawned| spawned == task), || {
                    format!("{task:?} in place of {spawned:?}")
                });
                self.check(spawned.is_none() || why == Ready::Spawned, || format!("{task:?} spawned late"));
                let known = self.tasks.insert(task.id, task.group);
                self.check(known.is_none() == (why == Ready::Spawned), || {
                    format!("{task:?} pushed as {why:?}")
                });
            }
            Call::GroupOpened(group, key, attributes) => {
                let old = self.open.insert(group, (key, *attributes));
                let has_task = self.tasks.keys().any(|task| task.slot() == group.index());
                self.check(old.is_none() && !has_task, || {
                    format!("{group:?} opened for {key} beside {old:?}")
                });
                let same_key = self.open.values().filter(|open| open.0 == key).count();
                self.check(same_key == 1, || format!("{same_key} groups of key {key}"));
            }
            Call::GroupChanged(group, attributes) => {
                let old = self.open.get_mut(&group).map(|open| std::mem::replace(&mut open.1, *attributes));
                let is_change = old.is_some_and(|old| old != *attributes);
                self.check(is_change, || format!("{group:?} changed from {old:?}"));
            }
            Call::Spawned(task, attributes) => {
                let right = self.may_have(task) && self.spawned.is_none();
                self.check(right, || format!("{task:?} spawned"));
                self.spawned = Some(task);
                *self.tags.entry(attributes.tag).or_default() += 1;
            }
            // Also of one that was aborted before it was pushed: then its group pays for the drop.
            Call::Served(task, ..) => {
                self.tasks.entry(task.id).or_insert(task.group);
            }
            Call::Finished(task) => {
                let group = self.tasks.remove(&task.id);
                self.check(group == Some(task.group), || format!("{task:?} finished in {group:?}"));
                let is_alone = task.group.index() == task.id.slot();
                let before = std::mem::replace(&mut self.alone, is_alone.then_some(task));
                self.check(before.is_none(), || format!("the group of {before:?} was not closed"));
            }
            Call::GroupClosed(group) => {
                let left = self.tasks.values().filter(|&&of| of == group).count();
                let alone = self.alone.take();
                let was_open = alone.map_or(self.open.remove(&group).is_some(), |task| task.group == group);
                self.check(was_open && left == 0, || {
                    format!("{group:?} closed with {left} tasks after {alone:?}")
                });
            }
            _ => {}
        }
    }
}

/// A random program on a queue whose policy is audited.
struct Program {
    ex: Executor,
    queue: Queue,
    handle: Handle,
    known: Rc<RefCell<Knowledge>>,
    random: Rng,
    groups: Vec<Group>,
    tasks: Vec<JoinHandle<()>>,
}

thread_local! {
    /// How many tasks were spawned with each tag.
    static TAGS: RefCell<BTreeMap<u64, usize>> = const { RefCell::new(BTreeMap::new()) };
}

fn count(tag: u64) {
    if tag != 0 {
        TAGS.with_borrow_mut(|tags| *tags.entry(tag).or_default() += 1);
    }
}

/// Keys of groups.
const KEYS: u64 = 5;

impl Program {
    fn new(seed: u64) -> Self {
        let (ex, known) = (untimed(), Rc::new(RefCell::<Knowledge>::default()));
        let hears = Rc::clone(&known);
        let spy: Spy = Spy::fifo().listening(move |call| hears.borrow_mut().hear(call));
        let queue = ex.new_queue("audited").scheduler(spy).create().unwrap();
        TAGS.take();
        let (handle, random) = (ex.handle(), Rng::with_seed(seed));
        Program { ex, queue, handle, known, random, groups: vec![], tasks: vec![] }
    }

    fn group(&mut self) -> Option<Group> {
        self.random.choice(&self.groups).cloned()
    }

    /// A task that yields, has children and may wait for ever.
    fn future(&mut self, tag: u64) -> impl Future<Output = ()> + Send + 'static {
        let (before, children, waits) =
            (self.random.u32(..3), self.random.u32(..3), self.random.u32(..4) == 0);
        async move {
            yields(before).await;
            for _ in 0..children {
                count(tag);
                spawn_local(yields(1));
            }
            if waits {
                pending().await
            }
        }
    }

    fn spawn(&mut self) {
        let tag = self.random.u64(..3);
        let future = self.future(tag);
        count(tag);
        let (group, remote, key) = (self.group(), self.random.u32(..3) == 0, self.random.u64(..KEYS));
        let task = match group {
            _ if remote => self.handle.new_task().queue("audited").group(key).tag(tag).spawn(move || future),
            Some(group) => group.new_task().tag(tag).spawn(future),
            None => self.queue.new_task().tag(tag).spawn(future),
        };
        self.tasks.push(task);
        if tag != 0 {
            // Aborted before it comes in, it would not be pushed.
            tick(&self.ex);
        }
    }

    fn step(&mut self) {
        let key = self.random.u64(..KEYS);
        match self.random.u32(..12) {
            // Refused if it is open with another weight.
            0 => self.groups.extend(self.queue.new_group(key).weight(1 + key as u32 % 2).open()),
            1 => self.groups.push(self.queue.group(key)),
            2 => self.groups.extend(self.queue.find_group(key)),
            3 | 4 if !self.groups.is_empty() => {
                let at = self.random.usize(..self.groups.len());
                self.groups.swap_remove(at);
            }
            5 => {
                let weight = self.random.u32(1..=3);
                self.group().into_iter().for_each(|group| group.set_weight(weight).unwrap());
            }
            6..=8 => self.spawn(),
            9 => self.random.choice(&self.tasks).into_iter().for_each(JoinHandle::abort),
            10 if self.random.u32(..4) == 0 => drop(self.group().map(|group| group.abort_all())),
            10 => tick(&self.ex),
            _ => self.settle(),
        }
    }

    /// Runs all there is, and compares what the policy knows with what the queue says.
    fn settle(&mut self) {
        settle(&self.ex);
        let known = self.known.borrow();
        assert_eq!(known.wrong, [""; 0]);
        TAGS.with_borrow(|tags| assert_eq!(known.tags, *tags));
        let stats = self.queue.group_stats();
        let mut said: Vec<_> = stats.iter().map(|group| (group.key, group.attributes)).collect();
        let mut known_groups: Vec<_> = known.open.values().copied().collect();
        [&mut said, &mut known_groups].into_iter().for_each(|groups| groups.sort_by_key(|group| group.0));
        assert_eq!(said, known_groups);
        let grouped = known.tasks.values().filter(|group| known.open.contains_key(group)).count() as u64;
        assert_eq!(stats.iter().map(|group| group.live).sum::<u64>(), grouped);
        assert_eq!(self.queue.stats().live, known.tasks.len());
        assert_balanced(&self.ex.stats());
    }

    fn end(mut self) {
        self.groups.clear();
        self.settle();
        self.queue.abort_all();
        self.settle();
        assert_eq!(self.known.borrow().open.len() + self.known.borrow().tasks.len(), 0);
        assert_eq!(self.queue.stats().policy_fault, None);
    }
}

#[test]
fn the_calls_of_a_policy_are_whole_and_in_order_in_random_programs() {
    for seed in 0..400 {
        let run = std::panic::catch_unwind(|| {
            let mut program = Program::new(seed);
            (0..80).for_each(|_| program.step());
            program.end();
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}
