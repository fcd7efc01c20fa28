//! Jobs from a CSV file.

use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, anyhow, bail, ensure};
use clockworker_schedulers::simulate::{Done, Job, Pause, parse_ns};
use csv::{ReaderBuilder, StringRecord, Trim};

/// The jobs of a trace, in order of time; the first comes at 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) jobs: Vec<Job>,
    /// How long polls are of the jobs that say so.
    pub(crate) polls: Vec<u64>,
    /// The times when nothing ran.
    pub(crate) pauses: Vec<Pause>,
    /// How the jobs went when the trace was recorded, if all of them say so.
    pub(crate) measured: Vec<Done>,
}

/// What a line may say.
const COLUMNS: [&str; 6] = ["arrival", "service", "queue", "group", "polls", "response"];

/// The queue of a line that is no job: the thread was with the executor's host.
const HOST: &str = "(host)";

impl Trace {
    /// Reads CSV: a header that names the columns `arrival` and `service`, and any of the others, in any order, then a job a line,
    /// none over several. A time is a number of nanoseconds, or one with a unit. A job without a queue goes to the first of `queues`. A
    /// line of the queue `(host)` is a time when the thread was elsewhere. Lines that begin with `#` are passed over.
    pub(crate) fn read(input: impl Read, queues: &[&str]) -> anyhow::Result<Self> {
        let mut columns = None;
        let mut trace = Self::default();
        let mut last_ns = 0;
        for (number, text) in (1..).zip(BufReader::new(input).lines()) {
            let text = text?;
            if text.trim().is_empty() || text.starts_with('#') {
                continue;
            }
            let line = fields(&text).and_then(|fields| read_line(&mut columns, &fields, queues));
            let Some(line) = line.with_context(|| format!("line {number}"))? else { continue };
            let before_ns = std::mem::replace(&mut last_ns, line.at_ns());
            ensure!(before_ns <= line.at_ns(), "line {number}: it arrives before the job above it");
            trace.add(line);
        }
        trace.begin_at_zero()?;
        Ok(trace)
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Job { mut job, polls, response_ns } => {
                job.polls = (!polls.is_empty()).then_some(self.polls.len());
                self.polls.extend(polls);
                self.jobs.push(job);
                let finished_ns = response_ns.map(|response_ns| job.at_ns.saturating_add(response_ns));
                self.measured.extend(finished_ns.map(|finished_ns| Done { job, finished_ns }));
            }
            Line::Pause(pause) => self.pauses.push(pause),
        }
    }

    /// Has the first job come at 0. Without the measured ones, unless all are.
    fn begin_at_zero(&mut self) -> anyhow::Result<()> {
        let first = self.jobs.first().context("there are no jobs in it")?.at_ns;
        self.jobs.iter_mut().for_each(|job| job.at_ns -= first);
        if self.measured.len() < self.jobs.len() {
            self.measured.clear();
        }
        for done in &mut self.measured {
            done.job.at_ns -= first;
            done.finished_ns -= first;
        }
        self.pauses.retain_mut(|pause| {
            pause.from_ns = pause.from_ns.saturating_sub(first);
            pause.until_ns = pause.until_ns.saturating_sub(first);
            pause.until_ns > 0
        });
        Ok(())
    }

    /// The part of the thread that the jobs ask for, up to the last arrival; `None` where all come at once.
    pub(crate) fn load(&self) -> Option<f64> {
        let span = self.jobs.last().map_or(0, |job| job.at_ns);
        let work: f64 = self.jobs.iter().map(|job| job.service_ns as f64).sum();
        (span > 0).then(|| work / span as f64)
    }

    /// The same jobs, nearer or farther apart, so that they ask for `load`. (As they are where all come at once.) Then nothing was
    /// measured, and it is not known when the thread would have been elsewhere.
    pub(crate) fn at_load(mut self, load: f64) -> Self {
        if let Some(offered) = self.load() {
            for job in &mut self.jobs {
                job.at_ns = (job.at_ns as f64 * (offered / load)).round() as u64;
            }
            self.measured.clear();
            self.pauses.clear();
        }
        self
    }
}

