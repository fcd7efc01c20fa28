//! The arms: what runs the service's tasks.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::serving::host::Host;

/// What runs the service's tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// The host's own spawn: tokio's LocalSet, or monoio::spawn
    Native,
    /// The same again (A/A)
    NativeAgain,
    /// Clockworker by its imports alone: one queue, all defaults
    Imports,
    /// The same with tokio's own yield_now kept (tokio only)
    ImportsTokioYield,
    /// Clockworker with a queue for connections and one for compactors, shares 19:1
    TwoQueues,
    /// Clockworker with QLAS: each connection and each compactor is a group of its own
    Qlas,
}

impl Arm {
    pub(super) fn on(host: Host) -> impl Iterator<Item = Arm> {
        let there = move |arm: &Arm| *arm != Arm::ImportsTokioYield || host == Host::Tokio;
        Arm::value_variants().iter().copied().filter(there)
    }

    pub(super) fn title(self, host: Host) -> String {
        match self {
            Arm::Native => host.native().to_owned(),
            Arm::NativeAgain => format!("{} again (A/A)", host.native()),
            Arm::Imports if host == Host::Tokio => "imports alone".to_owned(),
            Arm::Imports => "one queue".to_owned(),
            Arm::ImportsTokioYield => "imports, tokio's yield_now".to_owned(),
            Arm::TwoQueues => format!("two queues, {FOREGROUND_SHARE}:{BACKGROUND_SHARE}"),
            Arm::Qlas => "QLAS, groups".to_owned(),
        }
    }
}

/// The shares of the queues of connections and of compactors.
pub(super) const FOREGROUND_SHARE: u32 = 19;
pub(super) const BACKGROUND_SHARE: u32 = 1;
