//! [`Scene`]: a program under way on the executor, and the truth about who used the thread.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Waker};
use std::time::Duration;

use anyhow::bail;
use clockworker::{Executor, Handle, JoinHandle, ManualClock, Queue, QueueError};

use super::main_future::{Wait, make_moves};
use super::queues::{CROWD, Life, Lives, Manner, Worker};
use super::{Act, How};
use crate::adversary::books::{Books, Outcome};
use crate::adversary::program::Program;
use crate::bounds::POLLS_OVERRUN;

/// See the [module docs](self). The executor's tasks hold it, so it must not hold the executor.
pub(super) struct Scene {
    pub(super) program: Program<Act>,
    pub(super) wait: Wait,
    ex: Weak<Executor>,
    handle: Handle,
    clock: ManualClock,
    books: RefCell<Books>,
    lives: RefCell<Lives>,
    /// By number in the program: how many polls it had.
    polls: RefCell<Vec<usize>>,
    /// What a visit of the host takes.
    host: Cell<u64>,
    /// How often a queue was created under another name.
    renamed: Cell<u32>,
    /// The main future is done: what the end of the executor drops does not count.
    is_over: Cell<bool>,
}

thread_local! {
    /// For the tasks that are spawned through a handle, which may be sent and so cannot bring it with them.
    static CURRENT: RefCell<Weak<Scene>> = const { RefCell::new(Weak::new()) };
}

/// Visits of the host with neither a move nor a poll in between, after which the executor is said to hang.
const IDLE_VISITS: u32 = 1_000;

pub(super) fn play(program: &Program<Act>, operations: u64) -> anyhow::Result<Outcome> {
    let clock = ManualClock::new();
    let first = program.queues[0];
    let builder = Executor::builder().clock(clock.clone()).share(first.share);
    let ex = Rc::new(builder.request(Duration::from_nanos(first.request)).build()?);
    let scene = Rc::new(Scene {
        program: program.clone(),
        wait: Wait::default(),
        ex: Rc::downgrade(&ex),
        handle: ex.handle(),
        clock,
        books: RefCell::new(Books::new(program.victim, operations, POLLS_OVERRUN)),
        lives: RefCell::default(),
        polls: RefCell::new(vec![0; program.queues.len()]),
        host: Cell::new(0),
        renamed: Cell::new(0),
        is_over: Cell::new(false),
    });
    CURRENT.with(|current| current.replace(Rc::downgrade(&scene)));
    scene.set(&ex)?;
    let mut run = pin!(ex.run_until(make_moves(Rc::clone(&scene))));
    let mut cx = Context::from_waker(Waker::noop());
    let mut idle = 0;
    while idle < IDLE_VISITS {
        let before = scene.books.borrow().operations;
        if run.as_mut().poll(&mut cx).is_ready() {
            return Ok(scene.outcome(&ex));
        }
        scene.clock.advance(Duration::from_nanos(scene.host.get()));
        idle = if scene.books.borrow().operations == before { idle + 1 } else { 0 };
    }
    bail!("no task is polled any more, though the victim has work:\n{program}")
}

impl Scene {
    /// The first queue is the executor's default queue. The victim has work.
    fn set(self: &Rc<Self>, ex: &Executor) -> Result<(), QueueError> {
        for (number, shape) in self.program.queues.iter().enumerate() {
            let request = Duration::from_nanos(shape.request);
            let queue = match number {
                0 => ex.default_queue().clone(),
                _ => ex.new_queue(&number.to_string()).share(shape.share).request(request).create()?,
            };
            self.admit(number, queue);
        }
        if let Some(life) = self.open(self.program.victim) {
            let _detached = life.queue.spawn(Worker::new(self, &life, Manner::Always));
        }
        Ok(())
    }

    fn admit(&self, number: usize, queue: Queue) {
        let (share, request) = (queue.share(), queue.request().as_nanos() as u64);
        let life = self.lives.borrow_mut().add(number, queue);
        self.books.borrow_mut().create(life.place, share, request);
    }

