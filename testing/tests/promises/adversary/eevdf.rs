//! The first subject: [`Eevdf`] alone, in virtual time, served as the executor would: slice by slice.

use clockworker_schedulers::{Eevdf, QueueId, Share};

use super::accounts::{Accounts, Outcome};
use super::program::{self, Move, Number, Program, on};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// The queue wakes. It preempts the slice under way if `Eevdf` says so.
    Wake,
    /// The queue has no work left.
    Sleep,
    /// So many polls are done, of whichever queues are picked.
    Serve,
    /// The same, until the queue was polled so often.
    ServeOf,
    /// The queue has that share from now on.
    Share,
    /// The queue has that request from now on.
    Request,
    /// The queue is closed, if it is there.
    Remove,
    /// The queue is added, if it is not there; asleep.
    Add,
    /// From now on service is charged poll by poll.
    ChargePolls,
    /// From now on service is charged once, where a slice ends or something else happens.
    ChargeSlices,
}

use Kind::{Add, ChargePolls, ChargeSlices, Remove, Request, Serve, ServeOf, Sleep, Wake};

impl program::Kind for Kind {
    const ALL: &'static [Self] = &[
        Wake,
        Wake,
        Wake,
        Wake,
        Wake,
        Sleep,
        Sleep,
        Sleep,
        Sleep,
        Serve,
        Serve,
        ServeOf,
        ServeOf,
        ServeOf,
        ServeOf,
        Kind::Share,
        Request,
        Remove,
        Add,
        ChargePolls,
        ChargeSlices,
    ];

    fn numbers(self) -> &'static [Number] {
        match self {
            Serve | ServeOf => &[Number::Polls],
            Kind::Share => &[Number::Share],
            Request => &[Number::Time],
            Add => &[Number::Share, Number::Time],
            Wake | Sleep | Remove | ChargePolls | ChargeSlices => &[],
        }
    }

    fn spares_its_queue(self) -> bool {
        matches!(self, Serve | ServeOf | Request | ChargePolls | ChargeSlices)
    }

    fn play(program: &Program<Self>, operations: u64) -> Outcome {
        let mut stage = Stage::set(program, operations);
        while stage.accounts.next_cycle() {
            for &step in &program.moves {
                stage.accounts.operations += 1;
                stage.act(step);
            }
        }
        stage.accounts.outcome()
    }
}

/// Attacks that people thought of.
pub(super) fn known() -> Vec<Program<Kind>> {
    let one = |queue| on(ServeOf, queue);
    // A loop wakes a helper, which sleeps at once, and a worker. The helper's credit lowers V, the worker is placed there, the
    // helper leaves.
    let work = Move { polls: 20, ..one(1) };
    let helped = [on(Wake, 2), on(Wake, 1), one(2), on(Sleep, 2), work, on(Sleep, 1)];
    let mut programs = HELPED.map(|queues| Program::of(queues, &helped)).to_vec();
    // A creditor joins, the next is placed low, the creditor leaves without having been served.
    let low = [on(Wake, 2), on(Wake, 1), on(Sleep, 2), one(1), one(0), on(Sleep, 1)];
    // A debtor sleeps, its share is raised meanwhile; it wakes, and its share is lowered.
    let raise = Move { share: 4, ..on(Kind::Share, 1) };
    let raised =
        [on(Wake, 1), one(1), on(Sleep, 1), raise, on(Wake, 1), on(Kind::Share, 1), one(1), on(Sleep, 1)];
    let naps = (1..=5).map(|queue| on(Wake, queue));
    let naps = naps.chain((1..=5).flat_map(|queue| [one(queue), on(Sleep, queue)])).chain([one(0)]);
    programs.extend([
        Program::of(PLACED_LOW, &low),
        Program::of(SHARE_RAISED_ASLEEP, &raised),
        // It is created, has a poll, is closed, and is created once more.
        Program::of(CREATED_ANEW, &[on(Wake, 1), one(1), on(Remove, 1), on(Add, 1)]),
        // A debtor leaves at once after each overrun.
        Program::of(OVERRUNS_AND_LEAVES, &[on(Wake, 1), one(1), on(Sleep, 1), one(0)]),
        Program::of(MANY_NAP, &naps.collect::<Vec<_>>()),
        Program::of(TINY_REQUESTS, &[on(Wake, 1), on(Wake, 2), one(1), one(2), one(0)]),
    ]);
    programs
}

/// Share, request and length of a poll, the two in microseconds.
type Queues = &'static [(u32, u64, u64)];

