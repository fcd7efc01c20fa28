//! Every program of a few tasks, to find the one in which a ready task waits for longest.
//!
//! Between polls the adversary wakes tasks, changes the attributes of their groups and lets time go by, as often as it
//! likes. After a poll the task yields or sleeps. Worlds that are alike in all that the future depends on are gone through
//! once, so that the search ends and misses nothing.

use core::fmt::Debug;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use clockworker_schedulers::{Attributes, GroupId, Ready, Scheduler};

use super::script::{Told, task};

/// A policy and what the adversary may do to it.
pub(crate) struct Search<S> {
    pub(crate) policy: S,
    /// Slot 0 is the victim.
    pub(crate) tasks: u32,
    /// What groups may be given.
    pub(crate) attributes: Vec<Attributes>,
    /// Whether attributes change, and whether those of the victim do; they are the first of all where they do not.
    pub(crate) changes: bool,
    pub(crate) victim_changes: bool,
    /// Time goes by up to here, in steps of one nanosecond.
    pub(crate) until_ns: u64,
}

/// A moment between two polls.
#[derive(Clone)]
pub(crate) struct World<S> {
    policy: S,
    /// Which attributes each group has.
    has: Vec<usize>,
    /// The ready tasks, in the order of becoming ready.
    ready: Vec<u32>,
    now_ns: u64,
    /// How many pops the victim may wait.
    bound: u64,
}

/// All that the future depends on.
type Key = (String, Vec<usize>, Vec<u32>, u64, u64);

impl<S: Scheduler + Clone + Debug> World<S> {
    fn key(&self) -> Key {
        let policy = format!("{:?}", self.policy);
        (policy, self.has.clone(), self.ready.clone(), self.now_ns, self.bound)
    }

    fn wake(&mut self, slot: u32) {
        self.policy.push(task(slot), Ready::Woken);
        self.ready.push(slot);
    }

    /// The tasks that are ready, and which attributes each has.
    pub(crate) fn ready(&self) -> impl Iterator<Item = usize> {
        self.ready.iter().map(|&slot| self.has[slot as usize])
    }
}

impl<S: Scheduler + Clone + Debug> Search<S> {
    /// The most pops that the victim waited, the last of them its own.
    ///
    /// # Panics
    ///
    /// If it waits for longer than `bound` says, of the moment when it became ready.
    pub(crate) fn longest_wait(&self, bound: impl Fn(&World<S>) -> u64) -> u64 {
        let mut layer = reach(self.beginnings(), |world| [self.moves(world), self.polled(world)].concat());
        for world in &mut layer {
            world.wake(0);
            world.bound = bound(world);
        }
        let mut waited = 0;
        while !layer.is_empty() {
            waited += 1;
            let before = reach(layer, |world| self.moves(world));
            layer = before.iter().flat_map(|world| self.polled(world)).collect();
            for world in &layer {
                assert!(waited < world.bound, "{waited} pops of {}: {:?}", world.bound, world.key());
            }
        }
        waited
    }

    /// The start, or where attributes do not change one start for each choice of them.
    fn beginnings(&self) -> Vec<World<S>> {
        let (policy, has) = (self.policy.clone(), vec![0; self.tasks as usize]);
        let mut start = World { policy, has, ready: Vec::new(), now_ns: 0, bound: 0 };
        for slot in 0..self.tasks {
            start.policy.group_opened(GroupId::new(slot), slot.into(), &self.attributes[0]);
        }
        let mut all = vec![start];
        for slot in (1..self.tasks as usize).filter(|_| !self.changes) {
            let choices = all.iter().flat_map(|world| (0..self.attributes.len()).map(move |n| (world, n)));
            all = choices.map(|(world, n)| self.changed(world, slot, n)).collect();
        }
        all
    }

    fn changed(&self, world: &World<S>, slot: usize, n: usize) -> World<S> {
        let mut world = world.clone();
        world.has[slot] = n;
        world.policy.group_changed(GroupId::new(slot as u32), &self.attributes[n]);
        world
    }

    /// What the adversary can do before the next poll.
    fn moves(&self, world: &World<S>) -> Vec<World<S>> {
        let mut next = Vec::new();
        for slot in (1..self.tasks).filter(|slot| !world.ready.contains(slot)) {
            next.push(world.clone());
            next.last_mut().unwrap().wake(slot);
        }
        let first = usize::from(!self.victim_changes);
        for slot in (first..self.tasks as usize).filter(|_| self.changes) {
            next.extend((0..self.attributes.len()).map(|n| self.changed(world, slot, n)));
        }
        if world.now_ns < self.until_ns {
            let mut later = world.clone();
            later.now_ns += 1;
            later.policy.time_is(later.now_ns);
            next.push(later);
        }
        next
    }

    /// After one more poll, of another than the victim, which sleeps or yields.
    fn polled(&self, world: &World<S>) -> Vec<World<S>> {
        let mut world = world.clone();
        let Some(slot) = world.policy.pop().map(|id| id.slot() as u32).filter(|&slot| slot > 0) else {
            return Vec::new();
        };
        world.ready.retain(|&ready| ready != slot);
        let mut yielded = world.clone();
        yielded.policy.push(task(slot), Ready::Yielded);
        yielded.ready.push(slot);
        vec![world, yielded]
    }
}

/// All worlds that can come of these, each once.
fn reach<S: Scheduler + Clone + Debug>(
    from: Vec<World<S>>,
    next: impl Fn(&World<S>) -> Vec<World<S>>,
) -> Vec<World<S>> {
    let (mut open, mut all) = (from, HashMap::new());
    while let Some(world) = open.pop() {
        if let Entry::Vacant(place) = all.entry(world.key()) {
            open.extend(next(&world));
            place.insert(world);
        }
    }
    all.into_values().collect()
}
