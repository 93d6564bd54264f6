//! Evaluates expressions against all offers at once. Each expression is evaluated once per group of offers that agree
//! in the attributes it depends on.

mod attribute;
mod dependencies;
mod results;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Distinct, Expression, Frame, Kind, Name, Value};
use crate::constraint::{Condition, Operand, is_plain, stands_for_an_ad};
use crate::eval::{Context, Mentions, binary};
use crate::matching::policy::{Rule, Vector};
use crate::matching::{Pair, Side};
use crate::pool::Partition;
use crate::protocol::Protocol;

use super::clauses::{Clause, clauses};
use attribute::{Attribute, attributes};
use dependencies::Reached;
pub use results::{Answers, Counts, Outcome};

/// The offers as columns, with caches of results. A *row* is a distinct ad; offers that share one ad in memory share a
/// row, whose weight is their number.
pub struct Survey {
    pub protocol: Protocol,
    pub context: Context,
    /// The ad of each row.
    pub ads: Vec<Ad>,
    /// Number of offers of each row.
    pub weights: Vec<usize>,
    /// Index of the first offer of each row.
    pub first: Vec<usize>,
    /// The row of each offer.
    pub row_of: Vec<u32>,
    pair: Pair,
    attributes: IndexMap<Name, Rc<Attribute>, FxBuildHasher>,
    groups: FxHashMap<Vec<Name>, Rc<Partition>>,
    numbers: IndexSet<Name, FxBuildHasher>,
    expressions: Distinct,
    mentions: FxHashMap<usize, Rc<Mentions>>,
    /// Dependencies by the number of the expression, for requests whose attributes in them are literals.
    reached: FxHashMap<usize, Option<Reached>>,
    answers: FxHashMap<Box<[usize]>, Rc<Answers>>,
    /// The clauses of the offers' constraints; `None` until first needed.
    demands: Option<Demands>,
    /// Whether some offer has an attribute with a reserved scope name such as `target`.
    is_odd: bool,
    /// The docking vector of the policy: a candidate for which a component has no comparable value is discarded.
    pub docking: Vec<Rule>,
    /// Number of expressions evaluated.
    pub evaluations: u64,
}

/// The rows partitioned by equal constraints, with the clauses of each group, filled on demand.
type Demands = (Rc<Partition>, Vec<Option<Rc<[Clause]>>>);

/// A clause of an offer, with its cached results for a request.
type Demanded = (Clause, Rc<Known>);

/// A request with its caches.
pub struct Asking {
    pub ad: Ad,
    frame: Arc<Frame>,
    is_odd: bool,
    /// By the number of a name: the number of the expression that the request binds to it, and whether it is not a
    /// literal.
    bound: RefCell<FxHashMap<usize, (usize, bool)>>,
    /// Cached results of clauses, by clause number and side.
    known: RefCell<FxHashMap<(usize, usize), Rc<Known>>>,
    /// Clauses of the offers' constraints with cached results, by the group of the constraint.
    demanded: RefCell<FxHashMap<usize, Rc<[Demanded]>>>,
}

impl Asking {
    pub fn new(ad: &Ad) -> Self {
        let frame = Pair::scope(ad.clone(), Side::Left);
        Asking {
            ad: ad.clone(),
            frame,
            is_odd: is_odd(ad),
            bound: RefCell::default(),
            known: RefCell::default(),
            demanded: RefCell::default(),
        }
    }
}

/// The cached results of a clause for a request.
struct Known {
    answers: Rc<Answers>,
    /// Whether the value of the clause depends on an attribute that contains it.
    is_circular: bool,
}

/// The reason why an offer refuses a request.
#[derive(Clone, Debug)]
pub enum Refusing {
    /// The offer has no constraint, and so accepts nothing.
    NoConstraint,
    /// A clause of its constraint, with an outcome other than true.
    Clause(Clause, Outcome),
}

