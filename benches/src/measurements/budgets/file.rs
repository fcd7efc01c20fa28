//! The file of baselines, and of which machine they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::scenarios::Scenario;
use super::{CLOCKWORKER, PERCENTILES, Shape};
use crate::failure::Failure;
use crate::harness::{Cell, Facts};
use crate::whole_file::WholeFile;

/// What to do when a budget is to change.
pub(super) const REWRITE: &str = "if this is meant to be, `budgets --update` on the machine that the file names sets it, to be committed with the reason";

/// Nanoseconds at [`PERCENTILES`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Baseline(pub(super) [f64; 3]);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budgets {
    machine: BTreeMap<String, String>,
    baselines: BTreeMap<Scenario, BTreeMap<String, f64>>,
}

const HEAD: &str = "\
# What small things took on one machine, in nanoseconds: each may take twice that. benches/README.md says what they are.
#
#     cargo run --release -p clockworker-benches -- budgets             measures, and fails if one takes more
#     cargo run --release -p clockworker-benches -- budgets --update    makes what is found the baselines

";

impl Budgets {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(Failure::unable(format!("cannot read '{name}'")))?;
        Budgets::parse(&text).map_err(|problem| Failure::request(format!("'{name}': {problem}")))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let budgets: Budgets = toml::from_str(text).map_err(|error| error.to_string())?;
        for (scenario, baseline) in &budgets.baselines {
            let is_known = |key: &String| PERCENTILES.iter().any(|(name, _)| name == key);
            let is_whole = baseline.len() == PERCENTILES.len() && baseline.keys().all(is_known);
            if !is_whole || !baseline.values().all(|nanos| nanos.is_finite() && *nanos > 0.0) {
                return Err(format!("{scenario:?} needs p50, p95 and p99, above 0").to_lowercase());
            }
        }
        Ok(budgets)
    }

    pub(super) fn get(&self, scenario: Scenario) -> Option<Baseline> {
        let baseline = self.baselines.get(&scenario)?;
        Some(Baseline(PERCENTILES.map(|(name, _)| baseline[name])))
    }

    /// Those that a run has found.
    pub(super) fn of(facts: &Facts, cells: &[Cell<Shape>]) -> Self {
        let Facts { date, cpu, cores, kernel, rustc, tokio, load_before, .. } = facts.clone();
        let (cores, load) =
            (cores.to_string(), load_before.map_or_else(String::new, |load| load.to_string()));
        let machine = [
            ("date", date),
            ("load_before", load),
            ("cpu", cpu),
            ("cores", cores),
            ("kernel", kernel),
            ("rustc", rustc),
            ("tokio", tokio),
        ];
        let rounded = |nanos: f64| (nanos * 10.0).round().max(1.0) / 10.0;
        let baseline = |cell: &Cell<Shape>| {
            let found = |name: &str| Some((name.to_owned(), rounded(cell.arm(CLOCKWORKER)?.value(name)?)));
            (cell.shape.scenario, PERCENTILES.iter().filter_map(|(name, _)| found(name)).collect())
        };
        Budgets {
            machine: machine.into_iter().map(|(key, fact)| (key.to_owned(), fact)).collect(),
            baselines: cells.iter().map(baseline).collect(),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        WholeFile::at(path)?.write(|out| out.write_all(self.text().as_bytes()))
    }

    fn text(&self) -> String {
        HEAD.to_owned() + &toml::to_string(self).expect("strings and numbers are TOML")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets() -> Budgets {
        let baseline = PERCENTILES.map(|(name, part)| (name.to_owned(), part * 100.0)).into();
        Budgets { machine: BTreeMap::new(), baselines: [(Scenario::Yield, baseline)].into() }
    }

    #[test]
    fn what_is_written_is_read() {
        let read = Budgets::parse(&budgets().text()).unwrap();
        assert_eq!(read, budgets());
        assert_eq!(read.get(Scenario::Yield), Some(Baseline([50.0, 95.0, 99.0])));
        assert_eq!(read.get(Scenario::Spawn), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, wanted) in [
            ("p50", "p51", "yield needs p50"),
            ("50.0", "-1.0", "yield needs p50"),
            ("baselines.yield", "baselines.yields", "unknown variant `yields`"),
            ("[machine]", "[machines]", "unknown field `machines`"),
        ] {
            let problem = Budgets::parse(&budgets().text().replace(from, to)).unwrap_err();
            assert!(problem.contains(wanted), "{problem}");
        }
    }
}
