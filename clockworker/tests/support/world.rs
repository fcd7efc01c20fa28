//! A world on virtual time: a clock that moves when a task works or when all wait, a trace of what happened, and queues and
//! tasks made from text.
//!
//! It belongs to the thread, as a test does, so tasks need no handle to it. The next executor that is made begins a new one.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Builder, Cap, Executor, Queue, yield_now};
use clockworker_testing::driving::poll_once;
use clockworker_testing::policy::Policy;
use clockworker_testing::virtual_time::VirtualTime;

use super::{Signal, us};

thread_local! {
    static TIME: RefCell<VirtualTime> = RefCell::default();
    static TRACE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static SPANS: RefCell<Vec<Span>> = const { RefCell::new(Vec::new()) };
}

/// A poll of a task with a name: whose it was, when it began and when it ended.
struct Span {
    name: String,
    begin: Duration,
    end: Duration,
}

fn begin() -> VirtualTime {
    TRACE.take();
    SPANS.take();
    drop(TIME.replace(VirtualTime::new()));
    time()
}

/// Options for an executor in a new world, whose host never interrupts it.
pub(crate) fn builder() -> Builder {
    begin().builder()
}

/// An executor in a new world, whose host never interrupts it.
pub(crate) fn world() -> Executor {
    builder().build().unwrap()
}

/// Options for an executor in a new world, whose host interrupts it as usual.
pub(crate) fn hosted_builder() -> Builder {
    Executor::builder().clock(begin().clock())
}

/// An executor in a new world, whose host interrupts it as usual.
pub(crate) fn hosted() -> Executor {
    hosted_builder().build().unwrap()
}

/// The clock and the alarms of this world.
pub(crate) fn time() -> VirtualTime {
    TIME.with_borrow(VirtualTime::clone)
}

pub(crate) fn now() -> Duration {
    time().now()
}

/// The calling task computes for that long.
pub(crate) fn work(length: Duration) {
    time().work(length);
}

pub(crate) fn sleep(length: Duration) -> impl Future<Output = ()> + use<> {
    time().sleep(length)
}

pub(crate) fn sleep_until(deadline: Duration) -> impl Future<Output = ()> + use<> {
    time().sleep_until(deadline)
}

/// Runs an executor of this world until `main` is done.
pub(crate) fn run<F: Future>(ex: &Executor, main: F) -> F::Output {
    time().run(ex, main)
}

/// Runs an executor of this world until no task is ready and none sleeps, and takes the trace.
pub(crate) fn drain(ex: &Executor) -> String {
    time().drain(ex);
    trace()
}

/// The host polls an executor of this world once; how long that took.
pub(crate) fn turn(ex: &Executor) -> Duration {
    let before = now();
    assert!(poll_once(&mut pin!(ex.run_until(pending::<()>()))).is_pending());
    now() - before
}

pub(crate) fn note(what: impl Into<String>) {
    let what = what.into();
    TRACE.with_borrow_mut(|trace| trace.push(what));
}

/// What was noted since the last time, joined by blanks.
pub(crate) fn trace() -> String {
    TRACE.take().join(" ")
}

/// When the polls of a task began and ended.
pub(crate) fn spans(name: &str) -> Vec<(Duration, Duration)> {
    let of_task = |span: &Span| (span.name == name).then_some((span.begin, span.end));
    SPANS.with_borrow(|spans| spans.iter().filter_map(of_task).collect())
}

/// When the polls of a task began.
pub(crate) fn starts(name: &str) -> Vec<Duration> {
    spans(name).into_iter().map(|span| span.0).collect()
}

/// How much of the time between these two the polls of a task took.
pub(crate) fn within(name: &str, from: Duration, until: Duration) -> Duration {
    spans(name).into_iter().map(|(begin, end)| end.min(until).saturating_sub(begin.max(from))).sum()
}

/// The poll under way: it is noted, unless the task has no name.
fn poll(name: &str, number: usize, does: impl FnOnce()) {
    if name.is_empty() {
        return does();
    }
    note(format!("{name}{number}"));
    let begin = now();
    does();
    let span = Span { name: name.to_owned(), begin, end: now() };
    SPANS.with_borrow_mut(|spans| spans.push(span));
}

/// So many polls of that length, noted as `name1`, `name2`, …; without a name they are not noted.
pub(crate) async fn polls(name: &'static str, count: usize, length: Duration) {
    for number in 1..=count {
        poll(name, number, || work(length));
        if number < count {
            yield_now().await;
        }
    }
}

/// Polls of that length without end.
pub(crate) async fn compute(length: Duration) {
    polls("", usize::MAX, length).await;
}

/// The queue of that name.
#[track_caller]
pub(crate) fn queue(ex: &Executor, name: &str) -> Queue {
    ex.queue(name).unwrap_or_else(|| panic!("no queue '{name}'"))
}

/// How long the tasks of the queue of that name were polled.
#[track_caller]
pub(crate) fn busy(ex: &Executor, name: &str) -> Duration {
    queue(ex, name).stats().busy
}

