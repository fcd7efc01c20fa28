//! What the kernel counts for this process, from `/proc`.

use std::fs;

/// Page faults without I/O, and CPU time in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    faults: u64,
    user: u64,
    system: u64,
}

impl Counts {
    /// So far. Zero where there is no `/proc`.
    pub(crate) fn now() -> Self {
        fs::read_to_string("/proc/self/stat").ok().and_then(|line| parse(&line)).unwrap_or_default()
    }

    /// From `earlier` until now.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Counts {
            faults: self.faults.saturating_sub(earlier.faults),
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }

    /// Page faults.
    pub(crate) fn faults(self) -> u64 {
        self.faults
    }

    /// The kernel's part of the CPU time.
    pub(crate) fn system_share(self) -> f64 {
        self.system as f64 / (self.user + self.system).max(1) as f64
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.faults += other.faults;
        self.user += other.user;
        self.system += other.system;
    }
}

/// The fields are counted from the name, which is in parentheses and may have anything in it.
fn parse(stat: &str) -> Option<Counts> {
    let (_, fields) = stat.rsplit_once(')')?;
    let field = |number: usize| fields.split_whitespace().nth(number - 3)?.parse().ok();
    Some(Counts { faults: field(10)?, user: field(14)?, system: field(15)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let line = "77 (a) b (c) S 1 2 3 4 5 6 1234 8 9 10 55 66 0 0 20 0";
        assert_eq!(parse(line), Some(Counts { faults: 1234, user: 55, system: 66 }));
        assert_eq!(parse("nonsense"), None);
    }

    #[test]
    fn this_process_has_had_page_faults() {
        assert!(Counts::now().faults() > 0);
    }
}
