//! What policies promise of how long a ready task is passed over.

use std::num::NonZeroU32;

use clockworker_schedulers::{
    ArrivalFifo, Deadline, FairGroups, FairTurns, Las, Priority, Qlas, Ready, RunnableFifo, Scheduler, Serpt,
    Task, TaskId, WokenFirst,
};

/// What everybody is granted besides the bound on waiting.
const SLACK: u64 = 65_536;

/// What the policies with such fair turns promise for so many tasks: ArrivalFifo, LAS, QLAS, SERPT.
fn promises(fair_turns: &FairTurns, tasks: usize) -> [Option<u64>; 4] {
    let turns = || fair_turns.clone();
    [
        ArrivalFifo::new().with_fair_turns(turns()).patience(tasks),
        Las::new().with_fair_turns(turns()).patience(tasks),
        Qlas::new().with_fair_turns(turns()).patience(tasks),
        Serpt::new().with_fair_turns(turns()).patience(tasks),
    ]
}

/// The bounds on waiting that their documentation gives.
#[test]
fn the_bound_of_each_policy_is_within_its_patience() {
    for (every, turns) in
        [(32, FairTurns::default()), (1_000, FairTurns::every(NonZeroU32::new(1_000).unwrap()))]
    {
        for tasks in [1_u64, 10, 1_000] {
            // Fair turns until it is popped. ArrivalFifo hears of no service, so for it each comes after N pops; for the
            // others after 2¹⁸·N at most, and the first after as many.
            let [arrival_turns, las_turns] = [2, tasks].map(|per_task| per_task * tasks);
            let [qlas_turns, serpt_turns] = [tasks, tasks + 1].map(|places| 64 * 64 * places);
            let pops = |turns: u64| SLACK + (every << 18) * (turns + 1);
            let of = usize::try_from(tasks).unwrap();
            let [arrival, las, qlas, serpt] = promises(&turns, of).map(Option::unwrap);
            assert_eq!(arrival, SLACK + every * arrival_turns);
            assert_eq!([las, qlas, serpt], [las_turns, qlas_turns, serpt_turns].map(pops));
            assert_eq!(RunnableFifo::new().patience(of), Some(SLACK + tasks));
            assert_eq!(WokenFirst::new().patience(of), Some(SLACK + 32 * tasks));
            let priority = Priority::new().with_fair_turns(turns.clone());
            assert_eq!(priority.patience(of), Some(SLACK + 1_024 * every * tasks));
            assert_eq!(Deadline::new().patience(of), None);
        }
    }
}

#[test]
fn without_fair_turns_nothing_is_promised() {
    assert_eq!(promises(&FairTurns::NEVER, 3), [None; 4]);
    assert_eq!(Priority::new().with_fair_turns(FairTurns::NEVER).patience(3), None);
}

/// The highest slot first: whoever wrote it has never heard of patience.
#[derive(Default)]
struct Strict(std::collections::BinaryHeap<TaskId>);

impl Scheduler for Strict {
    fn push(&mut self, task: Task, _why: Ready) {
        self.0.push(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
}

#[test]
fn unless_a_scheduler_says_otherwise_nothing_is_promised() {
    assert_eq!(Strict::default().patience(1_000), None);
}

#[test]
fn no_number_of_tasks_is_too_large() {
    let most = usize::MAX;
    assert_eq!(promises(&FairTurns::default(), most), [Some(u64::MAX); 4]);
    assert_eq!(
        [
            RunnableFifo::new().patience(most),
            WokenFirst::new().patience(most),
            FairGroups::new().patience(most)
        ],
        [Some(u64::MAX); 3]
    );
    assert_eq!(Priority::new().patience(most), Some(u64::MAX));
}
