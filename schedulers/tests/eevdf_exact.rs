//! `Eevdf` on exact virtual service: what every queue gets, to the nanosecond, and how far each is ever from what it is
//! owed.

use clockworker_schedulers::{Eevdf, QueueId, Share};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const SECOND: u64 = 1_000 * MS;
const YEAR: u64 = 365 * 86_400 * SECOND;

fn share(share: u32) -> Share {
    Share::new(share).unwrap()
}

/// Queues that are always runnable, and what each has been charged.
struct Bench {
    eevdf: Eevdf,
    queues: Vec<Busy>,
    longest_request: u64,
    longest_poll: u64,
}

/// A queue whose polls take `polls[0]`, `polls[1]` and so on, over and over.
struct Busy {
    id: QueueId,
    share: u32,
    polls: Vec<u64>,
    polled: usize,
    service_ns: u64,
}

impl Busy {
    fn longest_poll(&self) -> i128 {
        self.polls.iter().copied().max().map_or(0, i128::from)
    }
}

impl Bench {
    /// Queues of (share, request, polls), all woken.
    fn new(eevdf: Eevdf, queues: &[(u32, u64, &[u64])]) -> Self {
        let mut bench = Self { eevdf, queues: Vec::new(), longest_request: 0, longest_poll: 0 };
        for &(share, request_ns, polls) in queues {
            bench.add(share, request_ns, polls);
        }
        bench
    }

    fn add(&mut self, w: u32, request_ns: u64, polls: &[u64]) -> QueueId {
        let id = self.eevdf.add(share(w), request_ns);
        self.eevdf.wake(id);
        self.queues.push(Busy { id, share: w, polls: polls.to_vec(), polled: 0, service_ns: 0 });
        self.longest_request = self.longest_request.max(request_ns);
        self.longest_poll = polls.iter().copied().fold(self.longest_poll, u64::max);
        id
    }

    /// Grants one slice, as an executor does: polls until the request is served. Gives the queue and the time.
    fn slice(&mut self) -> (QueueId, u64) {
        let id = self.eevdf.pick().unwrap();
        assert!(self.eevdf.is_eligible(id));
        let queue = self.queues.iter_mut().find(|queue| queue.id == id).unwrap();
        let (mut left, mut spent) = (self.eevdf.left_ns(id), 0);
        while left > 0 {
            let poll = queue.polls[queue.polled % queue.polls.len()];
            queue.polled += 1;
            queue.service_ns += poll;
            self.eevdf.charge(id, poll);
            spent += poll;
            left = left.saturating_sub(poll);
        }
        (id, spent)
    }

    /// Every lag is within the bounds that `Eevdf` documents, and Σ lag = 0 but for rounding.
    fn check(&self) {
        let shares = self.shares();
        let mut sum = 0;
        for queue in &self.queues {
            let lag = self.eevdf.lag(queue.id);
            // Both multiplied by W.
            let ahead = (shares - i128::from(queue.share)) * (self.request(queue) + queue.longest_poll());
            let behind: i128 = self.queues.iter().map(|other| self.turn(other, queue)).sum();
            let found = lag.as_ns() * shares;
            assert!(
                (-ahead..=behind).contains(&found),
                "{:?}: {lag}, W times that is not from -{ahead} to {behind}",
                queue.id
            );
            sum += lag.raw();
        }
        self.check_sum(sum);
    }

    /// A queue that comes with a credit, or leaves in debt, makes Σ lag more than 0 until that was served off. With queues so
    /// much alike, no lag is beyond this.
    fn check_while_queues_come_and_go(&self) {
        let bound = i128::from(self.longest_request + self.longest_poll);
        let mut sum = 0;
        for queue in &self.queues {
            let lag = self.eevdf.lag(queue.id);
            assert!(lag.as_ns().abs() <= bound, "{:?}: {lag}, bound {bound} ns", queue.id);
            sum += lag.raw();
        }
        assert!(sum > -self.shares(), "Σ lag = {sum}");
    }

    fn request(&self, queue: &Busy) -> i128 {
        i128::from(self.eevdf.request_ns(queue.id))
    }

    /// W times what `queue` can fall behind while `other` is served.
    fn turn(&self, other: &Busy, queue: &Busy) -> i128 {
        if other.id == queue.id {
            return 0;
        }
        let (w, w_other) = (i128::from(queue.share), i128::from(other.share));
        (self.request(other) * w).max(self.request(queue) * w_other) + other.longest_poll() * w
    }

    /// Each lag is low by less than w units, so the sum is by less than W; it is never high.
    fn check_sum(&self, sum: i128) {
        assert!(sum <= 0 && sum > -self.shares(), "Σ lag = {sum}");
    }

    fn shares(&self) -> i128 {
        self.queues.iter().map(|queue| i128::from(queue.share)).sum()
    }

    fn run(&mut self, ns: u64) {
        self.run_and(ns, Self::check);
    }

    fn run_and(&mut self, ns: u64, check: impl Fn(&Self)) {
        let mut spent = 0;
        while spent < ns {
            spent += self.slice().1;
            check(self);
        }
    }

