//! The end of a watch, against a look at it.

use super::*;
use crate::PollKind;
use crate::models::explore;
use crate::sync::{AtomicUsize, thread};

const THRESHOLD: Duration = Duration::from_millis(1);

/// A lookout finds a long poll while the guard is dropped, and looks once more. When the drop is over no hook runs any more and
/// none is called, and there was one report at most.
#[test]
fn no_hook_runs_once_the_watch_is_over() {
    explore("stalls/guard", || {
        let (beacon, calls) = (sync::Arc::new(Beacon::default()), sync::Arc::new(AtomicUsize::new(0)));
        let lit = beacon.begin((PollKind::Main, 0), (None, None, None));
        let called = sync::Arc::clone(&calls);
        let hook: Hook = Arc::new(move |_: &Stall| {
            called.fetch_add(1, Ordering::Relaxed);
            thread::yield_now();
            called.fetch_add(1, Ordering::Relaxed);
        });
        let limit = RateLimit::new(usize::MAX, THRESHOLD);
        let whose = (sync::Arc::clone(&beacon), None, None);
        let watch = sync::Arc::new(Watch::new(whose, (THRESHOLD, limit), vec![hook]));
        watch.look(|| Duration::ZERO);
        let looks = sync::Arc::clone(&watch);
        let lookout = thread::spawn(move || (1..4).for_each(|halves| looks.look(|| halves * THRESHOLD / 2)));
        // What the guard's drop does.
        watch.end();
        watch.wait_for_look();
        let then = calls.load(Ordering::Relaxed);
        assert!([0, 2].contains(&then), "a hook runs: {then}");
        lookout.join().unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), then);
        drop(lit);
    });
}
