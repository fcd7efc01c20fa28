//! Random programs, and random changes of programs.

use fastrand::Rng;

use super::program::{Field, Move, Program, Shape};
use crate::cases::log_uniform;

/// The most moves of a program that the search makes: what goes wrong does so in few.
const MOST_MOVES: usize = 32;

const MOST_QUEUES: usize = 10;

type Range = (u64, u64);

const POLLS: Range = (1, 100);

/// Shares beyond these are rounded: `Eevdf` charges up to a millionth too little.
const SHARES: Range = (1, 1_000);

/// Of a poll or a request, in nanoseconds.
const TIMES: Range = (100, 2_000_000);

pub(super) fn polls(rng: &mut Rng) -> u32 {
    log_uniform(rng, POLLS.0, POLLS.1) as u32
}

pub(super) fn share(rng: &mut Rng) -> u32 {
    log_uniform(rng, SHARES.0, SHARES.1) as u32
}

pub(super) fn time(rng: &mut Rng) -> u64 {
    log_uniform(rng, TIMES.0, TIMES.1)
}

fn varied(value: u64, (least, most): Range, rng: &mut Rng) -> u64 {
    let changed = match rng.u8(..6) {
        0 => log_uniform(rng, least, most),
        1 => value / 2,
        2 => value * 2,
        3 => value.saturating_sub(1),
        4 => value + 1,
        _ => (value as f64 * (0.8 + 0.4 * rng.f64())) as u64,
    };
    changed.clamp(least, most)
}

/// Changes one of a move's numbers: of two either.
pub(super) fn vary_a_number(make: &mut impl Move, rng: &mut Rng) {
    let mut numbers = make.fields();
    numbers.retain(|field| !matches!(field, Field::Queue(_)));
    let at = usize::from(numbers.len() > 1 && !rng.bool());
    numbers.get_mut(at).into_iter().for_each(|number| number.vary(rng));
}

impl Field<'_> {
    /// Another number; the same queue.
    pub(super) fn vary(&mut self, rng: &mut Rng) {
        match self {
            Field::Queue(_) => {}
            Field::Polls(polls) => **polls = varied(u64::from(**polls), POLLS, rng) as u32,
            Field::Share(share) => **share = varied(u64::from(**share), SHARES, rng) as u32,
            Field::Time(time) | Field::Pause(time) => **time = varied(**time, TIMES, rng),
        }
    }
}

impl Shape {
    fn draw(rng: &mut Rng) -> Self {
        let poll = time(rng);
        let other = if rng.u8(..4) == 0 { time(rng) } else { poll };
        Shape { share: share(rng), request: time(rng), polls: [poll, other] }
    }

    fn vary(&mut self, rng: &mut Rng) {
        match rng.u8(..4) {
            0 => Field::Share(&mut self.share).vary(rng),
            1 => Field::Time(&mut self.request).vary(rng),
            2 => self.polls = [varied(self.polls[0], TIMES, rng); 2],
            _ => Field::Time(&mut self.polls[rng.usize(..2)]).vary(rng),
        }
    }
}

impl<M: Move> Program<M> {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let count = rng.usize(2..=5);
        let victim = rng.usize(..count);
        let (alike, model) = (rng.bool(), Shape::draw(rng));
        let queues = (0..count).map(|_| match Shape::draw(rng) {
            shape if alike => Shape { share: shape.share, ..model },
            shape => shape,
        });
        let mut program = Program { queues: queues.collect(), victim, moves: Vec::new() };
        for _ in 0..rng.usize(2..=10) {
            program.moves.push(M::draw(rng, &program));
        }
        program
    }

    pub(super) fn any_queue(&self, rng: &mut Rng) -> usize {
        rng.usize(..self.queues.len())
    }

    /// Any but the victim, where there are others.
    pub(super) fn other_queue(&self, rng: &mut Rng) -> usize {
        let count = self.queues.len();
        (self.victim + rng.usize(1..count.max(2))) % count
    }

    pub(super) fn mutated(&self, rng: &mut Rng) -> Self {
        let mut program = self.clone();
        program.mutate(rng);
        while rng.bool() {
            program.mutate(rng);
        }
        program.moves.truncate(MOST_MOVES);
        let moves = std::mem::take(&mut program.moves);
        program.moves = moves.into_iter().filter(|&make| program.allows(make)).collect();
        program
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let (queue, count) = (self.any_queue(rng), self.moves.len());
        // Not used where there are no moves.
        let at = rng.usize(..count.max(1));
        match rng.u8(..20) {
            0..=3 => {
                let at = rng.usize(..=count);
                self.moves.insert(at, M::draw(rng, self));
            }
            4..=5 => self.double(rng),
            6..=15 if count == 0 => {}
            6..=7 => drop(self.moves.remove(at)),
            8..=9 => self.moves.swap(at, rng.usize(..count)),
            10..=14 => self.moves[at].vary(rng),
            15 => {
                // A move is about another queue.
                let (at, queues) = (rng.usize(..count), self.queues.len());
                let queue = self.moves[at].queue_mut();
                queue.into_iter().for_each(|queue| *queue = rng.usize(..queues));
            }
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

    /// One queue more or less, or another order, or another victim.
    fn change_cast(&mut self, rng: &mut Rng) {
        let queue = self.any_queue(rng);
        match rng.u8(..4) {
            0 if self.queues.len() < MOST_QUEUES => self.queues.push(self.queues[queue]),
            1 if self.queues.len() > 2 && queue != self.victim => self.remove_queue(queue),
            2 => {
                let old = std::mem::replace(&mut self.victim, queue);
                self.queues.swap(queue, old);
                self.renumber(|moved| match moved {
                    _ if moved == queue => Some(old),
                    _ if moved == old => Some(queue),
                    _ => Some(moved),
                });
            }
            _ => self.victim = queue,
        }
    }

    /// Takes a queue out, and the moves about it. It must not be the victim.
    pub(super) fn remove_queue(&mut self, gone: usize) {
        self.queues.remove(gone);
        self.victim -= usize::from(self.victim > gone);
        self.renumber(|queue| (queue != gone).then_some(queue - usize::from(queue > gone)));
    }

    /// Makes each move about the queue that `number` says in place of its own, or leaves it out.
    fn renumber(&mut self, number: impl Fn(usize) -> Option<usize>) {
        self.moves.retain_mut(|make| match make.queue_mut() {
            Some(queue) => number(*queue).map(|other| *queue = other).is_some(),
            None => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{eevdf, known};
    use super::*;

    /// Whatever is known or drawn can be written, read, and is allowed.
    fn draws<M: Move>(known: Vec<Program<M>>) {
        let mut rng = Rng::with_seed(1);
        let mut known = known.into_iter();
        for _ in 0..100 {
            let mut program = known.next().unwrap_or_else(|| Program::draw(&mut rng));
            for _ in 0..50 {
                let text = serde_json::from_str(&program.to_string()).unwrap();
                assert_eq!(Program::read(text).unwrap(), program);
                program = program.mutated(&mut rng);
            }
        }
    }

    #[test]
    fn programs_stay_programs_whatever_is_changed() {
        draws(known::to_eevdf());
        draws(known::to_executor());
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
