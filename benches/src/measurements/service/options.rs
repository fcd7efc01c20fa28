//! What `service` can be asked for.

use std::time::Duration;

use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};

use super::arm::Arm;
use crate::harness::{Asked, or_default};
use crate::serving::host::Host;

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Services on these hosts only, tokio or monoio, separated by commas [default: both]
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', value_parser = host)]
    pub host: Vec<Host>,

    /// Numbers of compactors, separated by commas [default: 0,1,4,16]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = value_parser!(u32).range(0..=1_000))]
    pub compactors: Vec<u32>,

    /// CPU time of a compactor between two yields, in microseconds, separated by commas [default: 20,100,500]
    #[arg(long, value_name = "MICROS", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=100_000))]
    pub chunks: Vec<u32>,

    /// These arms only, beside the host's own, separated by commas [default: all]
    #[arg(long, value_name = "ARMS", value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,

    /// The length of a window, in milliseconds [default: 150]
    #[arg(long, value_name = "MILLIS", value_parser = value_parser!(u32).range(5..=5_000))]
    pub window: Option<u32>,
}

const ROUNDS: &str = "Rounds of every cell, in each of which every arm has two windows [default: 16, some ten minutes for all]";

/// The hosts that this service runs on, the one that is judged first.
const HOSTS: &[Host] = if cfg!(target_os = "linux") { &[Host::Tokio, Host::Monoio] } else { &[Host::Tokio] };

fn host(name: &str) -> Result<Host, String> {
    let named = HOSTS.iter().find(|host| host.title() == name);
    let names = || HOSTS.iter().map(|host| host.title()).collect::<Vec<_>>().join(" or ");
    named.copied().ok_or_else(|| format!("it has to be {}", names()))
}

impl Options {
    pub(super) fn hosts(&self) -> impl Iterator<Item = Host> {
        HOSTS.iter().copied().filter(|host| self.host.is_empty() || self.host.contains(host))
    }

    /// The arms on a host, the base first.
    pub(super) fn arms(&self, host: Host) -> Vec<Arm> {
        let wanted = |arm: &Arm| *arm == Arm::Native || self.arms.is_empty() || self.arms.contains(arm);
        Arm::on(host).filter(wanted).collect()
    }

    /// Pairs of a number of compactors and their chunks' length in microseconds; without compactors there is one, which
    /// has no chunks.
    pub(super) fn loads(&self) -> Vec<(u32, Option<u32>)> {
        let (compactors, chunks): (&[u32], &[u32]) =
            if self.common.quick { (&[0, 2], &[100]) } else { (&[0, 1, 4, 16], &[20, 100, 500]) };
        let chunks = or_default(&self.chunks, chunks);
        let of_number = |number| match number {
            0 => vec![(0, None)],
            _ => chunks.iter().map(|&chunk| (number, Some(chunk))).collect(),
        };
        or_default(&self.compactors, compactors).into_iter().flat_map(of_number).collect()
    }

    pub(super) fn window(&self) -> Duration {
        let default = if self.common.quick { 10 } else { 150 };
        Duration::from_millis(self.window.unwrap_or(default).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::options_of;

    #[test]
    fn everything_is_measured_or_what_is_asked_for_and_the_base() {
        let all: Options = options_of("").unwrap();
        assert_eq!(all.hosts().next(), Some(Host::Tokio));
        assert_eq!((all.loads().len(), &all.loads()[..2]), (10, &[(0, None), (1, Some(20))][..]));
        assert_eq!(all.arms(Host::Tokio).len(), 6);
        let line = "--compactors 0,4 --chunks 50 --arms qlas,two_queues,imports_tokio_yield";
        let some: Options = options_of(line).unwrap();
        assert_eq!(some.loads(), [(0, None), (4, Some(50))]);
        assert_eq!(some.arms(Host::Monoio), [Arm::Native, Arm::TwoQueues, Arm::Qlas]);
    }
}
