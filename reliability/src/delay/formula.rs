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

/// What the other queues do while a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They have work all the time.
    Contend,
    /// They run out of work, and get new.
    ComeAndGo,
}

/// Everything that the bound depends on.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// All queues of the executor.
    pub queues: &'a [Queue],
    /// The longest poll of any task in nanoseconds, S.
    pub longest_poll: u64,
    /// What the host takes.
    pub host: HostTime,
}

impl Setting<'_> {
    /// The longest time in nanoseconds that a task of `queues[of]` waits from its wake to its poll.
    pub fn longest_delay(&self, of: usize, others: Others) -> f64 {
        let busy = match others {
            _ if self.queues.len() == 1 => self.queues[of].tasks as f64 * self.longest_poll as f64,
            Others::Contend => self.beside_contenders(of),
            Others::ComeAndGo => self.beside_comers(of),
        };
        busy + (1.0 + (busy / self.host.budget.max(1) as f64).floor()) * self.host.away as f64
    }

    /// S + (W/w)·(N·S + r) + Σ (max(r_j, r·w_j/w) + S)
    fn beside_contenders(&self, of: usize) -> f64 {
        let (own, poll) = (self.queues[of], self.longest_poll as f64);
        let turns: f64 = self.others(of).map(|other| level(own, other) + poll).sum();
        let ahead = own.tasks as f64 * poll + own.request as f64;
        poll + self.shares() / f64::from(own.share) * ahead + turns
    }

    /// The same, and (W/w + n − 1)·K: sleeping queues may come back with credits of K in all, this one may have run ahead
    /// of them before, and so may each of the others.
    fn beside_comers(&self, of: usize) -> f64 {
        let poll = self.longest_poll as f64;
        let longest_turn = self.queues.iter().map(|queue| queue.request as f64 + poll).fold(0.0, f64::max);
        let times = self.shares() / f64::from(self.queues[of].share) + (self.queues.len() - 1) as f64;
        self.beside_contenders(of) + times * 2.0 * longest_turn
    }

    fn others(&self, of: usize) -> impl Iterator<Item = Queue> {
        let queues = self.queues.iter().copied().enumerate();
        queues.filter(move |&(index, _)| index != of).map(|(_, queue)| queue)
    }

    fn shares(&self) -> f64 {
        self.queues.iter().map(|queue| f64::from(queue.share)).sum()
    }
}

/// What another queue may receive until its deadline is that of a request which begins now, max(r_j, r·w_j/w).
fn level(own: Queue, other: Queue) -> f64 {
    (own.request as f64 * f64::from(other.share) / f64::from(own.share)).max(other.request as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_HOST: HostTime = HostTime { budget: u64::MAX, away: 0 };

    #[test]
    fn one_queue_waits_for_its_own_tasks_only() {
        let queues = [Queue { share: 1, request: 500, tasks: 10 }];
        let setting = Setting { queues: &queues, longest_poll: 20, host: NO_HOST };
        assert_eq!(setting.longest_delay(0, Others::ComeAndGo), 200.0);
    }

    #[test]
    fn the_worked_example_of_the_document() {
        let foreground = Queue { share: 9, request: 100_000, tasks: 10 };
        let background = Queue { share: 1, request: 500_000, tasks: 1_000 };
        let queues = [foreground, background];
        let alone = Setting { queues: &queues, longest_poll: 20_000, host: NO_HOST };
        assert_eq!(alone.longest_delay(0, Others::Contend).ceil(), 873_334.0);
        let host = HostTime { budget: 200_000, away: 10_000 };
        assert_eq!(Setting { host, ..alone }.longest_delay(0, Others::Contend).ceil(), 923_334.0);
    }
}