    /// How far from its due each queue's service is, at most, in parts per million of the due.
    fn worst_ppm(&self) -> u64 {
        let total: u128 = self.queues.iter().map(|queue| u128::from(queue.service_ns)).sum();
        let shares: u128 = self.queues.iter().map(|queue| u128::from(queue.share)).sum();
        let ppm = |queue: &Busy| {
            let due = total * u128::from(queue.share) / shares;
            u128::from(queue.service_ns).abs_diff(due) * 1_000_000 / due
        };
        self.queues.iter().map(ppm).max().unwrap() as u64
    }
}

/// A second of saturation at these shares, with polls of uneven length; the worst error in parts per million.
fn saturate(shares: &[u32], request_ns: u64) -> u64 {
    let polls: [&[u64]; 5] =
        [&[7 * US], &[3 * US, 11 * US], &[5 * US + 1], &[US, US, 19 * US], &[13 * US, 2 * US]];
    let queues: Vec<_> = shares.iter().zip(polls).map(|(&share, polls)| (share, request_ns, polls)).collect();
    let mut bench = Bench::new(Eevdf::new(), &queues);
    bench.run(SECOND);
    bench.worst_ppm()
}

#[test]
fn two_queues_get_their_shares() {
    for shares in [[1, 1], [9, 1], [1, 9], [1_000, 1]] {
        let ppm = saturate(&shares, 5 * US);
        assert!(ppm < 10_000, "{shares:?}: {ppm} ppm");
    }
}

/// Each of the others may overrun its request by a poll before a queue of a large share is served: it may be behind by
/// more than the largest request and the longest poll.
#[test]
fn a_queue_waits_for_one_overrun_of_each_of_the_others() {
    let small: (u32, u64, &[u64]) = (1, US, &[MS]);
    let mut bench = Bench::new(Eevdf::new(), &[small, small, small, small, (996, MS, &[10 * US])]);
    let big = bench.queues[4].id;
    for id in 0..4 {
        assert_eq!(bench.slice().0.index(), id);
        bench.check();
    }
    // It was owed 996 of 1,000 parts of 4 ms.
    assert_eq!(bench.eevdf.lag(big).as_ns(), i128::from(3_984 * US));
    assert_eq!(bench.slice().0, big);
}

#[test]
fn five_queues_get_their_shares() {
    for shares in [[1, 1, 1, 1, 1], [9, 1, 9, 1, 1], [1_000, 1, 1_000, 1_000, 1_000], [1, 2, 3, 4, 5]] {
        let ppm = saturate(&shares, 5 * US);
        assert!(ppm < 10_000, "{shares:?}: {ppm} ppm");
    }
}

#[test]
fn long_requests_get_their_shares_too() {
    for shares in [[1, 1], [9, 1]] {
        let ppm = saturate(&shares, MS);
        assert!(ppm < 10_000, "{shares:?}: {ppm} ppm");
    }
}

#[test]
fn shares_hold_at_the_extremes() {
    let mut bench = Bench::new(Eevdf::new(), &[(1_000_000, MS, &[10 * US]), (1, MS, &[10 * US])]);
    // 1,000 turns of the lesser.
    bench.run(20 * SECOND);
    assert!(bench.queues[1].service_ns.abs_diff(20 * US) <= MS, "{}", bench.queues[1].service_ns);
}

#[test]
fn the_order_of_the_first_turns_is_exact() {
    let mut bench = Bench::new(Eevdf::new(), &[(3, 3 * US, &[US]), (1, 3 * US, &[US]), (1, 2 * US, &[US])]);
    let turns: Vec<(usize, u64)> = (0..8)
        .map(|_| {
            let (id, spent) = bench.slice();
            (id.index(), spent / US)
        })
        .collect();
    // v          V     eligible: deadlines   picked
    // 0, 0, 0    0     0: 1, 1: 3, 2: 2      0
    // 1, 0, 0    3/5   1: 3, 2: 2            2
    // 1, 0, 2    1     0: 2, 1: 3            0
    // 2, 0, 2    8/5   1: 3                  1
    // 2, 3, 2    11/5  0: 3, 2: 4            0
    // 3, 3, 2    14/5  2: 4                  2
    // 3, 3, 4    16/5  0: 4, 1: 6            0
    // 4, 3, 4    19/5  1: 6                  1
    assert_eq!(turns, [(0, 3), (2, 2), (0, 3), (1, 3), (0, 3), (2, 2), (0, 3), (1, 3)]);
}

#[test]
fn ties_go_to_the_lower_id() {
    let mut eevdf = Eevdf::new();
    let ids = [0; 4].map(|_| eevdf.add(share(2), MS));
    ids.iter().rev().for_each(|&id| eevdf.wake(id));
    for id in ids {
        assert_eq!(eevdf.pick(), Some(id));
        assert_eq!(eevdf.pick(), Some(id), "asking changes nothing");
        eevdf.charge(id, MS);
    }
}

