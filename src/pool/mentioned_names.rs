//! Attribute names that expressions mention, also as attributes of the ads docked at ports (thesis 3.3): rows of ads with
//! equal values of these attributes are equal for the expressions.

use rustc_hash::FxHashSet;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name};
use crate::constraint::is_scope_name;
use crate::eval::FreeNames;

/// A set of attribute names that expressions mention.
#[derive(Default)]
pub struct MentionedNames {
    names: FxHashSet<Name>,
    /// Whether some expression may read attributes that it does not name.
    pub is_opaque: bool,
}

impl MentionedNames {
    /// Returns the number of names.
    #[must_use]
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Iterates over the names, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Name> {
        self.names.iter()
    }

    /// Whether `name` may be read.
    #[must_use]
    pub fn mention(&self, name: &Name) -> bool {
        self.is_opaque || self.names.contains(name)
    }

    /// Adds the names that an ad mentions. `labels` are the labels of its ports. Leaves out the expressions of attributes
    /// that are called `skipped`.
    pub fn add_ad(&mut self, ad: &Ad, labels: &[&Name], skipped: Option<&Name>, dialect: Dialect) {
        for attribute in ad.iter().filter(|attribute| Some(attribute.name) != skipped) {
            self.add_names_in(attribute.expression, labels, skipped, dialect);
        }
    }

    /// Adds the names that an expression mentions. The names become opaque if a label is used as a whole ad, because the
    /// expression may then read any attribute of the ad docked at the port. Leaves out the expressions of attributes that
    /// are called `skipped` in nested ads.
    pub fn add_names_in(
        &mut self,
        expression: &Expression,
        labels: &[&Name],
        skipped: Option<&Name>,
        dialect: Dialect,
    ) {
        let mut calls = false;
        let mut pending = vec![(expression, false)];
        while let Some((expression, is_selected_from)) = pending.pop() {
            match expression.kind() {
                ExpressionKind::Attribute(name) => {
                    let is_an_ad = is_scope_name(name);
                    self.is_opaque |= !is_selected_from && (is_an_ad || labels.contains(&name));
                    if !is_an_ad {
                        self.add_name(name);
                    }
                }
                ExpressionKind::RootAttribute(name) => self.add_name(name),
                ExpressionKind::Select(inner, name) => {
                    self.add_name(name);
                    pending.push((inner, true));
                }
                ExpressionKind::Parentheses(inner) => pending.push((inner, is_selected_from)),
                // Skip the `Label` attribute of a port, which names the label but does not read the ad docked there.
                ExpressionKind::Ad(ad) => {
                    let is_read = |name: &Name| !name.is("Label") && Some(name) != skipped;
                    let attributes = ad.iter().filter(|attribute| is_read(attribute.name));
                    attributes.for_each(|attribute| pending.push((attribute.expression, false)));
                }
                kind => {
                    calls |= matches!(kind, ExpressionKind::Call(..));
                    kind.for_each_child(|child| pending.push((child, false)));
                }
            }
        }
        if calls {
            let mentions = FreeNames::of(expression, dialect);
            self.is_opaque |= mentions.reads_unknown();
            mentions.names.iter().for_each(|name| self.add_name(name));
        }
    }

    fn add_name(&mut self, name: &Name) {
        if !self.names.contains(name) {
            self.names.insert(name.clone());
        }
    }
}
