//! Free names of an expression, found without an ad: a syntactic over-approximation.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ad::{Dialect, Expression, ExpressionKind, Name, Value};
use crate::syntax::{ParseOptions, parse_expression};

/// Functions whose value depends on more than the values of their arguments: they read texts, evaluate in other ads,
/// or draw random numbers.
const IMPURE_FUNCTIONS: [&str; 7] =
    ["eval", "unparse", "unresolved", "evalInEachContext", "countMatches", "debug", "random"];

/// Functions that evaluate their first argument in each ad of a list.
const RELOCATING_FUNCTIONS: [&str; 2] = ["evalInEachContext", "countMatches"];

/// Names of the ad that holds the expression.
const OWN_AD_NAMES: [&str; 2] = ["self", "my"];
/// Names of the ads around it.
const ENCLOSING_AD_NAMES: [&str; 3] = ["parent", "root", "toplevel"];

/// Names of the ad on the other side of a match.
const OTHER_AD_NAMES: [&str; 2] = ["other", "target"];

/// Names of the ad on the other side, in the expressions of a policy.
const OTHER_AD_NAMES_IN_POLICIES: [&str; 3] = ["other", "target", "label"];

/// Subexpression that is still to be visited.
struct PendingSubexpression {
    expression: Expression,
    /// Whether a name is selected from it.
    is_selected_from: bool,
    /// Whether it may be evaluated in another scope than the one it is written in, as elements of lists and
    /// attributes of nested ads are.
    is_relocatable: bool,
}

/// Names that an expression mentions. It is coarser than [`super::References`] and needs no ad. The value can depend
/// only on attributes with these names, and on attributes that their expressions mention in turn.
#[derive(Clone, Debug, Default)]
pub struct FreeNames {
    /// Every name in the expression, including names that are selected from something.
    pub names: IndexSet<Name, FxBuildHasher>,
    /// Names looked up in the expression's own ad only, such as `my.x`; may hold duplicates.
    pub mine: Vec<Name>,
    /// Names looked up in the other side's ad only, such as `other.x`; may hold duplicates.
    pub theirs: Vec<Name>,
    /// Unqualified names such as `x`, looked up in the own ad and, if it lacks them, in the other; may hold
    /// duplicates.
    pub unqualified: Vec<Name>,
    /// Whether it may read attributes that it does not mention: a name is computed, or a whole ad is used as a value.
    pub reads_anything: bool,
    /// Whether its value depends on more than the values of the names: on expression texts, or on random numbers.
    pub is_impure: bool,
}

impl FreeNames {
    /// Returns the names that `expression` mentions.
    #[must_use]
    pub fn of(expression: &Expression, dialect: Dialect) -> Self {
        let mut mentions = FreeNames::default();
        mentions.add(expression, dialect);
        mentions
    }

    /// Whether two evaluations may differ although every mentioned name has the same value in both.
    #[must_use]
    pub fn reads_unknown(&self) -> bool {
        self.reads_anything || self.is_impure
    }

    /// Adds the names that an expression mentions, including those in constant texts passed to `eval()`.
    pub fn add(&mut self, expression: &Expression, dialect: Dialect) {
        self.collect(expression, dialect, &OTHER_AD_NAMES);
    }

    /// Adds the names that an expression of a policy mentions; there `label` stands for the other side, too.
    pub fn add_policy_expression(&mut self, expression: &Expression, dialect: Dialect) {
        self.collect(expression, dialect, &OTHER_AD_NAMES_IN_POLICIES);
    }

    fn collect(&mut self, expression: &Expression, dialect: Dialect, others: &[&str]) {
        let root =
            PendingSubexpression { expression: expression.clone(), is_selected_from: false, is_relocatable: false };
        let mut pending = vec![root];
        while let Some(PendingSubexpression { expression, is_selected_from, is_relocatable: mut travels }) =
            pending.pop()
        {
            let mut below = |expression: &Expression, is_selected_from, travels| {
                pending.push(PendingSubexpression {
                    expression: expression.clone(),
                    is_selected_from,
                    is_relocatable: travels,
                });
            };
            match expression.kind() {
                ExpressionKind::Attribute(name)
                | ExpressionKind::RootAttribute(name)
                | ExpressionKind::Select(_, name) => {
                    let is_around = is_one_of(name, &OWN_AD_NAMES)
                        || is_one_of(name, &ENCLOSING_AD_NAMES)
                        || is_one_of(name, others);
                    self.reads_anything |= is_around && !is_selected_from;
                    self.names.insert(name.clone());
                    let is_path = is_selected_from || self.record_path(&expression, others);
                    travels |= !is_path;
                    if travels && !is_around {
                        self.add_to_both_sides([name]);
                    }
                    if let ExpressionKind::Select(inner, _) = expression.kind() {
                        below(inner, true, travels);
                    }
                }
                ExpressionKind::Parentheses(inner) => below(inner, is_selected_from, travels),
                ExpressionKind::Call(function, arguments) => {
                    self.is_impure |= is_one_of(function, &IMPURE_FUNCTIONS);
                    if function.is("eval") {
                        let text = arguments.first().map(|text| text.without_parentheses().kind());
                        match text {
                            Some(ExpressionKind::Literal(Value::String(text))) if arguments.len() == 1 => {
                                if let Ok(inside) = parse_expression(text.as_bytes(), ParseOptions::new(dialect)) {
                                    below(&inside, false, travels);
                                }
                            }
                            _ => self.reads_anything = true,
                        }
                    }
                    let is_elsewhere = is_one_of(function, &RELOCATING_FUNCTIONS);
                    for (position, argument) in arguments.iter().enumerate() {
                        below(argument, false, travels || (is_elsewhere && position == 0));
                    }
                }
                kind => {
                    travels |=
                        matches!(kind, ExpressionKind::List(_) | ExpressionKind::Ad(_) | ExpressionKind::Subscript(..));
                    kind.for_each_child(|child| below(child, false, travels));
                }
            }
        }
    }