#[test]
fn a_small_request_is_served_first_at_the_same_share() {
    let mut bench = Bench::new(Eevdf::new(), &[(1, 4 * MS, &[10 * US]), (1, 100 * US, &[10 * US])]);
    let (bulk, quick) = (bench.queues[0].id, bench.queues[1].id);
    assert_eq!(bench.slice(), (quick, 100 * US));
    bench.run(SECOND);
    assert!(bench.worst_ppm() < 10_000);
    // The quick one is behind by at most a little when it wakes, and goes before the bulk.
    bench.eevdf.sleep(quick);
    assert_eq!(bench.eevdf.pick(), Some(bulk));
    bench.eevdf.charge(bulk, 10 * MS);
    bench.eevdf.wake(quick);
    assert_eq!(bench.eevdf.pick(), Some(quick));
    assert!(bench.eevdf.preempts(quick, bulk));
    assert!(!bench.eevdf.preempts(bulk, quick));
}

#[test]
fn a_deadline_is_renewed_only_when_the_request_is_served() {
    let mut eevdf = Eevdf::new();
    let id = eevdf.add(share(4), 100);
    eevdf.wake(id);
    let start = eevdf.virtual_runtime(id).unwrap();
    let first = eevdf.virtual_deadline(id).unwrap();
    assert_eq!(first.raw() - start.raw(), 25 << 40, "100 ns at share 4");
    for (charged, left) in [(40, 60), (0, 60), (59, 1)] {
        eevdf.charge(id, charged);
        assert_eq!((eevdf.left_ns(id), eevdf.virtual_deadline(id)), (left, Some(first)));
    }
    eevdf.charge(id, 21); // 20 more than was left
    let v = eevdf.virtual_runtime(id).unwrap();
    assert_eq!(v.raw() - start.raw(), 30 << 40);
    assert_eq!(eevdf.left_ns(id), 100);
    assert_eq!(eevdf.virtual_deadline(id).unwrap().raw() - v.raw(), 25 << 40);
}

#[test]
fn a_longer_request_counts_from_the_next_one() {
    let mut eevdf = Eevdf::new();
    let id = eevdf.add(share(1), 100);
    eevdf.wake(id);
    let deadline = eevdf.virtual_deadline(id);
    eevdf.set_request(id, 1_000);
    assert_eq!((eevdf.left_ns(id), eevdf.request_ns(id)), (100, 1_000));
    assert_eq!(eevdf.virtual_deadline(id), deadline, "it is not put off");
    eevdf.charge(id, 100);
    assert_eq!(eevdf.left_ns(id), 1_000);
}

#[test]
fn a_shorter_request_counts_at_once() {
    let mut eevdf = Eevdf::new();
    let (id, other) = (eevdf.add(share(1), 100 * MS), eevdf.add(share(1), MS));
    eevdf.wake(id);
    eevdf.wake(other);
    eevdf.charge(id, 10 * US);
    eevdf.charge(other, 10 * US);
    assert_eq!(eevdf.pick(), Some(other));
    eevdf.set_request(id, US);
    assert_eq!((eevdf.left_ns(id), eevdf.request_ns(id)), (US, US));
    let (v, deadline) = (eevdf.virtual_runtime(id).unwrap(), eevdf.virtual_deadline(id).unwrap());
    assert_eq!(deadline.raw() - v.raw(), i128::from(US) << 40);
    assert_eq!(eevdf.pick(), Some(id), "its deadline came nearer");
    // What is left of a request that has been served for the most part is not made longer.
    eevdf.set_request(id, 100 * US);
    eevdf.charge(id, US - 1);
    eevdf.set_request(id, 10 * US);
    assert_eq!(eevdf.left_ns(id), 1);
}

/// Two busy queues; queue 0 has had `head_start` more than its share.
fn after_a_head_start(shares: [u32; 2], head_start: u64) -> (Eevdf, QueueId, QueueId) {
    let mut eevdf = Eevdf::new();
    let ids = shares.map(|w| eevdf.add(share(w), MS));
    ids.iter().for_each(|&id| eevdf.wake(id));
    eevdf.charge(ids[0], head_start);
    (eevdf, ids[0], ids[1])
}

#[test]
fn sleeping_for_a_moment_forgives_nothing() {
    for shares in [[1, 1], [9, 1], [1_000, 1], [1, 1_000]] {
        let (mut eevdf, ahead, behind) = after_a_head_start(shares, MS);
        let before = (eevdf.lag(ahead), eevdf.lag(behind));
        for _ in 0..100 {
            eevdf.sleep(ahead);
            eevdf.wake(ahead);
        }
        let after = (eevdf.lag(ahead), eevdf.lag(behind));
        // Each time rounds by less than a unit of virtual time: 100 × 1000 units of 2⁻⁴⁰ ns are less than a ps.
        assert!(before.0.raw().abs_diff(after.0.raw()) < 100_000, "{shares:?}: {before:?} {after:?}");
        assert!(before.1.raw().abs_diff(after.1.raw()) < 200_000, "{shares:?}: {before:?} {after:?}");
    }
}

