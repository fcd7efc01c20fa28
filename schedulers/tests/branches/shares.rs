//! Trees of queues that always have work, beside a flat server in exact fractions, which gives each queue at each moment the
//! product of its shares.

use super::support::{Claim, Fraction, Random, Tree, ahead, behind, cases};

fn claim(random: &mut Random) -> Claim {
    let longest = random.pick(&[100, 10_000, 100_000]);
    Claim {
        share: random.pick(&[1, 1, 2, 3, 9, 20]),
        request: random.pick(&[1_000, 10_000, 50_000, 500_000]),
        poll: 1 + random.below(longest),
    }
}

/// Up to 14 queues, up to four deep.
fn tree(random: &mut Random) -> Tree {
    let mut tree = Tree::new();
    for number in 0..2 + random.below(13) {
        let above = random.below(2 * number + 1) as usize;
        let parent = (above < number as usize && tree.way(above).len() < 4).then_some(above);
        let claim = claim(random);
        tree.add(parent, claim);
    }
    tree
}

/// No queue is ever farther from the product of its shares than the bounds of its branches add up to.
#[test]
fn each_gets_the_product_of_its_shares() {
    let mut deepest = 0;
    for seed in 0..cases() {
        let mut random = Random::new(seed);
        let mut tree = tree(&mut random);
        let all = 0..tree.queues.len();
        all.clone().for_each(|queue| tree.wake(queue));
        let limits: Vec<_> = all
            .clone()
            .map(|queue| {
                let behind = tree.bound(queue, |claim, others| behind(claim, others, 0)).ceil();
                (tree.part(queue), behind, tree.bound(queue, ahead).ceil())
            })
            .collect();
        deepest = deepest.max(all.clone().map(|queue| tree.levels(queue).len()).max().unwrap());
        let (mut time, mut served) = (0, vec![0; limits.len()]);
        for _ in 0..200 {
            let (queue, ns) = tree.slice().unwrap();
            (time, served[queue]) = (time + ns, served[queue] + ns);
            for (queue, &(part, behind, ahead)) in limits.iter().enumerate() {
                let owed = (part * Fraction::whole(time)).minus(Fraction::whole(served[queue])).ceil();
                // 1 ns for the rounding of shares.
                assert!(owed <= behind + 1, "seed {seed}, queue {queue}: {owed} ns behind, bound {behind}");
                assert!(-owed <= ahead + 1, "seed {seed}, queue {queue}: {} ns ahead, bound {ahead}", -owed);
            }
        }
    }
    assert_eq!(deepest, 4);
}
