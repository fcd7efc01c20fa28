//! [`Program`]: queues, and moves that are made over and over.
//!
//! It is written as text, and read from it:
//!
//! ```text
//! eevdf                                              # the subject
//! queue a share 1 request 500us polls 20us victim    # it always has work
//! queue b share 9 request 500us polls 20us 1us       # polls of the one length and the other alternate
//! wake b
//! serve 20 of b
//! sleep b
//! ```

use std::fmt::{self, Debug, Display};
use std::str::FromStr;

use fastrand::Rng;

use super::books::Outcome;
use super::words::{MOST_QUEUES, Name, Ns, Words};
use crate::failure::Failure;

/// Something that the adversary can do to a subject, and the subject.
pub(super) trait Move: Clone + Debug + Display + PartialEq + Sized {
    /// The subject, as the first line of a program says it.
    const SUBJECT: &'static str;

    /// Whether it bills time itself, so that the bills can be compared with the truth.
    const BILLS: bool;

    /// Programs that people thought of.
    const KNOWN: &'static [&'static str];

    /// Reads one.
    fn read(words: &mut Words<'_>) -> Result<Self, String>;

    /// A random one.
    fn draw(rng: &mut Rng, cast: Cast) -> Self;

    /// Changes one of its numbers, if it has any.
    fn vary(&mut self, rng: &mut Rng);

    /// The queue that it is about.
    fn queue_mut(&mut self) -> Option<&mut usize>;

    /// Whether it leaves work to a victim of that number.
    fn spares(&self, victim: usize) -> bool;

    /// Plays a program, of about so many moves and polls.
    fn play(program: &Program<Self>, operations: u64) -> Result<Outcome, Failure>;
}

/// Who takes part: so many queues, and the victim among them, which always has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cast {
    pub(super) queues: usize,
    pub(super) victim: usize,
}

/// A queue, when a play begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) share: u32,
    pub(super) request: u64,
    /// How long its polls take, in turns.
    pub(super) polls: [u64; 2],
}

/// See the [module docs](self). Queues are created in their order; the moves are made by turns, and then again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program<M> {
    pub(super) queues: Vec<Shape>,
    pub(super) victim: usize,
    pub(super) moves: Vec<M>,
}

impl Cast {
    /// Any queue.
    pub(super) fn anyone(self, rng: &mut Rng) -> usize {
        rng.usize(..self.queues)
    }

    /// Any but the victim; there must be one.
    pub(super) fn other(self, rng: &mut Rng) -> usize {
        (self.victim + rng.usize(1..self.queues.max(2))) % self.queues
    }
}

impl<M: Move> Program<M> {
    /// Who takes part.
    pub(super) fn cast(&self) -> Cast {
        Cast { queues: self.queues.len(), victim: self.victim }
    }

    /// Whether all moves are about queues that there are, and leave the victim its work.
    pub(super) fn allows(&self, make: &M) -> bool {
        let queue = make.clone().queue_mut().map_or(0, |queue| *queue);
        queue < self.queues.len() && make.spares(self.victim)
    }
}

impl<M: Move> Display for Program<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", M::SUBJECT)?;
        for (index, queue) in self.queues.iter().enumerate() {
            let victim = if index == self.victim { " victim" } else { "" };
            writeln!(f, "queue {} {queue}{victim}", Name(index))?;
        }
        self.moves.iter().try_for_each(|make| writeln!(f, "{make}"))
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.polls;
        write!(f, "share {} request {} polls {}", self.share, Ns(self.request), Ns(first))?;
        if second == first { Ok(()) } else { write!(f, " {}", Ns(second)) }
    }
}