/// The classic way to cheat: sleep just before the turn is over, and come back as if new.
#[test]
fn a_micro_sleeper_gains_nothing() {
    for shares in [[1, 1], [9, 1], [1_000, 1]] {
        let mut eevdf = Eevdf::new();
        let ids = shares.map(|w| eevdf.add(share(w), 100 * US));
        ids.iter().for_each(|&id| eevdf.wake(id));
        let mut service = [0; 2];
        while service[0] + service[1] < 2 * SECOND {
            let id = eevdf.pick().unwrap();
            eevdf.charge(id, 10 * US);
            service[id.index()] += 10 * US;
            // The cheat sleeps after each poll, through one short poll of the other.
            if id == ids[0] {
                eevdf.sleep(id);
                eevdf.charge(ids[1], US);
                service[1] += US;
                eevdf.wake(id);
            }
        }
        let fair = (service[0] + service[1]) / u64::from(shares[0] + shares[1]) * u64::from(shares[0]);
        // 1 % is far less than what it would gain from a free restart, and far more than it may.
        assert!(service[0] <= fair + fair / 100, "{shares:?}: {service:?}, fair {fair}");
    }
}

#[test]
fn what_is_owed_survives_a_sleep() {
    for head_start in [MS, 4 * MS, 40 * MS] {
        let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], head_start);
        let before = eevdf.virtual_runtime(behind);
        eevdf.sleep(behind);
        assert_eq!(eevdf.lag(behind).as_ns(), i128::from(head_start / 2), "kept");
        eevdf.wake(behind);
        assert_eq!(eevdf.virtual_runtime(behind), before, "it is where it was");
        let mut served = 0;
        while eevdf.pick() == Some(behind) {
            eevdf.charge(behind, 100 * US);
            served += 100 * US;
        }
        assert!(served.abs_diff(head_start) <= 100 * US, "{served} of {head_start}");
        assert!(eevdf.is_eligible(ahead));
    }
}

/// Also if others come meanwhile: they are placed at V, which did not move when the queue fell asleep.
#[test]
fn a_credit_is_of_service_and_not_of_virtual_time() {
    let (mut eevdf, _, behind) = after_a_head_start([1, 9], MS);
    let (before, now) = (eevdf.virtual_runtime(behind), eevdf.virtual_time());
    assert_eq!(eevdf.lag(behind).as_ns(), 900 * US as i128);
    eevdf.sleep(behind);
    let newcomer = eevdf.add(share(8), MS);
    eevdf.wake(newcomer);
    assert_eq!(eevdf.virtual_runtime(newcomer), Some(now));
    eevdf.wake(behind);
    assert_eq!((eevdf.virtual_runtime(behind), eevdf.virtual_time()), (before, now));
    // At ten times the share it is a tenth as far from V.
    eevdf.sleep(behind);
    eevdf.set_share(behind, share(90));
    eevdf.wake(behind);
    let distance = now.raw() - eevdf.virtual_runtime(behind).unwrap().raw();
    assert!((distance - (i128::from(10 * US) << 40)).abs() < 100, "{distance}");
}

#[test]
fn credits_are_at_most_two_turns_together() {
    let mut eevdf = Eevdf::new();
    let ids = [0; 9].map(|_| eevdf.add(share(1), MS));
    ids.iter().for_each(|&id| eevdf.wake(id));
    (0..9).for_each(|_| eevdf.charge(ids[0], MS));
    let owed: Vec<i128> = ids[1..].iter().map(|&id| eevdf.lag(id).as_ns()).collect();
    assert_eq!(owed, [MS as i128; 8]);
    ids[1..8].iter().for_each(|&id| eevdf.sleep(id));
    let kept: Vec<i128> = ids[1..8].iter().map(|&id| eevdf.lag(id).as_ns()).collect();
    assert_eq!(kept, [MS as i128, MS as i128, 0, 0, 0, 0, 0]);
    // One that has come back has room for another.
    eevdf.wake(ids[1]);
    eevdf.sleep(ids[8]);
    assert_eq!(eevdf.lag(ids[8]).as_ns(), MS as i128);
}

#[test]
fn a_credit_is_at_most_two_turns() {
    // Turns of 1 ms; what it is owed is 10 ms.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS);
    (0..9).for_each(|_| eevdf.charge(ahead, MS));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 2 * MS as i128);
    // A turn of 4 ms, of whomever.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 4 * MS);
    (0..6).for_each(|_| eevdf.charge(ahead, MS));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 5 * MS as i128, "all that it is owed");
    // The request is the greater.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS / 10);
    (0..100).for_each(|_| eevdf.charge(ahead, MS / 10));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 2 * MS as i128);
    // A turn of another busy period does not count, nor does one that nobody waited for.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 40 * MS);
    eevdf.sleep(behind);
    eevdf.charge(ahead, 80 * MS);
    eevdf.sleep(ahead);
    eevdf.wake(ahead);
    eevdf.wake(behind);
    (0..10).for_each(|_| eevdf.charge(ahead, MS));
    eevdf.sleep(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), 2 * MS as i128);
}

#[test]
fn what_is_owed_does_not_grow_in_sleep() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], MS);
    eevdf.sleep(behind);
    eevdf.charge(ahead, 10 * SECOND);
    assert_eq!(eevdf.lag(behind).as_ns(), i128::from(MS / 2));
    eevdf.wake(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), i128::from(MS / 2));
}

