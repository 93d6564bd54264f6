//! Why an offer with ports of its own cannot serve a port, although neither constraint refuses it while its own ports are
//! open.
//!
//! The offer becomes the request of a search of its own. The ad whose port it would serve becomes an offer there, docked
//! at the link together with what is docked at that ad already: such ports are *pinned* to each other by an attribute
//! that only they have. The constraints of the port and of the link do not count at first. If the offer still gets no
//! gang, the failure is that of its own ports. Otherwise the clauses of the two constraints decide, alone or together.

use std::sync::Arc;

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, Participant, Value};
use crate::constraint::conjuncts;
use crate::matching::gang::matcher::{GangFault, Gangmatcher};
use crate::matching::gang::participants::{ParticipantTable, PortPlace, as_comparison};
use crate::matching::gang::search::CandidateScore;
use crate::matching::gang::{DockedOffer, Gang};
use crate::matching::policy::{PolicyRule, candidate_label};
use crate::protocol::{LABEL, PORTS, read_ports};

use super::{BlockedPort, DockingProgress, FailedCondition, GangFailure, PortClause, RejectedOffer};

/// Maximum number of offers that are examined for one port. The nearest of them is reported.
const MAX_EXAMINED_OFFERS: usize = 8;

/// Maximum number of offers that are followed from port to port, each docked at the one before.
pub const MAX_FOLLOWED_OFFERS: usize = 16;

/// Maximum number of clauses of the two constraints that are tried one by one.
const MAX_TRIED_CLAUSES: usize = 64;

/// Why an offer with ports besides its link cannot serve a port.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberFailure {
    /// 0-based index of the offer.
    pub offer: usize,
    /// Label of the offer's port that would be docked.
    pub link: String,
    /// What keeps the offer away.
    pub cause: MemberCause,
}

/// What keeps an offer with ports of its own from serving a port.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberCause {
    /// The offer cannot fill its own ports, even if the constraints of the port and of the link do not count. Holds the
    /// analysis of all its ports. There, used-up offers are those that are docked already, too.
    OwnPorts(Box<GangFailure>),
    /// The offer can fill its own ports, but never so that the constraints of the port and of the link are met.
    Refused {
        /// How the offer fills its own ports best.
        own_ports: Vec<DockedOffer>,
        /// The clauses that are not met.
        clauses: Vec<UnmetClause>,
        /// Whether each clause fails however the ports are filled. Otherwise no way to fill the ports meets all of them.
        fail_alone: bool,
    },
    /// A limit ended the analysis.
    Unknown,
}

/// A clause that is not met while an offer is docked with offers at all its ports.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmetClause {
    /// The clause, with the attributes that it reads.
    pub condition: FailedCondition,
    /// The values of the two operands, if the clause is a comparison.
    pub operands: Option<[Value; 2]>,
}

/// What an examined offer turned out to be.
enum Examined {
    /// The offer serves the port.
    Serves,
    /// The offer fills its own ports, but these clauses are not met: each alone, or all of them together.
    Refused { own_ports: Vec<DockedOffer>, unmet: Vec<(PortPlace, Expression)>, fail_alone: bool },
    /// The offer cannot fill its own ports.
    Unfilled(Box<(Gangmatcher, Ad, Vec<Option<usize>>)>),
    /// A limit ended the analysis.
    Unknown,
}

