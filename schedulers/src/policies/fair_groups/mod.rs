//! [`FairGroups`]: start-time fair queueing over groups.
//!
//! # Why a group gets what its docs promise
//!
//! S_g is the longest poll of group g, Q the quantum, L_g = Q + S_g, L the greatest of these, n the most groups that exist at
//! a time.
//!
//! v is what a group has received, divided by its weight, counted with each poll. V is where the group whose turn it is stood
//! when the turn began. z = w·(v − V).
//!
//! 1. *V never falls, and no ready group without a burst is before it.* A group that becomes ready is raised to V − B/w. One
//!    that is then before V has a burst, and stands in front. One that owes less than 1,024 ns and less than Q stands at V.
//!    While any has a burst V stays. Else the turn goes to the ready group at the least point.
//! 2. *No group is far ahead or behind.* A group receives service only in its turns, and V does not fall. A turn ends when z
//!    is Q or more, so z ≤ L_g at all times, and −B ≤ z while it is ready. A change of weight keeps a debt and ends a burst.
//!    A group that comes back under a key, or takes the index of a closed one, has no burst, and takes over its debt. So
//!    nothing is gained by leaving, and no history makes a debt longer than a turn.
//! 3. *Two groups.* Both always have work, so V ≤ v ≤ V + L_g/w when their bursts are used, and the same for v'. Then
//!    −L_g'/w' ≤ v − v' ≤ L_g/w at all times. What they receive in a stretch is by how much v and v' grow, so it differs by
//!    at most the sum of the two.
//! 4. *One group against all.* While V grows by ΔV, a group receives s ≤ w·ΔV + Δz: when it becomes ready its v is raised or
//!    stays, and z with it. Equality holds where it always has work. Over all groups t ≤ W·ΔV + ΣΔz_j, and Σ_{j≠g} Δz_j ≤ (n
//!    − 1)·(L + B) by 2. So s = w·ΔV + Δz ≥ (w/W)·(t − (n − 1)·(L + B) − Δz) + Δz. Where z < 0 at the end, V did not move
//!    since the group became ready, and Δz ≥ 0. Else Δz ≥ −L_g. ∎
//!
//! The wait follows from 1 and 2. Before a group at V go those at V that came before it, a turn each, and those that have a
//! burst, with B and a turn. Before one with a burst go those with a burst that came before it, a turn each. As a rule that
//! is the turn under way, L, and a poll of each group that sleeps between short polls. The drop of an aborted task's future
//! is charged when it comes, also to a group that has no turn: it adds to L_g. Rounding is upwards, by less than 2⁻⁴⁰ ns per
//! turn and unit of weight.

mod choice;
mod debts;
mod least_first;
mod place;
mod places;
#[cfg(test)]
mod tests;
mod turn;

use core::fmt;

use crate::parts::task_lists::TaskLists;
use crate::{Attributes, Gone, GroupId, Ready, Scheduler, Served, Subject, Task, TaskId};
use debts::Debts;
use least_first::LeastFirst;
use place::SHORT_NS;
use places::Places;
use turn::Turn;

/// The default quantum.
const QUANTUM_NS: u64 = 16_384;

/// The default burst.
const BURST_NS: u64 = 100_000;

/// A group that becomes ready and owes no more stands at V all the same, if the quantum is longer: where thousands of groups sleep
/// between short polls, their debts differ by nanoseconds, and to sort them would cost more than the polls.
const GRACE_NS: u64 = 1_023;

