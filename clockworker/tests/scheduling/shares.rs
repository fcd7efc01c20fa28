//! Shares of CPU between queues, on a manual clock: who gets how much, who goes first, what sleeping does.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue};

use crate::support::{Fluid, NEVER, Signal, Trace, VirtualTime, compute, poller, us};

/// A queue that always has work.
#[derive(Clone, Copy)]
struct Load {
    share: u32,
    request: Duration,
    /// The lengths of its tasks' polls, in turn.
    polls: &'static [u64],
    tasks: usize,
}

const fn load(share: u32, polls: &'static [u64]) -> Load {
    Load { share, request: us(500), polls, tasks: 2 }
}

/// Queues that always have work, beside the ideal server's accounts, which are checked after every poll.
struct Saturated {
    sim: VirtualTime,
    ex: Executor,
    fluid: Rc<RefCell<Fluid>>,
    queues: Vec<Queue>,
    end: Rc<Cell<Duration>>,
    over: Signal,
}

impl Saturated {
    fn new(host_budget: Duration) -> Self {
        let sim = VirtualTime::new();
        let ex = sim.builder().host_budget(host_budget).build().unwrap();
        let (fluid, queues, end, over) = Default::default();
        Self { sim, ex, fluid, queues, end, over }
    }

    fn add(&mut self, load: Load) {
        let name = format!("queue {}", self.queues.len());
        let queue = self.ex.new_queue(&name).share(load.share).request(load.request).create().unwrap();
        let number = self.fluid.borrow_mut().join(load.share, load.request);
        for _ in 0..load.tasks {
            queue.spawn(self.task(number, load.polls));
        }
        self.queues.push(queue);
    }

