//! [`QueueTree`]: which queue runs next, and until when.
//!
//! `branches` are queues below queues, `idle` those that run when no other has work, `cap` and `budget` the most time that a queue
//! may have; `effect` is what a decision asks of the caller.

mod branches;
mod budget;
mod cap;
mod effect;
mod idle;
mod rules;

use core::cmp::Ordering;
use std::collections::BTreeSet;

pub use branches::MAX_DEPTH;
pub use budget::CapCounts;
pub use cap::{Cap, CapError};
pub use effect::{Effect, Grant, Left};

use branches::Branches;
use budget::Budget;
use idle::IdleQueues;
use rules::Rules;

use crate::eevdf::{Eevdf, Lag, QueueId, Share};

/// Queues that share one thread: by [`Eevdf`], in branches, below caps, and behind all others.
///
/// - A queue of the **top** shares the thread with the others of the top, by EEVDF.
/// - A queue may have **children**, which divide what it gets by an EEVDF of their own. The parent's own tasks compete there as one
///   more child, of share 1 and with the parent's request. (So a cgroup's own tasks compete with its child groups under Linux' CFS;
///   cgroup v2 itself forbids them.)
/// - An **idle** queue gets a slice when no other queue has work. Idle queues share by an EEVDF of their own.
/// - A **capped** queue that has used up its [`Cap`] is *throttled*: it is taken away from the others until its next period.
///
/// It is data: it reads no clock, and gives out decisions. The caller runs one slice at a time. [`pick`](QueueTree::pick) begins it
/// with a [`Grant`], [`charge`](QueueTree::charge) tells what it has taken, [`end_slice`](QueueTree::end_slice) ends it. Whatever
/// changes what may run returns an [`Effect`] for the slice under way, or for a caller that has none. `now` is a clock reading in
/// nanoseconds, which never goes back.
///
/// # Decisions
///
/// - A **pick** descends: the top picks one of its queues, that one's branch picks one of its own, until one has no branch. If the
///   top has none, the idle queues pick.
/// - A **charge** goes up: service is charged to the queue, and to each queue above it in the branch where that competes.
/// - A slice that leaves a queue **nothing to do** drains it: one that wakes up at once has not been away, see [`Eevdf::drain`].
/// - A **grant** is the least that is left of a request on the way up, and of the cap. It is without end where no other queue waits.
/// - A queue that **wakes or falls asleep** changes its own branch; the branch above only if it was the first there, or the last.
///
/// So each branch is an [`Eevdf`] whose time is the service of its parent, and all that holds of the one holds of the other.
/// `docs/BOUNDS.md` says what a queue gets at depth k, beside idle and beside capped queues.
///
/// A queue with **futures to drop** ([`hasten`](QueueTree::hasten)) stands among the others until they are dropped, also if it is
/// idle or throttled, as nothing else would bound how long that takes. Its cap pays for the drops.
///
/// # Costs
///
/// While no queue is capped, idle or nested, those of [`Eevdf`]. Else, for a queue with k queues above it: a pick and a charge are
/// those of k + 1 `Eevdf`s, a wake and a sleep of 1 to k + 1, and of t throttled ones O(log t) for each that is throttled.
///
/// # Wrong calls
///
/// As with [`Eevdf`] none panics. Ids that name no queue, and calls that make no sense, are ignored.
///
/// # Example
///
/// ```
/// use clockworker_schedulers::{Effect, Left, QueueTree, Share};
///
/// let mut tree = QueueTree::new();
/// let share = |share| Share::new(share).unwrap();
/// let [tenants, other, a, b] = [9, 1, 2, 1].map(|w| tree.add(share(w), 100_000));
/// for child in [a, b] {
///     assert_eq!(tree.nest(tenants, child, 0), Effect::None);
/// }
/// for queue in [a, b, other] {
///     assert_eq!(tree.wake(queue, 0), Effect::Turn);
/// }
/// let (mut now, mut served) = (0, [0; 4]);
/// for _ in 0..3_000 {
///     let grant = tree.pick(now).unwrap();
///     now += 10_000; // a poll of 10 µs
///     tree.charge(grant.queue, 10_000, now);
///     served[grant.queue.index()] += 10;
///     tree.end_slice(grant.queue, Left::Tasks, now);
/// }
/// assert_eq!(served, [0, 3_000, 18_000, 9_000]); // of nine tenths two thirds and one
/// ```
#[derive(Clone, Debug)]
pub struct QueueTree {
    branches: Branches,
    idle: IdleQueues,
    /// What each queue keeps to besides its share, by index. Shorter where the others keep to nothing.
    rules: Vec<Rules>,
    /// Throttled queues, by the time at which each goes on.
    throttled: BTreeSet<(u64, QueueId)>,
    /// The first of these times; `u64::MAX` if there is none.
    next_release: u64,
    /// How many queues are capped, idle or nested. While there is none, all that follows is the top's `Eevdf`.
    constrained: usize,
    /// The queue whose slice is under way.
    running: Option<QueueId>,
}

