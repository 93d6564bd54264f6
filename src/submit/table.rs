//! Tables of items: `queue ... from table(header=1, sep=;) FILE`.

/// How items are split into values, and which of the lines are items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableOptions {
    /// Index of the line that names the columns; `None` if no line does.
    pub header: Option<usize>,
    /// Number of lines that are left out, as HTCondor counts them: only with a header that is not the first line.
    pub skipped: usize,
    splits_at_blanks: bool,
    trims: bool,
    /// The character between columns; `None` for commas and blanks.
    separator: Option<char>,
}

impl TableOptions {
    /// Those of `queue ... from` without `table`.
    pub const LINES: TableOptions =
        TableOptions { header: None, skipped: 0, splits_at_blanks: true, trims: true, separator: Some(',') };
    /// Those of `table`.
    pub const TABLE: TableOptions = TableOptions { header: Some(0), splits_at_blanks: false, ..TableOptions::LINES };
    /// Those of `table(csv)`.
    const CSV: TableOptions = TableOptions { header: None, ..TableOptions::TABLE };

    /// Reads options at the beginning of a text, which begins with `(`. Returns them, their length, and the options that
    /// mean nothing, which HTCondor passes over; `None` if the parenthesis is not closed.
    pub fn read(text: &str) -> Option<(Self, usize, Vec<String>)> {
        let length = parenthesized_length(text)?;
        let (mut options, mut unknown) = (TableOptions::TABLE, Vec::new());
        for option in text[1..length - 1].split(',').map(str::trim).filter(|option| !option.is_empty()) {
            if options.set(option).is_none() {
                unknown.push(option.to_owned());
            }
        }
        Some((options, length, unknown))
    }

    /// Sets an option; `None` if it means nothing.
    fn set(&mut self, option: &str) -> Option<()> {
        let Some((name, value)) = option.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
            let kinds = [("standard", TableOptions::LINES), ("csv", TableOptions::CSV)];
            *self = kinds.into_iter().find(|(name, _)| option.eq_ignore_ascii_case(name))?.1;
            return Some(());
        };
        let number = || value.parse::<i64>().ok();
        let truth = || match value.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        match name.to_ascii_lowercase().as_str() {
            "header" if value.eq_ignore_ascii_case("none") => self.header = None,
            "header" => self.header = usize::try_from(number()?).ok(),
            "skip" => self.skipped = usize::try_from(number()?).unwrap_or(0),
            "trim" => self.trims = truth()?,
            "comma_sep" => self.separator = truth()?.then_some(','),
            "sep" => self.separator = Some(value.chars().next()?),
            _ => return None,
        }
        Some(())
    }

    /// Splits an item into a value for each of `count` variables, or at all separators. The last gets the rest.
    pub fn split<'i>(&self, item: &'i str, count: Option<usize>) -> Vec<&'i str> {
        let is_usual = *self == TableOptions::LINES;
        let has_unit_separators = is_usual && item.contains('\x1f');
        let is_between = |c: char| match self.separator {
            _ if has_unit_separators => c == '\x1f',
            Some(separator) => c == separator || self.splits_at_blanks && matches!(c, ' ' | '\t'),
            None => matches!(c, ',' | ' ' | '\t'),
        };
        let is_trimmed = |c: char| self.trims && matches!(c, ' ' | '\t');
        let mut values = Vec::new();
        let mut rest = item.trim_matches(is_trimmed);
        while count.is_none_or(|count| values.len() + 1 < count) {
            let Some((value, behind)) = rest.split_once(is_between) else { break };
            values.push(value.trim_end_matches(is_trimmed));
            rest = behind.trim_start_matches(is_trimmed);
        }
        values.push(rest);
        values.resize(count.unwrap_or(values.len()).max(1), "");
        values
    }
}

/// Returns the length of a text in parentheses at the beginning of a text; `None` if they are not closed.
fn parenthesized_length(text: &str) -> Option<usize> {
    let (mut open, mut quote) = (Vec::new(), None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(mark), _) if c == mark => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => open.push(')'),
            (None, '[') => open.push(']'),
            (None, _) if open.last() == Some(&c) => {
                open.pop();
            }
            _ => {}
        }
        if open.is_empty() {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::TableOptions;

    #[test]
    fn values_of_items() {
        let read = |text: &str| TableOptions::read(text).unwrap().0;
        for (options, item, count, expected) in [
            (TableOptions::LINES, "a", 1, vec!["a"]),
            (TableOptions::LINES, " a b ", 1, vec!["a b"]),
            (TableOptions::LINES, "a, b c", 2, vec!["a", "b c"]),
            (TableOptions::LINES, "a", 3, vec!["a", "", ""]),
            (TableOptions::LINES, "a,,b", 3, vec!["a", "", "b"]),
            (TableOptions::LINES, "a b\x1f c", 2, vec!["a b", "c"]),
            (TableOptions::TABLE, " a b , c,d ", 2, vec!["a b", "c,d"]),
            (read("(trim=false)"), " a , b", 2, vec![" a ", " b"]),
            (read("(sep=|)"), "a b | c, d", 2, vec!["a b", "c, d"]),
            (read("(comma_sep=false)"), "a b, c", 3, vec!["a", "b", "c"]),
            (read("(standard)"), "a b", 2, vec!["a", "b"]),
        ] {
            assert_eq!(options.split(item, Some(count)), expected, "{item}");
        }
        assert_eq!(TableOptions::TABLE.split("a, b c,d", None), ["a", "b c", "d"]);
    }

    #[test]
    fn options() {
        for (text, expected) in [
            ("(csv) x", "5"),
            ("(header=1, sep=;) x", "17"),
            ("(sep=\")\") x", "9"),
            ("(header=x, trim=maybe, columns=3, sep=)", "39 header=x trim=maybe columns=3 sep="),
            ("(csv", "not closed"),
        ] {
            let read = TableOptions::read(text);
            let shown = |(_, length, unknown): (_, usize, Vec<String>)| format!("{length} {}", unknown.join(" "));
            assert_eq!(read.map_or("not closed".to_owned(), shown).trim_end(), expected, "{text}");
        }
        assert_eq!(TableOptions::read("(csv)").unwrap().0, TableOptions::CSV);
        assert_eq!(TableOptions::read("()").unwrap().0, TableOptions::TABLE);
    }
}
