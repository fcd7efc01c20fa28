//! `Eevdf` against a naive model, on random sequences of every call.
//!
//! The model keeps no sums and no heaps, moves no zero, and finds everything by scanning. With the 40 fractional bits
//! that `Eevdf` documents it must agree to the last bit, picks and ties included. With 64 bits, where its rounding is
//! next to nothing, lags must agree to within the documented error.

use clockworker_schedulers::{Eevdf, QueueId, Share};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Queue {
    w: i128,
    request: u64,
    left: u64,
    v: i128,
    deadline: i128,
    runnable: bool,
    /// Service owed while asleep, and V when that began (or when it was added).
    saved: i128,
    slept_at: i128,
}

/// EEVDF by its definitions, with `BITS` fractional bits.
#[derive(Clone, Default)]
struct Model<const BITS: u32> {
    queues: Vec<Option<Queue>>,
    free: Vec<usize>,
    last_v: i128,
}

impl<const BITS: u32> Model<BITS> {
    fn virtual_of(queue: &Queue, ns: u64) -> i128 {
        i128::from(ns) * ((1 << BITS) / queue.w)
    }

    fn runnable(&self) -> impl Iterator<Item = (usize, &Queue)> {
        let present =
            self.queues.iter().enumerate().filter_map(|(index, queue)| Some((index, queue.as_ref()?)));
        present.filter(|(_, queue)| queue.runnable)
    }

    fn shares(&self) -> i128 {
        self.runnable().map(|(_, queue)| queue.w).sum()
    }

    fn now(&self) -> i128 {
        let sum: i128 = self.runnable().map(|(_, queue)| queue.w * queue.v).sum();
        if self.shares() == 0 { self.last_v } else { sum.div_euclid(self.shares()) }
    }

    fn get(&mut self, index: usize) -> Option<&mut Queue> {
        self.queues.get_mut(index)?.as_mut()
    }

    /// A queue is eligible if Σ w_j·(v_j − v) ≥ 0 over the runnable.
    fn eligible(&self, queue: &Queue) -> bool {
        self.runnable().map(|(_, other)| other.w * (other.v - queue.v)).sum::<i128>() >= 0
    }

    fn pick(&self) -> Option<usize> {
        let eligible = self.runnable().filter(|(_, queue)| self.eligible(queue));
        eligible.map(|(index, queue)| (queue.deadline, index)).min().map(|(_, index)| index)
    }

    fn lag(&self, index: usize) -> i128 {
        match self.queues.get(index) {
            Some(Some(queue)) if queue.runnable => queue.w * (self.now() - queue.v),
            Some(Some(queue)) => queue.saved,
            _ => 0,
        }
    }

    fn add(&mut self, w: u32, request: u64) -> usize {
        let index = self.free.pop().unwrap_or(self.queues.len());
        if index == self.queues.len() {
            self.queues.push(None);
        }
        let (w, left, slept_at) = (i128::from(w), request, self.now());
        self.queues[index] =
            Some(Queue { w, request, left, v: 0, deadline: 0, runnable: false, saved: 0, slept_at });
        index
    }

