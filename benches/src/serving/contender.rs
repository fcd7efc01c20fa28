//! A server, and the connections to it.

use serde::Serialize;

use super::child::Server;
use super::client::Client;
use super::command::{Command, Usage};
use super::dialogue::Dialogue;
use crate::failure::Failure;

/// A server, and the connections to it. Its background rests but in [`Contender::window`].
#[derive(Debug)]
pub struct Contender<D> {
    /// The server.
    pub server: Server,
    /// All connections to it.
    pub client: Client<D>,
}

impl<D: Dialogue> Contender<D> {
    /// Has a window, in which the background may run. What the client found, and what the server used up.
    ///
    /// # Errors
    ///
    /// If the server has ended, or as `run` has them.
    pub fn window<T>(
        &mut self,
        run: impl FnOnce(&mut Client<D>) -> Result<T, Failure>,
    ) -> Result<(T, Usage), Failure> {
        let before = self.server.command(Command::Go)?;
        let found = run(&mut self.client)?;
        let after = self.server.command(Command::Stop)?;
        self.client.settle()?;
        Ok((found, after.since(before)))
    }
}

/// Starts a server for each of `setups`, and then the connections to each. To be called on a thread that is not pinned.
///
/// # Errors
///
/// If a server does not start, or a connection cannot be made.
pub fn start<D: Dialogue>(
    subcommand: &str,
    setups: impl Iterator<Item = impl Serialize>,
    connections: usize,
    dialogue: impl Fn() -> D,
    alone: bool,
) -> Result<Vec<Contender<D>>, Failure> {
    let servers = setups.map(|setup| Server::start(subcommand, &setup)).collect::<Result<Vec<_>, _>>()?;
    let connect = |server: Server| {
        let client = Client::connect(server.address(), connections, dialogue(), alone)?;
        Ok(Contender { server, client })
    };
    servers.into_iter().map(connect).collect()
}
