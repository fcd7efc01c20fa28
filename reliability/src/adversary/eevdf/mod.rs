//! The first subject: [`Eevdf`](clockworker_schedulers::Eevdf) alone, in virtual time.

mod stage;

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::books::Outcome;
use super::program::{Cast, Move, Program, is_share, is_time};
use super::{draw, known};

/// What can be done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Act {
    /// The queue wakes. It preempts the slice under way if `Eevdf` says so.
    Wake(usize),
    /// The queue has no work left.
    Sleep(usize),
    /// So many polls are done, of whichever queues are picked; or until one queue was polled so often.
    Serve { polls: u32, of: Option<usize> },
    /// The queue gets another share.
    Share { queue: usize, share: u32 },
    /// The queue gets another request.
    Request { queue: usize, request: u64 },
    /// The queue is removed.
    Remove(usize),
    /// The queue is added, if it is not there; asleep.
    Add { queue: usize, share: u32, request: u64 },
    /// From now on service is charged poll by poll; or once, where a slice ends or something else happens.
    Charge { by_polls: bool },
}

impl Move for Act {
    const SUBJECT: &'static str = "eevdf";
    const BILLS: bool = false;

    fn known() -> Vec<Program<Self>> {
        known::to_eevdf()
    }

    fn draw(rng: &mut Rng, cast: Cast) -> Self {
        let queue = cast.other(rng);
        match rng.u8(..20) {
            0..=4 => Act::Wake(queue),
            5..=8 => Act::Sleep(queue),
            9..=10 => Act::Serve { polls: draw::count(rng), of: None },
            11..=13 => Act::Serve { polls: draw::count(rng), of: Some(queue) },
            14 => Act::Serve { polls: 1, of: Some(cast.anyone(rng)) },
            15 => Act::Share { queue, share: draw::share(rng) },
            16 => Act::Request { queue: cast.anyone(rng), request: draw::time(rng) },
            17 => Act::Remove(queue),
            18 => Act::Add { queue, share: draw::share(rng), request: draw::time(rng) },
            _ => Act::Charge { by_polls: rng.bool() },
        }
    }

    fn vary(&mut self, rng: &mut Rng) {
        match self {
            Act::Wake(_) | Act::Sleep(_) | Act::Remove(_) => {}
            Act::Serve { polls, .. } => draw::vary_count(polls, rng),
            Act::Share { share, .. } => draw::vary_share(share, rng),
            Act::Request { request, .. } => draw::vary_time(request, rng),
            Act::Add { share, .. } if rng.bool() => draw::vary_share(share, rng),
            Act::Add { request, .. } => draw::vary_time(request, rng),
            Act::Charge { by_polls } => *by_polls = !*by_polls,
        }
    }

    fn queue_mut(&mut self) -> Option<&mut usize> {
        match self {
            Act::Wake(queue) | Act::Sleep(queue) | Act::Remove(queue) => Some(queue),
            Act::Share { queue, .. } | Act::Request { queue, .. } | Act::Add { queue, .. } => Some(queue),
            Act::Serve { of, .. } => of.as_mut(),
            Act::Charge { .. } => None,
        }
    }

    fn spares(&self, victim: usize) -> bool {
        match *self {
            Act::Wake(queue) | Act::Sleep(queue) | Act::Remove(queue) => queue != victim,
            Act::Share { queue, .. } | Act::Add { queue, .. } => queue != victim,
            Act::Serve { .. } | Act::Request { .. } | Act::Charge { .. } => true,
        }
    }

    fn is_in_range(&self) -> bool {
        match *self {
            Act::Serve { polls, .. } => polls > 0,
            Act::Share { share, .. } => is_share(share),
            Act::Request { request, .. } => is_time(&request),
            Act::Add { share, request, .. } => is_share(share) && is_time(&request),
            Act::Wake(_) | Act::Sleep(_) | Act::Remove(_) | Act::Charge { .. } => true,
        }
    }

    fn play(program: &Program<Self>, operations: u64) -> anyhow::Result<Outcome> {
        Ok(stage::play(program, operations))
    }
}
