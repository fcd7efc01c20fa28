//! Share over time: EEVDF itself, in virtual time.
//!
//! Nothing is measured here. Queues that always have work are picked and charged as the executor picks and charges them,
//! poll by poll, and what they got is drawn beside what they are owed. The same on every machine.

use clockworker::schedulers::{Eevdf, Share};

use crate::page::{Axis, Chapter, Headline, Outcome, Plot, Scale, Section, Side, Table, Unit};

const MILLI: u64 = 1_000_000;

const END: u64 = 1_000 * MILLI;

const SOON: u64 = 50 * MILLI;

/// The second picture: shares of each such window, up to its end.
const WINDOW: u64 = 10 * MILLI;
const WINDOWS: u64 = 60;

/// When the third queue comes and goes.
const GUEST: [u64; 2] = [200 * MILLI, 400 * MILLI];

/// What each queue asks for per turn: the executor's default.
const REQUEST: u64 = clockworker::DEFAULT_REQUEST.as_nanos() as u64;

#[derive(Clone, Copy, Debug)]
struct Queue {
    name: &'static str,
    share: u32,
    poll_ns: u64,
}

const QUEUES: [Queue; 3] = [
    Queue { name: "foreground", share: 6, poll_ns: 30_000 },
    Queue { name: "batch", share: 3, poll_ns: 100_000 },
    Queue { name: "guest", share: 1, poll_ns: 70_000 },
];

/// Service got by each queue: (when, how much since the start), after every poll.
type Service = [Vec<(u64, u64)>; QUEUES.len()];

pub fn chapter() -> Chapter {
    let always = run([0, END]);
    let guest = run(GUEST);
    let section = Section {
        title: "Shares over time".to_owned(),
        question: "How soon, and how exactly, does each queue get its share?".to_owned(),
        command: crate::harness::heading::command("report"),
        method: format!(
            "EEVDF as the executor has it, in virtual time: not measured, the same on every machine. Queues that always \
             have work, with polls of {}, and requests of {} µs.",
            QUEUES
                .map(|queue| format!("{} µs ({}, share {})", queue.poll_ns / 1_000, queue.name, queue.share))
                .join(", "),
            REQUEST / 1_000
        ),
        plots: [so_far(&always), by_window(&guest)].into_iter().flatten().collect(),
        tables: vec![table(&always)],
        ..Section::default()
    };
    Chapter { headlines: vec![headline(&always)], sections: vec![section] }
}

/// Runs the queues until the end, the last one only while it is there.
fn run([comes, goes]: [u64; 2]) -> Service {
    let mut eevdf = Eevdf::new();
    let queues = QUEUES.map(|queue| eevdf.add(Share::new(queue.share).expect("above 0"), REQUEST));
    let guest = queues[QUEUES.len() - 1];
    let mut service: Service = Default::default();
    let mut got = [0; QUEUES.len()];
    let mut now = 0;
    queues[..QUEUES.len() - 1].iter().for_each(|&queue| eevdf.wake(queue));
    let mut is_here = false;
    while now < END {
        match (is_here, (comes..goes).contains(&now)) {
            (false, true) => eevdf.wake(guest),
            (true, false) => eevdf.sleep(guest),
            _ => {}
        }
        is_here = (comes..goes).contains(&now);
        let Some(queue) = eevdf.pick() else { break };
        let place = queues.iter().position(|&other| other == queue).expect("what is picked was added");
        let poll_ns = QUEUES[place].poll_ns;
        eevdf.charge(queue, poll_ns);
        now += poll_ns;
        got[place] += poll_ns;
        service[place].push((now, got[place]));
    }
    service
}

fn got_by(service: &[(u64, u64)], when: u64) -> u64 {
    let polls = service.partition_point(|&(now, _)| now <= when);
    polls.checked_sub(1).map_or(0, |last| service[last].1)
}

fn owed(queue: Queue) -> f64 {
    f64::from(queue.share) / f64::from(QUEUES.iter().map(|queue| queue.share).sum::<u32>())
}

