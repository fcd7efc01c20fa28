//! `Eevdf` against a naive model, on random sequences of every call.
//!
//! The model is `laws::EevdfOracle`. With the 40 fractional bits that `Eevdf` documents it must agree to the last bit, picks and ties included. With 64 bits, where its rounding is
//! next to nothing, lags must agree to within the documented error.

use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Eevdf, QueueId, Share};
use proptest::prelude::*;

fn apply<const BITS: u32>(model: &mut EevdfOracle<BITS>, call: &Call, picked: Option<QueueId>) {
    match *call {
        Call::Add(w, request) => drop(model.add(w, request)),
        Call::Remove(index) => model.remove(index),
        Call::Wake(index) => model.wake(index),
        Call::Sleep(index) => model.sleep(index),
        Call::Charge(index, ns) => model.charge(index, ns),
        Call::SetShare(index, w) => model.set_share(index, w),
        Call::SetRequest(index, request) => model.set_request(index, request),
        Call::Serve(ns) => picked.into_iter().for_each(|id| model.charge(id.index(), ns)),
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

    fn agrees(&mut self, model: &EevdfOracle<40>) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.eevdf.pick().map(QueueId::index), model.pick());
        prop_assert_eq!(self.eevdf.runnable(), model.runnable());
        for (index, &id) in self.ids.iter().enumerate() {
            let eevdf = &self.eevdf;
            prop_assert_eq!(eevdf.lag(id).raw(), model.lag(index));
            let queue = model.queue(index);
            prop_assert_eq!(eevdf.left_ns(id), queue.map_or(0, |queue| queue.left));
            let Some(queue) = queue.filter(|queue| queue.runnable) else {
                prop_assert!(!eevdf.is_runnable(id));
                continue;
            };
            // Zeros differ, so distances are compared.
            let (now, v) = (eevdf.virtual_time().raw(), eevdf.virtual_runtime(id).unwrap().raw());
            prop_assert_eq!(v - now, queue.v - model.virtual_time());
            prop_assert_eq!(eevdf.virtual_deadline(id).unwrap().raw() - v, queue.deadline - queue.v);
            prop_assert_eq!(eevdf.is_eligible(id), model.is_eligible(queue));
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
        let mut model = EevdfOracle::<40>::default();
        for call in &calls {
            let picked = pair.apply(call);
            apply(&mut model, call, picked);
            pair.agrees(&model)?;
        }
    }

    #[test]
    fn lags_are_within_the_documented_error(calls in prop::collection::vec(call(), 1..250)) {
        let mut pair = Pair::starting_at(0);
        let mut model = EevdfOracle::<64>::default();
        let mut charged = 0;
        for call in &calls {
            let picked = pair.apply(call);
            apply(&mut model, call, picked);
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