impl Gangmatcher {
    /// Examines offers that may serve a blocked port but have ports of their own. Moves those that serve the port from
    /// `unserved` to `fitting`. Describes the nearest of the others: one that fills its own ports, if there is one.
    pub(in crate::matching::gang) fn examine_members(
        &mut self,
        request: &Ad,
        deepest: &Gang,
        blocked: &mut BlockedPort,
    ) -> Result<(), GangFault> {
        let place = PortPlace::of_request(blocked.port);
        let mut nearest: Option<(u8, usize, PortPlace, Examined)> = None;
        let mut serving = Vec::new();
        for offer in blocked.unserved.iter().copied().take(MAX_EXAMINED_OFFERS) {
            for (link, vector) in self.pool.unserved_links(place, offer, deepest) {
                let mut trial = MemberTrial::new(self, request, deepest, [place, link], vector);
                let examined = trial.examine()?;
                let visits = trial.visits;
                self.add_visits(visits);
                let distance = match &examined {
                    Examined::Serves => {
                        serving.push(offer);
                        break;
                    }
                    Examined::Refused { .. } => 0,
                    Examined::Unfilled(_) => 1,
                    Examined::Unknown => 2,
                };
                if nearest.as_ref().is_none_or(|(least, ..)| distance < *least) {
                    nearest = Some((distance, offer, link, examined));
                }
            }
        }
        blocked.unserved.retain(|offer| !serving.contains(offer));
        blocked.fitting += serving.len();
        let Some((_, offer, link, examined)) = nearest.filter(|(_, offer, ..)| !serving.contains(offer)) else {
            return Ok(());
        };
        let cause = match examined {
            Examined::Refused { own_ports, unmet, fail_alone } => {
                let clauses = self.pool.describe_unmet(deepest, [place, link], &own_ports, &unmet);
                MemberCause::Refused { own_ports, clauses, fail_alone }
            }
            Examined::Unfilled(found) => {
                let (mut matcher, ad, of) = *found;
                let failure = matcher.gang_failure(0, &ad)?;
                self.add_visits(matcher.symbolic_visits());
                let found = failure.filter(|failure| !failure.is_cut_off);
                found.map_or(MemberCause::Unknown, |failure| MemberCause::OwnPorts(Box::new(failure.renumbered(&of))))
            }
            Examined::Serves | Examined::Unknown => MemberCause::Unknown,
        };
        blocked.member = Some(MemberFailure { offer, link: self.pool.table.label(link), cause });
        Ok(())
    }

    /// Counts the work of a search in other ads as work of this matchmaker.
    fn add_visits(&self, visits: u64) {
        let table = &self.pool.table;
        table.symbolic_visits.set(table.symbolic_visits.get() + visits);
    }
}

impl super::OfferPool {
    /// Returns the links with which an offer may be docked at the port `place` while `deepest` is docked, each with the
    /// values of its docking vector, or `None` if they depend on the offer's own ports.
    fn unserved_links(
        &mut self,
        place: PortPlace,
        offer: usize,
        deepest: &Gang,
    ) -> Vec<(PortPlace, Option<Vec<Value>>)> {
        self.with_deepest(deepest, place.port, |pool| {
            let table = &mut pool.table;
            let links = table.ports(Participant::of_offer(offer));
            let unserved = |link: PortPlace| {
                table.with_docked(place, link, |table| {
                    let (_, progress) = DockingProgress::of(table, place, link);
                    let vector = match table.docked_score(place, link) {
                        CandidateScore::Ranks(..) | CandidateScore::TypedRanks(_) => Some(Vec::new()),
                        CandidateScore::Unknown => table.docking_vector.is_empty().then(Vec::new),
                        CandidateScore::Vector(vector) => {
                            vector.0.into_iter().map(|component| Some(component?.value)).collect()
                        }
                    };
                    matches!(progress, DockingProgress::Unserved).then_some((link, vector))
                })
            };
            links.filter_map(unserved).collect()
        })
    }

    /// Returns which `clauses` of a port an offer fails that fills its own ports. `None` if it does not fill them.
    pub(super) fn rejected_member(
        &mut self,
        place: PortPlace,
        deepest: &Gang,
        member: &MemberFailure,
        clauses: &[PortClause],
    ) -> Option<RejectedOffer> {
        let MemberCause::Refused { own_ports, .. } = &member.cause else { return None };
        let table = &mut self.table;
        let offer = Participant::of_offer(member.offer);
        let port = table.labels(offer).position(|label| label.is(&member.link))?;
        let link = PortPlace { participant: offer, port };
        let docked = self::docked(table, [place, link], own_ports);
        let ports = deepest.ports.iter().cloned().chain([docked]).collect();
        let docked = table.dock_gang(&Gang { request: 0, ports });
        let scoped = table.clauses(place);
        let scoped = scoped.as_deref().unwrap_or_default();
        let rejected = RejectedOffer::of(table, link, scoped.iter().zip(clauses));
        table.undock_gang(&docked);
        (rejected.failed_mask != 0 || rejected.demand.is_some()).then_some(rejected)
    }

