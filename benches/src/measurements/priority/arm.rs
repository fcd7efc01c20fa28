//! Who serves foreground and background.

use std::time::Duration;

use clockworker::DEFAULT_REQUEST;

use crate::arms::QueueSetup;
use crate::beside::trial::Place;

/// An arm: LocalSet without or with the background, or clockworker with two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The foreground on a LocalSet, with nothing beside it: what latency could be.
    ForegroundOnly,
    /// Foreground and background on one LocalSet.
    LocalSet,
    /// Foreground and background in two queues of one clockworker executor, told apart by share.
    ///
    /// The background asks for one of its polls at a time, so that when its turn comes among foreground work, that waits
    /// for one poll and not for a few.
    Shares {
        /// The foreground's.
        foreground: u32,
        /// The background's.
        background: u32,
    },
    /// The same with a tenth of the thread for the foreground, told apart by request.
    Requests {
        /// The service that the foreground asks for per turn. The background asks for the usual.
        foreground: Duration,
    },
}

impl Arm {
    /// The name in the file of results.
    pub fn key(self) -> String {
        match self {
            Arm::ForegroundOnly => "foreground_only".to_owned(),
            Arm::LocalSet => "local_set".to_owned(),
            Arm::Shares { foreground, background } => format!("shares_{foreground}_{background}"),
            Arm::Requests { foreground } => format!("request_{}_us", foreground.as_micros()),
        }
    }

    /// The name in the tables.
    pub fn title(self) -> String {
        match self {
            Arm::ForegroundOnly => "LocalSet, foreground only".to_owned(),
            Arm::LocalSet => "LocalSet with background".to_owned(),
            Arm::Shares { foreground, background } => format!("Clockworker {foreground}:{background}"),
            Arm::Requests { foreground } => {
                format!("Clockworker 1:9, request {} µs", foreground.as_micros())
            }
        }
    }

    /// Where its tasks run, beside a background of such polls.
    pub fn place(self, background_poll: Duration) -> Place {
        let queues = |shares: (u32, u32), requests: (Duration, Duration)| {
            Place::Clockworker([
                QueueSetup { name: "foreground", share: shares.0, request: requests.0 },
                QueueSetup { name: "background", share: shares.1, request: requests.1 },
            ])
        };
        match self {
            Arm::ForegroundOnly => Place::ForegroundOnly,
            Arm::LocalSet => Place::LocalSet,
            Arm::Shares { foreground, background } => {
                queues((foreground, background), (DEFAULT_REQUEST, background_poll))
            }
            Arm::Requests { foreground } => queues((1, 9), (foreground, DEFAULT_REQUEST)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(arm: Arm) -> [(u32, u128); 2] {
        let Place::Clockworker(queues) = arm.place(Duration::from_micros(20)) else { panic!("{arm:?}") };
        queues.map(|queue| (queue.share, queue.request.as_micros()))
    }

    #[test]
    fn queues_are_told_apart_by_share_or_by_request() {
        assert_eq!(queues(Arm::Shares { foreground: 99, background: 1 }), [(99, 500), (1, 20)]);
        assert_eq!(queues(Arm::Requests { foreground: Duration::from_micros(50) }), [(1, 50), (9, 500)]);
    }
}
