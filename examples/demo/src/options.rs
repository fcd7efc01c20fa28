//! What can be chosen on the command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, value_parser};

/// One key-value service beside background work, on tokio's LocalSet and on Clockworker, side by side in the terminal.
#[derive(Debug, Parser)]
#[command(
    name = "clockworker-demo",
    after_help = "Keys: b turns the background off and on, left and right change its share, q quits.\n\
                  Where standard output is no terminal, it prints a table, as with --once."
)]
pub(crate) struct Options {
    /// Print a table after some seconds, instead of the screen
    #[arg(long)]
    pub(crate) once: bool,

    /// Print the numbers as JSON, instead of the screen
    #[arg(long)]
    pub(crate) json: bool,

    /// End after so many seconds [default: the screen stays, the others take 10]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: Option<u32>,

    /// Write a picture of the screen, and print the table or the numbers
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Columns and rows of the picture
    #[arg(long, value_name = "WxH", default_value = "80x24", requires = "svg")]
    pub(crate) size: Size,
}

impl Options {
    /// Whether it prints and ends by itself.
    pub(crate) fn is_batch(&self) -> bool {
        self.once || self.json || self.svg.is_some()
    }

    pub(crate) fn batch_seconds(&self) -> u32 {
        self.seconds.unwrap_or(10)
    }
}

/// Columns and rows of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse().ok().filter(|number| (1..=500).contains(number));
        let pair = text.split_once('x').and_then(|(columns, rows)| Some((number(columns)?, number(rows)?)));
        let (columns, rows) = pair.ok_or("write it as 80x24, with 1 to 500 columns and rows")?;
        Ok(Self { columns, rows })
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn parse(options: &[&str]) -> Result<Options, ErrorKind> {
        let all = ["clockworker-demo"].iter().chain(options);
        Options::try_parse_from(all).map_err(|error| error.kind())
    }

    #[test]
    fn without_options_it_is_the_screen_without_end() {
        let options = parse(&[]).unwrap();
        assert!(!options.is_batch());
        assert_eq!(options.seconds, None);
        assert_eq!(options.size, Size { columns: 80, rows: 24 });
    }

    #[test]
    fn what_prints_ends_after_ten_seconds_or_as_many_as_are_asked_for() {
        for option in [&["--once"][..], &["--json"], &["--svg", "x.svg"]] {
            let options = parse(option).unwrap();
            assert!(options.is_batch(), "{option:?}");
            assert_eq!(options.batch_seconds(), 10);
        }
        assert_eq!(parse(&["--once", "--seconds", "3"]).unwrap().batch_seconds(), 3);
    }

    #[test]
    fn a_size_is_two_numbers() {
        let size = parse(&["--svg", "x.svg", "--size", "160x50"]).unwrap().size;
        assert_eq!(size, Size { columns: 160, rows: 50 });
        for bad in ["80", "80x", "x24", "0x24", "80x0", "80x501", "80×24", "80x24x2"] {
            assert_eq!(
                parse(&["--svg", "x.svg", "--size", bad]).err(),
                Some(ErrorKind::ValueValidation),
                "{bad}"
            );
        }
    }

    #[test]
    fn bad_options_are_refused() {
        for bad in ["0", "3601", "-1", "1.5", "ten", ""] {
            let seconds = format!("--seconds={bad}");
            assert_eq!(parse(&[&seconds]).err(), Some(ErrorKind::ValueValidation), "{bad}");
        }
        assert_eq!(parse(&["--twice"]).err(), Some(ErrorKind::UnknownArgument));
        assert_eq!(parse(&["more"]).err(), Some(ErrorKind::UnknownArgument));
        assert_eq!(parse(&["--size", "80x24"]).err(), Some(ErrorKind::MissingRequiredArgument));
    }
}
