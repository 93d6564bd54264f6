//! The search for the gang of a request (thesis 5): one backtracking search, which all algorithms configure.
//!
//! It fills port after port and backtracks when a port has no candidate left. The preset algorithms of the thesis
//! backtrack chronologically and stop at the first gang.
//!
//! `best` uses conflict-directed backjumping: it returns to the last decision in the conflict set of the failure. It
//! skips candidates equivalent to one that failed, runs forward checking ([`super::forward_checking`]), and continues
//! by branch and bound until no gang can beat the best one found ([`super::bounds`]).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;
use crate::protocol::Pattern;

use super::agenda::{Agenda, Goal, Newcomer};
use super::bounds::{Outlook, Prospect};
use super::decisions::{Candidates, Choice, Domain, Level, Levels, Settled, State};
use super::forward_checking::Ahead;
use super::matcher::Gangmatcher;
use super::participants::{PortPlace, Verdict};
use super::port_index::Rows;
use super::score::{Preference, Worth};
use super::strategy::Order;
use super::window_query::Window;
use super::{Docked, Gang};

/// The state of the search for one request.
pub struct Search<'m> {
    pub(super) matcher: &'m mut Gangmatcher,
    /// The decision stack.
    pub(super) levels: Vec<Level>,
    /// For each offer in the gang, the decision that docked it, as an index into the decision stack.
    pub(super) holders: FxHashMap<Participant, usize>,
    pub(super) ahead: Ahead,
    pub(super) outlook: Outlook,
    /// The best gang so far, with its score.
    pub(super) best: Option<(Preference, Gang)>,
    /// If set, only gangs with a lower score are wanted: those up to it have been enumerated.
    pub(super) below: Option<Preference>,
}

