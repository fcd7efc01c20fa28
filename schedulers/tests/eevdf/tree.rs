//! Trees of queues, what each of them is due, and how far it may be from that: docs/BOUNDS.md.

use clockworker_schedulers::{Grant, Left, QueueId, QueueTree, Share};
use num_rational::Ratio;

/// A number without rounding.
pub(crate) type Exact = Ratio<i128>;

pub(crate) fn whole(number: u64) -> Exact {
    Exact::from(i128::from(number))
}

/// How many random cases: 1,000, or what the environment variable `PROPTEST_CASES` says (the long form has 100,000).
pub(crate) fn cases() -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000)
}

/// What competes in a branch: a queue with all that is below it, or a parent's own tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) share: u32,
    pub(crate) request: u64,
    /// The longest poll of it.
    pub(crate) poll: u64,
}

/// A tree of queues.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) tree: QueueTree,
    /// By index.
    pub(crate) ids: Vec<QueueId>,
    claims: Vec<Claim>,
}

impl Tree {
    /// Adds a queue, asleep.
    pub(crate) fn add(&mut self, parent: Option<QueueId>, claim: Claim) -> QueueId {
        let id = self.tree.add(Share::new(claim.share).unwrap(), claim.request);
        if id.index() == self.ids.len() {
            self.ids.push(id);
            self.claims.push(claim);
        }
        (self.ids[id.index()], self.claims[id.index()]) = (id, claim);
        parent.into_iter().for_each(|parent| self.nest(parent, id));
        id
    }

    pub(crate) fn nest(&mut self, parent: QueueId, child: QueueId) {
        let _ = self.tree.nest(parent, child, 0);
    }

    pub(crate) fn wake(&mut self, id: QueueId) {
        let _ = self.tree.wake(id, 0);
    }

    pub(crate) fn sleep(&mut self, id: QueueId) {
        self.tree.sleep(id, 0);
    }

    pub(crate) fn pick(&mut self) -> Option<QueueId> {
        self.grant().map(|grant| grant.queue)
    }

    /// What is granted to the queue that is picked.
    pub(crate) fn grant(&mut self) -> Option<Grant> {
        let grant = self.tree.pick(0)?;
        self.tree.end_slice(grant.queue, Left::Tasks, 0);
        Some(grant)
    }

    pub(crate) fn remove(&mut self, id: QueueId) {
        let _ = self.tree.remove(id, 0);
    }

    pub(crate) fn reshare(&mut self, id: QueueId, share: u32, request: u64) {
        let _ = self.tree.set_share(id, Share::new(share).unwrap(), request, 0);
    }

    pub(crate) fn charge(&mut self, id: QueueId, ns: u64) {
        self.tree.charge(id, ns, 0);
    }

    /// What is left of the grant of a queue.
    pub(crate) fn left_ns(&self, id: QueueId) -> u64 {
        self.tree.left_ns(id)
    }

    pub(crate) fn preempts(&self, woken: QueueId, running: QueueId) -> bool {
        self.tree.preempts(woken, running)
    }

    /// Gives a slice to the queue that is picked, in polls of its length: which queue, and for how long.
    pub(crate) fn slice(&mut self) -> Option<(QueueId, u64)> {
        let id = self.pick()?;
        let poll = self.claims[id.index()].poll;
        let served = self.left_ns(id).div_ceil(poll) * poll;
        self.charge(id, served);
        Some((id, served))
    }

    fn children(&self, parent: Option<QueueId>) -> impl Iterator<Item = QueueId> {
        self.ids.iter().copied().filter(move |&id| self.tree.parent(id) == parent)
    }

    /// What competes as that queue: its share and request, and the longest poll of its branch.
    fn branch(&self, id: QueueId) -> Claim {
        let below = self.children(Some(id)).map(|child| self.branch(child).poll);
        let claim = self.claims[id.index()];
        Claim { poll: below.fold(claim.poll, u64::max), ..claim }
    }

    /// What a queue's own tasks compete as, and against whom, from the top to where they are.
    pub(crate) fn levels(&self, id: QueueId) -> Vec<(Claim, Vec<Claim>)> {
        let own = |id: QueueId| Claim { share: 1, ..self.claims[id.index()] };
        let mut levels = Vec::new();
        if self.tree.children(id) > 0 {
            levels.push((own(id), self.children(Some(id)).map(|child| self.branch(child)).collect()));
        }
        let mut next = Some(id);
        while let Some(at) = next {
            next = self.tree.parent(at);
            let siblings = self.children(next).filter(|&other| other != at);
            let others = siblings.map(|other| self.branch(other)).chain(next.map(own)).collect();
            levels.push((self.branch(at), others));
        }
        levels.reverse();
        levels
    }

    /// The part of the whole that a queue's own tasks have where all have work: the product of its shares.
    pub(crate) fn part(&self, id: QueueId) -> Exact {
        self.levels(id).iter().map(|(claim, others)| part_at(claim, others)).product()
    }

    /// The bounds of the levels on the way to a queue, each times what is below it: Σ bound · Π w/W.
    pub(crate) fn bound(&self, id: QueueId, of: impl Fn(&Claim, &[Claim]) -> Exact) -> i128 {
        let add =
            |bound, (claim, others): &(Claim, Vec<Claim>)| bound * part_at(claim, others) + of(claim, others);
        self.levels(id).iter().fold(whole(0), add).ceil().to_integer()
    }
}

/// w/W.
fn part_at(claim: &Claim, others: &[Claim]) -> Exact {
    let shares = claim.share + others.iter().map(|other| other.share).sum::<u32>();
    Exact::new(claim.share.into(), shares.into())
}

/// How far a queue may be behind in a branch, with so much more for each of the others.
pub(crate) fn behind(claim: &Claim, others: &[Claim], more: u64) -> Exact {
    let each = |other: &Claim| {
        let due = whole(claim.request) * Exact::new(other.share.into(), claim.share.into());
        whole(other.request).max(due) + whole(other.poll + more)
    };
    part_at(claim, others) * others.iter().map(each).sum::<Exact>()
}

/// How far a queue may be ahead in a branch.
pub(crate) fn ahead(claim: &Claim, others: &[Claim]) -> Exact {
    (whole(1) - part_at(claim, others)) * whole(claim.request + claim.poll)
}
