//! Work on all threads, in an order that nobody can tell from the results.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};

/// Does `work` for each number below `count` on so many threads; the results in order of the numbers. A bar on standard error
/// shows a person at a terminal how far it is.
pub(crate) fn each<R: Send>(
    what: &'static str,
    count: usize,
    threads: NonZeroUsize,
    work: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    let style = ProgressStyle::with_template("{prefix:>10} {bar:40} {pos}/{len} {elapsed}");
    let progress = ProgressBar::new(count as u64).with_style(style.expect("the template is valid"));
    progress.set_prefix(what);
    progress.tick();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(count));
    let toil = || {
        loop {
            // Ordering: Relaxed, as each number only has to be handed out once.
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let result = work(number);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
            progress.inc(1);
        }
    };
    thread::scope(|scope| {
        (0..threads.get().min(count)).for_each(|_| drop(scope.spawn(toil)));
    });
    progress.finish_and_clear();
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let squares = each("squares", 20, threads, |number| number * number);
            assert_eq!(squares, (0..20).map(|number| number * number).collect::<Vec<_>>());
        }
    }
}
