//! Expected and actual results of a case.

use crate::ad::{Dialect, Expression, structurally_equal};
use crate::format::document_tree::{flow_style, string_scalar};

use super::normalize::is_same_value;

/// A result that a case can expect.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CaseAnswer {
    /// A value in normal form: a literal, or lists and ads of literals.
    Value(Expression),
    /// Whether two ads match.
    Truth(bool),
    /// A keyword: the sides of a pair that refuse, or the verdict of a specialization.
    Word(&'static str),
    /// A number of ads.
    Count(usize),
    /// The residue of an expression.
    Residue(Expression),
    /// Unmet clauses. The expected clauses must be among the actual ones; an empty list means that all clauses are met.
    Clauses(Vec<Expression>),
    /// Names of ads, in any order.
    Ads(Vec<String>),
    /// Names of the members of a gang, in order.
    Members(Vec<String>),
    /// Pairs of a port and its offer, or of a request and its offer, in any order. Empty if there is no gang or no
    /// match.
    Places(Vec<(String, String)>),
}

/// A line of a difference, after its sign: `-` if only the expected result has the line, `+` if only the actual result
/// has it, and a blank if both have it.
pub type DiffLine = (char, String);

impl CaseAnswer {
    /// Whether the actual result meets the expectation.
    #[must_use]
    pub fn is_met(&self, actual: &CaseAnswer, dialect: Dialect) -> bool {
        match (self, actual) {
            (CaseAnswer::Value(expected), CaseAnswer::Value(actual)) => is_same_value(expected, actual, dialect),
            (CaseAnswer::Residue(expected), CaseAnswer::Residue(actual)) => structurally_equal(expected, actual),
            (CaseAnswer::Clauses(expected), CaseAnswer::Clauses(actual)) if expected.is_empty() => actual.is_empty(),
            (CaseAnswer::Clauses(expected), CaseAnswer::Clauses(actual)) => {
                expected.iter().all(|clause| actual.iter().any(|other| structurally_equal(clause, other)))
            }
            (CaseAnswer::Ads(_), CaseAnswer::Ads(_)) | (CaseAnswer::Places(_), CaseAnswer::Places(_)) => {
                let [mut expected, mut actual] = [self, actual].map(CaseAnswer::lines);
                expected.sort_unstable();
                actual.sort_unstable();
                expected == actual
            }
            _ => self == actual,
        }
    }

    /// Prints the result in the classad syntax, a line for each part.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let text = |expression: &Expression| expression.to_string();
        match self {
            CaseAnswer::Value(value) => vec![text(value)],
            CaseAnswer::Residue(expression) => vec![text(expression.without_parentheses())],
            CaseAnswer::Truth(is) => vec![is.to_string()],
            CaseAnswer::Word(word) => vec![(*word).to_owned()],
            CaseAnswer::Count(count) => vec![count.to_string()],
            CaseAnswer::Clauses(clauses) => clauses.iter().map(|clause| text(clause.without_parentheses())).collect(),
            CaseAnswer::Ads(ads) | CaseAnswer::Members(ads) => ads.clone(),
            CaseAnswer::Places(places) => places.iter().map(|(place, who)| format!("{place}: {who}")).collect(),
        }
    }

    /// Prints the result on one line.
    #[must_use]
    pub fn to_line(&self) -> String {
        let lines = self.lines();
        if lines.is_empty() { "none".to_owned() } else { lines.join(", ") }
    }

    /// Prints the result on one line, as YAML for a spec.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        match self {
            CaseAnswer::Value(value) => match (flow_style(value).as_str(), value.kind()) {
                ("null", _) => "undefined".to_owned(),
                ("!expr error", _) => "error".to_owned(),
                // In a spec, the words `undefined` and `error` denote these values. A string of this text is written as
                // an expression instead.
                ("undefined" | "error", _) => format!("!expr '\"{}\"'", flow_style(value)),
                (text, _) => text.to_owned(),
            },
            CaseAnswer::Truth(_) | CaseAnswer::Word(_) | CaseAnswer::Count(_) => self.to_line(),
            CaseAnswer::Clauses(clauses) if clauses.is_empty() => "none".to_owned(),
            CaseAnswer::Residue(_) | CaseAnswer::Clauses(_) => string_scalar(&self.lines()[0]).into(),
            CaseAnswer::Ads(items) | CaseAnswer::Members(items) => {
                let items: Vec<_> = items.iter().map(|item| string_scalar(item)).collect();
                format!("[{}]", items.join(", "))
            }
            CaseAnswer::Places(places) if places.is_empty() => "none".to_owned(),
            CaseAnswer::Places(places) => {
                let entries =
                    places.iter().map(|(place, who)| format!("{}: {}", string_scalar(place), string_scalar(who)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Returns the difference of the two results, line by line. The order of the lines counts only for
    /// [`CaseAnswer::Members`]. An empty result counts as the line `none`.
    #[must_use]
    pub fn difference(&self, actual: &CaseAnswer) -> Vec<DiffLine> {
        let (expected, mut unexpected) = (self.lines(), actual.lines());
        let is_ordered = matches!(self, CaseAnswer::Members(_)) || matches!(actual, CaseAnswer::Members(_));
        let mut lines = Vec::new();
        for line in expected {
            let found = if is_ordered {
                unexpected.first().filter(|first| **first == line).map(|_| 0)
            } else {
                unexpected.iter().position(|other| *other == line)
            };
            if let Some(at) = found {
                unexpected.remove(at);
            }
            lines.push((if found.is_some() { ' ' } else { '-' }, line));
        }
        if lines.is_empty() {
            lines.push(('-', "none".to_owned()));
        }
        if unexpected.is_empty() && lines.iter().all(|(sign, _)| *sign == '-') {
            unexpected.push("none".to_owned());
        }
        lines.extend(unexpected.into_iter().map(|line| ('+', line)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::CaseAnswer;

    fn ads(names: &[&str]) -> CaseAnswer {
        CaseAnswer::Ads(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn shown(expected: &CaseAnswer, actual: &CaseAnswer) -> String {
        let lines = expected.difference(actual).into_iter().map(|(sign, line)| format!("{sign}{line}"));
        lines.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn differences() {
        assert_eq!(shown(&ads(&["a", "b", "a"]), &ads(&["a", "c"])), " a -b -a +c");
        assert_eq!(shown(&ads(&[]), &ads(&["c"])), "-none +c");
        assert_eq!(shown(&ads(&["c"]), &ads(&[])), "-c +none");
        let members = |names: &[&str]| match ads(names) {
            CaseAnswer::Ads(names) => CaseAnswer::Members(names),
            other => other,
        };
        assert_eq!(shown(&members(&["a", "b"]), &members(&["b", "a"])), "-a  b +a");
        assert_eq!(shown(&CaseAnswer::Truth(true), &CaseAnswer::Truth(false)), "-true +false");
    }
}
