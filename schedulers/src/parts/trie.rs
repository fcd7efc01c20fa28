//! [`Trie`]: ready tasks by deadline, of which the first from any time on is found in few steps.

use super::ready_list::ReadyTask;
use super::slab::Slab;

/// Where a task is in the order: its deadline in nanoseconds, then its number in the order of becoming ready.
type Key = [u64; 2];

/// Says of a node that it is a leaf. The other bits are its index, among the leaves or among the branches.
const LEAF: u32 = 1 << 31;

/// There are so many bits in a key.
const ALL: u8 = 128;

/// A fork of the keys that are alike in all bits before one.
#[derive(Clone, Copy, Debug)]
struct Branch {
    /// The bit: 0 is the highest of the deadline, 127 the lowest of the number.
    bit: u8,
    /// The nodes of those that have 0 there, and 1.
    sides: [u32; 2],
}

/// A link to a node: a side of a branch. `None` is the one to the root.
type Link = Option<(u32, usize)>;

/// The end of a way down from the root.
struct Way {
    node: u32,
    /// The link to `node`, and that to the branch which has it.
    link: Link,
    above: Link,
    /// Under this node are the leaves that follow those of `node`.
    later: Option<u32>,
}

/// Ready tasks by deadline; of equal ones, the one first that became ready first.
///
/// A binary trie over the bits in which keys differ. Each change and question goes down a few times from the root to a leaf:
/// past some log₂ n branches where deadlines are spread evenly, and 128 at most. Time that goes by moves nothing. Memory
/// is 52 bytes for each task of the most that there were at a time.
#[derive(Clone, Debug)]
pub(crate) struct Trie {
    /// With deadlines.
    leaves: Slab<(u64, ReadyTask)>,
    /// One less than leaves, or none.
    branches: Slab<Branch>,
    /// `None` if and only if there are no leaves.
    root: Option<u32>,
    /// How many nodes were passed.
    #[cfg(test)]
    pub(crate) steps: core::cell::Cell<u64>,
}

/// The side of a branch at `bit` that a key is on.
#[inline]
fn side(key: Key, bit: u8) -> usize {
    let [deadline_ns, number] = key;
    let word = if bit < 64 { deadline_ns } else { number };
    (word << (bit % 64) >> 63) as usize
}

/// The first bit in which two keys differ.
#[inline]
fn first_difference(key: Key, other: Key) -> u8 {
    let [deadlines, numbers] = [key[0] ^ other[0], key[1] ^ other[1]];
    (if deadlines != 0 { deadlines.leading_zeros() } else { 64 + numbers.leading_zeros() }) as u8
}

impl Trie {
    /// Of no tasks.
    pub(crate) const fn new() -> Self {
        Self {
            leaves: Slab::new(),
            branches: Slab::new(),
            root: None,
            #[cfg(test)]
            steps: core::cell::Cell::new(0),
        }
    }

    /// How many tasks there are.
    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// The task of a leaf.
    #[inline]
    pub(crate) fn task(&self, leaf: u32) -> ReadyTask {
        self.leaves.get(leaf & !LEAF).1
    }

    #[inline]
    pub(crate) fn key(&self, leaf: u32) -> Key {
        let (deadline_ns, ready) = self.leaves.get(leaf & !LEAF);
        [*deadline_ns, ready.number]
    }

    /// Puts a task in, whose number none has: its leaf, until it is removed.
    pub(crate) fn insert(&mut self, deadline_ns: u64, ready: ReadyTask) -> u32 {
        let leaf = self.leaves.put((deadline_ns, ready)) | LEAF;
        let Some(root) = self.root else {
            self.root = Some(leaf);
            return leaf;
        };
        let key = [deadline_ns, ready.number];
        let bit = first_difference(key, self.key(self.nearest(root, key)));
        let way = self.way(root, key, bit);
        let mut sides = [way.node; 2];
        sides[side(key, bit)] = leaf;
        let branch = self.branches.put(Branch { bit, sides });
        self.set(way.link, branch);
        leaf
    }

    /// Takes the task of a leaf out. That, and the leaf that went next after it.
    pub(crate) fn remove(&mut self, leaf: u32) -> (ReadyTask, Option<u32>) {
        let way = self.way(self.root.unwrap_or(leaf), self.key(leaf), ALL);
        match way.link {
            Some((branch, side)) => {
                let other = self.branches.take(branch).sides[1 - side];
                self.set(way.above, other);
            }
            None => self.root = None,
        }
        (self.leaves.take(leaf & !LEAF).1, way.later.map(|later| self.first_under(later)))
    }

