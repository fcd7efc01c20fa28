//! A cell: servers that are compared with each other, and under what load.
//!
//! All servers of a cell are up at the same time, connected, and rest while another has its window. In every round, and
//! for each loop in turn, every server has four windows: in an order shuffled anew, then in the reverse of it, and this
//! twice, so that a machine that grows faster or slower meanwhile does so for all. The rate of a round's open loops follows
//! from its own closed loops, so it has the machine's speed of the moment.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::options::{Options, Section};
use super::server::{Background, Setup, Spawner};
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::options::or_default;
use crate::harness::pinning::{Pinning, Side};
use crate::harness::report;
use crate::harness::sample::Sample;
use crate::numbers::grouped;
use crate::serving::client::Closed;
use crate::serving::contest::{Arm, Contest};
use crate::serving::dialogue::Echoes;
use crate::serving::host::Host;
use crate::serving::schedule::Schedule;

/// Messages a second that came back in closed loops.
pub(super) const ECHO_RATE: &str = "echo_rate";

/// CPU time of the server's process per message in closed loops, where it has no background.
pub(super) const CPU_PER_ECHO: &str = "cpu_ns_per_echo";

/// CPU time of the server's process in closed loops, as a part of one core's.
pub(super) const CPU_USED: &str = "cpu_used";

/// Polls of the background a second, where there is one: in closed loops, and by load.
pub(super) const BACKGROUND_RATE: &str = "background_rate";

/// By load: messages a second that were to be sent.
pub(super) const MESSAGE_RATE: &str = "message_rate";

/// Rounds of a cell, unless `--rounds` gives a number.
const ROUNDS: u32 = 40;

/// When this is over no further round is started, unless `--rounds` gives a number.
const TIME_LIMIT: Duration = Duration::from_secs(80);

/// Windows of each server in a loop of a round.
const TURNS: usize = 4;

/// So long from the start of an open loop nothing counts.
const LEAD: Duration = Duration::from_millis(4);

/// Servers that are compared, with the same load.
pub(super) struct Cell {
    shape: Shape,
    contest: Contest<Setup, Echoes>,
    /// The closed loops of the round, by arm.
    closed: Vec<Closed>,
}

/// The load of a cell.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub section: Section,
    pub host: Host,
    pub connections: u32,
    /// Bytes in a message.
    pub bytes: u32,
    /// CPU time of the background's shortest and longest polls in microseconds, if there is a background.
    pub polls_us: Option<(u32, u32)>,
    /// The rates of the open loops, in percent of the pace in the closed loops.
    pub loads: Vec<u32>,
    /// How long each window is, in seconds.
    pub window_s: f64,
}

/// The key of a figure or a distribution of the open loops at a load.
pub(super) fn at_load(load: u32, figure: &str) -> String {
    format!("load_{load}_{figure}")
}

/// The cells that are asked for, in the order in which they run.
pub(super) fn plan(options: &Options, pinning: &Pinning) -> Vec<Cell> {
    let mut cells = Vec::new();
    for section in options.sections() {
        for host in options.hosts() {
            for shape in shapes(section, host, options) {
                let contest = Contest {
                    arms: arms(&shape, options),
                    connections: shape.connections as usize,
                    window: Duration::from_secs_f64(shape.window_s),
                    seed: options.common.seed,
                    part: cells.len() as u64,
                    pinning: pinning.clone(),
                    running: Vec::new(),
                };
                cells.push(Cell { closed: vec![Closed::default(); contest.arms.len()], shape, contest });
            }
        }
    }
    cells
}

/// What the servers of a section on a host have to do, one cell after the other.
fn shapes(section: Section, host: Host, options: &Options) -> Vec<Shape> {
    let usual = options.usual(section);
    let polls: Vec<Option<(u32, u32)>> = match section {
        Section::Plain => vec![None],
        _ => or_default(&options.polls, usual.polls).into_iter().map(Some).collect(),
    };
    let mut shapes = Vec::new();
    for bytes in or_default(&options.sizes, &[1_024]) {
        for connections in or_default(&options.connections, usual.connections) {
            for &polls_us in &polls {
                let loads = or_default(&options.loads, usual.loads);
                let window_s = f64::from(options.window.unwrap_or(usual.window_ms)) / 1e3;
                shapes.push(Shape { section, host, connections, bytes, polls_us, loads, window_s });
            }
        }
    }
    shapes
}