/// Requests of 1 µs beside polls of 1 ms: the queue that naps after each of its polls gets its half all the same.
#[test]
fn a_queue_that_naps_beside_polls_longer_than_its_request_gets_its_share() {
    let mut eevdf = Eevdf::new();
    let [napper, hog] = [0; 2].map(|_| eevdf.add(share(1), US));
    eevdf.wake(napper);
    eevdf.wake(hog);
    let mut service = [0; 2];
    for _ in 0..20_000 {
        let id = eevdf.pick().unwrap();
        let poll = if id == napper { 100 * US } else { MS };
        eevdf.charge(id, poll);
        service[id.index()] += poll;
        if id == napper {
            eevdf.sleep(napper);
            eevdf.wake(napper);
        }
    }
    assert!(service[0].abs_diff(service[1]) <= 2 * MS, "{service:?}");
}

#[test]
fn what_is_owing_is_worked_off_exactly_while_others_are_served() {
    // Queue 0 is 8 ms ahead in virtual time; at share 1, queue 1 needs 8 ms of service to draw level.
    for (served, lag) in [(0, -4 * MS as i128), (4 * MS, -2 * MS as i128), (8 * MS, 0), (80 * MS, 0)] {
        let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 8 * MS);
        eevdf.sleep(ahead);
        eevdf.charge(behind, served);
        eevdf.wake(ahead);
        assert_eq!(eevdf.lag(ahead).as_ns(), lag, "after {served} ns");
        assert_eq!(eevdf.lag(behind).as_ns(), -lag, "after {served} ns");
    }
}

#[test]
fn a_large_share_is_not_forgiven_sooner() {
    // Queue 0 has had 10 ms at share 1000, and so is 10 µs ahead in virtual time: 10 µs of service at share 1.
    let (mut eevdf, ahead, behind) = after_a_head_start([1_000, 1], 10 * MS);
    eevdf.sleep(ahead);
    eevdf.charge(behind, 5 * US);
    eevdf.wake(ahead);
    assert!(!eevdf.is_eligible(ahead));
    assert_eq!(eevdf.pick(), Some(behind));
    eevdf.charge(behind, 5 * US);
    assert!(eevdf.is_eligible(ahead));
}

#[test]
fn an_idle_cpu_forgives_everything() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 8 * MS);
    eevdf.sleep(behind);
    eevdf.sleep(ahead);
    assert_eq!(eevdf.pick(), None);
    assert_eq!((eevdf.lag(ahead).raw(), eevdf.lag(behind).raw()), (0, 0));
    eevdf.wake(ahead);
    eevdf.wake(behind);
    assert_eq!((eevdf.lag(ahead).raw(), eevdf.lag(behind).raw()), (0, 0));
    assert_eq!(eevdf.virtual_runtime(ahead), eevdf.virtual_runtime(behind));
}

/// Both have had 100 ms; whoever wakes first has no advantage over the other.
#[test]
fn debts_of_a_time_before_the_cpu_was_idle_are_forgotten() {
    let (mut eevdf, a, b) = after_a_head_start([1, 1], MS);
    eevdf.sleep(a);
    eevdf.charge(b, 100 * MS);
    eevdf.sleep(b);
    eevdf.wake(a);
    eevdf.charge(a, 100 * MS);
    eevdf.sleep(a);
    eevdf.wake(a);
    eevdf.wake(b);
    assert_eq!(eevdf.virtual_runtime(a), eevdf.virtual_runtime(b));
}

/// Whoever stays awake does not see the distances between the others change by their sleep.
#[test]
fn a_debtor_is_placed_exactly_where_it_was() {
    let mut eevdf = Eevdf::new();
    let [a, b, c] = [0; 3].map(|_| eevdf.add(share(1), MS));
    [a, b, c].iter().for_each(|&id| eevdf.wake(id));
    eevdf.charge(a, 100 * MS);
    eevdf.charge(b, 100 * MS);
    let v = |eevdf: &Eevdf, id| eevdf.virtual_runtime(id).unwrap().raw();
    let before = [a, b].map(|id| v(&eevdf, id) - v(&eevdf, c));
    assert_eq!(before[0], i128::from(100 * MS) << 40);
    for (first, second) in [(a, b), (b, a)] {
        eevdf.sleep(first);
        eevdf.sleep(second);
        eevdf.wake(a);
        eevdf.wake(b);
        assert_eq!([a, b].map(|id| v(&eevdf, id) - v(&eevdf, c)), before);
    }
}

/// Joiners with credit and debtors that leave move the mean, but never V.
#[test]
fn virtual_time_never_falls() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 8 * MS);
    let mut last = eevdf.virtual_time();
    let steps: [fn(&mut Eevdf, QueueId, QueueId); 7] = [
        |eevdf, ahead, _| eevdf.sleep(ahead),
        |eevdf, ahead, _| eevdf.wake(ahead),
        |eevdf, _, behind| eevdf.sleep(behind),
        |eevdf, _, behind| eevdf.wake(behind),
        |eevdf, ahead, _| eevdf.set_share(ahead, share(1_000)),
        |eevdf, _, behind| eevdf.set_share(behind, share(1_000)),
        |eevdf, ahead, _| eevdf.remove(ahead),
    ];
    for step in steps {
        step(&mut eevdf, ahead, behind);
        assert!(eevdf.virtual_time() >= last);
        last = eevdf.virtual_time();
    }
}

