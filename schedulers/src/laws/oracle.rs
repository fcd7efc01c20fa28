//! EEVDF in the plainest way: no sums, no tree, no zero that moves; everything is found by scanning.
//!
//! `tests/eevdf_oracle.rs` holds [`Eevdf`](crate::Eevdf) to it call by call: with the 40 fractional bits that `Eevdf`
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
    /// Its virtual runtime; valid while runnable.
    pub v: i128,
    /// Its virtual deadline; valid while runnable.
    pub deadline: i128,
    /// Whether it is.
    pub runnable: bool,
    /// Service owed while asleep, and V when that began (or when it was added).
    saved: i128,
    slept_at: i128,
}

/// EEVDF by its definitions, in units of virtual time of 2⁻ᴮᴵᵀˢ ns of service per unit of share.
///
/// Queues are named by their index, which is that of [`QueueId`](crate::QueueId) if both were added in the same order.
/// Wrong calls are ignored, as by `Eevdf`.
#[derive(Clone, Debug, Default)]
pub struct EevdfOracle<const BITS: u32> {
    queues: Vec<Option<OracleQueue>>,
    free: Vec<usize>,
    last_v: i128,
}

impl<const BITS: u32> EevdfOracle<BITS> {
    fn virtual_of(queue: &OracleQueue, ns: u64) -> i128 {
        i128::from(ns) * ((1 << BITS) / queue.w)
    }

    fn contending(&self) -> impl Iterator<Item = (usize, &OracleQueue)> {
        let present =
            self.queues.iter().enumerate().filter_map(|(index, queue)| Some((index, queue.as_ref()?)));
        present.filter(|(_, queue)| queue.runnable)
    }

    fn shares(&self) -> i128 {
        self.contending().map(|(_, queue)| queue.w).sum()
    }

    /// V, rounded down; while nothing is runnable, the last.
    pub fn virtual_time(&self) -> i128 {
        let sum: i128 = self.contending().map(|(_, queue)| queue.w * queue.v).sum();
        if self.shares() == 0 { self.last_v } else { sum.div_euclid(self.shares()) }
    }

    fn get(&mut self, index: usize) -> Option<&mut OracleQueue> {
        self.queues.get_mut(index)?.as_mut()
    }

    /// A queue is eligible if Σ w_j·(v_j − v) ≥ 0 over the runnable.
    pub fn is_eligible(&self, queue: &OracleQueue) -> bool {
        self.contending().map(|(_, other)| other.w * (other.v - queue.v)).sum::<i128>() >= 0
    }

    /// The queue to serve next, if any is runnable.
    pub fn pick(&self) -> Option<usize> {
        let eligible = self.contending().filter(|(_, queue)| self.is_eligible(queue));
        eligible.map(|(index, queue)| (queue.deadline, index)).min().map(|(_, index)| index)
    }

    /// The service that a queue is owed, or was when it fell asleep, in 2⁻ᴮᴵᵀˢ ns; 0 if unknown.
    pub fn lag(&self, index: usize) -> i128 {
        match self.queues.get(index) {
            Some(Some(queue)) if queue.runnable => queue.w * (self.virtual_time() - queue.v),
            Some(Some(queue)) => queue.saved,
            _ => 0,
        }
    }

    /// Adds a sleeping queue, of a share above 0 and a request in nanoseconds; its index.
    pub fn add(&mut self, w: u32, request: u64) -> usize {
        let index = self.free.pop().unwrap_or(self.queues.len());
        if index == self.queues.len() {
            self.queues.push(None);
        }
        let (w, left, slept_at) = (i128::from(w), request, self.virtual_time());
        self.queues[index] =
            Some(OracleQueue { w, request, left, v: 0, deadline: 0, runnable: false, saved: 0, slept_at });
        index
    }

    /// Removes a queue. Its index may be used again.
    pub fn remove(&mut self, index: usize) {
        self.stop(index);
        if self.get(index).is_some() {
            self.queues[index] = None;
            self.free.push(index);
        }
    }

    /// Takes a queue out of the runnable, if it is among them.
    fn stop(&mut self, index: usize) -> bool {
        let Some(queue) = self.get(index) else { return false };
        let was = core::mem::replace(&mut queue.runnable, false);
        let v = queue.v;
        if was && self.shares() == 0 {
            self.last_v = v;
        }
        was
    }

    /// Makes a runnable queue sleep.
    pub fn sleep(&mut self, index: usize) {
        let lag = self.lag(index);
        if self.stop(index) {
            let now = self.virtual_time();
            let queue = self.get(index).unwrap();
            queue.saved = lag.min(2 * (i128::from(queue.request) << BITS));
            queue.slept_at = now;
        }
    }

    /// Where a queue must be for its lag to be `lag` once it is runnable: V − vl·(W + w)/W.
    fn place(&self, lag: i128, w: i128) -> i128 {
        let vl = lag.div_euclid(w);
        vl + (vl * w).div_euclid(self.shares())
    }

    /// Makes a sleeping queue runnable.
    pub fn wake(&mut self, index: usize) {
        let (now, shares) = (self.virtual_time(), self.shares());
        let Some(queue) = self.get(index) else { return };
        if queue.runnable {
            return;
        }
        let (saved, w, passed) = (queue.saved, queue.w, (now - queue.slept_at).max(0));
        let ahead = match shares {
            0 => 0,
            _ => match self.place(saved, w) {
                owed if owed >= 0 => owed,
                owing => (owing + passed).min(0),
            },
        };
        let queue = self.get(index).unwrap();
        queue.v = now - ahead;
        queue.left = queue.request;
        queue.deadline = queue.v + Self::virtual_of(queue, queue.left);
        queue.runnable = true;
    }

    /// Charges a queue for nanoseconds of service.
    pub fn charge(&mut self, index: usize, ns: u64) {
        let Some(queue) = self.get(index) else { return };
        let moved = Self::virtual_of(queue, ns);
        if !queue.runnable {
            queue.saved -= moved * queue.w;
            return;
        }
        queue.v += moved;
        queue.left = queue.left.saturating_sub(ns);
        if queue.left == 0 {
            queue.left = queue.request;
            queue.deadline = queue.v + Self::virtual_of(queue, queue.left);
        }
    }

    /// Changes a queue's share, to one above 0.
    pub fn set_share(&mut self, index: usize, w: u32) {
        let (lag, w) = (self.lag(index), i128::from(w));
        if self.get(index).is_none_or(|queue| queue.w == w) {
            return;
        }
        let was_runnable = self.stop(index);
        let now = self.virtual_time();
        let ahead = if self.shares() == 0 { 0 } else { self.place(lag, w) };
        let queue = self.get(index).unwrap();
        queue.w = w;
        if was_runnable {
            queue.v = now - ahead;
            queue.deadline = queue.v + Self::virtual_of(queue, queue.left);
            queue.runnable = true;
        }
    }

    /// Changes a queue's request, from its next one on.
    pub fn set_request(&mut self, index: usize, request: u64) {
        self.get(index).into_iter().for_each(|queue| queue.request = request);
    }

    /// The queue of an index, if there is one.
    pub fn queue(&self, index: usize) -> Option<&OracleQueue> {
        self.queues.get(index)?.as_ref()
    }

    /// How many are runnable.
    pub fn runnable(&self) -> usize {
        self.contending().count()
    }
}
