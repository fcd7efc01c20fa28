//! A search for the program of tenants that takes most from one which always works: it climbs, as random draws find nothing.

use clockworker_schedulers::{Attributes, FairGroups, GroupId, Ready, Scheduler, Task, TaskId};

use super::world::{End, Random, World};

const QUANTUM_NS: u64 = 500;
const LONGEST_POLL_NS: u64 = 1_000;

/// The longest turn.
const TURN_NS: f64 = (QUANTUM_NS + LONGEST_POLL_NS) as f64;

/// The tenant that is to get its share, by its key.
const VICTIM: u64 = 0;

/// Polls of a program.
const POLLS: usize = 160;

const WEIGHTS: [u32; 5] = [1, 2, 5, 30, 1_000];

/// A step of the other tenants, or of the one of them that is polled next.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// A poll; if it is not the victim's, it takes so long and ends so.
    Poll(u64, End),
    /// Opens a tenant's group where it is closed, and spawns a task.
    Join(u64, u32),
    Wake(u64),
    Change(u64, u32),
    /// The next tenant to join does so under a key that never was.
    Rename,
}

impl Move {
    fn draw(random: &mut Random) -> Self {
        let key = 1 + random.below(4);
        match random.below(12) {
            0 | 1 => Self::Join(key, random.pick(&WEIGHTS)),
            2 | 3 => Self::Wake(key),
            4 => Self::Change(key, random.pick(&WEIGHTS)),
            5 => Self::Rename,
            _ => {
                let length = random.pick(&[1, 40, QUANTUM_NS - 1, QUANTUM_NS, LONGEST_POLL_NS]);
                Self::Poll(length, random.pick(&[End::Yields, End::Sleeps, End::Finishes]))
            }
        }
    }
}

/// What is done round and round, and to whom.
#[derive(Clone, Debug)]
struct Program {
    weight: u32,
    tasks: usize,
    poll_ns: u64,
    moves: Vec<Move>,
}

impl Program {
    fn draw(random: &mut Random) -> Self {
        let moves = (0..2 + random.below(10)).map(|_| Move::draw(random)).collect();
        let poll_ns = random.pick(&[1, 40, QUANTUM_NS, LONGEST_POLL_NS]);
        Self { weight: random.pick(&WEIGHTS), tasks: 1 + random.below(2) as usize, poll_ns, moves }
    }

    /// Another one that differs in a little.
    fn changed(&self, random: &mut Random) -> Self {
        let mut changed = self.clone();
        let at = random.below(self.moves.len() as u64) as usize;
        match random.below(10) {
            0..3 => changed.moves[at] = Move::draw(random),
            3..6 => changed.moves.insert(at, Move::draw(random)),
            6 | 7 if self.moves.len() > 2 => _ = changed.moves.remove(at),
            8 => changed.weight = random.pick(&WEIGHTS),
            _ => changed.poll_ns = random.pick(&[1, 40, QUANTUM_NS, LONGEST_POLL_NS]),
        }
        changed
    }
}

/// A policy that says what a group, or the one that had its index, owes.
trait Owing: Scheduler {
    fn owes_ns(&self, index: u32) -> u64;
}

impl Owing for FairGroups {
    fn owes_ns(&self, index: u32) -> u64 {
        self.owes_ns(GroupId::new(index))
    }
}

/// What went to queues and to the victim by now, and who exists.
#[derive(Clone, Copy)]
struct Point {
    passed_ns: u64,
    received_ns: u64,
    /// The sum of the weights of all groups that exist, and how many.
    weights: u32,
    groups: usize,
}

fn point<S: Owing>(world: &World<S>) -> Point {
    let exists = |index: &usize| {
        let is_open = !world.free.contains(&(*index as u32));
        is_open || world.policy.owes_ns(*index as u32) > 0
    };
    let existing: Vec<usize> = (0..world.weights.len()).filter(exists).collect();
    Point {
        passed_ns: world.passed_ns,
        received_ns: world.received_ns(VICTIM),
        weights: existing.iter().map(|&index| world.weights[index]).sum(),
        groups: existing.len(),
    }
}

/// Runs a program: how short the victim came in the worst stretch, in parts of the bound.
fn shortfall<S: Owing>(policy: S, program: &Program) -> f64 {
    let mut world = World::new(policy);
    world.join(VICTIM, program.weight, program.tasks);
    let (mut points, mut renamed) = (vec![point(&world)], 0);
    // A program without polls ends as well.
    for &step in program.moves.iter().cycle().take(20 * POLLS) {
        match step {
            Move::Join(key, weight) => world.join(key + renamed, weight, 1),
            Move::Wake(key) => _ = world.wake(key + renamed),
            Move::Change(key, weight) => world.change(key + renamed, weight),
            Move::Rename => renamed += 10,
            Move::Poll(ns, end) => {
                world.poll(|key| if key == VICTIM { (program.poll_ns, End::Yields) } else { (ns, end) });
                points.push(point(&world));
            }
        }
        if points.len() > POLLS {
            break;
        }
    }
    worst(&points, f64::from(program.weight))
}

