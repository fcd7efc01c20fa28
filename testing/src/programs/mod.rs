//! Random programs, and what must hold of each: one grammar, three oracles.
//!
//! A [`Program`] is a list of operations, made of bytes, which a seed, a fuzzer or a test decides. Its tasks spawn, wake, abort,
//! join, panic and drop, from outside, from inside tasks, from destructors and from other threads; queues and groups are
//! created, changed and closed under them.
//!
//! # Kinds
//!
//! | [`Kind`] | what is in it | what it is for |
//! |---|---|---|
//! | `Compared` | what the reference executor can do too | [`play`] |
//! | `Everything` | also nested, capped, limited and retired queues, groups, join sets, spawns that wait for room, wakers that panic, runs that are dropped midway | [`run`], in any host, and with free threads |
//! | `Hostile` | the same beside a queue whose scheduler is hostile | the same |
//!
//! # Oracles
//!
//! * **The reference** ([`play`]): a plain executor made of `async-task` runs the program too, step by step. All that a task or
//!   its joiner can see is compared, in its order, with the virtual time of each event. Three things are taken from Clockworker's
//!   trace: which of several *queues* has the next poll, which *task* does in a queue that is not FIFO, and where a run that was to
//!   end early did so. So with one FIFO queue the whole order is compared, with several the order in each of them. The order in
//!   which tasks are dropped with their executor is not.
//! * **The audit** ([`Audit`]) of a trace: futures and outputs are dropped once, where they belong; no poll after the end, none
//!   without a wake, no wake without a poll; no task at rest that could go on; no poll of its queue between an abort and the drop;
//!   each handle answers; and the executor's accounts are what was seen: tasks by how they ended, polls by queue, and time, each
//!   nanosecond of which is billed once.
//! * **The scheduler's contract**: a fault is reported if and only if there was one, and then the scheduler is not called again.
//!
//! A program without free threads has one course: the thread beside the executor is waited for. So [`run`] gives the same
//! each time, in every host.

mod clockworker;
pub mod containment;
mod event;
mod grammar;
mod interpreter;
mod op;
mod outcome;
mod plan;
mod program;
mod reference;
mod task;
mod threads;
mod waits;

pub use event::Actor;
pub use op::Thread;
pub use outcome::{Audit, Outcome, Phase};
pub use program::{Kind, Program, random_bytes, round, shrunk};

use clockworker::Clockworker;
use event::Entry;
use interpreter::Interpreter;
use reference::Reference;

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