/// Each queue overruns its request of 10 µs by a poll of 1 ms, is removed, and another is added.
#[test]
fn to_remove_a_queue_and_add_it_again_is_no_way_out_of_a_debt() {
    let mut eevdf = Eevdf::new();
    let victim = eevdf.add(share(1), 500 * US);
    eevdf.wake(victim);
    let (mut all, mut victims) = (0, 0);
    for _ in 0..1_000 {
        let fresh = eevdf.add(share(1), 10 * US);
        eevdf.wake(fresh);
        loop {
            let id = eevdf.pick().unwrap();
            let poll = if id == fresh { MS } else { 20 * US };
            eevdf.charge(id, poll);
            all += poll;
            victims += if id == victim { poll } else { 0 };
            if id == fresh {
                break;
            }
        }
        eevdf.remove(fresh);
    }
    assert!(victims >= all / 2 - 2 * MS, "{victims} of {all}");
}

/// The debt is the place's in service: at ten times the share it is a tenth as far in virtual time.
#[test]
fn a_successor_owes_what_was_owed() {
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 2 * MS);
    eevdf.remove(ahead);
    let successor = eevdf.add(share(10), MS);
    assert_eq!(successor, ahead);
    assert!((eevdf.lag(successor).as_ns() + i128::from(MS)).abs() <= 1);
    eevdf.wake(successor);
    assert_eq!(eevdf.pick(), Some(behind));
    // Once V has passed the place, there is no debt left. What the place was owed is nobody's.
    eevdf.charge(behind, 20 * MS);
    eevdf.remove(successor);
    let next = eevdf.add(share(1), MS);
    assert_eq!(eevdf.lag(next).raw(), 0);
}

#[test]
fn waking_begins_a_new_request() {
    let (mut eevdf, ahead, _) = after_a_head_start([1, 1], 400 * US);
    assert_eq!(eevdf.left_ns(ahead), 600 * US);
    eevdf.sleep(ahead);
    eevdf.wake(ahead);
    assert_eq!(eevdf.left_ns(ahead), MS);
    let (v, deadline) = (eevdf.virtual_runtime(ahead).unwrap(), eevdf.virtual_deadline(ahead).unwrap());
    assert_eq!(deadline.raw() - v.raw(), i128::from(MS) << 40);
}

#[test]
fn service_charged_in_sleep_counts() {
    let (mut eevdf, _, behind) = after_a_head_start([1, 1], MS);
    eevdf.sleep(behind);
    eevdf.charge(behind, 200 * US);
    assert_eq!(eevdf.lag(behind).as_ns(), 300 * US as i128);
    eevdf.charge(behind, MS);
    // Its credit is used up, so that V is where the other is.
    assert_eq!(eevdf.lag(behind).as_ns(), -400 * US as i128);
    eevdf.wake(behind);
    assert_eq!(eevdf.lag(behind).as_ns(), -200 * US as i128, "V is half-way between the two now");
}

#[test]
fn a_change_of_share_keeps_lag_and_what_is_left() {
    for (from, to) in [(1, 9), (9, 1), (1_000, 3), (3, 1_000_000)] {
        let (mut eevdf, ahead, behind) = after_a_head_start([from, 5], 400 * US);
        let before = eevdf.lag(ahead);
        let left = eevdf.left_ns(ahead);
        eevdf.set_share(ahead, share(to));
        let after = eevdf.lag(ahead);
        // Two roundings, each of less than a unit of virtual time per share.
        let units = 4 * i128::from(from + to + 5);
        assert!((before.raw() - after.raw()).abs() <= units, "{from} → {to}: {before:?} {after:?}");
        assert!((after.raw() + eevdf.lag(behind).raw()).abs() <= units, "Σ lag = 0");
        assert_eq!((eevdf.left_ns(ahead), eevdf.share(ahead)), (left, Some(share(to))));
        let (v, deadline) = (eevdf.virtual_runtime(ahead).unwrap(), eevdf.virtual_deadline(ahead).unwrap());
        let inverse = (1u64 << 40) / u64::from(to);
        assert_eq!(deadline.raw() - v.raw(), i128::from(left) * i128::from(inverse));
    }
}

#[test]
fn a_change_of_share_in_sleep_keeps_lag() {
    let (mut eevdf, _, behind) = after_a_head_start([1, 1], MS);
    eevdf.sleep(behind);
    eevdf.set_share(behind, share(10));
    assert_eq!(eevdf.lag(behind).as_ns(), 500 * US as i128);
    eevdf.wake(behind);
    // One nanosecond for rounding: 2⁴⁰ is no multiple of 10.
    assert!((eevdf.lag(behind).as_ns() - 500 * US as i128).abs() <= 1);
    // A debt too, also if the share rises: what it has had it has had.
    let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 2 * MS);
    eevdf.sleep(ahead);
    eevdf.set_share(ahead, share(10));
    assert!((eevdf.lag(ahead).as_ns() + MS as i128).abs() <= 1);
    eevdf.wake(ahead);
    assert_eq!(eevdf.pick(), Some(behind));
}

