//! What was seen of a program that was run to its end.

use super::audit::Audit;
use super::event::{End, Entry, Event};

/// What was seen of a whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Everything, in order.
    pub trace: Vec<Entry>,
}

impl Outcome {
    /// What the trace says by itself.
    pub fn audit(&self) -> Audit {
        Audit::of(&self.trace)
    }

    /// A hash (FNV-1a, 64 bits) of the whole schedule: of each event its virtual time, its kind with task and queue, and
    /// whether it was elsewhere.
    pub fn hash(&self) -> u64 {
        let numbers = self.trace.iter().flat_map(numbers);
        numbers
            .flat_map(u64::to_le_bytes)
            .fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
    }
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;

/// An entry, spelt so that no two are the same.
fn numbers(entry: &Entry) -> [u64; 4] {
    let name = |name: Option<u16>| name.map_or(0, |name| 1 + u64::from(name));
    let (kind, first, second) = match entry.event {
        Event::Spawned { task, queue } => (0, task.into(), name(queue)),
        Event::Polled { task, queue } => (1, task.into(), queue.into()),
        Event::Finished(task) => (2, task.into(), 0),
        Event::FutureDropped(task) => (3, task.into(), 0),
        Event::Unmade(task) => (4, task.into(), 0),
        Event::OutputDropped(task) => (5, task.into(), 0),
        Event::Joined { by, of, end } => {
            let end = match end {
                End::Output(task) => 2 + u64::from(task),
                End::Cancelled => 0,
                End::Panicked => 1,
            };
            (6, u64::from(of) << 32 | name(by), end)
        }
        Event::Created { slot, free } => (7, slot.into(), free.into()),
        Event::Stopped { idle } => (8, idle.into(), 0),
        Event::Ended => (9, 0, 0),
    };
    [entry.at_ns, u64::from(entry.elsewhere) << 8 | kind, first, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fnv_1a_and_sees_the_order() {
        let entry = |at_ns| Entry { at_ns, event: Event::Ended, elsewhere: false };
        let hash = |trace: &[Entry]| Outcome { trace: trace.to_vec() }.hash();
        assert_eq!(hash(&[]), FNV_OFFSET);
        assert_ne!(hash(&[entry(1), entry(2)]), hash(&[entry(2), entry(1)]));
    }
}
