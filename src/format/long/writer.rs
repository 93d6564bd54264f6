//! Writer of the long form.

use std::io::{self, Write};

use crate::ad::{Ad, Name};
use crate::format::writer::LossyChanges;
use crate::format::{FileFormat, detect};
use crate::syntax::{print_line, print_name};

/// Writes an ad as lines, followed by a blank line. Returns the changes to values that the long form cannot represent.
///
/// # Errors
///
/// I/O errors of `out`.
pub fn write(out: &mut dyn Write, ad: &Ad) -> io::Result<LossyChanges> {
    let mut changes = Vec::new();
    for attribute in ad.iter() {
        write!(out, "{} = ", line_name(attribute.name))?;
        let (line, lost) = print_line(attribute.expression);
        out.write_all(&line)?;
        writeln!(out)?;
        changes.extend(lost.into_iter().map(|change| (attribute.name.clone(), change)));
    }
    writeln!(out)?;
    Ok(changes)
}

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
            && detect(format!("{text} = ").as_bytes()) == Some(FileFormat::Long);
    if safe { text.to_owned() } else { print_name(name) }
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::ad::{Dialect, Expression, Name, Value};
    use crate::format::long::LongReader;
    use crate::format::{FileFormat, detect};

    #[test]
    fn names_that_look_like_another_form() {
        for name in ["<", "<<", "{", "[", "---", "%YAML", "a: b", "b:", "\u{feff}", "\u{feff}x", "#", "//", "a=b"] {
            let ad = [(Name::new(name), Expression::literal(Value::Integer(1)))].into_iter().collect();
            let mut text = Vec::new();
            write(&mut text, &ad).unwrap();
            assert!(
                text.starts_with(b"'") && detect(&text) == Some(FileFormat::Long),
                "{name:?} {}",
                String::from_utf8_lossy(&text)
            );
            let again = LongReader::new(&text, Dialect::Condor).next().unwrap();
            assert!(again.unwrap().ad == ad, "{name}");
        }
        for name in ["a b", "1a", "true", "*** Offset", "a:b", "---a", "-x", "\"x"] {
            assert_eq!(super::line_name(&Name::new(name)), name);
        }
    }
}
