//! What a timeline's jobs were, and that they go again as they went.

use clockworker::yield_now;
use clockworker_observe::PollOutcome::Pending;
use clockworker_observe::Workload;
use clockworker_observe::{Observe, Timeline, WokenBy};
use clockworker_schedulers::Share;
use clockworker_schedulers::simulate::{Done, Policy};
use proptest::prelude::*;

use crate::support::{HEAVY, Script, everything, executor, run, us};

fn workload(tasks: &[(bool, u64, u32)]) -> Workload {
    Workload::of(&run(everything(), tasks).1)
}

fn replay(workload: &Workload, policy: &str) -> Vec<Done> {
    let policy = Policy::named(policy).unwrap();
    let mut done = Vec::new();
    workload.replay(|_| policy.make(), |job| done.push(job)).unwrap();
    done
}

fn sorted(done: &[Done]) -> Vec<(u64, u64, usize)> {
    let mut done: Vec<_> =
        done.iter().map(|done| (done.finished_ns, done.job.service_ns, done.job.queue)).collect();
    done.sort();
    done
}

proptest! {
    /// The simulator and the executor are held to the same nanosecond, so a timeline that is complete is too.
    #[test]
    fn the_same_policy_gives_the_same_times(
        tasks in proptest::collection::vec((any::<bool>(), 1_u64..300, 1_u32..8), 1..20),
    ) {
        let workload = workload(&tasks);
        prop_assert_eq!(workload.measured().len(), tasks.len());
        prop_assert_eq!(sorted(&replay(&workload, "woken")), sorted(workload.measured()));
    }
}

#[test]
fn another_policy_and_another_share_give_other_times() {
    // A long task and a short one, and the other queue's. By attained service, the short one's polls come one after the other.
    let mut workload = workload(&[(false, 200, 4), (false, 100, 2), (true, 100, 4)]);
    let ends = |done: &[Done]| {
        let end_of = |us: u64| done.iter().find(|done| done.job.service_ns == us * 1_000);
        [800, 200, 400].map(|us| end_of(us).unwrap().finished_ns / 1_000)
    };
    assert_eq!(ends(workload.measured()), [1_400, 1_000, 600]);
    assert_eq!(ends(&replay(&workload, "woken")), [1_400, 1_000, 600]);
    assert_eq!(ends(&replay(&workload, "las")), [1_400, 800, 600]);
    assert_eq!(workload.set_share("default", Share::new(300).unwrap()), 1);
    assert_eq!(workload.set_share("nobody", Share::new(1).unwrap()), 0);
    assert_eq!(ends(&replay(&workload, "las")), [1_100, 500, 1_400]);
}

#[test]
fn a_task_that_waits_is_several_jobs_of_one_group() {
    let (ex, clock) = executor(everything());
    let (sender, mut receiver) = futures::channel::mpsc::unbounded::<u64>();
    let work = clock.clone();
    ex.spawn(async move {
        while let Some(took) = futures::StreamExt::next(&mut receiver).await {
            work.advance(us(took));
        }
    });
    ex.block_on(async {
        for took in [5, 7] {
            // It waits by now.
            yield_now().await;
            clock.advance(us(100));
            sender.unbounded_send(took).unwrap();
        }
        drop(sender);
        ex.drained().await;
    });
    let workload = Workload::of(&ex.timeline());
    let jobs = workload.measured().iter().map(|done| done.job);
    let jobs: Vec<_> = jobs.map(|job| (job.at_ns / 1_000, job.service_ns / 1_000, job.group)).collect();
    assert_eq!(jobs, [(100, 5, Some(0)), (205, 7, Some(0))]);
}

#[test]
fn it_is_written_as_a_trace() {
    let mut csv = Vec::new();
    workload(&[(false, 100, 2), (true, 50, 1)]).write_csv(&mut csv).unwrap();
    let expected = "\
# clockworker-simulate --queues 'default:1:500000ns,other:3:100000ns' --trace …
arrival,service,queue,group,polls,response
0,200000,default,0,100000 100000,250000
0,50000,other,1,50000,50000
150000,0,(host),,,
250000,0,(host),,,
";
    assert_eq!(String::from_utf8(csv).unwrap(), expected);
    assert_eq!(replay(&Workload::of(&Timeline::default()), "fifo"), [], "nothing is no work");
}

/// The ring was cut in a slice: that it polled the task is gone.
#[test]
fn a_task_whose_poll_is_cut_off_comes_when_it_is_woken_again() {
    let task = (HEAVY, 0);
    let woken = Script::default().ready(1, task, WokenBy::Local).ready(10_000, task, WokenBy::Local);
    let workload = Workload::of(&woken.began(10_001, HEAVY, 1).polled(10_001, task, 5, Pending).timeline());
    let jobs: Vec<_> = workload.measured().iter().map(|done| (done.job.at_ns, done.wait_ns())).collect();
    assert_eq!(jobs, [(10_000_000, 1_000)]);
}
