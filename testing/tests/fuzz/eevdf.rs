//! Every call of `Eevdf` in any order: beside the exact model where numbers are within what the model knows of, and by its
//! own account where they are anything.

#[allow(dead_code, unreachable_pub, reason = "the tests of `schedulers` use all of it")]
#[path = "../../../schedulers/tests/eevdf_pair/mod.rs"]
mod eevdf_pair;

use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{QueueId, Share};
use clockworker_testing::tape::Tape;
use eevdf_pair::{Call, Pair};

const QUEUES: u8 = 8;

/// Up to where the model is exact: with 256 calls of up to 2³² ns `Eevdf` never cuts a number to fit.
const EXACT_BITS: u8 = 32;
const CALLS: usize = 256;

pub(crate) fn run(data: &[u8]) {
    let [shape, start, data @ ..] = data else { return };
    // At zero, or close to where the zero is moved, or at the ends.
    let start = match start {
        0..64 => 0,
        64..128 => (1 << 80) - (1 << (start - 64)),
        128..192 => -(1 << (start - 128)),
        _ => i128::MAX >> (start - 192),
    };
    let tape = Tape::new(data);
    let mut model = (shape % 2 == 0).then(EevdfOracle::<40>::default);
    let (start, bits) = match model {
        Some(_) => (start.clamp(0, 1 << 80), EXACT_BITS),
        None => (start, u64::BITS as u8),
    };
    let mut pair = Pair::starting_at(start);
    for _ in 0..CALLS {
        let Some(call) = call(&tape, bits) else { return };
        let picked = pair.apply(&call);
        match &mut model {
            Some(model) => {
                call.apply_to(model, picked);
                pair.agrees(model);
            }
            None => assert_is_sound(&mut pair),
        }
    }
}

/// What the definitions say, asked of `Eevdf` itself.
fn assert_is_sound(pair: &mut Pair) {
    let picked = pair.eevdf.pick();
    assert_eq!(picked, pair.eevdf.pick(), "asked again");
    let eevdf = &pair.eevdf;
    let runnable: Vec<QueueId> = pair.ids.iter().copied().filter(|&id| eevdf.is_runnable(id)).collect();
    assert_eq!(runnable.len(), eevdf.runnable());
    let eligible = runnable.iter().copied().filter(|&id| eevdf.is_eligible(id));
    let earliest = eligible.min_by_key(|&id| (eevdf.virtual_deadline(id), id.index()));
    // The only one with work goes on beside drained ones that are behind.
    let only = runnable.first().copied().filter(|_| runnable.len() == 1);
    assert_eq!(picked, earliest.or(only), "the earliest deadline of the eligible");
    for &id in &pair.ids {
        // A lag of any size can be asked for.
        let _ = eevdf.lag(id);
        assert_eq!(eevdf.virtual_runtime(id).is_some(), eevdf.is_runnable(id));
    }
}

/// The next call, with numbers of up to so many bits.
fn call(tape: &Tape, bits: u8) -> Option<Call> {
    let op = tape.try_next()?;
    let index = usize::from(op / 16 % QUEUES);
    Some(match op % 16 {
        0 => Call::Add(share(tape), number(tape, bits).max(1)),
        1 => Call::Remove(index),
        2..=4 => Call::Wake(index),
        5 => Call::Sleep(index),
        6 => Call::Drain(index),
        7 => Call::Charge(index, number(tape, bits)),
        8 => Call::SetShare(index, share(tape)),
        9 => Call::SetRequest(index, number(tape, bits).max(1)),
        _ => Call::Serve(number(tape, bits)),
    })
}

/// Small ones, which make ties, and any other.
fn share(tape: &Tape) -> u32 {
    match tape.byte() {
        small @ 0..128 => u32::from(small % 4) + 1,
        large => (u32::from(large) << (large % 13)).clamp(1, Share::MAX.get()),
    }
}

/// Some bits anywhere, or all of them.
fn number(tape: &Tape, bits: u8) -> u64 {
    let most = u64::MAX >> (64 - u32::from(bits));
    match tape.byte() {
        255 => most,
        small @ 0..64 => u64::from(small) * 1_000,
        shift => (u64::from(tape.byte()) << (shift % bits)) & most,
    }
}
