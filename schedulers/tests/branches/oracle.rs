//! `Branches` against a naive model, on random sequences of every call: a tree of `laws::EevdfOracle`, which wakes and sleeps by
//! looking at the whole of it. They must agree to the last bit.

use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Branches, Eevdf, QueueId, Share};

use super::support::{Random, cases};

type Model = EevdfOracle<40>;

/// The naive tree, by the indices that the root gives out.
#[derive(Default)]
struct Oracle {
    root: Model,
    queues: Vec<Queue>,
}

#[derive(Default)]
struct Queue {
    parent: Option<usize>,
    /// Its index among its siblings.
    place: usize,
    /// Its children and its own tasks, which are the first.
    branch: Option<Model>,
    /// Whether its own tasks have work.
    works: bool,
    exists: bool,
}

impl Oracle {
    fn add(&mut self, parent: Option<usize>, share: u32, request: u64) {
        let index = self.root.add(share, request);
        if index == self.queues.len() {
            self.queues.push(Queue::default());
        }
        let place = parent.map_or(index, |parent| {
            if self.queues[parent].branch.is_none() {
                let mut branch = Model::default();
                let above = self.queues[parent].place;
                branch.add(1, self.siblings(parent).queue(above).unwrap().request);
                if self.queues[parent].works {
                    branch.wake(0);
                }
                self.queues[parent].branch = Some(branch);
            }
            self.queues[parent].branch.as_mut().unwrap().add(share, request)
        });
        self.queues[index] = Queue { parent, place, exists: true, ..Queue::default() };
    }

    fn siblings(&mut self, queue: usize) -> &mut Model {
        match self.queues[queue].parent {
            Some(parent) => self.queues[parent].branch.as_mut().unwrap(),
            None => &mut self.root,
        }
    }

    fn children(&self, queue: usize) -> Vec<usize> {
        let all = 0..self.queues.len();
        all.filter(|&child| self.queues[child].exists && self.queues[child].parent == Some(queue)).collect()
    }

    fn has_work(&self, queue: usize) -> bool {
        self.queues[queue].works || self.children(queue).into_iter().any(|child| self.has_work(child))
    }

    fn set_works(&mut self, queue: usize, works: bool) {
        self.queues[queue].works = works;
        if let Some(branch) = &mut self.queues[queue].branch {
            if works { branch.wake(0) } else { branch.sleep(0) }
        }
        let mut next = Some(queue);
        while let Some(at) = next {
            let (works, place) = (self.has_work(at), self.queues[at].place);
            let siblings = self.siblings(at);
            if works {
                siblings.wake(place)
            } else {
                siblings.sleep(place)
            }
            next = self.queues[at].parent;
        }
    }

    fn remove(&mut self, queue: usize) {
        self.set_works(queue, false);
        let place = self.queues[queue].place;
        if self.queues[queue].parent.is_some() {
            self.siblings(queue).remove(place);
        }
        self.root.remove(queue);
        self.queues[queue] = Queue::default();
    }

    fn pick(&self) -> Option<usize> {
        let mut queue = self.root.pick()?;
        loop {
            let Some(branch) = &self.queues[queue].branch else { return Some(queue) };
            let place = branch.pick().unwrap();
            if place == 0 {
                return Some(queue);
            }
            let children = self.children(queue);
            queue = children.into_iter().find(|&child| self.queues[child].place == place).unwrap();
        }
    }

    /// The least that is left on the way up; and charges it `ns`.
    fn serve(&mut self, queue: usize, ns: Option<u64>) -> u64 {
        let mut left = u64::MAX;
        if let Some(branch) = &mut self.queues[queue].branch {
            left = branch.queue(0).unwrap().left;
            ns.into_iter().for_each(|ns| branch.charge(0, ns));
        }
        let mut next = Some(queue);
        while let Some(at) = next {
            let place = self.queues[at].place;
            left = left.min(self.siblings(at).queue(place).unwrap().left);
            ns.into_iter().for_each(|ns| self.siblings(at).charge(place, ns));
            next = self.queues[at].parent;
        }
        left
    }
}

