//! [`Ledger`]: what went to the victim and what to others, in order.

/// Service in the order in which it was given. From it comes the shortfall of every stretch, exactly.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    rounds: Vec<Round>,
    /// How many rounds there were when each part but the last was over.
    marks: Vec<usize>,
}

/// What others got, and then the victim.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    others: u64,
    victim: u64,
}

impl Ledger {
    /// The victim got `ns`, or another.
    pub(super) fn serve(&mut self, is_victim: bool, ns: u64) {
        let under_way = self.marks.last() != Some(&self.rounds.len());
        match self.rounds.last_mut() {
            Some(round) if is_victim && under_way => round.victim += ns,
            Some(round) if round.victim == 0 && under_way => round.others += ns,
            _ if is_victim => self.rounds.push(Round { others: 0, victim: ns }),
            _ => self.rounds.push(Round { others: ns, victim: 0 }),
        }
    }

    /// A part of the play is over.
    pub(super) fn mark(&mut self) {
        self.marks.push(self.rounds.len());
    }

    /// All that was given.
    pub(super) fn total(&self) -> u64 {
        self.rounds.iter().map(|round| round.others + round.victim).sum()
    }

    /// The greatest shortfall of any stretch in nanoseconds times W: up to each mark, and in all.
    ///
    /// It is the greatest drawdown of D(t) = t·w_f/W − s_f(t), where s_f is what the victim got of t.
    pub(super) fn shortfalls(&self, share: u32, shares: u64) -> Vec<i128> {
        let (gain, loss) = (i128::from(share), i128::from(shares) - i128::from(share));
        let (mut d, mut least, mut greatest) = (0_i128, 0_i128, 0_i128);
        let mut shortfalls = Vec::with_capacity(self.marks.len() + 1);
        let ends = self.marks.iter().copied().chain([self.rounds.len()]);
        let mut from = 0;
        for to in ends {
            for round in &self.rounds[std::mem::replace(&mut from, to)..to] {
                d += i128::from(round.others) * gain;
                greatest = greatest.max(d - least);
                d -= i128::from(round.victim) * loss;
                least = least.min(d);
            }
            shortfalls.push(greatest);
        }
        shortfalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(services: &[(bool, u64)]) -> Ledger {
        let mut ledger = Ledger::default();
        services.iter().for_each(|&(is_victim, ns)| ledger.serve(is_victim, ns));
        ledger
    }

    #[test]
    fn the_shortfall_is_that_of_the_worst_stretch_times_w() {
        let alternate = [(false, 10), (true, 10), (false, 10), (true, 10)];
        assert_eq!(ledger(&alternate).shortfalls(1, 2), [10]);
        assert_eq!(ledger(&alternate).total(), 40);
        let after_much = [(true, 100), (false, 30), (true, 1), (false, 30), (true, 100), (false, 59)];
        assert_eq!(ledger(&after_much).shortfalls(1, 2), [30 - 1 + 30]);
        assert_eq!(ledger(&[(false, 100)]).shortfalls(9, 10), [900]);
        assert_eq!(ledger(&[(false, 100)]).shortfalls(1, 10), [100]);
    }

    #[test]
    fn a_part_may_end_within_a_round() {
        let mut ledger = ledger(&[(false, 10)]);
        ledger.mark();
        ledger.serve(false, 10);
        ledger.serve(true, 5);
        ledger.mark();
        ledger.serve(true, 5);
        assert_eq!(ledger.shortfalls(1, 2), [10, 20, 20]);
        ledger.mark();
        assert_eq!(ledger.shortfalls(1, 2), [10, 20, 20, 20]);
    }
}