    /// Records on which side the names of a path such as `other.x.y` are looked up. Returns whether the path begins
    /// with a name.
    fn record_path(&mut self, path: &Expression, others: &[&str]) -> bool {
        let (mut at, mut rest) = (path, Vec::new());
        let first = loop {
            match at.without_parentheses().kind() {
                ExpressionKind::Select(inner, name) => {
                    rest.push(name);
                    at = inner;
                }
                ExpressionKind::Attribute(first) => break first,
                _ => return false,
            }
        };
        // Names missing in a nested ad are looked up in the ads around it, so every name of the path counts.
        if is_one_of(first, others) {
            self.theirs.extend(rest.into_iter().cloned());
        } else if is_one_of(first, &OWN_AD_NAMES) {
            self.mine.extend(rest.into_iter().cloned());
        } else {
            if !is_one_of(first, &ENCLOSING_AD_NAMES) {
                self.unqualified.push(first.clone());
            }
            self.add_to_both_sides(rest);
        }
        true
    }

    fn add_to_both_sides<'n>(&mut self, names: impl IntoIterator<Item = &'n Name>) {
        for name in names {
            self.mine.push(name.clone());
            self.theirs.push(name.clone());
        }
    }
}

fn is_one_of(name: &Name, words: &[&str]) -> bool {
    words.iter().any(|word| name.is(word))
}

#[cfg(test)]
mod tests {
    use super::FreeNames;
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn every_name_and_whether_there_may_be_more() {
        for (text, expected) in [
            ("a + b.c > f(d)", "a b c d"),
            ("MY.x && (TARGET).y", "MY TARGET x y"),
            ("[ p = q; r = { .s } ].p", "p q s"),
            ("eval(\"a + b\")", "a b"),
            ("eval(\"a +\")", ""),
            ("eval(\"MY\")", "* MY"),
            ("eval(a)", "* a"),
            ("size(MY)", "* MY"),
            ("MY[\"x\"]", "* MY"),
            ("(a ? b : c).parent", "* a b c parent"),
            ("a.parent.x", "a parent x"),
            ("unparse(a)", "a"),
        ] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            let mentions = FreeNames::of(&tree, Dialect::Condor);
            let mut names: Vec<&str> = mentions.names.iter().map(crate::ad::Name::as_str).collect();
            names.extend(mentions.reads_anything.then_some("*"));
            names.sort_unstable();
            assert_eq!(names.join(" "), expected, "{text}");
            assert_eq!(mentions.is_impure, text.contains("eval") || text.contains("unparse"), "{text}");
        }
    }

    #[test]
    fn on_which_side_names_are_looked_up() {
        // Expected: names of the own ad, of the other, of either.
        for (text, expected) in [
            ("a + MY.b > (TARGET).c", ["b", "c", "a"]),
            ("other.a.b && self.c.d", ["c d", "a b", ""]),
            ("a.b.c", ["b c", "b c", "a"]),
            ("parent.a", ["a", "a", ""]),
            (".a", ["a", "a", ""]),
            ("label.a", ["a", "a", "label"]),
            ("eval(\"MY.a + b\")", ["a", "", "b"]),
            ("MY.a[0] + b", ["a", "a", "b"]),
            ("{ a, other.b }", ["a b", "a b", "a"]),
            ("(a ? MY.b : c).d", ["a b c d", "a b c d", "a c"]),
            ("c && countMatches(a, other.b)", ["a", "a b", "a c"]),
        ] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            let FreeNames { mine: own, theirs: other, unqualified: either, .. } = FreeNames::of(&tree, Dialect::Condor);
            let sorted = [own, other, either].map(|mut names| {
                names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
                names.dedup();
                names.iter().map(crate::ad::Name::as_str).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(sorted, expected, "{text}");
        }
    }

    #[test]
    fn the_label_of_a_policy_is_the_other_side() {
        for (text, other, everything) in [("label.a", "a", false), ("size(label)", "", true)] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            let mut mentions = FreeNames::default();
            mentions.add_policy_expression(&tree, Dialect::Condor);
            let names: Vec<&str> = mentions.theirs.iter().map(crate::ad::Name::as_str).collect();
            assert_eq!((names.join(" ").as_str(), mentions.reads_anything), (other, everything), "{text}");
        }
    }
}
