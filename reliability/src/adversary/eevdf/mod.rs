//! The first subject: [`Eevdf`](clockworker_schedulers::Eevdf) alone, in virtual time.

mod known;
mod stage;

use std::fmt;

use fastrand::Rng;

use super::books::Outcome;
use super::draw;
use super::program::{Cast, Move, Program, read_share};
use super::words::{Name, Ns, Words};
use crate::failure::Failure;

/// What can be done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    const KNOWN: &'static [&'static str] = known::PROGRAMS;

    fn read(words: &mut Words<'_>) -> Result<Self, String> {
        Ok(match words.next()? {
            "wake" => Act::Wake(words.queue()?),
            "sleep" => Act::Sleep(words.queue()?),
            "serve" => Act::Serve {
                polls: words.count()?,
                of: words.is_next("of").then(|| words.queue()).transpose()?,
            },
            "share" => Act::Share { queue: words.queue()?, share: read_share(words)? },
            "request" => Act::Request { queue: words.queue()?, request: words.duration()? },
            "remove" => Act::Remove(words.queue()?),
            "add" => {
                let queue = words.queue()?;
                words.expect("share")?;
                let share = read_share(words)?;
                words.expect("request")?;
                Act::Add { queue, share, request: words.duration()? }
            }
            "charge" if words.is_next("polls") => Act::Charge { by_polls: true },
            "charge" => words.expect("slices").map(|()| Act::Charge { by_polls: false })?,
            other => return Err(format!("'{other}' is nothing that can be done to eevdf")),
        })
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

    fn play(program: &Program<Self>, operations: u64) -> Result<Outcome, Failure> {
        Ok(stage::play(program, operations))
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Act::Wake(queue) => write!(f, "wake {}", Name(queue)),
            Act::Sleep(queue) => write!(f, "sleep {}", Name(queue)),
            Act::Serve { polls, of: None } => write!(f, "serve {polls}"),
            Act::Serve { polls, of: Some(queue) } => write!(f, "serve {polls} of {}", Name(queue)),
            Act::Share { queue, share } => write!(f, "share {} {share}", Name(queue)),
            Act::Request { queue, request } => write!(f, "request {} {}", Name(queue), Ns(request)),
            Act::Remove(queue) => write!(f, "remove {}", Name(queue)),
            Act::Add { queue, share, request } => {
                write!(f, "add {} share {share} request {}", Name(queue), Ns(request))
            }
            Act::Charge { by_polls: true } => f.write_str("charge polls"),
            Act::Charge { by_polls: false } => f.write_str("charge slices"),
        }
    }
}
