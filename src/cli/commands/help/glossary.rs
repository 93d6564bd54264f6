//! The words that the topic `words` explains.

use super::markup::{HelpBlock, parse};
use super::topics::find_topic;

/// Returns the row of the topic `words` that explains this word, ignoring case. `None` if no row does.
pub fn find_word(word: &str) -> Option<(String, String)> {
    let blocks = parse(find_topic("words")?.text);
    let rows = blocks.into_iter().filter_map(|block| match block {
        HelpBlock::Terms(rows) => Some(rows),
        _ => None,
    });
    let names = |terms: &str| terms.split(", ").any(|term| term.eq_ignore_ascii_case(word));
    let begins = |terms: &str| terms.split(' ').next().is_some_and(|first| first.eq_ignore_ascii_case(word));
    let rows: Vec<(String, String)> = rows.flatten().collect();
    rows.iter().find(|row| names(&row.0)).or_else(|| rows.iter().find(|row| begins(&row.0))).cloned()
}

#[cfg(test)]
mod tests {
    use super::find_word;

    #[test]
    fn words_are_explained() {
        for word in ["TARGET", "my", "partitionable", "access point", "undefined"] {
            assert!(find_word(word).is_some(), "{word}");
        }
        assert!(find_word("nothing").is_none() && find_word("").is_none());
    }
}