/// Where a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    /// It has no work.
    Asleep,
    /// In the branch where it competes.
    Branch,
    Idle,
    Throttled,
}

impl Default for QueueTree {
    fn default() -> Self {
        Self {
            branches: Branches::default(),
            idle: IdleQueues::default(),
            rules: Vec::new(),
            throttled: BTreeSet::new(),
            next_release: u64::MAX,
            constrained: 0,
            running: None,
        }
    }
}

/// Its queues.
impl QueueTree {
    /// Makes one with no queues.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a queue to the top, asleep. See [`Eevdf::add`], which also says when it panics.
    pub fn add(&mut self, share: Share, request_ns: u64) -> QueueId {
        self.branches.top.add(share, request_ns)
    }

    /// Makes a sleeping queue an idle one. Ignored if it has a parent or children, or work.
    pub fn make_idle(&mut self, queue: QueueId) {
        let Some(share) = self.share(queue) else { return };
        if self.is_nested(queue) || self.is_idle(queue) || self.has_work_in(queue) {
            return;
        }
        let id = self.idle.add(queue, share, self.request_ns(queue));
        self.recount(&[queue], |tree| tree.rules_mut(queue).idle = Some(id));
    }

    /// Moves a sleeping queue of the top below `parent`. If `parent` has work, that goes on as its own tasks'. Ignored if the queue
    /// has a parent, children or work, or either is idle, or `parent` is capped, or has [`MAX_DEPTH`] queues above it.
    pub fn nest(&mut self, parent: QueueId, queue: QueueId, now: u64) -> Effect {
        let unfit = parent == queue || self.is_idle(parent) || self.is_idle(queue);
        if unfit || self.cap(parent).is_some() || self.depth(parent) >= MAX_DEPTH || self.has_work_in(queue) {
            return Effect::None;
        }
        self.recount(&[parent, queue], |tree| tree.branches.add(parent, queue));
        self.effect(queue, now, Effect::None)
    }

    /// Removes a queue. What it owes stays with its place, as in [`Eevdf::remove`]. Ignored while it has children, or a slice.
    pub fn remove(&mut self, queue: QueueId, now: u64) -> Effect {
        if self.children(queue) > 0 || self.running == Some(queue) || self.share(queue).is_none() {
            return Effect::None;
        }
        self.leave(queue, now);
        if let Some(id) = self.rules(queue).and_then(|rules| rules.idle) {
            self.idle.remove(id);
        }
        self.recount(&[queue], |tree| {
            tree.branches.remove(queue);
            if let Some(rules) = tree.rules.get_mut(queue.index()) {
                *rules = Rules::default();
            }
        });
        self.effect(queue, now, Effect::None)
    }

    /// Changes a queue's share and request. See [`Eevdf::set_share`] and [`Eevdf::set_request`].
    pub fn set_share(&mut self, queue: QueueId, share: Share, request_ns: u64, now: u64) -> Effect {
        self.branches.set_share(queue, share, request_ns);
        if let Some(id) = self.rules(queue).and_then(|rules| rules.idle) {
            self.idle.eevdf.set_share(id, share);
            self.idle.eevdf.set_request(id, request_ns);
        }
        self.effect(queue, now, Effect::None)
    }

