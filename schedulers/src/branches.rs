//! [`Branches`]: queues below queues, which divide what those get.

use crate::eevdf::{Eevdf, QueueId, Share};

/// Queues below the queues of an [`Eevdf`], the *root*: what a queue gets is divided by EEVDF among its children and the tasks
/// of its own, and so on down.
///
/// A queue with children is a *parent*. Its children and its own tasks are its *branch*, in which an `Eevdf` chooses. Its own
/// tasks compete there as one more child of share 1, with the parent's request. (So a cgroup's own tasks compete with its child
/// groups under Linux' CFS; cgroup v2 itself forbids them.)
///
/// - A **pick** descends: the root picks one of its queues, that one's branch picks one of its own, until one has no branch.
/// - A **charge** goes up: service is charged to the queue, and to each queue above it in the branch where that competes.
/// - A **grant** is the least that is left of a request on the way up.
/// - A queue that **wakes or falls asleep** changes its own branch; the branch above only if it was the first there, or the last.
///
/// So each branch is an `Eevdf` whose time is the service of its parent, and all that holds of the one holds of the other.
/// Adding, removing and resharing a child changes no other branch. `docs/BOUNDS.md` says what a queue gets at depth k.
///
/// # Ids
///
/// Each queue has an id of the root, by which all methods know it. A child's place there is never awake: it keeps the number.
/// Each method is given the same root. Ids that name no nested queue are the root's own, and are passed on to it.
///
/// # Costs
///
/// For a queue with k queues above it: a pick and a charge are those of k + 1 `Eevdf`s, a wake and a sleep of 1 to k + 1. Memory:
/// one `Eevdf` per parent, and 24 bytes per id in use, once there is a child.
///
/// # Example
///
/// ```
/// use clockworker_schedulers::{Branches, Eevdf, Share};
///
/// let (mut root, mut branches) = (Eevdf::new(), Branches::new());
/// let share = |share| Share::new(share).unwrap();
/// let [tenants, other, a, b] = [9, 1, 2, 1].map(|w| root.add(share(w), 100_000));
/// branches.add(&mut root, tenants, a);
/// branches.add(&mut root, tenants, b);
/// for queue in [a, b, other] {
///     branches.wake(&mut root, queue);
/// }
/// let mut served = [0; 4];
/// for _ in 0..3_000 {
///     let queue = branches.pick(&mut root).unwrap();
///     branches.charge(&mut root, queue, 10_000);
///     served[queue.index()] += 10;
/// }
/// assert_eq!(served, [0, 3_000, 18_000, 9_000]); // of nine tenths two thirds and one
/// ```
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// By index of the queue.
    nodes: Vec<Node>,
    /// How many branches have two or more queues with work.
    contended: usize,
}

/// What is known of a queue besides what the root knows.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Where it competes, unless among the root's.
    above: Option<Above>,
    /// What is below it, once it has had a child.
    branch: Option<Box<Branch>>,
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

/// A place on the way from a queue to the root: whose branch it is in, or none for the root; and the id there.
type Place = (Option<QueueId>, QueueId);

/// What there is to know and to change of the tree.
impl Branches {
    /// Makes one without any.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves a sleeping queue of the root below `parent`, with the share and request that it has. If `parent` has work, that goes
    /// on as its own tasks'. Ignored if the queue is nested already, has children, or is not asleep, or either is unknown.
    pub fn add(&mut self, root: &mut Eevdf, parent: QueueId, queue: QueueId) {
        let Some(share) = root.share(queue) else { return };
        let request_ns = root.request_ns(queue);
        let unfit = self.is_nested(queue) || root.is_runnable(queue) || root.share(parent).is_none();
        if unfit || parent == queue {
            return;
        }
        let indices = self.nodes.len().max(parent.index() + 1).max(queue.index() + 1);
        self.nodes.resize(indices, Node::default());
        if self.branch(parent).is_none() {
            self.begin_branch(root, parent);
        }
        if let Some(branch) = self.branch_mut(parent) {
            let id = branch.add(queue, share, request_ns);
            self.nodes[queue.index()].above = Some(Above { parent, id });
        }
    }

    fn begin_branch(&mut self, root: &Eevdf, parent: QueueId) {
        let (at, id) = self.competes_at(parent);
        let eevdf = match at.and_then(|at| self.branch(at)) {
            Some(branch) => &branch.eevdf,
            None => root,
        };
        let mut branch = Branch::of(parent, eevdf.request_ns(id));
        if eevdf.is_runnable(id) {
            branch.eevdf.wake(branch.own);
        }
        self.nodes[parent.index()].branch = Some(branch);
    }

    /// Forgets a queue that has no children, so that only the root knows it, where it sleeps if it was a child. What it owes in
    /// its branch stays with its place there, as in [`Eevdf::remove`]. Ignored while it has children.
    pub fn remove(&mut self, root: &mut Eevdf, queue: QueueId) {
        if !self.is_nested(queue) || self.children(queue) > 0 {
            return;
        }
        if self.nodes[queue.index()].above.is_some() {
            self.sleep(root, queue);
        }
        let node = std::mem::take(&mut self.nodes[queue.index()]);
        if let Some(Above { parent, id }) = node.above
            && let Some(branch) = self.branch_mut(parent)
        {
            branch.eevdf.remove(id);
            branch.children -= 1;
        }
    }

    /// Whether the queue is a child, or has ever been a parent.
    pub fn is_nested(&self, queue: QueueId) -> bool {
        self.nodes.get(queue.index()).is_some_and(|node| node.above.is_some() || node.branch.is_some())
    }

