//! What user code can get hold of, and a use of all of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use clockworker::schedulers::{Las, Qlas};
use clockworker::{AbortHandle, Executor, Group, JoinHandle, Queue, should_yield, spawn_local, yield_now};

use crate::support::{OnDrop, Probe, assert_balanced, output, poll_once, settle};

/// What a destructor can get hold of.
pub(crate) struct Tools {
    pub(crate) queue: Queue,
    pub(crate) probe: Rc<Probe>,
    pub(crate) victim: AbortHandle,
    pub(crate) victim_drops: Rc<Probe>,
    pub(crate) joined: RefCell<Option<JoinHandle<u32>>>,
    pub(crate) detached: RefCell<Option<JoinHandle<()>>>,
    finished: RefCell<Option<JoinHandle<i32>>>,
    last_group: RefCell<Option<Group>>,
    doomed: Queue,
    handle: clockworker::Handle,
    executor: OnceCell<std::rc::Weak<Executor>>,
    /// What it spawned.
    spawned: RefCell<Vec<JoinHandle<i32>>>,
    pub(crate) uses: Cell<u32>,
}

impl Tools {
    pub(crate) fn new(ex: &Rc<Executor>) -> Rc<Self> {
        let queue = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
        let doomed = ex.new_queue("doomed").scheduler(Qlas::new()).create().unwrap();
        let (probe, victim_drops) = (Probe::new(), Probe::new());
        let joined = ex.spawn(probe.future());
        let victim = queue.spawn(victim_drops.future()).abort_handle();
        let detached = queue.spawn(pending());
        let finished = ex.spawn(async { 11 });
        settle(ex);
        let tools = Self {
            last_group: RefCell::new(Some(queue.group(5))),
            queue,
            probe,
            victim,
            victim_drops,
            joined: RefCell::new(Some(joined)),
            detached: RefCell::new(Some(detached)),
            finished: RefCell::new(Some(finished)),
            doomed,
            handle: ex.handle(),
            executor: OnceCell::new(),
            spawned: RefCell::default(),
            uses: Cell::new(0),
        };
        tools.executor.set(Rc::downgrade(ex)).unwrap();
        Rc::new(tools)
    }

    /// Uses everything there is. `alive` says that the executor takes tasks.
    pub(crate) fn use_all(&self, alive: bool) {
        self.uses.set(self.uses.get() + 1);
        let mut spawned = self.spawned.borrow_mut();
        spawned.push(spawn_local(async { 1 }));
        spawned.push(self.queue.spawn(async {
            yield_now().await;
            2
        }));
        spawned.push(self.queue.group(9).spawn(async { 3 }));
        spawned.push(self.handle.spawn(|| async { 4 }));
        spawned.push(self.handle.spawn_on("las", || async { 5 }));
        if !alive {
            // Those on other threads' way may be told later.
            assert!(
                spawned
                    .iter_mut()
                    .all(|task| matches!(poll_once(task), Poll::Ready(Err(e)) if e.is_refused()))
            );
            spawned.clear();
        }
        self.probe.waker().wake();
        self.victim.abort();
        let drops = self.victim_drops.drops.get();
        if let Some(mut handle) = self.joined.take() {
            match poll_once(&mut handle) {
                Poll::Pending => drop(self.joined.replace(Some(handle))),
                Poll::Ready(result) => assert!(!alive && result.unwrap_err().is_cancelled()),
            }
        }
        if let Some(handle) = self.finished.take() {
            assert_eq!(output(handle).unwrap(), 11);
        }
        drop(self.detached.take());
        drop(self.last_group.take());
        let created = self.executor.get().and_then(std::rc::Weak::upgrade).map(|ex| {
            let _ = ex.stats();
            ex.new_queue("created").scheduler(Las::new()).create().map(|queue| queue.close())
        });
        assert!(alive || !matches!(created, Some(Ok(()))));
        self.doomed.close();
        let _ = self.queue.set_share(7);
        let _ = self.queue.stats();
        let _ = format!("{:?} {:?} {:?}", self.queue, self.handle, self.joined);
        let _ = should_yield();
        let mut yielding = pin!(yield_now());
        let _ = poll_once(&mut yielding);
        assert_eq!(self.victim_drops.drops.get(), drops, "no other future is dropped on this stack");
    }

    /// Everything it did came to its end.
    pub(crate) fn assert_after(&self, ex: &Executor) {
        assert_eq!(self.uses.get(), 1);
        settle(ex);
        assert_eq!(self.victim_drops.drops.get(), 1);
        assert_eq!(self.probe.polls.get(), 2);
        let outputs: Vec<i32> = self.spawned.take().into_iter().map(|task| output(task).unwrap()).collect();
        assert_eq!(outputs, [1, 2, 3, 4, 5]);
        let stats = ex.stats();
        assert_balanced(&stats);
        assert!(stats.queues.iter().all(|queue| queue.policy_fault.is_none() && queue.name != "doomed"));
        assert_eq!(stats.ready, 0);
    }
}

pub(crate) fn on_drop(tools: &Rc<Tools>, alive: bool) -> OnDrop<impl FnOnce() + 'static> {
    let tools = Rc::clone(tools);
    OnDrop::new(move || tools.use_all(alive))
}
