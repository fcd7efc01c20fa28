//! Load shedding, in virtual time: who is refused under an overload, who is not, and what is counted.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::RunnableFifo;
use clockworker::{Executor, LoadShedding, Queue, yield_now};

use crate::support::{VirtualTime, output, settle, us};

const MS: Duration = us(1_000);
const SECOND: Duration = us(1_000_000);
/// What a request takes: in one poll.
const SERVICE: Duration = us(100);

/// A target of 5 ms, an interval of 100 ms.
fn usual() -> Option<LoadShedding> {
    Some(LoadShedding::default())
}

/// When each request that was served was spawned, and how long it waited for its first poll.
type Waits = Rc<RefCell<Vec<(Duration, Duration)>>>;

/// A queue on virtual time, to which requests come.
struct Service {
    sim: VirtualTime,
    ex: Executor,
    queue: Queue,
    waits: Waits,
}

impl Service {
    fn new(shedding: Option<LoadShedding>) -> Self {
        let sim = VirtualTime::new();
        let ex = sim.executor();
        let queue = ex.new_queue("service").scheduler(RunnableFifo::new()).create().unwrap();
        queue.set_load_shedding(shedding).unwrap();
        Self { sim, ex, queue, waits: Rc::default() }
    }

    /// A request that comes now.
    fn request(&self) -> impl Future<Output = ()> + use<> {
        let (sim, waits, spawned) = (self.sim.clone(), Rc::clone(&self.waits), self.sim.now());
        async move {
            waits.borrow_mut().push((spawned, sim.now() - spawned));
            sim.work(SERVICE);
        }
    }

    /// Requests come every so often until `end`; how many are refused.
    fn serve(&self, every: Duration, end: Duration) -> u64 {
        let refused = self.queue.stats().shed;
        self.sim.run(&self.ex, async {
            let mut due = self.sim.now();
            while due < end {
                self.sim.sleep_until(due).await;
                if let Err(error) = self.queue.try_spawn(self.request()) {
                    assert!(error.is_shed() && !error.is_full(), "{error}");
                }
                due += every;
            }
        });
        self.queue.stats().shed - refused
    }

    /// The longest wait of those that came from then on.
    fn longest(&self, from: Duration) -> Duration {
        let waits = self.waits.borrow();
        waits.iter().filter(|(spawned, _)| *spawned >= from).map(|(_, wait)| *wait).max().unwrap_or_default()
    }

    fn shortest(&self, from: Duration) -> Duration {
        let waits = self.waits.borrow();
        waits.iter().filter(|(spawned, _)| *spawned >= from).map(|(_, wait)| *wait).min().unwrap_or_default()
    }
}

#[test]
fn an_overload_settles_at_twice_the_target_and_grows_without_end_where_nothing_is_shed() {
    // Half as much again as can be served.
    let every = SERVICE * 2 / 3;
    let open = Service::new(None);
    assert_eq!(open.serve(every, 3 * SECOND), 0);
    // The last that is served had two thirds of its time to wait in front of it, a third behind it.
    let grown = open.longest(Duration::ZERO);
    assert!(grown >= 990 * MS && grown <= 1_010 * MS, "{grown:?}");

    let shed = Service::new(usual());
    let refused = shed.serve(every, 3 * SECOND);
    // Two intervals until it is known, and one to get rid of what has come by then.
    let settled = 400 * MS;
    let waits = shed.shortest(settled)..=shed.longest(settled);
    assert!(*waits.start() >= 9 * MS && *waits.end() <= 10 * MS + 2 * SERVICE, "{waits:?}");
    let stats = shed.queue.stats();
    assert_eq!(stats.busy, 3 * SECOND, "it is never without work");
    assert_eq!((stats.refused, stats.shed), (refused, refused));
    assert!(refused.abs_diff(15_000) <= 300, "a third: {refused}");
}

#[test]
fn after_an_overload_nothing_is_refused() {
    let service = Service::new(usual());
    assert!(service.serve(SERVICE / 2, SECOND) > 0);
    // Load 0.9: the delay falls below the target, and with the interval ends the overload.
    assert!(service.serve(SERVICE * 10 / 9, 2 * SECOND) < 100);
    assert_eq!(service.serve(SERVICE * 10 / 9, 4 * SECOND), 0);
    assert!(service.longest(3 * SECOND) < MS);
}

#[test]
fn a_burst_that_is_served_within_an_interval_is_not_refused() {
    let service = Service::new(usual());
    for second in 0..5 {
        // Beside a load of a half: served in 90 ms.
        let burst: Vec<_> = (0..450).map(|_| service.queue.try_spawn(service.request()).unwrap()).collect();
        assert_eq!(service.serve(SERVICE * 2, (second + 1) * SECOND), 0);
        drop(burst);
    }
    assert!(service.longest(Duration::ZERO) > 40 * MS);
}

#[test]
fn a_queue_that_is_not_served_is_overloaded() {
    let service = Service::new(usual());
    // A favoured queue takes the thread.
    let favoured = service.ex.new_queue("favoured").share(1_000_000).create().unwrap();
    let sim = service.sim.clone();
    favoured.spawn(async move {
        while sim.now() < SECOND {
            sim.work(MS);
            yield_now().await;
        }
    });
    let refused = service.serve(10 * MS, SECOND);
    assert!((70..=90).contains(&refused), "100 came, in the first two intervals 20: {refused}");
    // Until it is served again, which takes two more.
    assert_eq!(service.serve(10 * MS, 2 * SECOND), 2);
}

