//! What a client says, and what it has to hear.

/// The messages on all connections to a server, and their answers.
pub trait Dialogue {
    /// The message with that number on that connection.
    fn request(&self, connection: usize, number: u64) -> &[u8];

    /// What the server answers it with.
    fn answer(&self, connection: usize, number: u64) -> &[u8];
}