/// The two side by side.
#[derive(Default)]
struct Pair {
    root: Eevdf,
    branches: Branches,
    ids: Vec<QueueId>,
    oracle: Oracle,
}

impl Pair {
    fn add(&mut self, parent: Option<usize>, share: u32, request: u64) {
        let id = self.root.add(Share::new(share).unwrap(), request);
        if id.index() == self.ids.len() {
            self.ids.push(id);
        }
        if let Some(parent) = parent {
            self.branches.add(&mut self.root, self.ids[parent], id);
        }
        self.oracle.add(parent, share, request);
    }

    fn step(&mut self, random: &mut Random) {
        let existing: Vec<_> =
            (0..self.ids.len()).filter(|&queue| self.oracle.queues[queue].exists).collect();
        let queue = existing[random.below(existing.len() as u64) as usize];
        let (id, root) = (self.ids[queue], &mut self.root);
        let (share, request) = (1 + random.below(4) as u32, random.pick(&[2_000, 4_000, 6_000, 300_000]));
        match random.below(20) {
            0 | 1 if existing.len() < 12 => {
                let nested = random.below(4) > 0 && self.branches.depth(id) < 3;
                self.add(nested.then_some(queue), share, request);
            }
            2 if existing.len() > 1 && self.oracle.children(queue).is_empty() => {
                self.branches.remove(root, id);
                root.remove(id);
                self.oracle.remove(queue);
            }
            3..=6 => {
                self.branches.wake(root, id);
                self.oracle.set_works(queue, true);
            }
            7 | 8 => {
                self.branches.sleep(root, id);
                self.oracle.set_works(queue, false);
            }
            9 => {
                self.branches.set_share(root, id, Share::new(share).unwrap());
                let place = self.oracle.queues[queue].place;
                self.oracle.siblings(queue).set_share(place, share);
            }
            10 => {
                self.branches.set_request(root, id, request);
                let place = self.oracle.queues[queue].place;
                self.oracle.siblings(queue).set_request(place, request);
                let branch = self.oracle.queues[queue].branch.as_mut();
                branch.into_iter().for_each(|branch| branch.set_request(0, request));
            }
            _ => {
                if let Some(picked) = self.branches.pick(root) {
                    let ns = random.pick(&[1_000, 2_000, 3_000, 400_000]);
                    self.branches.charge(root, picked, ns);
                    self.oracle.serve(picked.index(), Some(ns));
                }
            }
        }
    }

    fn agree(&mut self, context: &str) {
        let picked = self.branches.pick(&mut self.root);
        assert_eq!(picked.map(QueueId::index), self.oracle.pick(), "{context}: pick");
        if let Some(id) = picked {
            let left = self.oracle.serve(id.index(), None);
            assert_eq!(self.branches.left_ns(&self.root, id), left, "{context}: grant");
        }
        let mut contended = false;
        for queue in 0..self.ids.len() {
            if !self.oracle.queues[queue].exists {
                continue;
            }
            let id = self.ids[queue];
            let place = self.oracle.queues[queue].place;
            let lag = self.oracle.siblings(queue).lag(place);
            assert_eq!(self.branches.lag(&self.root, id).raw(), lag, "{context}: lag of {queue}");
            assert_eq!(
                self.branches.children(id),
                self.oracle.children(queue).len(),
                "{context}: children of {queue}"
            );
            let branch = self.oracle.queues[queue].branch.as_ref();
            contended |= branch.is_some_and(|branch| branch.runnable() > 1);
        }
        assert_eq!(self.branches.are_contended(), contended, "{context}: contention");
    }
}

#[test]
fn agrees_to_the_last_bit() {
    for seed in 0..cases() {
        let mut random = Random::new(seed);
        let mut pair = Pair::default();
        pair.add(None, 1, 2_000);
        for step in 0..150 {
            pair.step(&mut random);
            pair.agree(&format!("seed {seed}, step {step}"));
        }
    }
}
