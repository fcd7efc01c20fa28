//! Actors: tasks with a bounded mailbox each.

use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::interval;

use super::support::{run, timed};
use super::task::spawn_local;
use crate::measurements::programs::program::Setting;
use crate::random::{Purpose, Random};
use crate::stopwatch::Stopwatch;

/// Tokens sent on, in all.
const SENDS: usize = 400_000;
const QUICK_SENDS: usize = 400;

/// A token's way that is left.
type Token = u32;

/// A mailbox that is never full of tokens, so that actors who send at random cannot wait for each other in a circle.
const AMPLE: usize = 64;

pub(super) fn ring(setting: &Setting, tokens: usize) -> Vec<f64> {
    let (actors, sends) = (setting.size(10_000, 100), setting.size(SENDS, QUICK_SENDS));
    run(async move {
        let (mailboxes, inboxes): (Vec<_>, Vec<_>) = (0..actors).map(|_| mpsc::channel(8)).unzip();
        let (done, ended) = mpsc::channel(tokens);
        for (actor, inbox) in inboxes.into_iter().enumerate() {
            let next = mailboxes[(actor + 1) % actors].clone();
            drop(spawn_local(pass_on(inbox, move || 0, vec![next].into(), done.clone())));
        }
        vec![send_round(&mailboxes, tokens, sends, ended).await]
    })
}

pub(super) fn random_sends(setting: &Setting) -> Vec<f64> {
    let (actors, sends) = (setting.size(1_000, 20), setting.size(SENDS, QUICK_SENDS));
    run(async move {
        let (mailboxes, inboxes): (Vec<_>, Vec<_>) = (0..actors).map(|_| mpsc::channel(AMPLE)).unzip();
        let mailboxes: Rc<[_]> = mailboxes.into();
        let (done, ended) = mpsc::channel(actors);
        for (inbox, actor) in inboxes.into_iter().zip(0..) {
            let mut random = Random::new(setting.seed, Purpose::Work, actor);
            let choose = move || random.below(actors as u64) as usize;
            drop(spawn_local(pass_on(inbox, choose, mailboxes.clone(), done.clone())));
        }
        vec![send_round(&mailboxes, actors, sends, ended).await]
    })
}

/// An actor: sends every token on to one of `others`, until its way is at its end.
async fn pass_on(
    mut inbox: mpsc::Receiver<Token>,
    mut choose: impl FnMut() -> usize,
    others: Rc<[mpsc::Sender<Token>]>,
    done: mpsc::Sender<()>,
) {
    while let Some(left) = inbox.recv().await {
        match left.checked_sub(1) {
            Some(left) => others[choose()].send(left).await.expect("no actor ends"),
            None => done.try_send(()).expect("there is room for all tokens"),
        }
    }
}

/// Puts the tokens in at equal distances; the time until the last is at its end.
async fn send_round(
    mailboxes: &[mpsc::Sender<Token>],
    tokens: usize,
    sends: usize,
    mut ended: mpsc::Receiver<()>,
) -> f64 {
    let watch = Stopwatch::start();
    for token in 0..tokens {
        let actor = token * mailboxes.len() / tokens;
        mailboxes[actor].send((sends / tokens) as Token).await.expect("no actor ends");
    }
    for _ in 0..tokens {
        ended.recv().await.expect("every token has an end");
    }
    watch.nanos()
}

/// Actors that wait for their mailbox, for a tick and for the end at once.
pub(super) fn select_loops(setting: &Setting) -> Vec<f64> {
    let (actors, messages) = (setting.size(500, 10), setting.size(400, 10));
    timed(async move {
        let (stop, stopped) = watch::channel(false);
        let (mailboxes, inboxes): (Vec<_>, Vec<_>) = (0..actors).map(|_| mpsc::channel(16)).unzip();
        let tasks: Vec<_> =
            inboxes.into_iter().map(|inbox| spawn_local(select_loop(inbox, stopped.clone()))).collect();
        for number in 0..messages {
            for mailbox in &mailboxes {
                mailbox.send(number as u64).await.expect("no actor ends early");
            }
        }
        drop(mailboxes);
        for task in tasks {
            assert_eq!(task.await.expect("no actor fails"), messages, "an actor lost a message");
        }
        drop(stop);
    })
}

async fn select_loop(mut inbox: mpsc::Receiver<u64>, mut stopped: watch::Receiver<bool>) -> usize {
    let mut tick = interval(Duration::from_millis(100));
    let mut messages = 0;
    loop {
        tokio::select! {
            message = inbox.recv() => match message {
                Some(_) => messages += 1,
                None => return messages,
            },
            _ = tick.tick() => {}
            _ = stopped.changed() => return messages,
        }
    }
}
