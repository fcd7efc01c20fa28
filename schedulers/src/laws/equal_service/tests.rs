//! The law must bite, and must let pass what is fair.

use std::collections::{BTreeMap, VecDeque};

use super::*;
use crate::{Attributes, FairTurns, GroupId, Las, Ready, Served, Subject, Task, TaskId};

/// Start-time fair queueing in the plainest way.
#[derive(Default)]
struct Plain {
    groups: BTreeMap<GroupId, (u64, VecDeque<TaskId>)>,
    /// The start of the poll under way.
    start: u64,
    /// What a group is placed at when it opens.
    fault: Fault,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    /// Groups come back where they would be, had they never had anything.
    Forgets,
    /// Polls count for nothing.
    CountsPolls,
}

impl Plain {
    fn with(fault: Fault) -> Self {
        Self { fault, ..Self::default() }
    }
}

impl Scheduler for Plain {
    fn push(&mut self, task: Task, _why: Ready) {
        let group = self.groups.entry(task.group).or_default();
        if group.1.is_empty() {
            group.0 = group.0.max(self.start);
        }
        group.1.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        let ready = self.groups.values_mut().filter(|group| !group.1.is_empty());
        match ready.min_by_key(|group| group.0) {
            Some(group) => {
                self.start = group.0;
                group.1.pop_front()
            }
            None => {
                self.start = self.groups.values().map(|group| group.0).max().unwrap_or(0);
                None
            }
        }
    }

    fn served(&mut self, served: Served, _now_ns: u64) {
        if let Served::Task { task, ns, .. } = served {
            let group = self.groups.entry(task.group).or_default();
            group.0 += if self.fault == Fault::CountsPolls { 1 } else { ns };
        }
    }

    fn said(&mut self, of: Subject, _attributes: &Attributes) {
        if let Subject::NewGroup { group, .. } = of
            && self.fault == Fault::Forgets
        {
            self.groups.remove(&group);
            self.start = 0;
        }
    }
}

#[test]
fn fair_queueing_is_equal_to_two_polls_from_the_start() {
    for (seed, others) in [(1, 0), (2, 3), (3, 8)] {
        let law =
            EqualService::new(Plain::default, 200_000).seed(seed).others(others).history_ns(1_000_000_000);
        let report = law.check().unwrap();
        assert!(report.contests == 72 && report.pops > 72 * 1_000, "{report:?}");
        assert_eq!(report.settled_after_ns, 0);
        assert!((100_000..=200_000).contains(&report.greatest_difference_ns), "{report:?}");
    }
}

#[test]
fn a_bound_that_is_too_tight_is_seen() {
    let caught = EqualService::new(Plain::default, 99_999).check().unwrap_err();
    assert_eq!((caught.history(), caught.difference_ns()), (History::None, 100_000));
}

#[test]
fn attained_service_for_life_is_seen() {
    let strict = || Las::new().without_half_life().with_fair_turns(FairTurns::NEVER);
    let law = EqualService::new(strict, 5_000_000).settles_within_ns(100_000_000);
    let caught = law.check().unwrap_err();
    assert_eq!((caught.history(), caught.tasks()), (History::Alone, [1, 1]));
    assert_eq!(law.seed(caught.seed()).check().unwrap_err(), caught);
}

#[test]
fn a_time_is_granted() {
    let strict = || Las::new().without_half_life().with_fair_turns(FairTurns::NEVER);
    let law = |within| EqualService::new(strict, 5_000_000).history_ns(50_000_000).settles_within_ns(within);
    let settled = law(60_000_000).check().unwrap().settled_after_ns;
    assert!((45_000_000..=60_000_000).contains(&settled), "{settled}");
    assert!(law(30_000_000).check().is_err());
}

#[test]
fn forgetting_is_seen() {
    assert!(EqualService::new(|| Plain::with(Fault::Forgets), 1_000_000).check().is_err());
}

#[test]
fn counting_polls_is_seen() {
    let caught = EqualService::new(|| Plain::with(Fault::CountsPolls), 1_000_000).check().unwrap_err();
    assert_eq!(caught.history(), History::None);
    assert!(
        caught.to_string().contains("history \"none\", 1 tasks against 1, polls [Short, Long]"),
        "{caught}"
    );
}