/// The worst of all stretches.
fn worst(points: &[Point], weight: f64) -> f64 {
    let mut worst = f64::MIN;
    for (at, from) in points.iter().enumerate() {
        let (mut weights, mut groups) = (from.weights, from.groups);
        for to in &points[at + 1..] {
            (weights, groups) = (weights.max(to.weights), groups.max(to.groups));
            let share = weight / f64::from(weights);
            let due = share * (to.passed_ns - from.passed_ns) as f64;
            let bound = (share * (groups - 1) as f64 + 1.0 - share) * TURN_NS;
            if bound > 0.0 {
                worst = worst.max((due - (to.received_ns - from.received_ns) as f64) / bound);
            }
        }
    }
    worst
}

/// The best of some climbs, and its program.
fn search<S: Owing>(make: impl Fn() -> S, climbs: u64, steps: usize) -> (f64, Program) {
    let mut best: Option<(f64, Program)> = None;
    for seed in 0..climbs {
        let mut random = Random(seed);
        let mut program = Program::draw(&mut random);
        let mut reached = shortfall(make(), &program);
        for _ in 0..steps {
            let changed = program.changed(&mut random);
            let short = shortfall(make(), &changed);
            if short >= reached {
                (reached, program) = (short, changed);
            }
        }
        if best.as_ref().is_none_or(|best| reached > best.0) {
            best = Some((reached, program));
        }
    }
    best.unwrap()
}

fn fair() -> FairGroups {
    FairGroups::new().with_quantum_ns(QUANTUM_NS)
}

#[test]
fn nothing_takes_more_than_the_bound_from_one_that_always_works() {
    let (worst, program) = search(fair, 12, 150);
    assert!(worst <= 1.0, "short of {worst} bounds: {program:?}");
    assert!(worst > 0.5, "the search finds little: {worst}");
}

/// Gives each group an index that never was, and a key that never was: what closes is forgotten.
struct Forgetful {
    fair: FairGroups,
    /// By index, which index stands for it.
    fresh: Vec<u32>,
    next: u32,
}

impl Forgetful {
    fn task(&self, task: Task) -> Task {
        Task { group: GroupId::new(self.fresh[task.group.index()]), ..task }
    }
}

impl Owing for Forgetful {
    fn owes_ns(&self, index: u32) -> u64 {
        self.fair.owes_ns(GroupId::new(self.fresh[index as usize]))
    }
}

impl Scheduler for Forgetful {
    fn push(&mut self, task: Task, why: Ready) {
        self.fair.push(self.task(task), why);
    }
    fn pop(&mut self) -> Option<TaskId> {
        self.fair.pop()
    }
    fn served(&mut self, task: Task, service_ns: u64) {
        self.fair.served(self.task(task), service_ns);
    }
    fn group_opened(&mut self, group: GroupId, _key: u64, attributes: &Attributes) {
        self.fresh.resize(self.fresh.len().max(group.index() + 1), 0);
        self.fresh[group.index()] = self.next;
        self.fair.group_opened(GroupId::new(self.next), self.next.into(), attributes);
        self.next += 1;
    }
    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        self.fair.group_changed(GroupId::new(self.fresh[group.index()]), attributes);
    }
    fn group_closed(&mut self, group: GroupId) {
        self.fair.group_closed(GroupId::new(self.fresh[group.index()]));
    }
}

#[test]
fn the_search_finds_what_forgets() {
    let forgetful = || Forgetful { fair: fair(), fresh: Vec::new(), next: 0 };
    let (worst, program) = search(forgetful, 12, 150);
    assert!(worst > 2.0, "{worst}: {program:?}");
}

/// Charges all but the victim for half of what they receive.
struct HalfPrice(FairGroups);

impl Owing for HalfPrice {
    fn owes_ns(&self, index: u32) -> u64 {
        self.0.owes_ns(GroupId::new(index))
    }
}

impl Scheduler for HalfPrice {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }
    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
    fn served(&mut self, task: Task, service_ns: u64) {
        self.0.served(task, if task.group.index() == 0 { service_ns } else { service_ns / 2 });
    }
    fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        self.0.group_opened(group, key, attributes);
    }
    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        self.0.group_changed(group, attributes);
    }
    fn group_closed(&mut self, group: GroupId) {
        self.0.group_closed(group);
    }
}

#[test]
fn the_search_finds_who_is_charged_too_little() {
    let (worst, program) = search(|| HalfPrice(fair()), 4, 100);
    assert!(worst > 2.0, "{worst}: {program:?}");
}
