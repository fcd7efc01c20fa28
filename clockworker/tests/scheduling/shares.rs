//! Shares of CPU between queues, on a manual clock: who gets how much, who goes first, what sleeping does.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};

use crate::support::*;

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
    ex: Executor,
    fluid: Rc<RefCell<Fluid>>,
    queues: Vec<Queue>,
    end: Rc<Cell<Duration>>,
    over: Signal,
}

impl Saturated {
    fn new(host_budget: Duration, loads: &[Load]) -> Self {
        let ex = builder().host_budget(host_budget).build().unwrap();
        let (fluid, queues, end, over) = Default::default();
        let mut saturated = Self { ex, fluid, queues, end, over };
        loads.iter().for_each(|load| saturated.add(*load));
        saturated
    }

    fn add(&mut self, load: Load) {
        let name = format!("queue {}", self.queues.len());
        let queue = self.ex.new_queue(&name).share(load.share).request(load.request).create().unwrap();
        let number = self.fluid.borrow_mut().join(load.share, load.request);
        for _ in 0..load.tasks {
            queue.spawn(self.task(number, load.polls, |_| {}));
        }
        self.queues.push(queue);
    }

    /// A task that always has work, and does something at the end of each poll.
    fn task(
        &self,
        queue: usize,
        polls: &'static [u64],
        mut then: impl FnMut(&mut Fluid) + 'static,
    ) -> impl Future<Output = ()> + 'static {
        let fluid = Rc::clone(&self.fluid);
        let (end, over) = (Rc::clone(&self.end), self.over.clone());
        async move {
            for length in polls.iter().cycle().map(|n| us(*n)) {
                work(length);
                fluid.borrow_mut().ran(queue, length);
                then(&mut fluid.borrow_mut());
                if now() >= end.get() {
                    over.set();
                }
                yield_now().await;
            }
        }
    }

    /// Runs for so long in virtual time.
    fn run(&self, time: Duration) {
        self.end.set(now() + time);
        run(&self.ex, self.over.wait());
        for (number, queue) in self.queues.iter().enumerate() {
            let got = self.fluid.borrow().served(number);
            assert_eq!(queue.stats().busy, got, "what it is charged is what it got");
        }
    }

    /// Runs for a second, after which each has had its share, to a hundredth.
    fn run_and_check(&self) {
        self.run(SECOND);
        self.fluid.borrow().check_share(100);
    }

    fn slices(&self) -> Vec<u64> {
        self.queues.iter().map(|queue| queue.stats().slices).collect()
    }
}

fn saturate_for(time: Duration, host_budget: Duration, loads: &[Load]) {
    let saturated = Saturated::new(host_budget, loads);
    saturated.run(time);
    let fluid = saturated.fluid.borrow();
    fluid.check_share(100);
    let shared = fluid.worst.0 > 0 && fluid.worst.1 > 0;
    assert!(shared, "the ideal server shares every nanosecond, the real one cannot");
}

/// The host may interrupt often, or never; shares do not depend on it.
fn saturate(loads: &[Load]) {
    BUDGETS.iter().for_each(|&budget| saturate_for(SECOND, budget, loads));
}

pub(super) const SECOND: Duration = Duration::from_secs(1);

const BUDGETS: [Duration; 2] = [us(200), NEVER];

#[test]
fn two_queues_at_1_to_1() {
    saturate(&[load(1, &[10]), load(1, &[10])]);
    saturate(&[load(1, &[100]), load(1, &[100])]);
    saturate(&[load(1, &[10]), load(1, &[100])]);
    saturate(&[load(1, &[10, 100, 35]), load(1, &[70, 20])]);
}

#[test]
fn two_queues_at_9_to_1() {
    saturate(&[load(9, &[10]), load(1, &[10])]);
    saturate(&[load(9, &[100]), load(1, &[100])]);
    saturate(&[load(9, &[10]), load(1, &[100])]);
    saturate(&[load(9, &[100]), load(1, &[10])]);
}

#[test]
fn two_queues_at_1000_to_1() {
    // What is owed the small one in a second, 999 µs, is two of its requests; 1 % of that is 10 µs, which no server with
    // polls of 10 µs and requests of 500 µs can promise. So it has a request of 10 µs here, and polls of 5.
    let fine = |share| Load { request: us(5), ..load(share, &[5]) };
    saturate(&[fine(1000), fine(1)]);
    // With the usual requests and polls it takes longer until 1 % is more than a request.
    saturate_for(60 * SECOND, us(1_000), &[load(1000, &[200]), load(1, &[50])]);
}

