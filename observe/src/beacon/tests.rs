//! What is read of a beacon is of one poll.

use std::thread;

use super::*;

fn here() -> Option<&'static Location<'static>> {
    Some(Location::caller())
}

#[test]
fn a_poll_is_shown_until_it_is_over() {
    let beacon = Beacon::default();
    assert_eq!((beacon.sequence(), beacon.read(0)), (0, None));
    beacon.names().queue = Arc::from("one");
    let location = here();
    let lit = beacon.begin((PollKind::Task, 3), (Id::from_u64(7), Some(0), location));
    let shown = Holder {
        kind: PollKind::Task,
        queue: Some(Arc::from("one")),
        group: Some(0),
        group_name: None,
        task_name: None,
        task: Id::from_u64(7),
        spawned_at: location,
    };
    assert_eq!((beacon.sequence(), beacon.read(1)), (1, Some((shown, 3))));
    assert_eq!(beacon.read(3), None, "that is another poll");
    drop(lit);
    assert_eq!((beacon.sequence(), beacon.read(1), beacon.read(2)), (2, None, None));
    let lit = beacon.begin((PollKind::Main, 5), (None, None, None));
    let shown = Holder {
        kind: PollKind::Main,
        queue: None,
        group: None,
        group_name: None,
        task: None,
        task_name: None,
        spawned_at: None,
    };
    assert_eq!((beacon.sequence(), beacon.read(1), beacon.read(3)), (3, None, Some((shown, 5))));
    drop(lit);
}

/// The owner shows polls whose parts are all made of one number; a reader never sees parts of two.
#[test]
fn what_is_read_is_never_of_two_polls() {
    const POLLS: u64 = 200_000;
    let (beacon, whole) = (Beacon::default(), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !beacon.is_gone.load(Ordering::Relaxed) {
                let sequence = beacon.sequence();
                if let Some((shown, since_ns)) = beacon.read(sequence) {
                    let number = sequence.div_ceil(2);
                    assert_eq!(
                        (shown.task, shown.group, since_ns),
                        (Id::from_u64(number), Some(number), number)
                    );
                    assert_eq!(shown.queue.as_deref(), Some(&*(number / 64).to_string()));
                    whole.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        for number in 1..=POLLS {
            if number % 64 == 0 || number == 1 {
                beacon.names().queue = Arc::from((number / 64).to_string());
            }
            let _lit = beacon.begin((PollKind::Task, number), (Id::from_u64(number), Some(number), None));
            while number == POLLS && whole.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        }
        beacon.is_gone.store(true, Ordering::Relaxed);
    });
}
