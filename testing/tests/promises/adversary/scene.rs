//! [`Scene`]: a program under way on the executor, and the truth about who used the thread.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::{AbortHandle, Executor, Handle, JoinHandle, ManualClock, Queue, yield_now};
use tokio::sync::{Notify, Semaphore};

use super::accounts::{Accounts, Outcome};
use super::program::{Kind, Move, Program};

/// The executor's tasks hold it, so it does not hold the executor.
struct Scene {
    program: Program,
    ex: Weak<Executor>,
    handle: Handle,
    clock: ManualClock,
    accounts: RefCell<Accounts>,
    queues: RefCell<Queues>,
    /// By number in the program: how many polls it had.
    polls: RefCell<Vec<usize>>,
    /// What a visit of the host takes, in nanoseconds.
    host: Cell<u64>,
    wait: Wait,
}

thread_local! {
    /// For the tasks that are spawned through a handle, which may be sent and so cannot bring it with them.
    static CURRENT: RefCell<Weak<Scene>> = const { RefCell::new(Weak::new()) };
}

/// Visits of the host with neither a move nor a poll in between, after which the executor is said to hang.
const IDLE_VISITS: u32 = 1_000;

/// No queue gets more tasks than this.
const MOST_TASKS: usize = 32;

/// The most polls that a napper is woken for.
const MOST_NAPS: usize = 1_000;

pub(super) fn play(program: &Program, operations: u64) -> Outcome {
    let clock = ManualClock::new();
    let first = program.queues[0];
    let builder = Executor::builder().clock(clock.clone()).share(first.share);
    let ex = Rc::new(builder.request(Duration::from_nanos(first.request)).build().unwrap());
    let scene = Rc::new(Scene {
        program: program.clone(),
        ex: Rc::downgrade(&ex),
        handle: ex.handle(),
        clock,
        accounts: RefCell::new(Accounts::new(program.victim, operations)),
        queues: RefCell::default(),
        polls: RefCell::new(vec![0; program.queues.len()]),
        host: Cell::new(0),
        wait: Wait::default(),
    });
    CURRENT.replace(Rc::downgrade(&scene));
    scene.set(&ex);
    let mut run = pin!(ex.run_until(Rc::clone(&scene).make_moves()));
    let mut cx = Context::from_waker(Waker::noop());
    let mut idle = 0;
    while idle < IDLE_VISITS {
        let before = scene.accounts.borrow().operations;
        if run.as_mut().poll(&mut cx).is_ready() {
            return scene.outcome(&ex);
        }
        scene.clock.advance(Duration::from_nanos(scene.host.get()));
        idle = if scene.accounts.borrow().operations == before { idle + 1 } else { 0 };
    }
    panic!("no task is polled any more, though the victim has work:\n{program}")
}

impl Scene {
    /// The first queue is the executor's default queue. The victim has work.
    fn set(self: &Rc<Self>, ex: &Executor) {
        for (number, shape) in self.program.queues.iter().enumerate() {
            let request = Duration::from_nanos(shape.request);
            let queue = match number {
                0 => ex.default_queue().clone(),
                _ => ex.new_queue(&number.to_string()).share(shape.share).request(request).create().unwrap(),
            };
            self.admit(number, queue);
        }
        let victim = self.open(self.program.victim).expect("it was created");
        let _detached = victim.queue.spawn(Rc::clone(self).work(Rc::clone(&victim), u32::MAX, 0));
    }

    fn admit(&self, number: usize, queue: Queue) {
        let (share, request) = (queue.share(), queue.request().as_nanos() as u64);
        let place = self.queues.borrow_mut().add(number, queue).place;
        self.accounts.borrow_mut().create(place, share, request);
    }

    fn open(&self, number: usize) -> Option<Rc<Known>> {
        self.queues.borrow().open[number].clone()
    }

    /// The main future.
    async fn make_moves(self: Rc<Self>) {
        let moves = &self.program.moves;
        while self.accounts.borrow_mut().next_cycle() {
            let mut next = 0;
            while let Some(&step) = moves.get(next) {
                next += 1;
                self.count_move();
                match step.kind {
                    Kind::Yield => yield_now().await,
                    Kind::Await => self.spawn_and_await(step).await,
                    kind if kind.rests() => {
                        let inside =
                            moves[next..].iter().take_while(|step| kind.enters() && step.kind.is_for_all());
                        let resumes = next + inside.count();
                        self.wait.begin(step.polls, kind.is_of_one().then_some(step.queue), next..resumes);
                        self.wait.is_over.notified().await;
                        next = resumes;
                    }
                    _ => self.act(step),
                }
            }
        }
    }

