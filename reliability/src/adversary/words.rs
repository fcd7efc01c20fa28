//! [`Words`]: reads a line of a program. And the two things that are written in a way of their own: times and names.

use std::fmt;
use std::str::{FromStr, SplitWhitespace};

/// The most queues that a program may have: each has a letter.
pub(super) const MOST_QUEUES: usize = 26;

/// The words of a line that are still to be read.
#[derive(Clone, Debug)]
pub(super) struct Words<'a>(SplitWhitespace<'a>);

/// A time in nanoseconds, written as `20us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ns(pub(super) u64);

/// A queue by its number, written as a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name(pub(super) usize);

impl<'a> Words<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        Words(line.split_whitespace())
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| "a word is missing at the end".to_owned())
    }

    /// The next word is this one.
    pub(super) fn expect(&mut self, word: &str) -> Result<(), String> {
        match self.next()? {
            found if found == word => Ok(()),
            found => Err(format!("'{word}' is expected, not '{found}'")),
        }
    }

    /// Whether the next word is this one; it is read then.
    pub(super) fn is_next(&mut self, word: &str) -> bool {
        let mut ahead = self.0.clone();
        let found = ahead.next() == Some(word);
        if found {
            self.0 = ahead;
        }
        found
    }

    /// The next word is a number, and at least 1.
    pub(super) fn count(&mut self) -> Result<u32, String> {
        let word = self.next()?;
        word.parse().ok().filter(|&count| count > 0).ok_or_else(|| format!("'{word}' is no number from 1 on"))
    }

    /// The next word is a time.
    pub(super) fn time(&mut self) -> Result<u64, String> {
        self.next()?.parse().map(|Ns(ns)| ns)
    }

    /// The next word is a time, and not zero.
    pub(super) fn duration(&mut self) -> Result<u64, String> {
        match self.time()? {
            0 => Err("a time that is not zero is expected".to_owned()),
            ns => Ok(ns),
        }
    }

    /// The next word is a queue.
    pub(super) fn queue(&mut self) -> Result<usize, String> {
        self.next()?.parse().map(|Name(queue)| queue)
    }

    /// Everything is read.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.0.next().map_or(Ok(()), |word| Err(format!("'{word}' is too much")))
    }
}

const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |&&(_, unit): &&(&str, u64)| self.0 >= unit && self.0.is_multiple_of(unit);
        let (name, unit) = UNITS.iter().find(whole).unwrap_or(&UNITS[3]);
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl FromStr for Ns {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let digits = word.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let unit = UNITS.iter().find(|(name, _)| *name == &word[digits.len()..]).map(|&(_, unit)| unit);
        let ns = digits.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
        // An hour: so that no sum of them overflows.
        let ns = ns.filter(|&ns| ns <= 3_600 * 1_000_000_000);
        ns.map(Ns).ok_or_else(|| format!("'{word}' is no time up to an hour, such as 20us"))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = u8::try_from(self.0).ok().filter(|&queue| usize::from(queue) < MOST_QUEUES);
        write!(f, "{}", letter.map_or('?', |queue| char::from(b'a' + queue)))
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word.as_bytes() {
            [letter @ b'a'..=b'z'] => Ok(Name(usize::from(letter - b'a'))),
            _ => Err(format!("'{word}' is no queue: those have a letter each")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_greatest_unit_that_is_exact() {
        let written = [0, 7, 1_000, 1_001, 2_000_000, 3_000_000_000].map(|ns| Ns(ns).to_string());
        assert_eq!(written, ["0ns", "7ns", "1us", "1001ns", "2ms", "3s"]);
        for ns in [0, 999, 20_000, 123_456_789] {
            assert_eq!(Ns(ns).to_string().parse(), Ok(Ns(ns)));
        }
        for wrong in ["", "us", "5", "-1us", "5m", "2h", "4000s", "5 us", "µ"] {
            assert!(wrong.parse::<Ns>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_is_read_word_by_word() {
        let mut words = Words::of("  serve 5 of c 20us ");
        assert_eq!(words.next(), Ok("serve"));
        assert_eq!(words.count(), Ok(5));
        assert!(!words.is_next("off") && words.is_next("of"));
        assert_eq!((words.queue(), words.duration()), (Ok(2), Ok(20_000)));
        assert!(words.end().is_ok() && words.next().is_err());
        assert!(Words::of("0").count().is_err() && Words::of("C").queue().is_err());
        assert_eq!(Words::of("x").expect("y"), Err("'y' is expected, not 'x'".to_owned()));
    }
}
