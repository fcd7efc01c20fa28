//! The echo server.

#[cfg(target_os = "linux")]
mod monoio;
mod smol;
mod tokio;

pub mod background;
pub mod spawn;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc};

use super::setup::Setup;
use crate::failure::Failure;
use crate::serving::gate::Gate;
use crate::serving::host::Host;
use crate::serving::server::{Listening, forever, give_up, stand};
use spawn::Spawn;

/// What a server is given to run with.
#[derive(Debug)]
struct World<'a> {
    setup: &'a Setup,
    gate: Arc<Gate>,
    listening: mpsc::Sender<Listening>,
}

/// Is an echo server until standard input ends.
///
/// # Errors
///
/// If it cannot serve, or standard output cannot be written.
pub fn command(setup: &Setup) -> Result<(), Failure> {
    let setup = setup.clone();
    stand(move |gate, listening| serve(&World { setup: &setup, gate, listening }))
}

fn serve(world: &World<'_>) -> io::Result<Infallible> {
    match world.setup.host {
        #[cfg(target_os = "linux")]
        Host::Monoio => monoio::serve(world),
        #[cfg(not(target_os = "linux"))]
        Host::Monoio => Err(io::Error::other("monoio needs Linux")),
        Host::Tokio => tokio::serve(world),
        Host::Smol => smol::serve(world),
    }
}

/// Serves: each connection that `accept` has is a task, and so is what accepts them.
async fn run<C: 'static, E: Future<Output = io::Result<()>> + 'static>(
    world: &World<'_>,
    spawner: impl Spawn + Clone + 'static,
    listening: Listening,
    mut accept: impl AsyncFnMut() -> io::Result<C> + 'static,
    echo: impl Fn(C) -> E + 'static,
) -> io::Result<Infallible> {
    background::start(world, &spawner);
    spawner.clone().foreground(async move {
        loop {
            let echoing = echo(accept().await.unwrap_or_else(|error| give_up(&error)));
            spawner.foreground(async move { echoing.await.unwrap_or_else(|error| give_up(&error)) });
        }
    });
    world.listening.send(listening).map_err(io::Error::other)?;
    Ok(forever().await)
}