/// The fields of one line. (A reader of the whole would not tell on which line it is: it is out by blank ones, and by ends
/// of lines that are two characters.)
fn fields(line: &str) -> anyhow::Result<StringRecord> {
    let mut builder = ReaderBuilder::new();
    let reader = builder.has_headers(false).trim(Trim::All).buffer_capacity(128).from_reader(line.as_bytes());
    Ok(reader.into_records().next().transpose()?.unwrap_or_default())
}

/// What a line says; nothing if it is the header, which says where the columns are.
fn read_line(
    columns: &mut Option<Columns>,
    fields: &StringRecord,
    queues: &[&str],
) -> anyhow::Result<Option<Line>> {
    if let Some(columns) = columns {
        return columns.line(fields, queues).map(Some);
    }
    *columns = Some(Columns::find(fields)?);
    Ok(None)
}

/// What a line says.
enum Line {
    Job { job: Job, polls: Vec<u64>, response_ns: Option<u64> },
    Pause(Pause),
}

impl Line {
    fn at_ns(&self) -> u64 {
        match self {
            Line::Job { job, .. } => job.at_ns,
            Line::Pause(pause) => pause.from_ns,
        }
    }
}

/// Where the columns are.
struct Columns([Option<usize>; 6]);

impl Columns {
    fn find(header: &StringRecord) -> anyhow::Result<Self> {
        let places = COLUMNS.map(|name| header.iter().position(|field| field == name));
        for (name, place) in COLUMNS.iter().zip(places).take(2) {
            ensure!(place.is_some(), "there is no column '{name}'; a header names arrival and service");
        }
        Ok(Self(places))
    }

    fn line(&self, record: &StringRecord, queues: &[&str]) -> anyhow::Result<Line> {
        let [arrival, service, queue, group, polls, response] =
            self.0.map(|place| place.and_then(|place| record.get(place)).unwrap_or(""));
        let at_ns = time("arrival", arrival)?;
        let service_ns = time("service", service)?;
        if queue == HOST {
            return Ok(Line::Pause(Pause { from_ns: at_ns, until_ns: at_ns.saturating_add(service_ns) }));
        }
        ensure!(service_ns > 0, "service must be at least 1 ns");
        let polls = polls.split_whitespace().map(|poll| time("a poll", poll));
        let polls: Vec<u64> = polls.collect::<Result<_, _>>()?;
        ensure!(!polls.contains(&0), "a poll must be at least 1 ns");
        let response_ns = (!response.is_empty()).then(|| time("response", response)).transpose()?;
        let (queue, group) = (queue_named(queue, queues)?, group_numbered(group)?);
        Ok(Line::Job { job: Job { at_ns, service_ns, queue, group, polls: None }, polls, response_ns })
    }
}

/// The longest time that may stand in a trace: 2⁵³ ns, 104 days, up to which every nanosecond can be told.
const LONGEST_NS: f64 = 9_007_199_254_740_992.0;

fn time(column: &str, text: &str) -> anyhow::Result<u64> {
    let Some(ns) = text.parse::<f64>().ok().or_else(|| parse_ns(text).ok()) else {
        bail!("{column} '{text}' is no time: nanoseconds, or a number and ns, us, ms or s");
    };
    ensure!((0.0..=LONGEST_NS).contains(&ns), "{column} '{text}' is not between 0 and 104 days");
    Ok(ns.round() as u64)
}

fn queue_named(name: &str, queues: &[&str]) -> anyhow::Result<usize> {
    if name.is_empty() {
        return Ok(0);
    }
    let place = queues.iter().position(|queue| *queue == name);
    place.ok_or_else(|| anyhow!("there is no queue '{name}'; there are {}", queues.join(", ")))
}

/// Groups are numbered below this, as schedulers keep tables by their numbers.
pub(crate) const MAX_GROUPS: u32 = 1_000_000;

