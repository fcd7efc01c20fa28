//! A program on both executors, step by step.

use std::io;
use std::rc::Rc;

use clockworker::{Executor, ManualClock};

use super::difference::Difference;
use super::event::{Entry, Event};
use super::executor::Clockworker;
use super::interpreter::Interpreter;
use super::op::Op;
use super::outcome::Outcome;
use super::program::Program;
use super::reference::Reference;
use crate::host::Host;

/// Clockworker and the reference, side by side. Each step is compared.
pub struct Pair {
    ours: Rc<Interpreter<Clockworker>>,
    theirs: Rc<Interpreter<Reference>>,
    compared: usize,
}

impl Pair {
    /// Two new executors, Clockworker alone in its thread.
    pub fn new() -> Self {
        let ours = interpreter(Host::Alone);
        let theirs = Interpreter::new(Reference::new(), ManualClock::new());
        theirs.enter();
        Pair { ours, theirs, compared: 0 }
    }

    /// Does a step on both.
    ///
    /// # Errors
    ///
    /// If something else was seen on one than on the other. Then the pair is of no use any more.
    pub fn step(&mut self, op: &Op) -> Result<(), Difference> {
        self.ours.step(op, &[]);
        let told = self.ours.trace.with(|trace| trace[self.compared..].to_vec());
        self.theirs.step(op, &told);
        self.compare()
    }

    fn compare(&mut self) -> Result<(), Difference> {
        let (ours, theirs) = (&self.ours.trace, &self.theirs.trace);
        let different =
            ours.with(|ours| theirs.with(|theirs| Difference::between(ours, theirs, self.compared)));
        self.compared = ours.with(|ours| ours.len());
        different.map_or(Ok(()), Err)
    }

    /// Drops both executors.
    ///
    /// # Errors
    ///
    /// If something else was seen on one than on the other, then or before, or if the statistics do not say what was seen.
    pub fn end(self) -> Result<Outcome, Difference> {
        let Pair { ours, theirs, compared } = self;
        let polls = ours.subject.polls();
        let outcome = end(&ours);
        theirs.end();
        let theirs = theirs.trace.with(std::mem::take);
        let sorted = |trace: &[Entry]| {
            let mut trace = trace.to_vec();
            trace[compared..].sort();
            trace
        };
        if let Some(difference) = Difference::between(&sorted(&outcome.trace), &sorted(&theirs), compared) {
            return Err(difference);
        }
        let seen = polls_seen(&outcome.trace, polls.len());
        if seen != polls {
            return Err(Difference::Polls { counted: polls, seen });
        }
        Ok(outcome)
    }
}

impl Default for Pair {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pair").field("compared", &self.compared).finish_non_exhaustive()
    }
}

/// Runs a program on Clockworker and on the reference, and gives what was seen on both.
///
/// # Errors
///
/// The first difference.
pub fn check(program: &Program) -> Result<Outcome, Difference> {
    let mut pair = Pair::new();
    program.ops.iter().try_for_each(|op| pair.step(op))?;
    pair.end()
}

/// Runs a program on Clockworker alone, inside a host.
///
/// # Errors
///
/// If the host does not start.
pub fn run_clockworker(program: &Program, host: Host) -> io::Result<Outcome> {
    Ok(Stage::start(host)?.run(program))
}

/// A host that was started, to run many programs in.
#[derive(Debug)]
pub struct Stage(Host);

impl Stage {
    /// Starts a host on this thread.
    ///
    /// # Errors
    ///
    /// If the operating system does not let it.
    pub fn start(host: Host) -> io::Result<Self> {
        host.run(&Executor::new(), async {})?;
        Ok(Stage(host))
    }

    /// Runs a program on a new executor inside this host.
    pub fn run(&self, program: &Program) -> Outcome {
        let run = interpreter(self.0);
        program.ops.iter().for_each(|op| run.step(op, &[]));
        end(&run)
    }
}

fn interpreter(host: Host) -> Rc<Interpreter<Clockworker>> {
    let clock = ManualClock::new();
    let interpreter = Interpreter::new(Clockworker::new(host, clock.clone()), clock);
    interpreter.enter();
    interpreter
}

fn end(interpreter: &Interpreter<Clockworker>) -> Outcome {
    interpreter.end();
    Outcome { trace: interpreter.trace.with(std::mem::take) }
}

fn polls_seen(trace: &[Entry], queues: usize) -> Vec<u64> {
    let mut seen = vec![0; queues];
    for entry in trace {
        if let Event::Polled { queue, .. } = entry.event {
            seen[usize::from(queue)] += 1;
        }
    }
    seen
}
