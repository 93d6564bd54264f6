//! What HTCondor finds out about a rule before it has an ad.

use crate::ad::{Ad, Name};
use crate::eval::Context;
use crate::syntax::ParseOptions;

use super::branches::OpenBranches;
use super::edited_ad::EditedAd;
use super::edited_shapes::EditedShapes;
use super::expander::MacroExpander;
use super::macros::{self, MacroVariables, VariableTable, expand_own, has_macros};
use super::rule::{RuleAction, TransformRule};

/// What is known of a rule without an ad.
#[derive(Clone, Debug)]
pub struct RuleOutline {
    /// The variables of the rule with their values at its end, and those around it.
    pub variables: VariableTable,
    /// Index of the first statement with a condition that HTCondor cannot decide without an ad; `None` if there is none.
    pub undecided: Option<usize>,
}

impl TransformRule {
    /// Reads the rule without an ad, as HTCondor's job router reads a route: only variables are set.
    #[must_use]
    pub fn outline(&self, outer: &VariableTable, context: &Context) -> RuleOutline {
        let mut ad = EditedAd::new(&Ad::default(), &EditedShapes::default());
        let (mut own, mut open, mut undecided) = (MacroVariables::default(), OpenBranches::default(), None);
        for (index, statement) in self.statements.iter().enumerate() {
            let entered = open.enter(&statement.action, |condition| {
                condition.holds_without_ad(&mut MacroExpander::new((&own, outer), &mut ad, context))
            });
            match (entered, &statement.action) {
                (Ok(true), RuleAction::Assign(variable, text)) => {
                    let name = if has_macros(variable) {
                        let mut expander = MacroExpander::new((&own, outer), &mut ad, context);
                        expander.expand(variable.as_bytes(), ParseOptions::new(context.dialect)).unwrap_or_default()
                    } else {
                        variable.clone().into_bytes()
                    };
                    let variable = &*String::from_utf8_lossy(&name);
                    if let Ok(value) = expand_own(text, variable, own.get(&Name::new(variable))) {
                        own.insert(Name::new(variable), value);
                    }
                }
                (Ok(true), RuleAction::Append(variable, between, text)) => {
                    macros::append(&mut own, variable, between, text);
                }
                (Ok(_), _) => {}
                (Err(_), _) => {
                    undecided = Some(index);
                    break;
                }
            }
        }
        RuleOutline { variables: outer.overlaid(own), undecided }
    }
}

#[cfg(test)]
mod tests {
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::transform::parse_rules;

    #[test]
    fn without_an_ad_only_variables_are_set() {
        for (rules, expected, undecided) in [
            ("", "o=1", None),
            ("a = 1\nb = $(a)\na = $(a)2", "a=12 b=$(a) o=1", None),
            ("a += 1\na +,= 2", "a=1,2 o=1", None),
            ("n = x\ny$(n) = 3\nSET A 1\nEVALMACRO e 1", "n=x o=1 yx=3", None),
            ("O = $(o)2", "o=2", None),
            ("if true\na = 1\nelse\na = 2\nendif\nb = 3", "a=1 b=3 o=1", None),
            ("if defined o\na = 1\nendif\nif $(o)\nb = 1\nendif", "a=1 b=1 o=1", None),
            ("if defined MY.o\na = 1\nelse\na = 2\nendif", "a=2 o=1", None),
            ("if 1 == 1\na = 1\nendif\na = 2", "o=1", Some(0)),
            ("a = 1\nif false\nelif 1 == 1\nendif\na = 2", "a=1 o=1", Some(2)),
            ("if false\nif 1 == 1\nendif\nendif\na = 2", "a=2 o=1", None),
        ] {
            let (rules, _) = parse_rules(rules.as_bytes(), Dialect::Condor);
            let outer = [("o", "1")].into_iter().collect();
            let outline = rules[0].outline(&outer, &Context::new(Dialect::Condor));
            let text = |name: &str| String::from_utf8_lossy(outline.variables.get(name).unwrap()).into_owned();
            let mut shown: Vec<_> = outline.variables.names().map(|name| format!("{name}={}", text(name))).collect();
            shown.sort_unstable();
            assert_eq!(shown.join(" "), expected, "{:?}", rules[0].to_string());
            assert_eq!(outline.undecided, undecided, "{}", rules[0]);
        }
    }
}
