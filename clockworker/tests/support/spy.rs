//! A scheduler that tells a test of each call.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use clockworker::schedulers::{
    Attributes, ClockUse, Gone, GroupId, Ready, Scheduler, Served, Share, Subject, Task, TaskId,
};

/// A call of one of a scheduler's methods.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call<'a> {
    Push(Task, Ready),
    /// With what it is about to give.
    Pop(Option<TaskId>),
    /// Calls of `push` and `pop` follow.
    PushPop,
    Peek,
    /// So many polls, and so many nanoseconds.
    Served(Task, u32, u64),
    /// By all of the queue, so many nanoseconds, and what the clock reads.
    ServedAll(u64, u64),
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
            Call::Served(task, _, ns) => write!(f, "served {} {ns}", of(task)),
            Call::ServedAll(ns, now) => write!(f, "served_all {ns} at {now}"),
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
pub(crate) struct Spy<const PER_TASK: bool = true> {
    ready: VecDeque<TaskId>,
    /// The place of the task to give next.
    next: fn(&VecDeque<TaskId>) -> usize,
    listener: Box<dyn Fn(Call<'_>)>,
}

impl<const PER_TASK: bool> Spy<PER_TASK> {
    /// Gives the task at the place that this says. It is asked only where there is one.
    pub(crate) fn choosing(next: fn(&VecDeque<TaskId>) -> usize) -> Self {
        let ready = VecDeque::new();
        Self { ready, next, listener: Box::new(|_| {}) }
    }

    pub(crate) fn fifo() -> Self {
        Self::choosing(|_| 0)
    }

    pub(crate) fn lifo() -> Self {
        Self::choosing(|ready| ready.len() - 1)
    }

    /// Calls this at each call, before that is answered.
    pub(crate) fn listening(self, listener: impl Fn(Call<'_>) + 'static) -> Self {
        Self { listener: Box::new(listener), ..self }
    }

    /// Notes its calls there, but for those that only tune it and pops of nothing.
    pub(crate) fn logging(self, log: &Log) -> Self {
        let log = log.clone();
        self.listening(move |call| {
            if !matches!(call, Call::PushPop | Call::Peek | Call::Pop(None)) {
                log.0.borrow_mut().push(call.to_string());
            }
        })
    }
}

impl<const PER_TASK: bool> Scheduler for Spy<PER_TASK> {
    const CLOCK: ClockUse = if PER_TASK { ClockUse::PerTask } else { ClockUse::WhenRead };

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

    fn served(&mut self, served: Served, now_ns: u64) {
        (self.listener)(match served {
            Served::Task { task, polls, ns } => Call::Served(task, polls, ns),
            Served::Queue { ns } => Call::ServedAll(ns, now_ns),
        });
    }

    fn said(&mut self, of: Subject, attributes: &Attributes) {
        (self.listener)(match of {
            Subject::NewGroup { group, key } => Call::GroupOpened(group, key, attributes),
            Subject::Group(group) => Call::GroupChanged(group, attributes),
            Subject::Task(task) => Call::Spawned(task, attributes),
        });
    }

    fn gone(&mut self, gone: Gone) {
        match gone {
            Gone::Task(task) => (self.listener)(Call::Finished(task)),
            Gone::Group(group) => (self.listener)(Call::GroupClosed(group)),
            Gone::Backlog => {}
        }
    }
}
