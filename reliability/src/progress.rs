//! A progress bar on standard error, for a person at a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `steps` steps; shows nothing where standard error is no terminal.
pub fn bar(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} % {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar
}