    /// The leaf that goes next after one.
    pub(crate) fn next(&self, leaf: u32) -> Option<u32> {
        self.way(self.root?, self.key(leaf), ALL).later.map(|later| self.first_under(later))
    }

    /// The leaf that goes first of those of this deadline or a later one.
    pub(crate) fn first_from(&self, deadline_ns: u64) -> Option<u32> {
        let (root, from) = (self.root?, [deadline_ns, 0]);
        // What is under the node before which they part differs from `from` in the same way.
        let bit = first_difference(from, self.key(self.nearest(root, from)));
        let way = self.way(root, from, bit);
        let follows = if side(from, bit) == 0 { Some(way.node) } else { way.later };
        follows.map(|node| self.first_under(node))
    }

    /// The leaf at the end of the way by the bits of a key: of all keys, its differs last from this.
    #[inline]
    fn nearest(&self, mut node: u32, key: Key) -> u32 {
        while let Some(branch) = self.branch(node) {
            node = branch.sides[side(key, branch.bit)];
        }
        node
    }

    /// The way from the root by the bits of a key before `until`.
    #[inline]
    fn way(&self, root: u32, key: Key, until: u8) -> Way {
        let mut way = Way { node: root, link: None, above: None, later: None };
        while let Some(branch) = self.branch(way.node).filter(|branch| branch.bit < until) {
            let side = side(key, branch.bit);
            (way.above, way.link) = (way.link, Some((way.node, side)));
            if side == 0 {
                way.later = Some(branch.sides[1]);
            }
            way.node = branch.sides[side];
        }
        way
    }

    fn first_under(&self, mut node: u32) -> u32 {
        while let Some(branch) = self.branch(node) {
            node = branch.sides[0];
        }
        node
    }

    /// Has a link lead to `node`.
    #[inline]
    fn set(&mut self, link: Link, node: u32) {
        match link {
            Some((branch, side)) => self.branches.get_mut(branch).sides[side] = node,
            None => self.root = Some(node),
        }
    }

    /// The branch that a node is, unless it is a leaf.
    #[inline]
    fn branch(&self, node: u32) -> Option<&Branch> {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
        (node & LEAF == 0).then(|| self.branches.get(node))
    }

    /// For how many tasks there is memory.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.leaves.capacity().max(self.branches.capacity())
    }

    /// Gives memory back, but that for so many, where no task is left.
    pub(crate) fn shrink_to(&mut self, kept: usize) {
        self.leaves.shrink_to(kept);
        self.branches.shrink_to(kept);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::random::Random;
    use crate::{GroupId, Task, TaskId};

    fn ready(number: u64) -> ReadyTask {
        ReadyTask { number, task: Task { id: TaskId::new(0, 0), group: GroupId::new(0) } }
    }

    /// Deadlines of all sizes, many of them equal, and alone those that make the longest ways.
    #[test]
    fn agrees_with_a_sorted_map_in_a_bounded_number_of_steps() {
        let mut random = Random::new(1);
        let (mut trie, mut model) = (Trie::new(), BTreeMap::new());
        let mut deadline_ns = move |powers| {
            let power = 1_u64.checked_shl(random.below(65) as u32).unwrap_or(u64::MAX);
            (if powers { power } else { power.wrapping_add(random.below(9) as u64) }, random.below(3))
        };
        for number in 1..20_000 {
            let (ns, choice) = deadline_ns(number % 2_000 < 400);
            if choice > usize::from(number % 2_000 > 1_000) {
                model.insert([ns, number], trie.insert(ns, ready(number)));
            } else if let Some((&key, &leaf)) = model.range([ns, 0]..).next() {
                model.remove(&key);
                let next = model.range(key..).next().map(|(_, leaf)| *leaf);
                let (ready, after) = trie.remove(leaf);
                assert_eq!((ready.number, after), (key[1], next));
            }
            trie.steps.set(0);
            let from = trie.first_from(ns);
            assert_eq!(from, model.range([ns, 0]..).next().map(|(_, leaf)| *leaf));
            let next = from.and_then(|from| trie.next(from));
            assert_eq!(next, model.range([ns, 0]..).nth(1).map(|(_, leaf)| *leaf));
            assert!(trie.steps.get() <= 6 * 129 && trie.len() == model.len());
        }
        assert!(model.len() > 100);
    }
}