    /// Changes a queue's cap; `None` takes it away. What the queue has used in the period under way stays used. The period goes on,
    /// unless periods are to be of another length: then the first begins now. Ignored if the queue has children.
    pub fn set_cap(&mut self, queue: QueueId, cap: Option<Cap>, now: u64) -> Effect {
        if self.children(queue) > 0 || self.share(queue).is_none() || self.cap(queue) == cap {
            return Effect::None;
        }
        let stand = self.stand(queue);
        if stand == Stand::Throttled {
            self.leave(queue, now);
        }
        let works = stand != Stand::Asleep;
        self.recount(&[queue], |tree| tree.rules_mut(queue).set_cap(cap, now, works));
        // The end of a slice of its own settles where it stands.
        if stand == Stand::Throttled {
            self.enter(queue, now);
        } else if self.running != Some(queue) {
            self.settle(queue, now);
        }
        self.effect(queue, now, if works { Effect::Turn } else { Effect::None })
    }

    /// Has `change` change what these queues keep to.
    fn recount(&mut self, queues: &[QueueId], change: impl FnOnce(&mut Self)) {
        let count = |tree: &Self| queues.iter().filter(|&&queue| tree.is_constrained(queue)).count();
        let before = count(self);
        change(self);
        self.constrained = self.constrained - before + count(self);
    }

    fn is_constrained(&self, queue: QueueId) -> bool {
        self.is_nested(queue) || self.rules(queue).is_some_and(Rules::are_exact)
    }

    fn rules(&self, queue: QueueId) -> Option<&Rules> {
        self.rules.get(queue.index()).filter(|_| self.is_known(queue))
    }

    fn rules_mut(&mut self, queue: QueueId) -> &mut Rules {
        if self.rules.len() <= queue.index() {
            self.rules.resize_with(queue.index() + 1, Rules::default);
        }
        &mut self.rules[queue.index()]
    }

    fn known_rules(&mut self, queue: QueueId) -> Option<&mut Rules> {
        if self.is_known(queue) { self.rules.get_mut(queue.index()) } else { None }
    }

    fn budget_mut(&mut self, queue: QueueId) -> Option<&mut Budget> {
        self.known_rules(queue)?.budget.as_deref_mut()
    }
}

/// Its work, and slices.
impl QueueTree {
    /// Makes a queue runnable. Ignored if it is.
    #[inline]
    pub fn wake(&mut self, queue: QueueId, now: u64) -> Effect {
        self.wake_between_slices(queue, now);
        self.effect(queue, now, Effect::Turn)
    }

    /// The same where the slice under way is over, or none is, and a turn follows: nothing is asked of the caller.
    #[inline]
    pub fn wake_between_slices(&mut self, queue: QueueId, now: u64) {
        if self.constrained == 0 {
            self.branches.top.wake(queue);
        } else {
            self.wake_constrained(queue, now);
        }
    }

    #[cold]
    fn wake_constrained(&mut self, queue: QueueId, now: u64) {
        if self.share(queue).is_some() && !self.has_work_in(queue) {
            if let Some(budget) = self.budget_mut(queue) {
                budget.begin_work(now);
            }
            self.enter(queue, now);
        }
    }

    /// Makes a queue sleep at once whose slice is not under way.
    pub fn sleep(&mut self, queue: QueueId, now: u64) {
        if self.share(queue).is_none() {
            return;
        }
        self.leave(queue, now);
        self.end_work(queue);
    }

    fn end_work(&mut self, queue: QueueId) {
        if let Some(rules) = self.known_rules(queue) {
            rules.end_work();
        }
    }

    /// Makes a queue runnable, as it has futures to drop, and has it served soon, unless it is in debt to the others: see
    /// [`Eevdf::hasten`].
    pub fn hasten(&mut self, queue: QueueId, now: u64) -> Effect {
        if self.constrained > 0 {
            self.hasten_constrained(queue, now);
        } else if self.branches.top.is_hastened(queue) && self.running != Some(queue) {
            return Effect::None;
        } else {
            self.branches.top.wake(queue);
            self.branches.top.hasten(queue);
        }
        match self.running {
            Some(running) if running == queue => Effect::Preempt,
            _ => self.effect(queue, now, Effect::Turn),
        }
    }

    #[cold]
    fn hasten_constrained(&mut self, queue: QueueId, now: u64) {
        if let Some(rules) = self.known_rules(queue) {
            rules.drops = true;
        }
        self.wake_constrained(queue, now);
        if self.running != Some(queue) {
            self.settle(queue, now);
        }
        self.branches.hasten(queue);
    }

