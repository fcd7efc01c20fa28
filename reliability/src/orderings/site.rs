//! Where orderings stand in a source file, and what weaker ones there are.

use std::fmt;

/// One ordering, to be made weaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Weakening {
    /// Below `clockworker/src`.
    pub(super) file: String,
    /// Of the operation's name, from 1.
    pub(super) line: usize,
    pub(super) column: usize,
    /// 0, or 1 for the ordering of a failed exchange.
    pub(super) argument: usize,
    function: String,
    operation: String,
    from: &'static str,
    pub(super) to: &'static str,
    /// Which of those that are called the same, from 1.
    number: usize,
}

impl Weakening {
    /// A name without lines, which change.
    fn name(&self) -> String {
        let failure = if self.argument == 0 { "" } else { " on failure" };
        let number = if self.number == 1 { String::new() } else { format!(" #{}", self.number) };
        let Self { file, function, operation, from, to, .. } = self;
        format!("{file} {function} {operation}{failure} {from} -> {to}{number}")
    }
}

impl fmt::Display for Weakening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {})", self.name(), self.line)
    }
}

const ORDERINGS: [&str; 4] = ["Acquire", "Release", "AcqRel", "SeqCst"];

/// All weakenings of a file. Its tests, at its end, are left out.
pub(super) fn weakenings(file: &str, text: &str) -> Vec<Weakening> {
    let code = without_comments(text);
    let code = code.find("\nmod tests {").map_or(code.as_str(), |tests| &code[..tests]);
    let mut found: Vec<Weakening> = Vec::new();
    for (at, _) in code.match_indices("Ordering::") {
        let word = word_after(code, at + "Ordering::".len());
        let Some(from) = ORDERINGS.into_iter().find(|ordering| *ordering == word) else { continue };
        let Some(call) = Call::around(code, at) else { continue };
        for to in weaker(from, call.operation) {
            let mut weakening = Weakening {
                file: file.to_owned(),
                line: call.line,
                column: call.column,
                argument: call.argument,
                function: call.function.to_owned(),
                operation: call.operation.to_owned(),
                from,
                to,
                number: 1,
            };
            weakening.number += found.iter().filter(|other| is_called_the_same(other, &weakening)).count();
            found.push(weakening);
        }
    }
    found
}

fn is_called_the_same(one: &Weakening, other: &Weakening) -> bool {
    Weakening { number: 1, ..one.clone() }.name() == Weakening { number: 1, ..other.clone() }.name()
}

/// The orderings that are weaker than `from`, as far as the operation may have them.
fn weaker(from: &str, operation: &str) -> &'static [&'static str] {
    match (from, operation) {
        ("SeqCst", "load") => &["Acquire", "Relaxed"],
        ("SeqCst", "store") => &["Release", "Relaxed"],
        ("SeqCst", _) => &["AcqRel", "Acquire", "Release", "Relaxed"],
        ("AcqRel", _) => &["Acquire", "Release", "Relaxed"],
        _ => &["Relaxed"],
    }
}

/// A call that has an ordering among its arguments.
struct Call<'a> {
    operation: &'a str,
    function: &'a str,
    line: usize,
    column: usize,
    argument: usize,
}

impl<'a> Call<'a> {
    /// The innermost call around `at`.
    fn around(code: &'a str, at: usize) -> Option<Self> {
        let mut depth = 0;
        let open = code[..at].char_indices().rev().find_map(|(index, character)| {
            match character {
                ')' => depth += 1,
                '(' if depth == 0 => return Some(index),
                '(' => depth -= 1,
                _ => {}
            }
            None
        })?;
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let begin = code[..open].rfind(|character| !is_part(character)).map_or(0, |before| before + 1);
        let line_begin = code[..begin].rfind('\n').map_or(0, |newline| newline + 1);
        let function =
            code[..begin].rfind("fn ").map_or("", |function| word_after(code, function + "fn ".len()));
        Some(Call {
            operation: &code[begin..open],
            function,
            line: code[..begin].matches('\n').count() + 1,
            column: code[line_begin..begin].chars().count() + 1,
            argument: code[open..at].matches("Ordering::").count(),
        })
    }
}

fn word_after(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
    &rest[..end.unwrap_or(rest.len())]
}

/// The text with blanks for line comments, so that places stay.
fn without_comments(text: &str) -> String {
    let blank = |line: &str| match line.find("//") {
        Some(comment) => {
            let blanks = line[comment..].chars().map(|character| if character == '\n' { '\n' } else { ' ' });
            line[..comment].chars().chain(blanks).collect()
        }
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(blank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
fn first(&self) {
    // Ordering::SeqCst in a comment
    self.word.fetch_or(bit(1), Ordering::AcqRel);
    fence(Ordering::Acquire);
}
fn second(&self) {
    self.word.compare_exchange(a, b, Ordering::Relaxed, Ordering::Acquire); self.word.load(Ordering::SeqCst)
}
#[cfg(test)]
mod tests { fn third() { load(Ordering::Acquire) } }
";

    #[test]
    fn every_ordering_is_found_once_per_weaker_one() {
        let names: Vec<String> = weakenings("a.rs", SOURCE).iter().map(Weakening::name).collect();
        let expected = [
            "a.rs first fetch_or AcqRel -> Acquire",
            "a.rs first fetch_or AcqRel -> Release",
            "a.rs first fetch_or AcqRel -> Relaxed",
            "a.rs first fence Acquire -> Relaxed",
            "a.rs second compare_exchange on failure Acquire -> Relaxed",
            "a.rs second load SeqCst -> Acquire",
            "a.rs second load SeqCst -> Relaxed",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn places_are_those_that_the_compiler_gives() {
        let found = weakenings("a.rs", SOURCE);
        let place = |index: usize| (found[index].line, found[index].column, found[index].argument);
        assert_eq!(place(0), (4, 15, 0));
        assert_eq!(place(3), (5, 5, 0));
        assert_eq!(place(4), (8, 15, 1));
        assert_eq!(place(5), (8, 87, 0));
    }

    #[test]
    fn names_that_occur_twice_are_numbered() {
        let twice = "fn f() { a.load(Ordering::Acquire); b.load(Ordering::Acquire) }";
        let names: Vec<String> = weakenings("a.rs", twice).iter().map(Weakening::name).collect();
        assert_eq!(names, ["a.rs f load Acquire -> Relaxed", "a.rs f load Acquire -> Relaxed #2"]);
    }
}
