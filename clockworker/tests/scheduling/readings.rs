//! How often the clock is read: by how much a slice overruns when short polls turn long, and what a scheduler is told of polls
//! that are timed by lot.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{FairGroups, Las, RunnableFifo, Scheduler};
use clockworker::{Executor, Queue, yield_now};

use crate::support::*;

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

/// How many polls of 1 ms `a` does before `b` has its next under a scheduler, after `short` polls of `length`.
fn in_a_row<S: Scheduler + 'static>(scheduler: S, others: Others, length: Duration, short: usize) -> usize {
    let ex = world();
    let a = ex.new_queue("a").scheduler(scheduler).create().unwrap();
    let request = if others == Others::Begin { us(10_000) } else { us(500) };
    let b = ex.new_queue("b").request(request).create().unwrap();
    let begin = move || drop(b.spawn(polls("b", usize::MAX, us(10))));
    if others == Others::Contend {
        begin();
    }
    let task = a.spawn(async move {
        polls("", short - 1, length).await;
        yield_now().await;
        work(length);
        if others == Others::Begin {
            begin();
        }
        yield_now().await;
        polls("a", 20, us(1_000)).await;
    });
    run(&ex, task).unwrap();
    let long = starts("a");
    let next = starts("b").into_iter().find(|&start| start > long[0]).unwrap_or(Duration::MAX);
    long.iter().filter(|&&start| start < next).count()
}

/// The most of them, whenever they turn long, in both cases.
fn most_in_a_row<S: Scheduler + 'static>(scheduler: fn() -> S, length: Duration) -> [usize; 2] {
    [Others::Contend, Others::Begin]
        .map(|others| (2_000..2_060).map(|short| in_a_row(scheduler(), others, length, short)).max().unwrap())
}

#[test]
fn a_slice_whose_polls_turn_long_overruns_by_eight_at_most() {
    assert_eq!(most_in_a_row(RunnableFifo::new, ns(50)), [8, 8]);
}

#[test]
fn it_overruns_by_fifteen_where_polls_are_timed_by_lot() {
    let most = most_in_a_row(Las::new, ns(50));
    assert!(most.iter().all(|most| (9..=15).contains(most)), "{most:?}");
}

#[test]
fn where_polls_take_two_microseconds_each_is_timed() {
    assert_eq!(most_in_a_row(RunnableFifo::new, us(2)), [1, 1]);
    assert_eq!(most_in_a_row(Las::new, us(2)), [1, 1]);
}

/// Each of two groups has a task whose polls take so long, in turn. Returns the first group's part of such a time.
fn part_of_the_first<S: Scheduler + 'static>(scheduler: S, lengths: [Vec<u64>; 2], time: Duration) -> f64 {
    let ex = builder().host_budget(us(200)).build().unwrap();
    let queue = ex.new_queue("divided").scheduler(scheduler).create().unwrap();
    let served = Rc::new([const { Cell::new(0_u64) }; 2]);
    for (group, lengths) in lengths.into_iter().enumerate() {
        let served = Rc::clone(&served);
        queue.group(group as u64).spawn(async move {
            for length in lengths.into_iter().cycle() {
                work(ns(length));
                served[group].set(served[group].get() + length);
                if now() >= time {
                    return;
                }
                yield_now().await;
            }
        });
    }
    drain(&ex);
    let [first, second] = served.each_ref().map(Cell::get);
    first as f64 / (first + second) as f64
}

/// Las divides the queue equally. A group that hides a longer poll among short ones, in whatever rhythm, gains nothing; three
/// per cent are four standard deviations of what is served.
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

/// What a scheduler is told of service: in nanoseconds, and how often, by the index of the group.
#[derive(Default)]
struct Served {
    by_group: RefCell<BTreeMap<usize, (u64, u64)>>,
    /// How long polls took, each by itself.
    lengths: RefCell<BTreeSet<u64>>,
}

impl Served {
    /// A queue whose scheduler notes what it is served.
    fn queue(ex: &Executor) -> (Queue, Rc<Self>) {
        let served = Rc::new(Self::default());
        let notes = Rc::clone(&served);
        let spy: Spy = Spy::fifo().listening(move |call| {
            if let Call::Served(task, polls, service_ns) = call {
                let mut by_group = notes.by_group.borrow_mut();
                let (ns, calls) = by_group.entry(task.group.index()).or_default();
                *ns += service_ns;
                *calls += 1;
                notes.lengths.borrow_mut().insert(service_ns / u64::from(polls));
            }
        });
        (ex.new_queue("told").scheduler(spy).create().unwrap(), served)
    }

