//! Random programs, and random changes of programs.

use fastrand::Rng;

use super::program::{Cast, Move, Program, Shape};
use crate::cases::log_uniform;

/// The most moves of a program that the search makes: what goes wrong does so in few.
const MOST_MOVES: usize = 32;

/// The most queues.
const MOST_QUEUES: usize = 10;

/// A time of a poll or a request, in nanoseconds.
pub(super) fn time(rng: &mut Rng) -> u64 {
    log_uniform(rng, 100, 2_000_000)
}

/// Shares beyond these are rounded: `Eevdf` charges up to a millionth too little.
pub(super) fn share(rng: &mut Rng) -> u32 {
    log_uniform(rng, 1, 1_000) as u32
}

/// A number of polls.
pub(super) fn count(rng: &mut Rng) -> u32 {
    log_uniform(rng, 1, 100) as u32
}

/// Another number, near to it or far.
pub(super) fn vary_count(value: &mut u32, rng: &mut Rng) {
    let mut wide = u64::from(*value);
    vary(&mut wide, 1, 100, rng);
    *value = wide as u32;
}

/// Another time, near to it or far.
pub(super) fn vary_time(value: &mut u64, rng: &mut Rng) {
    vary(value, 100, 2_000_000, rng);
}

/// Another share, near to it or far.
pub(super) fn vary_share(value: &mut u32, rng: &mut Rng) {
    let mut wide = u64::from(*value);
    vary(&mut wide, 1, 1_000, rng);
    *value = wide as u32;
}

fn vary(value: &mut u64, least: u64, most: u64, rng: &mut Rng) {
    let changed = match rng.u8(..6) {
        0 => log_uniform(rng, least, most),
        1 => *value / 2,
        2 => *value * 2,
        3 => value.saturating_sub(1),
        4 => *value + 1,
        _ => (*value as f64 * (0.8 + 0.4 * rng.f64())) as u64,
    };
    *value = changed.clamp(least, most);
}

impl Shape {
    fn draw(rng: &mut Rng) -> Self {
        let poll = time(rng);
        let other = if rng.u8(..4) == 0 { time(rng) } else { poll };
        Shape { share: share(rng), request: time(rng), polls: [poll, other] }
    }

    fn vary(&mut self, rng: &mut Rng) {
        match rng.u8(..4) {
            0 => vary_share(&mut self.share, rng),
            1 => vary_time(&mut self.request, rng),
            2 => {
                vary_time(&mut self.polls[0], rng);
                self.polls[1] = self.polls[0];
            }
            _ => vary_time(&mut self.polls[rng.usize(..2)], rng),
        }
    }
}

impl<M: Move> Program<M> {
    /// A random one.
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let cast = Cast { queues: rng.usize(2..=5), victim: 0 };
        let cast = Cast { victim: cast.anyone(rng), ..cast };
        let (alike, model) = (rng.bool(), Shape::draw(rng));
        let queues = (0..cast.queues).map(|_| match Shape::draw(rng) {
            shape if alike => Shape { share: shape.share, ..model },
            shape => shape,
        });
        let (queues, moves) = (queues.collect(), rng.usize(2..=10));
        Program { queues, victim: cast.victim, moves: (0..moves).map(|_| M::draw(rng, cast)).collect() }
    }

    /// It, with one thing or some changed.
    pub(super) fn mutated(&self, rng: &mut Rng) -> Self {
        let mut program = self.clone();
        program.mutate(rng);
        while rng.bool() {
            program.mutate(rng);
        }
        program.moves.truncate(MOST_MOVES);
        let moves = std::mem::take(&mut program.moves);
        program.moves = moves.into_iter().filter(|make| program.allows(make)).collect();
        program
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let (queue, count) = (self.cast().anyone(rng), self.moves.len());
        // Not used where there are no moves.
        let at = rng.usize(..count.max(1));
        match rng.u8(..20) {
            0..=3 => self.moves.insert(rng.usize(..=count), M::draw(rng, self.cast())),
            4..=5 => self.double(rng),
            6..=15 if count == 0 => {}
            6..=7 => drop(self.moves.remove(at)),
            8..=9 => self.moves.swap(at, rng.usize(..count)),
            10..=14 => self.moves[at].vary(rng),
            15 => self.redirect(rng),
            16..=18 => self.queues[queue].vary(rng),
            _ => self.change_cast(rng),
        }
    }

    /// Does some moves in a row once more, there or elsewhere.
    fn double(&mut self, rng: &mut Rng) {
        let from = rng.usize(..=self.moves.len());
        let to = (from + rng.usize(1..=4)).min(self.moves.len());
        let (copy, at) = (self.moves[from..to].to_vec(), rng.usize(..=self.moves.len()));
        self.moves.splice(at..at, copy);
    }

    /// Does a move to another queue.
    fn redirect(&mut self, rng: &mut Rng) {
        let (cast, at) = (self.cast(), rng.usize(..self.moves.len()));
        if let Some(queue) = self.moves[at].queue_mut() {
            *queue = cast.anyone(rng);
        }
    }

    /// One queue more or less, or another order, or another victim.
    fn change_cast(&mut self, rng: &mut Rng) {
        let queue = self.cast().anyone(rng);
        match rng.u8(..4) {
            0 if self.queues.len() < MOST_QUEUES => self.queues.push(self.queues[queue]),
            1 if self.queues.len() > 2 && queue != self.victim => self.remove_queue(queue),
            2 => {
                self.queues.swap(queue, self.victim);
                self.rename(queue, self.victim);
                self.victim = queue;
            }
            _ => self.victim = queue,
        }
    }

    /// Takes a queue out, and the moves about it. It must not be the victim.
    pub(super) fn remove_queue(&mut self, gone: usize) {
        self.queues.remove(gone);
        self.victim -= usize::from(self.victim > gone);
        self.moves.retain_mut(|make| make.queue_mut().is_none_or(|queue| *queue != gone));
        for queue in self.moves.iter_mut().filter_map(Move::queue_mut) {
            *queue -= usize::from(*queue > gone);
        }
    }

    /// What was done to one is done to the other.
    fn rename(&mut self, one: usize, other: usize) {
        for queue in self.moves.iter_mut().filter_map(Move::queue_mut) {
            *queue = match *queue {
                queue if queue == one => other,
                queue if queue == other => one,
                queue => queue,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{eevdf, executor};
    use super::*;

    /// Whatever is drawn can be written, read, and is allowed.
    fn draws<M: Move>() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..100 {
            let mut program: Program<M> = Program::draw(&mut rng);
            for _ in 0..50 {
                let text = serde_json::from_str(&program.to_string()).unwrap();
                assert_eq!(Program::read(text).unwrap(), program);
                program = program.mutated(&mut rng);
            }
        }
    }

    #[test]
    fn programs_stay_programs_whatever_is_changed() {
        draws::<eevdf::Act>();
        draws::<executor::Act>();
    }

    #[test]
    fn queues_keep_their_moves_when_another_goes() {
        let moves = [eevdf::Act::Wake(1), eevdf::Act::Wake(3), eevdf::Act::Serve { polls: 1, of: Some(2) }];
        let mut program = Program::of(&[(1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1)], &moves);
        program.victim = 2;
        program.remove_queue(1);
        assert_eq!(program.queues.iter().map(|queue| queue.share).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(program.victim, 1);
        assert_eq!(program.moves, [eevdf::Act::Wake(2), eevdf::Act::Serve { polls: 1, of: Some(1) }]);
    }
}
