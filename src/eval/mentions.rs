//! The names that an expression mentions, wherever it will stand.

use indexmap::IndexSet;

use crate::ad::{Dialect, Expression, Kind, Name, Value};
use crate::syntax::{Rules, parse_expression};

/// Functions that read texts, evaluate elsewhere, or draw a number.
const MORE_THAN_VALUES: [&str; 7] =
    ["eval", "unparse", "unresolved", "evalInEachContext", "countMatches", "debug", "random"];

/// What an expression mentions.  Coarser than [`super::References`], and needs no ad: no attribute that is not
/// among the names, or mentioned by what is bound to them, can have to do with its value.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// Every name in it, also those that are selected from something.
    pub names: IndexSet<Name>,
    /// Whether it may read more than it mentions: a name is computed, or an ad around it may be used whole.
    pub everything: bool,
    /// Whether its value depends on more than the values of what it mentions: on their texts, or on chance.
    pub is_more_than_values: bool,
}

impl Mentions {
    /// What an expression mentions.
    #[must_use]
    pub fn of(expression: &Expression, dialect: Dialect) -> Self {
        let mut mentions = Mentions::default();
        mentions.add(expression, dialect);
        mentions
    }

    /// Whether two evaluations may differ though all that is mentioned has the same values.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.everything || self.is_more_than_values
    }

    /// Adds what an expression mentions, also in constant texts that `eval()` reads.
    pub fn add(&mut self, expression: &Expression, dialect: Dialect) {
        let mut pending = vec![(expression.clone(), false)];
        while let Some((expression, is_selected_from)) = pending.pop() {
            if let Kind::Call(function, _) = expression.kind() {
                self.is_more_than_values |= MORE_THAN_VALUES.iter().any(|name| function.is(name));
            }
            match expression.kind() {
                Kind::Attribute(name) | Kind::RootAttribute(name) => self.name(name, is_selected_from),
                Kind::Select(inner, name) => {
                    self.name(name, is_selected_from);
                    pending.push((inner.clone(), true));
                }
                Kind::Parentheses(inner) => pending.push((inner.clone(), is_selected_from)),
                Kind::Call(function, arguments) if function.is("eval") => match arguments.as_ref() {
                    [text] => match text.bare().kind() {
                        Kind::Literal(Value::String(text)) => {
                            let inside = parse_expression(text.as_bytes(), Rules::new(dialect));
                            pending.extend(inside.ok().map(|inside| (inside, false)));
                        }
                        _ => self.everything = true,
                    },
                    _ => self.everything = true,
                },
                kind => kind.for_each_child(|child| pending.push((child.clone(), false))),
            }
        }
    }

    fn name(&mut self, name: &Name, is_selected_from: bool) {
        const AROUND: [&str; 7] = ["self", "my", "parent", "root", "toplevel", "other", "target"];
        self.everything |= !is_selected_from && AROUND.iter().any(|around| name.is(around));
        self.names.insert(name.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::Mentions;
    use crate::ad::Dialect;
    use crate::syntax::{Rules, parse_expression};

    #[test]
    fn every_name_and_whether_there_may_be_more() {
        for (text, expected) in [
            ("a + b.c > f(d)", "a b c d"),
            ("MY.x && (TARGET).y", "MY TARGET x y"),
            ("[ p = q; r = { .s } ].p", "p q s"),
            ("eval(\"a + b\")", "a b"),
            ("eval(\"a +\")", ""),
            ("eval(\"MY\")", "* MY"),
            ("eval(a)", "*"),
            ("size(MY)", "* MY"),
            ("MY[\"x\"]", "* MY"),
            ("(a ? b : c).parent", "* a b c parent"),
            ("a.parent.x", "a parent x"),
            ("unparse(a)", "a"),
        ] {
            let tree = parse_expression(text.as_bytes(), Rules::default()).unwrap();
            let mentions = Mentions::of(&tree, Dialect::Condor);
            let mut names: Vec<&str> = mentions.names.iter().map(crate::ad::Name::as_str).collect();
            names.extend(mentions.everything.then_some("*"));
            names.sort_unstable();
            assert_eq!(names.join(" "), expected, "{text}");
            assert_eq!(mentions.is_more_than_values, text.contains("eval") || text.contains("unparse"), "{text}");
        }
    }
}
