//! Expected and actual results of a case.

use crate::ad::{Dialect, Expression, same_tree};
use crate::format::document_tree::{flow, scalar};
use crate::syntax::{Style, print};

use super::normalize::same;

/// A result that a case can expect.
#[derive(Clone, Debug)]
pub enum Fact {
    /// A value in normal form: literals, lists and ads of such.
    Value(Expression),
    /// Whether two ads match.
    Truth(bool),
    /// A keyword: the side that refuses, or a verdict.
    Word(&'static str),
    /// A number of ads.
    Count(usize),
    /// The residue of an expression.
    Residue(Expression),
    /// Unmet clauses. The expected ones must be among the actual ones; empty means that all are met.
    Clauses(Vec<Expression>),
    /// Names of ads, in any order.
    Ads(Vec<String>),
    /// Names of the members of a gang, in order.
    Members(Vec<String>),
    /// Pairs of a port and its offer, or of a request and its offer, in any order. Empty if there is none.
    Places(Vec<(String, String)>),
}

/// A line of a difference: `-` for an expected, `+` for an actual one, a blank for both.
pub type Line = (char, String);

impl Fact {
    /// Whether the actual result meets the expectation.
    #[must_use]
    pub fn is_met(&self, actual: &Fact, dialect: Dialect) -> bool {
        match (self, actual) {
            (Fact::Value(expected), Fact::Value(actual)) => same(expected, actual, dialect),
            (Fact::Truth(expected), Fact::Truth(actual)) => expected == actual,
            (Fact::Word(expected), Fact::Word(actual)) => expected == actual,
            (Fact::Count(expected), Fact::Count(actual)) => expected == actual,
            (Fact::Residue(expected), Fact::Residue(actual)) => same_tree(expected, actual),
            (Fact::Clauses(expected), Fact::Clauses(actual)) if expected.is_empty() => actual.is_empty(),
            (Fact::Clauses(expected), Fact::Clauses(actual)) => {
                expected.iter().all(|clause| actual.iter().any(|other| same_tree(clause, other)))
            }
            (Fact::Ads(_), Fact::Ads(_)) | (Fact::Places(_), Fact::Places(_)) => {
                let [mut expected, mut actual] = [self, actual].map(Fact::lines);
                expected.sort_unstable();
                actual.sort_unstable();
                expected == actual
            }
            (Fact::Members(expected), Fact::Members(actual)) => expected == actual,
            _ => false,
        }
    }

    /// Prints the result in the classad syntax, a line for each part.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let text = |expression: &Expression| String::from_utf8_lossy(&print(expression, Style::New)).into_owned();
        match self {
            Fact::Value(value) => vec![text(value)],
            Fact::Residue(expression) => vec![text(expression.bare())],
            Fact::Truth(is) => vec![is.to_string()],
            Fact::Word(word) => vec![(*word).to_owned()],
            Fact::Count(count) => vec![count.to_string()],
            Fact::Clauses(clauses) => clauses.iter().map(|clause| text(clause.bare())).collect(),
            Fact::Ads(ads) | Fact::Members(ads) => ads.clone(),
            Fact::Places(places) => places.iter().map(|(place, who)| format!("{place}: {who}")).collect(),
        }
    }

    /// Prints the result on one line.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Fact::Ads(_) | Fact::Members(_) | Fact::Places(_) | Fact::Clauses(_) => {
                let lines = self.lines();
                if lines.is_empty() { "none".to_owned() } else { lines.join(", ") }
            }
            _ => self.lines().concat(),
        }
    }

    /// Prints the result as YAML for a spec, on one line.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let list = |items: &[String]| {
            let items: Vec<_> = items.iter().map(|item| scalar(item)).collect();
            format!("[{}]", items.join(", "))
        };
        match self {
            Fact::Value(value) => match (flow(value).as_str(), value.kind()) {
                ("null", _) => "undefined".to_owned(),
                ("!expr error", _) => "error".to_owned(),
                // Unquoted, these words denote the values, not the strings.
                ("undefined" | "error", _) => format!("!expr '\"{}\"'", flow(value)),
                (text, _) => text.to_owned(),
            },
            Fact::Truth(_) | Fact::Word(_) | Fact::Count(_) => self.text(),
            Fact::Clauses(clauses) if clauses.is_empty() => "none".to_owned(),
            Fact::Residue(_) | Fact::Clauses(_) => scalar(&self.lines().into_iter().next().unwrap_or_default()).into(),
            Fact::Ads(items) | Fact::Members(items) => list(items),
            Fact::Places(places) if places.is_empty() => "none".to_owned(),
            Fact::Places(places) => {
                let entries: Vec<String> =
                    places.iter().map(|(place, who)| format!("{}: {}", scalar(place), scalar(who))).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// Compares expected and actual lines.
    #[must_use]
    pub fn difference(&self, actual: &Fact) -> Vec<Line> {
        let (expected, mut came) = (self.lines(), actual.lines());
        let is_ordered = matches!(self, Fact::Members(_)) || matches!(actual, Fact::Members(_));
        let mut lines = Vec::new();
        for line in expected {
            let found = if is_ordered {
                came.first().filter(|first| **first == line).map(|_| 0)
            } else {
                came.iter().position(|other| *other == line)
            };
            if let Some(at) = found {
                came.remove(at);
            }
            lines.push((if found.is_some() { ' ' } else { '-' }, line));
        }
        if lines.is_empty() {
            lines.push(('-', "none".to_owned()));
        }
        if came.is_empty() && lines.iter().all(|(sign, _)| *sign == '-') {
            came.push("none".to_owned());
        }
        lines.extend(came.into_iter().map(|line| ('+', line)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Fact;

    fn ads(names: &[&str]) -> Fact {
        Fact::Ads(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn shown(expected: &Fact, actual: &Fact) -> String {
        let lines = expected.difference(actual).into_iter().map(|(sign, line)| format!("{sign}{line}"));
        lines.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn differences() {
        assert_eq!(shown(&ads(&["a", "b", "a"]), &ads(&["a", "c"])), " a -b -a +c");
        assert_eq!(shown(&ads(&[]), &ads(&["c"])), "-none +c");
        assert_eq!(shown(&ads(&["c"]), &ads(&[])), "-c +none");
        let members = |names: &[&str]| match ads(names) {
            Fact::Ads(names) => Fact::Members(names),
            other => other,
        };
        assert_eq!(shown(&members(&["a", "b"]), &members(&["b", "a"])), "-a  b +a");
        assert_eq!(shown(&Fact::Truth(true), &Fact::Truth(false)), "-true +false");
    }
}