    fn task(&self, queue: usize, polls: &'static [u64]) -> impl Future<Output = ()> + 'static {
        let (sim, fluid) = (self.sim.clone(), Rc::clone(&self.fluid));
        let (end, over) = (Rc::clone(&self.end), self.over.clone());
        async move {
            for length in polls.iter().cycle().map(|n| us(*n)) {
                sim.work(length);
                fluid.borrow_mut().ran(queue, length);
                if sim.now() >= end.get() {
                    over.set();
                }
                clockworker::yield_now().await;
            }
        }
    }

    /// Runs for so long in virtual time.
    fn run(&self, time: Duration) {
        self.end.set(self.sim.now() + time);
        self.sim.run(&self.ex, self.over.wait());
        for (number, queue) in self.queues.iter().enumerate() {
            assert_eq!(
                queue.stats().busy,
                self.fluid.borrow().served(number),
                "what it is charged is what it got"
            );
        }
    }
}

/// After each: how much a queue was behind and ahead at worst, in nanoseconds.
fn saturate(host_budget: Duration, time: Duration, loads: &[Load]) {
    let mut world = Saturated::new(host_budget);
    loads.iter().for_each(|load| world.add(*load));
    world.run(time);
    let fluid = world.fluid.borrow();
    fluid.check_share(100);
    assert!(
        fluid.worst.0 > 0 && fluid.worst.1 > 0,
        "the ideal server shares every nanosecond, the real one cannot"
    );
}

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// The host may interrupt often, or never; shares do not depend on it.
const BUDGETS: [Duration; 2] = [us(200), NEVER];

#[test]
fn two_queues_at_1_to_1() {
    for budget in BUDGETS {
        saturate(budget, SECOND, &[load(1, &[10]), load(1, &[10])]);
        saturate(budget, SECOND, &[load(1, &[100]), load(1, &[100])]);
        saturate(budget, SECOND, &[load(1, &[10]), load(1, &[100])]);
        saturate(budget, SECOND, &[load(1, &[10, 100, 35]), load(1, &[70, 20])]);
    }
}

#[test]
fn two_queues_at_9_to_1() {
    for budget in BUDGETS {
        saturate(budget, SECOND, &[load(9, &[10]), load(1, &[10])]);
        saturate(budget, SECOND, &[load(9, &[100]), load(1, &[100])]);
        saturate(budget, SECOND, &[load(9, &[10]), load(1, &[100])]);
        saturate(budget, SECOND, &[load(9, &[100]), load(1, &[10])]);
    }
}

/// What is owed the small one in a second, 999 µs, is two of its requests; 1 % of that is 10 µs, which no server with
/// polls of 10 µs and requests of 500 µs can promise. So it has a request of 10 µs here, and polls of 5.
#[test]
fn two_queues_at_1000_to_1() {
    let fine = |share| Load { request: us(5), ..load(share, &[5]) };
    for budget in BUDGETS {
        saturate(budget, SECOND, &[fine(1000), fine(1)]);
    }
}

/// With the usual requests and polls it takes longer until 1 % is more than a request.
#[test]
fn two_queues_at_1000_to_1_with_long_polls() {
    saturate(us(1_000), 60 * SECOND, &[load(1000, &[200]), load(1, &[50])]);
}

#[test]
fn five_queues_at_even_shares() {
    for budget in BUDGETS {
        saturate(budget, SECOND, &[load(1, &[10]); 5]);
        let unlike =
            [load(3, &[10]), load(3, &[100]), load(3, &[10, 100]), load(3, &[50]), load(3, &[90, 1])];
        saturate(budget, SECOND, &unlike);
    }
}

#[test]
fn five_queues_at_mixed_shares() {
    let loads = [load(1, &[10]), load(2, &[100]), load(5, &[10, 100]), load(20, &[75]), load(72, &[140, 70])];
    for budget in BUDGETS {
        saturate(budget, 10 * SECOND, &loads);
    }
}

#[test]
fn a_queue_whose_polls_are_longer_than_its_request_gets_no_more() {
    let long = Load { request: us(100), ..load(1, &[300]) };
    for budget in BUDGETS {
        saturate(budget, SECOND, &[long, load(1, &[10])]);
        saturate(budget, SECOND, &[load(1, &[10]), long, load(2, &[100])]);
    }
}

/// Nor do they depend on it if it interrupts after every poll.
#[test]
fn a_host_that_is_always_due_changes_no_shares() {
    saturate(Duration::ZERO, SECOND, &[load(1, &[50]), load(1, &[100])]);
    saturate(Duration::ZERO, SECOND, &[load(9, &[100]), load(1, &[30])]);
    saturate(Duration::ZERO, SECOND, &[load(3, &[100]), load(1, &[40]), load(2, &[70, 10])]);
}

#[test]
fn the_number_of_tasks_in_a_queue_does_not_matter() {
    let many = Load { tasks: 100, ..load(1, &[20]) };
    let one = Load { tasks: 1, ..load(1, &[20]) };
    saturate(NEVER, SECOND, &[many, one]);
}

#[test]
fn a_small_request_takes_shorter_turns_at_the_same_share() {
    let mut world = Saturated::new(NEVER);
    world.add(load(1, &[10]));
    world.add(Load { request: us(50), ..load(1, &[10]) });
    world.run(SECOND);
    world.fluid.borrow().check_share(100);
    let slices: Vec<u64> = world.queues.iter().map(|queue| queue.stats().slices).collect();
    // Half a second each, in turns of 500 µs and of 50 µs.
    assert!((990..=1_010).contains(&slices[0]), "{slices:?}");
    assert!((9_900..=10_100).contains(&slices[1]), "{slices:?}");
}

#[test]
fn of_two_new_queues_the_one_with_the_small_request_is_first() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let large = ex.new_queue("large").request(us(300)).create().unwrap();
    let small = ex.new_queue("small").request(us(100)).create().unwrap();
    large.spawn(poller(&sim, &trace, "l", 6, us(100)));
    let last = small.spawn(poller(&sim, &trace, "s", 6, us(100)));
    sim.run(&ex, last).unwrap();
    // s1: v = 100 against 0, V = 50, so only the large one is eligible, and takes its request of 300: V = 200. Then the
    // small one, due at 200 and 300 against 600, until it is ahead: v = 300, V = 300, due at 400. v = 400, V = 350.
    assert_eq!(trace.take(), "s1 l1 l2 l3 s2 s3 s4 l4 l5 l6 s5 s6");
}

