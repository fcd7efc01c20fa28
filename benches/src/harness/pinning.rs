//! Threads on cores: what is measured on one, what drives it on another.

use std::thread::{self, JoinHandle};

#[derive(Clone, Debug)]
pub struct Pinning {
    cores: Result<Cores, String>,
    /// Where this process ran before.
    allowed: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Cores {
    measured: usize,
    load: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Measured,
    /// What drives it.
    Load,
}

impl Pinning {
    /// Looks at which cores this process may use and tries to pin a thread to one of them.
    ///
    /// The measured side gets the last core, because interrupts and housekeeping tend to sit on the first.
    pub fn detect() -> Self {
        let allowed = allowed_cores();
        let cores = allowed.clone().and_then(|allowed| match *allowed.as_slice() {
            [load, .., measured] => Ok(Cores { measured, load }),
            _ => Err("this process may use one core only".to_owned()),
        });
        // A scratch thread is pinned, so that a refusal is known before anything is measured.
        let tried = |core| thread::spawn(move || pin_to(&[core])).join();
        let panicked = |_| Err("the trial thread panicked".to_owned());
        let cores = cores.and_then(|cores| tried(cores.measured).unwrap_or_else(panicked).map(|()| cores));
        Pinning { cores, allowed: allowed.unwrap_or_default() }
    }

    /// Moves the calling thread, and threads it starts from now on, to the core of `side`. Does nothing where
    /// pinning is impossible, which [`Pinning::describe`] says.
    pub fn pin(&self, side: Side) {
        if let Ok(cores) = &self.cores {
            let core = if side == Side::Measured { cores.measured } else { cores.load };
            // It worked once, in `detect`; were it to fail now, the run would only be noisier.
            let _ = pin_to(&[core]);
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
        if self.cores.is_ok() {
            // A thread that stays where it is starts processes there, and they say so.
            let _ = pin_to(&self.allowed);
        }
    }

    /// Whether the load generator has a core that it need not share with what is measured.
    pub fn apart(&self) -> bool {
        self.cores.is_ok()
    }

    pub fn describe(&self) -> String {
        match &self.cores {
            Ok(Cores { measured, load }) => {
                format!("measured threads on core {measured}, load generator on core {load}")
            }
            Err(reason) => format!("none: {reason}"),
        }
    }
}

#[cfg(target_os = "linux")]
fn allowed_cores() -> Result<Vec<usize>, String> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let allowed =
        sched_getaffinity(None).map_err(|error| format!("the allowed cores are unknown: {error}"))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect())
}

#[cfg(target_os = "linux")]
fn pin_to(cores: &[usize]) -> Result<(), String> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut only = CpuSet::new();
    cores.iter().for_each(|&core| only.set(core));
    sched_setaffinity(None, &only).map_err(|error| format!("pinning to core {cores:?} is refused: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn allowed_cores() -> Result<Vec<usize>, String> {
    Err("this system has no way to pin a thread".to_owned())
}

#[cfg(not(target_os = "linux"))]
fn pin_to(_cores: &[usize]) -> Result<(), String> {
    Err("this system has no way to pin a thread".to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_is_allowed_on_its_core_only_until_it_is_released() {
        let pinning = Pinning::detect();
        let Ok(cores) = &pinning.cores else {
            assert!(pinning.describe().starts_with("none: "), "{}", pinning.describe());
            return;
        };
        for (side, core) in [(Side::Measured, cores.measured), (Side::Load, cores.load)] {
            let (released, everywhere) = (pinning.clone(), pinning.allowed.clone());
            let allowed = pinning.thread(side, move || {
                let pinned = allowed_cores();
                released.release();
                [pinned, allowed_cores()]
            });
            assert_eq!(allowed.join().unwrap(), [Ok(vec![core]), Ok(everywhere)]);
        }
    }
}