#[test]
fn those_who_wait_for_room_wait_until_the_delay_is_short() {
    let service = Service::new(usual());
    let (waiting, mut came) = (Rc::new(RefCell::new(Vec::new())), 0);
    service.sim.run(&service.ex, async {
        let mut due = Duration::ZERO;
        while due < SECOND {
            service.sim.sleep_until(due).await;
            let (queue, request, waiting) = (service.queue.clone(), service.request(), Rc::clone(&waiting));
            let sim = service.sim.clone();
            // In another queue, so that only requests wait in this one.
            service.ex.spawn(async move {
                let since = sim.now();
                queue.spawn_when_room(request).await.unwrap();
                waiting.borrow_mut().push(sim.now() - since);
            });
            (due, came) = (due + SERVICE * 2 / 3, came + 1);
        }
    });
    let stats = service.queue.stats();
    assert_eq!((stats.refused, stats.shed), (0, 0));
    assert!(stats.waiting > 3_000, "{}", stats.waiting);
    assert!(stats.live <= 110, "10 ms of work stand in the queue: {}", stats.live);
    // The line is served to its end.
    service.sim.drain(&service.ex);
    assert_eq!((service.queue.stats().waiting, service.queue.stats().completed), (0, came));
    assert!(waiting.borrow().iter().max() > Some(&(300 * MS)));
}

/// A service that is overloaded, with nothing but its backlog to do.
fn overloaded() -> Service {
    let service = Service::new(usual());
    service.serve(SERVICE / 2, 300 * MS);
    assert!(service.queue.try_spawn(pending::<()>()).unwrap_err().is_shed());
    service
}

#[test]
fn a_refusal_says_so_whatever_spawns() {
    let service = overloaded();
    let before = service.queue.stats().shed;
    let error = output(service.queue.spawn(async {})).unwrap_err();
    assert!(error.is_shed() && error.is_refused() && error.is_cancelled() && !error.is_full(), "{error}");
    assert!(error.to_string().ends_with("was refused: its queue is overloaded"), "{error}");
    assert!(output(service.queue.group(1).spawn(async {})).unwrap_err().is_shed());
    assert!(service.queue.group(1).try_spawn(async {}).unwrap_err().is_shed());
    let error = service.queue.try_spawn(async { 7 }).unwrap_err();
    assert_eq!(error.to_string(), "the task was refused: its queue is overloaded");
    assert_eq!(service.ex.block_on(error.into_future()), 7);
    assert_eq!(service.queue.stats().shed - before, 4);
}

#[test]
fn a_task_from_another_thread_is_refused_when_it_arrives() {
    let service = overloaded();
    let handle = service.ex.handle();
    let remote = std::thread::spawn(move || handle.spawn_on("service", || async {})).join().unwrap();
    settle(&service.ex);
    assert!(output(remote).unwrap_err().is_shed());
}

thread_local! {
    /// For tasks whose makers have to be `Send`.
    static TIME: RefCell<Option<VirtualTime>> = const { RefCell::new(None) };
}

/// The group of each is opened between the question whether it is taken and its spawn.
#[test]
fn the_wait_of_tasks_that_open_their_groups_is_measured() {
    let service = Service::new(usual());
    TIME.replace(Some(service.sim.clone()));
    let handle = service.ex.handle();
    service.sim.run(&service.ex, async {
        for key in 0..6_000 {
            service.sim.sleep_until(key * SERVICE / 2).await;
            drop(handle.spawn_in("service", key.into(), || async {
                TIME.with_borrow(|sim| sim.as_ref().unwrap().work(SERVICE));
            }));
        }
    });
    TIME.take();
    assert!(service.queue.stats().shed > 1_000, "{}", service.queue.stats().shed);
}

#[test]
fn other_settings_begin_anew_and_the_same_change_nothing() {
    let service = overloaded();
    service.queue.set_load_shedding(usual()).unwrap();
    assert!(service.queue.try_spawn(async {}).is_err());
    let other = LoadShedding::new(5 * MS, 50 * MS).unwrap();
    service.queue.set_load_shedding(Some(other)).unwrap();
    assert_eq!(service.queue.load_shedding(), Some(other));
    assert!(service.queue.try_spawn(async {}).is_ok());
    service.queue.set_load_shedding(None).unwrap();
    assert_eq!(service.queue.load_shedding(), None);
    service.queue.close();
    settle(&service.ex);
    assert!(service.queue.set_load_shedding(usual()).unwrap_err().is_closed());
}

#[test]
fn aborted_tasks_are_not_measured() {
    let service = Service::new(usual());
    // Each probe is aborted while it waits; nobody else is spawned.
    service.sim.run(&service.ex, async {
        for _ in 0..40 {
            let task = service.queue.try_spawn(pending::<()>()).unwrap();
            service.sim.work(10 * MS);
            task.abort();
            yield_now().await;
        }
    });
    assert_eq!(service.queue.stats().shed, 0);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let error = LoadShedding::new(Duration::ZERO, MS).unwrap_err();
    assert!(error.is_target() && !error.is_interval());
    assert_eq!(error.to_string(), "the target delay of load shedding must be more than zero");
    let error = LoadShedding::new(MS, us(999)).unwrap_err();
    assert!(error.is_interval() && !error.is_target());
    assert_eq!(error.to_string(), "the interval of load shedding is at least its target, 1ms, not 999µs");
    let settings = LoadShedding::new(MS, MS).unwrap();
    assert_eq!((settings.target(), settings.interval()), (MS, MS));
}
