//! What a query makes of each ad that it selects.

use classad::ad::{Ad, Name};
use classad::eval::{Context, FreeNames};
use classad::protocol::{IDENTITY_ATTRIBUTES, display_name};
use classad::query::{AdLookup, AdScanner, AdSelection, ScanItem, SelectedAd, sort_values};

use super::columns::{Columns, DEFAULT_COLUMNS};
use super::finding::{FoundAd, QueryFinding};
use super::groups::{GroupColumns, GroupedAds};

/// Part of a matching ad that the output needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NeededPart {
    /// None of the ad: only the fact that it matches.
    Presence,
    /// All attributes.
    Whole,
    /// The attributes that the projection selects.
    Projected,
    /// The values of the row of `--af` or of the print mask.
    Row,
    /// What a table of HTCondor's tools needs.
    Record,
    /// The values of `--group-by`, `--sum` and so on.
    Group,
}

/// The scanner of a query.
pub type QueryScanner<'q> = AdScanner<QuerySelection<'q>>;

/// Takes what the output needs of each ad.
pub struct QuerySelection<'q> {
    pub columns: &'q Columns,
    pub context: Context,
    pub needed_part: NeededPart,
}

impl AdSelection for QuerySelection<'_> {
    type Finding = QueryFinding;

    fn add(&self, ad: SelectedAd<'_>, items: &mut Vec<ScanItem<QueryFinding>>) {
        let (columns, context) = (self.columns, &self.context);
        let (entry, number) = (&ad.entry, ad.entry.number);
        let finding = match self.needed_part {
            NeededPart::Presence => {
                if let Some(ScanItem::Found(QueryFinding::Present(count))) = items.last_mut() {
                    *count += 1;
                    return;
                }
                QueryFinding::Present(1)
            }
            NeededPart::Row => QueryFinding::Row(columns.row(&entry.ad, context)),
            NeededPart::Record => match &columns.table {
                Some(table) => QueryFinding::Record(Box::new(table.record(&entry.ad, context))),
                None => return,
            },
            NeededPart::Group => {
                let Some(group) = &columns.group else { return };
                if let Some(ScanItem::Found(QueryFinding::Groups(groups))) = items.last_mut() {
                    return groups.add(group, &entry.ad, context);
                }
                let mut groups = GroupedAds::default();
                groups.add(group, &entry.ad, context);
                QueryFinding::Groups(groups)
            }
            NeededPart::Whole if !entry.is_whole => {
                let item = |item: Result<_, _>| item.map_or_else(ScanItem::Problem, ScanItem::Found);
                let whole = ad.into_whole().into_iter();
                return items.extend(whole.map(|read| item(read.map(|entry| self.ad_finding(entry.ad, number)))));
            }
            // The attributes of the banner are not part of the record, and are printed only if they are named.
            NeededPart::Whole if columns.attributes.is_empty() && entry.banner_attributes > 0 => {
                let written = entry.ad.iter().take(entry.ad.len() - entry.banner_attributes);
                let ad = written.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect();
                self.ad_finding(ad, number)
            }
            NeededPart::Whole | NeededPart::Projected => self.ad_finding(ad.entry.ad, number),
        };
        items.push(ScanItem::Found(finding));
    }
}

impl QuerySelection<'_> {
    fn ad_finding(&self, ad: Ad, number: usize) -> QueryFinding {
        let name = display_name(&ad, self.columns.id.as_ref(), &self.context);
        let mut lookup = AdLookup::new(&ad, &self.context);
        let order = sort_values(&self.columns.sort, &mut lookup);
        let failures = lookup.failures;
        let is_whole = self.needed_part == NeededPart::Whole;
        let ad = if is_whole { ad.printed(self.context.dialect).into_owned() } else { ad };
        QueryFinding::Ad { ad: FoundAd::Read(ad), name, number, order, failures }
    }

    /// Returns the names that are looked up in each ad. `writes_ads` says whether the output is the ads themselves.
    pub fn needed_names(&self, writes_ads: bool) -> FreeNames {
        let (columns, mut needed) = (self.columns, FreeNames::default());
        needed.reads_anything = columns.group.as_ref().is_some_and(GroupColumns::keeps_ads);
        columns.expressions().for_each(|expression| needed.add(expression, self.context.dialect));
        needed.names.extend(columns.attributes_beside().map(Name::new));
        needed.names.extend(columns.attributes.iter().cloned());
        if !columns.prints_rows() {
            needed.names.extend(IDENTITY_ATTRIBUTES.iter().map(|name| Name::new(name)));
        }
        if !columns.prints_rows() && !writes_ads {
            needed.names.extend(DEFAULT_COLUMNS.map(Name::new));
        }
        needed
    }
}

/// Whether the message or the name of what was found has its place in the source.
pub fn needs_place(item: &ScanItem<QueryFinding>) -> bool {
    match item {
        ScanItem::Found(finding) => matches!(finding, QueryFinding::Ad { name: None, .. }),
        ScanItem::Problem(_) | ScanItem::Halted(..) => true,
        ScanItem::Stop => false,
    }
}
