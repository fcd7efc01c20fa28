//! What an ideal server would have given: each of *n* runnable queues its share of every nanosecond.

use std::time::Duration;

/// Fixed point: what queues are owed is counted in 2⁻³² ns.
const FRACTION_BITS: u32 = 32;

/// The accounts of the ideal server beside those of the real one.
#[derive(Debug, Default)]
pub(crate) struct Fluid {
    queues: Vec<Account>,
    /// The greatest service errors seen so far, in nanoseconds: what was owed, and what was owing.
    pub(crate) worst: (i128, i128),
}

#[derive(Debug)]
struct Account {
    share: u32,
    request: Duration,
    longest_poll: Duration,
    present: bool,
    /// In 2⁻³² ns.
    owed: u128,
    served: Duration,
}

impl Fluid {
    /// A queue that is runnable from now on; its number.
    pub(crate) fn join(&mut self, share: u32, request: Duration) -> usize {
        let longest_poll = Duration::ZERO;
        let (owed, served) = (0, Duration::ZERO);
        self.queues.push(Account { share, request, longest_poll, present: true, owed, served });
        self.queues.len() - 1
    }

    pub(crate) fn set_share(&mut self, queue: usize, share: u32) {
        self.queues[queue].share = share;
    }

    /// From now on the request is this; what was promised for the larger of the two holds.
    pub(crate) fn set_request(&mut self, queue: usize, request: Duration) {
        let account = &mut self.queues[queue];
        account.request = account.request.max(request);
    }

    pub(crate) fn served(&self, queue: usize) -> Duration {
        self.queues[queue].served
    }

    pub(crate) fn owed(&self, queue: usize) -> Duration {
        Duration::from_nanos((self.queues[queue].owed >> FRACTION_BITS) as u64)
    }

    /// A poll of the queue took `time`, in which every queue present was owed its share. Checks all of them.
    pub(crate) fn ran(&mut self, queue: usize, time: Duration) {
        let shares: u64 = self.queues.iter().filter(|q| q.present).map(|q| u64::from(q.share)).sum();
        for account in self.queues.iter_mut().filter(|account| account.present) {
            account.owed +=
                (time.as_nanos() << FRACTION_BITS) * u128::from(account.share) / u128::from(shares);
        }
        let account = &mut self.queues[queue];
        assert!(account.present, "queue {queue} ran although it has left");
        account.served += time;
        account.longest_poll = account.longest_poll.max(time);
        self.check();
    }

    /// What the queue is owed beyond what it got, in nanoseconds.
    pub(crate) fn error_ns(&self, queue: usize) -> i128 {
        let account = &self.queues[queue];
        (account.owed >> FRACTION_BITS) as i128 - account.served.as_nanos() as i128
    }

    /// No queue is ahead by more than its own request and longest poll, as promised; and none behind by more than the
    /// largest of any. Where shares differ much, that is more than is promised (see `Eevdf`), and these loads keep it.
    fn check(&mut self) {
        let present = || self.queues.iter().filter(|account| account.present);
        let behind = present().map(|a| a.request).max().unwrap_or_default()
            + present().map(|a| a.longest_poll).max().unwrap_or_default();
        for (queue, account) in self.queues.iter().enumerate().filter(|(_, account)| account.present) {
            let error = self.error_ns(queue);
            let ahead = account.request + account.longest_poll;
            assert!(error <= behind.as_nanos() as i128, "queue {queue} is behind by {error} ns > {behind:?}");
            assert!(
                -error <= ahead.as_nanos() as i128,
                "queue {queue} is ahead by {} ns > {ahead:?}",
                -error
            );
            self.worst = (self.worst.0.max(error), self.worst.1.max(-error));
        }
    }

    /// Checks that every queue got what it is owed, to 1 in `part` of that.
    pub(crate) fn check_share(&self, part: i128) {
        for (queue, account) in self.queues.iter().enumerate() {
            let (error, owed) = (self.error_ns(queue), self.owed(queue));
            let limit = owed.as_nanos() as i128 / part;
            let served = account.served;
            assert!(
                error.abs() <= limit,
                "queue {queue} got {served:?} of {owed:?}: off by more than 1/{part}"
            );
        }
    }
}
