//! Promise 1: no wake is lost.
//!
//! Threads number their wakes and write each number, by a plain store, before they wake. A task that is polled notes the
//! number that it finds. After each burst a thread waits until the task has noted its last one: a wake that is lost, or
//! that does not bring its number along, is waited for in vain, and the watchdog says so.

mod scene;
mod waking;

use std::sync::{Arc, PoisonError};

use clap::Args;
use clockworker_testing::host::Host;

use crate::cases::bar;
use crate::figure::{Figure, none, told};
use crate::watchdog::Patience;
use scene::{Kind, Outcome, Scene, Shown};

/// Wakes tasks from other threads, and counts what is lost.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How many wakes, in all.
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    wakes: u64,
    /// 10 million wakes: some seconds. A billion take some minutes on two idle cores.
    #[arg(long, conflicts_with = "wakes")]
    quick: bool,
    /// What the lengths of bursts and the choice of tasks are made of.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    patience: Patience,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let wakes = if options.quick { 10_000_000 } else { options.wakes };
    let scenes = plan(wakes, &[1, 2, 3, 4, 8], options.seed);
    let bar = bar(scenes.iter().map(|scene| scene.wakes).sum());
    let mut sum = Outcome::default();
    let mut done = 0;
    for &scene in &scenes {
        bar.set_message(scene.to_string());
        sum = play(scene, sum, options.patience, |wakes| bar.set_position(done + wakes))?;
        done += scene.wakes;
    }
    bar.finish_and_clear();
    Ok(vec![
        told(1, "scenes (kind × host × threads)", scenes.len()),
        told(1, "wakes from other threads", sum.wakes),
        told(1, "times a thread waited for its last wake to be seen", sum.checks),
        told(1, "polls that the wakes caused", sum.polls),
        told(1, "times the executor was asleep and was woken", sum.parks),
        // One that is waited for in vain ends the program before this.
        none(1, "wakes lost", sum.lost),
        none(1, "polls without a wake", sum.unexplained_polls),
        none(1, "tasks neither completed nor cancelled", sum.unaccounted),
    ])
}

/// Ping-pong first, on each host: 1 % of the wakes on the one that does not sleep, where they take least, and 0.1 % on each
/// of the others. The rest in equal parts for each kind of scene, host and number of threads.
fn plan(wakes: u64, threads: &[usize], seed: u64) -> Vec<Scene> {
    let mut scenes = Vec::new();
    let mut add = |kind, host, threads, wakes: u64| {
        let wakes = wakes.next_multiple_of(threads as u64);
        scenes.push(Scene { kind, host, threads, wakes, seed: seed.wrapping_add(scenes.len() as u64) });
    };
    for &host in Host::ALL {
        let share = if host == Host::Spinning { wakes / 100 } else { wakes / 1_000 };
        add(Kind::PingPong, host, 1, share.max(1));
    }
    let left = wakes - wakes / 100 - wakes / 1_000 * (Host::ALL.len() as u64 - 1);
    let share = left.div_ceil((Host::ALL.len() * threads.len() * Kind::SHARED.len()) as u64);
    for &host in Host::ALL {
        for &threads in threads {
            for kind in Kind::SHARED {
                add(kind, host, threads, share.max(1));
            }
        }
    }
    scenes
}

/// Plays a scene, and counts it too.
fn play(scene: Scene, sum: Outcome, patience: Patience, look: impl Fn(u64)) -> anyhow::Result<Outcome> {
    let shown = Arc::new(Shown::default());
    let shows = Arc::clone(&shown);
    let work = move |pulse| scene.play(&pulse, &shows, sum);
    patience.watch(look, work, |_| format!("{scene}, seed {}{}", scene.seed, lost(&shown)))
}

/// Which wakes no poll has followed.
fn lost(shown: &Shown) -> String {
    let targets = shown.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = String::new();
    for (at, target) in targets.iter().enumerate().filter(|(_, target)| !target.is_gone()) {
        for (thread, sent, seen) in target.unseen() {
            text += &format!("; task {at}: thread {thread} sent wake {sent}, the last seen is {seen}");
        }
    }
    if text.is_empty() { "; all wakes were seen, something else hangs".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_as_many_wakes_as_asked_for_and_every_scene() {
        let scenes = plan(1_000_000_000, &[1, 2, 8], 1);
        assert!(scenes.iter().map(|scene| scene.wakes).sum::<u64>() >= 1_000_000_000);
        assert_eq!(scenes.len(), Host::ALL.len() * (1 + 3 * Kind::SHARED.len()));
    }

    #[test]
    fn each_scene_accounts_for_its_wakes() {
        for scene in plan(200_000, &[2], 1) {
            let outcome = play(scene, Outcome::default(), Patience { patience: 60 }, |_| {}).unwrap();
            let wrong = (outcome.lost, outcome.unexplained_polls, outcome.unaccounted);
            assert_eq!(wrong, (0, 0, 0), "{scene}");
            assert!(outcome.checks > 0 && outcome.wakes >= scene.wakes, "{scene}");
        }
    }
}
