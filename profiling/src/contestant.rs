//! The executors that can be profiled.

use clap::ValueEnum;
use clockworker::schedulers::{ArrivalFifo, Las, Qlas, RunnableFifo, Serpt};
use clockworker_benches::arms::bracketed::bracketed;
use clockworker_benches::arms::{Baseline, OneQueue, TwoQueues};
use clockworker_benches::workload::shape::Shape;

/// An executor, and how it is set up. The same as in `clockworker-benches compare`, and the order-of-spawn policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contestant {
    /// tokio's LocalSet
    LocalSet,
    /// Clockworker with one queue, RunnableFifo
    #[default]
    RunnableFifo,
    /// One queue, ArrivalFifo
    ArrivalFifo,
    /// Two queues with equal shares, RunnableFifo in both; tasks go to either in turn
    TwoQueues,
    /// One queue, QLAS
    Qlas,
    /// One queue, LAS
    Las,
    /// One queue, SERPT
    Serpt,
}

impl Contestant {
    /// Runs `shape` once on a fresh executor in a fresh host, with `begin` before the first spawn and `end` after the
    /// last join.
    pub(crate) fn run<B, T>(self, shape: Shape, begin: impl FnOnce() -> B, end: impl FnOnce(B) -> T) -> T {
        match self {
            Contestant::LocalSet => bracketed(&Baseline::default(), shape, begin, end),
            Contestant::RunnableFifo => bracketed(&OneQueue::under::<RunnableFifo>(), shape, begin, end),
            Contestant::ArrivalFifo => bracketed(&OneQueue::under::<ArrivalFifo>(), shape, begin, end),
            Contestant::TwoQueues => bracketed(&TwoQueues::alike(), shape, begin, end),
            Contestant::Qlas => bracketed(&OneQueue::under::<Qlas>(), shape, begin, end),
            Contestant::Las => bracketed(&OneQueue::under::<Las>(), shape, begin, end),
            Contestant::Serpt => bracketed(&OneQueue::under::<Serpt>(), shape, begin, end),
        }
    }
}