impl Survey {
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        let mut rows: IndexMap<usize, (usize, usize), FxBuildHasher> = IndexMap::default();
        let mut row_of = Vec::with_capacity(offers.len());
        for (position, ad) in offers.iter().enumerate() {
            let entry = rows.entry(ad.identity());
            row_of.push(u32::try_from(entry.index()).unwrap_or(u32::MAX));
            entry.or_insert((position, 0)).1 += 1;
        }
        let ads: Vec<Ad> = rows.values().map(|(first, _)| offers[*first].clone()).collect();
        let attributes = attributes(&ads);
        let is_odd = attributes.keys().any(stands_for_an_ad);
        Survey {
            pair: Pair::new(Ad::default(), Ad::default(), protocol.clone(), context.clone()),
            protocol,
            context,
            weights: rows.values().map(|(_, weight)| *weight).collect(),
            first: rows.values().map(|(first, _)| *first).collect(),
            row_of,
            attributes,
            groups: FxHashMap::default(),
            numbers: IndexSet::default(),
            expressions: Distinct::default(),
            mentions: FxHashMap::default(),
            reached: FxHashMap::default(),
            answers: FxHashMap::default(),
            demands: None,
            is_odd,
            ads,
            docking: Vec::new(),
            evaluations: 0,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.ads.len()
    }

    /// Number of offers.
    pub fn offers(&self) -> usize {
        self.row_of.len()
    }

    /// Returns the number of offers that some rows stand for.
    pub fn weight(&self, rows: impl IntoIterator<Item = usize>) -> usize {
        rows.into_iter().map(|row| self.weights[row]).sum()
    }

    /// Returns the clauses of a request's constraint, in the order of evaluation. A constraint with a circular clause
    /// is returned whole: such a clause has another value when evaluated on its own.
    pub fn clauses(&mut self, asking: &Asking) -> Vec<Clause> {
        let Some(name) = self.protocol.constraint(&asking.ad).cloned() else { return Vec::new() };
        let clauses = clauses(&asking.ad, &name);
        if clauses.iter().any(|clause| self.known(asking, clause, Side::Left).is_circular) {
            return Clause::of_whole(&asking.ad, &name).into_iter().collect();
        }
        clauses
    }

    /// Returns the results of a clause of the request in all offers.
    pub fn answers(&mut self, asking: &Asking, clause: &Clause) -> Rc<Answers> {
        Rc::clone(&self.known(asking, clause, Side::Left).answers)
    }

    /// Returns the results of an expression of the request in all offers.
    pub fn answers_of(&mut self, asking: &Asking, expression: &Expression) -> Rc<Answers> {
        self.answers(asking, &Clause::of(expression.clone()))
    }

    /// Returns the outcome of a clause of a row's constraint for the request, from `known` if it is there.
    fn demanded(&mut self, asking: &Asking, known: &Answers, clause: &Clause, row: usize) -> Outcome {
        known.at(row).unwrap_or_else(|| {
            let outcome = Outcome::of(&self.value(asking, Side::Right, clause, row), self.context.dialect);
            known.note(row, outcome);
            outcome
        })
    }

    /// Returns the cached results of a clause. Request clauses are evaluated at once over all offers, offer clauses on
    /// demand.
    fn known(&mut self, asking: &Asking, clause: &Clause, side: Side) -> Rc<Known> {
        let number = self.expressions.number(&clause.expression).0;
        let short = (number * 2 + usize::from(clause.is_whole), side as usize);
        if let Some(known) = asking.known.borrow().get(&short) {
            return Rc::clone(known);
        }
        let (key, names) = self.key(asking, clause, side);
        let is_circular = match &names {
            Some(names) if !clause.is_whole => clause.through.iter().any(|name| names.contains(name)),
            _ => false,
        };
        let answers = self.answers.get(&key).cloned().unwrap_or_else(|| {
            let groups = names.map(|names| self.groups(names.to_vec()));
            let answers = Rc::new(match side {
                Side::Left => self.every_answer(asking, clause, groups),
                Side::Right => Answers::unknown(groups, self.rows()),
            });
            self.answers.insert(key, Rc::clone(&answers));
            answers
        });
        let known = Rc::new(Known { answers, is_circular });
        asking.known.borrow_mut().insert(short, Rc::clone(&known));
        known
    }

