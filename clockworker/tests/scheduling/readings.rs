//! How often the clock is read: by how much a slice overruns when short polls turn long, and what a scheduler is told of polls
//! that are timed by lot.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{FairGroups, GroupId, Las, Ready, Scheduler, Task, TaskId};
use clockworker::{Queue, yield_now};

use crate::support::{VirtualTime, us};

const fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// When queue `b` gets work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Contend,
    /// In the last short poll of `a`. Its request is longer, so it is not to be served before `a`.
    Begin,
}

/// Polls of 1 ms that queue `a` does before `b` has its next.
#[derive(Default)]
struct InARow {
    polls: Cell<usize>,
    ended: Cell<bool>,
    over: Cell<bool>,
}

fn begin_others(sim: &VirtualTime, queue: &Queue, row: &Rc<InARow>) {
    let (sim, row) = (sim.clone(), Rc::clone(row));
    queue.spawn(async move {
        while !row.over.get() {
            row.ended.set(row.polls.get() > 0);
            sim.work(us(10));
            yield_now().await;
        }
    });
}

/// How many polls of 1 ms `a` does in a row, after `short` polls of `length`.
fn in_a_row(others: Others, length: Duration, short: u32) -> usize {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let a = ex.new_queue("a").create().unwrap();
    let request = if others == Others::Begin { us(10_000) } else { us(500) };
    let b = ex.new_queue("b").request(request).create().unwrap();
    let row = Rc::new(InARow::default());
    if others == Others::Contend {
        begin_others(&sim, &b, &row);
    }
    a.spawn({
        let (sim, row) = (sim.clone(), Rc::clone(&row));
        async move {
            for poll in 1..=short {
                sim.work(length);
                if poll == short && others == Others::Begin {
                    begin_others(&sim, &b, &row);
                }
                yield_now().await;
            }
            while !row.ended.get() && row.polls.get() < 64 {
                sim.work(us(1_000));
                row.polls.set(row.polls.get() + 1);
                yield_now().await;
            }
            row.over.set(true);
        }
    });
    sim.drain(&ex);
    row.polls.get()
}

/// The most of them, whenever they turn long.
fn most_in_a_row(others: Others, length: Duration) -> usize {
    (10_000..10_040).map(|short| in_a_row(others, length, short)).max().unwrap()
}

#[test]
fn a_slice_whose_polls_turn_long_overruns_by_eight_at_most() {
    assert_eq!(most_in_a_row(Others::Contend, ns(50)), 8);
    assert_eq!(most_in_a_row(Others::Begin, ns(50)), 8);
}

#[test]
fn where_polls_take_two_microseconds_each_is_timed() {
    assert_eq!(most_in_a_row(Others::Contend, us(2)), 1);
    assert_eq!(most_in_a_row(Others::Begin, us(2)), 1);
}

/// Each of two groups has a task whose polls take so long, in turn. Returns the first group's part of such a time.
fn part_of_the_first<S: Scheduler + 'static>(scheduler: S, lengths: [Vec<u64>; 2], time: Duration) -> f64 {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(200)).build().unwrap();
    let queue = ex.new_queue("divided").scheduler(scheduler).create().unwrap();
    let served = Rc::new([const { Cell::new(0_u64) }; 2]);
    for (group, lengths) in lengths.into_iter().enumerate() {
        let (sim, served) = (sim.clone(), Rc::clone(&served));
        queue.group(group as u64).spawn(async move {
            for length in lengths.into_iter().cycle() {
                sim.work(ns(length));
                served[group].set(served[group].get() + length);
                if sim.now() >= time {
                    return;
                }
                yield_now().await;
            }
        });
    }
    sim.drain(&ex);
    let [first, second] = served.each_ref().map(Cell::get);
    first as f64 / (first + second) as f64
}

/// Las divides the queue equally. A group that hides a longer poll among short ones, in whatever rhythm, gains nothing; three
/// per cent are four standard deviations of what is told.
#[test]
fn no_rhythm_of_short_polls_gains_from_what_is_not_timed() {
    for short in [0, 1, 7, 15] {
        let rhythm = [vec![100; short], vec![900]].concat();
        let part = part_of_the_first(Las::new(), [rhythm, vec![100]], us(100_000));
        assert!((part - 0.5).abs() < 0.03, "{short} of 100 ns, one of 900: {part}");
    }
}

/// A slice ends for the host where the clock is read, and polls as long as these have the host come within some of them.
#[test]
fn long_polls_beside_short_ones_get_no_more_than_their_part() {
    for long in [5_000, 20_000, 100_000] {
        let part = part_of_the_first(FairGroups::new(), [vec![long], vec![250]], us(500_000));
        assert!((part - 0.5).abs() < 0.02, "{long} ns beside 250: {part}");
    }
}

/// What a scheduler is told, beside what it would be told if each poll were timed.
struct Told(Vec<TaskId>, Rc<[Cell<u64>; 2]>);

impl Scheduler for Told {
    fn push(&mut self, task: Task, _why: Ready) {
        self.0.push(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }

    fn served(&mut self, _task: Task, service_ns: u64) {
        self.1[0].set(self.1[0].get() + service_ns);
        self.1[1].set(self.1[1].get() + 1);
    }

    fn group_closed(&mut self, _group: GroupId) {}
}

#[test]
fn one_poll_in_eight_is_timed_and_stands_for_them() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let told = Rc::new([const { Cell::new(0) }; 2]);
    let queue = ex.new_queue("told").scheduler(Told(Vec::new(), Rc::clone(&told))).create().unwrap();
    let polls = 100_000;
    queue.spawn({
        let sim = sim.clone();
        async move {
            for _ in 0..polls {
                sim.work(ns(50));
                yield_now().await;
            }
        }
    });
    sim.drain(&ex);
    let [ns_told, calls] = told.each_ref().map(Cell::get);
    let deviation = 50.0 * (polls as f64 * 28.0 / 3.0).sqrt();
    assert!((ns_told as f64 - 50.0 * polls as f64).abs() < 4.0 * deviation, "{ns_told}");
    assert!((polls / 9..=polls / 7).contains(&calls), "{calls}");
}

/// Has a queue get work when it is dropped.
struct GivesWork(Queue);

impl Drop for GivesWork {
    fn drop(&mut self) {
        self.0.spawn(async {});
    }
}

/// More tasks were dropped by then than polls after which a reading was due.
#[test]
fn a_slice_of_drops_goes_on_when_another_queue_waits_from_one_of_them_on() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let a = ex.new_queue("a").create().unwrap();
    let b = ex.new_queue("b").request(us(10_000)).create().unwrap();
    let waiting = Vec::from_iter((0..20).map(|n| {
        let (sim, gives_work) = (sim.clone(), (n == 10).then(|| GivesWork(b.clone())));
        a.spawn(async move {
            let _gives_work = gives_work;
            sim.work(us(10)); // so that a reading is due after each poll
            std::future::pending::<()>().await;
        })
    }));
    sim.drain(&ex);
    waiting.iter().for_each(|task| task.abort());
    sim.drain(&ex);
    assert_eq!(a.stats().live, 0);
    assert_eq!(b.stats().completed, 1);
}