    /// The main future awaits a task, as long as patience lasts.
    async fn spawn_and_await(self: &Rc<Self>, step: Move) {
        self.wait.begin(u32::MAX, None, 0..0);
        let Some(task) = self.spawn(step) else { return };
        let (mut task, mut over) = (pin!(task), pin!(self.wait.is_over.notified()));
        poll_fn(|cx| match task.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => over.as_mut().poll(cx),
        })
        .await;
    }

    fn act(self: &Rc<Self>, step: Move) {
        match step.kind {
            Kind::Work => self.clock.advance(Duration::from_nanos(step.time)),
            Kind::Host => self.host.set(step.time),
            Kind::Spawn | Kind::Send => drop(self.spawn(step)),
            Kind::Create | Kind::CreateNew => self.create(step),
            Kind::Close => self.queues.borrow_mut().close(step.queue),
            _ => self.open(step.queue).iter().for_each(|on| self.act_on(on, step)),
        }
    }

    fn act_on(self: &Rc<Self>, on: &Rc<Known>, step: Move) {
        match step.kind {
            Kind::Wake => {
                let room = MOST_NAPS.saturating_sub(on.naps.available_permits());
                on.naps.add_permits(room.min(step.polls as usize));
                let is_there = on.napper.borrow().as_ref().is_some_and(|napper| !napper.is_finished());
                if !is_there {
                    let napper = on.queue.spawn(Rc::clone(self).nap(Rc::clone(on))).abort_handle();
                    on.napper.replace(Some(napper.clone()));
                    on.remember(napper);
                }
            }
            Kind::Abort => on.abort_youngest(),
            Kind::Share if on.queue.set_share(step.share).is_ok() => {
                self.accounts.borrow_mut().set_share(on.place, step.share);
            }
            Kind::Request if on.queue.set_request(Duration::from_nanos(step.time)).is_ok() => {
                self.accounts.borrow_mut().set_request(on.place, step.time);
            }
            _ => {}
        }
    }

    fn spawn(self: &Rc<Self>, step: Move) -> Option<JoinHandle<()>> {
        let on = self.open(step.queue).filter(|on| on.queue.stats().live < MOST_TASKS)?;
        let task = if step.kind == Kind::Send {
            let serial = on.serial;
            self.handle.spawn_on(&on.queue.name(), move || async move {
                if let Some(scene) = CURRENT.with_borrow(Weak::upgrade) {
                    let on = Rc::clone(&scene.queues.borrow().all[serial]);
                    scene.work(on, step.polls, step.drop).await;
                }
            })
        } else {
            on.queue.spawn(Rc::clone(self).work(Rc::clone(&on), step.polls, step.drop))
        };
        on.remember(task.abort_handle());
        Some(task)
    }

    fn create(&self, step: Move) {
        let number = step.queue;
        let Some(ex) = self.ex.upgrade().filter(|_| self.open(number).is_none()) else { return };
        let mut name = number.to_string();
        if step.kind == Kind::CreateNew {
            name = format!("{name} ({})", self.queues.borrow().all.len());
        }
        let request = Duration::from_nanos(step.time);
        if let Ok(queue) = ex.new_queue(&name).share(step.share).request(request).create() {
            self.admit(number, queue);
        }
    }

    /// A task of so many polls, whose drop takes so long.
    fn work(self: Rc<Self>, on: Rc<Known>, polls: u32, drop: u64) -> impl Future<Output = ()> {
        let end = End { scene: self, on, last_poll: Cell::new(0), drop };
        async move {
            for _ in 1..polls {
                end.scene.poll(&end.on);
                yield_now().await;
            }
            end.last_poll.set(end.scene.poll(&end.on));
        }
    }

    /// A task that sleeps, and is woken for some polls.
    async fn nap(self: Rc<Self>, on: Rc<Known>) {
        while let Ok(woken) = on.naps.acquire().await {
            woken.forget();
            self.poll(&on);
            if on.naps.available_permits() > 0 {
                yield_now().await;
            }
        }
    }

    /// A task is polled: it uses the thread, and makes the moves that are to be made inside of its poll. How long it took.
    fn poll(self: &Rc<Self>, on: &Known) -> u64 {
        let length = {
            let polled = &mut self.polls.borrow_mut()[on.number];
            *polled += 1;
            self.program.queues[on.number].polls[(*polled - 1) % 2]
        };
        self.spend(on, length, length);
        for at in self.wait.count(on.number) {
            self.count_move();
            self.act(self.program.moves[at]);
        }
        length
    }

    fn spend(&self, on: &Known, time: u64, poll: u64) {
        self.clock.advance(Duration::from_nanos(time));
        on.used.set(on.used.get() + time);
        self.accounts.borrow_mut().serve(on.place, time, poll);
    }

    fn count_move(&self) {
        self.accounts.borrow_mut().operations += 1;
    }

    fn outcome(&self, ex: &Executor) -> Outcome {
        assert_eq!(ex.stats().panicked, 0, "tasks that panicked");
        let outcome = self.accounts.borrow().outcome();
        let served = (outcome.served as f64).max(1.0);
        let error = |busy: Duration, used: u64| (busy.as_nanos() as f64 - used as f64).abs() / served;
        let queues = self.queues.borrow();
        let errors = queues.all.iter().map(|known| error(known.queue.stats().busy, known.used.get()));
        Outcome { misbilled: errors.fold(error(ex.stats().busy, outcome.served), f64::max), ..outcome }
    }
}

