//! Writes a timeline as a page for a browser, which needs no network.

use std::io::{self, Write};

use clockworker::observe::Timeline;

use crate::perfetto::write_perfetto;

/// The page, with [`DATA`] where the trace goes.
const PAGE: &str = include_str!("page.html");
const DATA: &str = "/*DATA*/";

/// Writes the timeline as a page of HTML: who held the thread, who waited for it, and when, to look at in any browser, without
/// network.
///
/// It has the trace of [`write_perfetto`] in it, and draws a row for the host's turns, and two for each queue: its slices and polls, and
/// how many of its tasks were waiting. From some 100,000 events on Perfetto is quicker to look at.
///
/// # Errors
///
/// Those of the writer. What was written until then stays.
pub fn write_html(timeline: &Timeline, mut writer: impl Write) -> io::Result<()> {
    let mut trace = Vec::new();
    write_perfetto(timeline, &mut trace)?;
    // In a script, where nothing but its end tag is looked for.
    let trace = String::from_utf8_lossy(&trace).replace('<', "\\u003c");
    let (before, after) = PAGE.split_once(DATA).unwrap_or((PAGE, ""));
    [before, &trace, after].iter().try_for_each(|part| writer.write_all(part.as_bytes()))?;
    writer.flush()
}
