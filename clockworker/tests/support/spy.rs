//! A scheduler that tells a test of each call.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use clockworker::schedulers::{Attributes, GroupId, Ready, Scheduler, Share, Task, TaskId};

/// A call of one of a scheduler's methods.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call<'a> {
    Push(Task, Ready),
    /// With what it is about to give.
    Pop(Option<TaskId>),
    /// Calls of `push` and `pop` follow.
    PushPop,
    Peek,
    Patience(usize),
    /// So many polls, and so many nanoseconds.
    Served(Task, u32, u64),
    TimePassed(u64),
    TimeIs(u64),
    Finished(Task),
    GroupOpened(GroupId, u64, &'a Attributes),
    GroupChanged(GroupId, &'a Attributes),
    GroupClosed(GroupId),
    Spawned(Task, &'a Attributes),
}

/// The method, then tasks by their slots, groups by their indices, and those attributes that differ from the default.
impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |task: &Task| format!("{} of {}", task.id.slot(), task.group.index());
        match self {
            Call::Push(task, why) => write!(f, "push {} {why:?}", of(task)),
            Call::Pop(None) => f.write_str("pop nothing"),
            Call::Pop(Some(id)) => write!(f, "pop {}", id.slot()),
            Call::PushPop => f.write_str("push_pop"),
            Call::Peek => f.write_str("peek"),
            Call::Patience(tasks) => write!(f, "patience {tasks}"),
            Call::Served(task, _, ns) => write!(f, "served {} {ns}", of(task)),
            Call::TimePassed(ns) => write!(f, "time_passed {ns}"),
            Call::TimeIs(ns) => write!(f, "time_is {ns}"),
            Call::Finished(task) => write!(f, "finished {}", task.id.slot()),
            Call::GroupOpened(group, key, given) => {
                write!(f, "group_opened {} for {key}{}", group.index(), text_of(given))
            }
            Call::GroupChanged(group, given) => {
                write!(f, "group_changed {}{}", group.index(), text_of(given))
            }
            Call::GroupClosed(group) => write!(f, "group_closed {}", group.index()),
            Call::Spawned(task, given) => write!(f, "spawned {}{}", of(task), text_of(given)),
        }
    }
}

fn text_of(attributes: &Attributes) -> String {
    let Attributes { weight, priority, deadline_ns, tag, .. } = *attributes;
    let parts = [
        (weight != Share::MIN).then(|| format!(" w{weight}")),
        priority.map(|priority| format!(" p{priority}")),
        deadline_ns.map(|ns| format!(" d{ns}")),
        (tag != 0).then(|| format!(" t{tag}")),
    ];
    parts.into_iter().flatten().collect()
}

/// The calls that a [`Spy`] noted.
#[derive(Clone, Default)]
pub(crate) struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    /// The calls since the last time, joined by commas.
    pub(crate) fn take(&self) -> String {
        self.0.take().join(", ")
    }

    /// Of the calls since the last time those of these methods.
    pub(crate) fn take_only(&self, methods: &[&str]) -> String {
        let mut calls = self.0.take();
        calls.retain(|call| methods.iter().any(|method| call.split(' ').next() == Some(method)));
        calls.join(", ")
    }
}

/// A scheduler with a simple order, which calls a listener at each call.
pub(crate) struct Spy<const NEEDS_SERVICE: bool = true> {
    ready: VecDeque<TaskId>,
    /// The place of the task to give next.
    next: fn(&VecDeque<TaskId>) -> usize,
    patience: fn(usize) -> Option<u64>,
    listener: Box<dyn Fn(Call<'_>)>,
}

impl<const NEEDS_SERVICE: bool> Spy<NEEDS_SERVICE> {
    /// Gives the task at the place that this says. It is asked only where there is one.
    pub(crate) fn choosing(next: fn(&VecDeque<TaskId>) -> usize) -> Self {
        let ready = VecDeque::new();
        Self { ready, next, patience: |_| None, listener: Box::new(|_| {}) }
    }

    pub(crate) fn fifo() -> Self {
        Self::choosing(|_| 0)
    }

    pub(crate) fn lifo() -> Self {
        Self::choosing(|ready| ready.len() - 1)
    }

    pub(crate) fn patience(self, patience: fn(usize) -> Option<u64>) -> Self {
        Self { patience, ..self }
    }

    /// Calls this at each call, before that is answered.
    pub(crate) fn listening(self, listener: impl Fn(Call<'_>) + 'static) -> Self {
        Self { listener: Box::new(listener), ..self }
    }

    /// Notes its calls there, but for those that only tune it and pops of nothing.
    pub(crate) fn logging(self, log: &Log) -> Self {
        let log = log.clone();
        self.listening(move |call| {
            if !matches!(call, Call::PushPop | Call::Peek | Call::Patience(_) | Call::Pop(None)) {
                log.0.borrow_mut().push(call.to_string());
            }
        })
    }
}

impl<const NEEDS_SERVICE: bool> Scheduler for Spy<NEEDS_SERVICE> {
    const NEEDS_SERVICE: bool = NEEDS_SERVICE;
    const WANTS_TIME: bool = NEEDS_SERVICE;
    const WANTS_CLOCK: bool = true;

    fn push(&mut self, task: Task, why: Ready) {
        self.ready.push_back(task.id);
        (self.listener)(Call::Push(task, why));
    }

    fn pop(&mut self) -> Option<TaskId> {
        let next = (!self.ready.is_empty()).then(|| (self.next)(&self.ready));
        (self.listener)(Call::Pop(next.map(|at| self.ready[at])));
        self.ready.remove(next?)
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        (self.listener)(Call::PushPop);
        self.push(task, Ready::Yielded);
        self.pop()
    }

    fn peek(&self, ahead: usize) -> Option<TaskId> {
        (self.listener)(Call::Peek);
        self.ready.get(ahead).copied()
    }

    fn patience(&self, tasks: usize) -> Option<u64> {
        (self.listener)(Call::Patience(tasks));
        (self.patience)(tasks)
    }

    fn served(&mut self, task: Task, polls: u32, service_ns: u64) {
        (self.listener)(Call::Served(task, polls, service_ns));
    }

    fn time_passed(&mut self, service_ns: u64) {
        (self.listener)(Call::TimePassed(service_ns));
    }

    fn time_is(&mut self, now_ns: u64) {
        (self.listener)(Call::TimeIs(now_ns));
    }

    fn finished(&mut self, task: Task) {
        (self.listener)(Call::Finished(task));
    }

    fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        (self.listener)(Call::GroupOpened(group, key, attributes));
    }

    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        (self.listener)(Call::GroupChanged(group, attributes));
    }

    fn group_closed(&mut self, group: GroupId) {
        (self.listener)(Call::GroupClosed(group));
    }

    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        (self.listener)(Call::Spawned(task, attributes));
    }
}
