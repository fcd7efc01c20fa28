//! Threads on cores: what is measured on one, what drives it on another.

use std::io;
use std::thread::{self, JoinHandle};

#[derive(Clone, Debug)]
pub struct Pinning {
    /// The cores on which this process may run, where threads can be pinned.
    allowed: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Measured,
    /// What drives it.
    Load,
}

const PINNED: &str = "threads could be pinned when the run began";

impl Pinning {
    pub fn detect() -> Self {
        let allowed = allowed_cores();
        // A system that refuses to pin threads does so here, where nothing changes.
        Pinning { allowed: if pin_to(&allowed).is_ok() { allowed } else { Vec::new() } }
    }

    /// The core of each side, if each has one. Interrupts and housekeeping tend to sit on the first core, so the last is measured.
    fn cores(&self) -> Option<[usize; 2]> {
        match *self.allowed {
            [load, .., measured] => Some([measured, load]),
            _ => None,
        }
    }

    /// Moves the calling thread, and threads it starts from now on, to the core of `side`. Does nothing where there are not two
    /// cores, which [`Pinning::describe`] says.
    pub fn pin(&self, side: Side) {
        if let Some([measured, load]) = self.cores() {
            pin_to(&[if side == Side::Measured { measured } else { load }]).expect(PINNED);
        }
    }

    /// Runs something on a thread of its own, on the core of `side`.
    pub fn thread<T: Send + 'static>(
        &self,
        side: Side,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let pinning = self.clone();
        thread::spawn(move || {
            pinning.pin(side);
            run()
        })
    }

    /// Lets the calling thread, and threads and processes it starts from now on, run wherever this process could before.
    pub fn release(&self) {
        if self.apart() {
            pin_to(&self.allowed).expect(PINNED);
        }
    }

    /// Whether the load generator has a core that it need not share with what is measured.
    pub fn apart(&self) -> bool {
        self.cores().is_some()
    }

    pub fn describe(&self) -> String {
        match self.cores() {
            Some([measured, load]) => {
                format!("measured threads on core {measured}, load generator on core {load}")
            }
            None => "none: this process has no two cores to which threads can be pinned".to_owned(),
        }
    }
}

#[cfg(target_os = "linux")]
fn allowed_cores() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let is_allowed = |allowed: CpuSet| (0..CpuSet::MAX_CPU).filter(move |&core| allowed.is_set(core));
    sched_getaffinity(None).into_iter().flat_map(is_allowed).collect()
}

#[cfg(target_os = "linux")]
fn pin_to(cores: &[usize]) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut only = CpuSet::new();
    cores.iter().for_each(|&core| only.set(core));
    Ok(sched_setaffinity(None, &only)?)
}

#[cfg(not(target_os = "linux"))]
fn allowed_cores() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn pin_to(_cores: &[usize]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_is_allowed_on_its_core_only_until_it_is_released() {
        let pinning = Pinning::detect();
        let Some([measured, load]) = pinning.cores() else { return };
        for (side, core) in [(Side::Measured, measured), (Side::Load, load)] {
            let released = pinning.clone();
            let allowed = pinning.thread(side, move || {
                let pinned = allowed_cores();
                released.release();
                [pinned, allowed_cores()]
            });
            assert_eq!(allowed.join().unwrap(), [vec![core], pinning.allowed.clone()]);
        }
    }
}
