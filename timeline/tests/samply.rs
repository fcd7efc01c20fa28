//! A profile that samply 0.13.1 has saved (2026-11-23) of the example `samply_markers`, which was run for it where the paths are short:
//!
//! ```console
//! $ samply record --save-only --rate 100 -o samply.json ./samply_markers --work 24 --out .
//! ```
//!
//! samply numbers its strings per thread: a marker's text is `data.name`, an index into `stringArray`.

use serde_json::Value;

const PROFILE: &str = include_str!("samply.json");

/// A marker: from when to when, in milliseconds, and its name.
type Marker = (f64, f64, String);

/// The markers, and when samply saw the thread first.
fn markers() -> (Vec<Marker>, f64) {
    let profile: Value = serde_json::from_str(PROFILE).unwrap();
    let is_executors =
        |thread: &&Value| thread["name"] == "samply_markers" && thread["markers"]["length"] != 0;
    let thread = profile["threads"].as_array().unwrap().iter().find(is_executors).unwrap();
    let all = &thread["markers"];
    let times = |name: &str| all[name].as_array().unwrap().iter().map(|time| time.as_f64().unwrap());
    let names = all["data"].as_array().unwrap().iter().map(|data| {
        let is_ours = data["type"] == "SimpleMarker";
        let name = data["name"].as_u64().filter(|_| is_ours)?;
        thread["stringArray"][name as usize].as_str().map(str::to_owned)
    });
    let markers = times("startTime").zip(times("endTime")).zip(names);
    let markers = markers.filter_map(|((from, to), name)| Some((from, to, name?)));
    (markers.collect(), thread["registerTime"].as_f64().unwrap())
}

#[test]
fn a_saved_profile_has_the_slices_of_each_queue_and_the_slow_polls() {
    let (markers, registered) = markers();
    let time_of = |wanted: &str| -> f64 {
        markers.iter().filter(|(.., name)| name == wanted).map(|(from, to, _)| to - from).sum()
    };
    // 24 ms of work: 18 in the queue of requests, and one poll of 4 ms in that of reports.
    let (requests, reports) = (time_of("q:requests"), time_of("q:reports"));
    assert!((17.9..20.0).contains(&requests), "{requests}");
    assert!((3.99..5.0).contains(&reports), "{reports}");
    let slow: Vec<&Marker> = markers.iter().filter(|(.., name)| name.starts_with("slow poll")).collect();
    let [(from, to, name)] = slow[..] else { panic!("{slow:?}") };
    assert!(
        name.starts_with("slow poll in reports, spawned at ") && name.contains("samply_markers.rs:"),
        "{name}"
    );
    assert!((3.99..5.0).contains(&(to - from)), "{slow:?}");
    assert!(markers.iter().all(|(from, to, _)| registered <= *from && from <= to), "their clock is samply's");
}
