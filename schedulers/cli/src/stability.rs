//! Whether a queue is left more of the thread than its jobs ask for: else its backlog grows without end.

use clockworker_schedulers::Share;

/// What a queue's jobs ask of the thread, as a part of its time: their work, and what each poll takes besides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Demand {
    Part(f64),
    /// It always has work.
    Endless,
}

/// By queue, whether what it asks for is less than what it is left in the long run. One that always has work is not asked.
///
/// A queue that asks for less than its share leaves the rest to the others, by theirs.
pub(crate) fn are_stable(queues: &[(Share, Demand)]) -> Vec<bool> {
    let mut stable: Vec<bool> = queues.iter().map(|(_, demand)| *demand == Demand::Part(0.0)).collect();
    let mut left = 1.0;
    loop {
        let open = queues.iter().zip(&stable).filter(|(_, stable)| !**stable);
        let shares: f64 = open.map(|((share, _), _)| f64::from(share.get())).sum();
        let found = (0..queues.len()).find(|&at| {
            let (share, demand) = queues[at];
            !stable[at]
                && matches!(demand, Demand::Part(part) if part < left * f64::from(share.get()) / shares)
        });
        let Some(at) = found else { break };
        if let Demand::Part(part) = queues[at].1 {
            left -= part;
        }
        stable[at] = true;
    }
    stable.iter().zip(queues).map(|(stable, (_, demand))| *stable || *demand == Demand::Endless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stable(queues: &[(u32, Demand)]) -> Vec<bool> {
        let queue = |&(share, demand): &(u32, Demand)| (Share::new(share).unwrap(), demand);
        are_stable(&queues.iter().map(queue).collect::<Vec<_>>())
    }

    #[test]
    fn alone_it_is_left_all_and_beside_one_that_always_works_its_share() {
        use Demand::{Endless, Part};
        assert_eq!(stable(&[(1, Part(0.99))]), [true]);
        assert_eq!(stable(&[(1, Part(1.0))]), [false]);
        assert_eq!(stable(&[(1, Part(0.5)), (1, Endless)]), [false, true], "what it asks for is what it has");
        assert_eq!(stable(&[(1, Part(0.49)), (1, Endless)]), [true, true]);
        assert_eq!(stable(&[(9, Part(0.5)), (1, Endless)]), [true, true]);
    }

    #[test]
    fn what_one_does_not_ask_for_the_others_have() {
        use Demand::{Endless, Part};
        assert_eq!(stable(&[(1, Part(0.1)), (1, Part(0.6)), (1, Part(0.2))]), [true; 3]);
        assert_eq!(stable(&[(1, Part(0.1)), (1, Part(0.6)), (1, Part(0.4))]), [true, false, true]);
        assert_eq!(
            stable(&[(1, Part(0.0)), (2, Part(0.5)), (1, Endless)]),
            [true; 3],
            "two thirds are its own"
        );
    }
}
