//! What is looked for in each piece of a source, and what is found there.  Nothing here is told to anyone, so that
//! several pieces may be looked through at once.

use classad::ad::{Ad, Expression, Name, Type, Value};
use classad::constraint::Simple;
use classad::eval::{Context, Halt, Mentions};
use classad::format::{Block, Entry, Form, Item, Problem, Selection};
use classad::matching;
use classad::protocol::{IDENTITY, identity, is_met};

use super::columns::{Columns, Row, USUAL};
use super::unknown_names::Missing;

/// Which ads are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    True,
    NotTrue,
    Undefined,
}

/// What is needed of an ad.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// That it is there.
    Presence,
    /// All of it.
    Whole,
    /// As much as was asked for.
    Part,
    /// The values of its row.
    Row,
    /// The value of `--group-by`.
    Group,
}

/// What is looked for.
pub struct Seeker<'q> {
    pub constraint: &'q Expression,
    pub query: matching::Query,
    pub columns: &'q Columns,
    pub context: Context,
    pub sought: Sought,
    pub need: Need,
    /// Whether the ads are written themselves, if any are.
    pub writes_ads: bool,
    /// Whether every ad is read whole.
    pub is_strict: bool,
    /// Which names of the constraint no ad had so far.
    pub missing: Missing,
}

/// What is found.
pub enum Finding {
    Present,
    /// An ad, and its name if it has one.
    Ad {
        ad: Ad,
        name: Option<String>,
        number: usize,
    },
    Row(Row),
    Problem(Problem),
    /// An ad in which the constraint exceeded a budget.
    Halted {
        halt: Halt,
        number: usize,
    },
}

impl Finding {
    /// The same, if there were so many other ads before those of its piece than was thought.
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

/// What is to be done with what is found; false if that is enough.
pub type Visit<'v, E> = &'v mut dyn FnMut(Finding) -> Result<bool, E>;

impl Seeker<'_> {
    /// Looks through a piece of a source; the number of the last ad, or none if it is not to go on.
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
        // Those that were sifted out count, too.
        Ok(last.map(|_| selected.number()))
    }

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

    /// What has to be read of each ad to answer; none if that cannot be told.
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
