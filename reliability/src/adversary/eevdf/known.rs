//! Programs that people thought of.

/// In the words of [`Program`](crate::adversary::program::Program).
pub(super) const PROGRAMS: &[&str] = &[
    HELPED_1_1_1,
    HELPED_1_9_1,
    HELPED_9_1_1,
    PLACED_LOW,
    SHARE_RAISED_ASLEEP,
    CREATED_ANEW,
    OVERRUNS_AND_LEAVES,
    MANY_NAP,
    TINY_REQUESTS,
];

/// A loop wakes a helper, which sleeps at once, and a worker. The helper's credit lowers V, the worker is placed there, the
/// helper leaves.
const HELPED_1_1_1: &str = "eevdf
queue a share 1 request 500us polls 20us victim
queue b share 1 request 500us polls 20us
queue c share 1 request 500us polls 1us
wake c
wake b
serve 1 of c
sleep c
serve 20 of b
sleep b
";

/// The same with a large worker.
const HELPED_1_9_1: &str = "eevdf
queue a share 1 request 500us polls 20us victim
queue b share 9 request 500us polls 20us
queue c share 1 request 500us polls 1us
wake c
wake b
serve 1 of c
sleep c
serve 20 of b
sleep b
";

/// The same with a large victim.
const HELPED_9_1_1: &str = "eevdf
queue a share 9 request 500us polls 20us victim
queue b share 1 request 500us polls 20us
queue c share 1 request 500us polls 1us
wake c
wake b
serve 1 of c
sleep c
serve 20 of b
sleep b
";

/// A creditor joins, the next is placed low, the creditor leaves without having been served.
const PLACED_LOW: &str = "eevdf
queue a share 1 request 100us polls 20us victim
queue b share 1 request 100us polls 100us
queue c share 5 request 100us polls 20us
wake c
wake b
sleep c
serve 1 of b
serve 1 of a
sleep b
";

/// A debtor sleeps, its share is raised meanwhile; it wakes, and its share is lowered.
const SHARE_RAISED_ASLEEP: &str = "eevdf
queue a share 4 request 100us polls 20us victim
queue b share 1 request 100us polls 100us
wake b
serve 1 of b
sleep b
share b 4
wake b
share b 1
serve 1 of b
sleep b
";

/// It is created, has a poll, is closed, and is created once more.
const CREATED_ANEW: &str = "eevdf
queue a share 1 request 20us polls 20us victim
queue b share 1 request 20us polls 1ms
wake b
serve 1 of b
remove b
add b share 1 request 20us
";

/// A debtor leaves at once after each overrun.
const OVERRUNS_AND_LEAVES: &str = "eevdf
queue a share 1 request 20us polls 20us victim
queue b share 1 request 10us polls 1ms
wake b
serve 1 of b
sleep b
serve 1 of a
";

/// Many queues nap.
const MANY_NAP: &str = "eevdf
queue a share 1 request 100us polls 10us victim
queue b share 1 request 100us polls 50us
queue c share 1 request 100us polls 50us
queue d share 1 request 100us polls 50us
queue e share 1 request 100us polls 50us
queue f share 1 request 100us polls 50us
wake b
wake c
wake d
wake e
wake f
serve 1 of b
sleep b
serve 1 of c
sleep c
serve 1 of d
sleep d
serve 1 of e
sleep e
serve 1 of f
sleep f
serve 1 of a
";

/// Requests are tiny, polls are long.
const TINY_REQUESTS: &str = "eevdf
queue a share 1 request 100us polls 100us victim
queue b share 1 request 1us polls 1ms
queue c share 1 request 1us polls 1ms
wake b
wake c
serve 1 of b
serve 1 of c
serve 1 of a
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adversary::eevdf::Act;
    use crate::adversary::program::{Move, Program};

    #[test]
    fn all_can_be_read_and_played_and_again_with_the_same_end() {
        for text in PROGRAMS {
            let program: Program<Act> = text.parse().unwrap();
            assert_eq!(program.to_string(), *text);
            let outcome = Act::play(&program, 2_000).unwrap();
            assert!(outcome.served > 0 && outcome.ratio() >= 0.0, "{text}{outcome:?}");
            assert_eq!(Act::play(&program, 2_000).unwrap(), outcome);
        }
    }
}
