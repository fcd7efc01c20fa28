//! A program on both executors, step by step, or on Clockworker alone.

use std::fmt;

use super::clockworker::Clockworker;
use super::event::Entry;
use super::interpreter::Interpreter;
use super::outcome::{Audit, Outcome};
use super::program::{Kind, Program};
use super::reference::Reference;
use crate::host::Host;

/// The first place where two runs of a program part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What both saw before, its last part.
    common: Vec<Entry>,
    /// What Clockworker did then, if anything.
    ours: Option<Entry>,
    /// What the reference did.
    theirs: Option<Entry>,
}

/// How much of what is common is kept.
const CONTEXT: usize = 20;

impl Difference {
    /// The first in two traces, which `from` on are to be equal.
    fn between(ours: &[Entry], theirs: &[Entry], from: usize) -> Result<(), Self> {
        let parts = |&at: &usize| ours.get(at) != theirs.get(at);
        let Some(at) = (from..ours.len().max(theirs.len())).find(parts) else { return Ok(()) };
        let common = ours[at.saturating_sub(CONTEXT).min(ours.len())..at.min(ours.len())].to_vec();
        Err(Difference { common, ours: ours.get(at).copied(), theirs: theirs.get(at).copied() })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.common.iter().try_for_each(|entry| writeln!(f, "  {entry}"))?;
        let show = |entry: &Option<Entry>| entry.map_or("nothing more".to_owned(), |e| e.to_string());
        write!(f, "then Clockworker: {}\n      reference: {}", show(&self.ours), show(&self.theirs))
    }
}

impl std::error::Error for Difference {}

/// Runs a compared program on Clockworker and on the reference, and gives what was seen on both.
///
/// # Errors
///
/// The first difference.
pub fn check(program: &Program) -> Result<Outcome, Difference> {
    let ours = Interpreter::<Clockworker>::begin(program, Host::Alone, 0);
    let theirs = Reference::begin();
    let mut compared = 0;
    for op in &program.ops {
        ours.step(op, &[]);
        if theirs.subject.is_lost.get() {
            continue;
        }
        let lead = ours.trace.with(|ours| ours[compared..].to_vec());
        theirs.step(op, &lead);
        if !theirs.subject.is_lost.get() {
            ours.trace
                .with(|ours| theirs.trace.with(|theirs| Difference::between(ours, theirs, compared)))?;
            compared += lead.len();
        }
    }
    let outcome = match ours.finish(program) {
        Ok(outcome) => outcome,
        Err(error) => unreachable!("nothing is waited for: {error}"),
    };
    theirs.end();
    if !theirs.subject.is_lost.get() {
        // The order in which tasks are dropped with their executor is not compared.
        let mut traces = [outcome.trace.clone(), theirs.trace.with(std::mem::take)];
        traces.iter_mut().for_each(|trace| trace[compared..].sort());
        Difference::between(&traces[0], &traces[1], compared)?;
    }
    Ok(outcome)
}

/// Runs a program on Clockworker alone, inside a host, with so many free threads beside it.
///
/// # Errors
///
/// If a thread panics, or some tasks are ready for ever.
pub fn run(program: &Program, host: Host, threads: usize) -> anyhow::Result<Outcome> {
    let run = Interpreter::<Clockworker>::begin(program, host, threads);
    program.ops.iter().for_each(|op| run.step(op, &[]));
    run.finish(program)
}

/// Plays the program that these bytes spell: beside the reference if that knows it, else alone.
///
/// # Panics
///
/// If there is anything to complain of.
pub fn play(kind: Kind, bytes: &[u8]) -> Audit {
    let program = Program::new(kind, bytes);
    let outcome = match kind {
        Kind::Compared => check(&program).map_err(anyhow::Error::from),
        Kind::Everything | Kind::Hostile => run(&program, Host::Alone, 0),
    };
    let audit = outcome.unwrap_or_else(|error| panic!("{error:#}\nin the program\n{program}")).audit();
    assert!(audit.is_clean(), "{audit:?}\nin the program\n{program}");
    audit
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::event::Event;
    use super::super::random_bytes;
    use super::*;

    /// How often each kind of event is seen in some programs.
    fn events(kind: Kind, programs: u64, bytes: usize) -> BTreeMap<String, u64> {
        let mut events = BTreeMap::new();
        for seed in 0..programs {
            let outcome = run(&Program::new(kind, &random_bytes(seed, bytes)), Host::Alone, 0).unwrap();
            for entry in &outcome.trace {
                let name = match entry.event {
                    Event::Created(_, created) => format!("Created {created}"),
                    Event::Stopped(idle) => format!("Stopped {idle}"),
                    Event::Joined(_, _, end) => format!("{end:?}").split('(').next().unwrap().to_owned(),
                    other => format!("{other:?}").split('(').next().unwrap().to_owned(),
                };
                *events.entry(name).or_default() += 1;
            }
        }
        events
    }

    #[test]
    fn programs_do_everything_there_is_to_do_and_often() {
        let compared = events(Kind::Compared, 1_000, 300);
        let known = [
            "Spawned",
            "Main",
            "Polled",
            "Pending",
            "Finished",
            "Panics",
            "Woken",
            "Aborted",
            "FutureDropped",
            "Unmade",
            "Refused",
            "OutputDropped",
            "Output",
            "Cancelled",
            "Panicked",
            "Created true",
            "Created false",
            "Stopped true",
            "Stopped false",
        ];
        let everything = events(Kind::Everything, 300, 3_000);
        for name in known {
            assert!(compared.get(name).is_some_and(|&n| n > 100), "{name}: {compared:?}");
        }
        for name in known.iter().chain(&["Lent", "Rest"]) {
            assert!(everything.get(*name).is_some_and(|&n| n > 50), "{name}: {everything:?}");
        }
    }
}
