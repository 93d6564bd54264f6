//! TRANSFORM lines, which make several ads of one.

use std::ops::Range;
use std::path::Path;

use crate::format::Problem;

use super::keywords::{error, is_variable, skip_blank};
use super::named_file::read_named_file;

/// Parsed TRANSFORM line. It makes `count` ads for each item.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformLine {
    /// Number of ads for each item.
    pub count: usize,
    /// Names of the variables that get the words of an item.
    pub variables: Vec<String>,
    /// The items; `None` if the line has no list.
    pub items: Option<IterationItems>,
    /// Whether the line has macros. HTCondor then numbers the ad also if there is only one.
    pub has_macros: bool,
}

/// Items of a TRANSFORM line.
#[derive(Clone, Debug, PartialEq)]
pub enum IterationItems {
    /// `in (a, b)`: one word for each item.
    In(Vec<String>),
    /// `from (`, followed by one line for each item, or `from FILE` with these lines.
    From(Vec<String>),
}

impl IterationItems {
    /// Returns the items in order.
    #[must_use]
    pub fn all(&self) -> &[String] {
        match self {
            IterationItems::In(items) | IterationItems::From(items) => items,
        }
    }
}

/// Maximum number of ads that the rules make of one input ad.
pub(super) const MAX_ADS_PER_AD: usize = 10_000;

impl TransformLine {
    /// Returns the number of ads that this `TRANSFORM` line makes of each input ad.
    #[must_use]
    pub fn total(&self) -> usize {
        self.count.saturating_mul(self.items.as_ref().map_or(1, |items| items.all().len()))
    }

    /// Whether the line makes several ads, or has items.
    pub(super) fn is_iterating(&self) -> bool {
        self.count > 1 || self.items.is_some()
    }

    /// Returns the variables with their values for an item. Each variable gets one word, and the last variable gets the
    /// remaining text. For the variables `x, y` and the item `a b c`, `y` is `b c`.
    pub(super) fn values<'a>(&'a self, item: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut rest = item;
        self.variables.iter().enumerate().map(move |(position, variable)| {
            let is_last = position + 1 == self.variables.len();
            let word_end = rest.split_once([',', ' ', '\t']).filter(|_| !is_last);
            let (value, behind) = word_end.unwrap_or((rest, ""));
            rest = behind.trim_start_matches([' ', '\t']);
            (variable.as_str(), value)
        })
    }
}

/// The arguments of a TRANSFORM line.
pub(super) struct TransformArguments {
    pub line: TransformLine,
    /// Whether the items stand on the next lines, up to a line that begins with `)`.
    pub items_follow: bool,
    /// The byte range in the line of a slice of the items; `None` if there is none. HTCondor ignores it.
    pub slice: Option<Range<usize>>,
}

/// Parses the arguments of a TRANSFORM line without macros, which begin at the byte offset `at`. Problems have byte ranges
/// in the line.
pub(super) fn parse_arguments(text: &str, at: usize) -> Result<TransformArguments, Problem> {
    let mut at = skip_blank(text, at);
    let mut iteration = TransformLine { count: 1, variables: Vec::new(), items: None, has_macros: false };
    let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        iteration.count = text[at..at + digits].parse().unwrap_or(usize::MAX);
        // HTCondor makes an ad of `TRANSFORM 0`, too.
        iteration.count = iteration.count.max(1);
        at = skip_blank(text, at + digits);
    }
    let start = at;
    while at < text.len() {
        let length =
            text[at..].find(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | '(')).unwrap_or(text.len() - at);
        let word = &text[at..at + length];
        let mode = word.to_ascii_lowercase();
        if mode == "in" || mode == "from" {
            if iteration.variables.is_empty() {
                iteration.variables.push("Item".to_owned());
            }
            return parse_list(text, skip_blank(text, at + length), iteration, mode == "from");
        }
        if mode == "matching" {
            let help = "list the items after `in` or `from`";
            return Err(error(at..text.len(), "patterns of file names are not supported here").with_help(help));
        }
        if !is_variable(word) {
            let help = "write `TRANSFORM 3`, `TRANSFORM x in (a, b)` or `TRANSFORM x from (...)`";
            return Err(error(at..at + length.max(1), "expected a variable, `in` or `from`").with_help(help));
        }
        iteration.variables.push(word.to_owned());
        at = skip_blank(text, at + length);
        if text[at..].starts_with(',') {
            at = skip_blank(text, at + 1);
        }
    }
    if !iteration.variables.is_empty() {
        let problem = error(start..text.len(), "`in` or `from` is missing after the variables");
        return Err(problem.with_help("write `TRANSFORM x in (a, b)`"));
    }
    Ok(TransformArguments { line: iteration, items_follow: false, slice: None })
}

/// Returns the length of a slice such as `[1:]` at the beginning of a text; 0 if there is none, or nothing behind it: then
/// it is an item. `None` if the brackets hold something else.
fn slice_length(text: &str) -> Option<usize> {
    let Some(inside) = text.strip_prefix('[') else { return Some(0) };
    let end = inside.find(']')?;
    let numbers: Vec<&str> = inside[..end].split(':').map(str::trim_ascii).collect();
    let is_number = |text: &&str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        text.is_empty() || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let has_items = !inside[end + 1..].trim_ascii().is_empty();
    (numbers.len() <= 3 && numbers.iter().all(is_number)).then_some(if has_items { end + 2 } else { 0 })
}

