//! Random programs on queues of any kind: all the time there was is on one account at any moment, and all that was spawned
//! ends once.

use std::future::{pending, ready};

use clockworker::{Cap, Executor, JoinHandle, Queue, QueueStats, spawn_local, yield_now};
use clockworker_testing::policy::Policy;
use fastrand::Rng;

use crate::support::*;

/// Their names, of which those of closed queues are taken again.
const NAMES: usize = 8;

struct Program {
    ex: Executor,
    random: Rng,
    /// All that there were, also those that are gone.
    queues: Vec<Queue>,
    tasks: Vec<JoinHandle<()>>,
}

impl Program {
    fn new(seed: u64) -> Self {
        let ex = hosted();
        let queues = vec![ex.default_queue().clone()];
        Self { ex, random: Rng::with_seed(seed), queues, tasks: Vec::new() }
    }

    fn queue(&mut self) -> Queue {
        self.random.choice(&self.queues).unwrap().clone()
    }

    fn policy(&mut self) -> Policy {
        *self.random.choice(Policy::ALL).unwrap()
    }

    fn cap(&mut self) -> Cap {
        let (quota, longer) = (self.random.u64(1..=200), self.random.u64(..800));
        let cap = Cap::new(us(quota), us(quota + longer)).unwrap();
        cap.with_burst(us(self.random.u64(..quota))).unwrap()
    }

    /// Idle, capped, below another, or none of these; refused where that cannot be, or the name is taken.
    fn create(&mut self) {
        let name = self.random.usize(..NAMES).to_string();
        let (share, request) = (self.random.u32(1..=9), us(self.random.u64(1..=500)));
        let (parent, cap, policy) = (self.queue(), self.cap(), self.policy());
        let queue =
            if self.random.u32(..3) == 0 { parent.new_queue(&name) } else { self.ex.new_queue(&name) };
        let queue = queue.share(share).request(request);
        let queue = match self.random.u32(..4) {
            0 => queue.idle(),
            1 => queue.cap(cap),
            _ => queue,
        };
        self.queues.extend(policy.create(queue));
    }

    fn spawn(&mut self) {
        let (polls, poll, slow_drop) =
            (self.random.u32(..5), us(self.random.u64(..300)), us(self.random.u64(..300)));
        let (kind, policy) = (self.random.u32(..8), self.policy());
        let guard = OnDrop::new(move || work(slow_drop));
        let task = async move {
            let _guard = guard;
            for _ in 0..polls {
                work(poll);
                yield_now().await;
                if kind == 0 {
                    sleep(poll).await;
                }
            }
            match kind {
                1 => pending().await,
                2 => std::panic::resume_unwind(Box::new("meant")),
                3 => drop(spawn_local(yield_now())),
                4 => _ = policy.set(&Queue::current().unwrap()),
                _ => {}
            }
            yield_now().await;
        };
        let (queue, key) = (self.queue(), self.random.u64(..4));
        self.tasks.push(if key == 0 { queue.spawn(task) } else { queue.group(key).spawn(task) });
    }

    // What cannot be changed is refused.
    fn step(&mut self) {
        let queue = self.queue();
        match self.random.u32(..17) {
            0..=6 => self.spawn(),
            7 if !self.tasks.is_empty() => {
                let at = self.random.usize(..self.tasks.len());
                self.tasks.swap_remove(at).abort();
            }
            8..=9 => self.create(),
            10 => {
                let cap = self.random.bool().then(|| self.cap());
                let _ = queue.set_cap(cap);
            }
            11 => _ = queue.set_share(self.random.u32(1..=1_000)),
            12 if queue.name() != "default" => queue.close(),
            13 => work(us(self.random.u64(..100))),
            14 => _ = self.policy().set(&queue),
            _ => _ = turn(&self.ex),
        }
        self.check();
    }

    fn check(&self) {
        let all = self.ex.stats();
        assert_eq!(all.busy + all.main + all.own + all.host, now());
        let each: Vec<QueueStats> = self.queues.iter().map(Queue::stats).collect();
        let sum = |count: fn(&QueueStats) -> u64| each.iter().map(count).sum::<u64>();
        let counts = [all.polls, all.slices, all.overruns, all.preemptions, all.spawned];
        assert_eq!(
            counts,
            [
                sum(|q| q.polls),
                sum(|q| q.slices),
                sum(|q| q.overruns),
                sum(|q| q.preemptions),
                sum(|q| q.spawned)
            ]
        );
        assert_eq!(all.busy, each.iter().map(|queue| queue.busy).sum());
        assert_eq!(all.overrun_time, each.iter().map(|queue| queue.overrun_time).sum());
        for stats in &each {
            let ended = stats.completed + stats.cancelled + stats.panicked;
            assert_eq!(stats.spawned, ended + stats.live as u64);
            assert_eq!(stats.policy_fault, None);
        }
    }

    /// All may go on and end, or is shut down or dropped.
    fn end(self, how: u64) {
        match how {
            0 => {
                self.queues.iter().for_each(|queue| _ = queue.set_cap(None));
                self.queues[1..].iter().for_each(Queue::close);
                // Some wait for ever.
                self.queues.iter().for_each(|queue| _ = queue.abort_all());
                run(&self.ex, self.ex.drained());
                self.check();
                assert_eq!(self.ex.stats().queues.len(), 1);
            }
            1 => {
                self.ex.block_on_shutdown(ready(()));
                self.check();
            }
            _ => drop(self.ex),
        }
        assert!(self.queues.iter().all(|queue| (queue.stats().live, queue.stats().ready) == (0, 0)));
        assert!(self.tasks.iter().all(|task| task.is_finished()));
    }
}

#[test]
fn all_time_and_all_tasks_are_counted_whatever_is_done_to_queues() {
    for seed in 0..400 {
        let run = std::panic::catch_unwind(|| {
            let mut program = Program::new(seed);
            (0..200).for_each(|_| program.step());
            program.end(seed % 3);
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}