    fn open(&self, number: usize) -> Option<Rc<Life>> {
        self.lives.borrow().open[number].clone()
    }

    pub(super) fn act(self: &Rc<Self>, act: Act) {
        match act {
            Act::Spawn { queue, polls, drop, how } => std::mem::drop(self.spawn(queue, polls, drop, how)),
            Act::Create { queue, share, request, renamed } => self.create(queue, share, request, renamed),
            Act::Close(queue) => self.lives.borrow_mut().close(queue),
            Act::Work(time) => self.clock.advance(Duration::from_nanos(time)),
            Act::Host(time) => self.host.set(time),
            Act::Wake { queue, .. }
            | Act::Abort(queue)
            | Act::Share { queue, .. }
            | Act::Request { queue, .. } => self.open(queue).iter().for_each(|life| self.act_on(life, act)),
            Act::Rest { .. } | Act::Yield => {}
        }
    }

    fn act_on(self: &Rc<Self>, life: &Rc<Life>, act: Act) {
        match act {
            Act::Wake { polls, .. } => {
                let has_napper = life.napper.wake(polls);
                if !has_napper {
                    let task = life.queue.spawn(Worker::new(self, life, Manner::Naps));
                    life.remember(task.abort_handle());
                }
            }
            Act::Abort(_) => life.youngest().iter().for_each(clockworker::AbortHandle::abort),
            Act::Share { share, .. } => {
                let is_set = life.queue.set_share(share).is_ok();
                if is_set {
                    self.books.borrow_mut().set_share(life.place, share);
                }
            }
            Act::Request { request, .. } => {
                let is_set = life.queue.set_request(Duration::from_nanos(request)).is_ok();
                if is_set {
                    self.books.borrow_mut().set_request(life.place, request);
                }
            }
            _ => {}
        }
    }

    pub(super) fn spawn(
        self: &Rc<Self>,
        number: usize,
        polls: u32,
        drop: u64,
        how: How,
    ) -> Option<JoinHandle<()>> {
        let life = self.open(number).filter(|life| life.queue.stats().live < CROWD)?;
        let manner = Manner::Polls { left: polls, drop };
        let task = match how {
            How::Forget | How::Await => life.queue.spawn(Worker::new(self, &life, manner)),
            How::Send => {
                let serial = life.serial;
                self.handle.spawn_on(&life.queue.name(), move || async move {
                    if let Some(worker) = sent(serial, manner) {
                        worker.await;
                    }
                })
            }
        };
        life.remember(task.abort_handle());
        Some(task)
    }

    fn create(&self, number: usize, share: u32, request: u64, renamed: bool) {
        let Some(ex) = self.ex.upgrade().filter(|_| self.open(number).is_none()) else { return };
        let mut name = number.to_string();
        if renamed {
            self.renamed.set(self.renamed.get() + 1);
            name = format!("{name} ({})", self.renamed.get());
        }
        let queue = ex.new_queue(&name).share(share).request(Duration::from_nanos(request)).create();
        if let Ok(queue) = queue {
            self.admit(number, queue);
        }
    }

    /// A task is polled: it uses the thread, and does what it was left to do.
    pub(super) fn poll(self: &Rc<Self>, life: &Life) -> u64 {
        let length = {
            let polled = &mut self.polls.borrow_mut()[life.number];
            *polled += 1;
            self.program.queues[life.number].polls[(*polled - 1) % 2]
        };
        self.spend(life, length, length);
        for at in self.wait.count(life.number) {
            self.count_move();
            self.act(self.program.moves[at]);
        }
        length
    }

    /// A task is dropped, after a poll of so long that ended with it.
    pub(super) fn end(&self, life: &Life, last_poll: u64, drop: u64) {
        if !self.is_over.get() {
            self.spend(life, drop, last_poll + drop);
        }
    }