    /// The queue to serve next, and until when. `None` if none has work that may run. Begins its slice.
    #[inline]
    pub fn pick(&mut self, now: u64) -> Option<Grant> {
        if self.constrained > 0 {
            return self.pick_constrained(now);
        }
        let queue = self.branches.top.pick()?;
        self.running = Some(queue);
        Some(self.grant_plain(queue, now))
    }

    /// Throttled queues whose time has come go on, and idle ones come after all others.
    #[cold]
    fn pick_constrained(&mut self, now: u64) -> Option<Grant> {
        while let Some(&(release, queue)) = self.throttled.first()
            && release <= now
        {
            self.settle(queue, now);
        }
        let queue = self.branches.pick().or_else(|| self.idle.pick())?;
        self.running = Some(queue);
        Some(self.grant_constrained(queue, now))
    }

    /// Charges a queue for service that it has had up to now.
    #[inline]
    pub fn charge(&mut self, queue: QueueId, service_ns: u64, now: u64) {
        if self.constrained == 0 {
            self.branches.top.charge(queue, service_ns);
        } else {
            self.charge_constrained(queue, service_ns, now);
        }
    }

    #[cold]
    fn charge_constrained(&mut self, queue: QueueId, service_ns: u64, now: u64) {
        if self.share(queue).is_none() {
            return;
        }
        if let Some(budget) = self.budget_mut(queue) {
            budget.charge(service_ns, now);
        }
        match self.idle_stand(queue) {
            Some(id) => self.idle.eevdf.charge(id, service_ns),
            None => self.branches.charge(queue, service_ns),
        }
    }

    /// Ends the slice under way, which is the queue's, once all of it is charged.
    #[inline]
    pub fn end_slice(&mut self, queue: QueueId, left: Left, now: u64) {
        self.running = None;
        if self.constrained > 0 {
            self.end_constrained_slice(queue, left, now);
        } else if left == Left::Nothing {
            self.branches.top.drain(queue);
        }
    }

    #[cold]
    fn end_constrained_slice(&mut self, queue: QueueId, left: Left, now: u64) {
        if let Some(rules) = self.known_rules(queue) {
            rules.drops = left == Left::Drops;
        }
        match (left, self.idle_stand(queue)) {
            (Left::Tasks | Left::Drops, _) => return self.settle(queue, now),
            (Left::Nothing, Some(id)) => self.idle.eevdf.drain(id),
            (Left::Nothing, None) => self.branches.drain(queue),
        }
        self.end_work(queue);
    }

    /// What a change of a queue asks of the caller: `asleep` if no slice is under way.
    #[inline]
    fn effect(&self, queue: QueueId, now: u64, asleep: Effect) -> Effect {
        match self.running {
            Some(running) => self.effect_on(running, queue, now),
            None => asleep,
        }
    }

    fn effect_on(&self, running: QueueId, queue: QueueId, now: u64) -> Effect {
        if self.preempts(queue, running) {
            return Effect::Preempt;
        }
        let Grant { until, exact, .. } = self.grant(running, now);
        Effect::Until { until, exact }
    }

    /// What is granted to a queue from now on.
    #[inline]
    fn grant(&self, queue: QueueId, now: u64) -> Grant {
        if self.constrained > 0 { self.grant_constrained(queue, now) } else { self.grant_plain(queue, now) }
    }

    #[inline]
    fn grant_plain(&self, queue: QueueId, now: u64) -> Grant {
        let until = match self.branches.top.runnable() {
            2.. => now.saturating_add(self.branches.top.left_ns(queue)),
            _ => u64::MAX,
        };
        Grant { queue, until, exact: false, drops_only: false }
    }

    #[cold]
    fn grant_constrained(&self, queue: QueueId, now: u64) -> Grant {
        let rules = self.rules(queue);
        let exact = rules.is_some_and(Rules::are_exact) || !self.throttled.is_empty();
        let drops_only = rules.is_some_and(|rules| rules.drops && (rules.idle.is_some() || rules.is_spent()));
        if !exact && !self.branches.are_contended() {
            return Grant { queue, until: u64::MAX, exact, drops_only };
        }
        let budget = rules.and_then(|rules| rules.budget.as_deref()).filter(|_| !drops_only);
        let left_of_cap = budget.map_or(u64::MAX, Budget::left_ns);
        let until = now.saturating_add(self.left_ns(queue).min(left_of_cap)).min(self.next_release);
        Grant { queue, until, exact, drops_only }
    }
}