/// A new world with the queues and tasks of a [text](add).
pub(crate) fn scene(text: &str) -> Executor {
    let ex = world();
    add(&ex, text);
    ex
}

/// Creates queues and spawns tasks. Each line is one of them:
///
/// ```text
/// small share=9 request=50 idle below=parent cap=20/100 policy=Las
/// small s: 300~ 0
/// small/7 t: 60+wake(s)+40 100*4
/// later small u: 10
/// ```
///
/// Requests are in microseconds, caps in milliseconds. A task belongs to a queue, or to a group of one by its key. It is polls of
/// so many microseconds, each noted as the task's name and a number; those of a task `-` are not. Parts of a poll are joined by `+`:
/// work, `wake(task)`, and `spawn(task)` of one that is to come `later`. After a poll it yields, or with `~` waits to be woken.
/// `*4` stands for four such polls, `*` for polls without end.
pub(crate) fn add(ex: &Executor, text: &str) {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (tasks, queues): (Vec<_>, Vec<_>) = lines.partition(|line| line.contains(':'));
    queues.into_iter().for_each(|line| create(ex, line));
    let scripts = tasks.iter().map(|line| Script::new(ex, line));
    let cast = Rc::new(Vec::from_iter(scripts));
    (0..cast.len()).filter(|&at| !cast[at].is_later).for_each(|at| spawn(&cast, at));
}

fn create(ex: &Executor, line: &str) {
    let mut words = line.split_whitespace();
    let name = words.next().expect("a name");
    let options: HashMap<&str, &str> = words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
    let number = |option: &str| options.get(option).map(|value| value.parse::<u32>().unwrap());
    let parent = options.get("below").map(|parent| queue(ex, parent));
    let mut new = match &parent {
        Some(parent) => parent.new_queue(name),
        None => ex.new_queue(name),
    };
    new = new.share(number("share").unwrap_or(1));
    new = new.request(number("request").map_or(us(500), |request| us(request.into())));
    if options.contains_key("idle") {
        new = new.idle();
    }
    if let Some((quota, period)) = options.get("cap").and_then(|cap| cap.split_once('/')) {
        let [quota, period] = [quota, period].map(|ms| us(1_000 * ms.parse::<u64>().unwrap()));
        new = new.cap(Cap::new(quota, period).unwrap());
    }
    let policy = options.get("policy").unwrap_or(&"WokenFirst");
    let policy = Policy::ALL.iter().find(|known| format!("{known:?}") == *policy).expect("a policy");
    policy.create(new).unwrap();
}

/// A task of a scene.
struct Script {
    is_later: bool,
    queue: Queue,
    group: Option<u64>,
    name: String,
    polls: String,
    woken: Signal,
}

type Cast = Rc<Vec<Script>>;

impl Script {
    fn new(ex: &Executor, line: &str) -> Self {
        let (task, polls) = line.split_once(": ").expect("a task and its polls");
        let words = Vec::from_iter(task.split_whitespace());
        let &[.., home, name] = &words[..] else { panic!("no queue or no name in '{line}'") };
        let (home, group) = match home.split_once('/') {
            Some((home, key)) => (home, Some(key.parse().unwrap())),
            None => (home, None),
        };
        let (name, polls) = (name.trim_start_matches('-').to_owned(), polls.to_owned());
        Self {
            is_later: words[0] == "later",
            queue: queue(ex, home),
            group,
            name,
            polls,
            woken: Signal::new(),
        }
    }
}

fn find(cast: &Cast, name: &str) -> usize {
    cast.iter().position(|script| script.name == name).unwrap_or_else(|| panic!("no task '{name}'"))
}

fn spawn(cast: &Cast, at: usize) {
    let task = perform(Rc::clone(cast), at);
    drop(match cast[at].group {
        Some(key) => cast[at].queue.group(key).spawn(task),
        None => cast[at].queue.spawn(task),
    });
}

async fn perform(cast: Cast, at: usize) {
    let Script { name, polls, woken, .. } = &cast[at];
    let mut number = 0;
    let mut polls = polls.split_whitespace().peekable();
    while let Some(word) = polls.next() {
        let (word, times) = match word.split_once('*') {
            Some((word, "")) => (word, usize::MAX),
            Some((word, times)) => (word, times.parse().unwrap()),
            None => (word, 1),
        };
        let (parts, waits) = word.strip_suffix('~').map_or((word, false), |parts| (parts, true));
        for time in 1..=times {
            number += 1;
            poll(name, number, || parts.split('+').for_each(|part| act(&cast, part)));
            if waits {
                woken.wait().await;
            } else if time < times || polls.peek().is_some() {
                yield_now().await;
            }
        }
    }
}

fn act(cast: &Cast, part: &str) {
    match part.trim_end_matches(')').split_once('(') {
        Some(("wake", name)) => cast[find(cast, name)].woken.set(),
        Some(("spawn", name)) => spawn(cast, find(cast, name)),
        Some((other, _)) => panic!("no action '{other}'"),
        None => work(us(part.parse().unwrap())),
    }
}
