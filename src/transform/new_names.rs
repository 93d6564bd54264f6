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