#[test]
fn five_queues_at_even_and_at_mixed_shares() {
    saturate(&[load(1, &[10]); 5]);
    saturate(&[load(3, &[10]), load(3, &[100]), load(3, &[10, 100]), load(3, &[50]), load(3, &[90, 1])]);
    let mixed = [load(1, &[10]), load(2, &[100]), load(5, &[10, 100]), load(20, &[75]), load(72, &[140, 70])];
    BUDGETS.iter().for_each(|&budget| saturate_for(10 * SECOND, budget, &mixed));
}

#[test]
fn a_queue_whose_polls_are_longer_than_its_request_gets_no_more() {
    let long = Load { request: us(100), ..load(1, &[300]) };
    saturate(&[long, load(1, &[10])]);
    saturate(&[load(1, &[10]), long, load(2, &[100])]);
}

/// Nor do they depend on it if it interrupts after every poll.
#[test]
fn a_host_that_is_always_due_changes_no_shares() {
    saturate_for(SECOND, Duration::ZERO, &[load(1, &[50]), load(1, &[100])]);
    saturate_for(SECOND, Duration::ZERO, &[load(9, &[100]), load(1, &[30])]);
    saturate_for(SECOND, Duration::ZERO, &[load(3, &[100]), load(1, &[40]), load(2, &[70, 10])]);
}

#[test]
fn the_number_of_tasks_in_a_queue_does_not_matter() {
    let [many, one] = [100, 1].map(|tasks| Load { tasks, ..load(1, &[20]) });
    saturate_for(SECOND, NEVER, &[many, one]);
}

#[test]
fn a_small_request_takes_shorter_turns_at_the_same_share() {
    let loads = [load(1, &[10]), Load { request: us(50), ..load(1, &[10]) }];
    let saturated = Saturated::new(NEVER, &loads);
    saturated.run_and_check();
    let slices = saturated.slices();
    // Half a second each, in turns of 500 µs and of 50 µs.
    assert!((990..=1_010).contains(&slices[0]) && (9_900..=10_100).contains(&slices[1]), "{slices:?}");
}

#[test]
fn of_two_new_queues_the_one_with_the_small_request_is_first() {
    let ex = scene("large request=300\n small request=100\n large l: 100*6\n small s: 100*6");
    // s1: v = 100 against 0, V = 50, so only the large one is eligible, and takes its request of 300: V = 200. Then the
    // small one, due at 200 and 300 against 600, until it is ahead: v = 300, V = 300, due at 400. v = 400, V = 350.
    assert_eq!(drain(&ex), "s1 l1 l2 l3 s2 s3 s4 l4 l5 l6 s5 s6");
}

/// How long a queue of that request waits, from wake to poll, when it works 10 µs in every 1,037 µs beside one that
/// always works in polls of 20 µs. The greatest and the sum of a thousand waits.
fn waits(request: u64) -> (Duration, Duration) {
    let ex = scene(&format!("busy\n sleepy request={request}\n busy -: 20*"));
    let sleeper = queue(&ex, "sleepy").spawn(async {
        let (mut most, mut sum) = (Duration::ZERO, Duration::ZERO);
        for turn in 1..=1_000 {
            let due = us(1_037) * turn;
            sleep_until(due).await;
            let wait = now() - due;
            (most, sum) = (most.max(wait), sum + wait);
            work(us(10));
        }
        (most, sum)
    });
    run(&ex, sleeper).unwrap()
}

#[test]
fn a_small_request_waits_less() {
    let [small, equal, large] = [50, 500, 5_000].map(waits);
    // The small one never waits for more than the poll under way: whenever it wakes, it is due before the other. Its polls are
    // spread evenly over the other's, so it waits for half of one. With the same request it is owed enough from when it was drained.
    assert_eq!([small, equal], [(us(19), us(9_500)); 2]);
    // With a larger one it waits at first for the whole of the slice under way; later seldom, as it uses less than its share and
    // keeps some of what it is owed for that.
    assert_eq!(large, (us(516), us(23_500)));
}

