//! Queues that sleep now and then: what they are owed and what they owe survives, and no pattern of sleep gains anything.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::yield_now;

use super::shares::SECOND;
use crate::support::*;

/// A queue that works in polls of `poll` and sleeps for `nap` after each, beside one that always works, for 1 s. What it
/// got, and how long it was asleep.
fn napper(share: u32, request: u64, poll: u64, nap: u64) -> (Duration, Duration) {
    let ex = scene(&format!("busy\n napping share={share} request={request}\n busy -: 1*"));
    let asleep = Rc::new(Cell::new(Duration::ZERO));
    let counted = Rc::clone(&asleep);
    queue(&ex, "napping").spawn(async move {
        loop {
            work(us(poll));
            sleep(us(nap)).await;
            counted.set(counted.get() + us(nap));
        }
    });
    run(&ex, sleep_until(SECOND));
    (busy(&ex, "napping"), asleep.get())
}

/// A queue that sleeps for a moment after each poll gets no more than one that does not, to the request and poll that
/// any queue may be ahead by; and loses no more than it slept, and a request and poll.
#[test]
fn a_micro_sleeper_gains_nothing_and_loses_only_its_sleep() {
    for (share, poll, nap) in [(1, 90, 1), (1, 300, 1), (1, 7, 3), (9, 90, 1), (3, 500, 20), (1, 1_000, 10)] {
        for request in [50, 500] {
            let (got, asleep) = napper(share, request, poll, nap);
            let owed = SECOND * share / (share + 1);
            let case = format!("{share} {poll} {nap} {request}: got {got:?}, slept {asleep:?} of {owed:?}");
            assert!(got <= owed + us(request + poll), "{case}");
            // What it may be behind, 500 µs and a poll, is less than the two requests that it keeps, so it loses none.
            if 2 * request > 500 + poll / 2 {
                assert!(got >= owed.saturating_sub(asleep).saturating_sub(us(500 + poll)), "{case}");
            }
        }
    }
}

/// One that wants less than its share gets what it wants.
#[test]
fn a_sleeper_gets_what_it_wants_up_to_its_share() {
    let (got, asleep) = napper(1, 50, 100, 900);
    // Turns of 100 µs of work and 900 µs of sleep, and a wait of at most a poll of the other, 1 µs, in between.
    assert_eq!(asleep, us(900) * 999);
    assert!(got >= us(99_800) && got <= us(100_000), "{got:?}");
}

#[test]
fn a_long_sleeper_is_forgiven_its_debt() {
    let ex = scene(
        "busy request=100
        debtor request=50
        debtor d: 300~ 300~ 0
        busy b: 100+wake(d) 100*7 100+wake(d) 100",
    );
    // d1 is 300 µs ahead of the busy queue. Woken after b1 it is still ahead by 200, so it waits for b2 and b3. Asleep
    // during b4 to b9 it is forgiven what d2 took, and goes before b10.
    assert_eq!(drain(&ex), "d1 b1 b2 b3 d2 b4 b5 b6 b7 b8 b9 d3 b10");
}

/// What a queue was owed when it fell asleep is kept, also if it is more than two of its requests, where the polls of
/// others are that long.
#[test]
fn what_is_owed_to_a_queue_beside_long_polls_survives_its_sleep() {
    let ex = scene("long request=10000\n owed request=100");
    let (owed, again) = (queue(&ex, "owed"), Signal::new());
    let goes_on = again.clone();
    // One poll of 10 ms, with the other queue runnable: it is owed 5 ms afterwards.
    let hog = queue(&ex, "long").spawn(async move {
        owed.spawn(async move {
            // Its only work for now, so the queue falls asleep being owed nearly 5 ms.
            work(us(1));
            goes_on.wait().await;
            polls("owed", usize::MAX, us(1)).await;
        });
        work(us(10_000));
        yield_now().await;
        polls("", 2_000, us(1)).await;
        yield_now().await;
    });
    run(&ex, async {
        // Let it fall asleep, then wake it.
        sleep_until(us(10_500)).await;
        again.set();
        hog.await.unwrap();
    });
    // It goes on at once, before the hog, whose poll of 10 ms began when both were owed nothing: it gets as much.
    let turns = starts("owed");
    assert!(turns[..9_999].iter().enumerate().all(|(turn, &at)| at == turns[0] + us(turn as u64)));
}

#[test]
fn closing_a_queue_and_creating_it_again_is_no_way_out_of_a_debt() {
    let ex = scene("victim\n victim -: 20*");
    run(&ex, async {
        while now() < SECOND {
            let queue = ex.new_queue("again").request(us(10)).create().unwrap();
            let task = queue.spawn(polls("", 1, us(1_000)));
            queue.close();
            task.await.unwrap();
        }
    });
    let (got, all) = (busy(&ex, "victim"), ex.stats().busy);
    assert!(got + us(2_000) >= all / 2, "{got:?} of {all:?}");
}
