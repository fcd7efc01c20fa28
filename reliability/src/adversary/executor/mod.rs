//! The second subject: the executor, through its public API, on a clock that only tasks and the main future move.

mod main_future;
mod queues;
mod scene;

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::books::Outcome;
use super::draw;
use super::program::{Field, Move, Program};

/// What the main future can do, or a task in its stead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Act {
    /// The queue's napper is woken for so many polls, and sleeps again after them.
    Wake { queue: usize, polls: u32 },
    /// A task of so many polls is spawned, whose drop takes `drop`.
    Spawn { queue: usize, polls: u32, drop: u64, how: How },
    /// The queue's youngest task is aborted, the napper too.
    Abort(usize),
    /// The main future waits until so many polls were done, or so many of one queue.
    Rest { polls: u32, of: Option<usize>, next: Where },
    /// The main future yields.
    Yield,
    /// The main future works.
    Work(u64),
    /// From now on a visit of the host takes so long.
    Host(u64),
    /// The queue has that share from now on.
    Share { queue: usize, share: u32 },
    /// The queue has that request from now on.
    Request { queue: usize, request: u64 },
    /// The queue is closed, if it is open.
    Close(usize),
    /// The queue is created, if it is closed; under its name or under another.
    Create { queue: usize, share: u32, request: u64, renamed: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum How {
    /// On the queue, and forgotten.
    Forget,
    /// On the queue, and the main future awaits it.
    Await,
    /// By name, through a handle, and forgotten.
    Send,
}

/// Where what comes after a rest is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Where {
    Main,
    /// Inside the poll that ends the rest, up to the next thing that only the main future can do.
    Poll,
}

impl Act {
    /// Whether a task can do it too.
    fn is_for_all(self) -> bool {
        !matches!(self, Act::Rest { .. } | Act::Yield | Act::Work(_) | Act::Spawn { how: How::Await, .. })
    }
}

impl Move for Act {
    const SUBJECT: &'static str = "executor";
    const BILLS: bool = true;

    fn draw(rng: &mut Rng, program: &Program<Self>) -> Self {
        let (queue, polls) = (program.other_queue(rng), draw::polls(rng));
        match rng.u8(..24) {
            0..=3 => Act::Wake { queue, polls },
            4..=8 => {
                // Most drops take no time.
                let drop = if rng.u8(..3) == 0 { draw::time(rng) } else { 0 };
                Act::Spawn { queue, polls, drop, how: draw_how(rng) }
            }
            9..=10 => Act::Abort(queue),
            11..=12 => Act::Rest { polls, of: None, next: draw_where(rng) },
            13..=15 => Act::Rest { polls, of: Some(program.any_queue(rng)), next: draw_where(rng) },
            16 => Act::Yield,
            17 => Act::Work(draw::time(rng)),
            18 => Act::Host(draw::time(rng)),
            19 => Act::Share { queue, share: draw::share(rng) },
            20 => Act::Request { queue: program.any_queue(rng), request: draw::time(rng) },
            21 => Act::Close(queue),
            _ => {
                Act::Create { queue, share: draw::share(rng), request: draw::time(rng), renamed: rng.bool() }
            }
        }
    }

    fn vary(&mut self, rng: &mut Rng) {
        match self {
            Act::Spawn { drop, .. } if rng.u8(..3) == 0 => match *drop {
                0 => *drop = draw::time(rng),
                _ if rng.u8(..4) == 0 => *drop = 0,
                _ => Field::Pause(drop).vary(rng),
            },
            Act::Spawn { how, .. } if rng.u8(..3) == 0 => *how = draw_how(rng),
            Act::Spawn { polls, .. } => Field::Polls(polls).vary(rng),
            Act::Rest { next, .. } if rng.u8(..4) == 0 => *next = draw_where(rng),
            _ => draw::vary_a_number(self, rng),
        }
    }

    fn fields(&mut self) -> Vec<Field<'_>> {
        match self {
            Act::Wake { queue, polls } => vec![Field::Queue(queue), Field::Polls(polls)],
            Act::Spawn { queue, polls, drop, .. } => {
                vec![Field::Queue(queue), Field::Polls(polls), Field::Pause(drop)]
            }
            Act::Abort(queue) | Act::Close(queue) => vec![Field::Queue(queue)],
            Act::Rest { polls, of: None, .. } => vec![Field::Polls(polls)],
            Act::Rest { polls, of: Some(queue), .. } => vec![Field::Queue(queue), Field::Polls(polls)],
            Act::Yield => Vec::new(),
            Act::Work(time) => vec![Field::Time(time)],
            Act::Host(time) => vec![Field::Pause(time)],
            Act::Share { queue, share } => vec![Field::Queue(queue), Field::Share(share)],
            Act::Request { queue, request } => vec![Field::Queue(queue), Field::Time(request)],
            Act::Create { queue, share, request, .. } => {
                vec![Field::Queue(queue), Field::Share(share), Field::Time(request)]
            }
        }
    }

    fn spares_its_queue(self) -> bool {
        // What is aborted may be its only task.
        !matches!(self, Act::Abort(_) | Act::Close(_) | Act::Create { .. } | Act::Share { .. })
    }

    fn play(program: &Program<Self>, operations: u64) -> anyhow::Result<Outcome> {
        scene::play(program, operations)
    }
}

fn draw_how(rng: &mut Rng) -> How {
    [How::Forget, How::Forget, How::Await, How::Send][rng.usize(..4)]
}

fn draw_where(rng: &mut Rng) -> Where {
    if rng.u8(..3) == 0 { Where::Poll } else { Where::Main }
}