/// Parses the items after `in`, or after `from` if `is_from`. The items begin at the byte offset `at`.
fn parse_list(text: &str, at: usize, mut line: TransformLine, is_from: bool) -> Result<TransformArguments, Problem> {
    let Some(length) = slice_length(&text[at..]) else {
        let problem = error(at..text.len(), "these brackets hold no slice");
        return Err(problem.with_help("list the items that you need, without brackets"));
    };
    let slice = (length > 0).then(|| at..at + length);
    let at = skip_blank(text, at + length);
    let refuse = |message: &str| error(at..text.len(), message);
    let rest = &text[at..];
    let (items, items_follow) = match (is_from, rest.strip_prefix('(')) {
        (true, None) if rest.is_empty() => return Err(refuse("expected `(` or the name of a file")),
        (true, None) if rest.ends_with('|') => return Err(refuse("no program is run for items: write them to a file")),
        (true, None) => {
            let text = read_named_file(Path::new(rest.trim_ascii_end())).map_err(|reason| refuse(&reason))?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            (IterationItems::From(lines.map(str::to_owned).collect()), false)
        }
        (true, Some("")) => (IterationItems::From(Vec::new()), true),
        (true, Some(_)) => return Err(refuse("nothing may follow `from (` on this line")),
        (false, None) => (IterationItems::In(words(rest)), false),
        (false, Some(inside)) => {
            let whole = inside.strip_suffix(')');
            (IterationItems::In(words(whole.unwrap_or(inside))), whole.is_none())
        }
    };
    line.items = Some(items);
    if !items_follow {
        let is_in_parentheses = rest.starts_with('(');
        check_total(&mut line, is_in_parentheses, at..text.len())?;
    }
    Ok(TransformArguments { line, items_follow, slice })
}

/// Refuses a TRANSFORM line that makes no ads or more than [`MAX_ADS_PER_AD`]. Parentheses without items hold one that is
/// empty. `place` is the byte range of the problem.
pub(super) fn check_total(
    iteration: &mut TransformLine,
    is_in_parentheses: bool,
    place: Range<usize>,
) -> Result<(), Problem> {
    if let Some(IterationItems::In(items) | IterationItems::From(items)) = &mut iteration.items
        && items.is_empty()
        && is_in_parentheses
    {
        items.push(String::new());
    }
    match iteration.total() {
        0 => Err(error(place, "there are no items")),
        1..=MAX_ADS_PER_AD => Ok(()),
        _ => Err(error(place, format!("one ad would become more than {MAX_ADS_PER_AD} ads"))),
    }
}

