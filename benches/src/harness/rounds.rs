//! Rounds: in each of them every place is measured once, in an order that favours none.
//!
//! Machines drift, and what is measured in one round drifts together: so ratios are taken within a round.

use super::experiment::Window;
use crate::random::{Purpose, random};

/// The arms that are measured in a round, by place: the base twice, and then the others.
pub fn places(arms: usize) -> Vec<usize> {
    [0].into_iter().chain(0..arms).collect()
}

/// The samples of a round, in the order in which they are taken. `part` tells the experiment's order from those of others.
///
/// Orders come in pairs: the first is drawn, the second is its reverse. So of two arms each is before the other in one of
/// two rounds.
pub fn windows(seed: u64, part: usize, round: u32, places: &[usize], phases: usize) -> Vec<Window> {
    let order = |phase: usize| {
        let pair = u64::from(round / 2) << 32 | (phase as u64) << 16 | part as u64;
        let mut order: Vec<usize> = (0..places.len()).collect();
        random(seed, Purpose::Order, pair).shuffle(&mut order);
        if round % 2 == 1 {
            order.reverse();
        }
        order.into_iter().map(move |place| Window { round, phase, place, arm: places[place] })
    };
    (0..phases).flat_map(order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(round: u32) -> Vec<usize> {
        windows(1, 0, round, &places(4), 1).iter().map(|window| window.place).collect()
    }

    #[test]
    fn the_base_is_measured_twice() {
        assert_eq!(places(3), [0, 0, 1, 2]);
        let windows = windows(1, 0, 0, &places(3), 2);
        for phase in 0..2 {
            let mut taken: Vec<(usize, usize)> = windows
                .iter()
                .filter(|window| window.phase == phase)
                .map(|window| (window.place, window.arm))
                .collect();
            taken.sort_unstable();
            assert_eq!(taken, [(0, 0), (1, 0), (2, 1), (3, 2)]);
        }
        assert!(windows.is_sorted_by_key(|window| window.phase));
    }

    #[test]
    fn every_second_order_is_the_one_before_reversed() {
        let mut drawn = Vec::new();
        for pair in 0..4 {
            let first = order(2 * pair);
            let reversed: Vec<usize> = order(2 * pair + 1).into_iter().rev().collect();
            assert_eq!(first, reversed);
            drawn.push(first);
        }
        drawn.dedup();
        assert!(drawn.len() > 1, "each pair is drawn anew");
    }

    /// Of two rounds that follow each other, each place is before each other one in one.
    #[test]
    fn no_place_is_favoured() {
        let before = |order: &[usize], one, other| {
            let at = |place| order.iter().position(|&there| there == place).unwrap();
            usize::from(at(one) < at(other))
        };
        for (one, other) in [(0, 1), (0, 4), (3, 2)] {
            let count: usize = (0..20).map(|round| before(&order(round), one, other)).sum();
            assert_eq!(count, 10);
        }
    }

    #[test]
    fn experiments_and_seeds_have_orders_of_their_own() {
        let orders = |seed, part| {
            (0..8).flat_map(|pair| windows(seed, part, 2 * pair, &places(4), 1)).collect::<Vec<_>>()
        };
        assert_eq!(orders(1, 0), orders(1, 0));
        assert_ne!(orders(1, 0), orders(2, 0));
        assert_ne!(orders(1, 0), orders(1, 1));
    }
}
