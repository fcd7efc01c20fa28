//! The page, as what it is given; `.ci/run report` has a browser look at one.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "tests")]

use std::time::Duration;

use clockworker::observe::{Observation, Timeline};
use clockworker::{Executor, ManualClock, yield_now};
use clockworker_timeline::write_html;
use serde_json::{Value, json};

fn page(timeline: &Timeline) -> String {
    let mut page = Vec::new();
    write_html(timeline, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// What the page's script reads.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn it_has_polls_waits_and_what_the_host_had() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let requests = ex.new_queue("requests").share(9).create().unwrap();
    ex.observe(Observation::new().timeline(1 << 16).every_poll()).unwrap();
    let mut line = 0;
    for _ in 0..2 {
        let clock = clock.clone();
        line = line!() + 1;
        requests.spawn(async move {
            clock.advance(Duration::from_micros(3));
            yield_now().await;
            clock.advance(Duration::from_micros(5));
        });
    }
    ex.block_on(ex.drained());
    let data = data(&page(&ex.timeline()));
    assert_eq!(
        (&data["took"], &data["is_cut"], &data["is_stopped"]),
        (&json!(16_000), &json!(false), &json!(false))
    );
    assert_eq!(data["places"], json!([format!("timeline/tests/page.rs:{line}")]));
    let [queue] = &data["queues"].as_array().unwrap()[..] else { panic!("{data}") };
    assert_eq!(
        (&queue["name"], &queue["share"], &queue["polls_made"]),
        (&json!("requests"), &json!(9), &json!(4))
    );
    assert_eq!(queue["busy"], 16_000);
    let polls = json!([
        [0, 3_000, 0, 0, 1],
        [3_000, 3_000, 0, 1, 1],
        [6_000, 5_000, 0, 0, 1],
        [11_000, 5_000, 0, 1, 1]
    ]);
    assert_eq!(queue["polls"], polls);
    // Both at first; then one waits while the other is polled, until one has ended.
    assert_eq!(queue["ready"], json!([[0, 1], [11_000, 0]]));
    assert_eq!((&data["held"][0]["took"], &data["waited"][0]["took"]), (&json!(5_000), &json!(5_000)));
}

#[test]
fn a_name_does_not_end_the_script() {
    let ex = Executor::new();
    let queue = ex.new_queue("</script><b>").create().unwrap();
    ex.observe(Observation::new().timeline(1 << 16)).unwrap();
    ex.block_on(queue.spawn(async {})).unwrap();
    let page = page(&ex.timeline());
    assert!(!page.contains("</script><b>"));
    assert_eq!(data(&page)["queues"][0]["name"], "</script><b>");
}

#[test]
fn it_asks_for_nothing_from_elsewhere() {
    let page = page(&Timeline::default());
    for word in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(data(&page)["queues"], json!([]), "an empty timeline is a page too");
}