#[test]
fn a_queue_that_joins_late_is_owed_from_then_on() {
    for budget in BUDGETS {
        let mut saturated = Saturated::new(budget, &[load(3, &[10]), load(1, &[100])]);
        saturated.run_and_check();
        // Nothing for the past: had it been owed its half of it, this would put the others off for half a second.
        saturated.add(load(4, &[30]));
        saturated.run_and_check();
        let fluid = saturated.fluid.borrow();
        assert!((us(495_000)..=us(505_000)).contains(&fluid.served(2)), "{:?}", fluid.served(2));
        assert!((us(1_115_000)..=us(1_135_000)).contains(&fluid.served(0)), "{:?}", fluid.served(0));
    }
}

#[test]
fn shares_may_change_while_the_queues_run() {
    for budget in BUDGETS {
        let saturated = Saturated::new(budget, &[load(1, &[10]), load(1, &[10, 70]), load(2, &[100])]);
        saturated.run(SECOND);
        saturated.queues[0].set_share(9).unwrap();
        saturated.fluid.borrow_mut().set_share(0, 9);
        saturated.run_and_check();
        assert_eq!(saturated.queues[0].share(), 9);
    }
}

/// A task of the first queue changes one of the shares at the end of every 7th of its polls, in the middle of its slice.
fn reshare(budget: Duration, shares: &'static [(usize, u32)]) {
    let saturated = Saturated::new(budget, &[load(1, &[]), load(1, &[30]), load(2, &[100])]);
    let changing = saturated.queues.clone();
    let (mut poll, mut changes) = (0_u64, shares.iter().cycle());
    saturated.queues[0].spawn(saturated.task(0, &[10], move |fluid| {
        poll += 1;
        if poll.is_multiple_of(7) {
            let &(queue, share) = changes.next().unwrap();
            changing[queue].set_share(share).unwrap();
            fluid.set_share(queue, share);
        }
    }));
    saturated.run_and_check();
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
        let saturated = Saturated::new(budget, &[load(1, &[10]); 2]);
        saturated.run(SECOND);
        let before = saturated.slices()[0];
        saturated.queues[0].set_request(us(50)).unwrap();
        saturated.fluid.borrow_mut().set_request(0, us(50));
        assert_eq!(saturated.queues[0].request(), us(50));
        saturated.run_and_check();
        if budget == NEVER {
            let after = saturated.slices()[0] - before;
            assert!((9_900..=10_100).contains(&after), "half a second in turns of 50 µs, not {after}");
        }
    }
}

#[test]
fn an_aborted_future_that_is_slow_to_drop_is_charged_to_its_own_queue() {
    let ex = scene("first\n second");
    let [first, second] = ["first", "second"].map(|name| queue(&ex, name));
    let victim = second.spawn(hold(OnDrop::new(|| work(us(30)))));
    drain(&ex);
    first.spawn(async move {
        victim.abort();
        // More than its request, so this poll is its slice.
        work(us(600));
    });
    second.spawn(polls("", 1, us(7)));
    drain(&ex);
    assert_eq!((busy(&ex, "first"), busy(&ex, "second")), (us(600), us(37)));
}

/// The victim always has work, in polls of 20 µs. The main future loops: it spawns on the helper and forgets, and awaits a
/// worker of 20 polls of 20 µs.
#[test]
fn a_main_future_that_spawns_in_a_loop_takes_nothing_from_a_busy_queue() {
    for shares in [[1, 1, 1], [1, 9, 1], [9, 1, 1]] {
        let [victims, workers, helpers] = shares;
        let ex = scene(&format!("victim share={victims}\n worker share={workers}\n helper share={helpers}"));
        add(&ex, "victim -: 20*");
        let [worker, helper] = ["worker", "helper"].map(|name| queue(&ex, name));
        run(&ex, async {
            while now() < 10 * SECOND {
                drop(helper.spawn(async {}));
                let task = worker.spawn(async {
                    polls("", 20, us(20)).await;
                    yield_now().await;
                });
                task.await.unwrap();
            }
        });
        let (got, all) = (busy(&ex, "victim"), ex.stats().busy);
        let owed = all * victims / (victims + workers);
        assert!(got >= owed - owed / 1_000, "{shares:?}: {got:?} of {owed:?}");
    }
}
