//! What a poll's time goes to, phase by phase, from samples of the instruction pointer.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use clockworker_benches::failure::Failure;
use clockworker_benches::measurements::Keyed;
use clockworker_benches::numbers::grouped;
use clockworker_benches::stopwatch::Stopwatch;
use clockworker_benches::workload::shape::Shape;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::phase::{TITLES, classify};
use super::sampler::{Listening, PERIOD, Sampler, taken};
use super::table::{apportion, layout};
use crate::cli::PhasesOptions;
use crate::contestant::Contestant;
use crate::rounds::repeat;

const PHASES: usize = TITLES.len();

/// What one executor's rounds came to.
#[derive(Debug, Default)]
struct Account {
    contestant: Contestant,
    time: Duration,
    /// Which of the samples are its own.
    spans: Vec<Range<usize>>,
    kernel: KernelCounts,
    /// Its samples by phase, and by function inside each.
    by_phase: [usize; PHASES],
    by_function: [HashMap<String, usize>; PHASES],
}

pub(crate) fn command(options: &PhasesOptions) -> Result<String, Failure> {
    let shape = options.workload.shape();
    let sampler =
        Sampler::start().map_err(|errno| Failure::run(format!("no timer to sample by: {errno}")))?;
    let account = |&contestant| Account { contestant, ..Account::default() };
    let mut accounts: Vec<Account> = options.executors.iter().map(account).collect();
    // What happens once in a process, calibrating the clock above all, is not the workload's.
    options.executors.iter().for_each(|executor| executor.run(Shape::new(1, 0), || (), |()| ()));
    let rounds = repeat(options.length, || accounts.iter_mut().for_each(|account| account.round(shape)));
    let (samples, lost) = sampler.samples();
    drop(sampler);
    if lost > 0 {
        let lost = grouped(lost as u64);
        return Err(Failure::run(format!("no room for {lost} samples; ask for fewer rounds")));
    }

    let mut names = Names::new();
    accounts.iter_mut().for_each(|account| account.classify(&samples, &mut names));
    let polls = rounds * shape.polls();
    let mut text = format!(
        "{shape}, ns per poll (and %), {} rounds of each, a sample every {} µs of them\n\n{}\n",
        grouped(rounds),
        PERIOD.as_micros(),
        phases_table(&accounts, polls),
    );
    text.extend(accounts.iter().map(|account| account.footnote(polls)));
    if cfg!(debug_assertions) {
        text.push_str("A debug build: the functions that decide are not inlined, so most is rest. Add --profile profiling.\n");
    }
    text.extend(accounts.iter().map(|account| account.functions(polls, options.functions)));
    Ok(text)
}

impl Account {
    fn round(&mut self, shape: Shape) {
        let before = KernelCounts::now();
        let first = taken();
        let begin = || (Stopwatch::start(), Listening::begin());
        let end = |(watch, listening): (Stopwatch, Listening)| {
            drop(listening);
            watch.elapsed()
        };
        self.time += self.contestant.run(shape, begin, end);
        self.spans.push(first..taken());
        self.kernel.add_since(before);
    }

    fn classify(&mut self, samples: &[usize], names: &mut Names) {
        for &address in self.spans.iter().flat_map(|span| &samples[span.clone()]) {
            let (phase, function) = classify(names.of(address));
            self.by_phase[phase as usize] += 1;
            *self.by_function[phase as usize].entry(function.to_owned()).or_default() += 1;
        }
    }

    fn samples(&self) -> usize {
        self.by_phase.iter().sum()
    }

    fn ns_per_poll(&self, polls: u64) -> f64 {
        self.time.as_nanos() as f64 / polls as f64
    }

    fn footnote(&self, polls: u64) -> String {
        // Half of them is where the error of a share is largest.
        let error = 1.96 * (0.25 / self.samples().max(1) as f64).sqrt();
        format!(
            "{}: {} samples, so a share is right to ±{:.1} points or better (95 %). {:.3} page faults per poll; of the \
             CPU time {:.0} % were the kernel's, setting up and taking down included.\n",
            self.contestant.key(),
            grouped(self.samples() as u64),
            100.0 * error,
            self.kernel.faults as f64 / polls as f64,
            100.0 * self.kernel.system as f64 / self.kernel.cpu.max(1) as f64,
        )
    }

    /// The functions with the most samples, by phase, `most` of each.
    fn functions(&self, polls: u64, most: usize) -> String {
        if most == 0 {
            return String::new();
        }
        let ns_per_sample = self.ns_per_poll(polls) / self.samples() as f64;
        let mut text = format!("\n{}, ns per poll by the function that decided\n", self.contestant.key());
        for ((_, title), functions) in TITLES.into_iter().zip(&self.by_function) {
            if functions.is_empty() {
                continue;
            }
            let mut functions: Vec<(&String, &usize)> = functions.iter().collect();
            functions.sort_by_key(|&(name, &samples)| (std::cmp::Reverse(samples), name));
            let _ = writeln!(text, "  {title}");
            for (name, &samples) in functions.into_iter().take(most) {
                let _ = writeln!(text, "  {:8.2}  {name}", samples as f64 * ns_per_sample);
            }
        }
        text
    }
}

