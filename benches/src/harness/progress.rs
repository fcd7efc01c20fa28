//! A progress bar on standard error: for a person at a terminal only.

use std::borrow::Cow;

use indicatif::{ProgressBar, ProgressStyle};

/// The bar of one scenario.
///
/// It is drawn by the thread that calls it, when it calls it: nothing ticks beside a measurement.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Shows a bar of `steps` steps; shows nothing if standard error is not a terminal.
    pub fn start(scenario: impl Into<Cow<'static, str>>, steps: u64) -> Self {
        let style = ProgressStyle::with_template("{prefix:>14} {bar:40} {pos}/{len} {elapsed} {msg}");
        let bar = ProgressBar::new(steps);
        bar.set_style(style.expect("the template is valid"));
        bar.set_prefix(scenario);
        bar.tick();
        Progress(bar)
    }

    pub fn say(&self, what: impl Into<Cow<'static, str>>) {
        self.0.set_message(what);
    }

    pub fn advance(&self) {
        self.0.inc(1);
    }

    pub fn tick(&self) {
        self.0.tick();
    }

    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}