#[test]
fn joining_leaving_and_sharing_anew_keep_the_bounds() {
    let mut bench = Bench::new(
        Eevdf::new(),
        &[(3, MS, &[10 * US, 70 * US]), (1, 200 * US, &[30 * US]), (2, MS, &[50 * US])],
    );
    bench.run(50 * MS);
    let newcomer = bench.add(5, 500 * US, &[20 * US, 5 * US]);
    assert_eq!(bench.eevdf.lag(newcomer).as_ns(), 0, "owed nothing");
    bench.run(50 * MS);
    for round in 0..200 {
        let changed = round % 4;
        let id = bench.queues[changed].id;
        match round % 3 {
            0 => {
                bench.eevdf.sleep(id);
                bench
                    .queues
                    .iter()
                    .for_each(|queue| assert!(queue.id == id || bench.eevdf.is_runnable(queue.id)));
                let other = bench.eevdf.pick().unwrap();
                assert_ne!(other, id);
                bench.eevdf.charge(other, 30 * US);
                bench.eevdf.wake(id);
            }
            _ => {
                let new_share = 1 + (round as u32 * 7) % 11;
                bench.eevdf.set_share(id, share(new_share));
                bench.queues[changed].share = new_share;
            }
        }
        bench.check_while_queues_come_and_go();
        bench.run_and(2 * MS, Bench::check_while_queues_come_and_go);
    }
}

#[test]
fn removing_a_queue_leaves_the_others_at_zero_and_frees_the_id() {
    let mut bench =
        Bench::new(Eevdf::new(), &[(3, MS, &[10 * US]), (1, MS, &[30 * US]), (2, MS, &[50 * US])]);
    bench.run(10 * MS);
    let gone = bench.queues.remove(1).id;
    bench.eevdf.remove(gone);
    bench.check();
    assert_eq!((bench.eevdf.share(gone), bench.eevdf.left_ns(gone), bench.eevdf.runnable()), (None, 0, 2));
    let next = bench.eevdf.add(share(7), MS);
    assert_eq!(next, gone, "the index is used again");
    assert_eq!(bench.eevdf.lag(next).raw(), 0);
    assert!(!bench.eevdf.is_runnable(next));
}

#[test]
fn wrong_calls_are_ignored() {
    let mut eevdf = Eevdf::new();
    let (a, b) = (eevdf.add(share(1), 0), eevdf.add(share(1), u64::MAX));
    assert_eq!((eevdf.request_ns(a), eevdf.request_ns(b)), (1, 1 << 60));
    eevdf.remove(b);
    eevdf.remove(b);
    for id in [b, Eevdf::new().add(share(1), 1), a] {
        eevdf.sleep(id); // b is unknown, a sleeps
    }
    eevdf.wake(b);
    eevdf.charge(b, 5);
    eevdf.set_share(b, share(3));
    eevdf.set_request(b, 3);
    assert_eq!((eevdf.pick(), eevdf.runnable(), eevdf.request_ns(b)), (None, 0, 0));
    eevdf.wake(a);
    eevdf.charge(a, 5);
    let lag_and_v = (eevdf.lag(a), eevdf.virtual_runtime(a));
    eevdf.wake(a);
    assert_eq!((eevdf.lag(a), eevdf.virtual_runtime(a)), lag_and_v, "it is awake");
    assert!(!eevdf.preempts(a, b) && !eevdf.preempts(b, a));
    assert_eq!(eevdf.pick(), Some(a));
    let far = (0..100).map(|_| eevdf.add(share(1), 1)).last().unwrap();
    let mut other = Eevdf::new();
    other.wake(far);
    other.charge(far, 1);
    other.remove(far);
    assert_eq!((other.pick(), other.virtual_deadline(far), other.is_eligible(far)), (None, None, false));
}

#[test]
fn nothing_changes_near_the_limits() {
    let queues: [(u32, u64, &[u64]); 3] =
        [(1, MS, &[10 * US, 35 * US]), (9, 300 * US, &[20 * US]), (1_000, MS, &[15 * US])];
    let trace = |start: i128| {
        let mut bench = Bench::new(Eevdf::starting_at(start), &queues);
        let turns: Vec<(QueueId, u64)> = (0..5_000)
            .map(|_| {
                let turn = bench.slice();
                bench.check();
                turn
            })
            .collect();
        turns
    };
    let plain = trace(0);
    // Around where products are checked, where zero is moved, and at the ends of the range.
    let limits = [1i128 << 79, 1 << 80, 1 << 101, 1 << 90];
    for limit in limits {
        for offset in [-(5i128 << 60), -1, 0, 1, 5 << 60] {
            assert!(trace(limit + offset) == plain, "{limit} + {offset}");
            assert!(trace(-limit + offset) == plain, "-{limit} + {offset}");
        }
    }
}

#[test]
fn moving_zero_takes_the_sleepers_along() {
    // An hour of service at share 1 moves zero several times.
    let scenario = |slept_ns: u64| {
        let (mut eevdf, ahead, behind) = after_a_head_start([1, 1], 2 * YEAR);
        eevdf.sleep(ahead);
        (0..slept_ns / SECOND).for_each(|_| eevdf.charge(behind, SECOND));
        eevdf.wake(ahead);
        eevdf.lag(ahead).as_ns()
    };
    assert_eq!(scenario(0), -i128::from(YEAR));
    let hour = 3_600 * SECOND;
    assert_eq!(scenario(hour), -i128::from(YEAR - hour / 2));
}

