//! Branch and bound: compares an upper bound on the gangs that a partial gang can become with the best gang so far.
//!
//! The bound is the scores already decided, followed by the best scores that the open ports could still get.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;

use super::assignment::Given;
use super::decisions::Level;
use super::matcher::Gangmatcher;
use super::participants::PortPlace;
use super::port_index::Rows;
use super::score::{Preference, Worth};
use super::search::Search;
use super::window_query::Window;

/// The best candidates of a port with their scores, best first.
type Tops = Rc<[(Participant, Worth)]>;

/// Scores of candidates at the ports of the request that hold whatever is docked at its other ports.
#[derive(Default)]
pub struct Outlook {
    /// Score by port index and row. `Unknown` if it depends on other ports.
    worths: FxHashMap<(usize, usize), Worth>,
    /// The best candidates by port index. `None` if the score of some candidate depends on other ports.
    tops: FxHashMap<usize, Option<Tops>>,
}

/// Result of the bound test for the next candidate or pattern of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prospect {
    /// A gang at least as good as the best may follow.
    Better,
    /// This candidate leads to no better gang.
    Worse,
    /// Neither this candidate nor any later one of the decision leads to a better gang.
    WorseFromHere,
}

impl Outlook {
    /// Clears the cache, as needed when another set of the request's ports is filled.
    pub fn clear(&mut self) {
        self.worths.clear();
        self.tops.clear();
    }
}

impl Gangmatcher {
    /// Whether the candidates `rows` of a port may differ in score.
    pub(super) fn is_ranked(&self, place: PortPlace, rows: &Rows) -> bool {
        self.table.has_vector() || self.table.ranks(place) || self.links.any_ranks(rows)
    }

    /// Whether the offers have no preferences: there is no docking vector, none of them ranks, and none of them chooses
    /// which of its ports are filled.
    fn offers_are_indifferent(&self) -> bool {
        !self.table.has_vector() && !self.links.ranks() && !self.table.offers_choose()
    }
}

