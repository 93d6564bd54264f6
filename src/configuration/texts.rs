//! The texts of a configuration: its files, and values that stand in no file as they are.

use std::ops::Range;

/// The texts of the files of a configuration, one after the other, and values that were made of several pieces. Ranges of
/// a configuration are ranges of all of it.
#[derive(Clone, Debug, Default)]
pub struct ConfigurationTexts {
    pub(super) text: String,
    files: Vec<String>,
    /// The pieces of the text, without gaps.
    pieces: Vec<ConfigurationPiece>,
}

/// Variable of a configuration.
#[derive(Clone, Debug)]
pub struct ConfigurationEntry {
    /// Name as written.
    pub name: String,
    /// Byte range of the name in the dump.
    pub name_range: Range<usize>,
    /// Byte range of the value in the dump, without blanks around it.
    pub value_range: Range<usize>,
    /// 1-based number of the line in the dump.
    pub line: usize,
    /// Where the variable was set, as `-verbose` tells; `None` if the dump does not tell.
    pub origin: Option<String>,
}

/// A piece of the text, and where it stands.
#[derive(Clone, Debug)]
struct ConfigurationPiece {
    start: usize,
    file: usize,
    /// Its range in the text of the file.
    place: Range<usize>,
    /// Whether it stands there as it is. Otherwise the place is that of the statement that makes it.
    is_verbatim: bool,
}

impl ConfigurationTexts {
    /// Adds a file. Returns the offset of its text.
    pub(super) fn add_file(&mut self, name: &str, text: &str) -> usize {
        let start = self.text.len();
        self.pieces.push(ConfigurationPiece { start, file: self.files.len(), place: 0..text.len(), is_verbatim: true });
        self.files.push(name.to_owned());
        self.text.push_str(text);
        start
    }

    /// Adds a value that the statement at `place` makes. Of `pieces`, which are offsets in the value and ranges of the text,
    /// each stands in a file as it is. Returns the range of the value.
    pub(super) fn add_value(
        &mut self,
        value: &str,
        place: &Range<usize>,
        pieces: &[(usize, Range<usize>)],
    ) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(value);
        let (file, statement) = self.place(place);
        if pieces.is_empty() {
            self.pieces.push(ConfigurationPiece { start, file, place: statement, is_verbatim: false });
        }
        for (at, range) in pieces {
            let (file, place) = self.place(range);
            self.pieces.push(ConfigurationPiece { start: start + at, file, place, is_verbatim: true });
        }
        start..self.text.len()
    }

    /// The text of all files, with the values that were made.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the files, in the order in which they were read.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns the text of a file.
    #[must_use]
    pub fn file_text(&self, file: usize) -> &str {
        let whole = self.pieces.iter().find(|piece| piece.file == file && piece.is_verbatim);
        whole.map_or("", |piece| &self.text[piece.start..piece.start + piece.place.len()])
    }

    /// Returns the index of the file in which a range of the text stands, and the range there.
    #[must_use]
    pub fn place(&self, range: &Range<usize>) -> (usize, Range<usize>) {
        let piece_at = |at: usize| self.pieces.partition_point(|piece| piece.start <= at).saturating_sub(1);
        let Some(first) = self.pieces.get(piece_at(range.start)) else { return (0, range.clone()) };
        if !first.is_verbatim {
            return (first.file, first.place.clone());
        }
        let offset =
            |piece: &ConfigurationPiece, at: usize| (piece.place.start + (at - piece.start)).min(piece.place.end);
        let start = offset(first, range.start);
        let end = match self.pieces.get(piece_at(range.end.max(range.start + 1) - 1)) {
            Some(last) if last.file == first.file && last.is_verbatim && range.end >= last.start => {
                offset(last, range.end)
            }
            _ => first.place.end,
        };
        (first.file, start..end.max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::ConfigurationTexts;

    #[test]
    fn ranges_have_places_in_files() {
        let mut texts = ConfigurationTexts::default();
        let first = texts.add_file("a", "A = 1 \\\n 2\n");
        let second = texts.add_file("b", "B = 3\n");
        let joined = texts.add_value("1 2", &(first..first + 9), &[(0, 4..6), (2, 9..10)]);
        let made = texts.add_value("3 4", &(second..second + 5), &[]);
        assert_eq!(texts.place(&(second + 4..second + 5)), (1, 4..5));
        assert_eq!(texts.place(&joined), (0, 4..10));
        assert_eq!(texts.place(&(joined.start + 2..joined.end)), (0, 9..10));
        assert_eq!(texts.place(&made), (1, 0..5));
        assert_eq!((texts.file_text(0), texts.file_text(1)), ("A = 1 \\\n 2\n", "B = 3\n"));
    }
}