pub(super) const HELPED: [Queues; 3] = [
    &[(1, 500, 20), (1, 500, 20), (1, 500, 1)],
    // With a large worker.
    &[(1, 500, 20), (9, 500, 20), (1, 500, 1)],
    // With a large victim.
    &[(9, 500, 20), (1, 500, 20), (1, 500, 1)],
];
const PLACED_LOW: Queues = &[(1, 100, 20), (1, 100, 100), (5, 100, 20)];
pub(super) const SHARE_RAISED_ASLEEP: Queues = &[(4, 100, 20), (1, 100, 100)];
pub(super) const CREATED_ANEW: Queues = &[(1, 20, 20), (1, 20, 1_000)];
pub(super) const OVERRUNS_AND_LEAVES: Queues = &[(1, 20, 20), (1, 10, 1_000)];
pub(super) const MANY_NAP: Queues =
    &[(1, 100, 10), (1, 100, 50), (1, 100, 50), (1, 100, 50), (1, 100, 50), (1, 100, 50)];
pub(super) const TINY_REQUESTS: Queues = &[(1, 100, 100), (1, 1, 1_000), (1, 1, 1_000)];

/// The most polls of one move: a queue that is never picked must not hold up the play.
const MOST_POLLS: u32 = 400;

struct Stage<'a> {
    program: &'a Program<Kind>,
    eevdf: Eevdf,
    /// By number in the program; none where it was removed.
    ids: Vec<Option<QueueId>>,
    /// By index of the id: its number in the program.
    numbers: Vec<usize>,
    /// By number: how many polls it had.
    polls: Vec<usize>,
    slice: Option<Slice>,
    by_polls: bool,
    accounts: Accounts,
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
    fn set(program: &'a Program<Kind>, operations: u64) -> Self {
        let count = program.queues.len();
        let mut stage = Stage {
            program,
            eevdf: Eevdf::new(),
            ids: vec![None; count],
            numbers: vec![0; count],
            polls: vec![0; count],
            slice: None,
            by_polls: false,
            accounts: Accounts::new(program.victim, operations, 1),
        };
        for (queue, shape) in program.queues.iter().enumerate() {
            stage.add(queue, shape.share, shape.request);
        }
        stage.act(on(Wake, program.victim));
        stage
    }

    fn act(&mut self, step: Move<Kind>) {
        // What happens in a slice is charged for before.
        if !matches!(step.kind, Serve | ServeOf) {
            self.charge();
        }
        let id = self.ids[step.queue];
        match (step.kind, id) {
            (Serve, _) => self.serve(step.polls, None),
            (ServeOf, Some(id)) if self.eevdf.is_runnable(id) => self.serve(step.polls, Some(step.queue)),
            (ChargePolls, _) => self.by_polls = true,
            (ChargeSlices, _) => self.by_polls = false,
            (Add, None) => self.add(step.queue, step.share, step.time),
            (Wake, Some(id)) => self.wake(id),
            (Sleep, Some(id)) => {
                self.end_slice_of(id);
                self.eevdf.sleep(id);
            }
            (Remove, Some(id)) => {
                self.end_slice_of(id);
                self.eevdf.remove(id);
                self.ids[step.queue] = None;
            }
            (Kind::Share, Some(id)) => {
                self.eevdf.set_share(id, Share::new(step.share).unwrap_or_default());
                self.accounts.set_share(id.index(), step.share);
                self.shorten_grant();
            }
            (Request, Some(id)) => {
                self.eevdf.set_request(id, step.time);
                self.accounts.set_request(id.index(), step.time);
            }
            (ServeOf | Add | Wake | Sleep | Remove | Kind::Share | Request, _) => {}
        }
    }

    fn add(&mut self, queue: usize, share: u32, request: u64) {
        let id = self.eevdf.add(Share::new(share).unwrap_or_default(), request);
        self.ids[queue] = Some(id);
        self.numbers[id.index()] = queue;
        self.accounts.create(id.index(), share, request);
    }

    fn wake(&mut self, id: QueueId) {
        self.eevdf.wake(id);
        let preempts = |slice: &Slice| slice.id != id && self.eevdf.preempts(id, slice.id);
        self.slice = self.slice.filter(|slice| !preempts(slice));
        self.shorten_grant();
    }

    fn end_slice_of(&mut self, id: QueueId) {
        self.slice = self.slice.filter(|slice| slice.id != id);
    }

    fn serve(&mut self, polls: u32, of: Option<usize>) {
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
        self.accounts.serve(place, length, length);
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
