//! Load shedding, in virtual time: who is refused under an overload, who is not, and what is counted.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::RunnableFifo;
use clockworker::{Executor, LoadShedding, Queue, yield_now};

use crate::support::*;

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
    ex: Executor,
    queue: Queue,
    waits: Waits,
}

impl Service {
    fn new(shedding: Option<LoadShedding>) -> Self {
        let ex = world();
        let queue = ex.new_queue("service").scheduler(RunnableFifo::new()).create().unwrap();
        queue.set_load_shedding(shedding).unwrap();
        Self { ex, queue, waits: Rc::default() }
    }

    /// With nothing but its backlog to do.
    fn overloaded() -> Self {
        let service = Self::new(usual());
        service.serve(SERVICE / 2, 300 * MS);
        assert!(service.queue.try_spawn(pending::<()>()).unwrap_err().is_shed());
        service
    }

    /// A request that comes now.
    fn request(&self) -> impl Future<Output = ()> + use<> {
        let (waits, spawned) = (Rc::clone(&self.waits), now());
        async move {
            waits.borrow_mut().push((spawned, now() - spawned));
            work(SERVICE);
        }
    }

    /// Does something every so often until `end`; how many are refused.
    fn every(&self, time: Duration, end: Duration, does: impl Fn()) -> u64 {
        let refused = self.queue.stats().shed;
        run(&self.ex, async {
            let mut due = now();
            while due < end {
                sleep_until(due).await;
                does();
                due += time;
            }
        });
        self.queue.stats().shed - refused
    }

    /// Requests come every so often until `end`; how many are refused.
    fn serve(&self, every: Duration, end: Duration) -> u64 {
        self.every(every, end, || {
            if let Err(error) = self.queue.try_spawn(self.request()) {
                assert!(error.is_shed() && !error.is_full(), "{error}");
            }
        })
    }

    /// The shortest and the longest wait of those that came from then on.
    fn waits(&self, from: Duration) -> (Duration, Duration) {
        let waits = self.waits.borrow();
        let since = waits.iter().filter(|(spawned, _)| *spawned >= from).map(|(_, wait)| *wait);
        (since.clone().min().unwrap_or_default(), since.max().unwrap_or_default())
    }
}

#[test]
fn an_overload_settles_at_twice_the_target_or_grows_without_end() {
    // Half as much again as can be served.
    let every = SERVICE * 2 / 3;
    let open = Service::new(None);
    assert_eq!(open.serve(every, 3 * SECOND), 0);
    // The last that is served had two thirds of its time to wait in front of it, a third behind it.
    let (_, grown) = open.waits(Duration::ZERO);
    assert!(grown >= 990 * MS && grown <= 1_010 * MS, "{grown:?}");

    let shed = Service::new(usual());
    let refused = shed.serve(every, 3 * SECOND);
    // Two intervals until it is known, and one to get rid of what has come by then.
    let (shortest, longest) = shed.waits(400 * MS);
    assert!(shortest >= 9 * MS && longest <= 10 * MS + 2 * SERVICE, "{shortest:?} {longest:?}");
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
    assert!(service.waits(3 * SECOND).1 < MS);
}

#[test]
fn a_burst_that_is_served_within_an_interval_is_not_refused() {
    let service = Service::new(usual());
    for second in 0..5 {
        // Beside a load of a half: served in 90 ms.
        (0..450).for_each(|_| drop(service.queue.try_spawn(service.request()).unwrap()));
        assert_eq!(service.serve(SERVICE * 2, (second + 1) * SECOND), 0);
    }
    assert!(service.waits(Duration::ZERO).1 > 40 * MS);
}

#[test]
fn a_queue_that_is_not_served_is_overloaded() {
    let service = Service::new(usual());
    // A favoured queue takes the thread.
    let favoured = service.ex.new_queue("favoured").share(1_000_000).create().unwrap();
    favoured.spawn(async {
        while now() < SECOND {
            work(MS);
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
    let longest = Rc::new(RefCell::new(Duration::ZERO));
    service.every(SERVICE * 2 / 3, SECOND, || {
        let (queue, request, longest) = (service.queue.clone(), service.request(), Rc::clone(&longest));
        // In another queue, so that only requests wait in this one.
        service.ex.spawn(async move {
            let since = now();
            queue.spawn_when_room(request).await.unwrap();
            longest.replace_with(|longest| (now() - since).max(*longest));
        });
    });
    let stats = service.queue.stats();
    assert_eq!((stats.refused, stats.shed), (0, 0));
    assert!(stats.waiting > 3_000, "{}", stats.waiting);
    assert!(stats.live <= 110, "10 ms of work stand in the queue: {}", stats.live);
    // The line is served to its end.
    drain(&service.ex);
    let came = service.ex.default_queue().stats().spawned;
    assert_eq!((service.queue.stats().waiting, service.queue.stats().completed), (0, came));
    assert!(*longest.borrow() > 300 * MS);
}

#[test]
fn a_refusal_says_so_whatever_spawns() {
    let service = Service::overloaded();
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
    let service = Service::overloaded();
    let handle = service.ex.handle();
    let remote = elsewhere(|| handle.spawn_on("service", || async {}));
    settle(&service.ex);
    assert!(output(remote).unwrap_err().is_shed());
}

/// The group of each is opened between the question whether it is taken and its spawn.
#[test]
fn the_wait_of_tasks_that_open_their_groups_is_measured() {
    let service = Service::new(usual());
    let (handle, key) = (service.ex.handle(), RefCell::new(0..));
    let shed = service.every(SERVICE / 2, 3_000 * SERVICE, || {
        let key = key.borrow_mut().next().unwrap();
        drop(handle.spawn_in("service", key, || async { work(SERVICE) }));
    });
    assert!(shed > 1_000, "{shed}");
}

#[test]
fn other_settings_begin_anew_and_the_same_change_nothing() {
    let service = Service::overloaded();
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
    run(&service.ex, async {
        for _ in 0..40 {
            let task = service.queue.try_spawn(pending::<()>()).unwrap();
            work(10 * MS);
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
