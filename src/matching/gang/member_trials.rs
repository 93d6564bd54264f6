//! Why an offer with ports of its own cannot serve a port, although neither constraint refuses it while its own ports are
//! open.
//!
//! The offer becomes the request of a search of its own. The ad whose port it would serve becomes an offer there, docked
//! at the link together with what is docked at that ad already: such ports are *pinned* to each other by an attribute
//! that only they have. The constraints of the port and of the link do not count at first. If the offer still gets no
//! gang, the failure is that of its own ports. Otherwise the clauses of the two constraints decide, alone or together.

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Participant, Value};
use crate::constraint::conjuncts;
use crate::matching::policy::{PolicyRule, candidate_label};

use super::failure::{
    BlockedPort, MemberCause, MemberFailure, Pins, describe_unmet, pin_name, renumbered, unserved_links,
};
use super::gang_fault::GangFault;
use super::matcher::Gangmatcher;
use super::participants::PortPlace;
use super::{DockedOffer, Gang};

/// Maximum number of offers that are examined for one port. The nearest of them is reported.
const MAX_EXAMINED_OFFERS: usize = 8;

/// Maximum number of offers that are followed from port to port, each docked at the one before.
const MAX_FOLLOWED_OFFERS: usize = 16;

/// Maximum number of docked offers in a gang that is examined. Larger ones may be nested too deeply to be copied.
const MAX_EXAMINED_MEMBERS: usize = 1000;

/// Maximum number of clauses of the two constraints that are tried one by one.
const MAX_TRIED_CLAUSES: usize = 64;

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
    pub(super) fn examine_members(
        &mut self,
        request: &Ad,
        deepest: &Gang,
        blocked: &mut BlockedPort,
    ) -> Result<(), GangFault> {
        let place = PortPlace::of_request(blocked.port);
        if deepest.members().len() > MAX_EXAMINED_MEMBERS {
            return Ok(());
        }
        let is_grouped = self.pool.table.patterns(Participant::REQUEST).is_some();
        let mut nearest: Option<(u8, usize, PortPlace, Examined)> = None;
        let mut serving = Vec::new();
        for offer in blocked.unserved.iter().copied().take(MAX_EXAMINED_OFFERS) {
            // Only of a group may a port stay empty although an offer serves it.
            if !is_grouped && nearest.as_ref().is_some_and(|(distance, ..)| *distance == 0) {
                break;
            }
            for (link, vector) in unserved_links(&mut self.pool, place, offer, deepest) {
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
                let clauses = describe_unmet(&mut self.pool.table, deepest, [place, link], &own_ports, &unmet);
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
            unmet.clone_from(&all);
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
        let gang = gang.filter(|gang| {
            let is_large = gang.members().len() > MAX_EXAMINED_MEMBERS;
            self.is_cut_off |= is_large;
            !is_large
        });
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
