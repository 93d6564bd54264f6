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
