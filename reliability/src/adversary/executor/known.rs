//! Programs that people thought of.

/// In the words of [`Program`](crate::adversary::program::Program).
pub(super) const PROGRAMS: &[&str] = &[
    HELPED_1_1_1,
    HELPED_1_9_1,
    HELPED_9_1_1,
    HELPED_BY_NAPPERS,
    SHARE_RAISED_ASLEEP,
    CREATED_ANEW,
    OVERRUNS_AND_LEAVES,
    MANY_NAP,
    TINY_REQUESTS,
    SLOW_DROPS,
];

/// The main future spawns a helper, which has next to nothing to do, and awaits a worker.
const HELPED_1_1_1: &str = "executor
queue a share 1 request 500us polls 20us victim
queue b share 1 request 500us polls 20us
queue c share 1 request 500us polls 1us
spawn c polls 1 drop 0ns
call b polls 20 drop 0ns
";

/// The same with a large worker.
const HELPED_1_9_1: &str = "executor
queue a share 1 request 500us polls 20us victim
queue b share 9 request 500us polls 20us
queue c share 1 request 500us polls 1us
spawn c polls 1 drop 0ns
call b polls 20 drop 0ns
";

/// The same with a large victim.
const HELPED_9_1_1: &str = "executor
queue a share 9 request 500us polls 20us victim
queue b share 1 request 500us polls 20us
queue c share 1 request 500us polls 1us
spawn c polls 1 drop 0ns
call b polls 20 drop 0ns
";

/// The same with tasks that stay.
const HELPED_BY_NAPPERS: &str = "executor
queue a share 1 request 500us polls 20us victim
queue b share 1 request 500us polls 20us
queue c share 1 request 500us polls 1us
wake c for 1
wake b for 20
rest 20 of b
";

/// A debtor sleeps, its share is raised meanwhile; it wakes, and its share is lowered.
const SHARE_RAISED_ASLEEP: &str = "executor
queue a share 4 request 100us polls 20us victim
queue b share 1 request 100us polls 100us
call b polls 1 drop 0ns
share b 4
spawn b polls 1 drop 0ns
share b 1
rest 1 of b
";

/// It is created, has a poll, is closed, and is created once more.
const CREATED_ANEW: &str = "executor
queue a share 1 request 20us polls 20us victim
queue b share 1 request 20us polls 1ms
call b polls 1 drop 0ns
close b
create b share 1 request 20us renamed
";

/// A debtor leaves at once after each overrun.
const OVERRUNS_AND_LEAVES: &str = "executor
queue a share 1 request 20us polls 20us victim
queue b share 1 request 10us polls 1ms
call b polls 1 drop 0ns
rest 1 of a
";

/// Many queues nap.
const MANY_NAP: &str = "executor
queue a share 1 request 100us polls 10us victim
queue b share 1 request 100us polls 50us
queue c share 1 request 100us polls 50us
queue d share 1 request 100us polls 50us
queue e share 1 request 100us polls 50us
queue f share 1 request 100us polls 50us
wake b for 1
wake c for 1
wake d for 1
wake e for 1
wake f for 1
rest 1 of f
rest 1 of a
";

/// Requests are tiny, polls are long.
const TINY_REQUESTS: &str = "executor
queue a share 1 request 100us polls 100us victim
queue b share 1 request 1us polls 1ms
queue c share 1 request 1us polls 1ms
spawn b polls 1 drop 0ns
call c polls 1 drop 0ns
";

/// Tasks are aborted whose drops take long.
const SLOW_DROPS: &str = "executor
queue a share 1 request 100us polls 20us victim
queue b share 1 request 100us polls 20us
spawn b polls 100 drop 1ms
rest 1 of a
abort b
rest 1 of a
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adversary::executor::Act;
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
