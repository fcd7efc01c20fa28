//! Plays a program on `Eevdf`, as the executor would: slice by slice.

use clockworker_schedulers::{Eevdf, QueueId, Share};

use super::Act;
use crate::adversary::books::{Books, Outcome};
use crate::adversary::program::Program;

/// The most polls of one move: a queue that is never picked must not hold up the play.
const MOST_POLLS: u32 = 400;

/// A play under way.
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

/// A queue's turn.
#[derive(Clone, Copy, Debug)]
struct Slice {
    id: QueueId,
    /// What is left of what was granted.
    left: u64,
    /// What is still to be charged.
    uncharged: u64,
}

/// Plays it.
pub(super) fn play(program: &Program<Act>, operations: u64) -> Outcome {
    let mut stage = Stage::set(program, operations);
    while stage.books.next_cycle() {
        for &act in &program.moves {
            stage.books.make_move();
            stage.act(act);
        }
    }
    stage.books.outcome()
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
            books: Books::new(program.victim, operations),
        };
        for (number, queue) in program.queues.iter().enumerate() {
            stage.add(number, queue.share, queue.request);
        }
        stage.wake(program.victim);
        stage
    }

    fn act(&mut self, act: Act) {
        // What happens in a slice is charged for before.
        if !matches!(act, Act::Serve { .. }) {
            self.charge();
        }
        match act {
            Act::Wake(queue) => self.wake(queue),
            Act::Sleep(queue) => self.sleep(queue),
            Act::Serve { polls, of } => self.serve(polls, of),
            Act::Share { queue, share } => self.set_share(queue, share),
            Act::Request { queue, request } => self.set_request(queue, request),
            Act::Remove(queue) => self.remove(queue),
            Act::Add { queue, share, request } => self.add(queue, share, request),
            Act::Charge { by_polls } => self.by_polls = by_polls,
        }
    }

    fn wake(&mut self, queue: usize) {
        let Some(id) = self.ids[queue] else { return };
        self.eevdf.wake(id);
        if self.slice.is_some_and(|slice| slice.id != id && self.eevdf.preempts(id, slice.id)) {
            self.slice = None;
        }
        self.shorten_grant();
    }

    fn sleep(&mut self, queue: usize) {
        let Some(id) = self.ids[queue] else { return };
        self.end_slice_of(id);
        self.eevdf.sleep(id);
    }

    fn set_share(&mut self, queue: usize, share: u32) {
        let Some(id) = self.ids[queue] else { return };
        self.eevdf.set_share(id, Share::new(share).unwrap_or_default());
        self.books.set_share(id.index(), share);
        self.shorten_grant();
    }

    fn set_request(&mut self, queue: usize, request: u64) {
        let Some(id) = self.ids[queue] else { return };
        self.eevdf.set_request(id, request);
        self.books.set_request(id.index(), request);
    }

    fn remove(&mut self, queue: usize) {
        let Some(id) = self.ids[queue].take() else { return };
        self.end_slice_of(id);
        self.eevdf.remove(id);
    }

    fn add(&mut self, queue: usize, share: u32, request: u64) {
        if self.ids[queue].is_some() {
            return;
        }
        let id = self.eevdf.add(Share::new(share).unwrap_or_default(), request);
        self.ids[queue] = Some(id);
        self.numbers[id.index()] = queue;
        self.books.create(id.index(), share, request);
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

    /// Does a poll of the queue whose turn it is.
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
        self.books.serve(place, length);
        self.books.poll(place, length);
        slice.left = slice.left.saturating_sub(length);
        slice.uncharged += length;
        self.slice = Some(slice);
        if slice.left == 0 || self.by_polls {
            self.charge();
        }
        if slice.left == 0 {
            self.slice = None;
        }
        Some(number)
    }

    fn charge(&mut self) {
        if let Some(slice) = &mut self.slice
            && slice.uncharged > 0
        {
            self.eevdf.charge(slice.id, std::mem::take(&mut slice.uncharged));
        }
    }

    fn end_slice_of(&mut self, id: QueueId) {
        self.slice = self.slice.filter(|slice| slice.id != id);
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
        let outcome = play(&Program::of(&[(1, 500, 20); 2], &[Act::Wake(1), serve(100, None)]), 4_000);
        assert_eq!(outcome.ratios, [250.0 / 2_340.0; 3]);
        assert_eq!(outcome.served, outcome.cycles * 100 * 20_000);
    }

    #[test]
    fn a_victim_that_is_alone_falls_short_of_nothing() {
        let outcome = play(&Program::of(&[(1, 1, 1)], &[serve(7, None)]), 100);
        assert_eq!(outcome.ratios, [0.0; 3]);
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
