//! [`Bench`]: queues that are always runnable, served as an executor does.

use crate::share;
use clockworker_schedulers::{Eevdf, QueueId};

/// Queues that are always runnable, and what each has been charged.
pub(crate) struct Bench {
    pub(crate) eevdf: Eevdf,
    pub(crate) queues: Vec<Busy>,
    pub(crate) longest_request: u64,
    pub(crate) longest_poll: u64,
}

/// A queue whose polls take `polls[0]`, `polls[1]` and so on, over and over.
pub(crate) struct Busy {
    pub(crate) id: QueueId,
    pub(crate) share: u32,
    pub(crate) polls: Vec<u64>,
    pub(crate) polled: usize,
    pub(crate) service_ns: u64,
}

impl Busy {
    pub(crate) fn longest_poll(&self) -> i128 {
        self.polls.iter().copied().max().map_or(0, i128::from)
    }
}

impl Bench {
    /// Queues of (share, request, polls), all woken.
    pub(crate) fn new(eevdf: Eevdf, queues: &[(u32, u64, &[u64])]) -> Self {
        let mut bench = Self { eevdf, queues: Vec::new(), longest_request: 0, longest_poll: 0 };
        for &(share, request_ns, polls) in queues {
            bench.add(share, request_ns, polls);
        }
        bench
    }

    pub(crate) fn add(&mut self, w: u32, request_ns: u64, polls: &[u64]) -> QueueId {
        let id = self.eevdf.add(share(w), request_ns);
        self.eevdf.wake(id);
        self.queues.push(Busy { id, share: w, polls: polls.to_vec(), polled: 0, service_ns: 0 });
        self.longest_request = self.longest_request.max(request_ns);
        self.longest_poll = polls.iter().copied().fold(self.longest_poll, u64::max);
        id
    }

    /// Grants one slice, as an executor does: polls until the request is served. Gives the queue and the time.
    pub(crate) fn slice(&mut self) -> (QueueId, u64) {
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
    pub(crate) fn check(&self) {
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
    pub(crate) fn check_while_queues_come_and_go(&self) {
        let bound = i128::from(self.longest_request + self.longest_poll);
        let mut sum = 0;
        for queue in &self.queues {
            let lag = self.eevdf.lag(queue.id);
            assert!(lag.as_ns().abs() <= bound, "{:?}: {lag}, bound {bound} ns", queue.id);
            sum += lag.raw();
        }
        assert!(sum > -self.shares(), "Σ lag = {sum}");
    }

    pub(crate) fn request(&self, queue: &Busy) -> i128 {
        i128::from(self.eevdf.request_ns(queue.id))
    }

    /// W times what `queue` can fall behind while `other` is served.
    pub(crate) fn turn(&self, other: &Busy, queue: &Busy) -> i128 {
        if other.id == queue.id {
            return 0;
        }
        let (w, w_other) = (i128::from(queue.share), i128::from(other.share));
        (self.request(other) * w).max(self.request(queue) * w_other) + other.longest_poll() * w
    }

    /// Each lag is low by less than w units, so the sum is by less than W; it is never high.
    pub(crate) fn check_sum(&self, sum: i128) {
        assert!(sum <= 0 && sum > -self.shares(), "Σ lag = {sum}");
    }

    pub(crate) fn shares(&self) -> i128 {
        self.queues.iter().map(|queue| i128::from(queue.share)).sum()
    }

    pub(crate) fn run(&mut self, ns: u64) {
        self.run_and(ns, Self::check);
    }

    pub(crate) fn run_and(&mut self, ns: u64, check: impl Fn(&Self)) {
        let mut spent = 0;
        while spent < ns {
            spent += self.slice().1;
            check(self);
        }
    }

    /// How far from its due each queue's service is, at most, in parts per million of the due.
    pub(crate) fn worst_ppm(&self) -> u64 {
        let total: u128 = self.queues.iter().map(|queue| u128::from(queue.service_ns)).sum();
        let shares: u128 = self.queues.iter().map(|queue| u128::from(queue.share)).sum();
        let ppm = |queue: &Busy| {
            let due = total * u128::from(queue.share) / shares;
            u128::from(queue.service_ns).abs_diff(due) * 1_000_000 / due
        };
        self.queues.iter().map(ppm).max().unwrap() as u64
    }
}
