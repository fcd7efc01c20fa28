//! The place of a group: its virtual runtime, weight and ready tasks.

use super::debts::Debt;
use crate::Share;
use crate::parts::task_lists::TaskList;

/// Bits after the binary point of virtual time.
const FRACTION_BITS: u32 = 40;

/// Where groups wait that are behind V: before all others, in the order of coming.
const FRONT: u128 = 0;

/// Service below this, in nanoseconds, is divided in 64 bits.
pub(super) const SHORT_NS: u64 = 1 << (u64::BITS - FRACTION_BITS);

/// What is kept of a group index, whichever group has it: a new group under the index of one that has closed goes on where that
/// one was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Virtual runtime: service / weight, in 2⁻⁴⁰ ns, as of the end of its last turn.
    pub(super) v: u128,
    pub(super) weight: Share,
    /// Its ready tasks.
    pub(super) tasks: TaskList,
    /// Whether it is that of a group that was opened and not closed.
    pub(super) is_open: bool,
}

impl Place {
    pub(super) const EMPTY: Self = Self { v: 0, weight: Share::MIN, tasks: TaskList::EMPTY, is_open: false };

    /// Comes to wait, and says where: in front while it has a burst, at V if it owes no more than `grace_ns`, else where it was.
    #[inline]
    pub(super) fn come(&mut self, virtual_time: u128, grace_ns: u64, burst_ns: u64) -> u128 {
        if !self.is_open && self.weight != Share::MIN {
            self.forget_weight(virtual_time);
        }
        if self.v <= virtual_time {
            if burst_ns > 0 {
                self.rest(virtual_time, burst_ns);
                return self.stands_at(virtual_time);
            }
            self.v = virtual_time;
            return virtual_time;
        }
        if self.owes_at_most(grace_ns, virtual_time).is_some() { virtual_time } else { self.v }
    }

    /// Where it waits by its virtual runtime.
    #[inline]
    pub(super) fn stands_at(&self, virtual_time: u128) -> u128 {
        if self.v < virtual_time { FRONT } else { self.v }
    }

    /// Keeps no more of what it has not used than the burst.
    #[inline]
    pub(super) fn rest(&mut self, virtual_time: u128, burst_ns: u64) {
        if self.v < virtual_time {
            self.v = self.v.max(virtual_time.saturating_sub(burst(burst_ns, self.weight)));
        }
    }

    /// A group with attributes had the index before.
    #[cold]
    #[inline(never)]
    fn forget_weight(&mut self, virtual_time: u128) {
        self.reweigh(Share::MIN, virtual_time);
    }

    /// What it owes at `virtual_time`, in nanoseconds, rounded up, if that is no more than `most_ns`, which is below 2²⁴.
    #[inline]
    pub(super) fn owes_at_most(&self, most_ns: u64, virtual_time: u128) -> Option<u64> {
        if self.v <= virtual_time {
            return Some(0);
        }
        let ahead = u64::try_from(self.v - virtual_time).unwrap_or(u64::MAX);
        let owed = u128::from(ahead) * u128::from(self.weight.get());
        (owed <= u128::from(most_ns << FRACTION_BITS)).then_some((owed as u64).div_ceil(1 << FRACTION_BITS))
    }

    /// Counts service.
    #[inline]
    pub(super) fn charge(&mut self, service_ns: u64) {
        self.v = self.v.saturating_add(virtual_of(service_ns, self.weight));
    }

    /// What it has received beyond its due at `virtual_time`, in nanoseconds, rounded up.
    #[inline]
    pub(super) fn owes_ns(&self, virtual_time: u128) -> u64 {
        let (ahead, weight) = (self.v.saturating_sub(virtual_time), u128::from(self.weight.get()));
        let owed = match u64::try_from(ahead) {
            Ok(ahead) => u128::from(ahead) * weight,
            Err(_) => ahead.saturating_mul(weight),
        };
        u64::try_from(owed.div_ceil(1 << FRACTION_BITS)).unwrap_or(u64::MAX)
    }

    /// Changes the weight. It owes as much service as before.
    pub(super) fn reweigh(&mut self, weight: Share, virtual_time: u128) {
        let debt = Debt { v: self.v, weight: self.weight };
        self.v = placed(debt, weight, virtual_time);
        self.weight = weight;
    }

