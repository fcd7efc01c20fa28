//! Promise 16, inside a queue: a tenant that always has work gets what it is owed under `FairGroups`, whatever the others do.
//!
//! A search as the adversary's, on the executor, on a clock that only tasks move: programs of polls, spawns, wakes and changes of weight,
//! which tasks make in their polls. How far the tenant falls short of its part of what the queue receives, in any stretch, is
//! divided by the bound of docs/BOUNDS.md. The queue is alone, beside another, below another, or capped.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::schedulers::FairGroups;
use clockworker::{Cap, Executor, Group, ManualClock, Queue, yield_now};
use clockworker_testing::climb::climb;
use clockworker_testing::effort::each_seed;
use fastrand::Rng;

use super::Reached;

/// In nanoseconds. Each poll of as long as this, or longer, is timed.
const LENGTHS: [u64; 4] = [2_500, 16_000, 17_000, LONGEST];
const LONGEST: u64 = 100_000;
const WEIGHTS: [u32; 4] = [1, 2, 10, 300];

/// By key. The first is the victim's.
const TENANTS: u64 = 5;
const MOST_TASKS: u32 = 3;

/// Polls of the queue in a trial.
const POLLS: usize = 400;

#[derive(Clone, Copy, Debug)]
enum End {
    Yields,
    Sleeps,
    Finishes,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    /// A poll that takes so long and ends so, if it is not the victim's.
    Poll(u64, End),
    /// One more task of a tenant, whose group opens by that weight if it is not open.
    Spawn(u64, u32),
    /// All tasks of a tenant that sleep.
    Wake(u64),
    Change(u64, u32),
}

impl Move {
    fn draw(rng: &mut Rng) -> Self {
        let tenant = rng.u64(1..TENANTS);
        match rng.u8(..10) {
            0 | 1 => Self::Spawn(tenant, WEIGHTS[rng.usize(..WEIGHTS.len())]),
            2 | 3 => Self::Wake(tenant),
            4 => Self::Change(tenant, WEIGHTS[rng.usize(..WEIGHTS.len())]),
            _ => {
                let end = [End::Yields, End::Sleeps, End::Finishes][rng.usize(..3)];
                Self::Poll(LENGTHS[rng.usize(..LENGTHS.len())], end)
            }
        }
    }
}

/// Where the tenants' queue is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Alone,
    Beside,
    Below,
    Capped,
}

#[derive(Clone, Debug)]
struct Program {
    place: Place,
    burst_ns: u64,
    weight: u32,
    poll_ns: u64,
    /// Made round and round.
    moves: Vec<Move>,
}

impl Program {
    fn draw(rng: &mut Rng) -> Self {
        Self {
            place: [Place::Alone, Place::Beside, Place::Below, Place::Capped][rng.usize(..4)],
            burst_ns: [0, 100_000][rng.usize(..2)],
            weight: WEIGHTS[rng.usize(..WEIGHTS.len())],
            poll_ns: LENGTHS[rng.usize(..LENGTHS.len())],
            moves: (0..rng.usize(2..14)).map(|_| Move::draw(rng)).collect(),
        }
    }

    fn changed(&self, rng: &mut Rng) -> Self {
        let mut changed = self.clone();
        let at = rng.usize(..self.moves.len());
        match rng.u8(..10) {
            0..3 => changed.moves[at] = Move::draw(rng),
            3..6 => changed.moves.insert(at, Move::draw(rng)),
            6 | 7 if self.moves.len() > 2 => _ = changed.moves.remove(at),
            8 => changed.weight = WEIGHTS[rng.usize(..WEIGHTS.len())],
            _ => changed.poll_ns = LENGTHS[rng.usize(..LENGTHS.len())],
        }
        changed
    }
}

/// What the queue and the victim had received, in nanoseconds.
#[derive(Clone, Copy)]
struct Point {
    queue: u64,
    victim: u64,
}

struct Scene {
    program: Program,
    clock: ManualClock,
    queue: Queue,
    next: Cell<usize>,
    sleepers: RefCell<BTreeMap<u64, Vec<Waker>>>,
    tasks: RefCell<BTreeMap<u64, u32>>,
    /// The greatest that a tenant's weight was.
    weights: RefCell<BTreeMap<u64, u32>>,
    points: RefCell<Vec<Point>>,
}

impl Scene {
    /// Makes moves up to the next poll: how long it takes and how it ends.
    fn moves(self: &Rc<Self>) -> (u64, End) {
        // A program without polls has some all the same.
        for _ in 0..self.program.moves.len() {
            let at = self.next.get();
            self.next.set(at + 1);
            match self.program.moves[at % self.program.moves.len()] {
                Move::Poll(ns, end) => return (ns, end),
                Move::Spawn(tenant, weight) => self.spawn(tenant, weight),
                Move::Wake(tenant) => {
                    let woken = self.sleepers.borrow_mut().remove(&tenant);
                    woken.into_iter().flatten().for_each(Waker::wake);
                }
                Move::Change(tenant, weight) => {
                    if let Some(group) = self.queue.find_group(tenant) {
                        group.set_weight(weight).unwrap();
                        self.note_weight(tenant, weight);
                    }
                }
            }
        }
        (LENGTHS[0], End::Yields)
    }

