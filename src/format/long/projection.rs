//! What is to be read of ads: names, and whatever the values of these mention.

use std::ops::Range;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::Mentions;
use crate::syntax::{Rules, Seen, Sight};

use super::scan::Filter;

/// With more names it is no slower to read ads whole.
pub(super) const MOST_NAMES: usize = 512;

/// In so many bytes lines worth looking at are sought at once: they are still in the processor's cache when the lines
/// are looked at, and not too many to be sought anew when more is asked for.
const PIECE: usize = 1 << 15;

/// What is to be read of each ad: attributes by name, and all that has to do with their values.
pub struct Selection {
    pub(super) dialect: Dialect,
    /// The names asked for, and those that values mentioned so far.
    pub(super) names: IndexSet<Name>,
    /// The names of each length.
    pub(super) by_length: Vec<Vec<usize>>,
    /// How the line of each name mostly begins: the name, a space, and `=`.
    pub(super) beginnings: Vec<Box<[u8]>>,
    /// The version with which each name came, and whether one of the ads has it.
    since: Vec<usize>,
    pub(super) occurs: Vec<bool>,
    pub(super) filter: Filter,
    /// In how many bytes lines are sought at once.
    pub(super) piece: usize,
    /// The texts of values, and with which version the last of the names came that each mentions.
    pub(super) seen: Seen<usize>,
    pub(super) sieve: Option<Sieve>,
    pub(super) groups: Option<Groups>,
    /// How often it has grown.
    pub(super) version: usize,
    /// With which version the last of the names came that the values read by now mention.
    pub(super) newest: usize,
    /// Whether something was found that may read more than it mentions.
    pub(super) everything: bool,
}

/// Ads of which all that is asked for is written alike are one.
#[derive(Default)]
pub(super) struct Groups {
    /// The ads, by the texts of their values, and with which version the last of the names came that each mentions.
    ads: FxHashMap<Box<[u8]>, (Ad, usize)>,
    /// The names that tell what an ad is called.
    pub(super) labels: Vec<usize>,
    /// Those of them that nothing else asks for, by position; they are not in the ads.
    pub(super) only_labels: Vec<bool>,
    /// The texts of the ad that was looked for last, put together.
    key: Vec<u8>,
    /// What was found for that.
    found: Option<(Ad, usize)>,
    sharing: Sharing,
    /// Since the reading began: how many ads were looked for, and how many of them were found.
    sought: usize,
    met: usize,
}

/// Whether ads that are written alike in what is asked for are one ad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// They are.
    #[default]
    Always,
    /// They are, as long as enough of them are alike: to find that out takes time and memory.
    WhileItPays,
}

/// The position of a name, and where its value stands in a text.
pub(super) type Place = (usize, Range<usize>);

/// So many ads that are not alike are no surprise.
const USUAL: usize = 2048;

/// If fewer than one in so many is like another, they are not compared any more.
const TOO_FEW: usize = 16;

impl Groups {
    /// Goes on to other ads.
    fn begin(&mut self, sharing: Sharing) {
        (self.sharing, self.sought, self.met) = (sharing, 0, 0);
    }

    /// Whether ads are not compared any more.
    fn has_given_up(&self) -> bool {
        self.sharing == Sharing::WhileItPays && self.sought >= USUAL / 4 && self.met * TOO_FEW < self.sought
    }

