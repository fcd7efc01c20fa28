//! Random loans, begun and ended at any time: the promise to a queue that always works, and the books.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{FairGroups, Las, RunnableFifo, WokenFirst};
use clockworker::{Executor, Lending, Queue, yield_now};

use crate::support::{Random, VirtualTime, compute, us};

/// The longest poll.
const POLL: Duration = us(100);
const REQUEST: Duration = us(500);

struct World {
    sim: VirtualTime,
    queues: Vec<Queue>,
    random: RefCell<Random>,
    /// Tasks to spawn still.
    left: RefCell<usize>,
    /// What was begun to be awaited, for anyone to go on with.
    shared: RefCell<Vec<Lending<()>>>,
}

impl World {
    fn below(&self, end: usize) -> usize {
        self.random.borrow_mut().below(end)
    }

    /// Works, yields, spawns, lends to what it has spawned or to anybody's, and ends its loans, in a random order.
    async fn run(self: Rc<Self>) {
        // Only what it has spawned is awaited to its end, or there would be rings.
        let (mut own, mut others): (Vec<Lending<()>>, Vec<Lending<()>>) = Default::default();
        for _ in 0..self.below(20) {
            match self.below(9) {
                0..=1 => self.sim.work(us(self.below(100) as u64)),
                2..=3 => yield_now().await,
                4 if *self.left.borrow() > 0 => {
                    *self.left.borrow_mut() -= 1;
                    let queue = &self.queues[self.below(self.queues.len())];
                    let child = Box::pin(Self::run(Rc::clone(&self)));
                    let task = match self.below(4) {
                        0 => queue.spawn(child),
                        group => queue.group(group as u64).spawn(child),
                    };
                    own.push(task.lending());
                }
                5 => {
                    for lending in own.iter_mut().chain(&mut others) {
                        if !lending.handle().is_finished() {
                            let _ = futures_util::poll!(lending);
                        }
                    }
                }
                6 if !own.is_empty() => {
                    let at = self.below(own.len());
                    let lending = own.remove(at);
                    match self.below(4) {
                        0 => drop(lending),
                        1 => self.shared.borrow_mut().push(lending),
                        2 => lending.handle().abort(),
                        _ => drop(lending.await),
                    }
                }
                7 => {
                    let some = self.shared.borrow_mut().pop();
                    if let Some(lending) = some {
                        others.push(lending);
                    }
                }
                _ => self.sim.sleep(us(self.below(300) as u64)).await,
            }
        }
    }
}

/// The promise of docs/BOUNDS.md where no share changes: what a queue that always has work may lack, of W in all. All
/// requests are 500 µs, all polls at most 100.
fn bound(share: f64, others: &[f64]) -> f64 {
    let (r, o) = (REQUEST.as_secs_f64(), POLL.as_secs_f64());
    let (k, w) = (2.0 * (r + o), share + others.iter().sum::<f64>());
    let each = |other: &f64| r.max(r * other / share) + o + k;
    share / w * others.iter().map(each).sum::<f64>() + r + o + k
}

fn queues(ex: &Executor) -> Vec<Queue> {
    vec![
        ex.new_queue("a").share(99).scheduler(RunnableFifo::new()).create().unwrap(),
        ex.new_queue("b").share(40).scheduler(FairGroups::new()).create().unwrap(),
        ex.new_queue("c").share(10).scheduler(WokenFirst::new()).create().unwrap(),
        ex.new_queue("d").share(1).scheduler(Las::new()).create().unwrap(),
    ]
}

fn run(seed: u64) {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queues = queues(&ex);
    let third = ex.new_queue("third").share(50).create().unwrap();
    third.spawn(compute(&sim, POLL));
    let (random, left) = (RefCell::new(Random::new(seed)), RefCell::new(300));
    let world = Rc::new(World { sim: sim.clone(), queues, random, left, shared: RefCell::default() });
    // The default queue has no tasks, and a share of 1.
    let bound = bound(50.0, &[99.0, 40.0, 10.0, 1.0, 1.0]);
    sim.run(&ex, async {
        // What the third queue lacks is measured between any two of these moments.
        let mut best = f64::MIN;
        for _ in 0..200 {
            while *world.left.borrow() > 0 && world.queues.iter().map(|q| q.stats().live).sum::<usize>() < 8 {
                *world.left.borrow_mut() -= 1;
                world.queues[world.below(4)].spawn(Rc::clone(&world).run());
            }
            sim.sleep(us(97)).await;
            let ahead = third.stats().busy.as_secs_f64() - sim.now().as_secs_f64() * 50.0 / 201.0;
            best = best.max(ahead);
            assert!(best - ahead <= bound, "seed {seed}: it lacks {} s of {bound}", best - ahead);
            check_books(&world.queues, seed);
        }
    });
    // The rest goes on without them.
    world.shared.borrow_mut().clear();
    *world.left.borrow_mut() = 0;
    let is_done = || world.queues.iter().all(|queue| queue.stats().live == 0);
    sim.run(&ex, async {
        for _ in 0..100_000 {
            world.shared.borrow_mut().clear();
            if is_done() {
                return;
            }
            sim.sleep(us(100)).await;
        }
        panic!("seed {seed}: tasks are left");
    });
    check_books(&world.queues, seed);
}

fn check_books(queues: &[Queue], seed: u64) {
    for queue in queues {
        let stats = queue.stats();
        assert_eq!(stats.policy_fault, None, "seed {seed}");
        let ended = stats.completed + stats.cancelled + stats.panicked;
        assert_eq!(stats.spawned, ended + stats.live as u64, "seed {seed}: {}", stats.name);
        let grouped: u64 = queue.group_stats().iter().map(|group| group.live).sum();
        assert!(grouped <= stats.live as u64, "seed {seed}");
    }
}

#[test]
fn whatever_is_lent_to_whom_a_third_queue_gets_its_share_and_the_books_are_right() {
    (0..100).for_each(run);
}