/// Where a queue stands.
impl QueueTree {
    fn stand(&self, queue: QueueId) -> Stand {
        match self.rules(queue) {
            Some(rules) if rules.is_throttled() => Stand::Throttled,
            _ if self.idle_stand(queue).is_some() => Stand::Idle,
            _ if self.branches.has_own_work(queue) => Stand::Branch,
            _ => Stand::Asleep,
        }
    }

    /// The id among the idle queues of a queue that stands there.
    fn idle_stand(&self, queue: QueueId) -> Option<QueueId> {
        self.rules(queue)?.idle.filter(|&id| self.idle.eevdf.is_runnable(id))
    }

    /// Where a queue with work belongs.
    fn belongs(&self, queue: QueueId) -> Stand {
        match self.rules(queue) {
            Some(rules) if rules.drops => Stand::Branch,
            Some(rules) if rules.is_spent() => Stand::Throttled,
            Some(rules) if rules.idle.is_some() => Stand::Idle,
            _ => Stand::Branch,
        }
    }

    /// Has a queue with work stand where it belongs.
    fn enter(&mut self, queue: QueueId, now: u64) {
        match (self.belongs(queue), self.rules(queue).and_then(|rules| rules.idle)) {
            (Stand::Throttled, _) => self.throttle(queue, now),
            (Stand::Idle, Some(id)) => self.idle.eevdf.wake(id),
            _ => self.branches.wake(queue),
        }
    }

    /// Takes a queue away from where it stands.
    fn leave(&mut self, queue: QueueId, now: u64) {
        match (self.stand(queue), self.idle_stand(queue)) {
            (Stand::Throttled, _) => self.end_throttle(queue, now),
            (_, Some(id)) => self.idle.eevdf.sleep(id),
            _ => self.branches.sleep(queue),
        }
    }

    /// Moves a queue that has work to where it belongs.
    fn settle(&mut self, queue: QueueId, now: u64) {
        let stand = self.stand(queue);
        match stand {
            Stand::Asleep => return,
            // Its time has come, or it is put there anew.
            Stand::Throttled => self.end_throttle(queue, now),
            _ => self.budget_mut(queue).into_iter().for_each(|budget| budget.advance(now)),
        }
        if stand != self.belongs(queue) || stand == Stand::Throttled {
            self.leave(queue, now);
            self.enter(queue, now);
        }
    }

    fn throttle(&mut self, queue: QueueId, now: u64) {
        if let Some(budget) = self.budget_mut(queue) {
            let release = budget.throttle(now);
            self.throttled.insert((release, queue));
            self.note_release();
        }
    }

    fn end_throttle(&mut self, queue: QueueId, now: u64) {
        if let Some(release) = self.budget_mut(queue).and_then(|budget| budget.end_throttle(now)) {
            self.throttled.remove(&(release, queue));
            self.note_release();
        }
    }

    fn note_release(&mut self) {
        self.next_release = self.throttled.first().map_or(u64::MAX, |first| first.0);
    }
}

/// What can be asked without changing anything.
impl QueueTree {
    /// Whether a queue has work that may run, or is released by now.
    #[inline]
    pub fn has_work(&self, now: u64) -> bool {
        self.branches.top.runnable() > 0
            || self.constrained > 0 && (self.idle.eevdf.runnable() > 0 || self.next_release <= now)
    }

    /// When the first throttled queue goes on; `u64::MAX` if none is throttled.
    #[inline]
    pub fn next_release(&self) -> u64 {
        self.next_release
    }

    /// Whether others that may run wait for the end of the slice under way, which was granted `until` then: not where it was to end
    /// as a throttled queue goes on.
    pub fn are_others_waiting(&self, until: u64) -> bool {
        let Some(running) = self.running else { return false };
        if self.constrained == 0 {
            return self.branches.top.runnable() > 1;
        }
        let idle = self.idle.eevdf.runnable();
        let others = match self.idle_stand(running) {
            Some(_) => self.branches.top.runnable() > 0 || idle > 1,
            None => self.branches.are_contended(),
        };
        others && until != self.next_release
    }

