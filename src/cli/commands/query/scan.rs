//! Scan of a block of a source for matching ads. The scan reports its findings to a visitor and prints nothing, so that
//! several threads can scan blocks at once.

use classad::ad::{Ad, Expression, Name, Type, Value};
use classad::constraint::Simple;
use classad::eval::{Context, Halt, Mentions};
use classad::format::{Block, Entry, Form, Item, Problem, Selection};
use classad::matching;
use classad::protocol::{IDENTITY, identity, is_met};

use super::columns::{Columns, Row, USUAL};
use super::unknown_names::Missing;

/// Value of the constraint in the ads to find.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    True,
    NotTrue,
    Undefined,
}

/// Part of a matching ad that the output needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Its existence.
    Presence,
    /// All attributes.
    Whole,
    /// The attributes that were read selectively.
    Part,
    /// The values of its row of `--af` or of the print mask.
    Row,
    /// The value of `--group-by`.
    Group,
}

/// Scanner for the ads that a query selects. Shared by the threads.
pub struct Seeker<'q> {
    pub constraint: &'q Expression,
    pub query: matching::Query,
    pub columns: &'q Columns,
    pub context: Context,
    pub sought: Sought,
    pub need: Need,
    /// Whether the output is the ads themselves.
    pub writes_ads: bool,
    /// Whether every ad is read whole, for `--strict-input`.
    pub is_strict: bool,
    /// Names of the constraint that no ad has had so far.
    pub missing: Missing,
}

/// A finding of the scan.
pub enum Finding {
    Present,
    /// A matching ad. `name` is `None` if it has no identity; `number` is its 1-based number in the source.
    Ad {
        ad: Ad,
        name: Option<String>,
        number: usize,
    },
    Row(Row),
    Problem(Problem),
    /// An ad in which the constraint exceeded a budget; `number` as in `Ad`.
    Halted {
        halt: Halt,
        number: usize,
    },
}

impl Finding {
    /// Corrects the number of the ad. The scan assumed `thought` ads before the block; there were `before`.
    pub fn renumbered(self, thought: usize, before: usize) -> Self {
        let renumber = |number: usize| number - thought + before;
        match self {
            Finding::Ad { ad, name, number } => Finding::Ad { ad, name, number: renumber(number) },
            Finding::Halted { halt, number } => Finding::Halted { halt, number: renumber(number) },
            Finding::Problem(problem) if problem.ad > 0 => {
                Finding::Problem(Problem { ad: renumber(problem.ad), ..problem })
            }
            other => other,
        }
    }
}

/// Visitor of findings, which returns false to end the scan.
pub type Visit<'v, E> = &'v mut dyn FnMut(Finding) -> Result<bool, E>;

impl Seeker<'_> {
    /// Scans a block and passes its findings to `visit`. With a selection, reads only the selected attributes of ads in
    /// the long form. Returns the number of the last ad, or `None` if `visit` ended the scan.
    pub fn seek<E>(
        &self,
        block: &Block,
        selection: Option<&mut Selection>,
        visit: Visit<'_, E>,
    ) -> Result<Option<usize>, E> {
        let Some(selection) = selection.filter(|_| block.form == Form::Long) else {
            return self.each(block, block.ads(self.context.dialect), visit);
        };
        let mut selected = block.selected(selection);
        let last = self.each(block, &mut selected, visit)?;
        self.missing.note(|name| selected.occurs(name));
        // The reader also counts the ads that it filtered out.
        Ok(last.map(|_| selected.number()))
    }

    /// Scans the items read from a block. Returns the number of the last ad, or `None` if `visit` ended the scan.
    fn each<E>(
        &self,
        block: &Block,
        items: impl Iterator<Item = Item>,
        visit: Visit<'_, E>,
    ) -> Result<Option<usize>, E> {
        let mut last = block.before;
        for item in items {
            last = last.max(match &item {
                Ok(entry) => entry.number,
                Err(problem) => problem.ad,
            });
            let goes_on = match item {
                Ok(entry) => {
                    self.missing.note(|name| entry.ad.get(name).is_some());
                    self.look_at(block, entry, visit)?
                }
                Err(problem) => visit(Finding::Problem(problem))?,
            };
            if !goes_on {
                return Ok(None);
            }
        }
        Ok(Some(last))
    }

    /// Tests an ad and passes the needed part of it to `visit`. Returns false if `visit` ended the scan.
    fn look_at<E>(&self, block: &Block, entry: Entry, visit: Visit<'_, E>) -> Result<bool, E> {
        let number = entry.number;
        match self.query.value(&entry.ad) {
            Ok(value) if self.is_sought(&value) => {}
            Ok(_) => return Ok(true),
            Err(halt) => return visit(Finding::Halted { halt, number }),
        }
        let context = &self.context;
        match self.need {
            Need::Presence => visit(Finding::Present),
            Need::Row => visit(Finding::Row(self.columns.row(&entry.ad, context))),
            Need::Group => visit(Finding::Row(Row::of(&entry.ad, &self.columns.group, context))),
            Need::Whole if !entry.is_whole => {
                for item in block.ad_at(entry.offset, number, context.dialect) {
                    let goes_on = match item {
                        Ok(entry) => visit(self.ad(entry.ad, number))?,
                        Err(problem) => visit(Finding::Problem(problem))?,
                    };
                    if !goes_on {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Need::Whole | Need::Part => visit(self.ad(entry.ad, number)),
        }
    }

    fn ad(&self, ad: Ad, number: usize) -> Finding {
        let name = identity(&ad, self.columns.id.as_ref(), &self.context);
        Finding::Ad { ad, name, number }
    }

    fn is_sought(&self, value: &Value) -> bool {
        match self.sought {
            Sought::Undefined => value.kind() == Type::Undefined,
            sought => is_met(value, self.context.dialect) == (sought == Sought::True),
        }
    }

    /// Returns the attributes to read of each ad; `None` if ads have to be read whole. A constraint over literals also
    /// becomes a filter of the reader.
    pub fn selection(&self) -> Option<Selection> {
        let mut asked = Mentions::default();
        for expression in self.columns.expressions().chain([self.constraint]) {
            asked.add(expression, self.context.dialect);
        }
        if self.is_strict || asked.everything {
            return None;
        }
        if !self.columns.are_rows() {
            asked.names.extend(IDENTITY.iter().map(|name| Name::new(name)));
        }
        if !self.columns.are_rows() && !self.writes_ads {
            asked.names.extend(USUAL.map(Name::new));
        }
        let selection = Selection::new(asked.names, self.context.dialect);
        let simple = Simple::new(self.constraint, &self.context).filter(|_| self.sought != Sought::Undefined);
        let Some(simple) = simple else { return Some(selection) };
        let (names, wanted) = (simple.names().to_vec(), self.sought == Sought::True);
        Some(selection.sifted(&names, move |values| simple.is_met(values).is_none_or(|met| met == wanted)))
    }
}
