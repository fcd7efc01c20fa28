//! The beacon, which shows other threads the poll that an executor is in.

use std::sync::atomic::Ordering;

use clockworker::{Executor, Id, ManualClock};

use super::explore;
use crate::PollKind;
use crate::beacon::Beacon;
use crate::hub::Hub;
use crate::sync::{Arc, AtomicUsize, thread};

/// A reader looks once while the owner shows two polls. What it has read is all of one of them.
#[test]
fn what_is_read_is_of_one_poll() {
    explore("beacon/polls", || {
        let beacon = Arc::new(Beacon::default());
        let read = Arc::clone(&beacon);
        let reader = thread::spawn(move || {
            let sequence = read.sequence();
            if let Some((shown, since_ns)) = read.read(sequence) {
                let number = sequence.div_ceil(2);
                assert_eq!((shown.task, shown.group, since_ns), (Id::from_u64(number), Some(number), number));
                assert_eq!(shown.kind, [PollKind::Task, PollKind::Drop][number as usize - 1]);
            }
        });
        for (number, kind) in [(1, PollKind::Task), (2, PollKind::Drop)] {
            drop(beacon.begin((kind, number), (Id::from_u64(number), Some(number), None)));
        }
        reader.join().unwrap();
    });
}

/// A reader that finds a poll over finds what the poll did.
#[test]
fn what_a_poll_did_is_seen_when_it_is_over() {
    explore("beacon/over", || {
        let (beacon, done) = (Arc::new(Beacon::default()), Arc::new(AtomicUsize::new(0)));
        let (read, is_done) = (Arc::clone(&beacon), Arc::clone(&done));
        let reader = thread::spawn(move || {
            if read.sequence() == 2 {
                assert_eq!(is_done.load(Ordering::Relaxed), 1);
            }
        });
        let lit = beacon.begin((PollKind::Main, 0), (None, None, None));
        done.store(1, Ordering::Relaxed);
        drop(lit);
        reader.join().unwrap();
    });
}

/// A reader looks once while an executor polls a task of each of two queues: the name is that of the queue whose task it is.
#[test]
fn names_are_of_the_poll_that_is_read() {
    explore("beacon/names", || {
        let ex = Executor::builder().clock(ManualClock::new()).build().expect("the defaults are valid");
        let mut hub = Hub::of(&ex);
        let beacon = Arc::clone(&hub.shown.get_or_insert_default().beacon);
        hub.set(&ex);
        let queues = ["1", "2"].map(|name| ex.new_queue(name).create().unwrap());
        beacon.add_watcher();
        let groups = [(&queues[0], 1), (&queues[1], 2)].map(|(queue, key)| queue.group(key));
        let tasks = groups.map(|group| group.spawn(async {}));
        let reader = thread::spawn(move || {
            let sequence = beacon.sequence();
            if let Some((shown, _)) = beacon.read(sequence) {
                assert_eq!(shown.queue.as_deref(), shown.group.map(|key| key.to_string()).as_deref());
            }
            beacon.remove_watcher();
        });
        ex.block_on(ex.drained());
        drop((tasks, queues));
        reader.join().unwrap();
    });
}
