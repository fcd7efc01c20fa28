//! Queues that are always runnable, on exact virtual service.

use clockworker_schedulers::{Eevdf, QueueId, Share};

use super::tree::{Claim, Exact, ahead, behind};

pub(super) const US: u64 = 1_000;
pub(super) const MS: u64 = 1_000 * US;
pub(super) const SECOND: u64 = 1_000 * MS;
pub(super) const YEAR: u64 = 365 * 86_400 * SECOND;

pub(super) fn share(share: u32) -> Share {
    Share::new(share).unwrap()
}

/// Queues that are always runnable, and what each has been charged.
pub(super) struct Bench {
    pub(super) eevdf: Eevdf,
    pub(super) queues: Vec<Busy>,
    /// How far behind and ahead of its due each queue may be, in nanoseconds.
    limits: Vec<[Exact; 2]>,
}

/// A queue whose polls take `polls[0]`, `polls[1]` and so on, over and over.
pub(super) struct Busy {
    pub(super) id: QueueId,
    pub(super) claim: Claim,
    polls: Vec<u64>,
    polled: usize,
    pub(super) service_ns: u64,
}

impl Bench {
    /// Queues of (share, request, polls), all woken.
    pub(super) fn new(eevdf: Eevdf, queues: &[(u32, u64, &[u64])]) -> Self {
        let mut bench = Self { eevdf, queues: Vec::new(), limits: Vec::new() };
        for &(share, request, polls) in queues {
            bench.add(share, request, polls);
        }
        bench
    }

    pub(super) fn add(&mut self, w: u32, request: u64, polls: &[u64]) -> QueueId {
        let id = self.eevdf.add(share(w), request);
        self.eevdf.wake(id);
        let claim = Claim { share: w, request, poll: polls.iter().copied().max().unwrap() };
        self.queues.push(Busy { id, claim, polls: polls.to_vec(), polled: 0, service_ns: 0 });
        self.limit();
        id
    }

    fn limit(&mut self) {
        let claims: Vec<Claim> = self.queues.iter().map(|queue| queue.claim).collect();
        let limit = |nth: usize| {
            let others = [&claims[..nth], &claims[nth + 1..]].concat();
            [behind(&claims[nth], &others, 0), ahead(&claims[nth], &others)]
        };
        self.limits = (0..claims.len()).map(limit).collect();
    }

    /// Grants one slice, as an executor does: polls until the request is served. Gives the queue and the time.
    pub(super) fn slice(&mut self) -> (QueueId, u64) {
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
    pub(super) fn check(&self) {
        let mut sum = 0;
        for (queue, [behind, ahead]) in self.queues.iter().zip(&self.limits) {
            let lag = self.eevdf.lag(queue.id);
            let is_within =
                (-ahead.floor().to_integer()..=behind.floor().to_integer()).contains(&lag.as_ns());
            assert!(is_within, "{:?}: {lag} is not from -{ahead} to {behind} ns", queue.id);
            sum += lag.raw();
        }
        // Each lag is low by less than w units, so the sum is by less than W; it is never high.
        assert!(sum <= 0 && sum > -self.shares(), "Σ lag = {sum}");
    }

    fn shares(&self) -> i128 {
        self.queues.iter().map(|queue| i128::from(queue.claim.share)).sum()
    }

    pub(super) fn run(&mut self, ns: u64) {
        let mut spent = 0;
        while spent < ns {
            spent += self.slice().1;
            self.check();
        }
    }

    /// How far from its due each queue's service is, at most, in parts per million of the due.
    pub(super) fn worst_ppm(&self) -> u64 {
        let total: u128 = self.queues.iter().map(|queue| u128::from(queue.service_ns)).sum();
        let shares = self.shares() as u128;
        let ppm = |queue: &Busy| {
            let due = total * u128::from(queue.claim.share) / shares;
            u128::from(queue.service_ns).abs_diff(due) * 1_000_000 / due
        };
        self.queues.iter().map(ppm).max().unwrap() as u64
    }
}

/// A second of saturation at these shares, with polls of uneven length; the worst error in parts per million.
pub(super) fn saturate(shares: &[u32], request_ns: u64) -> u64 {
    let polls: [&[u64]; 5] =
        [&[7 * US], &[3 * US, 11 * US], &[5 * US + 1], &[US, US, 19 * US], &[13 * US, 2 * US]];
    let queues: Vec<_> = shares.iter().zip(polls).map(|(&share, polls)| (share, request_ns, polls)).collect();
    let mut bench = Bench::new(Eevdf::new(), &queues);
    bench.run(SECOND);
    bench.worst_ppm()
}

/// Two busy queues; queue 0 has had `head_start` more than its share.
pub(super) fn after_a_head_start(shares: [u32; 2], head_start: u64) -> (Eevdf, QueueId, QueueId) {
    let mut eevdf = Eevdf::new();
    let ids = shares.map(|w| eevdf.add(share(w), MS));
    ids.iter().for_each(|&id| eevdf.wake(id));
    eevdf.charge(ids[0], head_start);
    (eevdf, ids[0], ids[1])
}
