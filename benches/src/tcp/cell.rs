//! A cell: servers that are compared with each other, and under what load.

use std::time::Duration;

use serde::Serialize;

use super::options::{Options, Section};
use super::setup::{Background, Setup, Spawner};
use crate::numbers::grouped;
use crate::serving::host::Host;

/// A server that is compared.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Its name in the JSON file.
    pub key: String,
    /// Its name for people.
    pub title: String,
    /// How it is set up.
    pub setup: Setup,
}

/// Servers that are compared, with the same load.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it is for.
    pub shape: Shape,
    /// The servers; the first is what the others are measured by.
    pub arms: Vec<Arm>,
    /// The arm whose background is what that of others is measured by.
    pub background_base: usize,
    /// The rates of the open loops, in percent.
    pub loads: Vec<u32>,
    /// The length of each window.
    pub window: Duration,
    /// What tells this cell's random numbers from those of others.
    pub part: u64,
}

/// The load of a cell.
#[derive(Clone, Debug, Serialize)]
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
}

/// The cells that are asked for, in the order in which they run.
pub fn plan(options: &Options) -> Vec<Cell> {
    let mut cells = Vec::new();
    for section in options.sections() {
        let backgrounds = backgrounds(section, options);
        for host in options.hosts() {
            for &bytes in &options.sizes() {
                for &connections in &options.connections(section) {
                    for background in &backgrounds {
                        let polls_us = background.as_ref().map(|background| {
                            (background.shortest.as_micros() as u64, background.longest.as_micros() as u64)
                        });
                        let shape = Shape { section, host, connections, bytes, polls_us };
                        cells.push(Cell::new(shape, background.as_ref(), options, cells.len() as u64));
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
        seed: options.seed,
    };
    options.polls(section).into_iter().map(|polls| Some(background(polls))).collect()
}

impl Cell {
    fn new(shape: Shape, background: Option<&Background>, options: &Options, part: u64) -> Self {
        let section = shape.section;
        let arms = arms(&shape, background, options);
        let background_base =
            if section == Section::Budgets { arms.len() - 1 } else { arms.len().min(2) - 1 };
        let loads = options.loads(section);
        Cell { shape, arms, background_base, loads, window: options.window(section), part }
    }

    /// Whether the servers have a background.
    pub fn has_background(&self) -> bool {
        self.shape.section != Section::Plain
    }

    /// In a few words.
    pub fn title(&self) -> String {
        let Shape { host, connections, bytes, polls_us, .. } = &self.shape;
        let background = polls_us.map_or_else(String::new, |(shortest, longest)| match shortest == longest {
            true => format!("; background polls of {shortest} µs"),
            false => format!("; background polls of {shortest} to {longest} µs"),
        });
        let plural = if *connections == 1 { "" } else { "s" };
        let (connections, bytes) = (grouped((*connections).into()), grouped((*bytes).into()));
        format!("{}, {connections} connection{plural}, {bytes} B{background}", host.title())
    }
}

fn arms(shape: &Shape, background: Option<&Background>, options: &Options) -> Vec<Arm> {
    let host = shape.host;
    let arm = |key: &str, title: String, setup| Arm { key: key.to_owned(), title, setup };
    let beside = |spawner, host_budget| Setup { host, spawner, host_budget, background: background.cloned() };
    let alone = || arm("native", host.native().to_owned(), Setup::plain(host, Spawner::Native));
    let clockworker = Spawner::Clockworker;
    let mut arms = Vec::new();
    match shape.section {
        Section::Plain => {
            arms.push(alone());
            if options.twice {
                let title = format!("{} again (A/A)", host.native());
                arms.push(arm("native_again", title, Setup::plain(host, Spawner::Native)));
            }
            arms.push(arm("clockworker", "Clockworker".to_owned(), Setup::plain(host, clockworker)));
        }
        Section::Background => {
            let shares = format!("Clockworker, {}:1", options.foreground_share);
            let native = format!("{} with background", host.native());
            arms.push(Arm { title: format!("{} alone", host.native()), ..alone() });
            arms.push(arm("native_with_background", native, beside(Spawner::Native, None)));
            arms.push(arm("clockworker_with_background", shares, beside(clockworker, None)));
        }
        Section::Budgets => {
            arms.push(arm("alone", "without background".to_owned(), Setup::plain(host, clockworker)));
            arms.extend(options.budgets().into_iter().map(|budget| {
                let title = format!("{} µs", grouped(budget.as_micros() as u64));
                arm(&format!("budget_{}_us", budget.as_micros()), title, beside(clockworker, Some(budget)))
            }));
        }
    }
    arms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::options::options_of;

    fn cells(line: &str) -> Vec<Cell> {
        plan(&options_of(&format!("--hosts tokio {line}")).unwrap())
    }

    fn keys(cell: &Cell) -> Vec<&str> {
        cell.arms.iter().map(|arm| arm.key.as_str()).collect()
    }

    #[test]
    fn every_combination_is_a_cell() {
        let cells = cells("--connections 1,64 --sizes 64,4096");
        let titles: Vec<String> = cells.iter().map(Cell::title).collect();
        assert_eq!(titles[0], "tokio, 1 connection, 64 B");
        assert_eq!(titles[3], "tokio, 64 connections, 4,096 B");
        assert_eq!(titles.len(), 4);
        assert!(cells.iter().all(|cell| keys(cell) == ["native", "clockworker"]));
    }

    #[test]
    fn a_background_is_measured_by_that_of_the_native_spawn() {
        let cells = cells("--only background --twice");
        assert_eq!(keys(&cells[0]), ["native", "native_with_background", "clockworker_with_background"]);
        assert_eq!(cells[0].background_base, 1);
        assert_eq!(cells[0].title(), "tokio, 64 connections, 1,024 B; background polls of 20 to 100 µs");
    }

    #[test]
    fn budgets_are_measured_by_the_largest() {
        let cells = cells("--only budgets --budgets 50,500");
        assert_eq!(keys(&cells[1]), ["alone", "budget_50_us", "budget_500_us"]);
        assert_eq!(cells[0].background_base, 2);
        assert_eq!(cells[0].title(), "tokio, 64 connections, 1,024 B; background polls of 5 µs");
        assert_eq!(cells[0].arms[1].setup.host_budget, Some(Duration::from_micros(50)));
    }
}