    fn every_answer(&mut self, asking: &Asking, clause: &Clause, groups: Option<Rc<Partition>>) -> Answers {
        let rows: Vec<usize> = match &groups {
            Some(groups) => groups.first().iter().map(|row| *row as usize).collect(),
            None => (0..self.rows()).collect(),
        };
        let values = rows.into_iter().map(|row| self.value(asking, Side::Left, clause, row)).collect();
        Answers::new(values, groups, &self.weights, self.context.dialect)
    }

    /// Evaluates a clause of one side with the request and a row as the two parties.
    pub fn value(&mut self, asking: &Asking, side: Side, clause: &Clause, row: usize) -> Value {
        self.evaluations += 1;
        if let Some(value) = self.plainly(asking, side, clause, row) {
            return value;
        }
        self.pair.replace(Side::Left, &asking.frame);
        self.pair.replace(Side::Right, &Pair::scope(self.ads[row].clone(), Side::Right));
        let name = clause.through.first().filter(|_| clause.is_whole);
        let value = match name {
            Some(name) => self.pair.attribute(side, name),
            None => self.pair.value(side, &clause.expression),
        };
        // A clause that exceeds its budget counts as an error, and so does not match.
        value.unwrap_or_else(|halt| Value::error(clause.expression.span(), halt.to_string()))
    }

    /// Decides a literal, a reference to a literal, or a comparison of two of these without the evaluator. `None` for
    /// anything else, and for an error, whose value carries its place.
    fn plainly(&self, asking: &Asking, side: Side, clause: &Clause, row: usize) -> Option<Value> {
        if clause.is_whole || self.is_odd || asking.is_odd {
            return None;
        }
        let (own, other) = match side {
            Side::Left => (&asking.ad, &self.ads[row]),
            Side::Right => (&self.ads[row], &asking.ad),
        };
        let dialect = self.context.dialect;
        let literal = |bound: Option<&Expression>| match bound.map(Expression::kind) {
            Some(Kind::Literal(value)) => Some(value.clone()).filter(|value| is_plain(value, dialect)),
            Some(_) => None,
            None => Some(Value::Undefined),
        };
        let value = |operand| match operand {
            Operand::Literal(value) => Some(value.clone()).filter(|value| is_plain(value, dialect)),
            Operand::Own(name) => literal(own.get(name)),
            Operand::Other(name) => literal(other.get(name)),
            Operand::Free(name) => literal(own.get(name).or_else(|| other.get(name))),
        };
        let value = match Condition::of(&clause.expression) {
            Condition::Comparison(operator, left, right) => {
                binary(operator, &value(left)?, &value(right)?, dialect, clause.expression.span())
            }
            Condition::Truth(operand) => value(operand)?,
            Condition::Listed(..) | Condition::Residue => return None,
        };
        (!matches!(value, Value::Error(_))).then_some(value)
    }

    /// Returns the clauses of a row's constraint, empty if it has none, and the group of rows with an equal constraint.
    fn demands(&mut self, row: usize) -> (usize, Rc<[Clause]>) {
        let (groups, mut known) = self.demands.take().unwrap_or_else(|| {
            let names = self.leading();
            let groups = self.groups(names);
            let unknown = vec![None; groups.first().len()];
            (groups, unknown)
        });
        let group = groups.group(row).unwrap_or_default();
        let found = known[group].get_or_insert_with(|| {
            let ad = &self.ads[row];
            self.protocol.constraint(ad).map_or(Vec::new(), |name| clauses(ad, name)).into()
        });
        let found = Rc::clone(found);
        self.demands = Some((groups, known));
        (group, found)
    }

