//! The choice between queues, by itself.

use std::hint::black_box;

use clockworker::schedulers::{Eevdf, QueueId, Share};

use super::{Operation, SIZES};
use crate::region::Region;

pub(super) const TABLE: &[Operation] = &[
    Operation::ours("pick_2", "pick and charge, 2 queues", pick::<2>),
    Operation::ours("pick_64", "pick and charge, 64 queues", pick::<64>),
    Operation::ours("pick_1024", "pick and charge, 1,024 queues", pick::<1_024>),
    Operation::ours("sleep_and_wake_64", "a queue of 64 sleeps and wakes", |region| {
        let (mut eevdf, ids) = queues(64);
        for n in SIZES {
            region.count(n, &mut || {
                for id in ids.iter().copied().cycle().take(n as usize) {
                    eevdf.sleep(black_box(id));
                    eevdf.wake(id);
                }
            });
        }
    }),
];

/// What each queue asks for, and is charged when picked.
const REQUEST_NS: u64 = 500_000;

/// Queues of the shares 1 to 8, all awake.
fn queues(count: u32) -> (Eevdf, Vec<QueueId>) {
    let mut eevdf = Eevdf::new();
    let shares = (0..count).map(|queue| Share::new(1 + queue % 8).expect("the share is in range"));
    let ids: Vec<QueueId> = shares.map(|share| eevdf.add(share, REQUEST_NS)).collect();
    for &id in &ids {
        eevdf.wake(id);
    }
    (eevdf, ids)
}

fn pick<const QUEUES: u32>(region: &dyn Region) {
    let (mut eevdf, _) = queues(QUEUES);
    for n in SIZES {
        region.count(n, &mut || {
            for _ in 0..n {
                let id = eevdf.pick().expect("all queues are awake");
                eevdf.charge(black_box(id), REQUEST_NS);
            }
        });
    }
}
