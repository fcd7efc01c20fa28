//! What a policy is told of groups and attributes while random programs open, change, find and close groups, spawn and abort: each
//! group is opened before a task of it is pushed, and closed once, after its last; each task with attributes is spawned once.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::pending;
use std::rc::Rc;

use clockworker::schedulers::{Attributes, GroupId, Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, Group, Handle, JoinHandle, Queue, spawn_local};

use crate::support::{Random, assert_balanced, settle, tick, untimed, yields};

/// What a policy knows, and what it should not have been told.
#[derive(Default)]
struct Book {
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

impl Book {
    fn check(&mut self, right: bool, what: impl FnOnce() -> String) {
        if !right {
            self.wrong.push(what());
        }
    }

    /// Whether a task may be in that group: its own, whose index is its slot, or one that is open, which has no task's slot.
    fn may_have(&self, task: Task) -> bool {
        (task.group.index() == task.id.slot()) != self.open.contains_key(&task.group)
    }
}

/// FIFO, which keeps the book.
#[derive(Default)]
struct Auditor {
    ready: VecDeque<TaskId>,
    book: Rc<RefCell<Book>>,
}

impl Scheduler for Auditor {
    const WANTS_CLOCK: bool = true;

    fn push(&mut self, task: Task, why: Ready) {
        let mut book = self.book.borrow_mut();
        let (open, spawned) = (book.may_have(task), book.spawned.take());
        book.check(open, || format!("{task:?} pushed into a closed group"));
        book.check(spawned.is_none_or(|spawned| spawned == task), || {
            format!("{task:?} in place of {spawned:?}")
        });
        book.check(spawned.is_none() || why == Ready::Spawned, || format!("{task:?} spawned late"));
        let known = book.tasks.insert(task.id, task.group);
        book.check(known.is_none() == (why == Ready::Spawned), || format!("{task:?} pushed as {why:?}"));
        self.ready.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.ready.pop_front()
    }

    fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        let mut book = self.book.borrow_mut();
        let old = book.open.insert(group, (key, *attributes));
        let has_task = book.tasks.keys().any(|task| task.slot() == group.index());
        book.check(old.is_none() && !has_task, || format!("{group:?} opened for {key} beside {old:?}"));
        let same_key = book.open.values().filter(|open| open.0 == key).count();
        book.check(same_key == 1, || format!("{same_key} groups of key {key}"));
    }

    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        let mut book = self.book.borrow_mut();
        let old = book.open.get_mut(&group).map(|open| std::mem::replace(&mut open.1, *attributes));
        book.check(old.is_some_and(|old| old != *attributes), || format!("{group:?} changed from {old:?}"));
    }

    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        let mut book = self.book.borrow_mut();
        let right = book.may_have(task) && book.spawned.is_none();
        book.check(right, || format!("{task:?} spawned"));
        book.spawned = Some(task);
        *book.tags.entry(attributes.tag).or_default() += 1;
    }

    fn finished(&mut self, task: Task) {
        let mut book = self.book.borrow_mut();
        let group = book.tasks.remove(&task.id);
        book.check(group == Some(task.group), || format!("{task:?} finished in {group:?}"));
        let is_alone = task.group.index() == task.id.slot();
        let before = std::mem::replace(&mut book.alone, is_alone.then_some(task));
        book.check(before.is_none(), || format!("the group of {before:?} was not closed"));
    }

    fn group_closed(&mut self, group: GroupId) {
        let mut book = self.book.borrow_mut();
        let left = book.tasks.values().filter(|&&of| of == group).count();
        let alone = book.alone.take();
        let was_open = alone.map_or(book.open.remove(&group).is_some(), |task| task.group == group);
        book.check(was_open && left == 0, || format!("{group:?} closed with {left} tasks after {alone:?}"));
    }
}

/// A random program, and what it should have told.
struct World {
    ex: Executor,
    queue: Queue,
    handle: Handle,
    book: Rc<RefCell<Book>>,
    random: Random,
    groups: Vec<Group>,
    tasks: Vec<JoinHandle<()>>,
    /// How many tasks were spawned with each tag.
    tags: Rc<RefCell<BTreeMap<u64, usize>>>,
}

const KEYS: usize = 5;

