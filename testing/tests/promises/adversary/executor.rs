//! The second subject: the executor, through its public API, on a clock that only tasks and the main future move.

use super::accounts::Outcome;
use super::eevdf::{CREATED_ANEW, HELPED, MANY_NAP, OVERRUNS_AND_LEAVES, SHARE_RAISED_ASLEEP, TINY_REQUESTS};
use super::program::{self, Move, Number, Program, on};
use super::scene;

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
    CreateRenamed,
}

use Kind::{
    Abort, Await, Close, Create, CreateRenamed, Enter, EnterOf, Host, Request, Rest, RestOf, Send, Share,
    Spawn, Wake, Work, Yield,
};

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
}

impl program::Kind for Kind {
    const ALL: &'static [Self] = &[
        Wake,
        Wake,
        Wake,
        Wake,
        Spawn,
        Spawn,
        Spawn,
        Await,
        Send,
        Abort,
        Abort,
        Rest,
        Rest,
        RestOf,
        RestOf,
        Enter,
        EnterOf,
        Yield,
        Work,
        Host,
        Share,
        Request,
        Close,
        Create,
        CreateRenamed,
    ];

    fn numbers(self) -> &'static [Number] {
        match self {
            Spawn | Await | Send => &[Number::Polls, Number::Drop],
            Wake | Rest | RestOf | Enter | EnterOf => &[Number::Polls],
            Work | Host | Request => &[Number::Time],
            Share => &[Number::Share],
            Create | CreateRenamed => &[Number::Share, Number::Time],
            Abort | Yield | Close => &[],
        }
    }

    fn spares_its_queue(self) -> bool {
        // What is aborted may be its only task.
        !matches!(self, Abort | Close | Create | CreateRenamed | Share)
    }

    fn play(program: &Program<Self>, operations: u64) -> Outcome {
        scene::play(program, operations)
    }
}

const SLOW_DROPS: &[(u32, u64, u64)] = &[(1, 100, 20), (1, 100, 20)];
const SENDS_AND_ABORTS: &[(u32, u64, u64)] = &[(1, 100, 20), (1, 100, 1), (1, 100, 1)];

/// Attacks that people thought of: mostly those on [`Eevdf`](super::eevdf::known), by the public API.
pub(super) fn known() -> Vec<Program<Kind>> {
    let polls = |polls, kind, queue| Move { polls, ..on(kind, queue) };
    // The main future spawns a helper, which has next to nothing to do, and awaits a worker.
    let mut programs =
        HELPED.map(|queues| Program::of(queues, &[on(Spawn, 2), polls(20, Await, 1)])).to_vec();
    let raise = [Move { share: 4, ..on(Share, 1) }, on(Spawn, 1), on(Share, 1), on(RestOf, 1)];
    let slow = Move { polls: 100, drop: 1_000_000, ..on(Spawn, 1) };
    let naps = (1..=5).map(|queue| on(Wake, queue)).chain([on(RestOf, 5), on(RestOf, 0)]);
    // A task sends another, and aborts it before it is admitted.
    let sends = [on(EnterOf, 1), on(Send, 2), on(Abort, 2)].repeat(9);
    programs.extend([
        // The same with tasks that stay.
        Program::of(HELPED[0], &[on(Wake, 2), polls(20, Wake, 1), polls(20, RestOf, 1)]),
        Program::of(SHARE_RAISED_ASLEEP, &[&[on(Await, 1)], &raise[..]].concat()),
        Program::of(CREATED_ANEW, &[on(Await, 1), on(Close, 1), on(CreateRenamed, 1)]),
        Program::of(OVERRUNS_AND_LEAVES, &[on(Await, 1), on(RestOf, 0)]),
        Program::of(MANY_NAP, &naps.collect::<Vec<_>>()),
        Program::of(TINY_REQUESTS, &[on(Spawn, 1), on(Await, 2)]),
        // Tasks are aborted whose drops take long.
        Program::of(SLOW_DROPS, &[slow, on(RestOf, 0), on(Abort, 1), on(RestOf, 0)]),
        Program::of(SENDS_AND_ABORTS, &[&[polls(100, Wake, 1)], &sends[..]].concat()),
    ]);
    programs
}
