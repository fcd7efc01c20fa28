//! EEVDF in the plainest way: no sums, no tree, no zero that moves; everything is found by scanning.
//!
//! `tests/eevdf/oracle.rs` holds [`Eevdf`](crate::Eevdf) to it call by call: with the 40 fractional bits that `Eevdf`
//! documents to the last bit. With 64 bits its own rounding is next to nothing, so lags are as good as exact.

/// A queue of an [`EevdfOracle`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OracleQueue {
    /// Its share.
    pub w: i128,
    /// In nanoseconds.
    pub request: u64,
    /// What is left of the request, in nanoseconds.
    pub left: u64,
    /// Its virtual runtime; none if it has had no service yet.
    pub v: Option<i128>,
    /// Its virtual deadline; valid while runnable.
    pub deadline: i128,
    /// Whether it is.
    pub runnable: bool,
    /// Whether it has no work, and has not fallen asleep yet.
    drained: bool,
    /// Whether it was removed, so that its place is free.
    pub removed: bool,
    /// What it keeps of what it was owed while it sleeps.
    credit: i128,
}

/// EEVDF by its definitions, in units of virtual time of 2⁻ᴮᴵᵀˢ ns of service per unit of share.
///
/// Queues are named by their index, which is that of [`QueueId`](crate::QueueId) if both were added in the same order.
/// Wrong calls are ignored, as by `Eevdf`.
#[derive(Clone, Debug, Default)]
pub struct EevdfOracle<const BITS: u32> {
    queues: Vec<OracleQueue>,
    /// The places of removed queues, last removed last.
    free: Vec<usize>,
    /// The greatest V so far.
    reached: i128,
    /// The longest charge since queues began to contend.
    longest_turn: u64,
    /// Queues in the order in which they were drained first since all fell asleep.
    drained: Vec<usize>,
}

impl<const BITS: u32> EevdfOracle<BITS> {
    fn virtual_of(queue: &OracleQueue, ns: u64) -> i128 {
        i128::from(ns) * ((1 << BITS) / queue.w)
    }

    fn contending(&self) -> impl Iterator<Item = (usize, &OracleQueue)> {
        self.queues.iter().enumerate().filter(|(_, queue)| queue.runnable || queue.drained)
    }

    fn working(&self) -> impl Iterator<Item = (usize, &OracleQueue)> {
        self.contending().filter(|(_, queue)| queue.runnable)
    }

    fn shares(&self) -> i128 {
        self.contending().map(|(_, queue)| queue.w).sum()
    }

    /// Σ w·(v − `v`) over the runnable and the drained.
    fn sum_from(&self, v: i128) -> i128 {
        self.contending().map(|(_, queue)| queue.w * (queue.v.unwrap_or(v) - v)).sum()
    }

    /// The credits of the sleeping queues.
    fn reserved(&self) -> i128 {
        self.queues.iter().map(|queue| queue.credit).sum()
    }

    /// V, rounded down: the greatest (S − Λ)/W that there has been.
    pub fn virtual_time(&self) -> i128 {
        match self.shares() {
            0 => self.reached,
            shares => self.reached.max((self.sum_from(0) - self.reserved()).div_euclid(shares)),
        }
    }

    /// Remembers V. Called by whatever may move it, before and after.
    fn note(&mut self) -> i128 {
        self.reached = self.virtual_time();
        self.reached
    }

    fn get(&mut self, index: usize) -> Option<&mut OracleQueue> {
        self.queues.get_mut(index).filter(|queue| !queue.removed)
    }

    /// A queue is eligible if V has reached its v, or the mean of those that count has: Σ w_j·(v_j − v) ≥ 0.
    pub fn is_eligible(&self, queue: &OracleQueue) -> bool {
        queue.v.is_none_or(|v| v <= self.reached || self.sum_from(v) >= 0)
    }

    /// The queue to serve next, if any is runnable. Where those without work keep all others from being eligible, they fall asleep;
    /// but the only one with work finishes the request that it has begun.
    pub fn pick(&mut self) -> Option<usize> {
        let has_begun = |(index, queue): (usize, &OracleQueue)| (queue.left < queue.request).then_some(index);
        let only = (self.runnable() == 1).then(|| self.working().find_map(has_begun)).flatten();
        let picked = self.first_eligible().or(only);
        if picked.is_some() || self.runnable() == 0 {
            return picked;
        }
        self.settle();
        self.first_eligible()
    }

    fn first_eligible(&self) -> Option<usize> {
        let eligible = self.working().filter(|(_, queue)| self.is_eligible(queue));
        eligible.map(|(index, queue)| (queue.deadline, index)).min().map(|(_, index)| index)
    }

    /// The service that a queue is owed, in 2⁻ᴮᴵᵀˢ ns, or may keep of it while it sleeps; 0 if unknown.
    pub fn lag(&self, index: usize) -> i128 {
        let Some(queue) = self.queue(index) else { return 0 };
        match queue.v.map(|v| queue.w * (self.virtual_time() - v)) {
            Some(lag) if queue.runnable || queue.drained || lag < 0 => lag,
            _ => queue.credit,
        }
    }

