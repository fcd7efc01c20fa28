//! `Eevdf` and its model side by side, for the property test and the fuzz target: every call, made on both.

use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Eevdf, QueueId, Share};

#[derive(Clone, Debug)]
pub(crate) enum Call {
    Add(u32, u64),
    Remove(usize),
    Wake(usize),
    Sleep(usize),
    Drain(usize),
    Charge(usize, u64),
    SetShare(usize, u32),
    SetRequest(usize, u64),
    /// Charges whatever is picked.
    Serve(u64),
}

impl Call {
    /// Makes the call on the model; `picked` is what `Eevdf` picked before it.
    pub(crate) fn apply_to<const BITS: u32>(&self, model: &mut EevdfOracle<BITS>, picked: Option<QueueId>) {
        model.pick();
        match *self {
            Call::Add(w, request) => drop(model.add(w, request)),
            Call::Remove(index) => model.remove(index),
            Call::Wake(index) => model.wake(index),
            Call::Sleep(index) => model.sleep(index),
            Call::Drain(index) => model.drain(index),
            Call::Charge(index, ns) => model.charge(index, ns),
            Call::SetShare(index, w) => model.set_share(index, w),
            Call::SetRequest(index, request) => model.set_request(index, request),
            Call::Serve(ns) => picked.into_iter().for_each(|id| model.charge(id.index(), ns)),
        }
    }
}

/// The two side by side. Ids are found by index, as those of removed queues are used again.
pub(crate) struct Pair {
    pub(crate) eevdf: Eevdf,
    pub(crate) ids: Vec<QueueId>,
}

impl Pair {
    pub(crate) fn starting_at(raw: i128) -> Self {
        Self { eevdf: Eevdf::starting_at(raw), ids: Vec::new() }
    }

    /// Makes the call on `Eevdf`. What it picked before.
    pub(crate) fn apply(&mut self, call: &Call) -> Option<QueueId> {
        let picked = self.eevdf.pick();
        let share = |w| Share::new(w).unwrap();
        let eevdf = &mut self.eevdf;
        if let Call::Add(w, request) = *call {
            let id = eevdf.add(share(w), request);
            if id.index() == self.ids.len() {
                self.ids.push(id);
            }
            self.ids[id.index()] = id;
            return picked;
        }
        let known = |index: usize| self.ids.get(index).copied();
        match *call {
            Call::Add(..) => {}
            Call::Remove(index) => known(index).into_iter().for_each(|id| eevdf.remove(id)),
            Call::Wake(index) => known(index).into_iter().for_each(|id| eevdf.wake(id)),
            Call::Sleep(index) => known(index).into_iter().for_each(|id| eevdf.sleep(id)),
            Call::Drain(index) => known(index).into_iter().for_each(|id| eevdf.drain(id)),
            Call::Charge(index, ns) => known(index).into_iter().for_each(|id| eevdf.charge(id, ns)),
            Call::SetShare(index, w) => known(index).into_iter().for_each(|id| eevdf.set_share(id, share(w))),
            Call::SetRequest(index, request) => {
                known(index).into_iter().for_each(|id| eevdf.set_request(id, request));
            }
            Call::Serve(ns) => picked.into_iter().for_each(|id| eevdf.charge(id, ns)),
        }
        picked
    }

    /// Panics unless they agree, to the last bit.
    #[track_caller]
    pub(crate) fn agrees(&mut self, model: &mut EevdfOracle<40>) {
        assert_eq!(self.eevdf.pick().map(QueueId::index), model.pick());
        assert_eq!(self.eevdf.runnable(), model.runnable());
        for (index, &id) in self.ids.iter().enumerate() {
            let eevdf = &self.eevdf;
            assert_eq!(eevdf.lag(id).raw(), model.lag(index));
            let queue = model.queue(index);
            assert_eq!(eevdf.left_ns(id), queue.map_or(0, |queue| queue.left));
            let Some(queue) = queue.filter(|queue| queue.runnable) else {
                assert!(!eevdf.is_runnable(id));
                continue;
            };
            // Zeros differ, so distances are compared.
            let (now, v) = (eevdf.virtual_time().raw(), eevdf.virtual_runtime(id).unwrap().raw());
            let model_v = queue.v.unwrap();
            assert_eq!(v - now, model_v - model.virtual_time());
            assert_eq!(eevdf.virtual_deadline(id).unwrap().raw() - v, queue.deadline - model_v);
            assert_eq!(eevdf.is_eligible(id), model.is_eligible(queue));
        }
    }
}
