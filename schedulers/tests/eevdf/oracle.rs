//! `Eevdf` against a naive model, on random sequences of every call.
//!
//! The model is `laws::EevdfOracle`. With the 40 fractional bits that `Eevdf` documents it must agree to the last bit, picks
//! and ties included. With 64 bits, where its rounding is next to nothing, lags must agree to within the documented error.

use clockworker_schedulers::laws::EevdfOracle;
use proptest::prelude::*;

use super::eevdf_pair::{Call, Pair};

/// Small numbers, which make ties, and large ones, which make rounding.
fn share() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 1..4u32, 1 => 1..=1_000_000u32]
}

fn ns() -> impl Strategy<Value = u64> {
    prop_oneof![3 => (1..5u64).prop_map(|n| n * 1_000), 1 => 0..2_000_000u64]
}

fn request() -> impl Strategy<Value = u64> {
    prop_oneof![3 => (1..4u64).prop_map(|n| n * 2_000), 1 => 1..1_000_000u64]
}

/// A call for one of so many queues. Of 27 + `sleeps` + `drains` calls that many make it sleep, and drain it.
fn call(queues: usize, sleeps: u32, drains: u32) -> impl Strategy<Value = Call> {
    let index = 0..queues;
    prop_oneof![
        2 => (share(), request()).prop_map(|(w, request)| Call::Add(w, request)),
        1 => index.clone().prop_map(Call::Remove),
        6 => index.clone().prop_map(Call::Wake),
        sleeps => index.clone().prop_map(Call::Sleep),
        drains => index.clone().prop_map(Call::Drain),
        1 => (index.clone(), ns()).prop_map(|(index, ns)| Call::Charge(index, ns)),
        2 => (index.clone(), share()).prop_map(|(index, w)| Call::SetShare(index, w)),
        1 => (index, request()).prop_map(|(index, request)| Call::SetRequest(index, request)),
        14 => ns().prop_map(Call::Serve),
    ]
}

fn config() -> ProptestConfig {
    // A failing case is printed in full, so no file needs to keep it.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn agree(calls: &[Call], start: i128) {
    let mut pair = Pair::starting_at(start);
    let mut model = EevdfOracle::<40>::default();
    for call in calls {
        let picked = pair.apply(call);
        call.apply_to(&mut model, picked);
        pair.agrees(&mut model);
    }
}

/// Credits are cut to two of the longest turns that others waited for.
#[test]
fn a_turn_of_a_queue_alone_widens_no_credits() {
    use Call::{Add, Charge, Serve, Sleep, Wake};
    let asleep_in_debt = [Charge(1, 8_001), Wake(1), Sleep(0)];
    agree(&[&[Add(1, 2_000), Add(1, 2_000), Wake(0), Serve(3_000)][..], &asleep_in_debt].concat(), 0);
}

proptest! {
    #![proptest_config(config())]

    /// As a rule no queue or one is runnable. Zero is moved, or is about to be.
    #[test]
    fn agrees_to_the_last_bit_where_queues_are_alone(
        calls in prop::collection::vec(call(3, 4, 9), 1..250),
        start in prop_oneof![Just(0), (0..1i128 << 62).prop_map(|before| (1 << 79) - before)],
    ) {
        agree(&calls, start);
    }

    #[test]
    fn agrees_to_the_last_bit(
        calls in prop::collection::vec(call(8, 2, 4), 1..250),
        // At zero, or so close to where zero is moved that it will be.
        start in prop_oneof![Just(0), (0..1i128 << 60).prop_map(|before| (1 << 80) - before)],
    ) {
        agree(&calls, start);
    }

    #[test]
    fn lags_are_within_the_documented_error(calls in prop::collection::vec(call(8, 3, 0), 1..250)) {
        let mut pair = Pair::starting_at(0);
        let mut model = EevdfOracle::<64>::default();
        let mut charged = 0;
        for call in &calls {
            let picked = pair.apply(call);
            call.apply_to(&mut model, picked);
            if let Call::Serve(ns) | Call::Charge(_, ns) = *call {
                charged += i128::from(ns);
            }
            for (index, &id) in pair.ids.iter().enumerate() {
                let (lag, exact) = (pair.eevdf.lag(id).as_ns(), model.lag(index) / (1 << 64));
                // A millionth of all service, and of what a placement has made of it; and the rounding of each placement: far
                // less than 1 ns in sum.
                let tolerance = (charged + exact.abs()) / 1_000_000 + 1;
                prop_assert!((lag - exact).abs() <= tolerance, "queue {index}: {lag} ns, exactly {exact} ns");
            }
        }
    }
}
