//! [`Alarm`]: wakes an executor at a time. One thread of the process does so for all of its executors.
//!
//! The thread starts with the first alarm that is set, and stays; while no alarm is set it sleeps. Only an executor that
//! parks while a throttled queue has work sets one: elsewhere a host has timers, or nothing waits for a time.
//!
//! Each process has a [`Ringer`] of its own.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use super::clock::instant;
use super::{PerProcess, wake_quietly};

/// A host's timer. It was polled with a waker, which it wakes at its time unless it is dropped.
pub(crate) type Timer = std::pin::Pin<Box<dyn Future<Output = ()>>>;

/// An alarm that is set for one time or for none. Dropping it clears it.
#[derive(Debug)]
pub(crate) struct Alarm {
    number: u64,
    /// When it was to ring last. It may have rung.
    due: Cell<Option<Instant>>,
}

impl Default for Alarm {
    fn default() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // Ordering: Relaxed, the number only has to be unique.
        Self { number: LAST.fetch_add(1, Ordering::Relaxed), due: Cell::new(None) }
    }
}

impl Alarm {
    /// Sets the alarm, in place of the time that it was set for: `waker` is woken then, on another thread. False if there is no
    /// thread for it, as the operating system starts none.
    ///
    /// What the caller did before this call happens before the wake.
    pub(crate) fn set(&self, after: Duration, waker: Waker) -> bool {
        // A time that no clock comes to is never.
        let Some(due) = instant().checked_add(after) else { return true };
        let old = self.due.replace(Some(due)).map(|due| (due, self.number));
        Ringer::get().set(old, (due, self.number), waker)
    }

    /// Clears the alarm, if it is set.
    pub(crate) fn clear(&self) {
        if let Some(due) = self.due.take() {
            Ringer::get().clear((due, self.number));
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.clear();
    }
}

/// When an alarm is due, and its number.
type Key = (Instant, u64);

/// The alarms of a process, and its thread.
#[derive(Default)]
struct Ringer {
    alarms: Mutex<Alarms>,
    changed: Condvar,
}

#[derive(Default)]
struct Alarms {
    wakers: BTreeMap<Key, Waker>,
    has_thread: bool,
}

impl Ringer {
    fn get() -> &'static Self {
        static RINGERS: PerProcess<Ringer> = PerProcess::new();
        RINGERS.get()
    }

    fn lock(&self) -> MutexGuard<'_, Alarms> {
        // No foreign code runs under the lock, and the map is whole at every step.
        self.alarms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`Alarm::set`].
    fn set(&'static self, old: Option<Key>, key: Key, waker: Waker) -> bool {
        let mut alarms = self.lock();
        let replaced = old.and_then(|old| alarms.wakers.remove(&old));
        let is_first = alarms.wakers.keys().next().is_none_or(|first| key < *first);
        let again = alarms.wakers.insert(key, waker);
        if !alarms.has_thread {
            let named = thread::Builder::new().name("clockworker-alarm".into());
            alarms.has_thread = named.spawn(|| self.ring()).is_ok();
        }
        let is_kept = alarms.has_thread;
        let unkept = if is_kept { None } else { alarms.wakers.remove(&key) };
        drop(alarms);
        if is_first {
            self.changed.notify_one();
        }
        // The last reference to what a waker wakes may be among these.
        drop((replaced, again, unkept));
        is_kept
    }

    fn clear(&self, key: Key) {
        let waker = self.lock().wakers.remove(&key);
        drop(waker);
    }

    /// Wakes each waker when it is due. Never returns.
    fn ring(&self) {
        let mut alarms = self.lock();
        loop {
            let Some(first) = alarms.wakers.first_entry() else {
                alarms = self.changed.wait(alarms).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let wait = first.key().0.saturating_duration_since(instant());
            if !wait.is_zero() {
                let waited = self.changed.wait_timeout(alarms, wait);
                alarms = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let waker = first.remove();
            drop(alarms);
            wake_quietly(waker);
            alarms = self.lock();
        }
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::task::Wake;

    use super::*;

    struct Rings(Sender<&'static str>, &'static str);

    impl Wake for Rings {
        fn wake(self: Arc<Self>) {
            self.0.send(self.1).unwrap();
        }
    }

    /// Makes wakers that say a word, which the receiver hears.
    fn bell() -> (impl Fn(&'static str) -> Waker, Receiver<&'static str>) {
        let (send, receive) = channel();
        (move |word| Waker::from(Arc::new(Rings(send.clone(), word))), receive)
    }

    #[test]
    fn an_alarm_rings_once_and_one_that_is_set_again_only_then() {
        let (word, receive) = bell();
        let [one, other] = [(); 2].map(|()| Alarm::default());
        assert!(one.set(Duration::ZERO, word("at once")));
        assert_eq!(receive.recv(), Ok("at once"));
        assert!(one.set(Duration::ZERO, word("again")));
        assert_eq!(receive.recv(), Ok("again"));
        assert!(one.set(Duration::from_secs(1_000_000), word("replaced")));
        assert!(one.set(Duration::ZERO, word("instead")));
        assert_eq!(receive.recv(), Ok("instead"));
        assert!(other.set(Duration::MAX, word("never")), "no clock comes to it");
        // The later of two comes last, so nothing else was to come before it.
        assert!(other.set(Duration::from_millis(1), word("last")));
        assert_eq!(receive.recv(), Ok("last"));
    }

    #[test]
    fn an_alarm_that_is_cleared_or_dropped_gives_its_waker_back() {
        let target = Arc::new(Rings(channel().0, "unheard"));
        let alarm = Alarm::default();
        let late = Duration::from_secs(1_000_000);
        assert!(alarm.set(late, Waker::from(Arc::clone(&target))));
        assert_eq!(Arc::strong_count(&target), 2);
        alarm.clear();
        assert_eq!(Arc::strong_count(&target), 1);
        assert!(alarm.set(late, Waker::from(Arc::clone(&target))));
        drop(alarm);
        assert_eq!(Arc::strong_count(&target), 1);
    }

    #[test]
    fn a_waker_that_panics_silences_no_other() {
        struct Panics;
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                std::panic::resume_unwind(Box::new("a waker panics"));
            }
        }
        let (word, receive) = bell();
        let alarms = [(); 2].map(|()| Alarm::default());
        assert!(alarms[0].set(Duration::ZERO, Waker::from(Arc::new(Panics))));
        assert!(alarms[1].set(Duration::from_millis(1), word("later")));
        assert_eq!(receive.recv(), Ok("later"));
    }
}