impl World {
    fn new(seed: u64) -> Self {
        let (ex, book) = (untimed(), Rc::default());
        let auditor = Auditor { book: Rc::clone(&book), ..Auditor::default() };
        let queue = ex.new_queue("audited").scheduler(auditor).create().unwrap();
        let (handle, random) = (ex.handle(), Random::new(seed));
        World { ex, queue, handle, book, random, groups: vec![], tasks: vec![], tags: Rc::default() }
    }

    fn key(&mut self) -> u64 {
        self.random.below(KEYS) as u64
    }

    fn group(&mut self) -> Option<Group> {
        let at = self.random.below(self.groups.len());
        self.groups.get(at).cloned()
    }

    /// A task that yields, has children and may wait for ever. With a tag unless that is 0.
    fn future(&mut self, tag: u64) -> impl Future<Output = ()> + Send + 'static {
        let (before, children, waits) =
            (self.random.below(3) as u32, self.random.below(3), self.random.below(4) == 0);
        async move {
            yields(before).await;
            for _ in 0..children {
                COUNTED.with_borrow_mut(|counted| counted.push(tag));
                spawn_local(yields(1));
            }
            if waits {
                pending().await
            }
        }
    }

    fn count(&self, tag: u64) {
        if tag != 0 {
            *self.tags.borrow_mut().entry(tag).or_default() += 1;
        }
    }

    fn spawn(&mut self) {
        let tag = self.random.below(3) as u64;
        let future = self.future(tag);
        self.count(tag);
        let (group, remote, key) = (self.group(), self.random.below(3) == 0, self.key());
        let task = match group {
            _ if remote => self.handle.new_task().queue("audited").group(key).tag(tag).spawn(move || future),
            Some(group) => group.new_task().tag(tag).spawn(future),
            None => self.queue.new_task().tag(tag).spawn(future),
        };
        self.tasks.push(task);
        if remote && tag != 0 {
            // Aborted before it comes in, it would not be told of.
            tick(&self.ex);
        }
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0 => {
                let key = self.key();
                // Refused if it is open with another weight.
                self.groups.extend(self.queue.new_group(key).weight(1 + key as u32 % 2).open());
            }
            1 => {
                let key = self.key();
                self.groups.push(self.queue.group(key));
            }
            2 => {
                let key = self.key();
                self.groups.extend(self.queue.find_group(key));
            }
            3 | 4 => {
                let at = self.random.below(self.groups.len());
                (at < self.groups.len()).then(|| self.groups.swap_remove(at));
            }
            5 => {
                let weight = 1 + self.random.below(3) as u32;
                self.group().into_iter().for_each(|group| group.set_weight(weight).unwrap());
            }
            6..=8 => self.spawn(),
            9 => {
                let at = self.random.below(self.tasks.len());
                self.tasks.get(at).into_iter().for_each(JoinHandle::abort);
            }
            10 if self.random.below(4) == 0 => drop(self.group().map(|group| group.abort_all())),
            10 => tick(&self.ex),
            _ => self.settle(),
        }
    }

    /// Runs all there is, and compares the book with what the queue says.
    fn settle(&mut self) {
        settle(&self.ex);
        COUNTED.take().into_iter().for_each(|tag| self.count(tag));
        let book = self.book.borrow();
        assert_eq!(book.wrong, [""; 0]);
        assert_eq!(book.tags, *self.tags.borrow());
        let stats = self.queue.group_stats();
        let mut said: Vec<_> = stats.iter().map(|group| (group.key, group.attributes)).collect();
        let mut told: Vec<_> = book.open.values().copied().collect();
        [&mut said, &mut told].into_iter().for_each(|groups| groups.sort_by_key(|group| group.0));
        assert_eq!(said, told);
        let grouped = book.tasks.values().filter(|group| book.open.contains_key(group)).count() as u64;
        assert_eq!(stats.iter().map(|group| group.live).sum::<u64>(), grouped);
        assert_eq!(self.queue.stats().live, book.tasks.len());
        assert_balanced(&self.ex.stats());
    }

    fn end(mut self) {
        self.groups.clear();
        self.settle();
        self.queue.abort_all();
        self.settle();
        assert_eq!(self.book.borrow().open.len() + self.book.borrow().tasks.len(), 0);
        assert_eq!(self.queue.stats().policy_fault, None);
    }
}

thread_local! {
    /// The tags of children that were spawned and are still to be counted.
    static COUNTED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn what_a_policy_is_told_is_whole_and_in_order_in_random_programs() {
    for seed in 0..400 {
        let run = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            (0..80).for_each(|_| world.step());
            world.end();
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}
