//! A cell: servers that are compared with each other, and under what load.
//!
//! All servers of a cell are up at the same time, connected, and rest while another has its window. In every round, and
//! for each loop in turn, every server has four windows: in an order shuffled anew, then in the reverse of it, and this
//! twice, so that a machine that grows faster or slower meanwhile does so for all. The rate of a round's open loops follows
//! from its own closed loops, so it has the machine's speed of the moment.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::options::{Options, Section};
use super::setup::{Background, Setup, Spawner};
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::{Pinning, Side};
use crate::harness::report;
use crate::harness::sample::Sample;
use crate::numbers::grouped;
use crate::serving::client::{Client, Closed};
use crate::serving::contender::{self, Contender};
use crate::serving::host::Host;
use crate::serving::pattern::Pattern;
use crate::serving::schedule::Schedule;

/// Messages a second that came back in closed loops.
pub const ECHO_RATE: &str = "echo_rate";

/// CPU time of the server's process per message in closed loops, where it has no background.
pub const CPU_PER_ECHO: &str = "cpu_ns_per_echo";

/// CPU time of the server's process in closed loops, as a part of one core's.
pub const CPU_USED: &str = "cpu_used";

/// Polls of the background a second, where there is one: in closed loops, and by load.
pub const BACKGROUND_RATE: &str = "background_rate";

/// By load: messages a second that were to be sent.
pub const MESSAGE_RATE: &str = "message_rate";

/// By load: from the intended arrival of a message until its echo.
pub const LATENCY: &str = "latency_ns";

/// By load: from the intended arrival of a message until it was sent.
pub const LATENESS: &str = "lateness_ns";

/// How a server's host does its I/O.
pub const DRIVER: &str = "driver";

/// Rounds of a cell, unless `--rounds` gives a number.
const ROUNDS: u32 = 40;

/// When this is over no further round is started, unless `--rounds` gives a number.
const TIME_LIMIT: Duration = Duration::from_secs(80);

/// Windows of each server in a loop of a round.
const TURNS: usize = 4;

/// How long the last messages of an open loop may take, beside a background that goes on.
const LIMIT: Duration = Duration::from_millis(500);

/// Servers that are compared, with the same load.
#[derive(Debug)]
pub struct Cell {
    shape: Shape,
    arms: Vec<Arm>,
    window: Duration,
    seed: u64,
    /// What tells this cell's random numbers from those of others.
    part: u64,
    pinning: Pinning,
    /// The servers, once they are started.
    contenders: Vec<Contender<Pattern>>,
    /// The closed loops of the round, by arm.
    closed: Vec<Closed>,
}

/// A server that is compared.
#[derive(Clone, Debug)]
struct Arm {
    key: String,
    title: String,
    setup: Setup,
}

/// The load of a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// The section it belongs to.
    pub section: Section,
    /// The servers' host.
    pub host: Host,
    /// Connections.
    pub connections: u32,
    /// Bytes in a message.
    pub bytes: u32,
    /// CPU time of the background's polls in microseconds, if there is a background.
    pub polls_us: Option<(u64, u64)>,
    /// The rates of the open loops, in percent of the pace in the closed loops.
    pub loads: Vec<u32>,
    /// How long each window is, in seconds.
    pub window_s: f64,
}

/// The key of a figure or a distribution of the open loops at a load.
pub fn at_load(load: u32, figure: &str) -> String {
    format!("load_{load}_{figure}")
}

/// The cells that are asked for, in the order in which they run.
pub fn plan(options: &Options, pinning: &Pinning) -> Vec<Cell> {
    let mut cells = Vec::new();
    for section in options.sections() {
        let backgrounds = backgrounds(section, options);
        for host in options.hosts() {
            for &bytes in &options.sizes() {
                for &connections in &options.connections(section) {
                    for background in &backgrounds {
                        let shape =
                            Shape::new(section, host, (connections, bytes), background.as_ref(), options);
                        let arms = arms(&shape, background.as_ref(), options);
                        cells.push(Cell {
                            window: options.window(section),
                            seed: options.common.seed,
                            part: cells.len() as u64,
                            pinning: pinning.clone(),
                            contenders: Vec::new(),
                            closed: vec![Closed::default(); arms.len()],
                            shape,
                            arms,
                        });
                    }
                }
            }
        }
    }
    cells
}

fn backgrounds(section: Section, options: &Options) -> Vec<Option<Background>> {
    if section == Section::Plain {
        return vec![None];
    }
    let background = |(shortest, longest)| Background {
        shortest,
        longest,
        self_waking: options.self_waking,
        foreground_share: options.foreground_share,
        seed: options.common.seed,
    };
    options.polls(section).into_iter().map(|polls| Some(background(polls))).collect()
}

