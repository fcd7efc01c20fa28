//! How much a test tries: seconds of it by default, and more where the environment says so.
//!
//! | Variable | What a test does |
//! |---|---|
//! | `LONG=1` | as much as `RELIABILITY.md` reports, in a build with `--profile hardened` |
//! | `MINUTES=n` | goes on with further seeds until so many minutes have passed |
//! | `SEED=n` | the case of that seed, and no other |

use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

/// Plays the case of each seed from 1 on. One that panics is named, with the command that plays it alone.
///
/// # Panics
///
/// As a case does, and if a variable has no number.
pub fn each_seed(short: u64, long: u64, mut case: impl FnMut(u64)) {
    let mut play = |seed| {
        let _named = Named(seed);
        case(seed);
    };
    if let Some(seed) = seed() {
        return play(seed);
    }
    let time = number("MINUTES").map(|minutes: f64| Duration::from_secs_f64(60.0 * minutes));
    let (start, count) = (now(), pick(short, long));
    let mut seed = 1;
    while seed <= count || time.is_some_and(|time| start.elapsed() < time) {
        play(seed);
        seed += 1;
    }
}

/// The one number by default, the other with `LONG=1`.
///
/// # Panics
///
/// If the variable has no number.
pub fn pick<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}

/// Whether `LONG=1` is set.
///
/// # Panics
///
/// If the variable has no number.
pub fn is_long() -> bool {
    number("LONG").is_some_and(|long: u8| long > 0)
}

/// The one seed that is asked for.
///
/// # Panics
///
/// If the variable has no number.
pub fn seed() -> Option<u64> {
    number("SEED")
}

fn number<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[allow(clippy::disallowed_methods, reason = "for how long a test goes on")]
fn now() -> Instant {
    Instant::now()
}

/// Names its seed if the case panics.
struct Named(u64);

impl Drop for Named {
    #[allow(clippy::print_stderr, reason = "a test says how it is repeated")]
    fn drop(&mut self) {
        if thread::panicking() {
            let (seed, thread) = (self.0, thread::current());
            let test = thread.name().filter(|&name| name != "main").unwrap_or_default();
            eprintln!("the case of seed {seed} failed; to repeat it: SEED={seed} cargo test … {test}");
        }
    }
}
