//! A search for the program of tenants that takes most from one which always works: it climbs, as random draws find nothing.

use clockworker_schedulers::FairGroups;
use clockworker_testing::climb::climb;
use fastrand::Rng;

use super::super::world::{End, Fault, Group, World, pick};

const QUANTUM_NS: u64 = 500;
const LONGEST_POLL_NS: u64 = 1_000;

/// The longest turn.
const TURN_NS: f64 = (QUANTUM_NS + LONGEST_POLL_NS) as f64;

/// One of two polls, and more than a turn.
const BURST_NS: u64 = 2 * LONGEST_POLL_NS;

/// The tenant that is to get its share, by its key.
const VICTIM: u64 = 0;

/// Polls of a program.
const POLLS: usize = 160;

const WEIGHTS: [u32; 5] = [1, 2, 5, 30, 1_000];

/// How long polls of the victim take.
const VICTIMS_POLLS: [u64; 4] = [1, 40, QUANTUM_NS, LONGEST_POLL_NS];

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
    fn draw(random: &mut Rng) -> Self {
        let key = random.u64(1..=4);
        match random.u32(..12) {
            0 | 1 => Self::Join(key, pick(random, &WEIGHTS)),
            2 | 3 => Self::Wake(key),
            4 => Self::Change(key, pick(random, &WEIGHTS)),
            5 => Self::Rename,
            _ => {
                let length = pick(random, &[1, 40, QUANTUM_NS - 1, QUANTUM_NS, LONGEST_POLL_NS]);
                Self::Poll(length, pick(random, &[End::Yields, End::Sleeps, End::Finishes]))
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
    fn draw(random: &mut Rng) -> Self {
        let moves = (0..random.usize(2..12)).map(|_| Move::draw(random)).collect();
        let poll_ns = pick(random, &VICTIMS_POLLS);
        Self { weight: pick(random, &WEIGHTS), tasks: random.usize(1..=2), poll_ns, moves }
    }

    /// Another one that differs in a little.
    fn changed(&self, random: &mut Rng) -> Self {
        let mut changed = self.clone();
        let at = random.usize(..self.moves.len());
        match random.u32(..10) {
            0..3 => changed.moves[at] = Move::draw(random),
            3..6 => changed.moves.insert(at, Move::draw(random)),
            6 | 7 if self.moves.len() > 2 => _ = changed.moves.remove(at),
            8 => changed.weight = pick(random, &WEIGHTS),
            _ => changed.poll_ns = pick(random, &VICTIMS_POLLS),
        }
        changed
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

fn point(world: &World<FairGroups>) -> Point {
    let exists = |group: &&Group| group.is_open || world.policy.owes_ns(group.known_as) > 0;
    let existing: Vec<&Group> = world.groups.iter().filter(exists).collect();
    Point {
        passed_ns: world.passed_ns,
        received_ns: world.received_ns(VICTIM),
        weights: existing.iter().map(|group| group.weight).sum(),
        groups: existing.len(),
    }
}

/// Runs a program: how short the victim came in the worst stretch, in parts of the bound.
fn shortfall((fault, burst_ns): (Fault, u64), program: &Program) -> f64 {
    let mut world = World::new(FairGroups::new().with_quantum_ns(QUANTUM_NS).with_burst_ns(burst_ns));
    world.fault = fault;
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
    worst(&points, f64::from(program.weight), burst_ns as f64)
}

/// The worst of all stretches.
fn worst(points: &[Point], weight: f64, burst_ns: f64) -> f64 {
    let mut worst = f64::MIN;
    for (at, from) in points.iter().enumerate() {
        let (mut weights, mut groups) = (from.weights, from.groups);
        for to in &points[at + 1..] {
            (weights, groups) = (weights.max(to.weights), groups.max(to.groups));
            let share = weight / f64::from(weights);
            let due = share * (to.passed_ns - from.passed_ns) as f64;
            let bound = share * (groups - 1) as f64 * (TURN_NS + burst_ns) + (1.0 - share) * TURN_NS;
            if bound > 0.0 {
                worst = worst.max((due - (to.received_ns - from.received_ns) as f64) / bound);
            }
        }
    }
    worst
}

/// The best of some climbs.
fn search(fault: (Fault, u64), climbs: u64, steps: usize) -> (Program, f64) {
    let climbs = (0..climbs).map(|seed| {
        let mut random = Rng::with_seed(seed);
        let start = Program::draw(&mut random);
        climb(start, steps, |program| program.changed(&mut random), |program| shortfall(fault, program))
    });
    climbs.max_by(|(_, one), (_, other)| one.total_cmp(other)).unwrap()
}

#[test]
fn nothing_takes_more_than_the_bound_from_one_that_always_works() {
    for (burst_ns, climbs) in [(0, 12), (BURST_NS, 24)] {
        let (program, worst) = search((Fault::None, burst_ns), climbs, 150);
        assert!(worst <= 1.0, "burst {burst_ns}: short of {worst} bounds: {program:?}");
        assert!(worst > 0.5, "burst {burst_ns}: the search finds little: {worst}");
    }
}

#[test]
fn the_search_finds_what_forgets() {
    let (program, worst) = search((Fault::Forgets, 0), 12, 150);
    assert!(worst > 2.0, "{worst}: {program:?}");
}

#[test]
fn the_search_finds_who_is_charged_too_little() {
    let (program, worst) = search((Fault::HalfPrice, 0), 4, 100);
    assert!(worst > 2.0, "{worst}: {program:?}");
}
