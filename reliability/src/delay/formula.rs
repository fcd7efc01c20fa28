//! The bound on the delay from wake to poll, as docs/BOUNDS.md derives it.

/// A queue, as far as the bound depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Its share, w.
    pub share: u32,
    /// Its request in nanoseconds, r.
    pub request: u64,
    /// The most unfinished tasks that it has at a time, N.
    pub tasks: u64,
}

/// The host, as far as the bound depends on it.
#[derive(Clone, Copy, Debug)]
pub struct HostTime {
    /// The executor's host budget in nanoseconds, T.
    pub budget: u64,
    /// The longest time in nanoseconds that the host takes between two turns, H.
    pub away: u64,
}

/// The longest time in nanoseconds that a task of `queues[of]` waits from its wake to its poll, where no poll takes longer
/// than `longest_poll` nanoseconds.
pub fn longest_delay(queues: &[Queue], of: usize, longest_poll: u64, host: HostTime) -> f64 {
    let busy = longest_turn(queues, of, longest_poll);
    busy + (1.0 + (busy / host.budget.max(1) as f64).floor()) * host.away as f64
}

/// The same without the host's part.
fn longest_turn(queues: &[Queue], of: usize, longest_poll: u64) -> f64 {
    let (own, poll) = (queues[of], longest_poll as f64);
    if queues.len() == 1 {
        return own.tasks as f64 * poll;
    }
    let (share, request) = (f64::from(own.share), own.request as f64);
    let shares: f64 = queues.iter().map(|queue| f64::from(queue.share)).sum();
    let others = queues.iter().enumerate().filter(|&(index, _)| index != of);
    let turns: f64 = others
        .map(|(_, other)| (other.request as f64).max(request * f64::from(other.share) / share) + poll)
        .sum();
    poll + shares / share * (own.tasks as f64 * poll + request) + turns
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_HOST: HostTime = HostTime { budget: u64::MAX, away: 0 };

    #[test]
    fn one_queue_waits_for_its_own_tasks_only() {
        let queue = Queue { share: 1, request: 500, tasks: 10 };
        assert_eq!(longest_delay(&[queue], 0, 20, NO_HOST), 200.0);
    }

    #[test]
    fn the_worked_example_of_the_document() {
        let foreground = Queue { share: 9, request: 100_000, tasks: 10 };
        let background = Queue { share: 1, request: 500_000, tasks: 1_000 };
        let queues = [foreground, background];
        let host = HostTime { budget: 200_000, away: 10_000 };
        assert_eq!(longest_delay(&queues, 0, 20_000, NO_HOST).ceil(), 873_334.0);
        assert_eq!(longest_delay(&queues, 0, 20_000, host).ceil(), 923_334.0);
    }
}
