//! Texts with the names and places that problems in them are reported with.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use classad::ad::{Ad, Dialect};
use classad::configuration::ConfigurationTexts;
use classad::format::{FileFormat, Position, ReadCache, StreamBlock};

/// A named text, or one block of it. Problems are reported with positions in the text.
#[derive(Clone)]
pub struct SourceText {
    pub name: Arc<str>,
    pub block: Arc<StreamBlock>,
    /// Positions of offsets some [`BYTES_BETWEEN_POSITIONS`] apart, from the beginning of the block, as far as they were
    /// needed. Thousands of problems can be in one line.
    positions: Arc<Mutex<Vec<(usize, Position)>>>,
    /// The files of a configuration, of which the text is made; `None` if it is a file or an argument itself.
    files: Option<Arc<ConfigurationPlaces>>,
}

/// The files of a configuration, and where the ranges of all of it are in them.
struct ConfigurationPlaces {
    texts: ConfigurationTexts,
    files: Vec<SourceText>,
}

/// Distance of the offsets whose positions a text remembers, in bytes.
const BYTES_BETWEEN_POSITIONS: usize = 4096;

impl AsRef<StreamBlock> for SourceText {
    fn as_ref(&self) -> &StreamBlock {
        &self.block
    }
}

impl SourceText {
    /// Whether two texts are one block in memory.
    pub fn is_same(&self, other: &SourceText) -> bool {
        Arc::ptr_eq(&self.block, &other.block)
    }

    /// Returns the byte offset of the block in the text of the whole file. `None` if the file does not have the block there.
    pub fn offset_in(&self, file: &[u8]) -> Option<usize> {
        let Position { line, column } = self.block.start;
        let lines: usize = file.split_inclusive(|byte| *byte == b'\n').take(line - 1).map(<[u8]>::len).sum();
        let line = file.get(lines..)?.split(|byte| *byte == b'\n').next()?;
        let before = String::from_utf8_lossy(line);
        let offset = lines + before.char_indices().nth(column - 1).map_or(before.len(), |(at, _)| at);
        file.get(offset..)?.starts_with(&self.block.text).then_some(offset)
    }

    pub fn new(name: impl Into<Arc<str>>, block: impl Into<Arc<StreamBlock>>) -> Self {
        let block = block.into();
        let positions = Arc::new(Mutex::new(vec![(0, block.start)]));
        SourceText { name: name.into(), block, positions, files: None }
    }

    /// Returns the first ad of the text; `None` if its first item has an error.
    pub fn first_ad(&self, dialect: Dialect) -> Option<Ad> {
        let mut cache = ReadCache::new(dialect);
        let first = self.block.ads_cached(&mut cache).next()?;
        first.ok().map(|entry| entry.ad)
    }

    /// Returns the position in the file of a byte offset in the text.
    pub fn position(&self, offset: usize) -> Position {
        let text = &self.block.text;
        let offset = offset.min(text.len());
        let mut known = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(&(last, position)) = known.last()
            && last + BYTES_BETWEEN_POSITIONS <= offset
        {
            // A character is counted as a whole.
            let next = char_start(text, last + BYTES_BETWEEN_POSITIONS);
            if next <= last {
                break;
            }
            known.push((next, position.after(&text[last..next])));
        }
        let before = known.partition_point(|(at, _)| *at <= offset).saturating_sub(1);
        known.get(before).map_or(self.block.start, |(at, position)| position.after(&text[*at..offset]))
    }

    /// Makes the text of a block of a source of this name.
    pub fn of_block(name: &str, block: StreamBlock) -> Self {
        SourceText::new(name, block)
    }

    /// Makes the text of a configuration, whose problems are reported in its files.
    pub fn of_configuration(name: &str, texts: &ConfigurationTexts) -> Self {
        let file = |(index, name): (usize, &String)| {
            SourceText::from_file(name, texts.file_text(index).as_bytes().to_vec(), FileFormat::Long)
        };
        let files: Vec<SourceText> = texts.files().iter().enumerate().map(file).collect();
        let all = SourceText::from_file(name, texts.text().as_bytes().to_vec(), FileFormat::Long);
        SourceText { files: Some(Arc::new(ConfigurationPlaces { texts: texts.clone(), files })), ..all }
    }