    fn note_weight(&self, tenant: u64, weight: u32) {
        let mut weights = self.weights.borrow_mut();
        let most = weights.entry(tenant).or_insert(weight);
        *most = weight.max(*most);
    }

    fn group(&self, tenant: u64, weight: u32) -> Group {
        let open = self.queue.find_group(tenant);
        open.unwrap_or_else(|| {
            self.note_weight(tenant, weight);
            self.queue.new_group(tenant).weight(weight).open().unwrap()
        })
    }

    fn spawn(self: &Rc<Self>, tenant: u64, weight: u32) {
        let tasks = *self.tasks.borrow().get(&tenant).unwrap_or(&0);
        if tasks == MOST_TASKS {
            return;
        }
        self.tasks.borrow_mut().insert(tenant, tasks + 1);
        let scene = Rc::clone(self);
        self.group(tenant, weight).spawn(poll_fn(move |cx| scene.poll(tenant, cx.waker())));
    }

    fn poll(self: &Rc<Self>, tenant: u64, waker: &Waker) -> Poll<()> {
        let (ns, end) = match (tenant, self.moves()) {
            (0, _) => (self.program.poll_ns, End::Yields),
            (_, others) => others,
        };
        self.clock.advance(Duration::from_nanos(ns));
        let last = *self.points.borrow().last().unwrap();
        let victim = last.victim + if tenant == 0 { ns } else { 0 };
        self.points.borrow_mut().push(Point { queue: last.queue + ns, victim });
        match end {
            End::Yields => waker.wake_by_ref(),
            End::Sleeps => self.sleepers.borrow_mut().entry(tenant).or_default().push(waker.clone()),
            End::Finishes => {
                *self.tasks.borrow_mut().get_mut(&tenant).unwrap() -= 1;
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

/// Plays a program: by how many bounds the victim fell short in the worst stretch.
fn shortfall(program: &Program) -> f64 {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let fair = FairGroups::new().with_burst_ns(program.burst_ns);
    let quantum_ns = fair.quantum_ns();
    let branch = ex.new_queue("branch").create().unwrap();
    let builder = match program.place {
        Place::Below => branch.new_queue("tenants"),
        Place::Capped => ex.new_queue("tenants").cap(Cap::percent(50, Duration::from_millis(10)).unwrap()),
        Place::Alone | Place::Beside => ex.new_queue("tenants"),
    };
    let queue = builder.scheduler(fair).create().unwrap();
    if matches!(program.place, Place::Beside | Place::Below) {
        let clock = clock.clone();
        ex.default_queue().spawn(async move {
            loop {
                clock.advance(Duration::from_micros(70));
                yield_now().await;
            }
        });
    }
    let scene = Rc::new(Scene {
        program: program.clone(),
        clock: clock.clone(),
        queue,
        next: Cell::new(0),
        sleepers: RefCell::default(),
        tasks: RefCell::default(),
        weights: RefCell::default(),
        points: RefCell::new(vec![Point { queue: 0, victim: 0 }]),
    });
    scene.spawn(0, program.weight);
    let mut run = pin!(ex.run_until(pending::<()>()));
    while scene.points.borrow().len() <= POLLS {
        assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        clock.advance(Duration::from_micros(50)); // the host, or a cap
    }
    let weights = scene.weights.borrow();
    let all: u32 = weights.values().sum();
    let longest_turn = (quantum_ns + LONGEST) as f64;
    let share = f64::from(program.weight) / f64::from(all);
    let others = (weights.len() - 1) as f64;
    let bound = share * others * (longest_turn + program.burst_ns as f64) + (1.0 - share) * longest_turn;
    // Of stretches that begin by now: what was due less what was received, where that is least.
    let points = scene.points.borrow();
    let (mut least, mut worst) = (f64::MAX, 0.0_f64);
    for point in points.iter() {
        let behind = share * point.queue as f64 - point.victim as f64;
        least = least.min(behind);
        worst = worst.max(behind - least);
    }
    if bound > 0.0 { worst / bound } else { 0.0 }
}

#[test]
fn no_tenants_take_more_than_the_bound_from_one_that_always_works() {
    let shortfalls = Reached::default();
    each_seed(12, 3_000, |seed| {
        let mut rng = Rng::with_seed(seed);
        let start = Program::draw(&mut rng);
        let (program, worst) = climb(start, 150, |program| program.changed(&mut rng), shortfall);
        assert!(worst <= 1.0, "{worst} bounds: {program:?}");
        shortfalls.note(worst);
    });
    println!("greatest shortfall / bound {shortfalls}");
    shortfalls.assert_near(0.4);
}