    fn spend(&self, life: &Life, time: u64, poll: u64) {
        self.clock.advance(Duration::from_nanos(time));
        life.used.set(life.used.get() + time);
        self.books.borrow_mut().serve(life.place, time, poll);
    }

    pub(super) fn count_move(&self) {
        self.books.borrow_mut().operations += 1;
    }

    pub(super) fn next_cycle(&self) -> bool {
        let goes_on = self.books.borrow_mut().next_cycle();
        self.is_over.set(!goes_on);
        goes_on
    }

    fn outcome(&self, ex: &Executor) -> Outcome {
        let outcome = self.books.borrow().outcome();
        let served = (outcome.served as f64).max(1.0);
        let error = |busy: Duration, used: u64| (busy.as_nanos() as f64 - used as f64).abs() / served;
        let lives = self.lives.borrow();
        let errors = lives.all.iter().map(|life| error(life.queue.stats().busy, life.used.get()));
        let (queue, sum) = (errors.fold(0.0, f64::max), error(ex.stats().busy, outcome.served));
        Outcome { billing: [queue, sum], ..outcome }
    }
}

/// The task that was sent, once it is where it is to be.
fn sent(serial: usize, manner: Manner) -> Option<Worker> {
    let scene = CURRENT.with(|current| current.borrow().upgrade())?;
    let life = scene.lives.borrow().all.get(serial).cloned()?;
    Some(Worker::new(&scene, &life, manner))
}

#[cfg(test)]
mod tests {
    use super::super::Where;
    use super::*;

    const A: usize = 0;
    const B: usize = 1;

    fn outcome(moves: &[Act]) -> Outcome {
        play(&Program::of(&[(1, 100, 20); 2], moves), 4_000).unwrap()
    }

    fn rest(polls: u32, of: usize) -> Act {
        Act::Rest { polls, of: Some(of), next: Where::Main }
    }

    fn spawn(polls: u32, drop: u64, how: How) -> Act {
        Act::Spawn { queue: B, polls, drop, how }
    }

    /// The host is visited after each poll, and so they take turns poll by poll. B = (1/2)·(260 + 2·260) + 260 + 2·260 µs, as a
    /// slice may overrun its 100 µs by eight polls of 20.
    #[test]
    fn two_that_are_alike_take_turns() {
        let rest = Act::Rest { polls: 100, of: None, next: Where::Main };
        let outcome = outcome(&[Act::Wake { queue: B, polls: 100 }, rest]);
        assert_eq!(outcome.ratios, [10.0 / 1_170.0; 3]);
        assert_eq!(outcome.served, outcome.cycles * 100 * 20_000);
        assert_eq!(outcome.billing, [0.0; 2]);
    }

    #[test]
    fn what_the_main_future_and_the_host_take_went_to_no_queue() {
        let outcome = outcome(&[Act::Work(1_000_000), Act::Host(2_000_000), rest(7, A)]);
        assert_eq!(outcome.ratios, [0.0; 3]);
        assert_eq!(outcome.served, outcome.cycles * 7 * 20_000);
    }

    #[test]
    fn a_drop_is_service_whether_its_task_ended_or_was_aborted() {
        let ended = outcome(&[spawn(2, 30_000, How::Await)]);
        assert_eq!(ended.served % 20_000, 10_000 * (ended.cycles % 2));
        let aborted = outcome(&[spawn(2, 70_000, How::Forget), Act::Abort(B), rest(5, A)]);
        assert_eq!(aborted.served, aborted.cycles * (5 * 20_000 + 70_000));
    }

    #[test]
    fn a_task_does_what_comes_within_its_poll() {
        for how in [How::Forget, How::Send] {
            let within = Act::Rest { polls: 3, of: Some(A), next: Where::Poll };
            let outcome = outcome(&[within, spawn(1, 0, how), rest(1, B)]);
            let polls = outcome.served / 20_000;
            assert!(polls >= 4 * outcome.cycles && polls < 10 * outcome.cycles, "or else b had no poll");
        }
    }
}