    /// Returns the file in which a range of the text stands, and the range there.
    pub fn placed(&self, range: Range<usize>) -> (SourceText, Range<usize>) {
        let Some(places) = &self.files else { return (self.clone(), range) };
        let (file, range) = places.texts.place(&range);
        places.files.get(file).map_or_else(|| (self.clone(), range.clone()), |text| (text.clone(), range.clone()))
    }

    /// Returns the file in which the first of some marks stands, and those of the marks that stand there, as ranges of it.
    pub fn placed_marks<T>(&self, marks: Vec<(Range<usize>, T)>) -> (SourceText, Vec<(Range<usize>, T)>) {
        let mut placed = marks.into_iter().map(|(range, words)| (self.placed(range), words));
        let Some(((text, range), words)) = placed.next() else { return (self.clone(), Vec::new()) };
        let others = placed.filter(|((other, _), _)| other.is_same(&text)).map(|((_, range), words)| (range, words));
        let marks = [(range, words)].into_iter().chain(others).collect();
        (text, marks)
    }

    /// Makes the text of a whole file of settings.
    pub fn from_file(name: &str, bytes: Vec<u8>, form: FileFormat) -> Self {
        SourceText::new(name, StreamBlock::from_complete_text(bytes, form))
    }

    /// Makes the text of a part of `name`, such as an entry of a script; `line` is the 1-based line at which the part
    /// begins.
    pub fn from_lines(name: &str, text: &str, line: usize) -> Self {
        let block = StreamBlock::from_complete_text(text, FileFormat::Bracketed);
        SourceText::new(name, StreamBlock { start: Position { line, column: 1 }, ..block })
    }

    /// Makes the text of an argument of the command line. `name` describes the argument in diagnostics.
    pub fn from_argument(name: &str, text: &str) -> Self {
        SourceText::new(name, StreamBlock::from_complete_text(text, FileFormat::Bracketed))
    }
}

/// Returns the start of the UTF-8 character that contains an offset.
pub fn char_start(bytes: &[u8], offset: usize) -> usize {
    (0..=offset).rev().find(|at| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Position, SourceText, StreamBlock, char_start};

    #[test]
    fn positions_are_those_of_the_block() {
        let mut random = fastrand::Rng::with_seed(3);
        for separator in ["\n", "\u{e4}\u{20ac}", "\u{80}\u{80}"] {
            let pieces: Vec<&str> = (0..20_000).map(|_| if random.u8(0..20) == 0 { separator } else { "x" }).collect();
            let text = SourceText::from_lines("text", &pieces.concat(), 5);
            for _ in 0..200 {
                let offset = random.usize(0..=text.block.text.len() + 2);
                assert_eq!(text.position(offset), text.block.position(offset), "{offset} of {separator:?}");
            }
        }
    }

    #[test]
    fn a_character_begins_at_its_first_byte() {
        for (text, starts) in [("", &[0, 1, 2][..]), ("ab", &[0, 1, 2, 3]), ("a\u{20ac}b", &[0, 1, 1, 1, 4, 5, 6])] {
            let found: Vec<usize> = (0..starts.len()).map(|offset| char_start(text.as_bytes(), offset)).collect();
            assert_eq!(found, starts, "{text}");
        }
        assert_eq!(char_start(b"\x80\x80", 1), 0);
    }

    #[test]
    fn a_block_is_found_in_its_file() {
        let file = "one\ntw\u{e4}o\nthree";
        for (text, line, column, expected) in [
            ("one", 1, 1, Some(0)),
            ("ne\nt", 1, 2, Some(1)),
            ("tw", 2, 1, Some(4)),
            ("o", 2, 4, Some(8)),
            ("three", 3, 1, Some(10)),
            ("", 3, 9, Some(15)),
            ("two", 2, 1, None),
            ("four", 4, 1, None),
        ] {
            let mut block = SourceText::from_lines("file", text, line);
            let start = Position { line, column };
            block.block = StreamBlock { start, ..StreamBlock::clone(&block.block) }.into();
            assert_eq!(block.offset_in(file.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn marks_of_one_file_stay() {
        let text = SourceText::from_argument("argument", "one two");
        let (placed, marks) = text.placed_marks(vec![(0..3, "here"), (4..7, "there")]);
        assert!(placed.is_same(&text));
        assert_eq!(marks, [(0..3, "here"), (4..7, "there")]);
        assert!(text.placed_marks::<&str>(Vec::new()).1.is_empty());
        assert!(!text.is_same(&SourceText::from_argument("argument", "one two")));
    }
}