/// The part of the time since the start that each queue has got.
fn so_far(service: &Service) -> Option<Plot> {
    let series = QUEUES.iter().zip(service).map(|(queue, service)| {
        let points = service.iter().take_while(|(now, _)| *now <= SOON);
        let part = |&(now, got): &(u64, u64)| (now as f64, got as f64 / now as f64);
        (format!("{}, owed {:.0} %", queue.name, owed(*queue) * 100.0), points.map(part).collect())
    });
    let axes = (
        Axis::new("time since the start", Scale::Log, Unit::Nanos),
        Axis::new("CPU since the start", Scale::Linear, Unit::Percent),
    );
    Plot::lines("Shares converge", axes, series)
}

/// The part of each window that each queue got, while the last queue comes and goes.
fn by_window(service: &Service) -> Option<Plot> {
    let series = QUEUES.iter().zip(service).map(|(queue, service)| {
        let part = |window: u64| {
            let [from, to] = [window, window + 1].map(|edge| edge * WINDOW);
            let got = got_by(service, to) - got_by(service, from);
            (to as f64 / 1e6, got as f64 / WINDOW as f64)
        };
        (queue.name.to_owned(), (0..WINDOWS).map(part).collect())
    });
    let axes = (
        Axis::new("time, ms", Scale::Linear, Unit::Plain),
        Axis::new("CPU of each 10 ms", Scale::Linear, Unit::Percent),
    );
    Plot::lines("A queue comes at 200 ms and goes at 400 ms", axes, series)
}

const TIMES: [(u64, &str); 4] =
    [(MILLI, "after 1 ms"), (10 * MILLI, "10 ms"), (100 * MILLI, "100 ms"), (END, "1 s")];

fn table(service: &Service) -> Table {
    let columns = ["queue", "share", "owed"].into_iter().chain(TIMES.into_iter().map(|(_, name)| name));
    let mut table = Table::new("CPU that each queue has got, of the time since the start", columns);
    for (queue, service) in QUEUES.iter().zip(service) {
        let got = TIMES.map(|(when, _)| percent(got_by(service, when) as f64 / when as f64));
        let head = [queue.name.to_owned(), queue.share.to_string(), percent(owed(*queue))];
        table.rows.push(head.into_iter().chain(got).collect());
    }
    table
}

/// The worst of the queues after a second.
fn headline(service: &Service) -> Headline {
    let got = |place: usize| got_by(&service[place], END) as f64 / END as f64;
    let off = (0..QUEUES.len()).map(|place| (got(place) - owed(QUEUES[place])).abs()).fold(0.0, f64::max);
    Headline {
        side: Side::Gain,
        topic: "CPU of each queue after 1 s, shares 6:3:1".to_owned(),
        label: "furthest from its share".to_owned(),
        value: format!("{:.2} %", off * 100.0),
        interval: "exact".to_owned(),
        words: "LocalSet has no shares".to_owned(),
        outcome: Outcome::Unjudged,
        command: "report".to_owned(),
        phrase: None,
    }
}

fn percent(part: f64) -> String {
    format!("{:.2} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_gets_its_share_to_within_a_percent_of_a_second() {
        let service = run([0, END]);
        for (queue, service) in QUEUES.iter().zip(&service) {
            let got = got_by(service, END) as f64 / END as f64;
            assert!((got - owed(*queue)).abs() < 0.01, "{}: {got}", queue.name);
        }
    }

    #[test]
    fn no_time_is_lost() {
        let service = run(GUEST);
        let all: u64 = service.iter().filter_map(|service| service.last()).map(|(_, got)| got).sum();
        assert!((END..END + 100_000).contains(&all), "{all}");
    }

    #[test]
    fn a_guest_gets_nothing_before_it_comes_and_after_it_has_gone() {
        let [.., guest] = run(GUEST);
        assert_eq!(got_by(&guest, GUEST[0]), 0);
        let at_the_end = got_by(&guest, END);
        assert_eq!(got_by(&guest, GUEST[1] + QUEUES[2].poll_ns), at_the_end);
        // A tenth of 200 ms.
        assert!((19 * MILLI..21 * MILLI).contains(&at_the_end), "{at_the_end}");
    }
}
