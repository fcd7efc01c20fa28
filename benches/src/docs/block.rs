//! Where a document wants a table.

use super::table::Table;

/// What a comment begins with that says which table is wanted.
const OPEN: &str = "<!-- docs\n";
const CLOSE: &str = "\n-->\n";
const END: &str = "<!-- /docs -->";

/// The text with every block's table as `render` has it.
pub fn rewrite(text: &str, render: impl Fn(&Table) -> Result<String, String>) -> Result<String, String> {
    let mut written = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(OPEN) {
        let (before, block) = rest.split_at(start);
        written += before;
        let line = 1 + text[..text.len() - block.len()].lines().count();
        let at = |problem: String| format!("line {line}: {problem}");
        let (comment, after) =
            block.split_once(CLOSE).ok_or_else(|| at("the comment has no end".to_owned()))?;
        // A block without an end would take the next one's, and what is between.
        let end = after.find(END).filter(|&end| !after[..end].contains(OPEN));
        let end = end.ok_or_else(|| at(format!("there is no '{END}' behind it")))?;
        let table = toml::from_str(&comment[OPEN.len()..]).map_err(|error| at(error.to_string()))?;
        written += &format!("{comment}{CLOSE}\n{}\n", render(&table).map_err(at)?);
        rest = &after[end..];
    }
    Ok(written + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "# Title\n\n<!-- docs\ncorner = \"a\"\n-->\nold\n<!-- /docs -->\nmore\n";

    #[test]
    fn a_block_that_is_not_one_is_refused_by_its_line() {
        let refused = |text: &str| rewrite(text, |_| Err("nothing there".to_owned())).unwrap_err();
        let cases = [
            (BLOCK.to_owned(), "line 3: nothing there"),
            (BLOCK.replace("/docs", "docs"), "line 3: there is no '<!-- /docs -->' behind it"),
            (BLOCK.replace("-->\nold", "old"), "line 3: the comment has no end"),
            (BLOCK.replace("corner", "koner"), "unknown field `koner`"),
        ];
        for (text, wanted) in cases {
            let line = refused(&text);
            assert!(line.contains(wanted), "{line}");
        }
        let two = BLOCK.replace("<!-- /docs -->", "") + BLOCK;
        assert!(refused(&two).starts_with("line 3: there is no"));
    }
}
