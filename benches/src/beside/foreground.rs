//! Foreground tasks on the thread of the executor under test: dispatched as they arrive, their times written
//! down.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{sleep, timeout};

use crate::arms::Contender;
use crate::stopwatch::now;
use crate::workload::arrivals::{Arrival, Segment};
use crate::workload::spin::burn;

/// How long tasks that have arrived may take to end once the last has arrived. What has not ended then is
/// reported as unfinished.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// The lane of the dispatcher and the foreground tasks.
pub const LANE: usize = 0;

/// When a task was first polled and when it ended, as far as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// The start of its first poll.
    pub started: Option<Instant>,
    /// The end of its last segment.
    pub completed: Option<Instant>,
}

/// Takes arrivals, by number, until the other end is closed, and spawns a task for each on the thread of
/// `contender`; then waits until all have ended or the drain limit is over. Returns each task's times.
///
/// The taking itself is done by a dispatcher task in the foreground lane: it competes with the rest, as an
/// accept loop does. Must run inside [`Contender::run_until`].
pub async fn serve<C: Contender>(
    contender: &Rc<C>,
    schedule: Arc<[Arrival]>,
    inbox: UnboundedReceiver<usize>,
) -> Vec<Times> {
    let journal = Rc::new(Journal::new(schedule.len()));
    let dispatcher = dispatch(contender.clone(), schedule, inbox, journal.clone());
    contender.spawn(LANE, dispatcher).await.expect("the dispatcher does not fail");
    journal.times.iter().map(Cell::get).collect()
}

async fn dispatch<C: Contender>(
    contender: Rc<C>,
    schedule: Arc<[Arrival]>,
    mut inbox: UnboundedReceiver<usize>,
    journal: Rc<Journal>,
) {
    while let Some(number) = inbox.recv().await {
        // Its handle is dropped, which detaches the task: the journal hears of its end.
        drop(contender.spawn(LANE, work(number, schedule.clone(), journal.clone())));
    }
    // Who has not ended by the limit is found in the journal.
    let _ = timeout(DRAIN_LIMIT, journal.all_completed()).await;
}

/// One foreground task.
async fn work(number: usize, schedule: Arc<[Arrival]>, journal: Rc<Journal>) {
    journal.started(number);
    for &Segment { pause, cpu } in &schedule[number].segments {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        burn(cpu);
    }
    journal.completed(number);
}

/// What happened to each task of a schedule.
#[derive(Debug)]
struct Journal {
    times: Vec<Cell<Times>>,
    uncompleted: Cell<usize>,
    last_completed: Notify,
}

impl Journal {
    fn new(tasks: usize) -> Self {
        Journal {
            times: vec![Cell::default(); tasks],
            uncompleted: Cell::new(tasks),
            last_completed: Notify::new(),
        }
    }

    fn started(&self, number: usize) {
        self.times[number].set(Times { started: Some(now()), completed: None });
    }

    fn completed(&self, number: usize) {
        let times = &self.times[number];
        times.set(Times { completed: Some(now()), ..times.get() });
        self.uncompleted.set(self.uncompleted.get() - 1);
        if self.uncompleted.get() == 0 {
            self.last_completed.notify_one();
        }
    }

    async fn all_completed(&self) {
        if self.uncompleted.get() > 0 {
            self.last_completed.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{Baseline, OneQueue, TwoQueues, host};
    use crate::workload::arrivals::Pattern;
    use tokio::sync::mpsc::unbounded_channel;

    /// Sends all arrivals at once and returns what became of them.
    fn times_of_all(contender: impl Contender) -> Vec<Times> {
        let schedule: Arc<[Arrival]> = Pattern::USUAL.draw(1, 0, Duration::from_millis(30)).into();
        let (outbox, inbox) = unbounded_channel();
        (0..schedule.len()).for_each(|number| outbox.send(number).unwrap());
        drop(outbox);
        let contender = Rc::new(contender);
        host().block_on(contender.run_until(serve(&contender, schedule, inbox)))
    }

    fn all_start_and_then_end(times: &[Times]) {
        assert!(!times.is_empty());
        assert!(times.iter().all(|times| times.started.unwrap() < times.completed.unwrap()));
    }

    #[test]
    fn every_arrival_is_served_by_every_arm() {
        all_start_and_then_end(&times_of_all(Baseline::default()));
        all_start_and_then_end(&times_of_all(OneQueue::runnable_fifo()));
        all_start_and_then_end(&times_of_all(TwoQueues::alike()));
    }

    #[test]
    fn an_empty_schedule_is_over_at_once() {
        let (outbox, inbox) = unbounded_channel();
        drop(outbox);
        let contender = Rc::new(Baseline::default());
        let times = host().block_on(contender.run_until(serve(&contender, Arc::new([]), inbox)));
        assert!(times.is_empty());
    }
}
