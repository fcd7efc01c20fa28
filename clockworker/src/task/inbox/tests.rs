//! The inbox without an executor.

use std::task::Waker;

use crate::task::{HostWaker, Label, Placement, RecordKey, Shared, SharedRef, spawn_remote};

const NO_RECORD: RecordKey = RecordKey { queue: 0, slot: RecordKey::NO_SLOT, generation: 0 };

fn host() -> HostWaker {
    HostWaker::of(Waker::noop())
}

/// This thread is the owner, so it may empty the inbox.
fn shared() -> SharedRef {
    SharedRef::new(Shared::new())
}

#[test]
fn marks_are_no_mail() {
    let shared = shared();
    let owner = shared.local().expect("this is the owner thread");
    assert!(!shared.inbox.has_mail());
    assert!(shared.inbox.park(&host()));
    assert!(!shared.inbox.has_mail());
    assert_eq!(shared.inbox.take_all(owner).count(), 0);
    assert!(shared.inbox.close(owner), "it was parked");
    assert!(!shared.inbox.has_mail());
    assert!(shared.inbox.close(owner), "it was closed");
    shared.close_credits();
}

#[test]
fn once_it_is_closed_a_task_is_refused() {
    let shared = shared();
    let owner = shared.local().expect("this is the owner thread");
    assert!(shared.inbox.close(owner));
    let task = spawn_remote(&shared, NO_RECORD, None, Label::here(), || async {});
    assert!(task.is_finished());
    assert!(!shared.inbox.has_mail());
    drop(task);
    shared.close_credits();
}

#[test]
fn mail_that_came_before_parking_keeps_the_host_awake() {
    let shared = shared();
    let owner = shared.local().expect("this is the owner thread");
    let task = spawn_remote(&shared, NO_RECORD, None, Label::here(), || async {});
    assert!(shared.inbox.has_mail());
    assert!(!shared.inbox.park(&host()));
    let mut mail = shared.inbox.take_all(owner);
    assert!(mail.next().is_none(), "it is not turned round yet");
    assert_eq!((mail.turn_round(0), mail.turn_round(2), mail.is_empty()), (0, 1, false));
    assert_eq!(mail.count(), 1, "and what came with it is dropped, which cancels it");
    assert!(task.is_finished());
    assert!(shared.inbox.park(&host()));
    assert!(!shared.inbox.park(&host()), "it is parked already");
    shared.inbox.unpark();
    shared.inbox.unpark();
    assert!(shared.inbox.park(&host()));
    assert!(shared.inbox.close(owner));
    drop(task);
    shared.close_credits();
}

#[test]
fn a_placement_is_kept_until_its_task_comes_in_or_is_refused() {
    let shared = shared();
    let placement = Placement { group: Some(7), ..Placement::default() };
    let taken_in = spawn_remote(&shared, NO_RECORD, Some(placement), Label::here(), || async {});
    assert_eq!(shared.take_placement(taken_in.id()), Some(placement));
    assert_eq!(shared.take_placement(taken_in.id()), None);
    let owner = shared.local().expect("this is the owner thread");
    assert!(!shared.inbox.close(owner), "a task is in it");
    let mut left = shared.inbox.take_all(owner);
    left.turn_round(usize::MAX);
    left.for_each(drop);
    assert!(shared.inbox.close(owner));
    let refused = spawn_remote(&shared, NO_RECORD, Some(placement), Label::here(), || async {});
    assert_eq!(shared.take_placement(refused.id()), None);
    shared.close_credits();
}
