//! The first subject: [`Eevdf`] alone, in virtual time, served as the executor would: slice by slice.

use clockworker_schedulers::{Eevdf, QueueId, Share};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::books::{Books, Outcome};
use super::draw;
use super::program::{Field, Move, Program};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Act {
    /// The queue wakes. It preempts the slice under way if `Eevdf` says so.
    Wake(usize),
    /// The queue has no work left.
    Sleep(usize),
    /// So many polls are done, of whichever queues are picked; or until one queue was polled so often.
    Serve { polls: u32, of: Option<usize> },
    /// The queue has that share from now on.
    Share { queue: usize, share: u32 },
    /// The queue has that request from now on.
    Request { queue: usize, request: u64 },
    /// The queue is closed, if it is there.
    Remove(usize),
    /// The queue is added, if it is not there; asleep.
    Add { queue: usize, share: u32, request: u64 },
    /// From now on service is charged poll by poll; or once, where a slice ends or something else happens.
    Charge { by_polls: bool },
}

impl Move for Act {
    const SUBJECT: &'static str = "eevdf";
    const BILLS: bool = false;

    fn draw(rng: &mut Rng, program: &Program<Self>) -> Self {
        let queue = program.other_queue(rng);
        match rng.u8(..20) {
            0..=4 => Act::Wake(queue),
            5..=8 => Act::Sleep(queue),
            9..=10 => Act::Serve { polls: draw::polls(rng), of: None },
            11..=13 => Act::Serve { polls: draw::polls(rng), of: Some(queue) },
            14 => Act::Serve { polls: 1, of: Some(program.any_queue(rng)) },
            15 => Act::Share { queue, share: draw::share(rng) },
            16 => Act::Request { queue: program.any_queue(rng), request: draw::time(rng) },
            17 => Act::Remove(queue),
            18 => Act::Add { queue, share: draw::share(rng), request: draw::time(rng) },
            _ => Act::Charge { by_polls: rng.bool() },
        }
    }

    fn vary(&mut self, rng: &mut Rng) {
        match self {
            Act::Charge { by_polls } => *by_polls = !*by_polls,
            _ => draw::vary_a_number(self, rng),
        }
    }

    fn fields(&mut self) -> Vec<Field<'_>> {
        match self {
            Act::Wake(queue) | Act::Sleep(queue) | Act::Remove(queue) => vec![Field::Queue(queue)],
            Act::Serve { polls, of: None } => vec![Field::Polls(polls)],
            Act::Serve { polls, of: Some(queue) } => vec![Field::Queue(queue), Field::Polls(polls)],
            Act::Share { queue, share } => vec![Field::Queue(queue), Field::Share(share)],
            Act::Request { queue, request } => vec![Field::Queue(queue), Field::Time(request)],
            Act::Add { queue, share, request } => {
                vec![Field::Queue(queue), Field::Share(share), Field::Time(request)]
            }
            Act::Charge { .. } => Vec::new(),
        }
    }

    fn spares_its_queue(self) -> bool {
        matches!(self, Act::Serve { .. } | Act::Request { .. } | Act::Charge { .. })
    }

    fn play(program: &Program<Self>, operations: u64) -> anyhow::Result<Outcome> {
        let mut stage = Stage::set(program, operations);
        while stage.books.next_cycle() {
            for &act in &program.moves {
                stage.books.operations += 1;
                stage.act(act);
            }
        }
        Ok(stage.books.outcome())
    }
}

/// The most polls of one move: a queue that is never picked must not hold up the play.
const MOST_POLLS: u32 = 400;

struct Stage<'a> {
    program: &'a Program<Act>,
    eevdf: Eevdf,
    /// By number in the program; none where it was removed.
    ids: Vec<Option<QueueId>>,
    /// By index of the id: its number in the program.
    numbers: Vec<usize>,
    /// By number: how many polls it had.
    polls: Vec<usize>,
    slice: Option<Slice>,
    by_polls: bool,
    books: Books,
}

#[derive(Clone, Copy, Debug)]
struct Slice {
    id: QueueId,
    /// What is left of what was granted.
    left: u64,
    uncharged: u64,
}

impl<'a> Stage<'a> {
    /// The victim has work; the others sleep.
    fn set(program: &'a Program<Act>, operations: u64) -> Self {
        let count = program.queues.len();
        let mut stage = Stage {
            program,
            eevdf: Eevdf::new(),
            ids: vec![None; count],
            numbers: vec![0; count],
            polls: vec![0; count],
            slice: None,
            by_polls: false,
            books: Books::new(program.victim, operations, 1),
        };
        for (queue, shape) in program.queues.iter().enumerate() {
            stage.act(Act::Add { queue, share: shape.share, request: shape.request });
        }
        stage.act(Act::Wake(program.victim));
        stage
    }

    fn act(&mut self, act: Act) {
        // What happens in a slice is charged for before.
        if !matches!(act, Act::Serve { .. }) {
            self.charge();
        }
        match act {
            Act::Serve { polls, of } => self.serve(polls, of),
            Act::Charge { by_polls } => self.by_polls = by_polls,
            Act::Add { queue, share, request } if self.ids[queue].is_none() => {
                let id = self.eevdf.add(Share::new(share).unwrap_or_default(), request);
                self.ids[queue] = Some(id);
                self.numbers[id.index()] = queue;
                self.books.create(id.index(), share, request);
            }
            Act::Add { .. } => {}
            Act::Wake(queue) | Act::Sleep(queue) | Act::Remove(queue) => self.act_on(queue, act),
            Act::Share { queue, .. } | Act::Request { queue, .. } => self.act_on(queue, act),
        }
    }

