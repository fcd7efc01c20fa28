//! `Eevdf` on exact virtual service: what every queue gets, to the nanosecond, and how far each is ever from what it is
//! owed.

mod bench;
mod changes;
mod limits;
mod requests;
mod shares;
mod sleep;

use clockworker_schedulers::Share;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const SECOND: u64 = 1_000 * MS;
const YEAR: u64 = 365 * 86_400 * SECOND;

fn share(share: u32) -> Share {
    Share::new(share).unwrap()
}
