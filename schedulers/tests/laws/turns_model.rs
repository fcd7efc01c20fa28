//! Fair turns, from their documentation.

use core::cell::RefCell;

use clockworker_schedulers::laws::{Crowd, Moment};

/// Which pops are fair turns, from the documentation alone: what was spent in order, against what was spent on fair turns.
pub(crate) struct TurnsModel {
    /// 0 for none.
    every: i64,
    /// What may yet be spent in order.
    balance_ns: i64,
    was_fair: bool,
    service_ns: u64,
}

impl TurnsModel {
    /// What a pop counts for besides its service.
    const POP_NS: i64 = 256;
    /// What counts of a poll, and what is owed, at most.
    const MOST_NS: i64 = 1 << 26;

    pub(crate) fn new(every: i64) -> Self {
        Self { every, balance_ns: -Self::POP_NS, was_fair: true, service_ns: 0 }
    }

    pub(crate) fn every(&self) -> i64 {
        self.every
    }

    /// Whether this pop is a fair turn, to which the usual order does not apply. To be asked of each.
    pub(crate) fn is_fair(&mut self, moment: &Moment<'_>) -> bool {
        if moment.pops == 1 {
            // Another load, a fresh policy: its first pop counts as a fair turn, and is one if all are.
            *self = Self::new(self.every);
            return self.every == 1;
        }
        let cost_ns = (moment.service_ns - self.service_ns) as i64 + Self::POP_NS;
        self.balance_ns += match self.was_fair {
            true => (self.every - 1) * cost_ns.min(Self::MOST_NS),
            false => -cost_ns,
        };
        self.balance_ns = self.balance_ns.max(-Self::MOST_NS);
        self.service_ns = moment.service_ns;
        self.was_fair = self.every > 0 && self.balance_ns < Self::POP_NS;
        self.was_fair
    }
}

/// Whether a pop is a fair turn, of a policy with one in so many, 0 for none.
pub(crate) fn fair(every: u32) -> impl Fn(&Moment<'_>) -> bool {
    let model = RefCell::new(TurnsModel::new(every.into()));
    move |moment| model.borrow_mut().is_fair(moment)
}

/// The bound of a policy that pops each task within so many fair turns, one part in `every`: the pops that are left.
pub(crate) fn within(turns: usize, every: u64, crowd: Crowd) -> u64 {
    let most_ns = every * (turns as u64 + 1) * (crowd.longest_poll_ns + TurnsModel::POP_NS as u64);
    most_ns.saturating_sub(crowd.service_ns) / TurnsModel::POP_NS as u64
}