    fn take(&self) -> Vec<(u64, u64)> {
        self.by_group.take().into_values().collect()
    }
}

/// What the scheduler is told of two groups, each of a task whose polls take so long, in turn. A slice ends for the host after
/// 10 µs, where the clock is read.
fn served_of(groups: [Vec<u64>; 2]) -> [(u64, u64); 2] {
    let ex = builder().host_budget(us(10)).build().unwrap();
    let (queue, served) = Served::queue(&ex);
    let lengths = groups.concat();
    let opened = [0, 1].map(|key| queue.group(key));
    for (group, lengths) in opened.iter().zip(groups) {
        group.spawn(async move {
            for length in lengths {
                work(ns(length));
                yield_now().await;
            }
        });
    }
    drain(&ex);
    // The last poll of each takes no time.
    let lengths: BTreeSet<u64> = lengths.into_iter().chain([0]).collect();
    assert!(served.lengths.borrow().is_subset(&lengths), "{:?} of {lengths:?}", served.lengths.borrow());
    served.take().try_into().expect("two groups")
}

/// Where the clock is not read for the scheduler, it is told of all polls but for those after the last reading.
#[test]
fn what_all_had_is_told_where_the_clock_is_read() {
    for length in [50, 250, 5_000] {
        let passed = Rc::new(Cell::new((0, 0)));
        let told = Rc::clone(&passed);
        let spy = Spy::<false>::fifo().listening(move |call| {
            if let Call::ServedAll(ns, now_ns) = call {
                told.set((told.get().0 + ns, now_ns));
            }
        });
        let ex = builder().host_budget(us(10)).build().unwrap();
        let queue = ex.new_queue("told").scheduler(spy).create().unwrap();
        queue.spawn(polls("", 10_000, ns(length)));
        drain(&ex);
        let (passed, now_ns) = passed.get();
        assert!(
            (10_000 * length - 10_000..=10_000 * length).contains(&passed),
            "{passed} of {length} ns each"
        );
        assert!(now_ns >= passed);
    }
}

#[test]
fn one_short_poll_in_sixteen_is_timed_and_stands_for_them() {
    let polls = 50_000;
    for (length, one_in) in [(50, 16), (250, 8)] {
        let deviation = (polls as f64 * 4.0 * (one_in as f64 - 1.0) / 3.0).sqrt();
        for (ns_told, calls) in served_of([vec![length; polls], vec![length; polls]]) {
            let stands_for = ns_told as f64 / length as f64;
            assert!((stands_for - polls as f64).abs() < 4.0 * deviation, "{stands_for} of {length} ns");
            let expected = polls / (one_in + 1)..=polls / (one_in - 1);
            assert!(expected.contains(&(calls as usize)), "{calls} of {length} ns");
        }
    }
}

/// One poll of 200 µs and 150 of 100 ns take 1,424 ns in the mean; with 2,000 of 100 ns it is 200 ns.
#[test]
fn a_group_whose_polls_take_long_in_the_mean_has_each_of_them_timed() {
    let rhythm = |short: usize| [vec![200_000], vec![100; short]].concat().repeat(10);
    let [long, _] = served_of([rhythm(150), vec![100; 50_000]]);
    assert_eq!(long, (10 * (200_000 + 150 * 100), 10 * 151 + 1));
    let [short, _] = served_of([rhythm(2_000), vec![100; 50_000]]);
    assert!(short.1 < 10 * 1_000, "{short:?}");
}

/// The polls of 9 µs are timed each, and after each of them a lot is drawn anew. So by lot alone one in 31 of the long polls
/// between them would be timed.
#[test]
fn each_poll_is_timed_where_those_of_all_groups_take_long_in_the_mean() {
    let rhythm = [vec![100; 16], vec![1_000_000]].concat().repeat(20);
    let long = vec![9_000; rhythm.len()];
    let (polls, ns) = (rhythm.len() as u64, rhythm.iter().sum());
    assert_eq!(served_of([rhythm, long]), [(ns, polls + 1), (polls * 9_000, polls + 1)]);
}