    fn remove(&mut self, index: usize) {
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

    fn sleep(&mut self, index: usize) {
        let lag = self.lag(index);
        if self.stop(index) {
            let now = self.now();
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

    fn wake(&mut self, index: usize) {
        let (now, shares) = (self.now(), self.shares());
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

    fn charge(&mut self, index: usize, ns: u64) {
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

    fn set_share(&mut self, index: usize, w: u32) {
        let (lag, w) = (self.lag(index), i128::from(w));
        if self.get(index).is_none_or(|queue| queue.w == w) {
            return;
        }
        let was_runnable = self.stop(index);
        let now = self.now();
        let ahead = if self.shares() == 0 { 0 } else { self.place(lag, w) };
        let queue = self.get(index).unwrap();
        queue.w = w;
        if was_runnable {
            queue.v = now - ahead;
            queue.deadline = queue.v + Self::virtual_of(queue, queue.left);
            queue.runnable = true;
        }
    }

    fn apply(&mut self, call: &Call, picked: Option<QueueId>) {
        match *call {
            Call::Add(w, request) => drop(self.add(w, request)),
            Call::Remove(index) => self.remove(index),
            Call::Wake(index) => self.wake(index),
            Call::Sleep(index) => self.sleep(index),
            Call::Charge(index, ns) => self.charge(index, ns),
            Call::SetShare(index, w) => self.set_share(index, w),
            Call::SetRequest(index, request) => {
                self.get(index).into_iter().for_each(|queue| queue.request = request);
            }
            Call::Serve(ns) => picked.into_iter().for_each(|id| self.charge(id.index(), ns)),
        }
    }
}

#[derive(Clone, Debug)]
enum Call {
    Add(u32, u64),
    Remove(usize),
    Wake(usize),
    Sleep(usize),
    Charge(usize, u64),
    SetShare(usize, u32),
    SetRequest(usize, u64),
    /// Charges whatever is picked.
    Serve(u64),
}

/// Small numbers, which make ties, and large ones, which make rounding.
fn share() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 1..4u32, 1 => 1..=1_000_000u32]
}

fn ns() -> impl Strategy<Value = u64> {
    prop_oneof![3 => (1..5u64).prop_map(|n| n * 1_000), 1 => 0..2_000_000u64]
}

fn request() -> impl Strategy<Value = u64> {
    prop_oneof![3 => (1..4u64).prop_map(|n| n * 2_000), 1 => 1..1_000_000u64]
}

fn call() -> impl Strategy<Value = Call> {
    let index = 0..8usize;
    prop_oneof![
        2 => (share(), request()).prop_map(|(w, request)| Call::Add(w, request)),
        1 => index.clone().prop_map(Call::Remove),
        6 => index.clone().prop_map(Call::Wake),
        3 => index.clone().prop_map(Call::Sleep),
        1 => (index.clone(), ns()).prop_map(|(index, ns)| Call::Charge(index, ns)),
        2 => (index.clone(), share()).prop_map(|(index, w)| Call::SetShare(index, w)),
        1 => (index, request()).prop_map(|(index, request)| Call::SetRequest(index, request)),
        14 => ns().prop_map(Call::Serve),
    ]
}

/// The two side by side. Ids are found by index, as those of removed queues are used again.
struct Pair {
    eevdf: Eevdf,
    ids: Vec<QueueId>,
}

impl Pair {
    fn starting_at(raw: i128) -> Self {
        Self { eevdf: Eevdf::starting_at(raw), ids: Vec::new() }
    }

    fn apply(&mut self, call: &Call) -> Option<QueueId> {
        let picked = self.eevdf.pick();
        let share = |w| Share::new(w).unwrap();
        let eevdf = &mut self.eevdf;
        if let Call::Add(w, request) = *call {
            let id = eevdf.add(share(w), request);
            if id.index() == self.ids.len() {
                self.ids.push(id);
            }
            return picked;
        }
        let known = |index: usize| self.ids.get(index).copied();
        match *call {
            Call::Add(..) => {}
            Call::Remove(index) => known(index).into_iter().for_each(|id| eevdf.remove(id)),
            Call::Wake(index) => known(index).into_iter().for_each(|id| eevdf.wake(id)),
            Call::Sleep(index) => known(index).into_iter().for_each(|id| eevdf.sleep(id)),
            Call::Charge(index, ns) => known(index).into_iter().for_each(|id| eevdf.charge(id, ns)),
            Call::SetShare(index, w) => known(index).into_iter().for_each(|id| eevdf.set_share(id, share(w))),
            Call::SetRequest(index, request) => {
                known(index).into_iter().for_each(|id| eevdf.set_request(id, request));
            }
            Call::Serve(ns) => picked.into_iter().for_each(|id| eevdf.charge(id, ns)),
        }
        picked
    }

    fn agrees(&mut self, model: &Model<40>) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.eevdf.pick().map(QueueId::index), model.pick());
        prop_assert_eq!(self.eevdf.runnable(), model.runnable().count());
        for (index, &id) in self.ids.iter().enumerate() {
            let eevdf = &self.eevdf;
            prop_assert_eq!(eevdf.lag(id).raw(), model.lag(index));
            let queue = model.queues[index].as_ref();
            prop_assert_eq!(eevdf.left_ns(id), queue.map_or(0, |queue| queue.left));
            let Some(queue) = queue.filter(|queue| queue.runnable) else {
                prop_assert!(!eevdf.is_runnable(id));
                continue;
            };
            // Zeros differ, so distances are compared.
            let (now, v) = (eevdf.virtual_time().raw(), eevdf.virtual_runtime(id).unwrap().raw());
            prop_assert_eq!(v - now, queue.v - model.now());
            prop_assert_eq!(eevdf.virtual_deadline(id).unwrap().raw() - v, queue.deadline - queue.v);
            prop_assert_eq!(eevdf.is_eligible(id), model.eligible(queue));
        }
        Ok(())
    }
}

fn config() -> ProptestConfig {
    // A failing case is printed in full, so no file needs to keep it.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn agrees_to_the_last_bit(
        calls in prop::collection::vec(call(), 1..250),
        // At zero, or so close to where zero is moved that it will be.
        start in prop_oneof![Just(0), (0..1i128 << 60).prop_map(|before| (1 << 80) - before)],
    ) {
        let mut pair = Pair::starting_at(start);
        let mut model = Model::<40>::default();
        for call in &calls {
            let picked = pair.apply(call);
            model.apply(call, picked);
            pair.agrees(&model)?;
        }
    }

    #[test]
    fn lags_are_within_the_documented_error(calls in prop::collection::vec(call(), 1..250)) {
        let mut pair = Pair::starting_at(0);
        let mut model = Model::<64>::default();
        let mut charged = 0;
        for call in &calls {
            let picked = pair.apply(call);
            model.apply(call, picked);
            if let Call::Serve(ns) | Call::Charge(_, ns) = *call {
                charged += i128::from(ns);
            }
            // A millionth of all service, and the rounding of each placement: far less than 1 ns in sum.
            let tolerance = charged / 1_000_000 + 1;
            for (index, &id) in pair.ids.iter().enumerate() {
                let (lag, exact) = (pair.eevdf.lag(id).as_ns(), model.lag(index) / (1 << 64));
                prop_assert!((lag - exact).abs() <= tolerance, "queue {index}: {lag} ns, exactly {exact} ns");
            }
        }
    }
}