impl Search<'_> {
    /// Runs the search and returns the gang found with its score. `None` if there is none, or if the search is
    /// interrupted before its end.
    pub(super) fn run(&mut self) -> Option<(Preference, Gang)> {
        let start = State { agenda: Agenda::new(), waiting: Rc::from([]), domains: Rc::from([]) };
        let mut state = start.clone();
        loop {
            if self.matcher.table.is_interrupted() {
                return None;
            }
            let next = match state.agenda.goal() {
                Goal::Done if !self.matcher.strategy.preferring => return Some((Preference::default(), self.gang())),
                Goal::Done => {
                    self.judge();
                    if self.best.is_some() && self.first_is_best() {
                        return self.best.take();
                    }
                    // Continue the search; from now on a gang must beat the best one.
                    self.retreat(&self.everything(), false).and_then(|()| self.advance())
                }
                Goal::Begin(newcomer) => {
                    if let Some(patterns) = self.shapes(newcomer) {
                        let choice = Choice::Shape { newcomer, patterns, next: 0, taken: None };
                        self.levels.push(Level::new(choice, state));
                        self.advance()
                    } else {
                        let ports = (0..self.matcher.table.ports(newcomer.participant)).collect();
                        match self.begin(&state, newcomer, ports) {
                            Ok(begun) => Some(begun),
                            Err(conflict) => self.retreat(&conflict, true).and_then(|()| self.advance()),
                        }
                    }
                }
                Goal::Fill(place) => {
                    let (candidates, settled) = self.candidates(place, &state);
                    self.levels.push(Level::new(Choice::Port { place, candidates, settled, docked: None }, state));
                    self.advance()
                }
            };
            state = match next {
                Some(next) => next,
                None if self.ahead.is_due => {
                    // The first candidates failed: restart with forward checking, for this request and the next ones.
                    self.matcher.hopeful = false;
                    self.give_up();
                    self.ahead = Ahead::new(true);
                    start.clone()
                }
                None => return self.best.take(),
            };
        }
    }

    /// Undoes all decisions.
    pub(super) fn give_up(&mut self) {
        while let Some(mut level) = self.levels.pop() {
            self.undo(&mut level);
        }
    }

    /// Undoes the alternative taken by a decision. Returns whether one was taken.
    fn undo(&mut self, level: &mut Level) -> bool {
        level.worths.clear();
        match &mut level.choice {
            Choice::Port { place, docked, .. } => {
                let Some(link) = docked.take() else { return false };
                self.matcher.table.undock(*place, link);
                self.holders.remove(&link.participant);
                true
            }
            Choice::Shape { newcomer, patterns, taken, .. } => {
                let Some(taken) = taken.take() else { return false };
                self.matcher.table.open(newcomer.participant, &patterns[taken]);
                true
            }
        }
    }

    /// Returns the allowed patterns of an ad that joins the gang, which must fill its link. `None` if all ports are
    /// mandatory.
    fn shapes(&self, newcomer: Newcomer) -> Option<Rc<[Pattern]>> {
        let patterns = self.matcher.table.patterns(newcomer.participant)?;
        Some(match newcomer.link {
            Some(link) => patterns.iter().filter(|pattern| pattern.contains(link)).cloned().collect(),
            None => Rc::clone(patterns),
        })
    }

    /// Determines the order in which the given ports of an ad are filled, and checks them as the strategy demands.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port has no candidates.
    fn begin(&mut self, state: &State, newcomer: Newcomer, mut ports: Vec<usize>) -> Result<State, Levels> {
        ports.retain(|port| Some(*port) != newcomer.link);
        let (strategy, participant) = (self.matcher.strategy, newcomer.participant);
        let place = |port: usize| PortPlace { participant, port };
        if strategy.order == Order::Reversed {
            ports.reverse();
        }
        let mut begun = state.clone();
        if strategy.checked {
            let mut sized = Vec::with_capacity(ports.len());
            for port in ports {
                let (rows, settled) = self.probe(place(port), &state.waiting);
                sized.push((self.size(&rows), Domain { place: place(port), rows: Rc::new(rows), settled }));
            }
            if sized.iter().any(|(size, _)| *size == 0) {
                return Err(self.everything());
            }
            if strategy.order == Order::FewestFirst {
                sized.sort_by_key(|(size, _)| *size);
            }
            ports = sized.iter().map(|(_, domain)| domain.place.port).collect();
            // Keep the candidates of the port that is filled first: they stay valid until then.
            begun.domains = sized.into_iter().take(1).map(|(_, domain)| domain).collect();
        } else if self.ahead.is_looking {
            self.look_around(&mut begun, participant, &ports)?;
        }
        begun.agenda = begun.agenda.begun(newcomer, ports.into());
        Ok(begun)
    }

    /// Returns the number of candidates, or of candidate classes if the strategy summarizes.
    fn size(&mut self, rows: &Rows) -> usize {
        if self.matcher.strategy.summarized {
            self.alike().representatives(rows, usize::MAX).len()
        } else {
            rows.count_ones(..)
        }
    }

    /// Runs a window query: returns the rows that may dock at a port, and the constraints that the index has proved.
    pub(super) fn probe(&mut self, place: PortPlace, waiting: &[PortPlace]) -> (Rows, Settled) {
        self.matcher.statistics.probes += 1;
        let first = self.is_first(place).then(|| self.matcher.first_window(place.port));
        let Gangmatcher { table, links, strategy, .. } = &mut *self.matcher;
        let window = first.unwrap_or_else(|| Rc::new(Window::of(place, waiting, table, links)));
        let rows = links.answer(&window, table);
        // The thesis's algorithms evaluate every candidate that they test.
        (rows, if strategy.preferring { links.settled(&window) } else { Settled::default() })
    }

    /// Whether a port is a mandatory one of the request and nothing is docked yet, so that its cached window query
    /// applies.
    pub(super) fn is_first(&self, place: PortPlace) -> bool {
        self.holders.is_empty() && place.participant == 0 && self.matcher.table.patterns(0).is_none()
    }

    /// Returns the candidates of a port in the order in which they are tried, and the constraints that the index has
    /// proved.
    fn candidates(&mut self, place: PortPlace, state: &State) -> (Candidates, Settled) {
        let strategy = self.matcher.strategy;
        let (rows, settled) = match state.domains.iter().find(|domain| domain.place == place) {
            Some(domain) => (Rc::clone(&domain.rows), domain.settled),
            None if strategy.indexed => {
                let (rows, settled) = self.probe(place, &state.waiting);
                (Rc::new(rows), settled)
            }
            None => (Rc::new(self.matcher.links.unused().clone()), Settled::default()),
        };
        if strategy.preferring && self.matcher.is_ranked(place, &rows) {
            return (self.ranked(place, &rows), settled);
        }
        if strategy.summarized {
            // Offers in the gang must not represent their class.
            let mut rows = (*rows).clone();
            self.holders.keys().for_each(|holder| rows.set_range(self.matcher.links.rows_of(*holder), false));
            let mut rows = self.alike().representatives(&rows, usize::MAX);
            if strategy.random_start && !rows.is_empty() {
                let start = self.matcher.random.usize(..rows.len());
                rows.rotate_left(start);
            }
            return (Candidates::Listed { rows, worths: Vec::new(), next: 0 }, settled);
        }
        (Candidates::Set { rows, next: 0 }, settled)
    }

    /// Sorts rows by their score at a port, best first, then by input order.
    fn ranked(&mut self, place: PortPlace, rows: &Rows) -> Candidates {
        let mut ranked: Vec<(usize, Worth)> = Vec::new();
        let mut held = Vec::new();
        for row in rows.ones() {
            // Offers in the gang come first: the search skips them and adds their holders to the conflict set.
            if self.holders.contains_key(&self.matcher.links.place(row).participant) {
                held.push((row, Worth::Unknown));
                continue;
            }
            let worth = self.worth(place, row);
            if worth.is_acceptable() {
                ranked.push((row, worth));
            }
        }
        if let Err(fault) = self.matcher.check(ranked.iter().map(|(_, worth)| worth)) {
            self.matcher.fault.get_or_insert(fault);
            return Candidates::Listed { rows: Vec::new(), worths: Vec::new(), next: 0 };
        }
        // An unknown score may turn out best: try these rows first.
        let is_known = |worth: &Worth| *worth != Worth::Unknown;
        ranked.sort_by(|(_, left), (_, right)| {
            right.compare(left).unwrap_or_else(|| is_known(left).cmp(&is_known(right)))
        });
        let (rows, worths) = held.into_iter().chain(ranked).unzip();
        Candidates::Listed { rows, worths, next: 0 }
    }

    /// Takes the next alternative of the last decision that has one left, and backtracks from the others. Returns the
    /// new state, or `None` when the search is exhausted.
    fn advance(&mut self) -> Option<State> {
        loop {
            let depth = self.levels.len().checked_sub(1)?;
            if let Some(state) = self.take_next(depth) {
                return Some(state);
            }
            let mut level = self.levels.pop()?;
            match (&level.choice, level.impossible) {
                (Choice::Port { place, .. }, true) => level.conflict.union_with(&self.concerned(*place)),
                (Choice::Shape { .. }, true) => {}
                _ => level.conflict = self.everything(),
            }
            self.retreat(&level.conflict, level.impossible)?;
        }
    }

    /// Backjumps: undoes decisions down to and including the last one in the conflict set. Returns `None` if there is
    /// none, or if the search should restart with forward checking.
    ///
    /// `impossible` says whether the undone decision is infeasible, rather than merely no better than the best gang.
    fn retreat(&mut self, conflict: &Levels, impossible: bool) -> Option<()> {
        let culprit = if self.matcher.strategy.preferring {
            conflict.ones().take_while(|level| *level < self.levels.len()).last()?
        } else {
            self.levels.len().checked_sub(1)?
        };
        while self.levels.len() > culprit {
            let mut level = self.levels.pop()?;
            let is_culprit = self.levels.len() == culprit;
            if is_culprit {
                level.impossible &= impossible;
                level.conflict.union_with(conflict);
                level.conflict.set(culprit, false);
                if impossible && let Choice::Port { docked: Some(link), .. } = &level.choice {
                    self.fail_alike(&mut level.failed, *link);
                }
            }
            let was_docked = self.undo(&mut level);
            // Going on after a complete gang is no backtrack.
            self.matcher.statistics.backtracks += u64::from(was_docked && impossible);
            if is_culprit {
                self.ahead.is_due = self.is_stuck(&level);
                self.levels.push(level);
                break;
            }
        }
        (!self.ahead.is_due).then_some(())
    }

    /// Whether to restart with forward checking, because a candidate failed and many are left.
    fn is_stuck(&self, level: &Level) -> bool {
        /// Minimum number of untried candidates.
        const MANY: usize = 3;
        self.matcher.strategy.preferring
            && !self.ahead.is_looking
            && self.best.is_none()
            && matches!(&level.choice, Choice::Port { candidates, .. } if candidates.has(MANY))
    }

    /// Adds the class of a failed candidate to `failed`, so that its equivalents are skipped.
    fn fail_alike(&mut self, failed: &mut FxHashSet<usize>, link: PortPlace) {
        if self.matcher.strategy.preferring && self.ahead.is_looking {
            let row = self.matcher.links.row(link);
            failed.extend(self.alike().bucket(row));
        }
    }

    /// Returns the conflict set of all decisions.
    pub(super) fn everything(&self) -> Levels {
        let mut all = Levels::with_capacity(self.levels.len());
        all.insert_range(..);
        all
    }

    /// Takes the next feasible alternative of the decision at `depth`. Returns the new state, or `None` if none is
    /// left.
    fn take_next(&mut self, depth: usize) -> Option<State> {
        if matches!(self.levels[depth].choice, Choice::Shape { .. }) {
            return self.take_shape(depth);
        }
        loop {
            if self.matcher.table.is_interrupted() {
                return None;
            }
            let level = &mut self.levels[depth];
            let Choice::Port { place, candidates, .. } = &mut level.choice else { return None };
            let (place, (row, worth)) = (*place, candidates.next()?);
            let link = self.matcher.links.place(row);
            if let Some(holder) = self.holders.get(&link.participant) {
                level.conflict.grow_and_insert(*holder);
                continue;
            }
            if !level.failed.is_empty()
                && self.alike().bucket(row).is_some_and(|bucket| self.levels[depth].failed.contains(&bucket))
            {
                continue;
            }
            let prospect = self.prospect(depth, std::slice::from_ref(&worth), Some(link));
            if prospect != Prospect::Better {
                let level = &mut self.levels[depth];
                level.impossible = false;
                if prospect == Prospect::WorseFromHere {
                    level.exhaust();
                }
                continue;
            }
            if self.below.is_some() && self.is_above(depth, std::slice::from_ref(&worth), link) {
                self.levels[depth].impossible = false;
                continue;
            }
            if let Some(state) = self.dock(depth, place, link, worth) {
                return Some(state);
            }
        }
    }

    /// Docks a candidate if its constraints and forward checking allow. Returns the new state, or `None` after
    /// recording the conflict.
    fn dock(&mut self, depth: usize, place: PortPlace, link: PortPlace, worth: Worth) -> Option<State> {
        self.matcher.statistics.tests += 1;
        self.matcher.table.dock(place, link);
        let Some(waiting) = self.verify(depth, place, link) else {
            self.matcher.table.undock(place, link);
            if self.matcher.strategy.preferring {
                let concerned = self.concerned(place);
                self.blame(depth, &concerned, link);
            }
            return None;
        };
        let has_ports = self.matcher.table.ports(link.participant) > 1;
        let level = &mut self.levels[depth];
        level.worths.push(worth);
        if let Choice::Port { docked, .. } = &mut level.choice {
            *docked = Some(link);
        }
        let mut state = State {
            agenda: level.before.agenda.docked(link, has_ports),
            waiting,
            domains: Rc::clone(&level.before.domains),
        };
        self.holders.insert(link.participant, depth);
        if self.ahead.is_looking
            && let Err(conflict) = self.look_ahead(&mut state, place, link)
        {
            let mut level = self.levels.pop()?;
            self.undo(&mut level);
            self.levels.push(level);
            self.blame(depth, &conflict, link);
            return None;
        }
        Some(state)
    }

    /// Adds a conflict set to the decision at `depth` after `link` could not be docked, and marks its class as failed.
    fn blame(&mut self, depth: usize, conflict: &Levels, link: PortPlace) {
        let mut failed = std::mem::take(&mut self.levels[depth].failed);
        self.fail_alike(&mut failed, link);
        let level = &mut self.levels[depth];
        level.failed = failed;
        level.conflict.union_with(conflict);
        level.conflict.grow(depth + 1);
        level.conflict.set(depth, false);
    }

    /// Checks the constraints of two docked ports and of the ports undecided before. Returns the ports still undecided,
    /// or `None` if one refuses. Constraints proved by the index are not evaluated.
    fn verify(&mut self, depth: usize, above: PortPlace, link: PortPlace) -> Option<Rc<[PortPlace]>> {
        let Level { choice, before, .. } = &self.levels[depth];
        let settled = match choice {
            Choice::Port { settled, .. } => *settled,
            Choice::Shape { .. } => Settled::default(),
        };
        let Gangmatcher { table, links, .. } = &mut *self.matcher;
        let is_open = [!settled.port, !(settled.links && links.knows_demands(link))];
        let docked = [above, link].into_iter().zip(is_open).filter_map(|(place, is_open)| is_open.then_some(place));
        let mut undecided = Vec::new();
        for place in docked.chain(before.waiting.iter().copied()) {
            match table.accepts(place) {
                Verdict::Refused => return None,
                Verdict::Met => {}
                Verdict::Tentative => undecided.push(place),
            }
        }
        Some(if *undecided == *before.waiting { Rc::clone(&before.waiting) } else { undecided.into() })
    }

    /// Takes the next feasible pattern of an ad's ports. Returns the new state, or `None` if none is left.
    fn take_shape(&mut self, depth: usize) -> Option<State> {
        loop {
            let level = &mut self.levels[depth];
            let Choice::Shape { newcomer, patterns, next, taken } = &mut level.choice else { return None };
            let (newcomer, pattern) = (*newcomer, patterns.get(*next)?.clone());
            *taken = Some(*next);
            *next += 1;
            let table = &mut self.matcher.table;
            table.leave(newcomer.participant, &pattern);
            self.outlook.clear();
            let ports = 0..table.ports(newcomer.participant);
            level.worths = Worth::of_unfilled(ports.filter(|port| !pattern.contains(*port)));
            let (state, worths) = (level.before.clone(), level.worths.clone());
            let is_wanted = self.prospect(depth, &worths, None) == Prospect::Better;
            let begun =
                if is_wanted { self.begin(&state, newcomer, pattern.ones().collect()) } else { Err(self.everything()) };
            let Err(conflict) = begun else { return begun.ok() };
            let mut level = self.levels.pop()?;
            self.undo(&mut level);
            level.impossible &= is_wanted;
            level.conflict.union_with(&conflict);
            level.conflict.set(depth, false);
            self.levels.push(level);
        }
    }

    /// Keeps the complete gang if it is acceptable and better than the best so far.
    fn judge(&mut self) {
        let preference = self.preference();
        let is_acceptable = preference.worths.iter().all(Worth::is_acceptable);
        let is_below = self.below.as_ref().is_none_or(|above| preference.compare(above).is_lt());
        if is_acceptable && is_below && self.best.as_ref().is_none_or(|(best, _)| preference.compare(best).is_gt()) {
            self.matcher.hopeful = !self.ahead.is_looking || self.ahead.first == self.first_row();
            self.best = Some((preference, self.gang()));
        }
    }

    /// Returns the row docked by the first decision that docks one.
    fn first_row(&self) -> Option<usize> {
        let docked = self.levels.iter().find_map(Level::docked)?;
        Some(self.matcher.links.row(docked.1))
    }

    /// Returns the score of the complete gang.
    fn preference(&mut self) -> Preference {
        let mut preference = Preference::default();
        for level in &self.levels {
            let Some((place, link)) = level.docked() else {
                preference.worths.extend(level.worths.iter().cloned());
                continue;
            };
            preference.worths.push(match level.worths.first() {
                Some(worth) if *worth != Worth::Unknown => worth.clone(),
                _ => self.matcher.table.worth(place, link),
            });
            preference.offers.push(link.participant);
            preference.links.push(link.port);
        }
        preference
    }

    /// Builds the tree of the complete gang. Works from the last decision upwards, without recursion, since ads may
    /// form long chains.
    fn gang(&mut self) -> Gang {
        let filled: Vec<(PortPlace, PortPlace)> = self.levels.iter().filter_map(Level::docked).collect();
        let mut below: FxHashMap<Participant, Vec<(usize, Docked)>> = FxHashMap::default();
        for (place, link) in filled.into_iter().rev() {
            let table = &mut self.matcher.table;
            let docked = Docked {
                label: table.label(place),
                offer: link.participant as usize - 1,
                part: self.matcher.divisions.part(link.participant),
                link: link.port,
                rank: table.rank(place),
                offer_rank: table.rank(link),
                ports: in_order(below.remove(&link.participant)),
            };
            below.entry(place.participant).or_default().push((place.port, docked));
        }
        Gang { request: 0, ports: in_order(below.remove(&0)) }
    }
}

/// Sorts docked offers by port.
fn in_order(ports: Option<Vec<(usize, Docked)>>) -> Vec<Docked> {
    let mut ports = ports.unwrap_or_default();
    ports.sort_by_key(|(port, _)| *port);
    ports.into_iter().map(|(_, docked)| docked).collect()
}
