//! Promise 1: no wake is lost.
//!
//! Threads number their wakes and write each number, by a plain store, before they wake. A task that is polled notes the
//! number that it finds. After each burst a thread waits until the task has noted its last one: a wake that is lost, or
//! that does not bring its number along, is waited for in vain, and the watchdog says so.

mod lanes;
mod lives;
mod scene;
mod waking;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::host::Host;
use crate::{progress, watchdog};
use scene::{Board, Kind, Outcome, Scene};

/// Wakes tasks from other threads, and counts what is lost.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// How many wakes, in all.
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    wakes: u64,
    /// 10 million wakes: some seconds. A billion take some minutes on two idle cores.
    #[arg(long, conflicts_with = "wakes")]
    quick: bool,
    /// How many threads wake at the same time, one scene each.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1, 2, 3, 4, 8])]
    threads: Vec<usize>,
    /// What the lengths of bursts and the choice of tasks are made of.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// After how many seconds without progress a wake is called lost.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,
}

/// Plays all scenes.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    if options.threads.iter().any(|&threads| threads == 0 || threads > 1_000) {
        return Err(Failure::request("--threads takes numbers from 1 to 1000"));
    }
    let wakes = if options.quick { 10_000_000 } else { options.wakes };
    let scenes = plan(wakes, &options.threads, options.seed);
    let bar = progress::bar(scenes.iter().map(|scene| scene.wakes).sum());
    let mut sum = Outcome::default();
    let mut done = 0;
    for &scene in &scenes {
        bar.set_message(scene.to_string());
        let outcome = play(scene, options, &|wakes| bar.set_position(done + wakes))?;
        done += scene.wakes;
        sum.add(outcome);
    }
    bar.finish_and_clear();
    Ok(figures(scenes.len(), sum))
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

fn play(scene: Scene, options: &Options, look: &dyn Fn(u64)) -> Result<Outcome, Failure> {
    let board = Arc::new(Board::default());
    let (shown, patience) = (Arc::clone(&board), Duration::from_secs(options.patience));
    let stuck = || {
        let lost = board.lost();
        format!("{scene}, seed {}: nothing moved for {} s{lost}", scene.seed, options.patience)
    };
    watchdog::watch(&board.pulse, patience, look, move || scene.play(&shown), stuck)
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.wakes += other.wakes;
        self.checks += other.checks;
        self.polls += other.polls;
        self.lost += other.lost;
        self.unexplained_polls += other.unexplained_polls;
        self.parks += other.parks;
        self.unaccounted += other.unaccounted;
    }
}

fn figures(scenes: usize, sum: Outcome) -> Vec<Figure> {
    vec![
        Figure::told(1, "scenes (kind × host × threads)", scenes as f64),
        Figure::told(1, "wakes from other threads", sum.wakes as f64),
        Figure::told(1, "times a thread waited for its last wake to be seen", sum.checks as f64),
        Figure::told(1, "polls that the wakes caused", sum.polls as f64),
        Figure::told(1, "times the executor was asleep and was woken", sum.parks as f64),
        // One that is waited for in vain ends the program before this.
        Figure::held(1, "wakes lost", sum.lost as f64, Bound::Exactly(0.0)),
        Figure::held(1, "polls without a wake", sum.unexplained_polls as f64, Bound::Exactly(0.0)),
        Figure::held(1, "tasks neither completed nor cancelled", sum.unaccounted as f64, Bound::Exactly(0.0)),
    ]
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
        let options = Options { wakes: 0, quick: false, threads: vec![2], seed: 1, patience: 60 };
        for scene in plan(200_000, &options.threads, options.seed) {
            let outcome = play(scene, &options, &|_| {}).unwrap();
            let wrong = (outcome.lost, outcome.unexplained_polls, outcome.unaccounted);
            assert_eq!(wrong, (0, 0, 0), "{scene}");
            assert!(outcome.checks > 0 && outcome.wakes >= scene.wakes, "{scene}");
        }
    }
}
