//! Ads whose ports are pinned to each other: only the partner with the same pin may dock there.

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, Participant, Value};
use crate::matching::gang::DockedOffer;
use crate::matching::gang::participants::{ParticipantTable, PortPlace};
use crate::protocol::{LABEL, PORTS, port_list, read_ports};

/// Returns the name of the attribute that only the two ports of a pin have. `followed` is the number of offers that have
/// been followed so far.
pub fn pin_name(followed: usize, pin: usize) -> Name {
    Name::new(&format!("_pin_{followed}_{pin}"))
}

/// Pairs of ports that are pinned to each other.
pub struct Pins<'t> {
    pub table: &'t ParticipantTable,
    /// Number of offers that have been followed so far.
    pub followed: usize,
    /// The pinned ports, each with the number of the pin and the clauses that count besides the pin.
    pub links: Vec<(PortPlace, usize, Vec<Expression>)>,
}

impl Pins<'_> {
    /// Pins two ports to each other. Of their constraints, only the clauses with the indices `kept` count.
    pub fn add(&mut self, a: PortPlace, b: PortPlace, clauses: &[(PortPlace, Expression)], kept: &[usize]) {
        let pin = self.links.len();
        for place in [a, b] {
            let kept = kept.iter().map(|index| &clauses[*index]).filter(|(owner, _)| *owner == place);
            self.links.push((place, pin, kept.map(|(_, clause)| clause.clone()).collect()));
        }
    }

    /// Pins the ports of a gang below a participant. Their constraints are met already.
    pub fn add_gang(&mut self, above: Participant, ports: &[DockedOffer]) {
        let mut pending: Vec<(Participant, &DockedOffer)> = ports.iter().map(|docked| (above, docked)).collect();
        while let Some((above, docked)) = pending.pop() {
            let Some(port) = self.table.labels(above).position(|label| label.is(&docked.label)) else { continue };
            let link = PortPlace { participant: Participant::of_offer(docked.offer), port: docked.link };
            self.add(PortPlace { participant: above, port }, link, &[], &[]);
            pending.extend(docked.ports.iter().map(|below| (link.participant, below)));
        }
    }

    /// Returns an ad with its pinned ports. Other ports stay only if `keeps_others`. `None` if its list cannot be read.
    pub fn pinned(&self, ad: &Ad, participant: Participant, keeps_others: bool) -> Option<Ad> {
        let pin = |port: usize, record: &Ad, label: &Name| {
            let place = PortPlace { participant, port };
            let found = self.links.iter().find(|(pinned, ..)| *pinned == place);
            found.map(|(_, pin, clauses)| self.pinned_record(record, label, *pin, clauses))
        };
        let Some(list) = port_list(ad) else { return pin(0, ad, &Name::new("other")) };
        let labels: Vec<Name> = read_ports(ad).ok()?.list.into_iter().map(|port| port.label).collect();
        let mut next = 0;
        let list = rewrite_ports(list, keeps_others, &mut |record| {
            let port = next;
            next += 1;
            pin(port, record, labels.get(port)?).or_else(|| keeps_others.then(|| record.clone()))
        })?;
        Some(ad.with(PORTS.clone(), list))
    }

    /// Returns the record of a port that only the partner with the same pin may dock at.
    fn pinned_record(&self, record: &Ad, label: &Name, pin: usize, clauses: &[Expression]) -> Ad {
        let pin = pin_name(self.followed, pin);
        let protocol = &self.table.protocol;
        let constraint = protocol.constraint_name(record).or_else(|| protocol.constraint_names().first());
        let constraint = constraint.cloned().unwrap_or_else(|| Name::new("Constraint"));
        let truth = || Expression::literal(Value::Boolean(true));
        let is_pinned = Expression::select(Expression::attribute(label.clone()), pin.clone());
        let is_pinned = Expression::binary(BinaryOperator::Is, is_pinned, truth());
        let both = |all, clause: &Expression| Expression::binary(BinaryOperator::And, clause.clone(), all);
        record.with(constraint, clauses.iter().rev().fold(is_pinned, both)).with(pin, truth())
    }
}

/// Rewrites the records in a list of ports, also in groups. A record for which `edit` returns `None` is left out. Unless
/// `keeps_bounds`, all ports that stay in a group are to be filled, and a group without ports is left out. `None` if the
/// list is none.
fn rewrite_ports(list: &Expression, keeps_bounds: bool, edit: &mut dyn FnMut(&Ad) -> Option<Ad>) -> Option<Expression> {
    let ExpressionKind::List(entries) = list.without_parentheses().kind() else { return None };
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries.iter() {
        let ExpressionKind::Ad(record) = entry.without_parentheses().kind() else { return None };
        let rewritten = match record.get(&PORTS).filter(|_| record.get(&LABEL).is_none()) {
            None => edit(record),
            Some(inner) => {
                let inner = rewrite_ports(inner, keeps_bounds, edit)?;
                let is_empty = matches!(inner.kind(), ExpressionKind::List(left) if left.is_empty());
                let is_bound = |name: &Name| !keeps_bounds && (name.is("Min") || name.is("Max"));
                let rest = record.iter().filter(|attribute| !is_bound(attribute.name));
                let rest: Ad = rest.map(|of| (of.name.clone(), of.expression.clone())).collect();
                (keeps_bounds || !is_empty).then(|| rest.with(PORTS.clone(), inner))
            }
        };
        found.extend(rewritten.map(|record| Expression::new(ExpressionKind::Ad(record), entry.span())));
    }
    Some(Expression::new(ExpressionKind::List(found.into()), list.span()))
}
