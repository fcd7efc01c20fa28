//! The program `clockworker-benches`; everything it does is in the library beside it.

use clap::Parser;
use clockworker_benches::cli::Line;

fn main() -> anyhow::Result<()> {
    Line::parse().command.run()
}
