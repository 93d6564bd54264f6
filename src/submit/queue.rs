//! Arguments of the queue statement: `queue [count] [variables] [in | from | matching] [slice] [items]`.

use std::ops::Range;

use super::table::TableOptions;

/// Where the items of a queue statement come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ItemSource {
    /// There are no items: `queue 3`.
    None,
    /// The items of the statement itself.
    Listed,
    /// The lines after the statement, up to one that begins with `)`.
    Following,
    /// The lines of a file.
    File(String),
}

/// How the items of a queue statement are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// `in`: words.
    Words,
    /// `from`: lines, each with a word for each variable.
    Lines,
    /// `matching`: patterns of names.
    Patterns(MatchedNames),
}

/// What the names that `matching` finds are names of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchedNames {
    /// What the command `SubmitMatchDirectories` says; of anything by default.
    Usual,
    Files,
    Folders,
    Any,
}

/// The parsed arguments of a queue statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueueArguments {
    /// Text of the number of jobs for each item; empty for one job.
    pub count: String,
    pub variables: Vec<String>,
    pub kind: ItemKind,
    pub source: ItemSource,
    pub slice: ItemSlice,
    /// How lines are split into values.
    pub table: TableOptions,
    /// The items that the statement itself has.
    pub items: Vec<String>,
    /// What HTCondor warns of or passes over, as phrases.
    pub doubts: Vec<String>,
}

/// Slice of the items: `[start:end:step]`, as in Python.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemSlice {
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
}

impl ItemSlice {
    /// Parses a slice at the beginning of a text. Returns the slice and its length; `None` if the brackets hold none.
    fn read(text: &str) -> Option<(Self, usize)> {
        let inside = text.strip_prefix('[')?;
        let end = inside.find(']')?;
        let numbers: Vec<&str> = inside[..end].split(':').map(str::trim).collect();
        let number = |at: usize| match numbers.get(at) {
            None | Some(&"") => Some(None),
            Some(text) => text.parse().ok().map(Some),
        };
        let slice = ItemSlice { start: number(0)?, end: number(1)?, step: number(2)? };
        (numbers.len() <= 3 && slice.step.is_none_or(|step| step > 0)).then_some((slice, end + 2))
    }

    /// Whether the slice has the item at this index, of `count` items.
    pub fn has(&self, index: usize, count: usize) -> bool {
        let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let (index, count) = (whole(index), whole(count));
        let place = |number: i64| if number < 0 { number + count } else { number };
        let start = self.start.map_or(0, place);
        index >= start && index < self.end.map_or(count, place) && (index - start) % self.step.unwrap_or(1) == 0
    }
}

/// Returns the byte offset of the arguments of a queue statement; `None` if a line is none.
pub(super) fn queue_arguments_start(line: &str) -> Option<usize> {
    let word = line.find(|c: char| c.is_ascii_whitespace()).unwrap_or(line.len());
    let first = line[..word].to_ascii_lowercase();
    let is_queue = first == "queue" || first.len() >= 4 && "iterate".starts_with(&first);
    is_queue.then(|| line.len() - line[word..].trim_ascii_start().len())
}

impl QueueArguments {
    /// Parses arguments without macros.
    ///
    /// # Errors
    ///
    /// The reason, as a phrase, and the byte range of it in the text.
    pub fn parse(text: &str) -> Result<Self, (Range<usize>, &'static str)> {
        let mut parsed = QueueArguments {
            count: text.trim().to_owned(),
            variables: Vec::new(),
            kind: ItemKind::Words,
            source: ItemSource::None,
            slice: ItemSlice::default(),
            table: TableOptions::LINES,
            items: Vec::new(),
            doubts: Vec::new(),
        };
        let Some((keyword, word)) = item_keyword(text) else { return Ok(parsed) };
        parsed.source = ItemSource::Listed;
        parsed.kind = keyword;
        let rest = parsed.read_qualifiers(text, word.end)?;
        parsed.read_items(text[rest..].trim());
        let variables = variables_start(&text[..word.start]);
        text[..variables].trim().clone_into(&mut parsed.count);
        parsed.variables = words(&text[variables..word.start]);
        if parsed.variables.is_empty() {
            parsed.variables.push("Item".to_owned());
        }
        Ok(parsed)
    }

    /// Reads `files`, `dirs`, `any` and a slice, which begin at the byte offset `at`. Returns the offset behind them.
    fn read_qualifiers(&mut self, text: &str, mut at: usize) -> Result<usize, (Range<usize>, &'static str)> {
        loop {
            at = text.len() - text[at..].trim_ascii_start().len();
            let rest = &text[at..];
            // As in HTCondor, a word at the end of the line is an item.
            let Some(length) = rest.find(|c: char| c.is_ascii_whitespace() || c == '(').filter(|length| *length > 0)
            else {
                return Ok(at);
            };
            if rest.starts_with('[') {
                let slice = ItemSlice::read(rest);
                let (slice, length) = slice.ok_or((at..at + length, "these brackets hold no slice"))?;
                self.slice = slice;
                at += length;
                continue;
            }
            let names = match rest[..length].to_ascii_lowercase().as_str() {
                "files" => MatchedNames::Files,
                "dirs" => MatchedNames::Folders,
                "any" => MatchedNames::Any,
                "table" if self.kind == ItemKind::Lines => {
                    at = self.read_table(text, at + length)?;
                    continue;
                }
                "table" => return Err((at..at + length, "this word is for `queue ... from` only")),
                _ => return Ok(at),
            };
            if !matches!(self.kind, ItemKind::Patterns(_)) {
                return Err((at..at + length, "this word is for `queue ... matching` only"));
            }
            self.kind = ItemKind::Patterns(names);
            at += length;
        }
    }

