//! `QueueTree` against a naive model, on random sequences of every call: a tree of `laws::EevdfOracle`, which wakes and sleeps by
//! looking at the whole of it. They must agree to the last bit.

use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Left, QueueId};
use fastrand::Rng;

use super::super::tree::{Claim, Tree, cases};

type Model = EevdfOracle<40>;

/// The naive tree, by the indices that the tree gives out.
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

    /// With `end` its work ends, else it begins.
    fn set_works(&mut self, queue: usize, end: Option<fn(&mut Model, usize)>) {
        let works = end.is_none();
        self.queues[queue].works = works;
        if let Some(branch) = &mut self.queues[queue].branch {
            end.unwrap_or(Model::wake)(branch, 0);
        }
        let mut next = Some(queue);
        while let Some(at) = next {
            let (works, place) = (self.has_work(at), self.queues[at].place);
            let siblings = self.siblings(at);
            match end {
                Some(end) if !works => end(siblings, place),
                _ => siblings.wake(place),
            }
            next = self.queues[at].parent;
        }
    }

    fn remove(&mut self, queue: usize) {
        self.set_works(queue, Some(Model::sleep));
        let place = self.queues[queue].place;
        if self.queues[queue].parent.is_some() {
            self.siblings(queue).remove(place);
        }
        self.root.remove(queue);
        self.queues[queue] = Queue::default();
    }

    fn pick(&mut self) -> Option<usize> {
        let mut queue = self.root.pick()?;
        loop {
            let Some(branch) = &mut self.queues[queue].branch else { return Some(queue) };
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
    tree: Tree,
    oracle: Oracle,
}

impl Pair {
    fn add(&mut self, parent: Option<QueueId>, share: u32, request: u64) {
        self.tree.add(parent, Claim { share, request, poll: 1 });
        self.oracle.add(parent.map(QueueId::index), share, request);
    }

    fn existing(&self) -> Vec<QueueId> {
        self.tree.ids.iter().copied().filter(|id| self.oracle.queues[id.index()].exists).collect()
    }

    fn step(&mut self, random: &mut Rng) {
        let existing = self.existing();
        let id = random.choice(existing.iter().copied()).unwrap();
        let queue = id.index();
        let (share, request) = (random.u32(1..=4), random.choice([2_000, 4_000, 6_000, 300_000]).unwrap());
        let Pair { tree, oracle } = self;
        match random.u32(..20) {
            0 | 1 if existing.len() < 12 => {
                let nested = random.u32(..4) > 0 && tree.tree.depth(id) < 3;
                self.add(nested.then_some(id), share, request);
            }
            2 if existing.len() > 1 && oracle.children(queue).is_empty() => {
                tree.remove(id);
                oracle.remove(queue);
            }
            3..=6 => {
                tree.wake(id);
                oracle.set_works(queue, None);
            }
            7 => {
                tree.sleep(id);
                oracle.set_works(queue, Some(Model::sleep));
            }
            9 => {
                tree.reshare(id, share, tree.tree.request_ns(id));
                let place = oracle.queues[queue].place;
                oracle.siblings(queue).set_share(place, share);
            }
            10 => {
                tree.reshare(id, tree.tree.share(id).unwrap().get(), request);
                let place = oracle.queues[queue].place;
                oracle.siblings(queue).set_request(place, request);
                let branch = oracle.queues[queue].branch.as_mut();
                branch.into_iter().for_each(|branch| branch.set_request(0, request));
            }
            _ => {
                let picked = tree.tree.pick(0).map(|grant| grant.queue);
                assert_eq!(picked.map(QueueId::index), oracle.pick());
                if let Some(picked) = picked {
                    let ns = random.choice([1_000, 2_000, 3_000, 400_000]).unwrap();
                    tree.charge(picked, ns);
                    oracle.serve(picked.index(), Some(ns));
                    let left = if random.u32(..3) > 0 { Left::Tasks } else { Left::Nothing };
                    tree.tree.end_slice(picked, left, 0);
                    if left == Left::Nothing {
                        oracle.set_works(picked.index(), Some(Model::drain));
                    }
                }
            }
        }
    }

    fn agree(&mut self, context: &str) {
        let grant = self.tree.grant();
        let picked = grant.map(|grant| grant.queue);
        assert_eq!(picked.map(QueueId::index), self.oracle.pick(), "{context}: pick");
        if let Some(id) = picked {
            let left = self.oracle.serve(id.index(), None);
            assert_eq!(self.tree.left_ns(id), left, "{context}: grant");
        }
        let tree = &self.tree.tree;
        let mut contended = self.oracle.root.runnable() > 1;
        for id in self.existing() {
            let queue = id.index();
            let place = self.oracle.queues[queue].place;
            let lag = self.oracle.siblings(queue).lag(place);
            assert_eq!(tree.lag(id).raw(), lag, "{context}: lag of {queue}");
            let children = self.oracle.children(queue).len();
            assert_eq!(tree.children(id), children, "{context}: children of {queue}");
            let branch = self.oracle.queues[queue].branch.as_ref();
            contended |= branch.is_some_and(|branch| branch.runnable() > 1);
        }
        if let Some(grant) = grant {
            assert_eq!(grant.until < u64::MAX, contended, "{context}: contention");
        }
    }
}

#[test]
fn agrees_to_the_last_bit() {
    for seed in 0..cases() {
        let mut random = Rng::with_seed(seed);
        let mut pair = Pair::default();
        pair.add(None, 1, 2_000);
        for step in 0..150 {
            pair.step(&mut random);
            pair.agree(&format!("seed {seed}, step {step}"));
        }
    }
}