/// Splits a list into words at commas and blanks.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split([',', ' ', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{IterationItems, TransformLine, check_total, parse_arguments, slice_length, words};

    /// Returns what the arguments of a TRANSFORM line are, or what is wrong where.
    fn parsed(text: &str) -> String {
        match parse_arguments(text, 0) {
            Ok(arguments) => {
                let TransformLine { count, variables, items, .. } = arguments.line;
                let follow = if arguments.items_follow { ", more follow" } else { "" };
                let slice = arguments.slice.map_or(String::new(), |slice| format!(", slice `{}`", &text[slice]));
                let items = items.map_or("nothing".to_owned(), |items| format!("{items:?}"));
                format!("{count} for {variables:?} of {items}{follow}{slice}")
            }
            Err(problem) => format!("`{}`: {}", &text[problem.range], problem.message),
        }
    }

    #[test]
    fn the_arguments_are_a_count_variables_and_items() {
        for (text, expected) in [
            ("", "1 for [] of nothing"),
            (" 3 ", "3 for [] of nothing"),
            ("0", "1 for [] of nothing"),
            ("1", "1 for [] of nothing"),
            ("10000", "10000 for [] of nothing"),
            ("99999999999999999999", "18446744073709551615 for [] of nothing"),
            ("2 in (a)", "2 for [\"Item\"] of In([\"a\"])"),
            ("2in (a)", "2 for [\"Item\"] of In([\"a\"])"),
            ("in a", "1 for [\"Item\"] of In([\"a\"])"),
            ("IN (a, b c)", "1 for [\"Item\"] of In([\"a\", \"b\", \"c\"])"),
            ("x in (a,b)", "1 for [\"x\"] of In([\"a\", \"b\"])"),
            ("x,y in (a)", "1 for [\"x\", \"y\"] of In([\"a\"])"),
            ("x , y in (a)", "1 for [\"x\", \"y\"] of In([\"a\"])"),
            ("x y in (a)", "1 for [\"x\", \"y\"] of In([\"a\"])"),
            ("x in", "``: there are no items"),
            ("x in ()", "1 for [\"x\"] of In([\"\"])"),
            ("x in (", "1 for [\"x\"] of In([]), more follow"),
            ("x in (a,", "1 for [\"x\"] of In([\"a\"]), more follow"),
            ("x in(a)", "1 for [\"x\"] of In([\"a\"])"),
            ("x in (a) b", "1 for [\"x\"] of In([\"a)\", \"b\"]), more follow"),
            ("x in [1] (a)", "1 for [\"x\"] of In([\"a\"]), slice `[1]`"),
            ("x in [1:2:3](a)", "1 for [\"x\"] of In([\"a\"]), slice `[1:2:3]`"),
            ("x in [1:2:3:4] (a)", "`[1:2:3:4] (a)`: these brackets hold no slice"),
            ("x in [-1:] a", "1 for [\"x\"] of In([\"a\"]), slice `[-1:]`"),
            ("x in [-] a", "`[-] a`: these brackets hold no slice"),
            ("x in [1", "`[1`: these brackets hold no slice"),
            ("x in [1]", "1 for [\"x\"] of In([\"[1]\"])"),
            ("x in [] a", "1 for [\"x\"] of In([\"a\"]), slice `[]`"),
            ("x from (", "1 for [\"x\"] of From([]), more follow"),
            ("x from", "``: expected `(` or the name of a file"),
            ("x from ( a", "`( a`: nothing may follow `from (` on this line"),
            ("x From a |", "`a |`: no program is run for items: write them to a file"),
            ("x from /no/such/file", "`/no/such/file`: cannot read /no/such/file: there is no such file"),
            ("from (", "1 for [\"Item\"] of From([]), more follow"),
            ("x matching *.dat", "`matching *.dat`: patterns of file names are not supported here"),
            ("x", "`x`: `in` or `from` is missing after the variables"),
            ("x, y", "`x, y`: `in` or `from` is missing after the variables"),
            ("2 x", "`x`: `in` or `from` is missing after the variables"),
            ("x-y in (a)", "`x-y`: expected a variable, `in` or `from`"),
            (", in (a)", "`,`: expected a variable, `in` or `from`"),
            ("(a)", "`(`: expected a variable, `in` or `from`"),
            ("5000 in (a b)", "5000 for [\"Item\"] of In([\"a\", \"b\"])"),
            ("5000 in (a b c)", "`(a b c)`: one ad would become more than 10000 ads"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn a_slice_is_of_up_to_three_numbers() {
        for (text, expected) in [
            ("", Some(0)),
            ("a [1]", Some(0)),
            ("[1] a", Some(3)),
            ("[ 1 : 2 ]a", Some(9)),
            ("[::] a", Some(4)),
            ("[1:-2:3] a", Some(8)),
            ("[1:2:3:4] a", None),
            ("[--1] a", None),
            ("[-] a", None),
            ("[x] a", None),
            ("[1 a", None),
            ("[1] ", Some(0)),
        ] {
            assert_eq!(slice_length(text), expected, "{text}");
        }
    }

    #[test]
    fn each_variable_has_a_word_and_the_last_one_the_rest() {
        for (variables, item, expected) in [
            (&["x"][..], "a b, c", &["a b, c"][..]),
            (&["x", "y"], "a b, c", &["a", "b, c"]),
            (&["x", "y"], "a,b", &["a", "b"]),
            (&["x", "y"], "a \t b", &["a", "b"]),
            (&["x", "y"], "a, b", &["a", "b"]),
            (&["x", "y"], "a ,b", &["a", ",b"]),
            (&["x", "y", "z"], "a b", &["a", "b", ""]),
            (&["x", "y"], "", &["", ""]),
            (&[], "a", &[]),
        ] {
            let variables = variables.iter().map(|name| (*name).to_owned()).collect();
            let line = TransformLine { count: 1, variables, items: None, has_macros: false };
            let values: Vec<_> = line.values(item).map(|(_, value)| value).collect();
            assert_eq!(values, expected, "{item}");
        }
        for (text, expected) in [("", &[][..]), (",, ", &[]), ("a", &["a"]), (" a,b\tc , d", &["a", "b", "c", "d"])] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_makes_from_1_to_10000_ads() {
        let items = |count: usize| Some(IterationItems::In(vec!["a".to_owned(); count]));
        for (count, items, is_in_parentheses, expected) in [
            (1, None, false, Ok((1, false))),
            (2, None, false, Ok((2, true))),
            (10_000, None, false, Ok((10_000, true))),
            (10_001, None, false, Err("one ad would become more than 10000 ads")),
            (1, items(1), false, Ok((1, true))),
            (1, items(0), true, Ok((1, true))),
            (3, items(0), true, Ok((3, true))),
            (3, items(0), false, Err("there are no items")),
            (2, items(5000), true, Ok((10_000, true))),
            (usize::MAX, items(2), true, Err("one ad would become more than 10000 ads")),
        ] {
            let mut line = TransformLine { count, variables: Vec::new(), items, has_macros: false };
            let checked = check_total(&mut line, is_in_parentheses, 0..1);
            let checked = checked.map(|()| (line.total(), line.is_iterating())).map_err(|problem| problem.message);
            assert_eq!(checked, expected.map_err(str::to_owned), "{count}");
        }
    }
}