/// What the kernel counts for this process: page faults without I/O, and CPU time in microseconds, of which so much is the
/// kernel's own.
#[derive(Clone, Copy, Debug, Default)]
struct KernelCounts {
    faults: i64,
    cpu: i64,
    system: i64,
}

impl KernelCounts {
    /// So far. Zero if the kernel does not say.
    fn now() -> Self {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Self::default() };
        let system = usage.system_time().num_microseconds();
        let cpu = usage.user_time().num_microseconds() + system;
        KernelCounts { faults: usage.minor_page_faults(), cpu, system }
    }

    fn add_since(&mut self, before: Self) {
        let now = Self::now();
        self.faults += now.faults - before.faults;
        self.cpu += now.cpu - before.cpu;
        self.system += now.system - before.system;
    }
}

/// A row a phase and a column an executor. Rounded so that each column sums to its total, in ns and in %.
fn phases_table(accounts: &[Account], polls: u64) -> String {
    let mut head = vec!["phase".to_owned()];
    let mut rows: Vec<Vec<String>> = TITLES.iter().map(|(_, title)| vec![(*title).to_owned()]).collect();
    let mut total = vec!["total".to_owned()];
    let mut ratios = vec!["× local-set".to_owned()];
    let baseline = accounts.iter().find(|account| account.contestant == Contestant::LocalSet);
    for account in accounts {
        head.push(account.contestant.key());
        let hundredths = (100.0 * account.ns_per_poll(polls)).round() as u64;
        let of_samples = |total| apportion(&account.by_phase, if account.samples() == 0 { 0 } else { total });
        for ((row, time), share) in rows.iter_mut().zip(of_samples(hundredths)).zip(of_samples(1_000)) {
            row.push(cell(time, share));
        }
        total.push(cell(hundredths, 1_000));
        let ratio = |baseline: &Account| account.time.as_secs_f64() / baseline.time.as_secs_f64();
        ratios.push(baseline.map_or_else(String::new, |baseline| format!("{:.2}", ratio(baseline))));
    }
    rows.insert(0, head);
    rows.push(total);
    if baseline.is_some() && accounts.len() > 1 {
        rows.push(ratios);
    }
    layout(&rows)
}

fn cell(hundredths: u64, tenths: u64) -> String {
    format!("{}.{:02} ({:>2}.{})", hundredths / 100, hundredths % 100, tenths / 10, tenths % 10)
}

/// The functions at an address: the one that it is in, and those that this one is inlined into.
struct Names {
    known: HashMap<usize, Vec<String>>,
    /// Where files are mapped, by name.
    files: Vec<(Range<usize>, String)>,
}

impl Names {
    fn new() -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Names { known: HashMap::new(), files: maps.lines().filter_map(parse_map).collect() }
    }

    /// Where a function has no name, the name of the file that is mapped there.
    fn of(&mut self, address: usize) -> &[String] {
        self.known.entry(address).or_insert_with(|| {
            let mut functions = Vec::new();
            // `resolve` takes return addresses, and looks at the byte before.
            backtrace::resolve((address + 1) as *mut c_void, |symbol| {
                functions.extend(symbol.name().map(|name| format!("{name:#}")));
            });
            if functions.is_empty() {
                let file = self.files.iter().find(|(range, _)| range.contains(&address));
                functions.extend(file.map(|(_, name)| name.clone()));
            }
            functions
        })
    }
}

/// A line of `/proc/self/maps`: addresses, and the file's name without its folder.
fn parse_map(line: &str) -> Option<(Range<usize>, String)> {
    let mut fields = line.split_whitespace();
    let (begin, end) = fields.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let name = fields.nth(4)?;
    Some((address(begin)?..address(end)?, name.rsplit('/').next()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read() {
        let line = "7f00-7fff r-xp 00028000 fe:00 1234      /usr/lib/x86_64-linux-gnu/libc.so.6";
        assert_eq!(parse_map(line), Some((0x7f00..0x7fff, "libc.so.6".to_owned())));
        assert_eq!(parse_map("7f00-7fff rw-p 00000000 00:00 0 "), None);
    }

    #[test]
    fn addresses_have_names() {
        let mut names = Names::new();
        let functions = names.of(command as *const () as usize);
        assert!(functions.iter().any(|name| name.contains("phases::command")), "{functions:?}");
        assert!(names.of(1).is_empty());
    }
}
