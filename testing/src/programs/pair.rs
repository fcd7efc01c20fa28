//! A program on both executors, step by step, or on Clockworker alone.

use super::clockworker::Clockworker;
use super::event::Entry;
use super::interpreter::Interpreter;
use super::outcome::{Audit, Outcome};
use super::program::{Kind, Program};
use super::reference::Reference;
use crate::host::Host;

/// How much of what both saw is shown with a difference.
const CONTEXT: usize = 20;

/// Fails with the first difference of two traces, which `from` on are to be equal but for the threads of what was seen.
fn compare(ours: &[Entry], theirs: &[Entry], from: usize) {
    let what = |entry: &Entry| (entry.at_ns, entry.event);
    let parts = |&at: &usize| ours.get(at).map(what) != theirs.get(at).map(what);
    let Some(at) = (from..ours.len().max(theirs.len())).find(parts) else { return };
    let common = ours.iter().take(at).skip(at.saturating_sub(CONTEXT));
    let common: String = common.map(|entry| format!("  {entry:?}\n")).collect();
    panic!("{common}then Clockworker: {:?}\n      reference: {:?}", ours.get(at), theirs.get(at));
}

/// Shows the program if its run panics.
struct Shown<'a>(&'a Program);

impl Drop for Shown<'_> {
    #[allow(clippy::print_stderr, reason = "a test says in what it failed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the program\n{}", self.0);
        }
    }
}

/// Runs a compared program on Clockworker and on the reference, where the same must be seen.
fn check(program: &Program) -> Outcome {
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
            ours.trace.with(|ours| theirs.trace.with(|theirs| compare(ours, theirs, compared)));
            compared += lead.len();
        }
    }
    let outcome = ours.finish(program);
    theirs.end();
    if !theirs.subject.is_lost.get() {
        // The order in which tasks are dropped with their executor is not compared.
        let mut traces = [outcome.trace.clone(), theirs.trace.with(std::mem::take)];
        traces.iter_mut().for_each(|trace| trace[compared..].sort_by_key(|entry| entry.event));
        compare(&traces[0], &traces[1], compared);
    }
    outcome
}

/// Runs a program on Clockworker alone, inside a host, with so many free threads beside it.
pub fn run(program: &Program, host: Host, threads: usize) -> Outcome {
    let _shown = Shown(program);
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
    let _shown = Shown(&program);
    let outcome = match kind {
        Kind::Compared => check(&program),
        Kind::Everything | Kind::Hostile => run(&program, Host::Alone, 0),
    };
    let audit = outcome.audit(0);
    assert!(audit.is_clean(), "{audit:?}");
    audit
}
