//! What the tasks and the scheduler of a scene know, and what must hold.

use std::cell::{Cell, OnceCell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::hostile::Hostile;
use crate::tape::Tape;
use clockworker::schedulers::TaskId;
use clockworker::{Executor, JoinError, ManualClock, PolicyFault, Queue};

use super::TASKS;
use super::plan::Bytewise;
use super::task::{End, Entry, Output, Place, Programmed};

/// A ready task that the hostile scheduler owes.
#[derive(Clone, Copy)]
pub(super) struct Owed {
    pub(super) id: TaskId,
    pub(super) index: usize,
    /// The polls of its queue by the time it was pushed.
    pub(super) since: u64,
}

#[derive(Default)]
pub(super) struct Scene {
    pub(super) program: Tape,
    pub(super) plan: Tape,
    pub(super) clock: ManualClock,
    pub(super) entries: RefCell<Vec<Rc<Entry>>>,
    pub(super) queues: RefCell<Option<Queues>>,
    pub(super) finishing: Cell<bool>,
    pub(super) drops: Cell<usize>,
    /// Every output that exists holds it.
    pub(super) outputs: Rc<()>,
    /// The task that is being spawned.
    newest: Cell<Option<usize>>,

    pub(super) hostile_polls: Cell<u64>,
    /// By slot, the task that has it in the hostile queue.
    pub(super) slots: RefCell<Vec<Option<(TaskId, usize)>>>,
    pub(super) owed: RefCell<Vec<Owed>>,
    /// What its fault must be reported as, once it has one.
    pub(super) at_fault: OnceCell<&'static [PolicyFault]>,
    /// It has called back, and what came of that is not foretold.
    pub(super) excused: Cell<bool>,
    /// The least and the greatest patience that it had; the greatest None if it ever was endless.
    pub(super) patience: Cell<(u64, Option<u64>)>,
    pub(super) own_patience: u8,
    /// It has been reported as starving a task.
    starved: Cell<bool>,
}

#[derive(Clone)]
pub(super) struct Queues {
    hostile: Queue,
    honest: Queue,
}

impl Scene {
    pub(super) fn new(program: Tape, plan: Tape, own_patience: u8, clock: ManualClock) -> Rc<Self> {
        Rc::new(Self {
            program,
            plan,
            clock,
            own_patience,
            patience: Cell::new((u64::MAX, Some(0))),
            ..Self::default()
        })
    }

    pub(super) fn open(&self, ex: &Executor, hostile: Hostile<Bytewise>) {
        let hostile = ex.new_queue("hostile").scheduler(hostile).create();
        let honest = ex.new_queue("honest").create();
        let (Ok(hostile), Ok(honest)) = (hostile, honest) else { panic!("the options are valid") };
        self.queues.replace(Some(Queues { hostile, honest }));
    }

    fn queues(&self) -> Option<Queues> {
        self.queues.borrow().clone()
    }

    pub(super) fn tasks(&self) -> usize {
        self.entries.borrow().len()
    }

    pub(super) fn entry(&self, index: usize) -> Rc<Entry> {
        Rc::clone(&self.entries.borrow()[index])
    }

    /// One of the last sixteen tasks.
    fn some_task(&self, which: u8) -> Option<usize> {
        self.tasks().checked_sub(1 + usize::from(which))
    }

    pub(super) fn spawn(self: &Rc<Self>, place: Place) {
        let Some(Queues { hostile, honest }) = self.queues() else { return };
        let index = self.tasks();
        if index >= TASKS || self.finishing.get() {
            return;
        }
        let entry = Rc::new(Entry::default());
        entry.awake.set(true);
        self.entries.borrow_mut().push(Rc::clone(&entry));
        let task = Programmed { index, entry: Rc::clone(&entry), scene: Rc::clone(self) };
        // What is dropped meanwhile may spawn, too.
        let before = self.newest.replace(Some(index));
        let handle = match place {
            Place::Hostile => hostile.spawn(task),
            Place::Group(key) => hostile.group(key).spawn(task),
            Place::Honest => honest.spawn(task),
            Place::Beside => clockworker::spawn_local(task),
        };
        self.newest.set(before);
        entry.spawned.set(true);
        entry.handle.replace(Some(handle));
    }

    /// The hostile scheduler was handed a new task.
    pub(super) fn is_spawned(&self) -> Option<usize> {
        let index = self.newest.take()?;
        self.entry(index).hostile.set(true);
        Some(index)
    }

    pub(super) fn wake(&self, which: u8) {
        self.some_task(which).into_iter().for_each(|index| self.wake_task(index));
    }

    /// Wakes a task, which may have ended.
    #[track_caller]
    pub(super) fn wake_task(&self, index: usize) {
        let waker: Option<Waker> = self.entry(index).waker.borrow().clone();
        if let Some(waker) = waker {
            self.note_woken(index);
            waker.wake();
        }
    }

    #[track_caller]
    pub(super) fn note_woken(&self, index: usize) {
        let entry = self.entry(index);
        entry.awake.set(true);
        entry.woken_by.set(Some(std::panic::Location::caller()));
    }

    pub(super) fn abort(&self, which: u8) {
        self.some_task(which).into_iter().for_each(|index| self.abort_task(index));
    }

    pub(super) fn abort_task(&self, index: usize) {
        if let Some(handle) = &*self.entry(index).handle.borrow() {
            handle.abort();
        }
    }

    pub(super) fn drop_handle(&self, which: u8) {
        if let Some(index) = self.some_task(which) {
            let entry = self.entry(index);
            entry.joined_by.set(None);
            drop(entry.handle.take());
        }
    }

    pub(super) fn look_at_handle(&self, which: u8) {
        if let Some(index) = self.some_task(which) {
            self.entry(index).joined_by.set(None);
            self.poll_handle(index, &mut Context::from_waker(Waker::noop()));
        }
    }

    /// The task `by` awaits another.
    pub(super) fn join(&self, which: u8, by: usize, cx: &mut Context<'_>) {
        let Some(index) = self.some_task(which) else { return };
        let entry = self.entry(index);
        if entry.handle.borrow().is_some() && !self.poll_handle(index, cx) {
            entry.joined_by.set(Some(by));
        }
    }

    /// Polls the join handle of a task, if it is there. True if that gave what became of the task.
    fn poll_handle(&self, index: usize, cx: &mut Context<'_>) -> bool {
        let entry = self.entry(index);
        let Some(mut handle) = entry.handle.take() else { return false };
        match Pin::new(&mut handle).poll(cx) {
            Poll::Ready(result) => {
                assert_result(index, entry.end.get(), result);
                true
            }
            Poll::Pending => {
                entry.handle.replace(Some(handle));
                false
            }
        }
    }

    /// The user does something with the queues.
    pub(super) fn meddle(&self, what: u8) {
        let Some(Queues { hostile, honest }) = self.queues() else { return };
        match what {
            0 => hostile.close(),
            1..=3 => drop(hostile.group(u64::from(what))),
            4..=6 => drop(hostile.set_share(u32::from(what))),
            7..=9 => drop(honest.set_share(u32::from(what))),
            _ => self.clock.advance(std::time::Duration::from_micros(1 << what)),
        }
    }

    /// The scheduler's fault is reported, if and only if it has one.
    pub(super) fn assert_faults_reported(&self) {
        let Some(Queues { hostile, honest }) = self.queues() else { return };
        assert_eq!(honest.stats().policy_fault, None, "the other queue");
        match (self.at_fault.get(), hostile.stats().policy_fault) {
            _ if self.excused.get() => {}
            (Some(expected), Some(reported)) => assert!(expected.contains(&reported), "{reported}"),
            (Some(expected), None) => panic!("not reported: {expected:?}"),
            (None, Some(PolicyFault::Starved)) => {
                let (least, _) = self.patience.get();
                // Afterwards it is FIFO that they wait for.
                let is_new = !self.starved.replace(true);
                assert!(
                    !is_new || self.longest_wait() >= least,
                    "reported for {} polls of {least}",
                    self.longest_wait()
                );
            }
            (None, Some(reported)) => panic!("reported without reason: {reported}"),
            (None, None) => self.assert_none_starved(),
        }
    }

    /// Marked within one patience and a turn, found within another.
    fn assert_none_starved(&self) {
        if let (_, Some(greatest)) = self.patience.get() {
            let limit = 2 * (greatest + 64);
            assert!(self.longest_wait() <= limit, "starved for {} of {limit}", self.longest_wait());
        }
    }

    /// For how many polls a task has been ready in vain.
    fn longest_wait(&self) -> u64 {
        let waits = |owed: &Owed| self.hostile_polls.get() - owed.since;
        self.owed.borrow().iter().filter(|owed| self.is_alive(owed.index)).map(waits).max().unwrap_or(0)
    }

    pub(super) fn is_alive(&self, index: usize) -> bool {
        self.entry(index).end.get().is_none()
    }

    pub(super) fn assert_no_wake_lost(&self) {
        for (index, entry) in self.entries.borrow().iter().enumerate() {
            let is_lost = entry.end.get().is_none() && entry.awake.get();
            assert!(!is_lost, "task {index} was woken, and is not polled: {:?}", entry.woken_by.get());
        }
    }

    pub(super) fn assert_all_ended(&self) {
        for index in 0..self.tasks() {
            let entry = self.entry(index);
            assert!(entry.end.get().is_some(), "task {index} has not ended");
            let had_handle = entry.handle.borrow().is_some();
            let gave = self.poll_handle(index, &mut Context::from_waker(Waker::noop()));
            assert_eq!(had_handle, gave, "task {index}: its handle gives nothing");
        }
        self.assert_all_dropped();
    }

    pub(super) fn assert_all_dropped(&self) {
        assert_eq!(self.drops.get(), self.tasks(), "futures dropped");
    }

    pub(super) fn assert_accounts(&self, ex: &Executor) {
        let stats = ex.stats();
        assert_eq!((stats.live, stats.ready), (0, 0));
        assert_eq!(stats.spawned, stats.completed + stats.cancelled + stats.panicked);
    }
}

fn assert_result(index: usize, end: Option<End>, result: Result<Output, JoinError>) {
    match result {
        Ok(output) => assert_eq!((output.index, end), (index, Some(End::Completed))),
        Err(error) if error.is_cancelled() => assert_eq!(end, Some(End::Cancelled)),
        Err(error) => {
            assert!(error.is_panic());
            // The drop of a future that is cancelled may panic, and so that of one that has ended.
            assert!(end.is_some(), "it has ended");
        }
    }
}
