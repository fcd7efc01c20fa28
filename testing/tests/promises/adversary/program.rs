//! [`Program`]: queues, and moves that are made over and over; how it is drawn and changed.

use std::fmt::{self, Debug, Display};

use fastrand::Rng;

use crate::log_uniform;

/// What the main future can do, or a task in its stead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// The queue's napper is woken for so many polls, and sleeps again after them.
    Wake,
    /// A task of so many polls is spawned on the queue, and forgotten.
    Spawn,
    /// The same, and the main future awaits it.
    Await,
    /// The same as [`Spawn`](Kind::Spawn), by name and through a handle.
    Send,
    /// The queue's youngest task is aborted, the napper too.
    Abort,
    /// The main future waits until so many polls were done, of any queue.
    Rest,
    /// Or so many of that queue.
    RestOf,
    /// As the two, and what comes next is done inside of the last of these polls, up to what only the main future can do.
    Enter,
    EnterOf,
    /// The main future yields.
    Yield,
    /// The main future works.
    Work,
    /// From now on a visit of the host takes so long.
    Host,
    /// The queue has that share from now on.
    Share,
    /// The queue has that request from now on.
    Request,
    /// The queue is closed, if it is open.
    Close,
    /// The queue is created, if it is closed, under its name.
    Create,
    /// Or under another.
    CreateNew,
}

use Kind::{
    Abort, Await, Close, Create, CreateNew, Enter, EnterOf, Host, Request, Rest, RestOf, Send, Share, Spawn,
    Wake, Work, Yield,
};

/// All kinds; those more than once that are to be drawn more often.
const ALL: &[Kind] = &[
    Wake, Wake, Wake, Wake, Spawn, Spawn, Spawn, Await, Send, Abort, Abort, Rest, Rest, RestOf, RestOf,
    Enter, EnterOf, Yield, Work, Host, Share, Request, Close, Create, CreateNew,
];

impl Kind {
    pub(super) fn rests(self) -> bool {
        matches!(self, Rest | RestOf | Enter | EnterOf)
    }

    pub(super) fn enters(self) -> bool {
        matches!(self, Enter | EnterOf)
    }

    pub(super) fn is_of_one(self) -> bool {
        matches!(self, RestOf | EnterOf)
    }

    /// Whether a task can do it too.
    pub(super) fn is_for_all(self) -> bool {
        !self.rests() && !matches!(self, Yield | Work | Await)
    }

    /// Which numbers of its move it uses.
    fn numbers(self) -> &'static [Number] {
        match self {
            Spawn | Await | Send => &[Number::Polls, Number::Drop],
            Wake | Rest | RestOf | Enter | EnterOf => &[Number::Polls],
            Work | Host | Request => &[Number::Time],
            Share => &[Number::Share],
            Create | CreateNew => &[Number::Share, Number::Time],
            Abort | Yield | Close => &[],
        }
    }

    /// Whether it may be about the victim, which it leaves its work.
    fn spares_its_queue(self) -> bool {
        // What is aborted may be its only task.
        !matches!(self, Abort | Close | Create | CreateNew | Share)
    }
}

#[derive(Clone, Copy)]
enum Number {
    Polls,
    Share,
    Time,
    Drop,
}

/// A kind of move, the queue that it is about, and numbers, of which it uses some. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) kind: Kind,
    pub(super) queue: usize,
    pub(super) polls: u32,
    pub(super) share: u32,
    pub(super) time: u64,
    /// How long the drop of a task takes: often no time.
    pub(super) drop: u64,
}

/// A move about a queue, with numbers that are to be replaced where they are used.
pub(super) fn on(kind: Kind, queue: usize) -> Move {
    Move { kind, queue, polls: 1, share: 1, time: 20_000, drop: 0 }
}

/// A queue, when a play begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) share: u32,
    pub(super) request: u64,
    /// How long its polls take, in turns.
    pub(super) polls: [u64; 2],
}

/// Queues, created in their order, and moves that are made in their order, and then again.
#[derive(Clone, PartialEq)]
pub(super) struct Program {
    pub(super) queues: Vec<Shape>,
    /// The queue that always has work.
    pub(super) victim: usize,
    pub(super) moves: Vec<Move>,
}

/// What a number may be.
#[derive(Clone, Copy)]
struct Range(u64, u64);

const POLLS: Range = Range(1, 100);

/// Shares beyond these are rounded: `Eevdf` charges up to a millionth too little.
const SHARES: Range = Range(1, 1_000);

/// Of a poll or a request, in nanoseconds.
const TIMES: Range = Range(100, 2_000_000);

impl Range {
    fn draw(self, rng: &mut Rng) -> u64 {
        log_uniform(rng, self.0, self.1)
    }

    fn vary(self, value: u64, rng: &mut Rng) -> u64 {
        let changed = match rng.u8(..6) {
            0 => self.draw(rng),
            1 => value / 2,
            2 => value * 2,
            3 => value.saturating_sub(1),
            4 => value + 1,
            _ => (value as f64 * (0.8 + 0.4 * rng.f64())) as u64,
        };
        changed.clamp(self.0, self.1)
    }
}

impl Move {
    fn draw(rng: &mut Rng, program: &Program) -> Self {
        let kind = ALL[rng.usize(..ALL.len())];
        let is_any = kind.spares_its_queue() && rng.u8(..4) == 0;
        Move {
            kind,
            queue: if is_any { program.any_queue(rng) } else { program.other_queue(rng) },
            polls: POLLS.draw(rng) as u32,
            share: SHARES.draw(rng) as u32,
            time: TIMES.draw(rng),
            drop: if rng.u8(..3) == 0 { TIMES.draw(rng) } else { 0 },
        }
    }

