//! New names of attributes for COPY and RENAME.

use crate::ad::Name;
use crate::eval::{Context, SearchSteps, TemplatePiece, group_text, parse_template};

use super::edited_ad::EditedAd;
use super::keywords::is_name;
use super::rule::NamePattern;

/// Returns the attributes whose names match the pattern, each with its new name, in HTCondor's order: the byte order of
/// the names. In `template`, `\0` stands for the matched text, and `\1` to `\9` stand for the groups of the pattern.
pub(super) fn matching(
    ad: &EditedAd<'_>,
    pattern: &NamePattern,
    template: &[u8],
) -> Result<Vec<(Name, Vec<u8>)>, String> {
    let pattern = pattern.compiled()?;
    let mut found = Vec::new();
    for name in ad.sorted_names() {
        let subject = name.as_str().as_bytes();
        let mut steps = SearchSteps::new(Context::DEFAULT_MAX_STEPS);
        if let Some(groups) = pattern.find(subject, 0, &mut steps).map_err(|fault| fault.to_string())? {
            let mut new = Vec::with_capacity(template.len());
            for piece in parse_template(template) {
                match piece {
                    TemplatePiece::Text(text) => new.extend_from_slice(text),
                    TemplatePiece::Group(number) => match group_text(&groups, subject, number) {
                        Some(text) => new.extend_from_slice(text),
                        None => new.extend(format!("\\{number}").bytes()),
                    },
                }
            }
            found.push((name.clone(), new));
        }
    }
    Ok(found)
}

/// Converts a text to a name. `Err` holds the reason why the text is not a valid name.
pub(super) fn new_name(text: &[u8]) -> Result<Name, String> {
    let text = String::from_utf8_lossy(text);
    if is_name(text.trim_ascii()) {
        return Ok(Name::new(text.trim_ascii()));
    }
    if text.trim_ascii().is_empty() {
        return Err("the new name is empty".to_owned());
    }
    let shown: String = text.chars().take(60).collect();
    Err(format!("`{shown}` is not an attribute name"))
}

#[cfg(test)]
mod tests {
    use super::{matching, new_name};
    use crate::syntax::{ParseOptions, parse_ad};
    use crate::transform::NamePattern;
    use crate::transform::edited_ad::EditedAd;
    use crate::transform::edited_shapes::EditedShapes;

    #[test]
    fn names_that_match_get_names_with_the_groups_of_the_pattern() {
        let ad = parse_ad(b"[ b = 1; abc = 2; Bcd = 3; aab = 4 ]", ParseOptions::default()).unwrap();
        let ad = EditedAd::new(&ad, &EditedShapes::default());
        for (text, options, template, expected) in [
            ("b", "", "x", "Bcd x, aab x, abc x, b x"),
            ("b", "g", "x", "Bcd x, b x"),
            ("b|a", "g", "x", "Bcd x, aab x, abc x, b x"),
            ("^b$", "i", "\\0\\0", "b bb"),
            ("(a+)(b?)", "", "\\2-\\1-\\3", "aab b-aa-\\3, abc b-a-\\3"),
            ("(a+)(b?)", "U", "\\2-\\1", "aab -a, abc -a"),
            ("none", "", "x", ""),
        ] {
            let pattern = NamePattern { text: text.to_owned(), options: options.to_owned() };
            let found = matching(&ad, &pattern, template.as_bytes()).unwrap();
            let shown = found.iter().map(|(name, new)| format!("{name} {}", String::from_utf8_lossy(new)));
            assert_eq!(shown.collect::<Vec<_>>().join(", "), expected, "{text} {options}");
        }
    }

    #[test]
    fn a_new_name_is_that_of_an_attribute() {
        let long = "-".repeat(61);
        for (text, expected) in [
            ("a", Ok("a")),
            (" a_1 ", Ok("a_1")),
            ("_", Ok("_")),
            ("", Err("the new name is empty".to_owned())),
            (" ", Err("the new name is empty".to_owned())),
            ("1a", Err("`1a` is not an attribute name".to_owned())),
            ("a b", Err("`a b` is not an attribute name".to_owned())),
            (long.as_str(), Err(format!("`{}` is not an attribute name", &long[1..]))),
        ] {
            assert_eq!(new_name(text.as_bytes()).map(|name| name.to_string()), expected.map(str::to_owned), "{text}");
        }
    }
}