fn arms(shape: &Shape, background: Option<&Background>, options: &Options) -> Vec<Arm> {
    let host = shape.host;
    let arm = |key: &str, title: String, setup| Arm { key: key.to_owned(), title, setup };
    let plain = |spawner| Setup::plain(host, spawner);
    let beside =
        |spawner, host_budget| Setup { host_budget, background: background.cloned(), ..plain(spawner) };
    let (native, clockworker) = (Spawner::Native, Spawner::Clockworker);
    match shape.section {
        Section::Plain => {
            let base = arm("native", host.native().to_owned(), plain(native));
            vec![base.clone(), base, arm("clockworker", "Clockworker".to_owned(), plain(clockworker))]
        }
        Section::Background => {
            let shares = format!("Clockworker, {}:1", options.foreground_share);
            let with_background = format!("{} with background", host.native());
            vec![
                arm("native", format!("{} alone", host.native()), plain(native)),
                arm("native_with_background", with_background, beside(native, None)),
                arm("clockworker_with_background", shares, beside(clockworker, None)),
            ]
        }
        Section::Budgets => {
            let with_budget = |budget: Duration| {
                let micros = budget.as_micros() as u64;
                let (key, title) = (format!("budget_{micros}_us"), format!("{} µs", grouped(micros)));
                arm(&key, title, beside(clockworker, Some(budget)))
            };
            let alone = arm("alone", "without background".to_owned(), plain(clockworker));
            [alone].into_iter().chain(options.budgets().into_iter().map(with_budget)).collect()
        }
    }
}

impl Shape {
    fn new(
        section: Section,
        host: Host,
        (connections, bytes): (u32, u32),
        background: Option<&Background>,
        options: &Options,
    ) -> Self {
        let micros = |poll: Duration| poll.as_micros() as u64;
        Shape {
            section,
            host,
            connections,
            bytes,
            polls_us: background.map(|background| (micros(background.shortest), micros(background.longest))),
            loads: options.loads(section),
            window_s: options.window(section).as_secs_f64(),
        }
    }

    fn title(&self) -> String {
        let Shape { host, connections, bytes, polls_us, .. } = self;
        let background = polls_us.map_or_else(String::new, |(shortest, longest)| match shortest == longest {
            true => format!("; background polls of {shortest} µs"),
            false => format!("; background polls of {shortest} to {longest} µs"),
        });
        let plural = if *connections == 1 { "" } else { "s" };
        let (connections, bytes) = (grouped((*connections).into()), grouped((*bytes).into()));
        format!("{}, {connections} connection{plural}, {bytes} B{background}", host.title())
    }
}

impl Cell {
    /// How many connections to all servers there are.
    pub fn sockets(&self) -> u64 {
        self.arms.len() as u64 * u64::from(self.shape.connections)
    }

    fn closed_loop(&mut self, Window { arm, turn, .. }: Window) -> Result<Sample, Failure> {
        let length = self.window;
        let (closed, usage) = self.contenders[arm].window(|client| client.closed(length))?;
        let of_round = &mut self.closed[arm];
        if turn == 0 {
            *of_round = Closed::default();
        }
        of_round.echoes += closed.echoes;
        of_round.elapsed += closed.elapsed;
        let (echoes, elapsed) = (closed.echoes as f64, closed.elapsed.as_secs_f64());
        let sample = Sample::default().with_rate(ECHO_RATE, echoes, elapsed).with_rate(
            CPU_USED,
            usage.cpu.as_secs_f64(),
            elapsed,
        );
        Ok(match self.arms[arm].setup.background {
            None => sample.with_rate(CPU_PER_ECHO, usage.cpu.as_nanos() as f64, echoes.max(1.0)),
            Some(_) => sample.with_rate(BACKGROUND_RATE, usage.polls as f64, elapsed),
        })
    }

    fn open_loop(&mut self, window: Window) -> Result<Sample, Failure> {
        let place = window.phase - 1;
        let load = self.shape.loads[place];
        let rate = self.pace() * f64::from(load) / 100.0;
        let schedule = self.schedule(rate, window.round << 8 | place as u64, window.turn as u64);
        let run = |client: &mut Client<Pattern>| client.open(&schedule, LIMIT);
        let (open, usage) = self.contenders[window.arm].window(run)?;
        let sample = Sample::default()
            .with_number(at_load(load, MESSAGE_RATE), rate)
            .with_values(at_load(load, LATENCY), open.latencies)
            .with_values(at_load(load, LATENESS), open.lateness);
        Ok(match self.arms[window.arm].setup.background {
            None => sample,
            Some(_) => sample.with_rate(
                at_load(load, BACKGROUND_RATE),
                usage.polls as f64,
                open.elapsed.as_secs_f64(),
            ),
        })
    }

    /// The same schedule for all arms, another for their second windows, and so on.
    fn schedule(&self, rate: f64, part: u64, turn: u64) -> Schedule {
        let part = part.wrapping_mul(TURNS as u64) | turn;
        let part = (self.part << 40) | (part & 0xff_ffff_ffff);
        Schedule::draw(self.seed, part, rate, self.shape.connections as usize, self.window)
    }