fn arms(shape: &Shape, options: &Options) -> Vec<Arm<Setup>> {
    let (host, host_budget_us) = (shape.host, None);
    let background = shape.polls_us.map(|polls_us| Background {
        polls_us,
        self_waking: options.self_waking,
        foreground_share: options.foreground_share,
        seed: options.common.seed,
    });
    let alone = |key: &str, title: String, spawner| {
        let setup = Setup { host, spawner, host_budget_us, background: None };
        Arm { key: key.to_owned(), title, setup }
    };
    let beside = |key: &str, title: String, spawner| {
        let mut arm = alone(key, title, spawner);
        arm.setup.background.clone_from(&background);
        arm
    };
    let (own, native, clockworker) = (host.native(), Spawner::Native, Spawner::Clockworker);
    match shape.section {
        Section::Plain => {
            let base = alone("native", own.to_owned(), native);
            vec![base.clone(), base, alone("clockworker", "Clockworker".to_owned(), clockworker)]
        }
        Section::Background => {
            let shares = format!("Clockworker, {}:1", options.foreground_share);
            vec![
                alone("native", format!("{own} alone"), native),
                beside("native_with_background", format!("{own} with background"), native),
                beside("clockworker_with_background", shares, clockworker),
            ]
        }
        Section::Budgets => {
            let with_budget = |micros: u32| {
                let title = format!("{} µs", grouped(micros.into()));
                let mut arm = beside(&format!("budget_{micros}_us"), title, clockworker);
                arm.setup.host_budget_us = Some(micros);
                arm
            };
            let alone = alone("alone", "without background".to_owned(), clockworker);
            [alone].into_iter().chain(options.budgets().into_iter().map(with_budget)).collect()
        }
    }
}

impl Shape {
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
    pub(super) fn sockets(&self) -> u64 {
        self.contest.arms.len() as u64 * u64::from(self.shape.connections)
    }

    fn has_background(&self, arm: usize) -> bool {
        self.contest.arms[arm].setup.background.is_some()
    }

    fn closed_loop(&mut self, Window { arm, turn, .. }: Window) -> Result<Sample, Failure> {
        let length = self.contest.window;
        let (closed, usage) = self.contest.window(arm, |client| client.closed(length))?;
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
        Ok(match self.has_background(arm) {
            false => sample.with_rate(CPU_PER_ECHO, usage.cpu.as_nanos() as f64, echoes.max(1.0)),
            true => sample.with_rate(BACKGROUND_RATE, usage.work as f64, elapsed),
        })
    }

    fn open_loop(&mut self, Window { arm, round, phase, turn, .. }: Window) -> Result<Sample, Failure> {
        let place = phase - 1;
        let load = self.shape.loads[place];
        let rate = self.pace() * f64::from(load) / 100.0;
        // Another schedule for the arms' second windows, and so on.
        let number = (round << 8 | place as u64).wrapping_mul(TURNS as u64) | turn as u64;
        let schedule = Schedule { lead: LEAD, ..self.contest.schedule(number, rate) };
        let background = self.has_background(arm).then_some(BACKGROUND_RATE);
        let sample = self.contest.open_loop(arm, &schedule, &at_load(load, ""), background)?;
        Ok(sample.with_number(at_load(load, MESSAGE_RATE), rate))
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
        let (seed, bytes) = (self.contest.seed, self.shape.bytes as usize);
        self.contest.start("tcp-server", || Echoes::new(seed, bytes))
    }

    fn cells(&self) -> Vec<report::Cell<Shape>> {
        vec![report::Cell::new(self.shape.title(), self.shape.clone(), self.contest.reported())]
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

    #[test]
    fn every_combination_is_a_cell_and_without_options_those_are_that_are_judged() {
        let titles = |line: &str| cells(line).iter().map(|cell| cell.shape.title()).collect::<Vec<_>>();
        let judged = ["1 connection", "64 connections", "100 connections"];
        assert_eq!(titles(""), judged.map(|connections| format!("tokio, {connections}, 1,024 B")));
        let combined = titles("--connections 1,64 --sizes 64,4096");
        assert_eq!((combined.len(), combined[3].as_str()), (4, "tokio, 64 connections, 4,096 B"));
    }

    #[test]
    fn a_background_is_measured_by_that_of_the_native_spawn_or_of_the_largest_budget() {
        for (line, polls, wanted) in [
            ("--only background", "20 to 100", "native_with_background"),
            ("--only budgets --budgets 50,500", "5", "budget_500_us"),
        ] {
            let cell = cells(line).remove(0);
            let title = format!("tokio, 64 connections, 1,024 B; background polls of {polls} µs");
            assert_eq!(cell.shape.title(), title);
            assert_eq!(cell.base(&cell.cells()[0], &at_load(50, BACKGROUND_RATE)), Some(wanted));
        }
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