    /// Describes clauses of a port and of its link that are not met while the link is docked with `own_ports`.
    fn describe_unmet(
        &mut self,
        deepest: &Gang,
        [place, link]: [PortPlace; 2],
        own_ports: &[DockedOffer],
        unmet: &[(PortPlace, Expression)],
    ) -> Vec<UnmetClause> {
        let table = &mut self.table;
        let docked = self::docked(table, [place, link], own_ports);
        let ports = deepest.ports.iter().cloned().chain([docked]).collect();
        let docked = table.dock_gang(&Gang { request: 0, ports });
        let describe = |(owner, clause): &(PortPlace, Expression)| {
            let frame = Arc::clone(table.frame(*owner));
            let operands = as_comparison(clause).and_then(|(_, left, right)| {
                Some([table.evaluate(left, &frame).ok()?, table.evaluate(right, &frame).ok()?])
            });
            let scoped = (clause.clone(), frame);
            let condition = FailedCondition::of_clause(table, place, *owner == place, &scoped);
            let offers = vec![link.participant.offer()];
            UnmetClause { condition: FailedCondition { offers, ..condition }, operands }
        };
        let described = unmet.iter().map(describe).collect();
        table.undock_gang(&docked);
        described
    }
}

/// The docking of one offer at a port of the request, tried with some of the clauses of both constraints.
struct MemberTrial<'m> {
    matcher: &'m Gangmatcher,
    request: &'m Ad,
    deepest: &'m Gang,
    place: PortPlace,
    link: PortPlace,
    /// The values of the docking vector for the link. `None` if they depend on the offer's own ports.
    vector: Option<Vec<Value>>,
    /// The clauses of the constraints of the port and of the link, each with its port.
    clauses: Vec<(PortPlace, Expression)>,
    /// Number of symbolic evaluations so far.
    visits: u64,
    /// Whether a search has ended at its limit.
    is_cut_off: bool,
}

impl<'m> MemberTrial<'m> {
    fn new(
        matcher: &'m Gangmatcher,
        request: &'m Ad,
        deepest: &'m Gang,
        [place, link]: [PortPlace; 2],
        vector: Option<Vec<Value>>,
    ) -> Self {
        let table = &matcher.pool.table;
        let clauses_of = |place: PortPlace| {
            let constraint = table.protocol.constraint_expression(&table.frame(place).ad);
            let parts = constraint.map(conjuncts).unwrap_or_default();
            parts.into_iter().map(move |part| (place, part.clone())).collect::<Vec<_>>()
        };
        let clauses = [clauses_of(place), clauses_of(link)].concat();
        MemberTrial { matcher, request, deepest, place, link, vector, clauses, visits: 0, is_cut_off: false }
    }

    /// Finds out whether the offer fills its own ports, and which clauses keep it from serving the port even so.
    fn examine(&mut self) -> Result<Examined, GangFault> {
        let found = self.outcome()?;
        let context = self.matcher.context();
        let is_unknown = self.is_cut_off || context.is_interrupted() || context.has_spent_run();
        Ok(if is_unknown { Examined::Unknown } else { found })
    }

    fn outcome(&mut self) -> Result<Examined, GangFault> {
        if self.matcher.followed >= MAX_FOLLOWED_OFFERS || self.clauses.len() > MAX_TRIED_CLAUSES {
            return Ok(Examined::Unknown);
        }
        let Some(fillable) = self.build(&[]) else { return Ok(Examined::Unknown) };
        let Some(mut filling) = self.search(&[])? else { return Ok(Examined::Unfilled(Box::new(fillable))) };
        let all: Vec<usize> = (0..self.clauses.len()).collect();
        if self.search(&all)?.is_some() {
            return Ok(Examined::Serves);
        }
        let mut unmet = Vec::new();
        for clause in &all {
            if self.search(&[*clause])?.is_none() {
                unmet.push(*clause);
            }
        }
        let fail_alone = !unmet.is_empty();
        if !fail_alone {
            unmet = all.clone();
            for clause in &all {
                let rest: Vec<usize> = unmet.iter().copied().filter(|other| other != clause).collect();
                if self.search(&rest)?.is_none() {
                    unmet = rest;
                }
            }
        }
        // Show a way to fill the ports that meets as much of the rest as possible.
        let dropped = if fail_alone { unmet.clone() } else { unmet.last().copied().into_iter().collect() };
        let kept: Vec<usize> = all.into_iter().filter(|clause| !dropped.contains(clause)).collect();
        if let Some(better) = self.search(&kept)? {
            filling = better;
        }
        let unmet = unmet.into_iter().map(|clause| self.clauses[clause].clone()).collect();
        Ok(Examined::Refused { own_ports: filling, unmet, fail_alone })
    }