impl<M: Move> FromStr for Program<M> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut queues, mut victim, mut moves) = (Vec::new(), None, Vec::new());
        for (number, line) in lines(text).skip(1) {
            let mut words = Words::of(line);
            let read = if words.is_next("queue") {
                read_queue(&mut words, &mut queues, &mut victim)
            } else {
                M::read(&mut words).map(|make| moves.push((number, make)))
            };
            read.and_then(|()| words.end()).map_err(|error| format!("line {number}: {error}"))?;
        }
        let victim = victim.ok_or("no queue is the victim")?;
        let mut program = Program { queues, victim, moves: Vec::new() };
        for (number, make) in moves {
            if !program.allows(&make) {
                let why = "there is no such queue, or it is the victim, which always has work";
                return Err(format!("line {number}: '{make}': {why}"));
            }
            program.moves.push(make);
        }
        Ok(program)
    }
}

/// The subject that a program is for: the first word of it.
pub(super) fn subject_of(text: &str) -> Option<&str> {
    lines(text).next().map(|(_, line)| line)
}

/// The lines that say something, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let lines = lines.map(|(number, line)| (number, line.split('#').next().unwrap_or_default().trim()));
    lines.filter(|(_, line)| !line.is_empty())
}

fn read_queue(
    words: &mut Words<'_>,
    queues: &mut Vec<Shape>,
    victim: &mut Option<usize>,
) -> Result<(), String> {
    let queue = words.queue()?;
    if queue != queues.len() || queue >= MOST_QUEUES {
        return Err(format!("the next queue is {}", Name(queues.len())));
    }
    words.expect("share")?;
    let share = read_share(words)?;
    words.expect("request")?;
    let request = words.duration()?;
    words.expect("polls")?;
    let first = words.duration()?;
    let is_victim = words.is_next("victim");
    let second = match words.clone().next() {
        Ok(_) if !is_victim => words.duration()?,
        _ => first,
    };
    if is_victim || words.is_next("victim") {
        if victim.is_some() {
            return Err("there is one victim".to_owned());
        }
        *victim = Some(queue);
    }
    queues.push(Shape { share, request, polls: [first, second] });
    Ok(())
}

/// Reads a share that there may be.
pub(super) fn read_share(words: &mut Words<'_>) -> Result<u32, String> {
    let share = words.count()?;
    clockworker_schedulers::Share::new(share).map(|share| share.get()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::eevdf::Act;
    use super::*;

    const TEXT: &str = "\
eevdf
queue a share 1 request 500us polls 20us
queue b share 9 request 1ms polls 20us 1us victim
wake a
serve 20
sleep a
";

    #[test]
    fn what_is_written_can_be_read() {
        let program: Program<Act> = TEXT.parse().unwrap();
        assert_eq!(program.cast(), Cast { queues: 2, victim: 1 });
        assert_eq!(program.queues[1], Shape { share: 9, request: 1_000_000, polls: [20_000, 1_000] });
        assert_eq!(program.to_string(), TEXT);
        let commented = TEXT.replace("serve 20\n", "\n# it is served\n  serve 20 # polls\n");
        assert_eq!(commented.parse(), Ok(program));
        assert_eq!(subject_of("# a program\n\neevdf\n"), Some("eevdf"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = |from: &str, to: &str| TEXT.replace(from, to).parse::<Program<Act>>().unwrap_err();
        assert_eq!(wrong("serve 20", "serve me"), "line 5: 'me' is no number from 1 on");
        assert_eq!(wrong("serve 20", "starve a"), "line 5: 'starve' is nothing that can be done to eevdf");
        assert!(wrong("sleep a", "sleep b").starts_with("line 6: 'sleep b'"));
        assert!(wrong("sleep a", "sleep c").starts_with("line 6: 'sleep c'"));
        assert_eq!(wrong(" victim", ""), "no queue is the victim");
        assert_eq!(wrong("20us\n", "20us victim\n"), "line 3: there is one victim");
        assert_eq!(wrong("queue b", "queue c"), "line 3: the next queue is b");
        assert!(wrong("share 9", "share 1000001").contains("1000000"));
        assert_eq!(wrong("sleep a", "sleep a now"), "line 6: 'now' is too much");
    }
}
