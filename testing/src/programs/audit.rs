//! What a trace says by itself, without a reference: was everything dropped once, and where it belongs?

use super::event::{Entry, Event};
use super::op::TaskName;

/// What a trace says without a reference. Everything but the first three is to be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Tasks spawned.
    pub tasks: u64,
    /// Polls.
    pub polls: u64,
    /// Outputs made.
    pub outputs: u64,
    /// Futures polled, finished or dropped on another thread.
    pub strayed: u64,
    /// Futures dropped more or less than once.
    pub future_drops: u64,
    /// Outputs dropped more or less than once.
    pub output_drops: u64,
}

/// What was counted of one task.
#[derive(Clone, Copy, Default)]
struct Account {
    spawned: u32,
    future_drops: u32,
    outputs: u32,
    output_drops: u32,
}

impl Audit {
    /// Looks through a whole trace.
    pub fn of(trace: &[Entry]) -> Self {
        let mut audit = Audit::default();
        let mut accounts: Vec<Account> = Vec::new();
        for entry in trace {
            audit.strayed += u64::from(entry.elsewhere && is_owners(&entry.event));
            let Some(task) = entry.event.task() else { continue };
            let account = account(&mut accounts, task);
            match entry.event {
                Event::Spawned { .. } => account.spawned += 1,
                Event::Polled { .. } => audit.polls += 1,
                Event::Finished(_) => account.outputs += 1,
                Event::FutureDropped(_) | Event::Unmade(_) => account.future_drops += 1,
                Event::OutputDropped(_) => account.output_drops += 1,
                Event::Joined { .. } | Event::Created { .. } | Event::Stopped { .. } | Event::Ended => {}
            }
        }
        for account in &accounts {
            audit.tasks += u64::from(account.spawned);
            audit.outputs += u64::from(account.outputs);
            audit.future_drops += u64::from(account.spawned != account.future_drops);
            audit.output_drops += u64::from(account.outputs != account.output_drops);
        }
        audit
    }

    /// Whether there is nothing to complain of.
    pub fn is_clean(&self) -> bool {
        (self.strayed, self.future_drops, self.output_drops) == (0, 0, 0)
    }

    /// Adds another's counts.
    pub fn add(&mut self, other: &Audit) {
        let Audit { tasks, polls, outputs, strayed, future_drops, output_drops } = other;
        self.tasks += tasks;
        self.polls += polls;
        self.outputs += outputs;
        self.strayed += strayed;
        self.future_drops += future_drops;
        self.output_drops += output_drops;
    }
}

fn account(accounts: &mut Vec<Account>, task: TaskName) -> &mut Account {
    let at = usize::from(task);
    if accounts.len() <= at {
        accounts.resize(at + 1, Account::default());
    }
    &mut accounts[at]
}

/// What may happen on the owner's thread only. An output is `Send` and goes where its handle does; a closure that is to
/// make a future is too.
fn is_owners(event: &Event) -> bool {
    !matches!(event, Event::OutputDropped(_) | Event::Unmade(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sees_what_is_dropped_twice_never_or_elsewhere() {
        let entry = |event| Entry { at_ns: 0, event, elsewhere: false };
        let spawned = entry(Event::Spawned { task: 0, queue: Some(0) });
        let dropped = entry(Event::FutureDropped(0));
        let (made, gone) = (entry(Event::Finished(0)), entry(Event::OutputDropped(0)));
        assert!(Audit::of(&[spawned, made, dropped, gone]).is_clean());
        assert_eq!(Audit::of(&[spawned]).future_drops, 1);
        assert_eq!(Audit::of(&[spawned, dropped, dropped]).future_drops, 1);
        assert_eq!(Audit::of(&[spawned, made, dropped]).output_drops, 1);
        let strayed = Entry { elsewhere: true, ..dropped };
        assert_eq!(Audit::of(&[spawned, strayed]).strayed, 1);
        assert!(Audit::of(&[spawned, made, dropped, Entry { elsewhere: true, ..gone }]).is_clean());
    }
}
