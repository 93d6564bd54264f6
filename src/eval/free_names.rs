//! Free names of an expression: all names that it may need. They are found from the syntax alone, without an ad.

use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ad::{Dialect, Expression, ExpressionKind, Name, ScopeAd, Value};
use crate::syntax::{ParseOptions, parse_expression};

use super::builtin::FunctionKind;

/// Name that denotes the other side's ad in the expressions of a policy.
static POLICY_LABEL: LazyLock<Name> = LazyLock::new(|| Name::new("label"));

/// A set of names, in the order of insertion.
pub type NameSet = IndexSet<Name, FxBuildHasher>;

/// Extends a set by all items that can be reached from its items. `step` adds the successors of one item and is called
/// once for each item. Returns `None` as soon as `step` returns `None`.
pub fn transitive_closure<T: Clone + Eq + Hash, S: BuildHasher>(
    reached: &mut IndexSet<T, S>,
    mut step: impl FnMut(&T, &mut IndexSet<T, S>) -> Option<()>,
) -> Option<()> {
    let mut position = 0;
    while let Some(item) = reached.get_index(position).cloned() {
        step(&item, reached)?;
        position += 1;
    }
    Some(())
}

/// Subexpression that is still to be visited.
struct PendingSubexpression {
    expression: Expression,
    /// Whether a name is selected from the subexpression, as `x` is from `a` in `a.x`.
    is_selected_from: bool,
    /// Whether the subexpression may be evaluated in another scope than the one it is written in. Elements of lists and
    /// attributes of nested ads may be.
    is_relocatable: bool,
}

/// Names that an expression mentions. They are found without an ad, but less exactly than [`super::References`]. If
/// `reads_anything` is false, the expression reads only attributes with these names, and the attributes that their
/// expressions read.
#[derive(Clone, Debug, Default)]
pub struct FreeNames {
    /// Every name in the expression, including names that are selected from something.
    pub names: NameSet,
    /// Names looked up in the expression's own ad only, such as `x` in `my.x`; may hold duplicates.
    pub mine: Vec<Name>,
    /// Names looked up in the other side's ad only, such as `x` in `other.x`; may hold duplicates.
    pub theirs: Vec<Name>,
    /// Unqualified names such as `x`; may hold duplicates. They are looked up in the expression's own ad, and in the
    /// other side's ad if its own ad lacks them.
    pub unqualified: Vec<Name>,
    /// Whether the expression may read attributes that it does not mention, because a name is computed or a whole ad is
    /// used as a value.
    pub reads_anything: bool,
    /// Whether the value depends on more than the values of the names, for example on the text of an expression or on
    /// random numbers.
    pub is_impure: bool,
}

impl FreeNames {
    /// Returns the names that `expression` mentions.
    #[must_use]
    pub fn of(expression: &Expression, dialect: Dialect) -> Self {
        let mut names = FreeNames::default();
        names.add(expression, dialect);
        names
    }

    /// Whether the value may change although every mentioned name keeps its value.
    #[must_use]
    pub fn reads_unknown(&self) -> bool {
        self.reads_anything || self.is_impure
    }

    /// Returns every name in the expression; `None` if the value may change although these names keep their values.
    #[must_use]
    pub fn all_names(&self) -> Option<&NameSet> {
        (!self.reads_unknown()).then_some(&self.names)
    }

    /// Adds the names that an expression mentions, including those in constant texts passed to `eval()`.
    pub fn add(&mut self, expression: &Expression, dialect: Dialect) {
        self.collect(expression, dialect, &[]);
    }

    /// Adds the names that an expression of a policy mentions. In a policy the name `label` denotes the other side's
    /// ad, too.
    pub fn add_policy_expression(&mut self, expression: &Expression, dialect: Dialect) {
        self.collect(expression, dialect, std::slice::from_ref(&*POLICY_LABEL));
    }

    /// Adds the names that an expression of an ad with ports mentions. The `labels` of the ports denote the ads docked there:
    /// the other side.
    pub fn add_with_labels(&mut self, expression: &Expression, dialect: Dialect, labels: &[Name]) {
        self.collect(expression, dialect, labels);
    }

