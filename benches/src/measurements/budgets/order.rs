//! In which order the polls of a drawn program come, under each scheduler, on a clock that only the program moves.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{
    ArrivalFifo, Deadline, FairGroups, Las, Priority, Qlas, RunnableFifo, Scheduler, Serpt, WokenFirst,
};
use clockworker::{Executor, ManualClock, Queue, spawn_local, yield_now};

use crate::random::{Purpose, Random};

const TASKS: u64 = 24;
const STEPS: u64 = 8;
const GROUPS: u64 = 5;
const SHARES: [u32; 2] = [3, 1];

/// Each scheduler's name, and the order of polls under it.
pub(super) fn all(seed: u64) -> Vec<(&'static str, String)> {
    vec![
        ("woken_first", under::<WokenFirst>(seed)),
        ("runnable_fifo", under::<RunnableFifo>(seed)),
        ("arrival_fifo", under::<ArrivalFifo>(seed)),
        ("las", under::<Las>(seed)),
        ("qlas", under::<Qlas>(seed)),
        ("serpt", under::<Serpt>(seed)),
        ("priority", under::<Priority>(seed)),
        ("deadline", under::<Deadline>(seed)),
        ("fair_groups", under::<FairGroups>(seed)),
    ]
}

#[derive(Clone)]
struct World {
    clock: ManualClock,
    order: Rc<RefCell<String>>,
}

impl World {
    /// A poll that takes so long.
    fn works(&self, task: u64, step: u64, micros: u64) {
        self.clock.advance(Duration::from_micros(micros));
        *self.order.borrow_mut() += &format!("{task}.{step} at {}\n", self.clock.now().as_micros());
    }

    /// A task that yields after most steps, and after some waits for a child.
    async fn task(self, task: u64, mut random: Random) {
        for step in 0..STEPS {
            self.works(task, step, 1 + random.below(100));
            if random.below(3) > 0 {
                yield_now().await;
                continue;
            }
            let (world, micros) = (self.clone(), 1 + random.below(40));
            let child = spawn_local(async move { world.works(task, STEPS + step, micros) });
            child.await.expect("a child does not fail");
        }
    }
}

fn under<S: Scheduler + Default + 'static>(seed: u64) -> String {
    let world = World { clock: ManualClock::new(), order: Rc::default() };
    let executor = Executor::builder().clock(world.clock.clone()).build().expect("the defaults are valid");
    let queues = SHARES.map(|share| {
        let name = share.to_string();
        let queue = executor.new_queue(&name).share(share).scheduler(S::default());
        queue.create().expect("the share is valid")
    });
    let group = |(queue, key): (&Queue, u64)| {
        queue.new_group(key).weight(1 + key as u32).open().expect("the weight is valid")
    };
    let keyed = queues.iter().flat_map(|queue| (0..GROUPS).map(move |key| (queue, key)));
    let groups: Vec<_> = keyed.map(group).collect();
    let spawn = |task: u64| {
        let mut random = Random::new(seed, Purpose::Work, task);
        let deadline = Duration::from_micros(1 + random.below(2_000));
        let builder = groups[task as usize % groups.len()].new_task();
        builder.priority((task % 3) as i8).deadline(deadline).spawn(world.clone().task(task, random))
    };
    let tasks: Vec<_> = (0..TASKS).map(spawn).collect();
    executor.block_on(async {
        for task in tasks {
            task.await.expect("a task does not fail");
        }
    });
    world.order.take()
}
