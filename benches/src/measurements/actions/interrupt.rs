//! Ctrl-C, for whoever asks: a thread waits for it.

use std::sync::{OnceLock, mpsc};
use std::thread;

use tokio::sync::watch;

use crate::arms::host;

/// Whether the process has been asked to stop. From the first call on, that does not end the process by itself.
pub(super) fn interrupted() -> watch::Receiver<bool> {
    static ASKED: OnceLock<watch::Receiver<bool>> = OnceLock::new();
    ASKED.get_or_init(listen).clone()
}

fn listen() -> watch::Receiver<bool> {
    let (ask, asked) = watch::channel(false);
    let (ready, is_ready) = mpsc::channel();
    let listen = async move {
        let mut signal = Box::pin(tokio::signal::ctrl_c());
        // The first poll installs the handler.
        let early = futures::poll!(&mut signal);
        let _ = ready.send(());
        if early.is_ready() || signal.await.is_ok() {
            ask.send_replace(true);
        }
        // Kept open: who waits for it waits on.
        std::future::pending::<()>().await;
    };
    thread::spawn(move || host().block_on(listen));
    let _ = is_ready.recv();
    asked
}