    /// Returns the clauses of a row's constraint with their cached results for the request. A constraint with a
    /// circular clause is returned whole.
    fn demanded_by(&mut self, asking: &Asking, row: usize) -> Rc<[Demanded]> {
        let (group, demands) = self.demands(row);
        if let Some(known) = asking.demanded.borrow().get(&group) {
            return Rc::clone(known);
        }
        let mut with_known = |clauses: &[Clause]| -> Rc<[Demanded]> {
            clauses.iter().map(|clause| (clause.clone(), self.known(asking, clause, Side::Right))).collect()
        };
        let mut found = with_known(&demands);
        if found.iter().any(|(_, known)| known.is_circular) {
            let whole = demands.first().and_then(|clause| {
                let ad = &self.ads[row];
                Clause::of_whole(ad, clause.through.first()?)
            });
            let whole: Vec<Clause> = whole.into_iter().collect();
            found = whole.iter().map(|clause| (clause.clone(), self.known(asking, clause, Side::Right))).collect();
        }
        asking.demanded.borrow_mut().insert(group, Rc::clone(&found));
        found
    }

    /// Returns the clauses of a row's constraint with their outcomes for the request.
    pub fn demanding(&mut self, asking: &Asking, row: usize) -> Vec<(Clause, Outcome)> {
        let demanded = self.demanded_by(asking, row);
        let outcome = |(clause, known): &Demanded| (clause.clone(), self.demanded(asking, &known.answers, clause, row));
        demanded.iter().map(outcome).collect()
    }

    /// Returns the reason why a row refuses the request; `None` if it accepts it.
    pub fn refusal(&mut self, asking: &Asking, row: usize) -> Option<Refusing> {
        let demanded = self.demanded_by(asking, row);
        if demanded.is_empty() {
            return Some(Refusing::NoConstraint);
        }
        for (clause, known) in demanded.iter() {
            let outcome = self.demanded(asking, &known.answers, clause, row);
            if outcome != Outcome::True {
                return Some(Refusing::Clause(clause.clone(), outcome));
            }
        }
        None
    }

    /// Returns the 0-based index of the docking vector's component that discards a row, given that both sides accept.
    /// `None` if the row is not discarded.
    pub fn discarding(&mut self, asking: &Asking, row: usize) -> Option<usize> {
        if self.docking.is_empty() {
            return None;
        }
        self.evaluations += self.docking.len() as u64;
        // A component that exceeds its budget discards the row.
        Vector::unplaced(&self.docking, &asking.ad, &self.ads[row], &self.context).unwrap_or(Some(0))
    }

    /// Returns the rows that match: both sides accept, and the docking vector does not discard the row.
    pub fn matching(&mut self, asking: &Asking) -> FixedBitSet {
        let mut rows = FixedBitSet::with_capacity(self.rows());
        let clauses = self.clauses(asking);
        if clauses.is_empty() {
            return rows;
        }
        rows.insert_range(..);
        for clause in &clauses {
            rows.intersect_with(&self.answers(asking, clause).truth);
            if rows.is_clear() {
                return rows;
            }
        }
        for row in rows.ones().collect::<Vec<_>>() {
            let refused = self.refusal(asking, row).is_some() || self.discarding(asking, row).is_some();
            rows.set(row, !refused);
        }
        rows
    }

    /// Returns the column of an attribute; an empty one if no offer has it.
    fn attribute(&self, name: &Name) -> Rc<Attribute> {
        self.attributes.get(name).cloned().unwrap_or_default()
    }

    /// The names of all attributes of the offers.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.attributes.keys()
    }

    /// Returns the number of offers that have an attribute.
    pub fn having(&self, name: &Name) -> usize {
        let attribute = self.attribute(name);
        self.weight((0..self.rows()).filter(|row| attribute.has(*row)))
    }
}

fn is_odd(ad: &Ad) -> bool {
    ad.iter().any(|attribute| stands_for_an_ad(attribute.name))
}
