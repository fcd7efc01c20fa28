//! [`Program`]: queues, and moves that are made over and over.
//!
//! It is written as JSON, and read from it; times are in nanoseconds, queues are numbered from 0:
//!
//! ```text
//! {"subject": "eevdf", "victim": 0, "queues": [
//!   {"share":1,"request":500000,"polls":[20000,20000]},
//!   {"share":9,"request":500000,"polls":[20000,1000]}
//! ], "moves": [
//!   {"Wake":1},
//!   {"Serve":{"polls":20,"of":1}},
//!   {"Sleep":1}
//! ]}
//! ```

use std::fmt::{self, Debug, Display};

use anyhow::ensure;
use clockworker_schedulers::Share;
use fastrand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::books::Outcome;

/// Something that the adversary can do to a subject, and the subject.
pub(super) trait Move: Copy + Debug + PartialEq + Serialize + DeserializeOwned {
    /// The subject, as a program says it.
    const SUBJECT: &'static str;

    /// Whether it bills time itself, so that the bills can be compared with the truth.
    const BILLS: bool;

    fn draw(rng: &mut Rng, program: &Program<Self>) -> Self;

    /// Changes one thing of it, if there is any but the queue.
    fn vary(&mut self, rng: &mut Rng);

    /// Its numbers: the queue that it is about, and what the search varies.
    fn fields(&mut self) -> Vec<Field<'_>>;

    /// Whether it may be about the victim, which it leaves its work.
    fn spares_its_queue(self) -> bool;

    /// Plays a program, of about so many moves and polls.
    fn play(program: &Program<Self>, operations: u64) -> anyhow::Result<Outcome>;

    fn queue_mut(&mut self) -> Option<&mut usize> {
        self.fields().into_iter().find_map(|field| match field {
            Field::Queue(queue) => Some(queue),
            _ => None,
        })
    }
}

/// A number of a move or of a queue.
pub(super) enum Field<'a> {
    Queue(&'a mut usize),
    Polls(&'a mut u32),
    Share(&'a mut u32),
    /// Nanoseconds, at least one.
    Time(&'a mut u64),
    /// Nanoseconds, or none.
    Pause(&'a mut u64),
}

/// A queue, when a play begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) share: u32,
    pub(super) request: u64,
    /// How long its polls take, in turns.
    pub(super) polls: [u64; 2],
}

/// See the [module docs](self). Queues are created in their order; the moves are made by turns, and then again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Program<M> {
    pub(super) queues: Vec<Shape>,
    /// The queue that always has work.
    pub(super) victim: usize,
    pub(super) moves: Vec<M>,
}

impl Field<'_> {
    fn is_in_range(&self) -> bool {
        // No sum of times overflows.
        const HOUR: u64 = 3_600 * 1_000_000_000;
        match self {
            Field::Queue(_) => true,
            Field::Polls(polls) => **polls > 0,
            Field::Share(share) => Share::new(**share).is_ok(),
            Field::Time(ns) => (1..=HOUR).contains(*ns),
            Field::Pause(ns) => **ns <= HOUR,
        }
    }
}

impl<M: Move> Program<M> {
    /// Of queues, by share, request and length of a poll, the two in microseconds. The first is the victim.
    pub(super) fn of(queues: &[(u32, u64, u64)], moves: &[M]) -> Self {
        let shape = |&(share, request, poll): &(u32, u64, u64)| Shape {
            share,
            request: request * 1_000,
            polls: [poll * 1_000; 2],
        };
        Program { queues: queues.iter().map(shape).collect(), victim: 0, moves: moves.to_vec() }
    }

    /// Whether the move is about a queue that there is, and leaves the victim its work.
    pub(super) fn allows(&self, mut make: M) -> bool {
        let spares = make.spares_its_queue();
        make.queue_mut().is_none_or(|queue| *queue < self.queues.len() && (spares || *queue != self.victim))
    }

    /// Reads what [`Display`] has written.
    pub(super) fn read(text: serde_json::Value) -> anyhow::Result<Self> {
        let mut program: Self = serde_json::from_value(text)?;
        let queues = program.queues.len();
        ensure!(
            (1..=26).contains(&queues) && program.victim < queues,
            "no queue is the victim, or more than 26"
        );
        for &make in &program.moves {
            ensure!(
                program.allows(make),
                "{make:?}: there is no such queue, or it is the victim, which always has work"
            );
        }
        for Shape { share, request, polls: [poll, next] } in &mut program.queues {
            let fields = [Field::Share(share), Field::Time(request), Field::Time(poll), Field::Time(next)];
            ensure!(fields.iter().all(Field::is_in_range), "out of range: a queue of share {share}");
        }
        for make in &mut program.moves {
            ensure!(make.fields().iter().all(Field::is_in_range), "out of range: {make:?}");
        }
        Ok(program)
    }
}

impl<M: Move> Display for Program<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (queues, moves) = (lines(&self.queues)?, lines(&self.moves)?);
        write!(f, "{{\"subject\": \"{}\", \"victim\": {}, ", M::SUBJECT, self.victim)?;
        write!(f, "\"queues\": [{queues}\n], \"moves\": [{moves}\n]}}")
    }
}

fn lines(of: &[impl Serialize]) -> Result<String, fmt::Error> {
    let lines: Result<Vec<String>, _> = of.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|_| fmt::Error)?;
    Ok(lines.into_iter().map(|line| format!("\n  {line}")).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::super::eevdf::Act;
    use super::*;

    fn read(text: &str) -> anyhow::Result<Program<Act>> {
        Program::read(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn what_is_written_can_be_read_and_what_is_wrong_is_told() {
        let queues = [(1, 500, 20), (9, 1_000, 20)];
        let program =
            Program::of(&queues, &[Act::Wake(1), Act::Serve { polls: 20, of: None }, Act::Sleep(1)]);
        let text = program.to_string();
        assert_eq!(read(&text).unwrap(), program, "{text}");
        let wrong = |from: &str, to: &str| read(&text.replace(from, to)).unwrap_err().to_string();
        assert!(wrong("\"polls\":20,", "\"polls\":0,").contains("out of range: Serve"));
        assert!(wrong("{\"Wake\":1}", "{\"Starve\":1}").contains("Starve"));
        assert!(wrong("{\"Sleep\":1}", "{\"Sleep\":0}").contains("Sleep(0)"));
        assert!(wrong("{\"Sleep\":1}", "{\"Sleep\":2}").contains("Sleep(2)"));
        assert!(wrong("\"victim\": 0", "\"victim\": 2").contains("victim"));
        assert!(wrong("\"share\":9", "\"share\":1000001").contains("1000001"));
        assert!(wrong("\"request\":500000", "\"request\":0").contains("out of range"));
    }
}