    /// Searches for offers for the offer's own ports while only the clauses `kept` count. Returns the docked offers.
    fn search(&mut self, kept: &[usize]) -> Result<Option<Vec<DockedOffer>>, GangFault> {
        let Some((mut matcher, ad, of)) = self.build(kept) else { return Ok(None) };
        let gang = matcher.preview_gang(0, &ad)?;
        self.visits += matcher.symbolic_visits();
        self.is_cut_off |= matcher.was_cut_off();
        Ok(gang.map(|gang| renumbered(&gang.ports, &of)))
    }

    /// Makes the search in which the offer is the request. Also returns the ad of the offer, and for each offer of the
    /// search its index in the matchmaker: `None` for the ad whose port is to be served. `None` if the policy decides by
    /// the offer's own ports.
    fn build(&self, kept: &[usize]) -> Option<(Gangmatcher, Ad, Vec<Option<usize>>)> {
        let (matcher, table) = (self.matcher, &self.matcher.pool.table);
        let mut pins = Pins { table, followed: matcher.followed, links: Vec::new() };
        pins.add(self.place, self.link, &self.clauses, kept);
        pins.add_gang(Participant::REQUEST, &self.deepest.ports);
        let own = table.ad(self.link.participant);
        let own = pins.pinned(own, self.link.participant, true)?;
        let offers = (0..table.offer_count()).filter(|offer| *offer != self.link.participant.offer());
        let mut of: Vec<Option<usize>> = offers.map(Some).collect();
        let mut ads: Vec<Ad> =
            of.iter().flatten().map(|offer| table.ad(Participant::of_offer(*offer)).clone()).collect();
        for docked in self.deepest.members() {
            ads.push(pins.pinned(
                table.ad(Participant::of_offer(docked.offer)),
                Participant::of_offer(docked.offer),
                false,
            )?);
            of.push(Some(docked.offer));
        }
        ads.push(pins.pinned(self.request, Participant::REQUEST, false)?);
        of.push(None);
        let (mut search, _) = Gangmatcher::new(&ads, table.protocol.clone(), table.context.clone());
        let held: Vec<usize> = self.deepest.members().iter().map(|docked| docked.offer).collect();
        for (position, offer) in of.iter().enumerate().take(ads.len() - held.len() - 1) {
            let is_left = |offer: &usize| matcher.pool.index.is_unused(Participant::of_offer(*offer));
            if offer.is_none_or(|offer| !is_left(&offer) || held.contains(&offer)) {
                search.withdraw(position);
            }
        }
        search.followed = matcher.followed + 1;
        search.pool.table.docking_vector = self.docking_vector()?;
        Some((search, own, of))
    }

    /// Returns the docking vector for the search in which the offer is the request. The link and the port have exchanged
    /// roles there: their vector has the values that it has for the link. `None` if these are unknown.
    fn docking_vector(&self) -> Option<Vec<PolicyRule>> {
        let rules = &self.matcher.pool.table.docking_vector;
        let values = self.vector.as_ref()?;
        let exchanged = rules.iter().zip(values).map(|(rule, value)| {
            let is_first =
                Expression::select(Expression::attribute(candidate_label()), pin_name(self.matcher.followed, 0));
            let is_first = Expression::binary(BinaryOperator::Is, is_first, Expression::literal(Value::Boolean(true)));
            let value = Expression::literal(value.clone());
            let expression = ExpressionKind::Conditional(is_first, value, rule.expression.clone()).into();
            PolicyRule { expression, ..rule.clone() }
        });
        Some(exchanged.collect())
    }
}

/// Returns the docking of a link at a port, with offers at the other ports.
fn docked(table: &ParticipantTable, [place, link]: [PortPlace; 2], own_ports: &[DockedOffer]) -> DockedOffer {
    DockedOffer {
        label: table.label(place),
        offer: link.participant.offer(),
        part: 1,
        link: link.port,
        rank: 0.0,
        offer_rank: 0.0,
        vector: None,
        ports: own_ports.to_vec(),
    }
}

/// Returns the name of the attribute that only the two ports of a pin have. `followed` is the number of offers that have
/// been followed so far.
fn pin_name(followed: usize, pin: usize) -> Name {
    Name::new(&format!("_pin_{followed}_{pin}"))
}

/// Pairs of ports that are pinned to each other.
struct Pins<'t> {
    table: &'t ParticipantTable,
    /// Number of offers that have been followed so far.
    followed: usize,
    /// The pinned ports, each with the number of the pin and the clauses that count besides the pin.
    links: Vec<(PortPlace, usize, Vec<Expression>)>,
}

