//! Writer of the long form.

use crate::ad::Name;
use crate::format::ad_syntax::AdSyntax;
use crate::format::{FileFormat, detect};
use crate::syntax::{print_line, print_name};

use super::line_kind::LineKind;

/// How the long form writes an ad: as lines, followed by a blank line.
pub const SYNTAX: AdSyntax = AdSyntax {
    begin: "",
    separator: "",
    end: "\n",
    empty: "\n",
    plain_literal_end: Some("\n"),
    push_name: |name, text| {
        text.extend_from_slice(line_name(name).as_bytes());
        text.extend_from_slice(b" = ");
    },
    push_value: |expression, text| {
        let changes = print_line(expression, text);
        text.push(b'\n');
        changes
    },
};

/// Returns a name as it is written at the beginning of a line.
///
/// HTCondor reads everything before the `=` as the name and knows no quotes. So a name is quoted only if it could not
/// be read back otherwise, or if the line would be detected as another format.
fn line_name(name: &Name) -> String {
    let text = name.as_str();
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let safe = is_plain(text)
        || text.trim() == text
            && !text.contains(['=', '\n', '\r'])
            && !text.starts_with(['#', '\'', '[', '/', '\u{feff}'])
            && LineKind::of(text.as_bytes()) == LineKind::Attribute
            && detect(format!("{text} = ").as_bytes()) == Some(FileFormat::Long);
    if safe { text.to_owned() } else { print_name(name) }
}

#[cfg(test)]
mod tests {
    use super::SYNTAX;
    use crate::ad::{Dialect, Expression, Name, Value};
    use crate::format::long::LongReader;
    use crate::format::{FileFormat, detect};

    #[test]
    fn names_that_look_like_another_form() {
        for name in
            ["<", "<<", "{", "[", "---", "%YAML", "a: b", "b:", "\u{feff}", "\u{feff}x", "#", "//", "a=b", "*** Offset"]
        {
            let ad = [(Name::new(name), Expression::literal(Value::Integer(1)))].into_iter().collect();
            let mut text = Vec::new();
            SYNTAX.push_ad(&ad, &mut text);
            assert!(
                text.starts_with(b"'") && detect(&text) == Some(FileFormat::Long),
                "{name:?} {}",
                String::from_utf8_lossy(&text)
            );
            let again = LongReader::new(&text, Dialect::Condor).next().unwrap();
            assert!(again.unwrap().ad == ad, "{name}");
        }
        for name in ["a b", "1a", "true", "** Offset", "a:b", "---a", "-x", "\"x"] {
            assert_eq!(super::line_name(&Name::new(name)), name);
        }
    }
}
