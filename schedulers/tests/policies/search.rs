//! Every program of a few tasks, to find the one in which a ready task waits for longest.
//!
//! Between polls the adversary wakes tasks, changes the attributes of their groups and lets time go by, as often as it
//! likes. After a poll the task yields or sleeps. Worlds that are alike in all that the future depends on are gone through
//! once, so that the search ends and misses nothing.

use core::fmt::Debug;
use std::collections::HashMap;

use clockworker_schedulers::{Attributes, GroupId, Ready, Scheduler};

use super::script::task;

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
        let mut layer = HashMap::new();
        for mut world in self.before_the_victim() {
            world.wake(0);
            world.bound = bound(&world);
            layer.insert(world.key(), world);
        }
        let mut waited = 0;
        while !layer.is_empty() {
            waited += 1;
            layer = self.polled(self.closure(layer));
            for world in layer.values() {
                assert!(waited < world.bound, "{waited} pops of {}: {:?}", world.bound, world.key());
            }
        }
        waited
    }

    /// All that can have been when the victim becomes ready.
    fn before_the_victim(&self) -> Vec<World<S>> {
        let mut start = World {
            policy: self.policy.clone(),
            has: vec![0; self.tasks as usize],
            ready: Vec::new(),
            now_ns: 0,
            bound: 0,
        };
        for slot in 0..self.tasks {
            start.policy.group_opened(GroupId::new(slot), slot.into(), &self.attributes[0]);
        }
        let mut known = HashMap::new();
        let mut fresh: HashMap<Key, World<S>> = self.beginnings(start);
        while !fresh.is_empty() {
            known.extend(fresh.iter().map(|(key, world)| (key.clone(), world.clone())));
            fresh = self.polled(self.closure(fresh));
            fresh.retain(|key, _| !known.contains_key(key));
        }
        self.closure(known).into_values().collect()
    }

    /// The start, or where attributes do not change one start for each choice of them.
    fn beginnings(&self, start: World<S>) -> HashMap<Key, World<S>> {
        let mut all = vec![start];
        for slot in (1..self.tasks as usize).filter(|_| !self.changes) {
            let choices = all.iter().flat_map(|world| (0..self.attributes.len()).map(move |n| (world, n)));
            all = choices.map(|(world, n)| self.changed(world, slot, n)).collect();
        }
        all.into_iter().map(|world| (world.key(), world)).collect()
    }

    fn changed(&self, world: &World<S>, slot: usize, n: usize) -> World<S> {
        let mut world = world.clone();
        world.has[slot] = n;
        world.policy.group_changed(GroupId::new(slot as u32), &self.attributes[n]);
        world
    }

    /// What the adversary can make of these without a poll.
    fn closure(&self, worlds: HashMap<Key, World<S>>) -> HashMap<Key, World<S>> {
        let mut open: Vec<World<S>> = worlds.values().cloned().collect();
        let mut all = worlds;
        while let Some(world) = open.pop() {
            for next in self.moves(&world) {
                all.entry(next.key()).or_insert_with(|| {
                    open.push(next.clone());
                    next
                });
            }
        }
        all
    }

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

    /// After one more poll, of another than the victim.
    fn polled(&self, worlds: HashMap<Key, World<S>>) -> HashMap<Key, World<S>> {
        let mut next = HashMap::new();
        for mut world in worlds.into_values() {
            let Some(id) = world.policy.pop() else { continue };
            world.ready.retain(|&slot| slot as usize != id.slot());
            if id.slot() == 0 {
                continue;
            }
            let mut yielded = world.clone();
            yielded.policy.push(task(id.slot() as u32), Ready::Yielded);
            yielded.ready.push(id.slot() as u32);
            next.insert(world.key(), world);
            next.insert(yielded.key(), yielded);
        }
        next
    }
}