/// Each group gets its share of the queue by weight, however many tasks it has and whatever it had before.
///
/// For tenants. A group has the [weight](Attributes::weight) that it was opened with; a task without a group is a group of its
/// own, of weight 1. Inside a group, the order of becoming ready.
///
/// This is start-time fair queueing (Goyal, Vin and Cheng, *Start-time fair queueing: a scheduling algorithm for integrated
/// services packet switching networks*, SIGCOMM 1996), with turns in place of packets.
///
/// # Order
///
/// Each group has a *virtual runtime* v: what it has received, divided by its weight. The group of the least v has the next
/// *turn*; at equal v, the one that came first. The turn ends when the group has received the *quantum* (16,384 ns, see
/// [`with_quantum_ns`](FairGroups::with_quantum_ns)) or has no ready task. So short polls are compared once in a turn, and
/// polls longer than the quantum each time. A poll counts for a nanosecond at least.
///
/// *Virtual time* V is the v of the group whose turn it is, as the turn began. It never falls. What a group has received beyond its
/// due, v − V, it owes still when it becomes ready again. When the queue has [drained](Gone::Backlog), nothing is owed, and all
/// groups have their burst.
///
/// A group that was idle while V went by has a *burst*: up to B (100 µs, see [`with_burst_ns`](FairGroups::with_burst_ns)) of what
/// it did not use. It goes before all groups that have none until it has received that. Those that have a burst take turns, in
/// the order of becoming ready. So a request that takes no more than B, of a tenant that takes less than its share, is served
/// at a stretch, however many polls it has and however many others are busy. What a group did not use beyond B is gone.
/// (This is a service curve of two pieces, as in Stoica, Zhang and Ng, *A hierarchical fair service curve algorithm*, SIGCOMM 1997;
/// and a warp that is bounded, as in Duda and Cheriton, *Borrowed-virtual-time scheduling*, SOSP 1999.)
///
/// A group that becomes ready and owes less than 1,024 ns, and less than the quantum, stands at V. Its turn ends
/// that much sooner, so it gains nothing. This keeps groups that sleep between short polls in the order of waking, where
/// sorting them by nanoseconds would cost more than the polls.
///
/// - **A group that was just opened**, and a new task without a group, has no burst: it was not idle. So keep a handle of a tenant
///   whose requests come one at a time: without one its group closes with its last task, and opens anew.
/// - **Another weight** counts from then on. The group owes as much service as before, and has no burst.
/// - **A group that is opened again** under the same key owes what it owed when it closed, unless V has passed that.
/// - **A new group under the index** of one that has closed owes what that one owed, unless V has passed it. Otherwise a stream
///   of new groups would go before all others for ever.
///
/// # Promises
///
/// L is the longest turn: less than the quantum and the longest poll together. A closed group *exists* until V has passed what
/// it owed, or its index is used again. W is the greatest sum of the weights of all groups that exist at a time, n the most that
/// exist. (The drop of an aborted task's future is charged when it comes, also to a group that has no turn: it adds to L.)
///
/// 1. **Two groups that always have work**, whose weights w and w' stay and whose bursts are used, receive service in proportion:
///    in any stretch of time, after any history, | s/w − s'/w' | ≤ L/w + L/w'.
/// 2. **A group that always has work** receives at least t·w/W − (w/W)·(n − 1)·(L + B) − (1 − w/W)·L of any t that goes to the
///    queue, whatever the others do: sleep, wake, come, leave, come back, change their weights.
/// 3. **A group that has a burst** and becomes ready waits for the turn under way, and for a turn of each that has a burst and came
///    before it: for (n − 1)·L at worst. One that has none and owes nothing waits for those with a burst, and for those that stand
///    at V and came before it: for (n − 1)·(L + B) at worst. No group owes more than L. One that owes as much waits besides until
///    each other, of weight w', has received L·w'/w and a turn.
///
/// The source of its module has the proof. (Service is divided exactly, and rounded up to 2⁻⁴⁰ ns once a turn.)
///
/// # Cost
///
/// A poll inside a turn is O(1): two comparisons and an addition, and two links where the group has other ready tasks. To choose
/// between *G* ready groups at the end of a turn is O(log *G*), and so is to place a group that becomes ready; where it comes to
/// stand at the least v of all, as one that owes next to nothing, it is O(1), and so is to choose it. Nothing is hashed.
/// To close a group in debt, and to open it again, is O(log *D*) in the number of such debts, which are forgotten as V passes
/// them. Memory is at most some 80 bytes for each group, 72 for each task without one, and 8 for each task of a group that has several
/// ready, of as many as there were at a time.
///
/// ```
/// use clockworker_schedulers::{
///     Attributes, FairGroups, GroupId, Ready, Scheduler, Served, Share, Subject, Task, TaskId,
/// };
///
/// let mut fair = FairGroups::new();
/// let weights = [1, 3];
/// for (index, weight) in weights.into_iter().enumerate() {
///     let attributes = Attributes::new().with_weight(Share::new(weight)?);
///     fair.said(Subject::NewGroup { group: GroupId::new(index as u32), key: index as u64 }, &attributes);
/// }
/// // Two tasks each, which yield after 50 µs.
/// let task = |slot: u32| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot / 2) };
/// (0..4).for_each(|slot| fair.push(task(slot), Ready::Spawned));
/// let mut polls = [0; 2];
/// for _ in 0..400 {
///     let popped = task(fair.pop().unwrap().slot() as u32);
///     polls[popped.group.index()] += 1;
///     fair.served(Served::Task { task: popped, polls: 1, ns: 50_000 }, 0);
///     fair.push(popped, Ready::Yielded);
/// }
/// assert_eq!(polls, [100, 300]);
/// # Ok::<(), clockworker_schedulers::ShareError>(())
/// ```
#[derive(Clone)]
pub struct FairGroups {
    places: Places,
    /// By group index: the keys of groups that were opened.
    keys: Vec<u64>,
    tasks: TaskLists,
    /// The groups that have ready tasks, but for the one that has the turn, by virtual runtime.
    waiting: LeastFirst,
    turn: Turn,
    /// V, as of the turn before, or of this one where it was interrupted.
    virtual_time: u128,
    /// The greatest virtual runtime.
    furthest: u128,
    /// What closed groups owed.
    debts: Debts,
    /// The group indices that were in use between the two last times at which the queue had drained, if they were more than `KEPT`.
    last_burst: usize,
    quantum_ns: u64,
    burst_ns: u64,
}

