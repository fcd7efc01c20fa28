//! [`Branches`]: queues below queues, which divide what those get.

use core::cmp::Ordering;
use core::iter;

use crate::eevdf::{Eevdf, Lag, QueueId, Share};

/// The most queues that may be above a queue.
pub const MAX_DEPTH: usize = 8;

/// The queues of the top, and those below them, each branch with an [`Eevdf`] of its own.
///
/// Each queue has an id of the top, by which all methods know it. A child's place there is never awake: it keeps the number.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    /// Shares the thread between the queues of the top.
    pub(super) top: Eevdf,
    /// By index of the queue. Shorter where the others are not nested.
    nodes: Vec<Node>,
    /// How many branches below the top have two or more queues with work.
    contended: usize,
}

/// What is known of a queue besides what the top knows.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Where it competes, unless at the top.
    above: Option<Above>,
    /// What is below it, once it has had a child.
    branch: Option<Box<Branch>>,
    /// Service charged to the queues below it. Nanoseconds.
    below_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Above {
    parent: QueueId,
    /// Its id in the parent's branch.
    id: QueueId,
}

/// The children of a queue, and its own tasks.
#[derive(Clone, Debug)]
struct Branch {
    eevdf: Eevdf,
    /// The queue of each id. The parent itself stands for its own tasks, which are added first.
    queues: Vec<QueueId>,
    own: QueueId,
    children: usize,
}

impl Branch {
    fn of(parent: QueueId, request_ns: u64) -> Box<Self> {
        let mut eevdf = Eevdf::new();
        let own = eevdf.add(Share::default(), request_ns);
        Box::new(Self { eevdf, queues: vec![parent], own, children: 0 })
    }

    fn add(&mut self, queue: QueueId, share: Share, request_ns: u64) -> QueueId {
        let id = self.eevdf.add(share, request_ns);
        if self.queues.len() <= id.index() {
            self.queues.resize(id.index() + 1, queue);
        }
        self.queues[id.index()] = queue;
        self.children += 1;
        id
    }
}

/// A place on the way from a queue to the top: whose branch it is in, or none for the top; and the id there.
type Place = (Option<QueueId>, QueueId);

/// Its queues.
impl Branches {
    /// Moves a sleeping queue of the top below `parent`, with the share and request that it has. Ignored if the queue has a parent,
    /// children or work, or either is unknown.
    pub(super) fn add(&mut self, parent: QueueId, queue: QueueId) {
        let Some(share) = self.top.share(queue) else { return };
        let request_ns = self.top.request_ns(queue);
        let unfit = self.is_nested(queue) || self.top.is_runnable(queue) || self.top.share(parent).is_none();
        if unfit || parent == queue {
            return;
        }
        let indices = self.nodes.len().max(parent.index() + 1).max(queue.index() + 1);
        self.nodes.resize(indices, Node::default());
        if self.branch(parent).is_none() {
            self.begin_branch(parent);
        }
        if let Some(branch) = self.branch_mut(parent) {
            let id = branch.add(queue, share, request_ns);
            self.nodes[queue.index()].above = Some(Above { parent, id });
        }
    }

    fn begin_branch(&mut self, parent: QueueId) {
        let (at, id) = self.competes_at(parent);
        let eevdf = self.at(at);
        let mut branch = Branch::of(parent, eevdf.request_ns(id));
        if eevdf.is_runnable(id) {
            branch.eevdf.wake(branch.own);
        }
        self.nodes[parent.index()].branch = Some(branch);
    }

    /// Removes a queue that has no children. What it owes stays with its place, where it competed.
    pub(super) fn remove(&mut self, queue: QueueId) {
        if self.is_nested(queue) {
            let node = std::mem::take(&mut self.nodes[queue.index()]);
            if let Some(Above { parent, id }) = node.above
                && let Some(branch) = self.branch_mut(parent)
            {
                branch.eevdf.remove(id);
                branch.children -= 1;
            }
        }
        self.top.remove(queue);
    }