    /// A queue is changed, if it is there.
    fn act_on(&mut self, queue: usize, act: Act) {
        let Some(id) = self.ids[queue] else { return };
        match act {
            Act::Sleep(_) => {
                self.slice = self.slice.filter(|slice| slice.id != id);
                self.eevdf.sleep(id);
            }
            Act::Remove(_) => {
                self.slice = self.slice.filter(|slice| slice.id != id);
                self.eevdf.remove(id);
                self.ids[queue] = None;
            }
            Act::Share { share, .. } => {
                self.eevdf.set_share(id, Share::new(share).unwrap_or_default());
                self.books.set_share(id.index(), share);
                self.shorten_grant();
            }
            Act::Request { request, .. } => {
                self.eevdf.set_request(id, request);
                self.books.set_request(id.index(), request);
            }
            _ => {
                self.eevdf.wake(id);
                let preempts = |slice: &Slice| slice.id != id && self.eevdf.preempts(id, slice.id);
                self.slice = self.slice.filter(|slice| !preempts(slice));
                self.shorten_grant();
            }
        }
    }

    fn serve(&mut self, polls: u32, of: Option<usize>) {
        let is_runnable = |queue: usize| self.ids[queue].is_some_and(|id| self.eevdf.is_runnable(id));
        if !of.is_none_or(is_runnable) {
            return;
        }
        let mut left = polls;
        for _ in 0..MOST_POLLS {
            let polled = self.poll();
            left -= u32::from(of.is_none_or(|queue| Some(queue) == polled));
            if left == 0 {
                return;
            }
        }
    }

    fn poll(&mut self) -> Option<usize> {
        let mut slice = match self.slice {
            Some(slice) => slice,
            None => {
                let id = self.eevdf.pick()?;
                Slice { id, left: self.eevdf.left_ns(id), uncharged: 0 }
            }
        };
        let (place, number) = (slice.id.index(), self.numbers[slice.id.index()]);
        let length = self.program.queues[number].polls[self.polls[number] % 2];
        self.polls[number] += 1;
        self.books.serve(place, length, length);
        slice.left = slice.left.saturating_sub(length);
        slice.uncharged += length;
        self.slice = Some(slice);
        if slice.left == 0 || self.by_polls {
            self.charge();
        }
        self.slice = self.slice.filter(|slice| slice.left > 0);
        Some(number)
    }

    fn charge(&mut self) {
        if let Some(slice) = &mut self.slice
            && slice.uncharged > 0
        {
            self.eevdf.charge(slice.id, std::mem::take(&mut slice.uncharged));
        }
    }

    /// What was granted may have become less.
    fn shorten_grant(&mut self) {
        if let Some(slice) = &mut self.slice {
            slice.left = slice.left.min(self.eevdf.left_ns(slice.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(polls: u32, of: Option<usize>) -> Act {
        Act::Serve { polls, of }
    }

    /// Each has a turn of 500 µs in polls of 20 µs. B = (1/2)·(520 + 2·520) + 520 + 2·520 µs.
    #[test]
    fn two_that_are_alike_take_turns() {
        let program = Program::of(&[(1, 500, 20); 2], &[Act::Wake(1), serve(100, None)]);
        let outcome = Act::play(&program, 4_000).unwrap();
        assert_eq!(outcome.ratios, [250.0 / 2_340.0; 3]);
        assert_eq!(outcome.served, outcome.cycles * 100 * 20_000);
        let alone = Program::of(&[(1, 1, 1)], &[serve(7, None)]);
        assert_eq!(Act::play(&alone, 100).unwrap().ratios, [0.0; 3]);
    }

    #[test]
    fn a_waker_preempts_and_a_sleeper_ends_its_slice() {
        let program = Program::of(&[(1, 1_000, 10), (1, 10, 10)], &[]);
        let mut stage = Stage::set(&program, 100);
        stage.act(serve(1, None));
        assert_eq!(stage.slice.map(|slice| (slice.left, slice.uncharged)), Some((990_000, 10_000)));
        stage.act(Act::Wake(1));
        assert!(stage.slice.is_none(), "preempted");
        assert_eq!(stage.poll(), Some(1));
        stage.act(serve(1, Some(0)));
        stage.act(Act::Sleep(1));
        assert_eq!(stage.poll(), Some(0));
        stage.act(serve(5, Some(1)));
        assert_eq!(stage.polls, [3, 1], "a sleeping queue is not waited for");
    }

    #[test]
    fn a_queue_that_is_added_takes_the_place_of_the_last_that_was_removed() {
        let program = Program::of(&[(1, 10, 10); 3], &[]);
        let mut stage = Stage::set(&program, 100);
        let add = Act::Add { queue: 1, share: 1, request: 10 };
        [Act::Remove(1), Act::Remove(2), add, Act::Wake(1)].into_iter().for_each(|act| stage.act(act));
        assert_eq!(stage.ids[1].map(QueueId::index), Some(2));
        stage.act(serve(10, None));
        assert_eq!(stage.polls, [5, 5, 0]);
    }
}
