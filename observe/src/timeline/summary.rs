//! Who held the thread, and who waited for it, as text.

use std::cmp::Reverse;
use std::time::Duration;

use crate::{Histogram, Timeline};

use super::spans::{QueueSpans, Span, Spans, place_name};

/// So many of the longest polls and waits are named.
const LONGEST: usize = 5;

/// Who held the thread, and who waited for it: polls, busy time and waits of each queue, and the longest polls and waits, those among
/// them that were not over.
pub fn summary(timeline: &Timeline) -> String {
    let spans = Spans::of(timeline);
    let began = timeline.events.first().map_or(Duration::ZERO, |event| event.at);
    let cut = if timeline.is_cut { ", cut at its beginning" } else { "" };
    let mut text = format!("{:?}{cut}\n", spans.ended.saturating_sub(began));

    let has_any = |queue: &&QueueSpans| !queue.polls.is_empty() || !queue.waits.is_empty();
    let queues: Vec<&QueueSpans> = spans.queues.values().filter(has_any).collect();
    let width = queues.iter().map(|queue| queue.name.chars().count()).max().unwrap_or(0).max(5);
    text += &format!("{:width$} share     polls       busy   wait p50        p99    longest\n", "queue");
    for QueueSpans { name, share, polls, waits, .. } in &queues {
        let share = share.map_or("–".into(), |share| share.to_string());
        let busy: Duration = polls.iter().map(|poll| poll.span.length()).sum();
        text += &format!("{name:width$} {share:>5} {:>9} {busy:>10.1?}", polls.len());
        let mut lengths = Histogram::default();
        waits.iter().for_each(|wait| lengths.record(wait.length()));
        for part in [0.5, 0.99, 1.0] {
            let wait = lengths.quantile(part).map_or("–".into(), |wait| format!("{wait:.1?}"));
            text += &format!(" {wait:>10}");
        }
        text.push('\n');
    }

    let polls = queues.iter().flat_map(|queue| queue.polls.iter().map(|poll| (&*queue.name, poll.span)));
    let waits = queues.iter().flat_map(|queue| queue.waits.iter().map(|wait| (&*queue.name, *wait)));
    text + &longest("held the thread for", polls) + &longest("waited for         ", waits)
}

/// The longest, longest first; of equal ones the first.
fn longest<'a>(what: &str, spans: impl Iterator<Item = (&'a str, Span)>) -> String {
    let mut spans: Vec<(&str, Span)> = spans.collect();
    spans.sort_by_key(|(_, span)| (Reverse(span.length()), span.from));
    let lines = spans.iter().take(LONGEST).map(|(queue, span)| {
        let (took, at, slot) = (span.length(), span.from, span.task.slot);
        let place = span.location.map_or("before".into(), |at| format!("at {}", place_name(at)));
        format!("{what} {took:>10.1?} from {at:>10.1?} on: task {slot} of {queue}, spawned {place}\n")
    });
    lines.collect()
}