    /// Changes a queue's share among those that have its parent, and its request, which its own tasks have too.
    pub(super) fn set_share(&mut self, queue: QueueId, share: Share, request_ns: u64) {
        let (at, id) = self.competes_at(queue);
        self.at_mut(at).set_share(id, share);
        self.at_mut(at).set_request(id, request_ns);
        let (at, id) = self.leaf(queue);
        self.at_mut(at).set_request(id, request_ns);
    }

    pub(super) fn is_nested(&self, queue: QueueId) -> bool {
        self.node(queue).is_some_and(|node| node.above.is_some() || node.branch.is_some())
    }

    pub(super) fn parent(&self, queue: QueueId) -> Option<QueueId> {
        self.node(queue)?.above.map(|above| above.parent)
    }

    pub(super) fn children(&self, queue: QueueId) -> usize {
        self.branch(queue).map_or(0, |branch| branch.children)
    }

    pub(super) fn depth(&self, queue: QueueId) -> usize {
        iter::successors(self.parent(queue), |&queue| self.parent(queue)).count()
    }

    pub(super) fn below_ns(&self, queue: QueueId) -> u64 {
        self.node(queue).map_or(0, |node| node.below_ns)
    }

    pub(super) fn share(&self, queue: QueueId) -> Option<Share> {
        let (at, id) = self.competes_at(queue);
        self.at(at).share(id)
    }

    pub(super) fn request_ns(&self, queue: QueueId) -> u64 {
        let (at, id) = self.competes_at(queue);
        self.at(at).request_ns(id)
    }

    pub(super) fn lag(&self, queue: QueueId) -> Lag {
        let (at, id) = self.competes_at(queue);
        self.at(at).lag(id)
    }
}

/// Its work.
impl Branches {
    /// Makes a queue's own tasks runnable, and each branch above that had no work.
    pub(super) fn wake(&mut self, queue: QueueId) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            let eevdf = self.at_mut(at);
            let before = eevdf.runnable();
            eevdf.wake(id);
            let now = eevdf.runnable();
            self.contended += usize::from(at.is_some() && (before, now) == (1, 2));
            // The branch had work already, or has none, as there is no such queue.
            if before > 0 || now == 0 {
                return;
            }
            next = self.above((at, id));
        }
    }

    /// Makes a queue's own tasks sleep, and each branch above that has no more work.
    pub(super) fn sleep(&mut self, queue: QueueId) {
        self.end_work(queue, Eevdf::sleep);
    }

    /// The same, but not at once: see [`Eevdf::drain`].
    pub(super) fn drain(&mut self, queue: QueueId) {
        self.end_work(queue, Eevdf::drain);
    }

    fn end_work(&mut self, queue: QueueId, end: fn(&mut Eevdf, QueueId)) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            let eevdf = self.at_mut(at);
            let before = eevdf.runnable();
            end(eevdf, id);
            let now = eevdf.runnable();
            self.contended -= usize::from(at.is_some() && (before, now) == (2, 1));
            if now > 0 {
                return;
            }
            next = self.above((at, id));
        }
    }

    /// The queue whose own tasks are to be served next. `None` if and only if none has work.
    pub(super) fn pick(&mut self) -> Option<QueueId> {
        let mut queue = self.top.pick()?;
        while let Some(branch) = self.branch_mut(queue) {
            let Some(id) = branch.eevdf.pick() else { break };
            let next = branch.queues[id.index()];
            if next == queue {
                break;
            }
            queue = next;
        }
        Some(queue)
    }

    /// Charges the service of a queue's own tasks to it and to each queue above.
    pub(super) fn charge(&mut self, queue: QueueId, service_ns: u64) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            self.at_mut(at).charge(id, service_ns);
            if let Some(parent) = at
                && parent != queue
            {
                let below_ns = &mut self.nodes[parent.index()].below_ns;
                *below_ns = below_ns.saturating_add(service_ns);
            }
            next = self.above((at, id));
        }
    }

    /// Has a queue's own tasks served soon, unless they or a branch above are in debt: cuts each present request on the way to the top
    /// down to next to nothing, which brings the virtual deadline near. The next is as long as ever.
    pub(super) fn hasten(&mut self, queue: QueueId) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            self.at_mut(at).hasten(id);
            next = self.above((at, id));
        }
    }

    /// Whether two queues of one branch have work, or two of the top.
    pub(super) fn are_contended(&self) -> bool {
        self.contended > 0 && self.top.runnable() > 0 || self.top.runnable() > 1
    }

    pub(super) fn has_own_work(&self, queue: QueueId) -> bool {
        let (at, id) = self.leaf(queue);
        self.at(at).is_runnable(id)
    }

    /// The least that is left of a request on the way from a queue's own tasks to the top.
    pub(super) fn left_ns(&self, queue: QueueId) -> u64 {
        self.way_up(queue).map(|(at, id)| self.at(at).left_ns(id)).min().unwrap_or(0)
    }

    /// Whether `woken` should cut the slice of `running` short: of the two branches that part them, the one is eligible and its
    /// virtual deadline earlier. `false` where the own tasks of either have no work.
    pub(super) fn preempts(&self, woken: QueueId, running: QueueId) -> bool {
        let work = self.has_own_work(woken) && self.has_own_work(running);
        work && self
            .parting(woken, running)
            .is_some_and(|(at, [one, other])| self.at(at).preempts(one, other))
    }

    /// Which has the smaller request ÷ share, that is the larger claim, where the ways of two queues to the top part.
    pub(super) fn compare_claims(&self, one: QueueId, other: QueueId) -> Ordering {
        let Some((at, ids)) = self.parting(one, other) else { return Ordering::Equal };
        let eevdf = self.at(at);
        let claim = |id| eevdf.request_ns(id) / eevdf.share(id).map_or(1, |share| u64::from(share.get()));
        let [one, other] = ids.map(claim);
        other.cmp(&one)
    }
}

