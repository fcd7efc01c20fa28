//! [`Balance`]: in which order the arms of a cell are measured.

use crate::random::Random;

/// Orders of arms, none of which is favoured: one is drawn anew, the next is its reverse, and so on. So of each two rounds that
/// follow each other an arm is before another one in the first, and behind it in the second.
#[derive(Clone, Debug)]
pub struct Balance {
    order: Vec<usize>,
    is_drawn: bool,
}

impl Balance {
    pub fn of(arms: usize) -> Self {
        Balance { order: (0..arms).collect(), is_drawn: false }
    }

    /// The next order.
    pub fn next(&mut self, random: &mut Random) -> &[usize] {
        if self.is_drawn {
            self.order.reverse();
        } else {
            random.shuffle(&mut self.order);
        }
        self.is_drawn = !self.is_drawn;
        &self.order
    }
}

/// What `run` gives for false and for true, of which the one comes first in one round and the other in the next.
pub fn in_turns<T>(round: u64, run: impl Fn(bool) -> T) -> [T; 2] {
    let is_reversed = round % 2 == 1;
    let mut found = [run(is_reversed), run(!is_reversed)];
    found.rotate_left(usize::from(is_reversed));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn every_second_order_is_the_one_before_reversed() {
        let (mut balance, mut random) = (Balance::of(5), Random::new(1, Purpose::Order, 0));
        let mut orders = Vec::new();
        for _ in 0..4 {
            let mut first = balance.next(&mut random).to_vec();
            orders.push(first.clone());
            let reversed: Vec<usize> = balance.next(&mut random).iter().rev().copied().collect();
            assert_eq!(first, reversed);
            first.sort_unstable();
            assert_eq!(first, [0, 1, 2, 3, 4]);
        }
        orders.dedup();
        assert!(orders.len() > 1, "an order is drawn anew");
    }
}