impl Pins<'_> {
    /// Pins two ports to each other. Of their constraints, only the clauses with the indices `kept` count.
    fn add(&mut self, a: PortPlace, b: PortPlace, clauses: &[(PortPlace, Expression)], kept: &[usize]) {
        let pin = self.links.len();
        for place in [a, b] {
            let kept = kept.iter().map(|index| &clauses[*index]).filter(|(owner, _)| *owner == place);
            self.links.push((place, pin, kept.map(|(_, clause)| clause.clone()).collect()));
        }
    }

    /// Pins the ports of a gang below a participant. Their constraints are met already.
    fn add_gang(&mut self, above: Participant, ports: &[DockedOffer]) {
        let mut pending: Vec<(Participant, &DockedOffer)> = ports.iter().map(|docked| (above, docked)).collect();
        while let Some((above, docked)) = pending.pop() {
            let Some(port) = self.table.labels(above).position(|label| label.is(&docked.label)) else { continue };
            let link = PortPlace { participant: Participant::of_offer(docked.offer), port: docked.link };
            self.add(PortPlace { participant: above, port }, link, &[], &[]);
            pending.extend(docked.ports.iter().map(|below| (link.participant, below)));
        }
    }

    /// Returns an ad with its pinned ports. Other ports stay only if `keeps_others`. `None` if its list cannot be read.
    fn pinned(&self, ad: &Ad, participant: Participant, keeps_others: bool) -> Option<Ad> {
        let pin = |port: usize, record: &Ad, label: &Name| {
            let place = PortPlace { participant, port };
            let found = self.links.iter().find(|(pinned, ..)| *pinned == place);
            found.map(|(_, pin, clauses)| self.pinned_record(record, label, *pin, clauses))
        };
        let Some(list) = ad.get(&PORTS) else { return pin(0, ad, &Name::new("other")) };
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

/// Returns docked offers with other indices: `of` has the new index of each offer. Leaves out an offer that has none.
fn renumbered(ports: &[DockedOffer], of: &[Option<usize>]) -> Vec<DockedOffer> {
    let renumber = |docked: &DockedOffer| {
        let offer = of.get(docked.offer).copied().flatten()?;
        let mut docked = docked.clone();
        (docked.offer, docked.part) = (offer, docked.part);
        docked.ports = renumbered(&docked.ports, of);
        Some(docked)
    };
    ports.iter().filter_map(renumber).collect()
}

impl GangFailure {
    /// Returns the failure with other indices of the offers: `of` has the new index of each. An offer that is there twice,
    /// or that has no new index, is docked already, and is left out of the lists.
    fn renumbered(mut self, of: &[Option<usize>]) -> Self {
        let renumber = |offer: &usize| {
            let first = of.get(*offer).copied().flatten()?;
            (of.iter().position(|known| *known == Some(first)) == Some(*offer)).then_some(first)
        };
        let all = |offers: &[usize]| offers.iter().filter_map(renumber).collect::<Vec<usize>>();
        let conditions = |conditions: Vec<FailedCondition>| {
            let renumbered =
                conditions.into_iter().map(|condition| FailedCondition { offers: all(&condition.offers), ..condition });
            renumbered.filter(|condition| !condition.offers.is_empty()).collect::<Vec<_>>()
        };
        self.deepest.ports = renumbered(&self.deepest.ports, of);
        for port in &mut self.ports {
            port.ruled_out = conditions(std::mem::take(&mut port.ruled_out));
        }
        for blocked in &mut self.blocked {
            blocked.held = all(&blocked.held);
            blocked.unserved = all(&blocked.unserved);
            blocked.conditions = conditions(std::mem::take(&mut blocked.conditions));
            blocked.member = blocked.member.take().and_then(|member| member.renumbered(of));
        }
        self
    }
}

impl MemberFailure {
    fn renumbered(self, of: &[Option<usize>]) -> Option<Self> {
        let offer = of.get(self.offer).copied().flatten()?;
        let cause = match self.cause {
            MemberCause::OwnPorts(failure) => MemberCause::OwnPorts(Box::new(failure.renumbered(of))),
            MemberCause::Refused { own_ports, clauses, fail_alone } => {
                let clauses = clauses.into_iter().map(|clause| UnmetClause {
                    condition: FailedCondition { offers: vec![offer], ..clause.condition },
                    ..clause
                });
                MemberCause::Refused { own_ports: renumbered(&own_ports, of), clauses: clauses.collect(), fail_alone }
            }
            MemberCause::Unknown => MemberCause::Unknown,
        };
        Some(MemberFailure { offer, cause, ..self })
    }
}
