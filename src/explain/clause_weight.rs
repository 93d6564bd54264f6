//! Which of the unmet clauses of an offer's constraint decides that it refuses a request.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Value};
use crate::eval::FreeNames;
use crate::protocol::{TOTAL_SLOT_PREFIX, requested_resource};

/// What a clause of an offer's constraint is about. Of several unmet clauses the one with the lowest value decides: no
/// other value of what the later ones read would help.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClauseWeight {
    /// The clause is `false`, or an attribute of the offer itself: if it is not met, the offer takes nothing.
    Closed,
    /// The clause limits a request for this resource to what the offer has of it.
    Limit(Name),
    /// Any other clause. Of several, the first one decides.
    Demand,
}

/// Prefix of the requests for resources that the negotiator itself has rounded.
const ROUNDED_PREFIX: &str = "_condor_";

impl ClauseWeight {
    /// Finds out what a clause of the offer `ad` is about.
    pub fn of(clause: &Expression, ad: &Ad, dialect: Dialect) -> Self {
        let named = match clause.without_parentheses().kind() {
            ExpressionKind::Attribute(name) => ad.get(name),
            ExpressionKind::Select(scope, name) => match scope.without_parentheses().kind() {
                ExpressionKind::Attribute(scope) if scope.is("my") => ad.get(name),
                _ => None,
            },
            _ => None,
        };
        // Rows share the clause `Start` whose attributes have different values; it is not met where it is not true.
        let is_own = named.is_some_and(|own| own.as_literal().is_some());
        if is_own || clause.without_parentheses().as_literal() == Some(&Value::Boolean(false)) {
            return ClauseWeight::Closed;
        }
        clause
            .parts()
            .find_map(|part| limited_resource(part, ad, dialect))
            .map_or(ClauseWeight::Demand, ClauseWeight::Limit)
    }

    /// Whether the clause decides before another one, wherever they stand.
    pub fn precedence(&self) -> u8 {
        match self {
            ClauseWeight::Closed => 0,
            ClauseWeight::Limit(_) => 1,
            ClauseWeight::Demand => 2,
        }
    }

    /// Returns the resource of a limit.
    pub fn limited_resource(&self) -> Option<&Name> {
        if let ClauseWeight::Limit(resource) = self { Some(resource) } else { None }
    }
}

/// Returns the resource for which a comparison admits requests of at most what the offer has: `Disk` of
/// `TARGET.RequestDisk <= MY.Disk`. `None` for another expression.
fn limited_resource(comparison: &Expression, ad: &Ad, dialect: Dialect) -> Option<Name> {
    let (asked, held) = match comparison.kind() {
        ExpressionKind::Binary(BinaryOperator::Less | BinaryOperator::LessEqual, left, right) => (left, right),
        ExpressionKind::Binary(BinaryOperator::Greater | BinaryOperator::GreaterEqual, left, right) => (right, left),
        _ => return None,
    };
    let [asked, held] = [asked, held].map(|side| FreeNames::of(side, dialect));
    let falls_through = |name: &&Name| ad.get(name).is_none();
    let mut requests = asked.theirs.iter().chain(asked.unqualified.iter().filter(falls_through));
    let own = || held.mine.iter().chain(held.unqualified.iter().filter(|name| !falls_through(name)));
    requests.find_map(|name| {
        let resource = requested_resource(&without_prefix(name, ROUNDED_PREFIX))?;
        own().any(|name| without_prefix(name, TOTAL_SLOT_PREFIX) == resource).then_some(resource)
    })
}

/// Returns a name without a prefix, if it has it.
fn without_prefix(name: &Name, prefix: &str) -> Name {
    match name.as_str().split_at_checked(prefix.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(prefix) => Name::new(rest),
        _ => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::ClauseWeight;
    use crate::ad::{Dialect, Name};
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    #[test]
    fn a_limit_admits_requests_of_at_most_what_the_offer_has() {
        let options = ParseOptions::new(Dialect::Condor);
        let ad = parse_ad(b"[ Memory = 5; Cpus = 1; Disk = 9; GPUs = 0; TotalSlotMemory = 9; Start = false ]", options)
            .unwrap();
        let limit = |resource: &str| ClauseWeight::Limit(Name::new(resource));
        for (clause, expected) in [
            ("TARGET.RequestMemory <= MY.Memory", limit("Memory")),
            ("RequestMemory <= Memory", limit("Memory")),
            ("MY.Cpus >= TARGET.RequestCpus", limit("Cpus")),
            ("Target.requestdisk < my.disk", limit("Disk")),
            ("TARGET.RequestMemory * 1.1 <= MY.TotalSlotMemory - 1", limit("Memory")),
            ("TARGET.RequestGPUs =?= undefined || MY.GPUs >= TARGET.RequestGPUs", limit("GPUs")),
            ("(TARGET.RequestDisk - ifThenElse(catalogs =?= undefined, 0, 5)) <= MY.Disk", limit("Disk")),
            (
                "ifThenElse(TARGET._condor_RequestCpus =!= undefined, TARGET._condor_RequestCpus <= MY.Cpus, 1 <= Cpus)",
                limit("Cpus"),
            ),
            // A bound of the owner's, a wish for large jobs, and what is about two resources.
            ("TARGET.RequestMemory <= 2048", ClauseWeight::Demand),
            ("TARGET.RequestMemory >= MY.Memory", ClauseWeight::Demand),
            ("TARGET.RequestMemory >= 4096 || TARGET.WantBig =?= true", ClauseWeight::Demand),
            ("TARGET.RequestMemory <= MY.Cpus", ClauseWeight::Demand),
            ("MY.Cpus > 0", ClauseWeight::Demand),
            ("TARGET.Memory >= RequestMemory", ClauseWeight::Demand),
            ("TARGET.Owner == \"ann\"", ClauseWeight::Demand),
            ("true", ClauseWeight::Demand),
            ("undefined", ClauseWeight::Demand),
            ("(FALSE)", ClauseWeight::Closed),
            ("Start", ClauseWeight::Closed),
            ("MY.Start", ClauseWeight::Closed),
            ("TARGET.Start", ClauseWeight::Demand),
            ("Wish", ClauseWeight::Demand),
        ] {
            let parsed = parse_expression(clause.as_bytes(), options).unwrap();
            assert_eq!(ClauseWeight::of(&parsed, &ad, Dialect::Condor), expected, "{clause}");
        }
        assert!(ClauseWeight::Closed < limit("Cpus") && limit("Memory") < ClauseWeight::Demand);
    }
}
