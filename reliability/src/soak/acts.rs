//! What a task, or the future that is run, does at random without waiting.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use clockworker::DEFAULT_QUEUE;
use clockworker_testing::hostile::{Call, Fault, Faulty, Hostile, Misdeed};
use clockworker_testing::panics::{PanicsWhenDropped, drop_contained, panic_as_meant};
use clockworker_testing::policy::Policy;

use super::ledger::{Tally, resolved};
use super::shared::{KEPT, Shared, take};
use super::tasks::{self, Opener};

/// What a hostile scheduler does, from some call on.
const FAULTS: [Fault; 8] = [
    Fault::Does(Misdeed::LosePushed),
    Fault::Does(Misdeed::Repeat),
    Fault::Does(Misdeed::InventSlot),
    Fault::Does(Misdeed::ClaimEmpty),
    Fault::Panics(Call::Push),
    Fault::Panics(Call::Pop),
    Fault::Panics(Call::Served),
    Fault::Panics(Call::Finished),
];

impl Shared {
    pub(super) fn act(&self) {
        let drawn = self.rng.borrow_mut().u32(..46);
        self.note(u64::MAX, drawn);
        self.ledger.beat();
        match drawn {
            0..10 => self.spawn().into_iter().for_each(|task| self.keep(task)),
            10..14 => self.spawn_remotely(),
            14..18 => self.abort(),
            18..23 => drop(take(&self.rng, &self.handles)),
            23..26 => self.send_handle(),
            26..30 => self.wake(),
            30..36 => take(&self.rng, &self.openers).into_iter().for_each(Opener::open),
            36..38 => self.touch(),
            38 => self.create_queue(),
            39 => self.close_queue(),
            40..42 => self.reshare(),
            _ => self.work(),
        }
    }

    fn spawn_remotely(&self) {
        let Some(id) = self.next_id() else { return };
        let queue =
            if self.remote_on_default { DEFAULT_QUEUE.to_owned() } else { self.a_queue().name().to_owned() };
        let (handle, ledger, awaited) = (self.ex.handle(), Arc::clone(&self.ledger), self.one_in(2));
        let spawn = move || tasks::spawn_on(&handle, &queue, &ledger, id);
        let Some(thread) = self.a_thread() else { return self.keep((id, spawn())) };
        let awaiter = self.awaiter.borrow().clone().filter(|_| awaited);
        drop(thread.send(Box::new(move || {
            let task = spawn();
            if let Some(awaiter) = awaiter {
                drop(awaiter.send(task));
            }
        })));
    }

    /// Aborts a task: here, on another thread, on both, or after all not.
    fn abort(&self) {
        let Some(task) = take(&self.rng, &self.aborts) else { return };
        let asks = self.one_in(2);
        let thread = asks.then(|| self.a_thread()).flatten();
        let is_left = (thread.is_some() || !asks) && self.one_in(2);
        if let Some(thread) = thread {
            let task = task.clone();
            drop(thread.send(Box::new(move || task.abort())));
        }
        if !is_left {
            task.abort();
        }
        self.aborts.borrow_mut().truncate(KEPT * 2);
    }

    fn send_handle(&self) {
        let Some((_, task)) = take(&self.rng, &self.handles) else { return };
        if let Some(awaiter) = &*self.awaiter.borrow() {
            drop(awaiter.send(task));
        }
    }

    fn wake(&self) {
        let Some(waker) = take(&self.rng, &self.wakers) else { return };
        match self.a_thread() {
            Some(thread) => drop(thread.send(Box::new(move || waker.wake_by_ref()))),
            None => waker.wake(),
        }
    }

    /// Polls a handle with a waker that panics.
    fn touch(&self) {
        let Some((id, mut task)) = take(&self.rng, &self.handles) else { return };
        let (in_wake, in_drop) = (self.one_in(2), self.one_in(2).then(|| PanicsWhenDropped));
        let waker = Waker::from(Arc::new(Touchy { in_wake, _in_drop: in_drop }));
        let polled = Pin::new(&mut task).poll(&mut Context::from_waker(&waker));
        drop_contained(waker);
        match polled {
            Poll::Ready(result) => resolved(&self.ledger, result),
            Poll::Pending => self.keep((id, task)),
        }
    }

    fn create_queue(&self) {
        if self.queues.borrow().len() > 8 {
            return self.close_queue();
        }
        let name = format!("queue {}", self.all_queues.borrow().len());
        let share = 1 + self.below(100) as u32;
        let request = Duration::from_micros(1 + self.below(500) as u64);
        let queue = self.ex.new_queue(&name).share(share).request(request);
        let created = match self.below(11) {
            // All but the default, which is the default queue's.
            n @ 0..10 => Policy::ALL[1 + n / 2].create(queue),
            _ => {
                self.ledger.add(Tally::HostileQueues);
                let fault = FAULTS[self.below(FAULTS.len())];
                let plan = Faulty::for_ever(fault, self.below(60) as u32);
                queue.scheduler(Hostile::<Faulty>::new(plan)).create()
            }
        };
        // Refused once the executor was shut down.
        if let Ok(queue) = created {
            self.queues.borrow_mut().push(queue.clone());
            self.all_queues.borrow_mut().push(queue);
        }
    }

    /// Half of those closed stay among those to spawn on, for a while.
    fn close_queue(&self) {
        let len = self.queues.borrow().len();
        if len == 1 {
            return;
        }
        let at = 1 + self.below(len - 1);
        let queue = self.queues.borrow()[at].clone();
        queue.close();
        if self.one_in(2) || len > 8 {
            self.queues.borrow_mut().remove(at);
        }
    }

    fn reshare(&self) {
        let queue = self.a_queue();
        // A queue that is gone refuses.
        let _ = queue.set_share(1 + self.below(100) as u32);
        let _ = queue.set_request(Duration::from_micros(1 + self.below(500) as u64));
    }

    fn work(&self) {
        match &self.clock {
            Some(clock) => clock.advance(Duration::from_micros(self.below(100) as u64)),
            None => (0..self.below(1_000)).for_each(|_| std::hint::spin_loop()),
        }
    }
}

struct Touchy {
    in_wake: bool,
    _in_drop: Option<PanicsWhenDropped>,
}

impl Wake for Touchy {
    fn wake(self: Arc<Self>) {
        if self.in_wake {
            panic_as_meant();
        }
    }
}
