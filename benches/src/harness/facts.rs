//! The facts of the machine and the build: what someone needs to know to compare two reports.
//!
//! No path and no host name is among them.

use std::process::Command;
use std::{fmt, fs};

use serde::{Deserialize, Serialize};

use crate::harness::pinning::Pinning;
use crate::workload::spin;

/// What was measured, on what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Facts {
    pub date: String,
    /// The processor's name for itself.
    pub cpu: String,
    pub cores: usize,
    /// Name and release of the operating system's kernel, and the architecture.
    pub kernel: String,
    pub clock_source: String,
    pub pinning: String,
    /// What the CPU work of the background scenario is counted in.
    pub spin_clock: String,
    pub host: String,
    pub rustc: String,
    pub tokio: String,
    /// `release`, or `debug`, in which nothing measured means anything.
    pub profile: String,
    /// The commit that the sources are at.
    pub revision: String,
    /// How much the machine had to do when the run began: runnable threads, averaged over a minute.
    pub load_before: Option<f64>,
    /// CPU time that the hypervisor kept from this machine during the run, as a part of all its CPU time.
    pub steal: Option<f64>,
    #[serde(skip)]
    ticks_before: Option<Ticks>,
}

impl Facts {
    /// Gathers the facts, before a run on such a host.
    pub fn gather(pinning: &Pinning, host: &str) -> Self {
        Facts {
            date: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            cpu: cpu(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: kernel(),
            clock_source: clock_source(),
            pinning: pinning.describe(),
            spin_clock: spin::clock().to_owned(),
            host: host.to_owned(),
            rustc: env!("BUILT_WITH_RUSTC").to_owned(),
            tokio: env!("BUILT_WITH_TOKIO").to_owned(),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            revision: revision(),
            load_before: load(),
            steal: None,
            ticks_before: Ticks::read(),
        }
    }

    pub fn completed(mut self) -> Self {
        self.steal =
            self.ticks_before.zip(Ticks::read()).and_then(|(before, after)| after.steal_since(before));
        self
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |fact: Option<String>| fact.unwrap_or_else(unknown);
        let load = known(self.load_before.map(|load| load.to_string()));
        let steal = known(self.steal.map(|part| format!("{:.1} %", part * 100.0)));
        writeln!(f, "{}; revision {}; {} build", self.date, self.revision, self.profile)?;
        writeln!(
            f,
            "{}, {} cores; {}; clock source {}",
            self.cpu, self.cores, self.kernel, self.clock_source
        )?;
        writeln!(f, "{}; tokio {}; host: {}", self.rustc, self.tokio, self.host)?;
        writeln!(f, "pinning: {}; CPU work in {}", self.pinning, self.spin_clock)?;
        write!(f, "load average before the run {load}; stolen by the hypervisor during it {steal}")
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(unknown, |(_, name)| name.trim().to_owned())
}

#[cfg(unix)]
fn kernel() -> String {
    let names = rustix::system::uname();
    [names.sysname(), names.release(), names.machine()].map(|name| name.to_string_lossy()).join(" ")
}

#[cfg(not(unix))]
fn kernel() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

fn clock_source() -> String {
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    fs::read_to_string(file).map_or_else(|_| unknown(), |name| name.trim().to_owned())
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The commit of the checkout that this was built from, if that is still there and git can be run.
fn revision() -> String {
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return unknown() };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with local changes"),
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The host of measurements that run executors in tokio.
pub const TOKIO: &str = "tokio current_thread, I/O and time drivers on";

/// CPU time of the whole machine since it started, in the kernel's ticks.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    fn read() -> Option<Self> {
        Ticks::parse(fs::read_to_string("/proc/stat").ok()?.lines().next()?)
    }

    /// Reads `cpu  user nice system idle iowait irq softirq steal ..`; what follows is contained in user and
    /// nice.
    fn parse(line: &str) -> Option<Self> {
        let numbers = line.strip_prefix("cpu ")?.split_whitespace().take(8);
        let ticks: Vec<u64> = numbers.map(|number| number.parse().ok()).collect::<Option<_>>()?;
        Some(Ticks { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    fn steal_since(self, before: Self) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|&all| all > 0)?;
        Some(self.stolen.checked_sub(before.stolen)? as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_part_of_all_cpu_time() {
        let before = Ticks::parse("cpu  100 0 50 800 0 0 0 50 7 0").unwrap();
        let after = Ticks::parse("cpu  150 0 50 840 0 0 0 60 9 0").unwrap();
        assert_eq!(after.steal_since(before), Some(0.1));
        assert_eq!(before.steal_since(after), None);
        assert_eq!(before.steal_since(before), None);
    }

    #[test]
    fn a_kernel_that_says_it_differently_is_no_reason_to_stop() {
        for line in ["cpu0 1 2 3", "cpu  1 2 3", "cpu  1 2 x 4 5 6 7 8"] {
            assert!(Ticks::parse(line).is_none());
        }
    }
}
