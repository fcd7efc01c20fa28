//! The formulas of docs/BOUNDS.md, in exact arithmetic: what the adversary, `delay` and `lag` hold the executor to.

/// A queue, as far as the bounds depend on it. Where something changes, it is the greatest that it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    /// w.
    pub(crate) share: u32,
    /// r, in nanoseconds.
    pub(crate) request: u64,
    /// s, in nanoseconds; the drop of a future is a poll, or part of one.
    pub(crate) longest_poll: u64,
    /// o, in nanoseconds: by how much a slice may overrun what it was granted.
    pub(crate) overrun: u64,
}

/// o of a queue whose scheduler asks for no service, in polls: what the executor does between two readings of the clock while
/// queues contend.
pub(crate) const POLLS_OVERRUN: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// They have work all the time.
    Contend,
    /// They run out of work, and get new.
    ComeAndGo,
}

/// B in nanoseconds times W, and parts of it. Each holds the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortfall {
    /// What the queue may have had too early: its own longest slice, r_f + o_f.
    pub(crate) own_slice: i128,
    /// And the others' slices: all but what sleepers keep.
    pub(crate) slices: i128,
    /// B.
    pub(crate) whole: i128,
}

/// B of `queues[own]`, which always has work, where W is `shares`. One bound holds where no share changes, the other in any
/// case.
///
/// Sums are over places: a queue that is created after another was closed takes that one's place, the last that was closed
/// first.
pub(crate) fn shortfall(queues: &[Queue], own: usize, shares: u64, shares_change: bool) -> Shortfall {
    let (shares, count, credit) = (i128::from(shares), queues.len() as i128, credit(queues));
    let own_slice = shares * queues[own].longest_slice();
    let always =
        (shares * queues.iter().map(|queue| queue.longest_slice()).sum::<i128>(), shares * count * credit);
    let credits = (i128::from(queues[own].share) * (count - 1) + shares) * credit;
    let steady = (weighed_slices_of_others(queues, own) + own_slice, credits);
    let is_less = always.0 + always.1 < steady.0 + steady.1;
    let (slices, credits) = if shares_change || is_less { always } else { steady };
    Shortfall { own_slice, slices, whole: slices + credits }
}

/// The most that `queues[own]` may be behind and ahead, in nanoseconds, where no queue is owed anything at first and none
/// comes or goes.
pub(crate) fn lag(queues: &[Queue], own: usize) -> (f64, f64) {
    let shares = sum_of_shares(queues);
    let ahead = (shares - i128::from(queues[own].share)) * queues[own].longest_slice();
    let behind = weighed_slices_of_others(queues, own);
    (behind as f64 / shares as f64, ahead as f64 / shares as f64)
}

/// The longest time in nanoseconds from the wake of a task to its poll, X or G, without the host's visits. `before` it come so many
/// nanoseconds of its own queue, `queues[own]`: polls of other tasks, and D, the drops of aborted ones.
pub(crate) fn delay(queues: &[Queue], own: usize, before: u64, others: Others) -> f64 {
    let longest_poll = queues.iter().map(|queue| queue.longest_poll).max().unwrap_or(0);
    if queues.len() == 1 {
        return (longest_poll + before) as f64;
    }
    let (shares, share) = (sum_of_shares(queues), i128::from(queues[own].share));
    let ahead = i128::from(before) + queues[own].longest_slice();
    let credits = match others {
        Others::Contend => 0,
        Others::ComeAndGo => (shares + (queues.len() - 1) as i128 * share) * credit(queues),
    };
    let weighed = shares * ahead + weighed_slices_of_others(queues, own) + credits;
    longest_poll as f64 + weighed as f64 / share as f64
}

/// A delay with the host's visits: one of `away` nanoseconds at first, and then one per budget.
pub(crate) fn with_host(delay: f64, budget: u64, away: u64) -> f64 {
    delay + (1.0 + (delay / budget.max(1) as f64).floor()) * away as f64
}

/// w_i·Σ_{j≠i} (max(r_j, r_i·w_j/w_i) + o_j)
fn weighed_slices_of_others(queues: &[Queue], own: usize) -> i128 {
    let me = queues[own];
    let others = queues.iter().enumerate().filter(|&(index, _)| index != own);
    let slice =
        |other: &Queue| me.weigh(other.request).max(other.weigh(me.request)) + me.weigh(other.overrun);
    others.map(|(_, other)| slice(other)).sum()
}

/// K, what sleeping queues together can keep of what they are owed: 2·max (r_k + o_k)
fn credit(queues: &[Queue]) -> i128 {
    2 * queues.iter().map(|queue| queue.longest_slice()).max().unwrap_or(0)
}

fn sum_of_shares(queues: &[Queue]) -> i128 {
    queues.iter().map(|queue| i128::from(queue.share)).sum()
}

impl Queue {
    /// r + o
    fn longest_slice(self) -> i128 {
        i128::from(self.request) + i128::from(self.overrun)
    }

    fn weigh(self, ns: u64) -> i128 {
        i128::from(self.share) * i128::from(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VICTIM: Queue = Queue { share: 1, request: 500, longest_poll: 20, overrun: 20 };
    const WORKER: Queue = Queue { share: 9, ..VICTIM };
    const HELPER: Queue = Queue { longest_poll: 1, overrun: 1, ..VICTIM };

    fn whole(queues: &[Queue], own: usize, shares_change: bool) -> i128 {
        shortfall(queues, own, sum_of_shares(queues) as u64, shares_change).whole
    }

    /// In microseconds: K = 2·520, and r_f·w_j/w_f = 4500 for the worker.
    #[test]
    fn a_worked_example_of_a_shortfall() {
        let queues = [VICTIM, WORKER, HELPER];
        let steady = (4_500 + 20 + 1_040) + (500 + 1 + 1_040) + 11 * (520 + 1_040);
        assert_eq!(whole(&queues, 0, false), steady);
        assert_eq!(whole(&queues, 0, true), 11 * (520 + 520 + 501 + 3 * 1_040));
        let of_large = 9 * (520 + 1_040) + 9 * (501 + 1_040) + 11 * (520 + 1_040);
        assert_eq!(whole(&queues, 1, false), of_large, "it waits for the requests of others");
        assert_eq!(whole(&[VICTIM], 0, false), 520 + 1_040);
    }

    #[test]
    fn where_both_bounds_apply_the_smaller_holds() {
        let queues = [Queue { request: 100_000, ..VICTIM }, WORKER];
        let changing = 10 * (100_020 + 520 + 2 * 200_040);
        assert_eq!(whole(&queues, 0, true), changing);
        let steady = 900_000 + 20 + 200_040 + 10 * (100_020 + 200_040);
        assert_eq!(whole(&queues, 0, false), changing.min(steady));
    }

    #[test]
    fn the_worked_example_of_a_delay() {
        let foreground = Queue { share: 9, request: 100_000, longest_poll: 20_000, overrun: 20_000 };
        let queues = [foreground, Queue { share: 1, request: 500_000, ..foreground }];
        let alone = delay(&queues, 0, 180_000, Others::Contend);
        assert_eq!(alone.ceil(), 873_334.0);
        assert_eq!(with_host(alone, 200_000, 10_000).ceil(), 923_334.0);
        assert_eq!(delay(&queues[..1], 0, 180_007, Others::ComeAndGo), 200_007.0);
        assert_eq!(delay(&queues, 0, 180_900, Others::Contend) - alone, 1_000.0);
    }
}
