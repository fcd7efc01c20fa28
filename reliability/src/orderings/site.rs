//! Where orderings stand in a source file, and what weaker ones there are.

use std::fmt;

use proc_macro2::{Delimiter, Ident, LexError, TokenStream, TokenTree};

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
///
/// # Errors
///
/// If it is no Rust.
pub(super) fn weakenings(file: &str, text: &str) -> Result<Vec<Weakening>, LexError> {
    let mut search = Search { file, function: String::new(), found: Vec::new(), is_over: false };
    search.look_into(text.parse()?, None);
    Ok(search.found)
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

/// A search for orderings in a file.
struct Search<'a> {
    file: &'a str,
    /// The last function that began.
    function: String,
    found: Vec<Weakening>,
    /// The file's tests begin.
    is_over: bool,
}

impl Search<'_> {
    /// `call` is the name of the function that these tokens are arguments of.
    fn look_into(&mut self, tokens: TokenStream, call: Option<&Ident>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let ident = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        };
        let mut argument = 0;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "fn" => {
                    self.function = ident(at + 1).map(Ident::to_string).unwrap_or_default();
                }
                TokenTree::Ident(word) if word == "mod" => {
                    self.is_over |= ident(at + 1).is_some_and(|name| name == "tests");
                }
                // Behind the word there are two colons.
                TokenTree::Ident(word) if word == "Ordering" => {
                    if let (Some(call), Some(ordering)) = (call, ident(at + 3)) {
                        self.weaken(call, argument, &ordering.to_string());
                    }
                    argument += 1;
                }
                TokenTree::Group(group) if !self.is_over => {
                    let is_call = group.delimiter() == Delimiter::Parenthesis;
                    self.look_into(group.stream(), at.checked_sub(1).and_then(ident).filter(|_| is_call));
                }
                _ => {}
            }
        }
    }

    fn weaken(&mut self, call: &Ident, argument: usize, ordering: &str) {
        let Some(from) = ORDERINGS.into_iter().find(|from| *from == ordering) else { return };
        let place = call.span().start();
        for to in weaker(from, &call.to_string()) {
            let mut weakening = Weakening {
                file: self.file.to_owned(),
                line: place.line,
                column: place.column + 1,
                argument,
                function: self.function.clone(),
                operation: call.to_string(),
                from,
                to,
                number: 1,
            };
            let called_the_same =
                |other: &&Weakening| Weakening { number: 1, ..(*other).clone() }.name() == weakening.name();
            weakening.number += self.found.iter().filter(called_the_same).count();
            self.found.push(weakening);
        }
    }
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
        let names: Vec<String> = weakenings("a.rs", SOURCE).unwrap().iter().map(Weakening::name).collect();
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
        let found = weakenings("a.rs", SOURCE).unwrap();
        let place = |index: usize| (found[index].line, found[index].column, found[index].argument);
        assert_eq!(place(0), (4, 15, 0));
        assert_eq!(place(3), (5, 5, 0));
        assert_eq!(place(4), (8, 15, 1));
        assert_eq!(place(5), (8, 87, 0));
    }

    #[test]
    fn names_that_occur_twice_are_numbered() {
        let twice = "fn f() { a.load(Ordering::Acquire); b.load(Ordering::Acquire) }";
        let names: Vec<String> = weakenings("a.rs", twice).unwrap().iter().map(Weakening::name).collect();
        assert_eq!(names, ["a.rs f load Acquire -> Relaxed", "a.rs f load Acquire -> Relaxed #2"]);
    }
}
