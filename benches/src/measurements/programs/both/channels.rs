//! Tasks that are sent messages: actors with a bounded mailbox each, and many consumers of one producer.

use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::interval;

use super::support::{run, timed, timed_in_task};
use super::task::spawn_local;
use crate::harness::Sample;
use crate::measurements::programs::{Setting, TIME};
use crate::random::{Purpose, random};
use crate::stopwatch::Stopwatch;

const SENDS: usize = 400_000;
const QUICK_SENDS: usize = 400;

/// A token's way that is left.
type Token = u32;

/// A mailbox that is never full of tokens, so that actors who send at random cannot wait for each other in a circle.
const AMPLE: usize = 64;

pub(super) fn ring(setting: &Setting, tokens: usize) -> Sample {
    let (actors, sends) = (setting.size(10_000, 100), setting.size(SENDS, QUICK_SENDS));
    run(async move {
        let (mailboxes, inboxes): (Vec<_>, Vec<_>) = (0..actors).map(|_| mpsc::channel(8)).unzip();
        let (done, ended) = mpsc::channel(tokens);
        for (actor, inbox) in inboxes.into_iter().enumerate() {
            let next = mailboxes[(actor + 1) % actors].clone();
            drop(spawn_local(pass_on(inbox, move || 0, vec![next].into(), done.clone())));
        }
        send_round(&mailboxes, tokens, sends, ended).await
    })
}

pub(super) fn random_sends(setting: &Setting) -> Sample {
    let (actors, sends) = (setting.size(1_000, 20), setting.size(SENDS, QUICK_SENDS));
    run(async move {
        let (mailboxes, inboxes): (Vec<_>, Vec<_>) = (0..actors).map(|_| mpsc::channel(AMPLE)).unzip();
        let mailboxes: Rc<[_]> = mailboxes.into();
        let (done, ended) = mpsc::channel(actors);
        for (inbox, actor) in inboxes.into_iter().zip(0..) {
            let mut random = random(setting.seed, Purpose::Work, actor);
            let choose = move || random.usize(..actors);
            drop(spawn_local(pass_on(inbox, choose, mailboxes.clone(), done.clone())));
        }
        send_round(&mailboxes, actors, sends, ended).await
    })
}

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
) -> Sample {
    let watch = Stopwatch::start();
    for token in 0..tokens {
        let actor = token * mailboxes.len() / tokens;
        mailboxes[actor].send((sends / tokens) as Token).await.expect("no actor ends");
    }
    wait_for(&mut ended, tokens).await;
    Sample::default().number(TIME, watch.nanos())
}

pub(super) fn select_loops(setting: &Setting) -> Sample {
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

const BATCH: usize = 100;

/// Broadcast messages that are under way at once.
const WINDOW: usize = 32;

pub(super) fn batches(setting: &Setting) -> Sample {
    let (consumers, rounds) = (setting.size(200, 5), setting.size(25, 2));
    run(async move {
        let (drained, mut acknowledged) = mpsc::channel(consumers);
        let producers: Vec<_> = (0..consumers)
            .map(|_| {
                let (producer, inbox) = mpsc::channel(BATCH);
                drop(spawn_local(drain(inbox, drained.clone())));
                producer
            })
            .collect();
        let watch = Stopwatch::start();
        let produce = async move {
            for _ in 0..rounds {
                producers.iter().for_each(fill);
                wait_for(&mut acknowledged, consumers).await;
            }
        };
        spawn_local(produce).await.expect("the producer does not fail");
        Sample::default().number(TIME, watch.nanos())
    })
}

fn fill(producer: &mpsc::Sender<usize>) {
    (0..BATCH).for_each(|number| producer.try_send(number).expect("the last batch was drained"));
}

async fn drain(mut inbox: mpsc::Receiver<usize>, drained: mpsc::Sender<()>) {
    while let Some(number) = inbox.recv().await {
        if number == BATCH - 1 {
            drained.try_send(()).expect("there is room for all consumers");
        }
    }
}

async fn wait_for(done: &mut mpsc::Receiver<()>, messages: usize) {
    for _ in 0..messages {
        done.recv().await.expect("no task ends early");
    }
}

pub(super) fn broadcasts(setting: &Setting) -> Sample {
    let (consumers, messages) = (setting.size(200, 5), setting.size(40, 2) * WINDOW);
    timed_in_task(async move {
        let (sender, _) = broadcast::channel(WINDOW);
        let (acknowledge, mut acknowledged) = mpsc::channel(consumers);
        for _ in 0..consumers {
            drop(spawn_local(listen(sender.subscribe(), acknowledge.clone())));
        }
        for number in 1..=messages {
            sender.send(number).expect("consumers listen");
            if number % WINDOW == 0 {
                wait_for(&mut acknowledged, consumers).await;
            }
        }
    })
}

async fn listen(mut receiver: broadcast::Receiver<usize>, acknowledge: mpsc::Sender<()>) {
    while let Ok(number) = receiver.recv().await {
        if number % WINDOW == 0 {
            acknowledge.try_send(()).expect("there is room for all consumers");
        }
    }
}

pub(super) fn watches(setting: &Setting) -> Sample {
    let (watchers, values) = (setting.size(500, 5), setting.size(300, 5));
    timed_in_task(async move {
        let (sender, _) = watch::channel(0);
        let (acknowledge, mut acknowledged) = mpsc::channel(watchers);
        for _ in 0..watchers {
            drop(spawn_local(follow(sender.subscribe(), acknowledge.clone())));
        }
        for value in 1..=values {
            sender.send(value).expect("watchers follow");
            wait_for(&mut acknowledged, watchers).await;
        }
    })
}

async fn follow(mut receiver: watch::Receiver<usize>, acknowledge: mpsc::Sender<()>) {
    while receiver.changed().await.is_ok() {
        receiver.borrow_and_update();
        acknowledge.try_send(()).expect("there is room for all watchers");
    }
}