    /// The ad that is written like this one in all that is asked for, if there has been one, and what is kept with it.
    /// `values` are those of the names, in the order of the lines; `before` are those of the ad that was looked for
    /// last, none if that is in another text or something else was asked for.
    pub(super) fn alike(&mut self, text: &[u8], values: &[Place], before: &mut Vec<Place>) -> Option<(Ad, usize)> {
        if self.has_given_up() {
            return None;
        }
        let is_alike = |((position, value), (position_before, value_before)): (&Place, &Place)| {
            position == position_before
                && (text[value.clone()] == text[value_before.clone()] || self.is_only_label(*position))
        };
        // Ads that are alike often follow one another.
        if !before.is_empty() && values.len() == before.len() && values.iter().zip(before.iter()).all(is_alike) {
            (self.sought, self.met) = (self.sought + 1, self.met + 1);
            return self.found.clone();
        }
        before.clear();
        before.extend_from_slice(values);
        self.key.clear();
        // However the lines are ordered, the key has one order.
        let mut values = values.to_vec();
        values.sort_unstable_by_key(|(position, _)| *position);
        for (position, value) in &values {
            if !self.is_only_label(*position) {
                self.key.extend(u16::try_from(*position).unwrap_or(u16::MAX).to_le_bytes());
                self.key.extend(&text[value.clone()]);
                self.key.push(b'\n');
            }
        }
        self.found = self.ads.get(self.key.as_slice()).cloned();
        (self.sought, self.met) = (self.sought + 1, self.met + usize::from(self.found.is_some()));
        self.found.clone()
    }

    /// The ad that was looked for last; if none was found, it is made and kept.
    pub(super) fn found_or(&mut self, newest: usize, make: impl FnOnce() -> Ad) -> Ad {
        if self.has_given_up() {
            return make();
        }
        let Groups { ads, key, found, .. } = self;
        let (ad, _) = found.get_or_insert_with(|| {
            let new = (make(), newest);
            ads.reserve(USUAL.saturating_sub(ads.len()));
            ads.insert(key.as_slice().into(), new.clone());
            new
        });
        ad.clone()
    }

    pub(super) fn is_only_label(&self, position: usize) -> bool {
        self.only_labels.get(position) == Some(&true)
    }
}

/// A test of values.
pub(super) type Test = Box<dyn Fn(&[Value]) -> bool>;

/// A test that most ads fail, on plain literals.
pub(super) struct Sieve {
    /// The names whose values it tests.
    pub(super) names: Vec<usize>,
    pub(super) passes: Test,
}

