//! Random loans, begun and ended at any time: the promise to a queue that always works, and what is counted.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{FairGroups, Las, RunnableFifo, WokenFirst};
use clockworker::{Executor, Lending, Queue, yield_now};
use fastrand::Rng;

use crate::support::*;

/// The longest poll.
const POLL: Duration = us(100);
const REQUEST: Duration = us(500);

struct Program {
    queues: Vec<Queue>,
    random: RefCell<Rng>,
    /// Tasks to spawn still.
    left: Cell<usize>,
    /// What was begun to be awaited, for anyone to go on with.
    shared: RefCell<Vec<Lending<()>>>,
}

impl Program {
    fn below(&self, end: usize) -> usize {
        self.random.borrow_mut().usize(..end)
    }

    /// Works, yields, spawns, lends to what it or another task has spawned, and ends its loans, in a random order.
    async fn task(self: Rc<Self>) {
        // Only what it has spawned is awaited to its end, or there would be rings.
        let (mut own, mut others): (Vec<Lending<()>>, Vec<Lending<()>>) = Default::default();
        for _ in 0..self.below(20) {
            match self.below(9) {
                0..=1 => work(us(self.below(100) as u64)),
                2..=3 => yield_now().await,
                4 if self.left.get() > 0 => {
                    self.left.set(self.left.get() - 1);
                    let queue = &self.queues[self.below(self.queues.len())];
                    let child = Box::pin(Self::task(Rc::clone(&self)));
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
                    let lending = own.remove(self.below(own.len()));
                    match self.below(4) {
                        0 => drop(lending),
                        1 => self.shared.borrow_mut().push(lending),
                        2 => lending.handle().abort(),
                        _ => drop(lending.await),
                    }
                }
                7 => {
                    let some = self.shared.borrow_mut().pop();
                    others.extend(some);
                }
                _ => sleep(us(self.below(300) as u64)).await,
            }
        }
    }

    fn live(&self) -> usize {
        self.queues.iter().map(|queue| queue.stats().live).sum()
    }

    fn check(&self) {
        for queue in &self.queues {
            let stats = queue.stats();
            assert_eq!(stats.policy_fault, None);
            let ended = stats.completed + stats.cancelled + stats.panicked;
            assert_eq!(stats.spawned, ended + stats.live as u64, "{}", stats.name);
            let grouped: u64 = queue.group_stats().iter().map(|group| group.live).sum();
            assert!(grouped <= stats.live as u64);
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

fn check_program(seed: u64) {
    let ex = world();
    let (queues, random) = (queues(&ex), RefCell::new(Rng::with_seed(seed)));
    let third = ex.new_queue("third").share(50).create().unwrap();
    third.spawn(compute(POLL));
    let program = Rc::new(Program { queues, random, left: Cell::new(300), shared: RefCell::default() });
    // The default queue has no tasks, and a share of 1.
    let bound = bound(50.0, &[99.0, 40.0, 10.0, 1.0, 1.0]);
    run(&ex, async {
        // What the third queue lacks is measured between any two of these moments.
        let mut best = f64::MIN;
        for _ in 0..200 {
            while program.left.get() > 0 && program.live() < 8 {
                program.left.set(program.left.get() - 1);
                program.queues[program.below(4)].spawn(Rc::clone(&program).task());
            }
            sleep(us(97)).await;
            let ahead = third.stats().busy.as_secs_f64() - now().as_secs_f64() * 50.0 / 201.0;
            best = best.max(ahead);
            assert!(best - ahead <= bound, "it lacks {} s of {bound}", best - ahead);
            program.check();
        }
        // The rest goes on without it.
        program.left.set(0);
        for _ in 0..100_000 {
            program.shared.borrow_mut().clear();
            if program.live() == 0 {
                return program.check();
            }
            sleep(us(100)).await;
        }
        panic!("tasks are left");
    });
}

#[test]
fn whatever_is_lent_a_third_queue_gets_its_share() {
    for seed in 0..100 {
        assert!(std::panic::catch_unwind(|| check_program(seed)).is_ok(), "seed {seed}");
    }
}
