//! `Deadline` meets what can be met: all small sets of jobs, against the demand that they make.
//!
//! A set can be done in time if and only if no interval has more to do, of what comes and is due in it, than it is long.

use clockworker_schedulers::{Attributes, Deadline, FairTurns, Ready, RunnableFifo, Scheduler};

use super::script::{Told, every, task};

/// A task that comes, has so many polls, and is to be done by its deadline.
#[derive(Clone, Copy, Debug)]
struct Job {
    comes_ns: u64,
    polls: u64,
    deadline_ns: u64,
}

/// Whether some order meets all deadlines on a thread of `of`/`parts` of the speed.
fn can_be_met(jobs: &[Job], poll_ns: u64, (of, parts): (u64, u64)) -> bool {
    jobs.iter().map(|job| job.comes_ns).all(|from| {
        jobs.iter().map(|job| job.deadline_ns).all(|to| {
            let within = jobs.iter().filter(|job| job.comes_ns >= from && job.deadline_ns <= to);
            let polls: u64 = within.map(|job| job.polls).sum();
            polls * poll_ns * parts <= to.saturating_sub(from) * of
        })
    })
}

/// By how much the latest job is done after its deadline (before it: less than 0), beside a task without deadline that never
/// ends, if there is `background`.
fn lateness_ns(mut policy: impl Scheduler, jobs: &[Job], poll_ns: u64, background: bool) -> i64 {
    let (mut now_ns, mut latest) = (0, i64::MIN);
    let mut left: Vec<u64> = jobs.iter().map(|job| job.polls).collect();
    let mut to_come: Vec<usize> = (0..jobs.len()).collect();
    let endless = jobs.len();
    if background {
        policy.push(task(endless as u32), Ready::Spawned);
    }
    let mut yielded = None;
    loop {
        for slot in to_come.extract_if(.., |slot| jobs[*slot].comes_ns <= now_ns) {
            let due = Attributes::new().with_deadline_ns(jobs[slot].deadline_ns);
            policy.spawned(task(slot as u32), &due);
            policy.push(task(slot as u32), Ready::Spawned);
        }
        policy.time_is(now_ns);
        let popped = match yielded.take() {
            Some(slot) => policy.push_pop(task(slot as u32)),
            None => policy.pop(),
        };
        let Some(slot) = popped.map(|id| id.slot()) else {
            match to_come.iter().map(|&slot| jobs[slot].comes_ns).min() {
                Some(next_ns) => now_ns = next_ns,
                None => return latest,
            }
            continue;
        };
        now_ns += poll_ns;
        policy.time_passed(poll_ns);
        if slot == endless {
            if to_come.is_empty() && left.iter().all(|&left| left == 0) {
                return latest;
            }
            yielded = Some(slot);
            continue;
        }
        left[slot] -= 1;
        if left[slot] > 0 {
            yielded = Some(slot);
        } else {
            latest = latest.max(now_ns.cast_signed() - jobs[slot].deadline_ns.cast_signed());
        }
    }
}

/// All sets of three of these jobs, one or more of them the same or not.
fn sets_of_three(jobs: &[Job]) -> impl Iterator<Item = [Job; 3]> {
    let all = 0..jobs.len();
    let pairs = all.flat_map(|first| (first..jobs.len()).map(move |second| (first, second)));
    pairs
        .flat_map(|(first, second)| (second..jobs.len()).map(move |third| [first, second, third]))
        .map(|set| set.map(|n| jobs[n]))
}

fn jobs(comes: core::ops::Range<u64>, polls: u64, within: &[u64]) -> Vec<Job> {
    let with_polls = |comes_ns| (1..=polls).map(move |polls| (comes_ns, polls));
    let due = |(comes_ns, polls)| move |within| Job { comes_ns, polls, deadline_ns: comes_ns + within };
    comes.flat_map(with_polls).flat_map(|job| within.iter().copied().map(due(job))).collect()
}

fn strict() -> Deadline {
    Deadline::new().with_fair_turns(FairTurns::NEVER)
}

/// The most that any set is late which can be met at that speed, and how many there were.
fn worst(jobs: &[Job], poll_ns: u64, policy: &Deadline, speed: (u64, u64), background: bool) -> (i64, u32) {
    let can = sets_of_three(jobs).filter(|set| can_be_met(set, poll_ns, speed));
    let late = can.map(|set| lateness_ns(policy.clone(), &set, poll_ns, background));
    late.fold((i64::MIN, 0), |(worst, sets), late| (worst.max(late), sets + 1))
}

#[test]
fn what_comes_between_polls_is_done_in_time_wherever_it_can_be() {
    let jobs = jobs(0..4, 3, &[1, 2, 3, 4, 6, 9]);
    let (late, sets) = worst(&jobs, 1, &strict(), (1, 1), false);
    assert!(late == 0 && sets > 5_000, "{late} ns in {sets} sets");
    let fifo = sets_of_three(&jobs).filter(|set| can_be_met(set, 1, (1, 1)));
    let missed = fifo.filter(|set| lateness_ns(RunnableFifo::new(), set, 1, false) > 0).count();
    assert!(missed > 500, "{missed}: in another order they are not");
}

#[test]
fn what_comes_within_a_poll_is_late_by_less_than_that_poll() {
    const POLL_NS: u64 = 3;
    let jobs = jobs(0..6, 2, &[3, 4, 5, 7, 9, 12]);
    let (late, sets) = worst(&jobs, POLL_NS, &strict(), (1, 1), false);
    assert!(late == POLL_NS as i64 - 1 && sets > 5_000, "{late} ns in {sets} sets");
}

#[test]
fn periodic_tasks_are_met_up_to_a_load_of_one() {
    let kinds: Vec<(u64, u64)> =
        (2..=6).flat_map(|period| (1..=period).map(move |polls| (polls, period))).collect();
    let mut full = 0;
    for (n, first) in kinds.iter().enumerate() {
        for (m, second) in kinds.iter().enumerate().skip(n) {
            for third in &kinds[m..] {
                let tasks = [first, second, third];
                let load: u64 = tasks.iter().map(|(polls, period)| polls * 60 / period).sum();
                if load > 60 {
                    continue;
                }
                full += u32::from(load == 60);
                let releases = |&&(polls, period): &&(u64, u64)| {
                    let job = move |n| Job { comes_ns: n * period, polls, deadline_ns: (n + 1) * period };
                    (0..60 / period).map(job)
                };
                let jobs: Vec<Job> = tasks.iter().flat_map(releases).collect();
                let late = lateness_ns(strict(), &jobs, 1, false);
                assert!(late <= 0, "{late} ns late: {tasks:?}");
            }
        }
    }
    assert!(full > 10, "{full} sets that leave no time at all");
}

#[test]
fn fair_turns_cost_what_they_are_said_to() {
    const EVERY: u64 = 4;
    let turns = every(EVERY as u32);
    let policy = Deadline::new().with_fair_turns(turns);
    for (poll_ns, jobs, latest) in
        [(1, jobs(0..4, 3, &[2, 3, 4, 6, 9]), 0), (3, jobs(0..9, 3, &[4, 12, 24]), 4)]
    {
        let (late, sets) = worst(&jobs, poll_ns, &policy, (EVERY - 1, EVERY), true);
        assert!(late == latest && late < 2 * poll_ns as i64 && sets > 1_000, "{late} ns in {sets} sets");
    }
}
