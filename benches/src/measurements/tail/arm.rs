//! The executors whose order of work is compared.

use std::rc::Rc;
use std::time::Duration;

use crate::arms::{Baseline, Contender, OneQueue, host};

use super::schedule::Schedule;
use super::server::{self, Served};

/// Who serves the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// tokio's LocalSet: jobs take turns, piece by piece.
    LocalSet,
    /// Clockworker, in the order of becoming runnable: they take turns too.
    RunnableFifo,
    /// Clockworker, in the order of arrival: first come, first served.
    ArrivalFifo,
    /// Clockworker, least attained service first.
    Las,
    /// Clockworker, least attained service first, to within a power of two.
    Qlas,
    /// Clockworker with one queue, SERPT.
    Serpt,
}

impl Arm {
    /// Every arm, in the order of the tables; the baseline first, and once more (A/A).
    pub const ALL: [Arm; 7] =
        [Arm::LocalSet, Arm::LocalSet, Arm::RunnableFifo, Arm::ArrivalFifo, Arm::Las, Arm::Qlas, Arm::Serpt];

    /// The name in the file of results.
    pub fn key(self) -> &'static str {
        match self {
            Arm::LocalSet => "local_set",
            Arm::RunnableFifo => "runnable_fifo",
            Arm::ArrivalFifo => "arrival_fifo",
            Arm::Las => "las",
            Arm::Qlas => "qlas",
            Arm::Serpt => "serpt",
        }
    }

    /// The name in the tables.
    pub fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::RunnableFifo => "RunnableFifo",
            Arm::ArrivalFifo => "ArrivalFifo",
            Arm::Las => "LAS",
            Arm::Qlas => "QLAS",
            Arm::Serpt => "SERPT",
        }
    }

    /// Serves a schedule on a fresh executor in a fresh host, on this thread.
    pub fn serve(self, schedule: &Rc<Schedule>, piece: Duration) -> Served {
        match self {
            Arm::LocalSet => on(Baseline::default(), schedule, piece),
            Arm::RunnableFifo => on(OneQueue::runnable_fifo(), schedule, piece),
            Arm::ArrivalFifo => on(OneQueue::arrival_fifo(), schedule, piece),
            Arm::Las => on(OneQueue::las(), schedule, piece),
            Arm::Qlas => on(OneQueue::qlas(), schedule, piece),
            Arm::Serpt => on(OneQueue::serpt(), schedule, piece),
        }
    }
}

fn on(contender: impl Contender, schedule: &Rc<Schedule>, piece: Duration) -> Served {
    let contender = Rc::new(contender);
    host().block_on(contender.run_until(server::serve(&contender, schedule, piece)))
}
