//! Random trees of queues, and exact fractions.

use std::ops::{Add, Mul};

use clockworker_schedulers::{Branches, Eevdf, QueueId, Share};

/// SplitMix64, so that a seed means the same for ever.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(end)) >> 64) as u64
    }

    pub(super) fn pick(&mut self, of: &[u64]) -> u64 {
        of[self.below(of.len() as u64) as usize]
    }
}

/// How many random cases: 1,000, or what the environment variable `PROPTEST_CASES` says (the long form has 100,000).
pub(super) fn cases() -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000)
}

/// A fraction of whole numbers, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fraction {
    over: i128,
    under: i128,
}

impl Fraction {
    pub(super) fn new(over: u64, under: u64) -> Self {
        Self::reduced(i128::from(over), i128::from(under))
    }

    pub(super) fn whole(number: u64) -> Self {
        Self::new(number, 1)
    }

    fn reduced(over: i128, under: i128) -> Self {
        let (mut a, mut b) = (over.abs(), under);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self { over: over / a.max(1), under: under / a.max(1) }
    }

    pub(super) fn max(self, other: Self) -> Self {
        if self.minus(other).over >= 0 { self } else { other }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self + Self { over: -other.over, under: other.under }
    }

    /// Rounded up.
    pub(super) fn ceil(self) -> i128 {
        -(-self.over).div_euclid(self.under)
    }
}

impl Add for Fraction {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::reduced(self.over * other.under + other.over * self.under, self.under * other.under)
    }
}

impl Mul for Fraction {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::reduced(self.over * other.over, self.under * other.under)
    }
}

/// What competes in a branch: a queue with all that is below it, or a parent's own tasks.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) share: u64,
    pub(super) request: u64,
    /// The longest poll of it.
    pub(super) poll: u64,
}

impl Claim {
    fn part(&self, of: &Claim) -> Fraction {
        Fraction::new(self.share, of.share)
    }
}

/// A tree of queues that are all known from the start.
pub(super) struct Tree {
    pub(super) root: Eevdf,
    pub(super) branches: Branches,
    pub(super) queues: Vec<Node>,
}

pub(super) struct Node {
    pub(super) id: QueueId,
    pub(super) parent: Option<usize>,
    pub(super) claim: Claim,
}

impl Tree {
    pub(super) fn new() -> Self {
        Self { root: Eevdf::new(), branches: Branches::new(), queues: Vec::new() }
    }

    /// Adds a queue, asleep; its number.
    pub(super) fn add(&mut self, parent: Option<usize>, claim: Claim) -> usize {
        let id = self.root.add(Share::new(claim.share as u32).unwrap(), claim.request);
        if let Some(parent) = parent {
            self.branches.add(&mut self.root, self.queues[parent].id, id);
        }
        self.queues.push(Node { id, parent, claim });
        self.queues.len() - 1
    }

    pub(super) fn wake(&mut self, queue: usize) {
        self.branches.wake(&mut self.root, self.queues[queue].id);
    }

    pub(super) fn sleep(&mut self, queue: usize) {
        self.branches.sleep(&mut self.root, self.queues[queue].id);
    }

    /// Gives a slice to whoever is picked, in polls of its length: which queue, and for how long.
    pub(super) fn slice(&mut self) -> Option<(usize, u64)> {
        let id = self.branches.pick(&mut self.root)?;
        let queue = self.queues.iter().position(|queue| queue.id == id).unwrap();
        let poll = self.queues[queue].claim.poll;
        let served = self.branches.left_ns(&self.root, id).div_ceil(poll) * poll;
        self.branches.charge(&mut self.root, id, served);
        Some((queue, served))
    }

    /// The queue and all above it, from the top.
    pub(super) fn way(&self, queue: usize) -> Vec<usize> {
        let mut way: Vec<_> =
            std::iter::successors(Some(queue), |&queue| self.queues[queue].parent).collect();
        way.reverse();
        way
    }

    fn children(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.queues.len()).filter(move |&queue| self.queues[queue].parent == parent)
    }

    /// What competes as that queue: its share and request, and the longest poll of its branch.
    fn branch(&self, queue: usize) -> Claim {
        let below = self.children(Some(queue)).map(|child| self.branch(child).poll);
        let claim = self.queues[queue].claim.clone();
        Claim { poll: below.fold(claim.poll, u64::max), ..claim }
    }

    /// What a queue's own tasks compete as, and against whom, from the top to where they are.
    pub(super) fn levels(&self, queue: usize) -> Vec<(Claim, Vec<Claim>)> {
        let own = |queue: usize| Claim { share: 1, ..self.queues[queue].claim.clone() };
        let mut levels = Vec::new();
        for at in self.way(queue) {
            let parent = self.queues[at].parent;
            let siblings = self.children(parent).filter(|&other| other != at);
            let others = siblings.map(|other| self.branch(other)).chain(parent.map(own)).collect();
            levels.push((self.branch(at), others));
        }
        if self.children(Some(queue)).next().is_some() {
            let below = self.children(Some(queue)).map(|child| self.branch(child)).collect();
            levels.push((own(queue), below));
        }
        levels
    }

    /// The part of the whole that a queue's own tasks have where all have work: the product of its shares.
    pub(super) fn part(&self, queue: usize) -> Fraction {
        let levels = self.levels(queue);
        levels.iter().fold(Fraction::whole(1), |part, (claim, others)| part * part_at(claim, others))
    }

    /// The bounds of the levels on the way to a queue, each times what is below it: Σ bound · Π w/W.
    pub(super) fn bound(&self, queue: usize, of: impl Fn(&Claim, &[Claim]) -> Fraction) -> Fraction {
        let levels = self.levels(queue);
        levels.iter().fold(Fraction::whole(0), |bound, (claim, others)| {
            bound * part_at(claim, others) + of(claim, others)
        })
    }
}

/// w/W.
fn part_at(claim: &Claim, others: &[Claim]) -> Fraction {
    Fraction::new(claim.share, claim.share + others.iter().map(|other| other.share).sum::<u64>())
}

/// How far a queue may be behind in a branch, by docs/BOUNDS.md, with so much more for each of the others.
pub(super) fn behind(claim: &Claim, others: &[Claim], more: u64) -> Fraction {
    let each = |other: &Claim| {
        let due = Fraction::whole(claim.request) * other.part(claim);
        Fraction::whole(other.request).max(due) + Fraction::whole(other.poll + more)
    };
    part_at(claim, others) * others.iter().map(each).fold(Fraction::whole(0), Fraction::add)
}

/// How far a queue may be ahead in a branch.
pub(super) fn ahead(claim: &Claim, others: &[Claim]) -> Fraction {
    Fraction::whole(1).minus(part_at(claim, others)) * Fraction::whole(claim.request + claim.poll)
}
