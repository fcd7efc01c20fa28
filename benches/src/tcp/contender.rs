//! A server, and the connections to it.

use super::child::Server;
use super::client::Client;
use super::command::{Command, Usage};
use super::dialogue::Dialogue;
use super::pattern::Pattern;
use crate::failure::Failure;
use crate::random::Random;

/// A server, and the connections to it. Its background rests but in [`Contender::window`].
#[derive(Debug)]
pub struct Contender<D = Pattern> {
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

/// An order of windows that favours none: each contender twice, the second time in the reverse order, and all that so many
/// `times`, each time in an order shuffled anew.
pub fn order(contenders: usize, times: usize, random: &mut Random) -> Vec<usize> {
    let mut all = Vec::new();
    for _ in 0..times {
        let mut order: Vec<usize> = (0..contenders).collect();
        random.shuffle(&mut order);
        all.extend(&order);
        all.extend(order.iter().rev());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn the_second_half_is_the_first_reversed() {
        let order = order(5, 1, &mut Random::new(1, Purpose::Order, 0));
        let mut first = order[..5].to_vec();
        let second: Vec<usize> = order[5..].iter().rev().copied().collect();
        assert_eq!(first, second);
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2, 3, 4]);
    }
}
