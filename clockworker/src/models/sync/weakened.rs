//! One ordering made weaker than the source says, to see that a model notices: what the program `orderings` of `testing`
//! asks for by the environment variable `CLOCKWORKER_WEAKEN`, as `file:line:column:argument=ordering`.

use std::io::Write;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Once, OnceLock};

struct Weakened {
    file: String,
    /// Line and column of the method's name, and which of its two arguments that may be orderings.
    at: (u32, u32, usize),
    to: Ordering,
}

/// The ordering to use where the caller's source says `given`, as its `argument`th ordering, from 0.
#[track_caller]
pub(super) fn ordering(given: Ordering, argument: usize) -> Ordering {
    let Some(weakened) = weakened() else { return given };
    let here = Location::caller();
    if (here.line(), here.column(), argument) != weakened.at || !here.file().ends_with(&weakened.file) {
        return given;
    }
    say_once(given, weakened.to);
    weakened.to
}

/// Says so, to tell a weakening that no model comes to from one that all survive.
fn say_once(given: Ordering, to: Ordering) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = writeln!(std::io::stdout(), "weakened {given:?} to {to:?}");
    });
}

fn weakened() -> Option<&'static Weakened> {
    static WEAKENED: OnceLock<Option<Weakened>> = OnceLock::new();
    WEAKENED.get_or_init(|| std::env::var("CLOCKWORKER_WEAKEN").ok().map(|text| parse(&text))).as_ref()
}

fn parse(text: &str) -> Weakened {
    let parse = || {
        let (site, to) = text.split_once('=')?;
        let mut parts = site.split(':');
        let file = parts.next()?.to_owned();
        let at = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let to = match to {
            "Relaxed" => Ordering::Relaxed,
            "Acquire" => Ordering::Acquire,
            "Release" => Ordering::Release,
            "AcqRel" => Ordering::AcqRel,
            _ => return None,
        };
        Some(Weakened { file, at, to })
    };
    parse().unwrap_or_else(|| {
        panic!("CLOCKWORKER_WEAKEN is not of the form file:line:column:argument=ordering: {text}")
    })
}
