//! Where orderings stand in a source file, and what weaker ones there are.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Ident, LexError, TokenStream, TokenTree};

/// One ordering, to be made weaker.
#[derive(Clone, Debug)]
pub(super) struct Weakening {
    /// Below `clockworker/src`.
    pub(super) file: String,
    /// Without the line, which changes; those that are called the same are numbered.
    pub(super) name: String,
    /// The place of the operation, which of its orderings it is, and what it becomes, as the models are told:
    /// `src/file:line:column:argument=ordering`.
    pub(super) site: String,
}

const ORDERINGS: [&str; 4] = ["Acquire", "Release", "AcqRel", "SeqCst"];

/// All weakenings of a file. Its tests, at its end, are left out.
pub(super) fn weakenings(file: &str, text: &str) -> Result<Vec<Weakening>, LexError> {
    let mut search = Search { file, ..Search::default() };
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

#[derive(Default)]
struct Search<'a> {
    file: &'a str,
    /// The last function that began.
    function: String,
    found: Vec<Weakening>,
    /// How many are called so.
    called: BTreeMap<String, usize>,
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

    /// `argument` is 0, or 1 for the ordering of a failed exchange.
    fn weaken(&mut self, call: &Ident, argument: usize, from: &str) {
        if !ORDERINGS.contains(&from) {
            return;
        }
        let Search { file, function, .. } = self;
        let place = call.span().start();
        let failure = if argument == 0 { "" } else { " on failure" };
        for to in weaker(from, &call.to_string()) {
            let mut name = format!("{file} {function} {call}{failure} {from} -> {to}");
            let number = self.called.entry(name.clone()).or_default();
            *number += 1;
            if *number > 1 {
                name += &format!(" #{number}");
            }
            let site = format!("src/{file}:{}:{}:{argument}={to}", place.line, place.column + 1);
            self.found.push(Weakening { file: (*file).to_owned(), name, site });
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
fn twice() { a.load(Ordering::Acquire); b.load(Ordering::Acquire) }
#[cfg(test)]
mod tests { fn third() { load(Ordering::Acquire) } }
";

    #[test]
    fn every_ordering_is_found_once_per_weaker_one_at_the_place_that_the_compiler_gives() {
        let expected = [
            ("first fetch_or AcqRel -> Acquire", "4:15:0=Acquire"),
            ("first fetch_or AcqRel -> Release", "4:15:0=Release"),
            ("first fetch_or AcqRel -> Relaxed", "4:15:0=Relaxed"),
            ("first fence Acquire -> Relaxed", "5:5:0=Relaxed"),
            ("second compare_exchange on failure Acquire -> Relaxed", "8:15:1=Relaxed"),
            ("second load SeqCst -> Acquire", "8:87:0=Acquire"),
            ("second load SeqCst -> Relaxed", "8:87:0=Relaxed"),
            ("twice load Acquire -> Relaxed", "10:16:0=Relaxed"),
            ("twice load Acquire -> Relaxed #2", "10:43:0=Relaxed"),
        ];
        let found = weakenings("a.rs", SOURCE).unwrap();
        let found: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.site.as_str())).collect();
        let expected = expected.map(|(name, site)| (format!("a.rs {name}"), format!("src/a.rs:{site}")));
        assert_eq!(found, expected.each_ref().map(|(name, site)| (name.as_str(), site.as_str())));
    }
}