    /// Reads the options of a table, which begin at the byte offset `at` if it has some. Returns the offset behind them.
    fn read_table(&mut self, text: &str, at: usize) -> Result<usize, (Range<usize>, &'static str)> {
        self.table = TableOptions::TABLE;
        if !text[at..].starts_with('(') {
            return Ok(at);
        }
        let (options, length, unknown) = TableOptions::read(&text[at..])
            .ok_or((at..text.len(), "these options of the table have no closing `)`"))?;
        self.table = options;
        self.doubts.extend(unknown.into_iter().map(|option| format!("`{option}` is not an option of a table")));
        Ok(at + length)
    }

    /// Reads the items, or where they are.
    fn read_items(&mut self, text: &str) {
        let is_lines = self.kind == ItemKind::Lines;
        match text.strip_prefix('(') {
            Some(inside) if inside.ends_with(')') => {
                let inside = inside[..inside.len() - 1].trim_ascii_start();
                self.items = if is_lines { vec![inside.to_owned()] } else { words(inside) };
            }
            Some(inside) => {
                let inside = inside.trim_ascii_start();
                self.source = ItemSource::Following;
                if !inside.is_empty() {
                    self.items = if is_lines { vec![inside.to_owned()] } else { words(inside) };
                }
            }
            None if is_lines => self.source = ItemSource::File(text.to_owned()),
            None => self.items = words(text),
        }
    }

    /// Adds a line of items that follow the statement, or that a file has.
    pub fn add_line(&mut self, line: &str) {
        match self.kind {
            ItemKind::Lines => self.items.push(line.to_owned()),
            ItemKind::Words | ItemKind::Patterns(_) => self.items.extend(words(line)),
        }
    }
}

/// Finds `in`, `from` or `matching`. Returns its kind of items and its byte range.
fn item_keyword(text: &str) -> Option<(ItemKind, Range<usize>)> {
    let mut start = None;
    for (at, c) in text.char_indices() {
        if !(c.is_ascii_whitespace() || c == '(') {
            start.get_or_insert(at);
            continue;
        }
        let Some(word) = start.take() else { continue };
        let kind = match text[word..at].to_ascii_lowercase().as_str() {
            "in" => ItemKind::Words,
            "from" => ItemKind::Lines,
            "matching" => ItemKind::Patterns(MatchedNames::Usual),
            _ => continue,
        };
        return Some((kind, word..at));
    }
    None
}

/// Returns the byte offset at which the names of variables begin at the end of a text; a number of jobs is before them.
fn variables_start(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut start = text.trim_ascii_end().len();
    let mut at = start;
    while at > 0 {
        let mut byte = bytes[at - 1];
        if byte.is_ascii_digit() {
            // Digits belong to a name only behind a letter.
            at -= 1;
            while at > 0 {
                byte = bytes[at - 1];
                if byte.is_ascii_alphabetic() {
                    break;
                }
                if !byte.is_ascii_digit() {
                    byte = b'!';
                    break;
                }
                at -= 1;
            }
        }
        if !(byte.is_ascii_whitespace() || byte.is_ascii_alphabetic() || b",_.".contains(&byte)) || at == 0 {
            break;
        }
        at -= 1;
        start = at;
    }
    start
}

