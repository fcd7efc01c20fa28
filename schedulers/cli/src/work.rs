//! Work on all threads, in an order that the results do not show.

use std::num::NonZeroUsize;

use indicatif::{ParallelProgressIterator, ProgressBar, ProgressStyle};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// Does `work` for each number below `count` on so many threads; the results in order of the numbers, or the first error. A bar
/// on standard error shows a person at a terminal how far it is.
pub(crate) fn each<R: Send>(
    what: &'static str,
    count: usize,
    threads: NonZeroUsize,
    work: impl Fn(usize) -> anyhow::Result<R> + Sync + Send,
) -> anyhow::Result<Vec<R>> {
    let style = ProgressStyle::with_template("{prefix:>10} {bar:40} {pos}/{len} {elapsed}");
    let bar =
        ProgressBar::new(count as u64).with_style(style.expect("the template is valid")).with_prefix(what);
    let pool = ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
    let numbers = (0..count).into_par_iter().progress_with(bar.clone());
    let results: Vec<_> = pool.install(|| numbers.map(work).collect());
    bar.finish_and_clear();
    results.into_iter().collect()
}
