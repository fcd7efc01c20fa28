//! [`Search`]: hill climbing from many starts, for the program with the greatest shortfall.
//!
//! Every second climb starts from a program that people thought of, the others from random ones. A step changes one thing or
//! some, and is taken if the program is at least as bad then. What a climb comes to depends on its seed alone.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::books::Outcome;
use super::program::{Move, Program};

/// Moves and polls of a program while it is tried.
const TRIAL: u64 = 4_000;

/// And where a climb ended: what grows slowly shows then.
const EXAM: u64 = 40 * TRIAL;

/// A climb is given up where so many changes have not brought it up by as much.
const PATIENCE: u32 = 400;
const STEP: f64 = 0.01;

/// What growth counts, next to the shortfall: what grows without a bound is the real find.
const WEIGHT_OF_GROWTH: f64 = 20.0;

/// What a move or a poll of a cycle counts against it: of two that are as bad the shorter is tried sooner.
const WEIGHT_OF_LENGTH: f64 = 1e-6;

/// How much of its height a program that breaks the bound must keep, to be shown in place of it.
const SIMPLER: f64 = 0.9;

#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// As many moves and polls: the same search each time.
    Operations(u64),
    Time(Duration),
}

pub(super) struct Search<M> {
    limit: Limit,
    started: Instant,
    first_seed: u64,
    known: Vec<Program<M>>,
    /// The worst program, and the seed of the climb that it was met in, if it was met in one.
    pub(super) worst: Option<(Trial<M>, Option<u64>)>,
    pub(super) programs: u64,
    pub(super) climbs: u64,
    /// Moves and polls.
    pub(super) operations: u64,
    /// Programs tried, and time passed, when the first that breaks the bound was found.
    pub(super) broken: Option<(u64, Duration)>,
    /// The greatest of each [`Outcome::beyond`] and [`Outcome::billing`].
    pub(super) beyond: [f64; 3],
    pub(super) billing: [f64; 2],
}

#[derive(Clone, Debug)]
pub(super) struct Trial<M> {
    pub(super) program: Program<M>,
    pub(super) outcome: Outcome,
}

impl<M: Move> Trial<M> {
    pub(super) fn of(program: Program<M>) -> anyhow::Result<Self> {
        let outcome = M::play(&program, TRIAL)?;
        Ok(Trial { program, outcome })
    }

    /// Tries a program for longer too; what it came to is the worse of both.
    pub(super) fn at_length(program: Program<M>) -> anyhow::Result<Self> {
        let short = Self::of(program)?;
        let outcome = M::play(&short.program, EXAM)?;
        let long = Trial { program: short.program.clone(), outcome };
        Ok(if long.rank() >= short.rank() { long } else { short })
    }

    /// Which of two is the worse: one that breaks the bound, and then the one that climbed higher; or else the one that is
    /// nearer to it.
    fn rank(&self) -> (bool, f64) {
        let outcome = &self.outcome;
        if outcome.is_broken() { (true, self.height(0)) } else { (false, outcome.ratio()) }
    }

    /// How far a climb has come that goes up by that one of [`Outcome::beyond`]. All three are above 1 where the bound is
    /// broken, and nowhere else; below that, the victim's own slice is the easiest part of the bound to reach, and what
    /// sleepers keep is the hardest.
    fn height(&self, aim: usize) -> f64 {
        let outcome = &self.outcome;
        let length = outcome.operations as f64 / outcome.cycles.max(1) as f64;
        outcome.beyond[aim] + WEIGHT_OF_GROWTH * outcome.growth() - WEIGHT_OF_LENGTH * length
    }

    /// It without whatever it is as bad without; one that breaks the bound, without whatever it is nearly as bad without.
    pub(super) fn simplified(mut self) -> anyhow::Result<Self> {
        let (broken, rank) = self.rank();
        let enough = (broken, if broken { SIMPLER * rank } else { rank });
        let mut way = 0;
        while let Some(program) = self.program.simpler(way) {
            let trial = Self::at_length(program)?;
            if trial.rank() >= enough { self = trial } else { way += 1 }
        }
        Ok(self)
    }
}

impl<M: Move> Program<M> {
    /// It without one of its moves or queues; there are so many ways.
    fn simpler(&self, way: usize) -> Option<Self> {
        let mut program = self.clone();
        if way < self.moves.len() {
            program.moves.remove(way);
            return Some(program);
        }
        let others = (0..self.queues.len()).filter(|&queue| queue != self.victim);
        let gone = others.rev().nth(way - self.moves.len())?;
        program.remove_queue(gone);
        (program.queues.len() > 1).then_some(program)
    }
}

impl<M: Move> Search<M> {
    /// One that starts from random programs, and from what people thought of.
    pub(super) fn new(limit: Limit, seed: u64, known: Vec<Program<M>>) -> Self {
        Search {
            limit,
            started: now(),
            first_seed: seed,
            known,
            worst: None,
            programs: 0,
            climbs: 0,
            operations: 0,
            broken: None,
            beyond: [0.0; 3],
            billing: [0.0; 2],
        }
    }