    /// Changes one of its numbers, if it has any.
    fn vary(&mut self, rng: &mut Rng) {
        match rng.choice(self.kind.numbers()) {
            Some(Number::Polls) => self.polls = POLLS.vary(self.polls.into(), rng) as u32,
            Some(Number::Share) => self.share = SHARES.vary(self.share.into(), rng) as u32,
            Some(Number::Time) => self.time = TIMES.vary(self.time, rng),
            Some(Number::Drop) if rng.u8(..4) == 0 => self.drop = 0,
            Some(Number::Drop) => self.drop = TIMES.vary(self.drop, rng),
            None => {}
        }
    }
}

impl Shape {
    fn draw(rng: &mut Rng) -> Self {
        let poll = TIMES.draw(rng);
        let other = if rng.u8(..4) == 0 { TIMES.draw(rng) } else { poll };
        Shape { share: SHARES.draw(rng) as u32, request: TIMES.draw(rng), polls: [poll, other] }
    }

    fn vary(&mut self, rng: &mut Rng) {
        match rng.u8(..4) {
            0 => self.share = SHARES.vary(self.share.into(), rng) as u32,
            1 => self.request = TIMES.vary(self.request, rng),
            2 => self.polls = [TIMES.vary(self.polls[0], rng); 2],
            _ => {
                let poll = &mut self.polls[rng.usize(..2)];
                *poll = TIMES.vary(*poll, rng);
            }
        }
    }
}

/// The most moves of a program: what goes wrong does so in few.
const MOST_MOVES: usize = 32;

const MOST_QUEUES: usize = 10;

impl Program {
    /// Of queues, by share, request and length of a poll, the two in microseconds. The first is the victim.
    pub(super) fn of(queues: &[(u32, u64, u64)], moves: &[Move]) -> Self {
        let shape = |&(share, request, poll): &(u32, u64, u64)| Shape {
            share,
            request: request * 1_000,
            polls: [poll * 1_000; 2],
        };
        Program { queues: queues.iter().map(shape).collect(), victim: 0, moves: moves.to_vec() }
    }

    pub(super) fn draw(rng: &mut Rng) -> Self {
        let count = rng.usize(2..=5);
        let (alike, model) = (rng.bool(), Shape::draw(rng));
        let queues = (0..count).map(|_| match Shape::draw(rng) {
            shape if alike => Shape { share: shape.share, ..model },
            shape => shape,
        });
        let mut program = Program { queues: queues.collect(), victim: rng.usize(..count), moves: Vec::new() };
        for _ in 0..rng.usize(2..=10) {
            program.moves.push(Move::draw(rng, &program));
        }
        program
    }

    fn any_queue(&self, rng: &mut Rng) -> usize {
        rng.usize(..self.queues.len())
    }

    /// Any but the victim, where there are others.
    fn other_queue(&self, rng: &mut Rng) -> usize {
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
        let victim = program.victim;
        program.moves.retain(|step| step.queue != victim || step.kind.spares_its_queue());
        program
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let (queue, count) = (self.any_queue(rng), self.moves.len());
        // Not used where there are no moves.
        let at = rng.usize(..count.max(1));
        match rng.u8(..20) {
            0..=3 => self.moves.insert(rng.usize(..=count), Move::draw(rng, self)),
            4..=5 => self.double(rng),
            6..=15 if count == 0 => {}
            6..=7 => drop(self.moves.remove(at)),
            8..=9 => self.moves.swap(at, rng.usize(..count)),
            10..=13 => self.moves[at].vary(rng),
            14 => self.moves[at].kind = ALL[rng.usize(..ALL.len())],
            15 => self.moves[at].queue = queue,
            16..=18 => self.queues[queue].vary(rng),
            _ => self.change_queues(rng),
        }
    }

    /// Does some moves in a row once more, there or elsewhere.
    fn double(&mut self, rng: &mut Rng) {
        let from = rng.usize(..=self.moves.len());
        let to = (from + rng.usize(1..=4)).min(self.moves.len());
        let (copy, at) = (self.moves[from..to].to_vec(), rng.usize(..=self.moves.len()));
        self.moves.splice(at..at, copy);
    }

    /// One queue more or less, or another victim.
    fn change_queues(&mut self, rng: &mut Rng) {
        let queue = self.any_queue(rng);
        match rng.u8(..3) {
            0 if self.queues.len() < MOST_QUEUES => self.queues.push(self.queues[queue]),
            1 if self.queues.len() > 2 && queue != self.victim => self.remove_queue(queue),
            _ => self.victim = queue,
        }
    }

    /// Takes a queue out, and the moves about it. It must not be the victim.
    fn remove_queue(&mut self, gone: usize) {
        let renumbered = |queue: usize| queue - usize::from(queue > gone);
        self.queues.remove(gone);
        self.victim = renumbered(self.victim);
        self.moves.retain(|step| step.queue != gone);
        self.moves.iter_mut().for_each(|step| step.queue = renumbered(step.queue));
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  victim {}", self.victim)?;
        self.queues.iter().try_for_each(|queue| writeln!(f, "  {queue:?}"))?;
        self.moves.iter().try_for_each(|step| writeln!(f, "  {step:?}"))
    }
}