#[test]
fn polls_of_a_year_are_charged_in_full() {
    let mut bench = Bench::new(Eevdf::new(), &[(1, YEAR, &[YEAR]), (2, YEAR, &[YEAR]), (1, MS, &[YEAR, US])]);
    bench.run(500 * YEAR);
    let total: u64 = bench.queues.iter().map(|queue| queue.service_ns).sum();
    for queue in &bench.queues {
        let due = total / 4 * u64::from(queue.share);
        assert!(queue.service_ns.abs_diff(due) <= 2 * YEAR, "{:?}", queue.service_ns / YEAR);
    }
}

#[test]
fn absurd_charges_do_not_overflow() {
    let mut eevdf = Eevdf::new();
    let ids: Vec<QueueId> = [1, 1_000_000, 7, 1].map(|w| eevdf.add(share(w), u64::MAX)).to_vec();
    ids.iter().for_each(|&id| eevdf.wake(id));
    for round in 0..2_000 {
        // Far more than a thread can serve in the age of the universe, and not to who was picked.
        eevdf.charge(ids[0], u64::MAX);
        eevdf.charge(ids[1], u64::MAX);
        eevdf.charge(ids[3], round);
        match round % 5 {
            0 => eevdf.sleep(ids[0]),
            1 => eevdf.wake(ids[0]),
            2 => eevdf.set_share(ids[1], share(1 + round as u32)),
            3 => eevdf.sleep(ids[1]),
            _ => eevdf.wake(ids[1]),
        }
        // What it means is lost at the ends of the range; that it is consistent is not.
        let picked = eevdf.pick().unwrap();
        let deadline = |id: &QueueId| (eevdf.virtual_deadline(*id), *id);
        let first = ids.iter().filter(|&&id| eevdf.is_eligible(id)).min_by_key(|id| deadline(id));
        assert_eq!(Some(&picked), first, "round {round}");
    }
}

#[test]
fn a_thousand_queues_get_their_shares() {
    let mut eevdf = Eevdf::new();
    let ids: Vec<QueueId> = (0..1_000).map(|n| eevdf.add(share(1 + n % 4), 10 * US)).collect();
    ids.iter().for_each(|&id| eevdf.wake(id));
    let mut service = vec![0; 1_000];
    for _ in 0..250_000 {
        let id = eevdf.pick().unwrap();
        eevdf.charge(id, 10 * US);
        service[id.index()] += 10 * US;
    }
    // 2.5 s over 2,500 shares: 1 ms per share, to within a request.
    for (n, &service) in service.iter().enumerate() {
        let due = (1 + n as u64 % 4) * MS;
        assert!(service.abs_diff(due) <= 10 * US, "queue {n}: {service} of {due}");
    }
}

/// Waves of queues that come and go, so that what holds the runnable ones grows, has gaps, and is closed up.
#[test]
fn the_pick_is_the_earliest_deadline_whoever_comes_and_goes() {
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut eevdf = Eevdf::new();
    let ids: Vec<QueueId> =
        (0..300).map(|n| eevdf.add(share(1 + n % 5), US * (1 + u64::from(n) % 7))).collect();
    let mut sizes = Vec::new();
    for round in 0..12_000 {
        let id = ids[next(300) as usize];
        // Many rounds in which mostly queues wake, then as many in which they fall asleep, to the last.
        match (next(8), round / 2_000 % 2) {
            (0..6, 0) => eevdf.wake(id),
            (0..7, _) => eevdf.sleep(id),
            _ => {}
        }
        let eligible = ids.iter().filter(|&&id| eevdf.is_eligible(id));
        let first = eligible.min_by_key(|&&id| (eevdf.virtual_deadline(id), id)).copied();
        let picked = eevdf.pick();
        assert_eq!(picked, first, "round {round}, {eevdf:?}");
        assert_eq!(eevdf.runnable(), ids.iter().filter(|&&id| eevdf.is_runnable(id)).count());
        picked.into_iter().for_each(|id| eevdf.charge(id, next(9 * US)));
        sizes.push(eevdf.runnable());
    }
    let (least, most) = (sizes[500..].iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(*least < 4 && *most > 200, "from {least} to {most}: or else this tests little");
}

#[test]
fn a_queue_does_not_preempt_itself() {
    let mut eevdf = Eevdf::new();
    let id = eevdf.add(share(1), 1_000);
    eevdf.wake(id);
    assert!(eevdf.is_eligible(id) && !eevdf.preempts(id, id));
}

#[test]
fn it_starts_where_it_is_told_to() {
    for raw in [0, 1, -1, 1 << 80] {
        assert_eq!(Eevdf::starting_at(raw).virtual_time().raw(), raw);
    }
}

#[test]
fn an_id_and_a_state_show_what_they_are() {
    let mut eevdf = Eevdf::starting_at(5);
    let (gone, id) = (eevdf.add(share(1), 1_000), eevdf.add(share(3), 1_000));
    eevdf.remove(gone);
    eevdf.wake(id);
    assert_eq!(format!("{id:?}"), "queue 1");
    assert_eq!(format!("{eevdf:?}"), "Eevdf { queues: 1, runnable: 1, shares: 3, virtual_time: 5, .. }");
}
