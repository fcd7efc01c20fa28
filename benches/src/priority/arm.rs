//! Who serves foreground and background.

use std::time::Duration;

use crate::arms::QueueSetup;
use crate::beside::trial::Place;
use crate::numbers::grouped;

/// An arm: LocalSet without or with the background, or clockworker with two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The foreground on a LocalSet, with nothing beside it: what latency could be.
    ForegroundOnly,
    /// Foreground and background on one LocalSet.
    LocalSet,
    /// Foreground and background in two queues of one clockworker executor.
    Clockworker {
        /// Foreground's and background's share.
        shares: (u32, u32),
        /// The service that the foreground asks for per turn.
        request: Duration,
    },
}

impl Arm {
    /// Clockworker with these shares and nothing else said.
    pub fn shares(foreground: u32, background: u32) -> Self {
        Arm::Clockworker { shares: (foreground, background), request: clockworker::DEFAULT_REQUEST }
    }

    /// The name in the tables.
    pub fn title(self) -> String {
        match self {
            Arm::ForegroundOnly => "LocalSet, foreground only".to_owned(),
            Arm::LocalSet => "LocalSet with background".to_owned(),
            Arm::Clockworker { shares: (foreground, background), request } => {
                let request = match request {
                    clockworker::DEFAULT_REQUEST => String::new(),
                    other => format!(", request {} µs", grouped(other.as_micros() as u64)),
                };
                format!("Clockworker {foreground}:{background}{request}")
            }
        }
    }

    /// Where its tasks run, beside a background of such polls.
    ///
    /// The background asks for one of its polls at a time, so that when its turn comes among foreground work, that waits
    /// for one poll and not for a few.
    pub fn place(self, background_poll: Duration) -> Place {
        match self {
            Arm::ForegroundOnly => Place::ForegroundOnly,
            Arm::LocalSet => Place::LocalSet,
            Arm::Clockworker { shares: (foreground, background), request } => Place::Clockworker([
                QueueSetup { name: "foreground", share: foreground, request },
                QueueSetup { name: "background", share: background, request: background_poll },
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_named_where_it_is_not_the_usual() {
        let request = Duration::from_micros(50);
        let titles = [Arm::shares(99, 1), Arm::Clockworker { shares: (1, 9), request }].map(Arm::title);
        assert_eq!(titles, ["Clockworker 99:1", "Clockworker 1:9, request 50 µs"]);
    }
}
