//! Promise 16: a queue that always has work gets what it is owed, whatever the others do.
//!
//! An adversary searches for what the others can do to one queue, the victim: programs of moves that are made over and over,
//! on the executor, through its public API, on a clock that only tasks and the future that is run move. How far the victim falls
//! short of its part of the thread, in any stretch of time, is divided by the bound of docs/BOUNDS.md. The search climbs from
//! programs that people thought of, and from random ones.

mod accounts;
mod known;
mod program;
mod scene;

use clockworker_testing::climb::climb;
use clockworker_testing::effort::each_seed;
use fastrand::Rng;

use accounts::Outcome;
use program::Program;

use super::Reached;

#[test]
fn no_program_takes_more_than_the_bound_from_a_queue_of_the_executor() {
    let known = known::known();
    let mut search = Search { worst: None, programs: 0 };
    known.iter().for_each(|program| search.examine(program.clone()));
    each_seed(2, 1_000, |seed| {
        let mut rng = Rng::with_seed(seed);
        let start = match seed as usize {
            even if even.is_multiple_of(2) => known[even / 2 % known.len()].clone(),
            _ => Program::draw(&mut rng),
        };
        search.climb(start, &mut rng);
    });
    let worst = search.worst.expect("programs were played");
    let shortfall = Reached::default();
    shortfall.note(worst.ratio());
    println!("{} programs; greatest shortfall / bound {shortfall}", search.programs);
    shortfall.assert_near(0.1);
}

/// Moves and polls of a program while it is tried.
const TRIAL: u64 = 4_000;

/// And where a climb ended: what grows slowly shows then.
const EXAM: u64 = 40 * TRIAL;

/// A climb is given up where so many changes have not brought it up by as much.
const TRIES: usize = 400;
const STEP: f64 = 0.01;

/// What growth counts, next to the shortfall: what grows without a bound is the real find.
const WEIGHT_OF_GROWTH: f64 = 20.0;

/// What a move or a poll of a cycle counts against it: of two that are as bad the shorter is tried sooner.
const WEIGHT_OF_LENGTH: f64 = 1e-6;

/// How far the executor's counts of service may be from the truth, in parts of all service: errors of floating point.
const MOST_MISBILLED: f64 = 1e-9;

struct Search {
    worst: Option<Trial>,
    programs: u64,
}

impl Search {
    fn climb(&mut self, start: Program, rng: &mut Rng) {
        let aim = rng.usize(..3);
        let (mut top, mut height) = (start, f64::NEG_INFINITY);
        loop {
            let score = |program: &Program| {
                let trial = Trial::of(program.clone(), TRIAL);
                self.note(&trial);
                trial.height(aim)
            };
            let (higher, reached) = climb(top, TRIES, |program| program.mutated(rng), score);
            top = higher;
            if reached <= height + STEP {
                break;
            }
            height = reached;
        }
        self.examine(top);
    }

    /// Plays a program at length. The bound must have been kept until then.
    fn examine(&mut self, program: Program) {
        self.note(&Trial::at_length(program));
        if let Some(worst) = self.worst.as_ref().filter(|worst| worst.ratio() > 1.0) {
            let (ratio, growth) = (worst.ratio(), worst.growth());
            panic!(
                "{ratio} times the bound, and each third of its service adds {growth}:\n{}",
                worst.program
            );
        }
    }

    fn note(&mut self, trial: &Trial) {
        self.programs += 1;
        let misbilled = trial.outcome.misbilled;
        assert!(
            misbilled <= MOST_MISBILLED,
            "`busy` is off by {misbilled} of all service:\n{}",
            trial.program
        );
        if self.worst.as_ref().is_none_or(|worst| trial.rank() > worst.rank()) {
            self.worst = Some(trial.clone());
        }
    }
}

/// A program, and what came of it.
#[derive(Clone)]
struct Trial {
    program: Program,
    outcome: Outcome,
}

impl Trial {
    fn of(program: Program, operations: u64) -> Self {
        let outcome = scene::play(&program, operations);
        Trial { program, outcome }
    }

    /// Plays it for longer too; what it came to is the worse of both.
    fn at_length(program: Program) -> Self {
        let [short, long] = [TRIAL, EXAM].map(|operations| Self::of(program.clone(), operations));
        if long.rank() >= short.rank() { long } else { short }
    }

    fn ratio(&self) -> f64 {
        self.outcome.ratios[2]
    }

    /// What each further third of the service adds to it, at least. What comes once and late is no growth.
    fn growth(&self) -> f64 {
        let [first, second, third] = self.outcome.ratios;
        (second - first).min(third - second)
    }

    /// Which of two is the worse: one that breaks the bound, and then the one that climbed higher; or else the one that is
    /// nearer to it.
    fn rank(&self) -> (bool, f64) {
        let is_broken = self.ratio() > 1.0;
        (is_broken, if is_broken { self.height(0) } else { self.ratio() })
    }

    /// How far a climb has come that goes up by that one of [`Outcome::beyond`]. All three are above 1 where the bound is
    /// broken, and nowhere else; below that, the victim's own slice is the easiest part of the bound to reach, and what
    /// sleepers keep is the hardest.
    fn height(&self, aim: usize) -> f64 {
        let outcome = &self.outcome;
        let length = outcome.operations as f64 / outcome.cycles.max(1) as f64;
        outcome.beyond[aim] + WEIGHT_OF_GROWTH * self.growth() - WEIGHT_OF_LENGTH * length
    }
}