impl FairGroups {
    /// Makes an empty one with a quantum of 16,384 ns.
    pub const fn new() -> Self {
        Self {
            places: Places::new(),
            keys: Vec::new(),
            tasks: TaskLists::new(),
            waiting: LeastFirst::new(),
            turn: Turn::OPEN,
            virtual_time: 0,
            furthest: 0,
            debts: Debts::new(),
            last_burst: 0,
            quantum_ns: QUANTUM_NS,
            burst_ns: BURST_NS,
        }
    }

    /// Sets the quantum: what a group receives, in nanoseconds, before it is compared with the others. With 0 it is compared
    /// after each poll.
    ///
    /// A longer one spares comparisons where polls are short, and makes the other groups wait for longer.
    #[must_use]
    pub const fn with_quantum_ns(self, ns: u64) -> Self {
        // (Not by `..self`, which would drop what it replaces.)
        let mut fair = self;
        fair.quantum_ns = ns;
        fair
    }

    /// Sets the burst ([Order](FairGroups#order)): what a group that was idle may receive, in nanoseconds, before it is compared with
    /// those that were not; 16,777,215 at most. With 0 it stands at V as soon as it is ready.
    ///
    /// It should be what a request takes, with all its polls. Each group that was idle may keep the others waiting for so long.
    #[must_use]
    pub const fn with_burst_ns(self, ns: u64) -> Self {
        let mut fair = self;
        fair.burst_ns = if ns < SHORT_NS { ns } else { SHORT_NS - 1 };
        fair
    }

    /// The burst, in nanoseconds.
    pub const fn burst_ns(&self) -> u64 {
        self.burst_ns
    }

    /// The quantum, in nanoseconds.
    pub const fn quantum_ns(&self) -> u64 {
        self.quantum_ns
    }

    /// What `group` has received beyond its due, in nanoseconds: it is served again when the others have had theirs. 0 for one
    /// that is unknown.
    pub fn owes_ns(&self, group: GroupId) -> u64 {
        let Some(mut place) = self.places.get(group.index() as u32).copied() else { return 0 };
        if self.turn.is_of(group.index() as u32) {
            place.charge(self.turn.spent_ns());
        }
        place.owes_ns(self.virtual_time())
    }
}

