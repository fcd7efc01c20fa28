//! What is kept of a host, and for how long.

use std::sync::Arc;
use std::task::{Wake, Waker};

use super::HostWaker;
use crate::sync::AtomicWaker;

struct Host;

impl Wake for Host {
    fn wake(self: Arc<Self>) {}
}

fn host() -> (Arc<Host>, Waker) {
    let host = Arc::new(Host);
    let waker = Waker::from(Arc::clone(&host));
    (host, waker)
}

/// The host, its waker, and a clone that is kept.
const KEPT: usize = 3;

#[test]
fn a_host_is_cloned_once_also_where_its_waker_does_not_know_its_clones() {
    let (host, waker) = host();
    let mut kept = None;
    let first = HostWaker::keep(&mut kept, &waker, |_| unreachable!("there was none")).data();
    assert_eq!(Arc::strong_count(&host), KEPT);
    // Its clones may be another's in the eyes of `will_wake`, as in builds for debugging.
    for waker in [&waker, &waker.clone(), &waker] {
        assert_eq!(HostWaker::keep(&mut kept, waker, |_| unreachable!("it has it")).data(), first);
    }
    assert_eq!(Arc::strong_count(&host), KEPT);
    drop(kept);
    assert_eq!(Arc::strong_count(&host), KEPT - 1);
}

#[test]
fn of_another_host_nothing_is_left() {
    let ((first, one), (second, two)) = (host(), host());
    let (mut kept, slot) = (None, AtomicWaker::new());
    slot.register(HostWaker::keep(&mut kept, &one, |_| unreachable!("there was none")));
    let mut taken_back = false;
    HostWaker::keep(&mut kept, &two, |old| {
        taken_back = true;
        assert!(old.take_back(&slot).is_none(), "nobody else's was there");
    });
    assert!(taken_back && slot.take().is_none());
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (KEPT - 1, KEPT));
}

#[test]
fn what_is_not_left_is_not_looked_for_and_anothers_is_given_out() {
    let ((_, one), (_, two)) = (host(), host());
    let (keeper, other) = (HostWaker::of(&one), HostWaker::of(&two));
    let slot = AtomicWaker::new();
    slot.register(&other);
    assert!(keeper.take_back(&slot).is_none(), "it was never left anywhere");
    // A thread is about to wake it.
    let about_to_wake = keeper.clone();
    assert!(keeper.take_back(&slot).is_some_and(|found| found.data() == other.data()));
    drop(about_to_wake);
    assert!(slot.take().is_none());
}