    /// What the open loops' rates are parts of: what the slowest server does, or, beside a background, what the first
    /// does, which has none.
    fn pace(&self) -> f64 {
        let counted = if self.shape.section == Section::Plain { self.closed.len() } else { 1 };
        let rates = self.closed.iter().map(|closed| closed.echoes as f64 / closed.elapsed.as_secs_f64());
        rates.take(counted).fold(f64::INFINITY, f64::min)
    }
}

impl Experiment<Shape> for Cell {
    fn start(&mut self) -> Result<(), Failure> {
        let Shape { connections, bytes, .. } = self.shape;
        let setups = self.arms.iter().map(|arm| &arm.setup);
        let pattern = || Pattern::new(self.seed, bytes as usize);
        let alone = self.pinning.apart();
        self.contenders = contender::start("tcp-server", setups, connections as usize, pattern, alone)?;
        Ok(())
    }

    fn cells(&self) -> Vec<report::Cell<Shape>> {
        let mut arms = report::arms(self.arms.iter().map(|arm| (arm.key.clone(), arm.title.clone())));
        for (arm, contender) in arms.iter_mut().zip(&self.contenders) {
            arm.facts.insert(DRIVER.to_owned(), contender.server.driver().to_owned());
        }
        vec![report::Cell::new(self.shape.title(), self.shape.clone(), arms)]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        if window.phase == 0 { self.closed_loop(*window) } else { self.open_loop(*window) }
    }

    fn rounds(&self) -> Rounds {
        Rounds { usual: ROUNDS, limit: Some(TIME_LIMIT), warms_up: true }
    }

    fn side(&self) -> Side {
        Side::Load
    }

    /// A background is compared with that beside the native spawn, or with that of the largest budget.
    fn base<'a>(&self, cell: &'a report::Cell<Shape>, figure: &str) -> Option<&'a str> {
        let base = match (figure.ends_with(BACKGROUND_RATE), self.shape.section) {
            (true, Section::Background) => cell.arms.get(1),
            (true, Section::Budgets) => cell.arms.last(),
            _ => cell.arms.first(),
        };
        base.map(|arm| arm.key.as_str())
    }

    fn phases(&self) -> usize {
        1 + self.shape.loads.len()
    }

    fn turns(&self) -> usize {
        TURNS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::options::options_of;

    fn cells(line: &str) -> Vec<Cell> {
        plan(&options_of(&format!("--hosts tokio {line}")).unwrap(), &Pinning::detect())
    }

    /// The keys of the first cell's arms, and that of the one whose background others are compared with.
    fn keys(cells: &[Cell]) -> (Vec<String>, String) {
        let cell = &cells[0].cells()[0];
        let base = cells[0].base(cell, &at_load(50, BACKGROUND_RATE)).unwrap();
        (cell.arms.iter().map(|arm| arm.key.clone()).collect(), base.to_owned())
    }

    #[test]
    fn every_combination_is_a_cell() {
        let cells = cells("--connections 1,64 --sizes 64,4096");
        let titles: Vec<String> = cells.iter().map(|cell| cell.shape.title()).collect();
        assert_eq!(titles[0], "tokio, 1 connection, 64 B");
        assert_eq!(titles[3], "tokio, 64 connections, 4,096 B");
        assert_eq!(titles.len(), 4);
        assert_eq!(keys(&cells).0, ["native", "native_again", "clockworker"]);
    }

    #[test]
    fn a_background_is_measured_by_that_of_the_native_spawn() {
        let cells = cells("--only background");
        let (arms, base) = keys(&cells);
        assert_eq!(arms, ["native", "native_with_background", "clockworker_with_background"]);
        assert_eq!(base, "native_with_background");
        let title = "tokio, 64 connections, 1,024 B; background polls of 20 to 100 µs";
        assert_eq!(cells[0].shape.title(), title);
    }

    #[test]
    fn budgets_are_measured_by_the_largest() {
        let cells = cells("--only budgets --budgets 50,500");
        let (arms, base) = keys(&cells);
        assert_eq!(arms, ["alone", "budget_50_us", "budget_500_us"]);
        assert_eq!(base, "budget_500_us");
        assert_eq!(cells[0].shape.title(), "tokio, 64 connections, 1,024 B; background polls of 5 µs");
        assert_eq!(cells[0].arms[1].setup.host_budget, Some(Duration::from_micros(50)));
    }

    #[test]
    fn the_slowest_sets_the_pace_unless_there_is_a_background() {
        for (line, pace) in [("", 50.0), ("--only background", 100.0)] {
            let mut cell = cells(line).remove(0);
            cell.closed =
                [200, 100, 300].map(|echoes| Closed { echoes, elapsed: Duration::from_secs(2) }).into();
            assert_eq!(cell.pace(), pace);
        }
    }
}