impl Selection {
    /// These names.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = Name>, dialect: Dialect) -> Self {
        let mut selection = Selection {
            dialect,
            names: IndexSet::new(),
            by_length: Vec::new(),
            beginnings: Vec::new(),
            since: Vec::new(),
            occurs: Vec::new(),
            filter: Filter::new(),
            piece: PIECE,
            seen: Seen::new(Rules::long(dialect)),
            sieve: None,
            groups: None,
            version: 0,
            newest: 0,
            everything: false,
        };
        if dialect == Dialect::Classad {
            // No ad may have them.
            for name in ["self", "parent", "root"] {
                selection.add(Name::new(name));
            }
        }
        for name in names {
            selection.add(name);
        }
        selection
    }

    /// The same with lines sought in pieces of about so many bytes: what is found never depends on it.
    #[must_use]
    pub fn in_pieces(mut self, bytes: usize) -> Self {
        self.piece = bytes;
        self
    }

    /// The same without the ads that fail a test.  It is given the values of these names, undefined for those
    /// that an ad has not; an ad in which one of them is more than a plain literal is not tested, and stays.
    #[must_use]
    pub fn sifted(mut self, names: &[Name], passes: impl Fn(&[Value]) -> bool + 'static) -> Self {
        for name in names {
            self.add(name.clone());
        }
        let names = names.iter().filter_map(|name| self.names.get_index_of(name)).collect();
        self.sieve = Some(Sieve { names, passes: Box::new(passes) });
        self
    }

    /// The same with one ad for all that are written alike in what is asked for.  What these names are bound to is
    /// not, unless it is asked for anyway: [`super::Selected::label`] has it.
    #[must_use]
    pub fn grouped(mut self, labels: impl IntoIterator<Item = Name>) -> Self {
        let mut groups = Groups::default();
        for name in labels {
            let asked = self.names.contains(&name);
            self.add(name.clone());
            let position = self.names.get_index_of(&name).unwrap_or_default();
            groups.labels.push(position);
            groups.only_labels.resize(self.names.len(), false);
            groups.only_labels[position] |= !asked;
        }
        self.groups = Some(groups);
        self
    }

    /// Goes on to other ads: what they mention is told by [`Selection::newest`].  The version by now, a number that
    /// is greater when more is asked for.
    pub fn begin(&mut self, sharing: Sharing) -> usize {
        self.newest = 0;
        if let Some(groups) = &mut self.groups {
            groups.begin(sharing);
        }
        self.version
    }

    /// With which version the last of the names came that the values mention which were read since
    /// [`Selection::begin`]: ads that were read before it may lack some of these.
    #[must_use]
    pub fn newest(&self) -> usize {
        self.newest
    }

    /// Whether something was found that may read any attribute, or so many that it is no use to select.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.everything || self.names.len() > MOST_NAMES
    }

    /// The names that are read, in the order in which they were asked for or found.
    pub fn names(&self) -> impl Iterator<Item = &Name> + Clone {
        self.names.iter()
    }

    /// Asks for these names, too.
    pub fn extend<'n>(&mut self, names: impl IntoIterator<Item = &'n Name>) {
        for name in names {
            self.add(name.clone());
        }
    }

    /// The dialect in which ads are read.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Asks for a name; with which version it came.
    pub(super) fn add(&mut self, name: Name) -> usize {
        let length = name.as_str().len();
        self.by_length.resize_with(self.by_length.len().max(length + 1), Vec::new);
        let (position, is_new) = self.names.insert_full(name);
        if is_new {
            self.by_length[length].push(position);
            let name = self.names[position].as_str();
            self.filter.add(name);
            self.beginnings.push([name.as_bytes(), b" ="].concat().into());
            self.since.push(0);
            self.occurs.push(false);
        }
        let label = self.groups.as_mut().and_then(|groups| groups.only_labels.get_mut(position));
        if is_new || label.is_some_and(std::mem::take) {
            self.version += 1;
            self.since[position] = self.version;
        }
        self.since[position]
    }

    /// Asks for what an expression mentions; with which version the last of that came, or none if it may read more.
    pub(super) fn add_mentioned(&mut self, expression: &Expression) -> Option<usize> {
        let mentions = Mentions::of(expression, self.dialect);
        let newest = mentions.names.into_iter().map(|name| self.add(name)).max().unwrap_or(0);
        self.everything |= mentions.everything;
        (!mentions.everything).then_some(newest)
    }

    /// The expression that a value is, and with which version the last of the names came that it mentions, which are
    /// asked for now; none if it is no expression, and no version if it may read more.
    pub(super) fn expression(&mut self, value: &[u8]) -> Option<(Expression, Option<usize>)> {
        match self.seen.expression(value) {
            Sight::Known(expression, newest) => Some((expression, Some(newest))),
            Sight::New(expression) => {
                let newest = self.add_mentioned(&expression);
                match newest {
                    Some(newest) => self.seen.note(value, newest),
                    // It must be told of the next ad that has it, too.
                    None => self.seen.forget(value),
                }
                Some((expression, newest))
            }
            Sight::Bad => None,
        }
    }

    /// Asks for what the attributes of an ad mention that are asked for.
    pub(super) fn add_mentioned_in(&mut self, ad: &Ad) {
        let mut position = 0;
        while let Some(name) = self.names.get_index(position) {
            position += 1;
            let Some(expression) = ad.get(name) else { continue };
            self.newest = self.newest.max(self.add_mentioned(expression).unwrap_or(0));
        }
    }

    pub(super) fn is_only_label(&self, position: usize) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.is_only_label(position))
    }

    /// Which of the names this is.
    pub(super) fn position(&self, name: &[u8]) -> Option<usize> {
        let alike = self.by_length.get(name.len())?;
        let last = name.last()?;
        alike.iter().copied().find(|at| {
            let known = self.names[*at].as_str().as_bytes();
            // The case is mostly the same, too.
            known.last().is_some_and(|end| end.eq_ignore_ascii_case(last))
                && (known == name || known.eq_ignore_ascii_case(name))
        })
    }
}
