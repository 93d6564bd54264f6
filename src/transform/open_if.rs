//! An `if` whose `endif` is not read yet, and the variables that have values in it.

use std::ops::Range;

use super::keywords::is_variable;

/// `if` whose `endif` is not read yet.
#[derive(Debug)]
pub(super) struct OpenIf {
    /// Range of the line in the file.
    pub range: Range<usize>,
    /// Whether its `else` was read.
    pub has_else: bool,
    /// Variables that have values where the conditions are such that the present branch is executed.
    sure: Vec<String>,
    /// Variables that have values in the branches behind the present one.
    sure_behind: Vec<String>,
}

impl OpenIf {
    /// Begins an `if`; its condition is added by [`OpenIf::add_condition`].
    pub fn new(range: Range<usize>) -> Self {
        OpenIf { range, has_else: false, sure: Vec::new(), sure_behind: Vec::new() }
    }

    /// Begins another branch.
    pub fn begin_branch(&mut self, is_else: bool) {
        self.has_else = is_else;
        self.sure.clone_from(&self.sure_behind);
    }

    /// Adds the condition of a branch. Behind `defined X` and `$(X)` the variable X has a value.
    pub fn add_condition(&mut self, text: &str) {
        let text = text.trim();
        let (is_negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest.trim_start()));
        let word = text.split_at_checked("defined".len()).filter(|(word, _)| word.eq_ignore_ascii_case("defined"));
        let subject = match word {
            Some((_, subject)) => subject.trim(),
            None => text.strip_prefix("$(").and_then(|text| text.strip_suffix(')')).unwrap_or_default(),
        };
        if is_variable(subject) {
            let list = if is_negated { &mut self.sure_behind } else { &mut self.sure };
            list.push(subject.to_owned());
        }
    }

    /// Whether a variable has a value in the present branch.
    pub fn is_sure(&self, name: &str) -> bool {
        self.sure.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::OpenIf;

    #[test]
    fn a_variable_has_a_value_where_the_conditions_say_so() {
        for (conditions, expected) in [
            // The variables that have values in each branch, where an empty condition is that of `else`.
            (&["defined x", ""][..], &["x", ""][..]),
            (&["! defined x", ""], &["", "x"]),
            (&["!defined x", "defined y", ""], &["", "x y", "x"]),
            (&["Defined  X ", "$(y)", "! $(z)", ""], &["x", "y", "", "z"]),
            (&["$(x) == 1", "$(y)z", "defined a b", "defined", ""], &["", "", "", "", ""]),
            (&["definedx", "x", "!x"], &["x", "", ""]),
        ] {
            let mut open = OpenIf::new(0..1);
            for (number, (condition, expected)) in conditions.iter().zip(expected).enumerate() {
                if number > 0 {
                    open.begin_branch(condition.is_empty());
                }
                if !condition.is_empty() {
                    open.add_condition(condition);
                }
                let sure: Vec<_> = ["x", "y", "z", "a"].into_iter().filter(|name| open.is_sure(name)).collect();
                assert_eq!(sure.join(" "), *expected, "{conditions:?} {number}");
                assert_eq!(open.has_else, condition.is_empty());
            }
        }
    }
}
