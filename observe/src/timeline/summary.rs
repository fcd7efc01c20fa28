//! Who held the thread, and who waited for it, as text.

use std::cmp::Reverse;
use std::time::Duration;

use crate::{Histogram, Timeline};

use super::spans::{QueueSpans, Span, Spans, Turn, place_name};

/// So many of the longest polls, turns and waits are named.
const LONGEST: usize = 5;

/// Who held the thread, and who waited for it: polls, busy time and waits of each queue, and the longest polls and waits, those among
/// them that were not over.
///
/// The host waits as well: for as long as a turn of the executor takes, in which its I/O and timers are not looked at.
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
        text += &quantiles(waits.iter().map(Span::length));
    }
    let (turns, visits) = spans.turns_and_visits();
    if !turns.is_empty() {
        text += &format!("{:width$} {:>5} {:>9} {visits:>10.1?}", "(host)", "–", "–");
        text += &quantiles(turns.iter().map(|turn| turn.length()));
    }

    let polls = queues.iter().flat_map(|queue| queue.polls.iter().map(|poll| (&*queue.name, poll.span)));
    let waits = queues.iter().flat_map(|queue| queue.waits.iter().map(|wait| (&*queue.name, *wait)));
    let held = longest("held the thread for", polls);
    text + &held + &longest_turns(turns, &spans) + &longest("waited for         ", waits)
}

/// The end of a line: the p50, the p99 and the longest of these.
fn quantiles(times: impl Iterator<Item = Duration>) -> String {
    let mut lengths = Histogram::default();
    times.for_each(|time| lengths.record(time));
    let shown = [0.5, 0.99, 1.0].map(|part| {
        let time = lengths.quantile(part).map_or("–".into(), |time| format!("{time:.1?}"));
        format!(" {time:>10}")
    });
    shown.concat() + "\n"
}

/// The longest turns, longest first, each with its longest poll.
fn longest_turns(mut turns: Vec<&Turn>, spans: &Spans) -> String {
    turns.sort_by_key(|turn| (Reverse(turn.length()), turn.from));
    let lines = turns.iter().take(LONGEST).map(|turn| {
        let held = turn.longest.map_or("no poll".into(), |poll| {
            let place = poll.location.map_or("spawned before".into(), |at| format!("at {}", place_name(at)));
            let (slot, queue) = (poll.task.slot, spans.queue_name(poll.task.queue));
            format!("task {slot} of {queue} ({:.1?}), {place}", poll.length())
        });
        format!("host waited for     {:>10.1?} from {:>10.1?} on: {held}\n", turn.length(), turn.from)
    });
    lines.collect()
}

fn task_in_words(span: &Span, queue: &str) -> String {
    let place = span.location.map_or("before".into(), |at| format!("at {}", place_name(at)));
    format!("task {} of {queue}, spawned {place}", span.task.slot)
}

/// The longest, longest first; of equal ones the first.
fn longest<'a>(what: &str, spans: impl Iterator<Item = (&'a str, Span)>) -> String {
    let mut spans: Vec<(&str, Span)> = spans.collect();
    spans.sort_by_key(|(_, span)| (Reverse(span.length()), span.from));
    let lines = spans.iter().take(LONGEST).map(|(queue, span)| {
        let (took, at) = (span.length(), span.from);
        format!("{what} {took:>10.1?} from {at:>10.1?} on: {}\n", task_in_words(span, queue))
    });
    lines.collect()
}