    /// Lets it owe no less than `debt`.
    pub(super) fn take_over(&mut self, debt: Debt, virtual_time: u128) {
        self.v = self.v.max(placed(debt, self.weight, virtual_time));
    }
}

/// How far a group may be behind V.
#[inline]
pub(super) fn burst(burst_ns: u64, weight: Share) -> u128 {
    let burst = burst_ns.min(SHORT_NS - 1) << FRACTION_BITS;
    u128::from(if weight == Share::MIN { burst } else { burst / u64::from(weight.get()) })
}

/// The virtual runtime under another weight at which as much is owed.
fn placed(debt: Debt, weight: Share, virtual_time: u128) -> u128 {
    let ahead = debt.v.saturating_sub(virtual_time);
    let service = ahead.saturating_mul(debt.weight.get().into());
    virtual_time.saturating_add(service.div_ceil(weight.get().into()))
}

/// What `service_ns` moves a group on by: exact, but for being rounded up to 2⁻⁴⁰ ns.
#[inline]
fn virtual_of(service_ns: u64, weight: Share) -> u128 {
    if weight == Share::MIN {
        return u128::from(service_ns) << FRACTION_BITS;
    }
    if service_ns < SHORT_NS {
        return (service_ns << FRACTION_BITS).div_ceil(weight.get().into()).into();
    }
    (u128::from(service_ns) << FRACTION_BITS).div_ceil(weight.get().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(weight: u32) -> Share {
        Share::new(weight).unwrap()
    }

    #[test]
    fn service_is_divided_exactly_and_rounded_up() {
        for weight in [1, 2, 3, 7, 1_000, 999_999, 1_000_000] {
            for ns in [1, 2, 999, SHORT_NS - 1, SHORT_NS, SHORT_NS + 1, u64::MAX] {
                let moved = virtual_of(ns, share(weight));
                let exact = u128::from(ns) << FRACTION_BITS;
                assert!(moved * u128::from(weight) >= exact, "{ns} / {weight}");
                assert!((moved - 1) * u128::from(weight) < exact, "{ns} / {weight}");
            }
        }
    }

    #[test]
    fn a_debt_is_the_same_service_under_another_weight() {
        let mut place = Place { weight: share(1_000), ..Place::EMPTY };
        place.charge(5_000);
        assert_eq!(place.owes_ns(0), 5_000);
        for weight in [1, 1_000_000, 3, 1_000] {
            place.reweigh(share(weight), 0);
            assert!((5_000..=5_001).contains(&place.owes_ns(0)), "{weight}: {}", place.owes_ns(0));
        }
        place.reweigh(share(1), u128::MAX);
        assert_eq!((place.v, place.owes_ns(u128::MAX)), (u128::MAX, 0), "what is passed is owed no more");
    }

    #[test]
    fn what_is_taken_over_is_the_greater_of_the_two() {
        let mut place = Place { weight: share(10), ..Place::EMPTY };
        let debt = |ns: u64| Debt { v: virtual_of(ns, share(2)), weight: share(2) };
        place.take_over(debt(700), 0);
        assert_eq!(place.owes_ns(0), 700);
        place.take_over(debt(500), 0);
        assert_eq!(place.owes_ns(0), 700);
    }

    /// A hundred years of the whole thread, at the least weight and the greatest.
    #[test]
    fn a_hundred_years_overflow_nothing() {
        let century_ns = 3_155_760_000_000_000_000;
        for weight in [Share::MIN, Share::MAX] {
            let mut place = Place { weight, ..Place::EMPTY };
            (0..1_000).for_each(|_| place.charge(century_ns / 1_000));
            assert!((century_ns..century_ns + 1_000).contains(&place.owes_ns(0)), "{}", place.owes_ns(0));
            place.reweigh(Share::MIN, 0);
            place.reweigh(Share::MAX, 0);
            assert!((century_ns..century_ns + 1_000).contains(&place.owes_ns(0)));
        }
        let mut place = Place::EMPTY;
        (0..100).for_each(|_| place.charge(u64::MAX));
        assert_eq!(place.owes_ns(0), u64::MAX, "it saturates");
    }
}
