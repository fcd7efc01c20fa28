//! What instruction counts depend on besides the sources.

use std::fmt;

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Toolchain {
    /// Version and commit of the compiler.
    pub(crate) rustc: String,
    pub(crate) target: String,
    /// Flags from the environment or from cargo's configuration.
    pub(crate) rustflags: String,
}

impl Toolchain {
    pub(crate) fn present() -> Self {
        Toolchain {
            rustc: env!("BUILT_WITH_RUSTC").to_owned(),
            target: env!("BUILT_FOR").to_owned(),
            rustflags: env!("BUILT_WITH_RUSTFLAGS").to_owned(),
        }
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rustc {} for {}", self.rustc, self.target)?;
        if !self.rustflags.is_empty() {
            write!(f, " with RUSTFLAGS '{}'", self.rustflags)?;
        }
        Ok(())
    }
}

/// How far counts may be compared with budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparable {
    /// Everything is as it was when the budgets were written.
    Exactly,
    /// Another compiler or other flags: they inline and allocate registers differently.
    Roughly,
    /// Another instruction set or C library: instructions are not comparable, allocations are.
    Allocations,
}

impl Comparable {
    /// Of counts taken with `now` to budgets written with `then`.
    pub(crate) fn between(then: &Toolchain, now: &Toolchain) -> Self {
        if then.target != now.target {
            Comparable::Allocations
        } else if then == now {
            Comparable::Exactly
        } else {
            Comparable::Roughly
        }
    }

    /// By what part of its budget a count may exceed it. None if it may be anything.
    pub(crate) fn tolerance(self) -> Option<f64> {
        match self {
            Comparable::Exactly => Some(0.02),
            Comparable::Roughly => Some(0.10),
            Comparable::Allocations => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_compiler_is_comparable_roughly_another_target_is_not() {
        let then = Toolchain { rustc: "1.88.0".into(), target: "x86_64".into(), rustflags: String::new() };
        assert_eq!(Comparable::between(&then, &then), Comparable::Exactly);
        for (now, comparable) in [
            (Toolchain { rustc: "1.89.0".into(), ..then.clone() }, Comparable::Roughly),
            (Toolchain { rustflags: "-Ctarget-cpu=native".into(), ..then.clone() }, Comparable::Roughly),
            (Toolchain { target: "aarch64".into(), ..then.clone() }, Comparable::Allocations),
        ] {
            assert_eq!(Comparable::between(&then, &now), comparable);
        }
    }
}