/// How long a queue of that request waits, from wake to poll, when it works 10 µs in every 1,037 µs beside one that
/// always works in polls of 20 µs. The greatest and the sum of a thousand waits.
fn waits(request: Duration) -> (Duration, Duration) {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let busy = ex.new_queue("busy").request(us(500)).create().unwrap();
    let sleepy = ex.new_queue("sleepy").request(request).create().unwrap();
    busy.spawn(compute(&sim, us(20)));
    let sleeper = sleepy.spawn({
        let sim = sim.clone();
        async move {
            let (mut most, mut sum) = (Duration::ZERO, Duration::ZERO);
            for turn in 1..=1_000 {
                let due = us(1_037) * turn;
                sim.sleep_until(due).await;
                let wait = sim.now() - due;
                (most, sum) = (most.max(wait), sum + wait);
                sim.work(us(10));
            }
            (most, sum)
        }
    });
    sim.run(&ex, sleeper).unwrap()
}

#[test]
fn a_small_request_waits_less() {
    let (most_small, sum_small) = waits(us(50));
    let (most_equal, sum_equal) = waits(us(500));
    let (most_large, sum_large) = waits(us(5_000));
    // The small one never waits for more than the poll under way: whenever it wakes, it is due before the other.
    assert!(most_small < us(20), "{most_small:?}");
    // Its polls are spread evenly over the other's, so it waits for half of one.
    assert_eq!(sum_small, us(9_500));
    // With the same request, or a larger one, it waits at first for the whole of the slice under way; later seldom, as it
    // uses less than its share and keeps some of what it is owed for that.
    assert!(most_equal > us(500) && most_equal <= us(520), "{most_equal:?}");
    assert!(most_large > us(500) && most_large <= us(520), "{most_large:?}");
    assert!(sum_small < sum_equal && sum_equal < sum_large, "{sum_small:?} {sum_equal:?} {sum_large:?}");
}

#[test]
fn a_queue_that_joins_late_is_owed_from_then_on() {
    for budget in BUDGETS {
        let mut world = Saturated::new(budget);
        world.add(load(3, &[10]));
        world.add(load(1, &[100]));
        world.run(SECOND);
        world.fluid.borrow().check_share(100);
        // Nothing for the past: had it been owed its half of it, this would put the others off for half a second.
        world.add(load(4, &[30]));
        world.run(SECOND);
        let fluid = world.fluid.borrow();
        fluid.check_share(100);
        assert!((us(495_000)..=us(505_000)).contains(&fluid.served(2)), "{:?}", fluid.served(2));
        assert!((us(1_115_000)..=us(1_135_000)).contains(&fluid.served(0)), "{:?}", fluid.served(0));
    }
}

#[test]
fn shares_may_change_while_the_queues_run() {
    for budget in BUDGETS {
        let mut world = Saturated::new(budget);
        world.add(load(1, &[10]));
        world.add(load(1, &[10, 70]));
        world.add(load(2, &[100]));
        world.run(SECOND);
        // Between runs, and then from inside the running slices.
        world.queues[0].set_share(9).unwrap();
        world.fluid.borrow_mut().set_share(0, 9);
        world.run(SECOND);
        world.fluid.borrow().check_share(100);
        assert_eq!(world.queues[0].share(), 9);
    }
}

/// A task of the first queue changes somebody's share at the end of every 7th of its polls, in the middle of its slice.
fn reshare(budget: Duration, shares: &'static [(usize, u32)]) {
    let mut world = Saturated::new(budget);
    world.add(load(1, &[]));
    world.add(load(1, &[30]));
    world.add(load(2, &[100]));
    let changing = world.queues.clone();
    let (sim, fluid) = (world.sim.clone(), Rc::clone(&world.fluid));
    let (end, over) = (Rc::clone(&world.end), world.over.clone());
    world.queues[0].spawn(async move {
        let mut changes = shares.iter().cycle();
        for poll in 1_u64.. {
            sim.work(us(10));
            fluid.borrow_mut().ran(0, us(10));
            if poll % 7 == 0 {
                let (queue, share) = *changes.next().unwrap();
                changing[queue].set_share(share).unwrap();
                fluid.borrow_mut().set_share(queue, share);
            }
            if sim.now() >= end.get() {
                over.set();
            }
            clockworker::yield_now().await;
        }
    });
    world.run(SECOND);
    world.fluid.borrow().check_share(100);
}

