//! Analyses what one clause of a request requires of the offers.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::ad::{Ad, BinaryOperator, Expression, Frame, Group, Kind, Name, Value};
use crate::constraint::Operand;
use crate::eval::{Context, Environment, Extent, Liberties, References, Specialized, Verdict, references, specialize};

use super::clauses::Clause;

/// A clause with its analysis: its value and its references given the request's own attributes.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The clause.
    pub clause: Clause,
    /// The residue: the clause specialized with the request's attributes.
    pub left: Expression,
    /// Whether the residue can be true.
    pub verdict: Verdict,
    /// The clause as a comparison with a constant. `None` if it is anything else.
    pub asked: Option<Asked>,
    /// The offer's attributes that the clause reads, directly or through attributes of the request.
    pub theirs: IndexSet<Name>,
    /// The request's attributes that the clause reads, without those on the path to the clause.
    pub own: IndexSet<Name>,
    /// The attributes that the clause reads as the request's own and that the request lacks.
    pub lacking: IndexSet<Name>,
}

/// A comparison of an operand of the offer with a constant: `what operator bound`.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The operand that depends on the offer.
    pub what: Expression,
    /// The offer's attribute, if `what` is a plain reference to it.
    pub attribute: Option<Name>,
    /// The operator, with `what` on its left.
    pub operator: BinaryOperator,
    /// The constant: the value of the other operand given the request.
    pub bound: Value,
    /// The request's attribute that holds the bound, if the other operand is a plain reference to it.
    pub own: Option<Name>,
    /// Whether the bound is written on the left: `bound operator what`.
    pub is_exchanged: bool,
}

/// A request specialized on its own, before it meets an offer.
pub struct Unmet {
    ad: Ad,
    environment: Environment,
    frame: Arc<Frame>,
    context: Context,
}

impl Unmet {
    pub fn new(ad: &Ad, context: &Context) -> Self {
        let (environment, frame) = Environment::unmet(ad.clone(), Extent::Closed);
        // Without a random seed, a call of `random()` is not folded to a constant.
        Unmet { ad: ad.clone(), environment, frame, context: Context { chance: None, ..context.clone() } }
    }

    /// Analyses a clause of the request's constraint.
    pub fn examine(&self, clause: &Clause) -> Examined {
        let left = self.specialized(&clause.expression);
        let (theirs, lacking) = sides(&self.references(&clause.expression));
        let own = self.references(&clause.expression).internal;
        let own = own.into_iter().filter(|name| !clause.through.contains(name)).collect();
        let asked = self.asked(&clause.expression);
        Examined { clause: clause.clone(), left: left.expression, verdict: left.verdict, asked, theirs, own, lacking }
    }

    fn specialized(&self, expression: &Expression) -> Specialized {
        specialize(expression, &self.frame, &self.environment, &self.context, Liberties::default())
    }

    fn references(&self, expression: &Expression) -> References {
        references(expression, &self.frame, &self.environment, &self.context)
    }

    /// Returns the comparison with a constant that an expression is. `None` if it is none, or if the constant is a list
    /// or an ad.
    fn asked(&self, expression: &Expression) -> Option<Asked> {
        let Kind::Binary(operator, left, right) = expression.bare().kind() else { return None };
        if !matches!(operator.group(), Group::Comparison | Group::Identity) {
            return None;
        }
        let (operator, what, constant, is_exchanged) =
            match (self.specialized(left).value, self.specialized(right).value) {
                (None, Some(_)) => (*operator, left, right, false),
                (Some(_), None) => (operator.exchanged()?, right, left, true),
                _ => return None,
            };
        let bound = self.specialized(constant).value?;
        if matches!(bound, Value::List(_) | Value::Ad(_)) {
            return None;
        }
        let attribute = match Operand::of(what) {
            Some(Operand::Other(name) | Operand::Free(name)) => Some(name.clone()),
            _ => None,
        };
        let own = match Operand::of(constant) {
            Some(Operand::Own(name) | Operand::Free(name)) => self.ad.attribute(name).map(|own| own.name.clone()),
            _ => None,
        };
        Some(Asked { what: what.clone(), attribute, operator, bound, own, is_exchanged })
    }
}

/// Splits the references that an ad does not resolve: names that the other side may define, and names that only the ad
/// itself could.
fn sides(references: &References) -> (IndexSet<Name>, IndexSet<Name>) {
    let (mut theirs, mut lacking) = (IndexSet::new(), IndexSet::new());
    for reference in &references.external {
        match reference.path.as_slice() {
            [side, name, ..] if side.is("target") || side.is("other") => theirs.insert(name.clone()),
            [side, name, ..] if side.is("my") || side.is("self") => lacking.insert(name.clone()),
            [name, ..] if reference.known == 0 => theirs.insert(name.clone()),
            _ => false,
        };
    }
    (theirs, lacking)
}

#[cfg(test)]
mod tests {
    use super::Unmet;
    use crate::ad::{Dialect, Name};
    use crate::eval::Context;
    use crate::explain::clauses::{clauses, text};
    use crate::syntax::{Rules, parse_ad};

    #[test]
    fn what_is_asked_of_whom() {
        let ad = "[ Requirements = TARGET.Memory >= RequestMemory && MY.Prio > 1 && 5 < Cpus && Half \
                  && TARGET.Disk / 2 > 10 && TARGET.x == y; RequestMemory = 2 * 4; Half = TARGET.Disk > MY.Lost ]";
        let ad = parse_ad(ad.as_bytes(), Rules::new(Dialect::Condor)).unwrap();
        let unmet = Unmet::new(&ad, &Context::new(Dialect::Condor));
        let clauses = clauses(&ad, &Name::new("Requirements"));
        let shown = clauses.iter().map(|clause| {
            let found = unmet.examine(clause);
            let names = |names: &indexmap::IndexSet<Name>| names.iter().map(Name::as_str).collect::<Vec<_>>().join(" ");
            let asked = found.asked.as_ref().map(|asked| {
                let bound = crate::syntax::print_value(&asked.bound, crate::syntax::Style::New);
                format!(
                    "{} {} {}",
                    text(&asked.what, Dialect::Condor),
                    asked.operator.symbol(),
                    String::from_utf8_lossy(&bound)
                )
            });
            format!(
                "{} | {} | {} | {} | {}",
                text(&found.left, Dialect::Condor),
                names(&found.theirs),
                names(&found.own),
                names(&found.lacking),
                asked.unwrap_or_default()
            )
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "TARGET.Memory >= 8 | Memory | RequestMemory |  | TARGET.Memory >= 8",
                "undefined |  |  | Prio | ",
                "5 < Cpus | Cpus |  |  | Cpus > 5",
                "TARGET.Disk > undefined | Disk |  | Lost | TARGET.Disk > undefined",
                "TARGET.Disk / 2 > 10 | Disk |  |  | TARGET.Disk / 2 > 10",
                "TARGET.x == y | x y |  |  | ",
            ]
        );
    }
}