    fn collect(&mut self, expression: &Expression, dialect: Dialect, labels: &[Name]) {
        let pend = |expression: &Expression, is_selected_from, is_relocatable| PendingSubexpression {
            expression: expression.clone(),
            is_selected_from,
            is_relocatable,
        };
        let mut pending = vec![pend(expression, false, false)];
        while let Some(PendingSubexpression { expression, is_selected_from, mut is_relocatable }) = pending.pop() {
            let mut below = |expression: &Expression, is_selected_from, is_relocatable| {
                pending.push(pend(expression, is_selected_from, is_relocatable));
            };
            match expression.kind() {
                ExpressionKind::Attribute(name)
                | ExpressionKind::RootAttribute(name)
                | ExpressionKind::Select(_, name) => {
                    let is_around = denoted_ad(name, labels).is_some();
                    self.reads_anything |= is_around && !is_selected_from;
                    self.names.insert(name.clone());
                    let is_path = is_selected_from || self.record_path(&expression, labels);
                    is_relocatable |= !is_path;
                    if is_relocatable && !is_around {
                        self.add_to_both_sides([name]);
                    }
                    if let ExpressionKind::Select(inner, _) = expression.kind() {
                        below(inner, true, is_relocatable);
                    }
                }
                ExpressionKind::Parentheses(inner) => below(inner, is_selected_from, is_relocatable),
                ExpressionKind::Call(function, arguments) => {
                    let kind = FunctionKind::of(function);
                    self.is_impure |= kind.is_some_and(FunctionKind::is_impure);
                    if kind == Some(FunctionKind::ParsesText) {
                        let text = if let [text] = arguments.as_ref() { text.as_literal() } else { None };
                        if let Some(Value::String(text)) = text {
                            if let Ok(inside) = parse_expression(text.as_bytes(), ParseOptions::new(dialect)) {
                                below(&inside, false, is_relocatable);
                            }
                        } else {
                            self.reads_anything = true;
                        }
                    }
                    let is_elsewhere = kind == Some(FunctionKind::EvaluatesElsewhere);
                    for (position, argument) in arguments.iter().enumerate() {
                        below(argument, false, is_relocatable || (is_elsewhere && position == 0));
                    }
                }
                kind => {
                    is_relocatable |=
                        matches!(kind, ExpressionKind::List(_) | ExpressionKind::Ad(_) | ExpressionKind::Subscript(..));
                    kind.for_each_child(|child| below(child, false, is_relocatable));
                }
            }
        }
    }

    /// Records whether the names of a path such as `other.x.y` are looked up in the own ad, in the other side's ad, or
    /// in both. Returns false if the path does not begin with a name, as in `f(x).y`.
    fn record_path(&mut self, path: &Expression, labels: &[Name]) -> bool {
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
        // A name that a nested ad lacks is looked up in the ads around it. So every name of the path may be an
        // attribute of the outermost ad.
        match denoted_ad(first, labels) {
            Some(ScopeAd::Other) => self.theirs.extend(rest.into_iter().cloned()),
            Some(ScopeAd::Own) => self.mine.extend(rest.into_iter().cloned()),
            Some(ScopeAd::Parent | ScopeAd::Root) => self.add_to_both_sides(rest),
            None => {
                self.unqualified.push(first.clone());
                self.add_to_both_sides(rest);
            }
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

/// Returns the ad that a name such as `my` or `other` denotes; `None` for other names. A label denotes the other side's
/// ad.
fn denoted_ad(name: &Name, labels: &[Name]) -> Option<ScopeAd> {
    ScopeAd::of(name).or(labels.contains(name).then_some(ScopeAd::Other))
}

#[cfg(test)]
mod tests {
    use indexmap::IndexSet;

    use super::{FreeNames, transitive_closure};
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn closures_visit_every_item_once() {
        // Item 1 leads to 2, 2 leads to 3, and 3 leads to 1. The successors of 9 are unknown.
        let closure = |seed: &[u32]| {
            let mut reached: IndexSet<u32> = seed.iter().copied().collect();
            let step = |item: &u32, reached: &mut IndexSet<u32>| {
                reached.insert(item % 3 + 1);
                (*item != 9).then_some(())
            };
            transitive_closure(&mut reached, step).map(|()| reached.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(closure(&[2]), Some(vec![2, 3, 1]));
        assert_eq!(closure(&[2, 9]), None);
        assert_eq!(closure(&[]), Some(vec![]));
    }

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
        // Expected names: those looked up only in the own ad, only in the other ad, and in either ad.
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
