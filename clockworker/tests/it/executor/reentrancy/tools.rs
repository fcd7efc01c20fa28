//! What user code can get hold of, and a use of all of it.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::{Rc, Weak};
use std::task::Poll;

use clockworker::schedulers::{Las, Qlas};
use clockworker::{
    AbortHandle, Executor, Group, Handle, JoinHandle, Queue, should_yield, spawn_local, yield_now,
};

use crate::support::{
    HookedWaker, OnDrop, Probe, WakerCall, assert_balanced, output, poll_once, probed, settle,
};

/// An executor, and what a destructor can get hold of.
pub(super) struct Tools {
    executor: Weak<Executor>,
    pub(super) queue: Queue,
    pub(super) probe: Rc<Probe>,
    pub(super) victim: AbortHandle,
    pub(super) victim_drops: Rc<Probe>,
    pub(super) joined: RefCell<Option<JoinHandle<u32>>>,
    pub(super) detached: RefCell<Option<JoinHandle<()>>>,
    finished: RefCell<Option<JoinHandle<i32>>>,
    last_group: RefCell<Option<Group>>,
    doomed: Queue,
    handle: Handle,
    /// What it spawned.
    spawned: RefCell<Vec<JoinHandle<i32>>>,
    pub(super) uses: Cell<u32>,
    /// The executor takes no more tasks.
    refuses: Cell<bool>,
}

thread_local! {
    /// For closures that are `Send`.
    static TOOLS: RefCell<Option<Rc<Tools>>> = const { RefCell::new(None) };
}

/// Uses everything there is.
pub(super) fn use_all() {
    TOOLS.with_borrow(Clone::clone).expect("they are set").use_all();
}

/// Uses everything there is when it is dropped.
pub(super) fn uses_all_on_drop() -> OnDrop<impl FnOnce() + Send + 'static> {
    OnDrop::new(use_all)
}

/// Uses everything there is at a call of its waker.
pub(super) fn uses_all_at(ex: &Rc<Executor>, at: WakerCall) -> HookedWaker {
    let ex = Rc::downgrade(ex);
    HookedWaker::new(at, move || {
        let ex = ex.upgrade().expect("it is not dropped before");
        let _entered = ex.enter();
        use_all();
    })
}

impl Tools {
    /// Those that are used from now on.
    pub(super) fn new(ex: &Rc<Executor>) -> Rc<Self> {
        let queue = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
        let doomed = ex.new_queue("doomed").scheduler(Qlas::new()).create().unwrap();
        let (probe, joined) = probed(ex);
        let victim_drops = Probe::new();
        let victim = queue.spawn(victim_drops.future()).abort_handle();
        let detached = queue.spawn(pending());
        let finished = ex.spawn(async { 11 });
        settle(ex);
        let tools = Rc::new(Self {
            executor: Rc::downgrade(ex),
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
            spawned: RefCell::default(),
            uses: Cell::default(),
            refuses: Cell::default(),
        });
        TOOLS.set(Some(Rc::clone(&tools)));
        tools
    }

    /// When they are used, the executor takes no more tasks.
    pub(super) fn expect_refusals(&self) {
        self.refuses.set(true);
    }

    fn use_all(&self) {
        self.uses.set(self.uses.get() + 1);
        let refuses = self.refuses.get();
        let mut spawned = self.spawned.borrow_mut();
        spawned.push(spawn_local(async { 1 }));
        spawned.push(self.queue.spawn(async {
            yield_now().await;
            2
        }));
        spawned.push(self.queue.group(9).spawn(async { 3 }));
        spawned.push(self.handle.spawn(|| async { 4 }));
        spawned.push(self.handle.spawn_on("las", || async { 5 }));
        if refuses {
            for mut task in spawned.drain(..) {
                assert!(matches!(poll_once(&mut task), Poll::Ready(Err(error)) if error.is_refused()));
            }
        }
        self.probe.waker().wake();
        self.victim.abort();
        let drops = self.victim_drops.drops.get();
        if let Some(mut handle) = self.joined.take() {
            match poll_once(&mut handle) {
                Poll::Pending => drop(self.joined.replace(Some(handle))),
                Poll::Ready(result) => assert!(refuses && result.unwrap_err().is_cancelled()),
            }
        }
        if let Some(handle) = self.finished.take() {
            assert_eq!(output(handle).unwrap(), 11);
        }
        drop(self.detached.take());
        drop(self.last_group.take());
        let created = self.executor.upgrade().map(|ex| {
            let _ = ex.stats();
            ex.new_queue("created").scheduler(Las::new()).create().map(|queue| queue.close())
        });
        assert!(!refuses || !matches!(created, Some(Ok(()))));
        self.doomed.close();
        let _ = self.queue.set_share(7);
        let _ = self.queue.stats();
        let _ = format!("{:?} {:?} {:?}", self.queue, self.handle, self.joined);
        let _ = should_yield();
        let _ = poll_once(&mut yield_now());
        assert_eq!(self.victim_drops.drops.get(), drops, "no other future is dropped on this stack");
    }

    /// They were used once, and everything that was done came to its end.
    pub(super) fn assert_after(&self, ex: &Executor) {
        settle(ex);
        assert_eq!(self.uses.get(), 1);
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
