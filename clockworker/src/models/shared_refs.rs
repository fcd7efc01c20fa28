//! [`SharedRef`]'s counting.

use super::{executor, explore};
use crate::sync::thread;
use crate::task::{Shared, SharedRef};

/// Another thread clones and drops while the owner gives its credits back and drops. The last one frees, once.
#[test]
fn the_last_reference_frees_wherever_it_is() {
    explore("shared_refs/last", || {
        let owner = SharedRef::new(Shared::new());
        let [first, second] = [owner.clone(), owner.clone()];
        let threads = [
            thread::spawn(move || {
                let again = first.clone();
                drop(first);
                assert!(!again.inbox.has_mail());
            }),
            thread::spawn(move || drop(second)),
        ];
        let here = owner.clone();
        owner.close_credits();
        drop(here);
        drop(owner);
        drop(threads);
    });
}

/// A handle outlives its executor on another thread.
#[test]
fn a_handle_outlives_its_executor() {
    explore("shared_refs/handle", || {
        let ex = executor();
        let handle = ex.handle();
        let thread = thread::spawn(move || {
            let again = handle.clone();
            drop(handle);
            let _ = again.is_stopped();
        });
        drop(ex);
        drop(thread);
    });
}