/// The way up.
impl Branches {
    fn node(&self, queue: QueueId) -> Option<&Node> {
        self.nodes.get(queue.index()).filter(|_| self.top.share(queue).is_some())
    }

    fn branch(&self, queue: QueueId) -> Option<&Branch> {
        self.node(queue)?.branch.as_deref()
    }

    fn branch_mut(&mut self, queue: QueueId) -> Option<&mut Branch> {
        self.nodes.get_mut(queue.index())?.branch.as_deref_mut()
    }

    /// The `Eevdf` of that branch, or of the top.
    fn at(&self, at: Option<QueueId>) -> &Eevdf {
        at.and_then(|parent| self.branch(parent)).map_or(&self.top, |branch| &branch.eevdf)
    }

    /// The same, to be changed.
    fn at_mut(&mut self, at: Option<QueueId>) -> &mut Eevdf {
        let node = at.and_then(|parent| self.nodes.get_mut(parent.index()));
        match node.and_then(|node| node.branch.as_deref_mut()) {
            Some(branch) => &mut branch.eevdf,
            None => &mut self.top,
        }
    }

    /// Where a queue competes with those that have its parent.
    fn competes_at(&self, queue: QueueId) -> Place {
        match self.node(queue).and_then(|node| node.above) {
            Some(Above { parent, id }) => (Some(parent), id),
            None => (None, queue),
        }
    }

    /// Where a queue's own tasks compete.
    fn leaf(&self, queue: QueueId) -> Place {
        match self.branch(queue) {
            Some(branch) => (Some(queue), branch.own),
            None => self.competes_at(queue),
        }
    }

    /// The place above.
    fn above(&self, (at, _): Place) -> Option<Place> {
        at.map(|parent| self.competes_at(parent))
    }

    /// From where a queue's own tasks compete to the top.
    fn way_up(&self, queue: QueueId) -> impl Iterator<Item = Place> {
        iter::successors(Some(self.leaf(queue)), |&place| self.above(place))
    }

    /// The branch in which the ways of two queues to the top part, and the ids by which they go through it.
    fn parting(&self, one: QueueId, other: QueueId) -> Option<(Option<QueueId>, [QueueId; 2])> {
        self.way_up(one).find_map(|(at, id)| {
            let (_, others) = self.way_up(other).find(|&(place, _)| place == at)?;
            Some((at, [id, others]))
        })
    }
}
