//! Edits of a request.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Value};
use crate::ad::{Replacement, rewrite_expression};
use crate::eval::FreeNames;
use crate::explain::clauses::{parenthesized, text};
use crate::protocol::{Port, read_ports};
use crate::text::{join_and, with_short_numbers};

/// One edit of a request. The edit holds the expression that it replaces, and finds this expression in the request by
/// identity: it must be the same node in memory. A changed request shares its unchanged nodes with the original, so
/// that several edits can be applied in sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestEdit {
    /// Drops a clause of a conjunction.
    Drop {
        /// The clause to drop.
        clause: Expression,
    },
    /// Replaces a clause.
    Rewrite {
        /// The clause to replace.
        clause: Expression,
        /// The new clause.
        to: Expression,
    },
    /// Sets an attribute of the request or of one of its ports to a literal.
    Set {
        /// The name of the attribute.
        name: Name,
        /// The attribute's current expression; `None` if the request lacks the attribute.
        from: Option<Expression>,
        /// The literal to which the attribute is set.
        to: Expression,
    },
    /// Defines an attribute that the request lacks. Its value does not matter.
    Define {
        /// The name of the attribute.
        name: Name,
    },
    /// Removes an attribute from the request.
    Remove {
        /// The name of the attribute.
        name: Name,
        /// The attribute's expression.
        from: Expression,
    },
    /// Drops one port, or all ports of a group.
    DropPorts {
        /// The labels of the ports to drop.
        labels: Vec<Name>,
    },
}

impl RequestEdit {
    /// Describes the edit: `RequestMemory 4096 -> 2048`.
    #[must_use]
    pub fn text(&self, dialect: Dialect) -> String {
        let plain = |expression: &Expression| text(expression, dialect);
        let text = |expression: &Expression| match plain(expression) {
            text if dialect.is_condor() => text,
            text => with_short_numbers(&text),
        };
        match self {
            RequestEdit::Drop { clause } => format!("drop `{}`", text(clause)),
            RequestEdit::Rewrite { clause, to } => format!("`{}` -> `{}`", text(clause), text(to)),
            // Both have a suffix, or none has.
            RequestEdit::Set { name, from: Some(from), to } if [from, to].iter().any(|of| text(of) == plain(of)) => {
                format!("{name} {} -> {}", plain(from), plain(to))
            }
            RequestEdit::Set { name, from: Some(from), to } => format!("{name} {} -> {}", text(from), text(to)),
            RequestEdit::Set { name, from: None, to } => format!("{name} = {}", text(to)),
            RequestEdit::Define { name } if name.is(PROJECT) => format!("set {name} to the name of your project"),
            RequestEdit::Define { name } => format!("define {name}, for example as \"{}\"", example(name)),
            RequestEdit::Remove { name, .. } => format!("delete {name}"),
            RequestEdit::DropPorts { labels } => {
                let labels: Vec<String> = labels.iter().map(Name::to_string).collect();
                format!("do without {}", join_and(&labels))
            }
        }
    }

    /// Whether the edit is of a private attribute, or of a clause that reads one.
    pub(super) fn reads_private(&self, dialect: Dialect) -> bool {
        let reads = |expression: &Expression| FreeNames::of(expression, dialect).names.iter().any(Name::is_secret);
        match self {
            RequestEdit::Drop { clause } => reads(clause),
            RequestEdit::Rewrite { clause, to } => reads(clause) || reads(to),
            RequestEdit::Set { name, .. } | RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => {
                name.is_secret()
            }
            RequestEdit::DropPorts { .. } => false,
        }
    }

    /// Applies the edit. `None` if the request does not contain the clause or the ports to edit.
    pub(in crate::explain) fn apply(&self, request: &Ad) -> Option<Ad> {
        match self {
            RequestEdit::Set { name, from, to } => {
                let is_own = |from: &&Expression| request.get(name).is_some_and(|own| own.ptr_eq(from));
                let of_port = from.as_ref().filter(|from| !is_own(from));
                let changed = of_port.and_then(|from| replace_expression(request, from, to));
                changed.or_else(|| Some(request.with(name.clone(), to.clone())))
            }
            RequestEdit::Rewrite { clause, to } => replace_expression(request, clause, &parenthesized(to)),
            RequestEdit::Drop { clause } => drop_clause(request, clause),
            RequestEdit::Define { name } => {
                Some(request.with(name.clone(), Expression::literal(Value::string(example(name).as_str()))))
            }
            RequestEdit::Remove { name, .. } => {
                let others = request.iter().filter(|attribute| attribute.name != name);
                Some(others.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect())
            }
            RequestEdit::DropPorts { labels } => drop_ports(request, labels),
        }
    }

    /// The expression that the edit replaces. `None` if the edit adds an attribute or drops ports.
    pub(super) fn replaced(&self) -> Option<&Expression> {
        match self {
            RequestEdit::Drop { clause } | RequestEdit::Rewrite { clause, .. } => Some(clause),
            RequestEdit::Set { from, .. } => from.as_ref(),
            RequestEdit::Remove { from, .. } => Some(from),
            RequestEdit::Define { .. } | RequestEdit::DropPorts { .. } => None,
        }
    }