impl Default for FairGroups {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for FairGroups {
    #[inline]
    fn push(&mut self, task: Task, why: Ready) {
        let index = task.group.index() as u32;
        let (now, grace_ns) = (self.virtual_time(), self.grace_ns());
        let place = self.places.of_mut(index);
        let was_empty = place.tasks.is_empty();
        self.tasks.push_back(&mut place.tasks, task.id);
        if was_empty && !self.turn.is_of(index) {
            // A new task without a group was not idle.
            let burst_ns = if why == Ready::Spawned && !place.is_open { 0 } else { self.burst_ns };
            self.waiting.put(place.come(now, grace_ns, burst_ns), index);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        if let Some(index) = self.turn.going_on()
            && let Some(task) = self.take(index)
        {
            return Some(task);
        }
        self.pop_next()
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let index = task.group.index() as u32;
        if self.turn.going_on() == Some(index)
            && let Some(place) = self.places.get_mut(index)
        {
            // It goes on, with the next of its tasks.
            if place.tasks.is_empty() {
                return Some(task.id);
            }
            self.tasks.push_back(&mut place.tasks, task.id);
            return self.tasks.pop_front(&mut place.tasks);
        }
        self.push(task, Ready::Yielded);
        self.pop()
    }

    #[inline]
    fn served(&mut self, served: Served, _now_ns: u64) {
        let Served::Task { task, ns: service_ns, .. } = served else { return };
        let index = task.group.index() as u32;
        let service_ns = service_ns.max(1);
        if self.turn.is_of(index) {
            self.turn.spend(service_ns);
        } else {
            self.served_outside(index, service_ns);
        }
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        let place = self.places.get(self.turn.going_on()?)?;
        self.tasks.nth(place.tasks, ahead)
    }

    fn said(&mut self, of: Subject, attributes: &Attributes) {
        match of {
            Subject::NewGroup { group, key } => self.open(group, key, attributes),
            Subject::Group(group) => self.change(group, attributes),
            Subject::Task(_) => {}
        }
    }

    #[inline]
    fn gone(&mut self, gone: Gone) {
        match gone {
            Gone::Task(_) => {}
            Gone::Group(group) => self.close(group),
            Gone::Backlog => self.settle(),
        }
    }
}

impl FairGroups {
    fn open(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        let index = group.index() as u32;
        self.places.of_mut(index).is_open = true;
        self.remember_key(group, key);
        self.reweigh(index, attributes.weight);
        if let Some(debt) = self.debts.take(key) {
            let now = self.virtual_time();
            self.places.of_mut(index).take_over(debt, now);
            self.replace(index);
        }
    }

    fn change(&mut self, group: GroupId, attributes: &Attributes) {
        let index = group.index() as u32;
        if self.places.of_mut(index).weight == attributes.weight {
            return;
        }
        if self.turn.is_of(index) {
            self.end_turn(); // which was counted by the old weight
        }
        self.reweigh(index, attributes.weight);
    }

    fn close(&mut self, group: GroupId) {
        let index = group.index() as u32;
        if self.turn.is_of(index) {
            self.leave_turn(index);
        }
        // Most that close never were opened: they are tasks without a group.
        if self.places.get_mut(index).is_some_and(|place| core::mem::take(&mut place.is_open)) {
            self.remember_debt(index);
        }
    }

    /// The backlog is gone.
    fn settle(&mut self) {
        if self.waiting.len() > 0
            || self.turn.group().is_some_and(|index| !self.places.of_mut(index).tasks.is_empty())
        {
            return;
        }
        self.forgive();
        self.give_back();
    }
}

impl fmt::Debug for FairGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FairGroups")
            .field("quantum_ns", &self.quantum_ns)
            .field("burst_ns", &self.burst_ns)
            .field("turn", &self.turn.group())
            .field("waiting_groups", &self.waiting.len())
            .field("debts", &self.debts.len())
            .finish_non_exhaustive()
    }
}