/// What a queue got before a change of share counts by the old share, also if its slice is under way.
#[test]
fn shares_may_change_inside_a_slice() {
    for budget in BUDGETS {
        reshare(budget, &[(1, 5), (2, 1), (1, 1), (2, 7)]);
        reshare(budget, &[(0, 9), (0, 1)]);
        reshare(budget, &[(0, 100), (1, 100), (0, 1), (1, 1)]);
    }
}

#[test]
fn requests_may_change_while_the_queues_run() {
    for budget in BUDGETS {
        let mut world = Saturated::new(budget);
        world.add(load(1, &[10]));
        world.add(load(1, &[10]));
        world.run(SECOND);
        let before = world.queues[0].stats().slices;
        world.queues[0].set_request(us(50)).unwrap();
        world.fluid.borrow_mut().set_request(0, us(50));
        assert_eq!(world.queues[0].request(), us(50));
        world.run(SECOND);
        world.fluid.borrow().check_share(100);
        if budget == NEVER {
            let after = world.queues[0].stats().slices - before;
            assert!((9_900..=10_100).contains(&after), "half a second in turns of 50 µs, not {after}");
        }
    }
}

#[test]
fn an_aborted_future_that_is_slow_to_drop_is_charged_to_its_own_queue() {
    struct SlowDrop(VirtualTime);
    impl Drop for SlowDrop {
        fn drop(&mut self) {
            self.0.work(us(30));
        }
    }
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let [first, second] =
        ["first", "second"].map(|name| ex.new_queue(name).request(us(500)).create().unwrap());
    let victim = second.spawn({
        let slow = SlowDrop(sim.clone());
        async move {
            std::future::pending::<()>().await;
            drop(slow);
        }
    });
    sim.drain(&ex);
    first.spawn({
        let sim = sim.clone();
        async move {
            victim.abort();
            // More than its request, so this poll is its slice.
            sim.work(us(600));
        }
    });
    second.spawn({
        let sim = sim.clone();
        async move { sim.work(us(7)) }
    });
    sim.drain(&ex);
    assert_eq!((first.stats().busy, second.stats().busy), (us(600), us(37)));
}

/// The victim always has work, in polls of 20 µs. The main future loops: it spawns on the helper and forgets, and awaits a
/// worker of 20 polls of 20 µs.
#[test]
fn a_main_future_that_spawns_two_tasks_in_a_loop_takes_nothing_from_the_queue_that_always_has_work() {
    for shares in [[1, 1, 1], [1, 9, 1], [9, 1, 1]] {
        let sim = VirtualTime::new();
        let ex = sim.executor();
        let [victim, worker, helper] = ["victim", "worker", "helper"];
        let [victim, worker, helper] = [(victim, 0), (worker, 1), (helper, 2)]
            .map(|(name, n)| ex.new_queue(name).share(shares[n]).request(us(500)).create().unwrap());
        victim.spawn(compute(&sim, us(20)));
        sim.run(&ex, async {
            while sim.now() < 10 * SECOND {
                drop(helper.spawn(async {}));
                let sim = sim.clone();
                let task = worker.spawn(async move {
                    for _ in 0..20 {
                        sim.work(us(20));
                        clockworker::yield_now().await;
                    }
                });
                task.await.unwrap();
            }
        });
        let (got, all) = (victim.stats().busy, ex.stats().busy);
        let owed = all * shares[0] / (shares[0] + shares[1]);
        assert!(got >= owed - owed / 1_000, "{shares:?}: {got:?} of {owed:?}");
    }
}