/// The drop of a task's future takes time too, after its last poll.
struct End {
    scene: Rc<Scene>,
    on: Rc<Known>,
    last_poll: Cell<u64>,
    drop: u64,
}

impl Drop for End {
    fn drop(&mut self) {
        self.scene.spend(&self.on, self.drop, self.last_poll.get() + self.drop);
    }
}

/// Counts polls for the main future.
#[derive(Default)]
struct Wait {
    /// Polls until it is over.
    left: Cell<u32>,
    /// Polls of that queue alone count.
    of: Cell<Option<usize>>,
    /// Polls of any queue until it is given up.
    patience: Cell<u32>,
    /// What is to be done inside the last poll.
    moves: Cell<Range<usize>>,
    is_over: Notify,
}

/// The most polls of one wait: a queue that is never polled must not hold up the play.
const PATIENCE: u32 = 400;

impl Wait {
    fn begin(&self, polls: u32, of: Option<usize>, moves: Range<usize>) {
        self.left.set(polls);
        self.of.set(of);
        self.patience.set(PATIENCE);
        self.moves.set(moves);
    }

    /// A queue had a poll. The moves to be made inside of it, where it is the last that is waited for.
    fn count(&self, number: usize) -> Range<usize> {
        let (left, patience) = (self.left.get(), self.patience.get());
        if left == 0 || patience == 0 {
            return 0..0;
        }
        let left = left - u32::from(self.of.get().is_none_or(|of| of == number));
        self.left.set(left);
        self.patience.set(patience - 1);
        if left == 0 || patience == 1 {
            self.is_over.notify_waiters();
        }
        if left == 0 { self.moves.take() } else { 0..0 }
    }
}

/// One queue, and what is known of it.
struct Known {
    queue: Queue,
    /// Its number in the program.
    number: usize,
    /// Its number among all that there were.
    serial: usize,
    place: usize,
    /// Nanoseconds that its tasks used.
    used: Cell<u64>,
    /// Polls that its napper has been woken for.
    naps: Semaphore,
    napper: RefCell<Option<AbortHandle>>,
    tasks: RefCell<Vec<AbortHandle>>,
}

impl Known {
    fn remember(&self, task: AbortHandle) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Aborts the youngest task that is there and was not aborted.
    fn abort_youngest(&self) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|task| !task.is_finished());
        let youngest = tasks.pop();
        drop(tasks);
        youngest.iter().for_each(AbortHandle::abort);
    }
}

#[derive(Default)]
struct Queues {
    all: Vec<Rc<Known>>,
    /// By number in the program: none where it is closed.
    open: Vec<Option<Rc<Known>>>,
    /// Closed, with tasks left.
    closing: Vec<Rc<Known>>,
    /// Places to be taken, the next one last.
    free: Vec<usize>,
    places: usize,
}

/// No more queues than this are closed and have tasks left: each time one is created or closed, all of them are looked at.
const MOST_CLOSING: usize = 128;

impl Queues {
    /// A queue was created: it takes the place of the one that went last, or a new one.
    fn add(&mut self, number: usize, queue: Queue) -> Rc<Known> {
        self.free_places();
        let place = self.free.pop().unwrap_or(self.places);
        self.places = self.places.max(place + 1);
        let known = Rc::new(Known {
            queue,
            number,
            serial: self.all.len(),
            place,
            used: Cell::new(0),
            naps: Semaphore::new(0),
            napper: RefCell::default(),
            tasks: RefCell::default(),
        });
        self.all.push(Rc::clone(&known));
        self.open.resize(self.open.len().max(number + 1), None);
        self.open[number] = Some(Rc::clone(&known));
        known
    }

    /// Closes a queue, unless [too many](MOST_CLOSING) are closing. Its place is free once its last task has ended.
    fn close(&mut self, number: usize) {
        self.free_places();
        if self.closing.len() == MOST_CLOSING {
            return;
        }
        if let Some(known) = self.open[number].take() {
            known.queue.close();
            self.closing.push(known);
            self.free_places();
        }
    }

    fn free_places(&mut self) {
        let free = &mut self.free;
        self.closing.retain(|known| {
            let is_gone = known.queue.stats().live == 0;
            free.extend(is_gone.then_some(known.place));
            !is_gone
        });
    }
}