    /// Adds a sleeping queue, of a share above 0 and a request in nanoseconds; its index. It takes over what the queue
    /// owes that had its place.
    pub fn add(&mut self, w: u32, request: u64) -> usize {
        let w = i128::from(w);
        let mut new = OracleQueue {
            w,
            request,
            left: request,
            v: None,
            deadline: 0,
            runnable: false,
            drained: false,
            removed: false,
            credit: 0,
        };
        let Some(index) = self.free.pop() else {
            self.queues.push(new);
            return self.queues.len() - 1;
        };
        let now = self.note();
        let old = &self.queues[index];
        let owing = old.v.map_or(0, |v| (old.w * (now - v)).min(0));
        new.v = (owing < 0).then(|| now - owing.div_euclid(w));
        self.queues[index] = new;
        index
    }

    /// Removes a queue. Its place may be used again.
    pub fn remove(&mut self, index: usize) {
        self.drain(index);
        self.note();
        if let Some(queue) = self.get(index) {
            (queue.removed, queue.drained, queue.credit) = (true, false, 0);
            self.free.push(index);
        }
        self.note();
    }

    /// Has a queue count as before that has no work any more. Where none has, all is forgiven.
    pub fn drain(&mut self, index: usize) {
        self.note();
        let Some(queue) = self.get(index).filter(|queue| queue.runnable) else { return };
        (queue.runnable, queue.drained) = (false, true);
        if !self.drained.contains(&index) {
            self.drained.push(index);
        }
        if self.runnable() > 0 {
            return;
        }
        self.longest_turn = 0;
        let furthest = self.queues.iter().filter_map(|queue| queue.v).max();
        self.reached = furthest.map_or(self.reached, |v| v.max(self.reached));
        self.queues.iter_mut().for_each(|queue| (queue.drained, queue.credit) = (false, 0));
        self.drained.clear();
    }

    /// Makes a runnable queue sleep.
    pub fn sleep(&mut self, index: usize) {
        self.drain(index);
        self.fall_asleep(index);
    }

    /// Has all drained queues fall asleep.
    fn settle(&mut self) {
        core::mem::take(&mut self.drained).into_iter().for_each(|index| self.fall_asleep(index));
    }

    /// Has a drained queue fall asleep, with what it may keep.
    fn fall_asleep(&mut self, index: usize) {
        let (lag, longest, reserved) = (self.lag(index), self.longest_turn, self.reserved());
        self.note();
        let Some(queue) = self.get(index).filter(|queue| queue.drained) else { return };
        queue.drained = false;
        let most = 2 * (i128::from(queue.request.max(longest)) << BITS) - reserved;
        queue.credit = lag.clamp(0, most.max(0));
        self.note();
    }

    /// Makes a sleeping queue runnable: at V − credit/w, but not before where it was. A drained one goes on where it was.
    pub fn wake(&mut self, index: usize) {
        let Some(queue) = self.get(index).filter(|queue| !queue.runnable) else { return };
        if core::mem::take(&mut queue.drained) {
            queue.runnable = true;
            return;
        }
        self.settle();
        let now = self.note();
        let Some(queue) = self.get(index) else { return };
        let v = now - core::mem::take(&mut queue.credit).div_euclid(queue.w);
        queue.v = Some(queue.v.map_or(v, |was| was.max(v)));
        queue.left = queue.request;
        queue.deadline = queue.v.unwrap() + Self::virtual_of(queue, queue.left);
        queue.runnable = true;
        self.note();
    }

    /// Charges a queue for nanoseconds of service.
    pub fn charge(&mut self, index: usize, ns: u64) {
        if self.get(index).is_some_and(|queue| !queue.runnable) {
            self.settle();
        }
        let (now, lag) = (self.note(), self.lag(index));
        if self.runnable() > 1 && self.working().any(|(other, _)| other == index) {
            self.longest_turn = self.longest_turn.max(ns);
        }
        let Some(queue) = self.get(index) else { return };
        let moved = Self::virtual_of(queue, ns);
        if !queue.runnable {
            let lag = lag - moved * queue.w;
            queue.v = Some(now - lag.div_euclid(queue.w));
            queue.credit = lag.max(0);
            return;
        }
        queue.v = queue.v.map(|v| v + moved);
        queue.left = queue.left.saturating_sub(ns);
        if queue.left == 0 {
            queue.left = queue.request;
            queue.deadline = queue.v.unwrap() + Self::virtual_of(queue, queue.left);
            self.note();
            self.settle();
        }
        self.note();
    }

    /// Changes a queue's share, to one above 0. It is owed, or owes, as much as before.
    pub fn set_share(&mut self, index: usize, w: u32) {
        let w = i128::from(w);
        if self.queue(index).is_none_or(|queue| queue.w == w) {
            return;
        }
        self.settle();
        let now = self.note();
        let Some(queue) = self.get(index) else { return };
        let lag = queue.v.map(|v| queue.w * (now - v));
        queue.w = w;
        if let Some(lag) = lag {
            queue.v = Some(now - lag.div_euclid(w));
            queue.deadline = queue.v.unwrap() + Self::virtual_of(queue, queue.left);
        }
        self.note();
    }

    /// Changes a queue's request: at once if it is shorter than what is left of the present one, else from the next on.
    pub fn set_request(&mut self, index: usize, request: u64) {
        let Some(queue) = self.get(index) else { return };
        queue.request = request;
        if queue.left > request {
            queue.left = request;
            queue.deadline = queue.v.unwrap_or(0) + Self::virtual_of(queue, request);
        }
    }

    /// The queue of an index, if there is one.
    pub fn queue(&self, index: usize) -> Option<&OracleQueue> {
        self.queues.get(index).filter(|queue| !queue.removed)
    }

    /// How many are runnable.
    pub fn runnable(&self) -> usize {
        self.working().count()
    }
}
