//! Boundaries of ads in JSON Lines.

/// Returns the byte offset of the last line of `window` that certainly begins an ad. `None` if there is no such line, or
/// if only the grammar can tell.
///
/// A `{` at the beginning of a line begins an ad if the line before ends with `}`: a string does not go beyond its
/// line, and in an ad a comma would stand between the two. If the ad before has an error, it ends there, too.
pub fn last_ad_line(window: &[u8]) -> Option<usize> {
    let begins_ad = |end: &usize| {
        let before = window[..*end].trim_ascii_end();
        window[end + 1..].starts_with(b"{") && before.ends_with(b"}") && !ends_in_comment(before)
    };
    let start = memchr::memrchr_iter(b'\n', window).find(begins_ad)? + 1;
    // A comment may go beyond its line.
    memchr::memmem::find(&window[..start], b"/*").is_none().then_some(start)
}

/// Whether a line of JSON Lines ends an ad if the next line begins with `{`, as [`last_ad_line`] says. A comment that
/// goes beyond its line is not seen.
pub fn closes_ad_line(line: &[u8]) -> bool {
    let content = line.trim_ascii_end();
    content.ends_with(b"}") && !ends_in_comment(content)
}

/// Whether the last line of `text` ends with a comment that begins with `//`: two slashes outside of strings.
fn ends_in_comment(text: &[u8]) -> bool {
    let line = &text[memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)..];
    let (mut is_in_string, mut at) = (false, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' => is_in_string = !is_in_string,
            b'\\' if is_in_string => at += 1,
            b'/' if !is_in_string && line[at..].starts_with(b"//") => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::last_ad_line;
    use crate::ad::{Ad, Dialect};
    use crate::format::{FileFormat, read};
    use crate::syntax::{Style, print_ad};

    #[test]
    fn whole_lines() {
        for (text, length) in [
            ("{\"a\": 1}\n{\"b\"", Some(9)),
            ("{\"a\": 1}\r\n{}\n", Some(10)),
            ("{\"a\": 1}\n", None),
            ("{\"a\": [\n{\"b\": 1}\n", None),
            ("{\"a\": [\n{\"b\": 1},\n{", None),
            ("{\"a\": 1} // c\n{", None),
            ("{\"a\": // }\n{ 1 }\n", None),
            ("{\"a\": \"\\\"//\"}\n{ 1 }\n", Some(14)),
            ("{\"a\": 1 /* }\n{ */ }\n", None),
        ] {
            assert_eq!(last_ad_line(text.as_bytes()), length, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_may_be_cut_there(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "\n", "[", "]", ",", "\"a\":", "1", "\"", "{\"a\": 1}\n", "}\n{", "/*", "*/", "//", " ", "\r",
                ]),
                0..14,
            ),
        ) {
            let text = pieces.concat();
            let items = |text: &str| printed_messages(text.as_bytes());
            if let Some(length) = last_ad_line(text.as_bytes()) {
                let (before, behind) = text.split_at(length);
                prop_assert_eq!(items(&text), [items(before), items(behind)].concat(), "{}", text);
            }
        }
    }

    /// Returns the ads of a text and the messages of its problems.
    fn printed_messages(text: &[u8]) -> Vec<String> {
        let items = read(text, FileFormat::JsonLines, Dialect::Condor);
        items.map(|item| item.map_or_else(|problem| problem.message, |entry| ad_text(&entry.ad))).collect()
    }

    fn ad_text(ad: &Ad) -> String {
        String::from_utf8_lossy(&print_ad(ad, Style::New)).into_owned()
    }
}