/// Splits a text into words at commas and blanks.
pub(super) fn words(text: &str) -> Vec<String> {
    let is_between = |c: char| c == ',' || c.is_ascii_whitespace();
    text.split(is_between).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{ItemSlice, QueueArguments, queue_arguments_start};

    /// Returns count, variables, kind, items and what is selected of ten items.
    fn parsed(text: &str) -> String {
        match QueueArguments::parse(text) {
            Err((range, reason)) => format!("{}: {reason}", &text[range]),
            Ok(QueueArguments { count, variables, kind, source, slice, items, .. }) => {
                let selected: String =
                    (0..5).filter(|index| slice.has(*index, 5)).map(|index| index.to_string()).collect();
                let variables = variables.join(",");
                format!("{count}|{variables}|{kind:?}|{source:?}|{selected}|{}", items.join(";"))
            }
        }
    }

    #[test]
    fn arguments() {
        for (text, expected) in [
            ("", "||Words|None|01234|"),
            ("3", "3||Words|None|01234|"),
            ("1 + 2", "1 + 2||Words|None|01234|"),
            ("in (a, b c)", "|Item|Words|Listed|01234|a;b;c"),
            ("x in a b", "|x|Words|Listed|01234|a;b"),
            ("2 x,y1 in (a", "2|x,y1|Words|Following|01234|a"),
            ("x from (a b)", "|x|Lines|Listed|01234|a b"),
            ("x,y from (", "|x,y|Lines|Following|01234|"),
            ("x from items.txt", "|x|Lines|File(\"items.txt\")|01234|"),
            ("x in [1:] (a b)", "|x|Words|Listed|1234|a;b"),
            ("in [::2](a b)", "|Item|Words|Listed|024|a;b"),
            ("in [-2:] (a)", "|Item|Words|Listed|34|a"),
            ("in [1] (a)", "|Item|Words|Listed|1234|a"),
            ("in [:-1:1] (a)", "|Item|Words|Listed|0123|a"),
            ("in [1:4:2] (a)", "|Item|Words|Listed|13|a"),
            ("in [::0] (a)", "[::0]: these brackets hold no slice"),
            ("in [1:2:3:4] (a)", "[1:2:3:4]: these brackets hold no slice"),
            ("in [1:2 (a)", "[1:2: these brackets hold no slice"),
            ("x in table", "|x|Words|Listed|01234|table"),
            ("x matching files", "|x|Patterns(Usual)|Listed|01234|files"),
            ("x1y in (a)", "|x1y|Words|Listed|01234|a"),
            ("2x in (a)", "2|x|Words|Listed|01234|a"),
            ("2 x_y.z, w in (a)", "2|x_y.z,w|Words|Listed|01234|a"),
            ("(1+2) x in (a)", "(1+2)|x|Words|Listed|01234|a"),
            ("a-1 in (a)", "a-1|Item|Words|Listed|01234|a"),
            ("x IN a", "|x|Words|Listed|01234|a"),
            ("within a", "within a||Words|None|01234|"),
            ("in [x] (a)", "[x]: these brackets hold no slice"),
            ("matching *.txt", "|Item|Patterns(Usual)|Listed|01234|*.txt"),
            ("f matching files *.txt *.c", "|f|Patterns(Files)|Listed|01234|*.txt;*.c"),
            ("f matching dirs d*", "|f|Patterns(Folders)|Listed|01234|d*"),
            ("f matching [1:] files *.txt", "|f|Patterns(Files)|Listed|1234|*.txt"),
            ("f matching dirs [:2] d*", "|f|Patterns(Folders)|Listed|01|d*"),
            ("matching [1:3]  any (*.c *.h)", "|Item|Patterns(Any)|Listed|12|*.c;*.h"),
            ("x from [1:] table(csv) f.csv", "|x|Lines|File(\"f.csv\")|1234|"),
            ("f in files (a)", "files: this word is for `queue ... matching` only"),
            ("from", "from||Words|None|01234|"),
            ("from table (a,b", "|Item|Lines|Following|01234|a,b"),
            ("x from table(csv) [1:] f.csv", "|x|Lines|File(\"f.csv\")|1234|"),
            ("x from table(csv", "(csv: these options of the table have no closing `)`"),
            ("x in table (a)", "table: this word is for `queue ... from` only"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn queue_statements() {
        for (line, expected) in [
            ("queue", Some(5)),
            ("Queue 3", Some(6)),
            ("iterate  x", Some(9)),
            ("ITER 2", Some(5)),
            ("iter", Some(4)),
            ("ite 2", None),
            ("iterates 2", None),
            ("queued", None),
            ("que", None),
            ("", None),
        ] {
            assert_eq!(queue_arguments_start(line), expected, "{line}");
        }
    }

    #[test]
    fn slices() {
        for (text, expected) in [
            ("[]", "2 01234"),
            ("[:]x", "3 01234"),
            ("[::]", "4 01234"),
            ("[0]", "3 01234"),
            ("[4]", "3 4"),
            ("[5]", "3 "),
            ("[-5]", "4 01234"),
            ("[-6]", "4 01234"),
            ("[-1]", "4 4"),
            ("[:0]", "4 "),
            ("[:1]", "4 0"),
            ("[:5]", "4 01234"),
            ("[:-5]", "5 "),
            ("[:-4]", "5 0"),
            ("[1:1]", "5 "),
            ("[1:2]", "5 1"),
            ("[::1]", "5 01234"),
            ("[::2]", "5 024"),
            ("[1::2]", "6 13"),
            ("[::5]", "5 0"),
            ("[ 1 : 3 ]", "9 12"),
            ("[-2::1]", "7 34"),
            ("[1:2:0]", "none"),
            ("[::-1]", "none"),
            ("[x]", "none"),
            ("[:x]", "none"),
            ("[::x]", "none"),
            ("[:::]", "none"),
            ("[1", "none"),
            ("1]", "none"),
            ("", "none"),
        ] {
            let read = ItemSlice::read(text).map(|(slice, length)| {
                let selected = (0..5).filter(|index| slice.has(*index, 5)).map(|index| index.to_string());
                format!("{length} {}", selected.collect::<String>())
            });
            assert_eq!(read.as_deref().unwrap_or("none"), expected, "{text}");
        }
        assert!(!ItemSlice::default().has(0, 0));
    }
}