impl Search<'_> {
    /// Whether the first gang found is the best. This holds if nothing is ranked and all ports are mandatory: the gang
    /// of the earliest candidates is then the best. An offer with several ports breaks this, since it may be tried by
    /// one of its ports before another.
    pub(super) fn first_is_best(&self) -> bool {
        let table = &self.matcher.table;
        self.below.is_none()
            && self.matcher.offers_are_indifferent()
            && table.patterns(0).is_none()
            && !table.offers_have_ports()
            && (0..table.ports(0)).all(|port| !table.ranks(PortPlace { participant: 0, port }))
    }

    /// Returns the score of a row at a port, as far as it is known with the ports docked now.
    pub(super) fn worth(&mut self, place: PortPlace, row: usize) -> Worth {
        if place.participant == 0 {
            let alone = self.worth_alone(place, row);
            if alone != Worth::Unknown {
                return alone;
            }
        }
        self.matcher.table.worth_of(place, self.matcher.links.place(row))
    }

    /// Returns the best candidates of a port of the request, or `None` if some score depends on other ports. Keeps two
    /// offers for each port of the request, so that one remains when other ports take theirs.
    fn tops(&mut self, place: PortPlace) -> Option<Tops> {
        if let Some(tops) = self.outlook.tops.get(&place.port) {
            return tops.clone();
        }
        let rows = self.probe_alone(place);
        let mut tops = Vec::new();
        let mut is_known = true;
        for row in rows.ones() {
            let worth = self.worth_alone(place, row);
            is_known &= worth != Worth::Unknown;
            if worth.is_acceptable() {
                tops.push((self.matcher.links.place(row).participant, worth));
            }
        }
        let tops = is_known.then(|| {
            tops.sort_by(|(_, left), (_, right)| right.compare(left).unwrap_or(Ordering::Equal));
            let mut met = FxHashSet::default();
            // Keep each offer once, with its best port.
            tops.retain(|(offer, _)| met.insert(*offer));
            tops.truncate(2 * self.matcher.table.ports(0));
            tops.into()
        });
        self.outlook.tops.insert(place.port, tops.clone());
        tops
    }

    /// Returns the upper bound of open ports of the request: the lexicographically greatest scores with distinct
    /// offers, ignoring constraints among the ports. `None` if some score is unknown or a port runs out of known
    /// candidates.
    fn ideal(&mut self, open: &[PortPlace], taken: &[Participant]) -> Option<Vec<Worth>> {
        let indifferent = self.matcher.offers_are_indifferent();
        let mut ideal = Vec::with_capacity(open.len());
        let (mut wanted, mut given) = (Vec::new(), Given::default());
        for place in open {
            if indifferent && !self.matcher.table.ranks(*place) {
                ideal.push(Worth::NONE);
                continue;
            }
            let tops = self.tops(*place)?;
            let free = tops.iter().filter(|(offer, _)| !taken.contains(offer));
            let mut classes: Vec<(&Worth, Vec<Participant>)> = Vec::new();
            for (offer, worth) in free {
                match classes.last_mut() {
                    Some((last, offers)) if worth.compare(last) == Some(Ordering::Equal) => offers.push(*offer),
                    _ => classes.push((worth, vec![*offer])),
                }
            }
            // Take the best score class that still leaves a system of distinct offers for all earlier ports.
            let found = classes.into_iter().find(|(_, offers)| {
                wanted.push((place.port, offers.clone()));
                let is_left = given.give(wanted.len() - 1, &wanted).is_none();
                if !is_left {
                    wanted.pop();
                }
                is_left
            });
            ideal.push(found?.0.clone());
        }
        Some(ideal)
    }

    /// Returns the score of a row at a port of the request with nothing else docked at the request.
    fn worth_alone(&mut self, place: PortPlace, row: usize) -> Worth {
        let (table, link) = (&mut self.matcher.table, self.matcher.links.place(row));
        let alone = self.outlook.worths.entry((place.port, row));
        alone.or_insert_with(|| table.alone(0, |table| table.worth_of(place, link))).clone()
    }

    /// Returns the rows that the index admits at a port of the request with nothing docked at the request.
    fn probe_alone(&mut self, place: PortPlace) -> Rows {
        self.matcher.statistics.probes += 1;
        let Gangmatcher { table, links, .. } = &mut *self.matcher;
        table.alone(0, |table| {
            let window = Window::of(place, &[], table, links);
            links.answer(&window, table)
        })
    }

    /// Compares the scores decided before `depth`, followed by `worths`, with those of the gang `against`. `None` if
    /// some score is unknown.
    fn so_far(&self, depth: usize, worths: &[Worth], against: &Preference) -> Option<Ordering> {
        let decided = self.levels[..depth].iter().flat_map(|level| &level.worths).chain(worths);
        for (step, mine) in decided.enumerate() {
            let order = mine.compare(against.worths.get(step).unwrap_or(&Worth::NONE))?;
            if order.is_ne() {
                return Some(order);
            }
        }
        Some(Ordering::Equal)
    }

    /// Compares the upper bound of the ports still open with the scores of the gang `against` there. `link` is the
    /// candidate about to be docked, whose offer is no longer free. `None` if some score is unknown.
    fn still_open(&mut self, depth: usize, link: Option<PortPlace>, against: &Preference) -> Option<Ordering> {
        let level = &self.levels[depth];
        let place = level.place()?;
        let open: Vec<PortPlace> = level.before.agenda.rest().collect();
        let bounds = if place.participant == 0 {
            let taken: Vec<Participant> =
                self.holders.keys().copied().chain(link.map(|link| link.participant)).collect();
            self.ideal(&open, &taken)?
        } else {
            vec![self.nested_bound()?; open.len()]
        };
        let mut step = self.steps(depth);
        for bound in bounds {
            let order = bound.compare(against.worths.get(step).unwrap_or(&Worth::NONE))?;
            if order.is_ne() {
                return Some(order);
            }
            step += 1;
        }
        if self.matcher.table.offers_have_ports() {
            let bound = self.nested_bound()?;
            for theirs in against.worths.iter().skip(step) {
                let order = bound.compare(theirs)?;
                if order.is_ne() {
                    return Some(order);
                }
            }
        }
        Some(Ordering::Equal)
    }

    /// Returns the number of scores decided once the decision at `depth` has docked a candidate.
    fn steps(&self, depth: usize) -> usize {
        self.levels[..depth].iter().map(|level| level.worths.len()).sum::<usize>() + 1
    }

    /// Returns the upper bound of one port of an offer. `None` unless offers have no preferences.
    fn nested_bound(&self) -> Option<Worth> {
        self.matcher.offers_are_indifferent().then_some(Worth::NONE)
    }

    /// Compares the candidates' positions in the input, up to and including `link`, with those of the gang `against`.
    /// `Less` means earlier, hence preferred.
    fn positions(&self, depth: usize, link: PortPlace, against: &Preference) -> Ordering {
        let docked = self.levels[..depth].iter().filter_map(Level::docked).map(|(_, link)| link);
        docked
            .chain([link])
            .zip(&against.offers)
            .map(|(mine, theirs)| mine.participant.cmp(theirs))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Runs the bound test: whether the decisions before `depth`, continued with `worths` and `link`, may become a gang
    /// better than the best so far.
    pub(super) fn prospect(&mut self, depth: usize, worths: &[Worth], link: Option<PortPlace>) -> Prospect {
        let Some(best) = self.best.take() else { return Prospect::Better };
        let prospect = match self.so_far(depth, worths, &best.0) {
            Some(Ordering::Equal) => {
                let order = |search: &mut Self, taken| match (search.still_open(depth, taken, &best.0), link) {
                    (Some(Ordering::Equal), Some(link)) => search.positions(depth, link, &best.0).is_le(),
                    (Some(order), _) => order.is_ge(),
                    (None, _) => true,
                };
                if !order(self, None) {
                    Prospect::WorseFromHere
                } else if order(self, link) {
                    Prospect::Better
                } else {
                    Prospect::Worse
                }
            }
            Some(Ordering::Less) => Prospect::WorseFromHere,
            _ => Prospect::Better,
        };
        self.best = Some(best);
        prospect
    }

    /// Whether every gang that continues the decisions before `depth` with `link` was already enumerated: it is not
    /// worse than the gang returned last.
    pub(super) fn is_above(&mut self, depth: usize, worths: &[Worth], link: PortPlace) -> bool {
        let Some(below) = self.below.take() else { return false };
        let above = match self.so_far(depth, worths, &below) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) if self.nothing_else_counts(depth, &below) => {
                self.positions(depth, link, &below).is_lt()
            }
            _ => false,
        };
        self.below = Some(below);
        above
    }

    /// Whether all remaining choices are certain to get the same scores as the gang `against`.
    fn nothing_else_counts(&self, depth: usize, against: &Preference) -> bool {
        let indifferent = self.matcher.offers_are_indifferent();
        let open = self.levels[depth].before.agenda.rest();
        indifferent
            && open.into_iter().all(|place| !self.matcher.table.ranks(place))
            && against.worths.iter().skip(self.steps(depth)).all(|worth| *worth == Worth::NONE)
    }
}