    /// Whether `woken` should cut the slice of `running` short: where their ways to the top part, the one is eligible and its virtual
    /// deadline earlier; or the one is not idle, and the other is. `false` where either has no work that may run.
    #[inline]
    pub fn preempts(&self, woken: QueueId, running: QueueId) -> bool {
        match self.constrained {
            0 => self.branches.top.preempts(woken, running),
            _ => self.preempts_constrained(woken, running),
        }
    }

    #[cold]
    fn preempts_constrained(&self, woken: QueueId, running: QueueId) -> bool {
        match (self.idle_stand(running), self.idle_stand(woken)) {
            (None, None) => self.branches.preempts(woken, running),
            (None, Some(_)) => false,
            (Some(running), Some(woken)) => self.idle.eevdf.preempts(woken, running),
            (Some(_), None) => self.branches.has_own_work(woken),
        }
    }

    /// Which of two queues has the larger claim, that is the smaller request ÷ share, where their ways to the top part. Idle queues
    /// have less than all others.
    pub fn compare_claims(&self, one: QueueId, other: QueueId) -> Ordering {
        let idle = self.is_idle(other).cmp(&self.is_idle(one));
        idle.then_with(|| self.branches.compare_claims(one, other))
    }

    /// Whether the queue has work, or futures to drop.
    pub fn has_work_in(&self, queue: QueueId) -> bool {
        self.stand(queue) != Stand::Asleep
    }

    /// Whether the queue has work, and its cap is used up.
    pub fn is_throttled(&self, queue: QueueId) -> bool {
        self.stand(queue) == Stand::Throttled
    }

    /// Whether the queue is an idle one.
    pub fn is_idle(&self, queue: QueueId) -> bool {
        self.share(queue).is_some() && self.rules(queue).is_some_and(|rules| rules.idle.is_some())
    }

    /// The queue's cap, if it has one.
    pub fn cap(&self, queue: QueueId) -> Option<Cap> {
        self.share(queue)?;
        Some(self.rules(queue)?.budget.as_ref()?.cap())
    }

    /// What the queue's caps have done up to now.
    pub fn cap_counts(&self, queue: QueueId, now: u64) -> CapCounts {
        match self.share(queue).and(self.rules(queue)) {
            Some(rules) => rules.counts(now),
            None => CapCounts::default(),
        }
    }

    /// The queue whose slice is under way.
    #[inline]
    pub fn running(&self) -> Option<QueueId> {
        self.running
    }

    /// Whether there is such a queue.
    pub fn is_known(&self, queue: QueueId) -> bool {
        self.branches.top.share(queue).is_some()
    }

    /// The queue's share; `None` if unknown.
    pub fn share(&self, queue: QueueId) -> Option<Share> {
        self.branches.share(queue)
    }

    /// The queue's request in nanoseconds; 0 if unknown.
    pub fn request_ns(&self, queue: QueueId) -> u64 {
        self.branches.request_ns(queue)
    }

    /// What is left of a request, in nanoseconds: the least on the way to the top; 0 if unknown.
    pub fn left_ns(&self, queue: QueueId) -> u64 {
        match self.idle_stand(queue) {
            Some(id) => self.idle.eevdf.left_ns(id),
            None => self.branches.left_ns(queue),
        }
    }

    /// Service that the queue is owed in the branch where it competes, as [`Eevdf::lag`].
    pub fn lag(&self, queue: QueueId) -> Lag {
        self.branches.lag(queue)
    }

    /// Service charged to the queues below the queue, those that are gone included. Nanoseconds.
    pub fn below_ns(&self, queue: QueueId) -> u64 {
        self.branches.below_ns(queue)
    }

    /// Whether the queue has a parent, or has ever had children.
    pub fn is_nested(&self, queue: QueueId) -> bool {
        self.branches.is_nested(queue)
    }

    /// The queue's parent; `None` for one of the top.
    pub fn parent(&self, queue: QueueId) -> Option<QueueId> {
        self.branches.parent(queue)
    }

    /// How many children the queue has.
    pub fn children(&self, queue: QueueId) -> usize {
        self.branches.children(queue)
    }

    /// How many queues are above the queue.
    pub fn depth(&self, queue: QueueId) -> usize {
        self.branches.depth(queue)
    }

    /// The [`Eevdf`] of the top.
    pub fn top(&self) -> &Eevdf {
        &self.branches.top
    }
}