/// A task sends another and aborts it in each of its long polls: the queue is charged before admission drops that, and its
/// slice ends.
#[test]
fn polls_at_whose_end_the_queue_was_charged_are_known_to_be_long() {
    let ex = world();
    let (queue, served) = Served::queue(&ex);
    let handle = ex.handle();
    drop(queue.group(0).spawn(async move {
        for _ in 0..200 {
            for _ in 0..40 {
                work(ns(100));
                yield_now().await;
            }
            work(us(1_000));
            handle.spawn(|| async {}).abort();
            yield_now().await;
        }
    }));
    drain(&ex);
    let [(ns_told, _)] = served.take()[..] else { panic!("one group") };
    assert!((198..=200).contains(&(ns_told / 1_000_000)), "{ns_told} of 200 ms");
}

/// Also where what its tasks have earned is used up by one of them.
#[test]
fn a_group_whose_polls_have_become_short_has_them_timed_by_lot_again() {
    let ex = world();
    let (queue, served) = Served::queue(&ex);
    let (group, polls) = (queue.group(0), 10_000);
    for _ in 0..3 {
        group.spawn(async move {
            work(us(200));
            for _ in 0..polls {
                yield_now().await;
                work(ns(100));
            }
        });
    }
    drain(&ex);
    let [(_, calls)] = served.take()[..] else { panic!("one group") };
    assert!(calls < 3 * polls / 8, "{calls}");
}

/// What has ended leaves to the next in its slot what it has earned.
#[test]
fn tasks_of_one_long_poll_each_are_timed_beside_one_of_short_ones() {
    let ex = world();
    let (queue, served) = Served::queue(&ex);
    drop(queue.spawn(async {
        for _ in 0..100_000 {
            work(ns(100));
            yield_now().await;
        }
    }));
    let hundred_requests = || (0..100).for_each(|_| run(&ex, queue.spawn(async { work(us(20)) })).unwrap());
    hundred_requests();
    served.take();
    hundred_requests();
    assert_eq!(served.take().iter().max(), Some(&(100 * 20_000, 100)));
}

/// More tasks were dropped by then than polls after which a reading was due.
#[test]
fn a_slice_of_drops_goes_on_when_another_queue_waits_from_one_of_them_on() {
    let ex = world();
    let a = ex.new_queue("a").create().unwrap();
    let b = ex.new_queue("b").request(us(10_000)).create().unwrap();
    let spawn = |n| {
        let b = b.clone();
        let gives_work = (n == 10).then(|| OnDrop::new(move || drop(b.spawn(async {}))));
        a.spawn(async move {
            let _gives_work = gives_work;
            work(us(10)); // so that a reading is due after each poll
            pending::<()>().await;
        })
    };
    let waiting = Vec::from_iter((0..20).map(spawn));
    drain(&ex);
    waiting.iter().for_each(|task| task.abort());
    drain(&ex);
    assert_eq!((a.stats().live, b.stats().completed), (0, 1));
}

/// The longest turn of an executor until no task is left, polling `main` in each.
fn longest_turn(ex: &Executor, main: impl Future<Output = ()>) -> Duration {
    let mut run = pin!(ex.run_until(main));
    let (mut longest, mut done) = (us(0), false);
    while !done {
        let began = now();
        done = poll_once(&mut run).is_ready();
        longest = longest.max(now() - began);
    }
    longest
}

/// Ten polls of 100 µs each, then so many of no time; again and again.
async fn parts(shorts: usize) {
    for _ in 0..20 {
        polls("", 10, us(100)).await;
        polls("", shorts, us(0)).await;
        yield_now().await;
    }
}

/// Where tasks end a part of their work at about the same time, or the future given to `run_until` does.
#[test]
fn short_polls_among_long_ones_keep_the_host_from_its_turn_no_longer() {
    for shorts in 1..4 {
        for by_service in [false, true] {
            let ex = hosted_builder().host_budget(us(20)).build().unwrap();
            let queue = ex.new_queue("parts");
            let queue =
                if by_service { queue.scheduler(Las::new()).create() } else { queue.create() }.unwrap();
            (0..16).for_each(|_| drop(queue.spawn(parts(shorts))));
            let longest = longest_turn(&ex, ex.drained());
            // One poll, after others that take nothing, and the one before which the clock is read.
            assert!(longest <= us(200), "{shorts} short polls each: a turn of {longest:?}");
        }
        let ex = hosted_builder().host_budget(us(20)).build().unwrap();
        let longest = longest_turn(&ex, parts(16 * shorts));
        assert!(longest <= us(200), "{shorts} short polls of the main future: a turn of {longest:?}");
    }
}