    /// Tries what people thought of, then climbs until the limit is reached; tells how far it is.
    pub(super) fn run(mut self, look: impl Fn(f64)) -> anyhow::Result<Self> {
        for program in self.known.clone() {
            self.note(&Trial::at_length(program)?, None);
        }
        while self.progress() < 1.0 {
            let seed = self.first_seed.wrapping_add(self.climbs);
            self.climbs += 1;
            self.climb(seed, &look)?;
        }
        Ok(self)
    }

    fn progress(&self) -> f64 {
        match self.limit {
            Limit::Operations(operations) => self.operations as f64 / operations.max(1) as f64,
            Limit::Time(time) => self.started.elapsed().as_secs_f64() / time.as_secs_f64(),
        }
    }

    fn climb(&mut self, seed: u64, look: &impl Fn(f64)) -> anyhow::Result<()> {
        let mut rng = Rng::with_seed(seed);
        let aim = rng.usize(..3);
        let start = match self.known.len() as u64 {
            known if known > 0 && !seed.is_multiple_of(2) => self.known[(seed / 2 % known) as usize].clone(),
            _ => Program::draw(&mut rng),
        };
        let mut best = self.try_out(start, seed)?;
        let mut below = f64::NEG_INFINITY;
        while best.height(aim) > below + STEP && self.progress() < 1.0 {
            below = best.height(aim);
            for _ in 0..PATIENCE {
                let next = self.try_out(best.program.mutated(&mut rng), seed)?;
                // What is as bad is taken too: it may lead elsewhere.
                if next.height(aim) >= best.height(aim) {
                    best = next;
                }
            }
            look(self.progress());
        }
        self.note(&Trial::at_length(best.program)?, Some(seed));
        Ok(())
    }

    fn try_out(&mut self, program: Program<M>, seed: u64) -> anyhow::Result<Trial<M>> {
        let trial = Trial::of(program)?;
        self.note(&trial, Some(seed));
        Ok(trial)
    }

    fn note(&mut self, trial: &Trial<M>, seed: Option<u64>) {
        self.programs += 1;
        self.operations += trial.outcome.operations;
        take_greatest(&mut self.beyond, trial.outcome.beyond);
        take_greatest(&mut self.billing, trial.outcome.billing);
        if trial.outcome.is_broken() && self.broken.is_none() {
            self.broken = Some((self.programs, self.started.elapsed()));
        }
        if self.worst.as_ref().is_none_or(|(worst, _)| trial.rank() > worst.rank()) {
            self.worst = Some((trial.clone(), seed));
        }
    }
}

fn take_greatest<const N: usize>(greatest: &mut [f64; N], other: [f64; N]) {
    for (greatest, other) in greatest.iter_mut().zip(other) {
        *greatest = greatest.max(other);
    }
}

#[allow(clippy::disallowed_methods, reason = "the time of a search is an option")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::super::eevdf::Act;
    use super::super::{executor, known};
    use super::*;

    fn search<M: Move>(known: &[Program<M>]) {
        let [one, other] = [(); 2].map(|()| {
            let search = Search::new(Limit::Operations(150_000), 7, known.to_vec());
            let found = search.run(|_| {}).unwrap();
            let (worst, seed) = found.worst.unwrap();
            (found.programs, found.climbs, worst.program, worst.outcome, seed)
        });
        assert!(one.3.served > 0 && one.3.ratio() > 0.0);
        assert_eq!(one, other);
    }

    #[test]
    fn a_search_finds_the_same_again() {
        search(&known::to_eevdf());
        search::<Act>(&[]);
    }

    #[test]
    fn a_search_of_programs_of_the_executor_finds_the_same_again() {
        search(&known::to_executor());
        search::<executor::Act>(&[]);
    }

    #[test]
    fn climbing_leads_up_from_where_it_starts() {
        for seed in [2, 4, 6, 8] {
            let found = Search::<Act>::new(Limit::Operations(400_000), seed, Vec::new()).run(|_| {}).unwrap();
            let mut rng = Rng::with_seed(seed);
            let _aim = rng.usize(..3);
            let start = Trial::<Act>::of(Program::draw(&mut rng)).unwrap().outcome.ratio();
            let (worst, _) = found.worst.unwrap();
            assert!(
                worst.outcome.ratio() > 1.5 * start,
                "seed {seed}: {} from {start}",
                worst.outcome.ratio()
            );
        }
    }

    #[test]
    fn what_adds_nothing_is_left_out() {
        let serve = Act::Serve { polls: 100, of: None };
        let moves = [Act::Sleep(2), Act::Wake(1), serve, Act::Sleep(2)];
        let program = Program::of(&[(1, 500, 20); 3], &moves);
        let simple = Trial::at_length(program).unwrap().simplified().unwrap();
        assert_eq!(simple.program, Program::of(&[(1, 500, 20); 2], &[Act::Wake(1), serve]));
    }
}