    /// Whether this edit and `other` change the same part of the request in the same way, except for the new value.
    pub(super) fn differs_in_value_only(&self, other: &RequestEdit) -> bool {
        let [part, other_part] = [self, other].map(|edit| edit.replaced().map(Expression::identity));
        let is_same_part = part == other_part;
        match (self, other) {
            (RequestEdit::Set { name, .. }, RequestEdit::Set { name: other, .. }) => is_same_part && name == other,
            (RequestEdit::DropPorts { .. } | RequestEdit::Define { .. }, _) => self == other,
            _ => is_same_part && std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Merges `later`, an edit of the changed request, into this edit. Returns true if `later` replaces the expression
    /// that this edit wrote. Otherwise returns false and changes nothing.
    pub(super) fn join(&mut self, later: &RequestEdit) -> bool {
        let (RequestEdit::Rewrite { to: written, .. } | RequestEdit::Set { to: written, .. }) = self else {
            return false;
        };
        if !later.replaced().is_some_and(|of| of.without_parentheses().ptr_eq(written.without_parentheses())) {
            return false;
        }
        match later {
            RequestEdit::Rewrite { to, .. } | RequestEdit::Set { to, .. } => written.clone_from(to),
            RequestEdit::Define { .. } | RequestEdit::Remove { .. } => return false,
            RequestEdit::Drop { .. } | RequestEdit::DropPorts { .. } => {
                let Some(clause) = self.replaced().cloned() else { return false };
                *self = RequestEdit::Drop { clause };
            }
        }
        true
    }
}

/// Replaces an expression wherever the request contains it. `None` if the request does not contain the expression.
fn replace_expression(request: &Ad, from: &Expression, to: &Expression) -> Option<Ad> {
    rewrite_ad(request, &mut |part| part.ptr_eq(from).then(|| to.clone()))
}

/// Removes a clause from the conjunction that holds it. A clause that is no part of a conjunction becomes `true`.
fn drop_clause(request: &Ad, clause: &Expression) -> Option<Ad> {
    let is_clause = |part: &Expression| part.without_parentheses().ptr_eq(clause.without_parentheses());
    rewrite_ad(request, &mut |part| match part.kind() {
        ExpressionKind::Binary(BinaryOperator::And, left, right) if is_clause(left) => Some(right.clone()),
        ExpressionKind::Binary(BinaryOperator::And, left, right) if is_clause(right) => Some(left.clone()),
        _ => part.ptr_eq(clause).then(|| Expression::literal(Value::Boolean(true))),
    })
}

/// Removes one port, or a whole outermost group, from the list that contains it. The group is removed if `labels` has
/// the labels of all ports of the group. `None` if the list would become empty or no port has a label in `labels`.
fn drop_ports(request: &Ad, labels: &[Name]) -> Option<Ad> {
    let ports = read_ports(request).ok()?;
    let is_dropped = |port: &&Port| labels.contains(&port.label);
    let first = ports.list.iter().find(is_dropped)?;
    let is_whole = |group: &&Ad| ports_of_group(&ports.list, group).all(|port| is_dropped(&port));
    let record = first.groups.first().filter(is_whole).or(first.record.as_ref())?.identity();
    let is_entry = |entry: &Expression| matches!(entry.without_parentheses().kind(), ExpressionKind::Ad(ad) if ad.identity() == record);
    rewrite_ad(request, &mut |part| match part.kind() {
        ExpressionKind::List(entries) if entries.iter().any(is_entry) && entries.len() > 1 => {
            Some(Expression::list(entries.iter().filter(|entry| !is_entry(entry)).cloned()))
        }
        _ => None,
    })
}

/// Returns the ports that `group` contains, directly or in inner groups. `group` is an outermost group.
pub fn ports_of_group<'p>(ports: &'p [Port], group: &Ad) -> impl Iterator<Item = &'p Port> {
    let group = group.identity();
    ports.iter().filter(move |port| port.groups.first().is_some_and(|of| of.identity() == group))
}

/// Rewrites the expression of each attribute of an ad by [`rewrite_expression`]. `None` if nothing was replaced.
fn rewrite_ad(ad: &Ad, by: Replacement<'_>) -> Option<Ad> {
    let mut changed: Option<Ad> = None;
    for attribute in ad.iter() {
        if let Some(to) = rewrite_expression(attribute.expression, by) {
            changed = Some(changed.as_ref().unwrap_or(ad).with(attribute.name.clone(), to));
        }
    }
    changed
}

/// The attribute of a job that names its project: nobody else can know the value. Accounting groups are never proposed.
pub const PROJECT: &str = "ProjectName";

/// Returns the value with which an attribute is defined for an example: of the project a place for it.
fn example(name: &Name) -> String {
    if name.is(PROJECT) { format!("YOUR_{}", name.as_str().to_ascii_uppercase()) } else { "any".to_owned() }
}

#[cfg(test)]
mod tests;
