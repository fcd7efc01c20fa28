//! What can be chosen on the command line.

use std::time::Duration;

use clap::{Parser, ValueEnum, value_parser};

use crate::clients::Limit;
use crate::tenant::Tenant;

/// A service with many tenants on one thread, one of which floods: what share each has, and how long its requests take.
#[derive(Clone, Debug, Parser)]
pub(crate) struct Options {
    /// Who runs the tasks
    #[arg(long, value_enum, default_value = "clockworker")]
    pub(crate) executor: ExecutorKind,

    /// Connections of the tenant that floods; 0 for none
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u16).range(..=500))]
    flood: u16,

    /// Quiet tenants, of one connection each
    #[arg(long, default_value_t = 4, value_parser = value_parser!(u16).range(..=100))]
    quiet: u16,

    /// How long the clients send requests, in milliseconds
    #[arg(long, default_value_t = 1_000)]
    millis: u64,

    /// Requests of each connection, in place of a time
    #[arg(long)]
    requests: Option<u64>,
}

/// Who runs the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(crate) enum ExecutorKind {
    /// `tokio::task::LocalSet`
    LocalSet,
    /// `clockworker::Executor` with one queue under `FairGroups`
    Clockworker,
}

impl Options {
    pub(crate) fn limit(&self) -> Limit {
        self.requests.map_or(Limit::Time(Duration::from_millis(self.millis)), Limit::Requests)
    }

    /// One that floods, one of a greater weight that always has something to do, and the quiet ones.
    pub(crate) fn tenants(&self) -> Vec<Tenant> {
        let busy = |name: &str, weight, connections| Tenant {
            name: name.to_owned(),
            weight,
            connections,
            pause: None,
        };
        let pause = Some((Duration::from_millis(5), Duration::from_millis(14)));
        let quiet = (1..=self.quiet).map(|number| Tenant { pause, ..busy(&format!("quiet-{number}"), 1, 1) });
        [busy("flood", 1, self.flood.into()), busy("gold", 3, 8)].into_iter().chain(quiet).collect()
    }
}