    /// The queue's parent; `None` for one of the root's own.
    pub fn parent(&self, queue: QueueId) -> Option<QueueId> {
        self.nodes.get(queue.index())?.above.map(|above| above.parent)
    }

    /// How many children the queue has.
    pub fn children(&self, queue: QueueId) -> usize {
        self.branch(queue).map_or(0, |branch| branch.children)
    }

    /// How many queues are above the queue.
    pub fn depth(&self, queue: QueueId) -> usize {
        std::iter::successors(self.parent(queue), |&queue| self.parent(queue)).count()
    }

    /// Whether two queues of one branch have work.
    pub fn are_contended(&self) -> bool {
        self.contended > 0
    }

    /// Service that the queue is owed in the branch where it competes, as [`Eevdf::lag`].
    pub fn lag(&self, root: &Eevdf, queue: QueueId) -> crate::eevdf::Lag {
        let (at, id) = self.competes_at(queue);
        self.at(at, root).lag(id)
    }

    fn branch(&self, queue: QueueId) -> Option<&Branch> {
        self.nodes.get(queue.index())?.branch.as_deref()
    }

    fn branch_mut(&mut self, queue: QueueId) -> Option<&mut Branch> {
        self.nodes.get_mut(queue.index())?.branch.as_deref_mut()
    }

    /// The `Eevdf` of that branch.
    fn at<'a>(&'a self, at: Option<QueueId>, root: &'a Eevdf) -> &'a Eevdf {
        at.and_then(|parent| self.branch(parent)).map_or(root, |branch| &branch.eevdf)
    }

    /// The same, to be changed.
    fn at_mut<'a>(&'a mut self, at: Option<QueueId>, root: &'a mut Eevdf) -> &'a mut Eevdf {
        match at.and_then(|parent| self.branch_mut(parent)) {
            Some(branch) => &mut branch.eevdf,
            None => root,
        }
    }

    /// Where a queue competes with those that have its parent.
    fn competes_at(&self, queue: QueueId) -> Place {
        match self.nodes.get(queue.index()).and_then(|node| node.above) {
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

    fn has_own_work(&self, root: &Eevdf, queue: QueueId) -> bool {
        let (at, id) = self.leaf(queue);
        self.at(at, root).is_runnable(id)
    }

    /// The place above.
    fn above(&self, (at, _): Place) -> Option<Place> {
        at.map(|parent| self.competes_at(parent))
    }
}

/// Scheduling: as the root's methods of the same names.
impl Branches {
    /// Makes a queue's own tasks runnable, and each branch above that had no work.
    pub fn wake(&mut self, root: &mut Eevdf, queue: QueueId) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            let eevdf = self.at_mut(at, root);
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
    pub fn sleep(&mut self, root: &mut Eevdf, queue: QueueId) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            let eevdf = self.at_mut(at, root);
            let before = eevdf.runnable();
            eevdf.sleep(id);
            let now = eevdf.runnable();
            self.contended -= usize::from(at.is_some() && (before, now) == (2, 1));
            if now > 0 {
                return;
            }
            next = self.above((at, id));
        }
    }

    /// The queue whose own tasks are to be served next. `None` if and only if none has work.
    pub fn pick(&mut self, root: &mut Eevdf) -> Option<QueueId> {
        let mut queue = root.pick()?;
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
    pub fn charge(&mut self, root: &mut Eevdf, queue: QueueId, service_ns: u64) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            self.at_mut(at, root).charge(id, service_ns);
            next = self.above((at, id));
        }
    }

    /// The slice to grant to a queue's own tasks: the least that is left of a request on the way to the root.
    pub fn left_ns(&self, root: &Eevdf, queue: QueueId) -> u64 {
        let way = std::iter::successors(Some(self.leaf(queue)), |&place| self.above(place));
        way.map(|(at, id)| self.at(at, root).left_ns(id)).min().unwrap_or(0)
    }

    /// Whether `woken` should cut the slice of `running` short: of the two branches that part them, the one is eligible and its
    /// virtual deadline earlier. `false` where the own tasks of either have no work.
    pub fn preempts(&self, root: &Eevdf, woken: QueueId, running: QueueId) -> bool {
        if ![woken, running].into_iter().all(|queue| self.has_own_work(root, queue)) {
            return false;
        }
        let mut woken_at = self.leaf(woken);
        loop {
            let way = std::iter::successors(Some(self.leaf(running)), |&place| self.above(place));
            if let Some((at, running_id)) = way.into_iter().find(|place| place.0 == woken_at.0) {
                return self.at(at, root).preempts(woken_at.1, running_id);
            }
            match self.above(woken_at) {
                Some(above) => woken_at = above,
                None => return false,
            }
        }
    }

    /// Changes a queue's share among those that have its parent.
    pub fn set_share(&mut self, root: &mut Eevdf, queue: QueueId, share: Share) {
        let (at, id) = self.competes_at(queue);
        self.at_mut(at, root).set_share(id, share);
    }

    /// Changes a queue's request, which is that of its own tasks, too.
    pub fn set_request(&mut self, root: &mut Eevdf, queue: QueueId, request_ns: u64) {
        for (at, id) in [self.competes_at(queue), self.leaf(queue)] {
            self.at_mut(at, root).set_request(id, request_ns);
        }
    }

    /// Has a queue's own tasks served soon, unless they or a branch above are in debt: cuts each present request on the way to
    /// the root down to next to nothing, which brings the virtual deadline near. The next is as long as ever.
    pub fn hasten(&mut self, root: &mut Eevdf, queue: QueueId) {
        let mut next = Some(self.leaf(queue));
        while let Some((at, id)) = next {
            self.at_mut(at, root).hasten(id);
            next = self.above((at, id));
        }
    }
}
