//! The facts of the machine and the build: what is needed to compare two results.
//!
//! No path and no host name is among them.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

use serde::Serialize;

use super::pinning::Pinning;

#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    pub date: String,
    /// A short name of the processor.
    pub machine: String,
    /// The processor's name for itself.
    pub cpu: String,
    pub cores: usize,
    /// Name and release of the operating system's kernel, and the architecture.
    pub kernel: String,
    pub clock_source: String,
    pub pinning: String,
    pub rustc: String,
    pub clockworker: String,
    pub tokio: String,
    /// `release`, or `debug`, in which nothing measured means anything.
    pub profile: String,
    /// The commit that the sources are at.
    pub revision: String,
    /// Whether sources were different from those of the commit.
    pub dirty: bool,
    /// The hashes by which git knows the libraries' folders.
    pub clockworker_src: String,
    pub schedulers_src: String,
}

impl Facts {
    pub fn gather(pinning: &Pinning) -> Self {
        Facts {
            date: date(),
            machine: machine(),
            cpu: cpuinfo("model name").unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: kernel(),
            clock_source: clock_source(),
            pinning: pinning.describe(),
            rustc: env!("BUILT_WITH_RUSTC").to_owned(),
            clockworker: env!("CARGO_PKG_VERSION").to_owned(),
            tokio: locked_version("tokio").unwrap_or_else(unknown),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            revision: git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(unknown),
            dirty: git(&STATUS).is_none_or(|changes| !changes.is_empty()),
            clockworker_src: tree("clockworker/src"),
            schedulers_src: tree("schedulers/src"),
        }
    }

    /// One thought a line.
    pub fn lines(&self) -> [String; 6] {
        let changes = if self.dirty { " with local changes" } else { "" };
        [
            format!("{}, {} build of revision {}{changes}", self.date, self.profile, self.revision),
            format!("clockworker/src {}, schedulers/src {}", self.clockworker_src, self.schedulers_src),
            format!("clockworker {}, tokio {}, {}", self.clockworker, self.tokio, self.rustc),
            format!("{}, {} cores, machine {}", self.cpu, self.cores, self.machine),
            format!("{}, clock source {}", self.kernel, self.clock_source),
            format!("pinning: {}", self.pinning),
        ]
    }
}

/// Changes of sources: documents and results change nothing that is measured.
const STATUS: [&str; 7] =
    ["status", "--porcelain", "--untracked-files=no", "--", ".", ":!*.md", ":!benches/results"];

fn unknown() -> String {
    "unknown".to_owned()
}

#[allow(clippy::disallowed_methods, reason = "a date is printed beside the results")]
fn date() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    // To the minute: 2026-11-28T14:31:07Z.
    format!("{} UTC", now[..16].replace('T', " "))
}

/// A short name of the processor, for the folder of its results: maker, family and model.
pub fn machine() -> String {
    let parts = [cpuinfo("vendor_id").map(|vendor| maker(&vendor)), cpuinfo("cpu family"), cpuinfo("model")];
    let known: Option<Vec<String>> = parts.into_iter().collect();
    known.map_or_else(|| std::env::consts::ARCH.to_owned(), |parts| parts.join("-"))
}

fn maker(vendor: &str) -> String {
    match vendor {
        "AuthenticAMD" => "amd".to_owned(),
        "GenuineIntel" => "intel".to_owned(),
        other => other.to_lowercase(),
    }
}

/// What the kernel says of the first processor.
fn cpuinfo(wanted: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim().to_owned())
}

fn kernel() -> String {
    let names = rustix::system::uname();
    [names.sysname(), names.release(), names.machine()].map(|name| name.to_string_lossy()).join(" ")
}

/// The version of a package in the workspace's lock file, which this was built with.
fn locked_version(package: &str) -> Option<String> {
    let lock = include_str!("../../../Cargo.lock");
    let (_, entry) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    entry.split('"').next().map(str::to_owned)
}

fn clock_source() -> String {
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    fs::read_to_string(file).map_or_else(|_| unknown(), |name| name.trim().to_owned())
}

fn tree(folder: &str) -> String {
    git(&["rev-parse", "--short=12", &format!("HEAD:{folder}")]).unwrap_or_else(unknown)
}

/// What git says of the checkout that this was built from, if that is still there and git can be run.
fn git(arguments: &[&str]) -> Option<String> {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = Command::new("git").arg("-C").arg(workspace).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
