//! Merges sorted runs into one, a part at a time.

use std::rc::Rc;

use crate::store::Entry;

/// Entries in the order of their keys, each key once.
pub(crate) type Run = Vec<Entry>;

/// A merge under way. Where several runs have a key, the newest one's entry goes into the result.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The newest first.
    inputs: Vec<Rc<Run>>,
    /// The next entry of each input.
    heads: Vec<usize>,
    output: Run,
    corrupt: u64,
}

impl Merge {
    pub(crate) fn new(inputs: Vec<Rc<Run>>) -> Self {
        let heads = vec![0; inputs.len()];
        let longest = inputs.iter().map(|run| run.len()).max().unwrap_or(0);
        Self { inputs, heads, output: Vec::with_capacity(longest), corrupt: 0 }
    }

    /// Merges this many entries. Whether there are more.
    pub(crate) fn step(&mut self, entries: u32) -> bool {
        for _ in 0..entries {
            let Some(entry) = self.next() else { return false };
            // As a store does that reads its data back: the merge is the time to notice that it is damaged.
            self.corrupt += u64::from(!entry.is_intact());
            self.output.push(entry);
        }
        true
    }

    /// Takes the smallest key's newest entry, and passes over the older ones.
    fn next(&mut self) -> Option<Entry> {
        let mut least: Option<&Entry> = None;
        for (run, head) in self.inputs.iter().zip(&self.heads) {
            if let Some(entry) = run.get(*head)
                && least.is_none_or(|least| entry.key < least.key)
            {
                least = Some(entry);
            }
        }
        let entry = least?.clone();
        for (run, head) in self.inputs.iter().zip(&mut self.heads) {
            *head += usize::from(run.get(*head).is_some_and(|other| other.key == entry.key));
        }
        Some(entry)
    }

    /// The result, and how many of its entries are damaged.
    pub(crate) fn finish(self) -> (Run, u64) {
        (self.output, self.corrupt)
    }
}