fn group_numbered(text: &str) -> anyhow::Result<Option<u32>> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|number| *number < MAX_GROUPS);
    number.map(Some).ok_or_else(|| anyhow!("group '{text}' is no number below {MAX_GROUPS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Trace> {
        Trace::read(text.as_bytes(), &["front", "back"])
    }

    #[test]
    fn a_trace_is_read_in_any_order_of_columns() {
        let text = "service,queue,arrival,group,note\n# nothing\n20us, back,\"1ms\", 7, x\n1500,,1000100,\n";
        let job = |at_ns, queue, service_ns, group| Job { at_ns, queue, service_ns, group, polls: None };
        assert_eq!(read(text).unwrap().jobs, [job(0, 1, 20_000, Some(7)), job(100, 0, 1_500, None)]);
    }

    #[test]
    fn a_recorded_trace_has_polls_pauses_and_how_it_went() {
        let text = "arrival,service,queue,polls,response\n1,2,(host),,\n10,200,back,150 50ns,900\n20,5,(host),,\n30,7,front,,40\n";
        let trace = read(text).unwrap();
        assert_eq!(trace.jobs.iter().map(|job| job.polls).collect::<Vec<_>>(), [Some(0), None]);
        assert_eq!(trace.polls, [150, 50]);
        assert_eq!(trace.pauses, [Pause { from_ns: 10, until_ns: 15 }], "from the first job on");
        assert_eq!(trace.measured.iter().map(|done| done.finished_ns).collect::<Vec<_>>(), [900, 60]);
        assert_eq!(trace.clone().at_load(0.5).measured, []);
        let partly = read("arrival,service,response\n1,2,\n3,4,5\n").unwrap();
        assert_eq!(partly.measured, [], "not of all");
    }

    #[test]
    fn a_load_moves_arrivals_and_nothing_else() {
        let trace = read("arrival,service\n0,100\n500,100\n1000,200\n").unwrap();
        assert_eq!(trace.load(), Some(0.4));
        let moved = trace.at_load(0.8);
        assert_eq!(moved.load(), Some(0.8));
        assert_eq!(moved.jobs.iter().map(|job| job.at_ns).collect::<Vec<_>>(), [0, 250, 500]);
        assert_eq!(read("arrival,service\n5,5\n").unwrap().at_load(0.5).load(), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, wanted) in [
            ("", "there are no jobs in it"),
            ("arrival\n1\n", "line 1: there is no column 'service'; a header names arrival and service"),
            ("arrival,service\n", "there are no jobs in it"),
            (
                "arrival,service\n1,1\nx,1\n",
                "line 3: arrival 'x' is no time: nanoseconds, or a number and ns, us, ms or s",
            ),
            (
                "arrival,service\n1\n",
                "line 2: service '' is no time: nanoseconds, or a number and ns, us, ms or s",
            ),
            ("arrival,service\n1,0\n", "line 2: service must be at least 1 ns"),
            ("arrival,service\n1,-1\n", "line 2: service '-1' is not between 0 and 104 days"),
            ("arrival,service\n5,1\n\n4,1\n", "line 4: it arrives before the job above it"),
            ("arrival,service\r\n5,1\r\n4,1\r\n", "line 3: it arrives before the job above it"),
            ("arrival,service\n5,1\n4,1", "line 3: it arrives before the job above it"),
            ("# made by hand\n\n\narrival,service\n\n5,1\n4,1", "line 7: it arrives before the job above it"),
            ("arrival,service,polls\n5,1,0\n", "line 2: a poll must be at least 1 ns"),
            ("arrival,service,queue\n5,1,side\n", "line 2: there is no queue 'side'; there are front, back"),
            ("arrival,service,group\n5,1,-3\n", "line 2: group '-3' is no number below 1000000"),
        ] {
            assert_eq!(format!("{:#}", read(text).unwrap_err()), wanted, "{text:?}");
        }
    }
}
