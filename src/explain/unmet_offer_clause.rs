//! What a clause of an offer is that a request does not meet: its decisive part, with the values that it reads.

use crate::ad::{Name, Truth, Value};
use crate::text::shorten;

use super::admission::AdmittedJobs;
use super::clause_time::ClauseTime;
use super::missing_attribute::MissingAttribute;

/// The part of a clause that decides that the clause is not true.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisivePart {
    /// The text of the part, on one line.
    pub text: String,
    /// The outcome of the part.
    pub outcome: Truth,
    /// The attributes that the part reads and that are there, with their values.
    pub reads: Vec<ReadValue>,
    /// Whether all offers of which the part is told have it, and not only the clause that it stands for.
    pub is_common: bool,
}

/// A clause of an offer's constraint that the request does not meet.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmetOfferClause {
    /// The text of the clause; `None` if the offer has no constraint.
    pub clause: Option<String>,
    /// The outcome of the clause; undefined if the offer has no constraint.
    pub outcome: Truth,
    /// The attributes that the request lacks and to which the clause owes that it is not met.
    pub missing: Vec<MissingAttribute>,
    /// The part of the clause that decides it; `None` if the offer has no constraint.
    pub part: Option<DecisivePart>,
    /// The jobs that the owner of the offer admits, if that is what the part is about.
    pub admits: Option<AdmittedJobs>,
    /// The mistake in the value of an attribute of the request that the clause reads; `None` if none is known.
    pub slip: Option<String>,
    /// When the clause accepts the request. `None` if it does not read the clock, if it accepts the request at no time, or if
    /// the request does not accept the offer.
    pub opens: Option<ClauseTime>,
    /// Whether the offer takes nothing at all, such as one whose `Start` is false, or one without a constraint.
    pub is_closed: bool,
    /// The seconds since the pilot of the offer stopped to take jobs, if it takes nothing at all for that reason.
    pub retired: Option<i64>,
    /// Whether the clause limits a request to what the offer has.
    pub is_limit: bool,
}

impl UnmetOfferClause {
    /// Returns the value that the owner of the offer asks for, and of which the request has the text as a string: `true` for
    /// `"true"`.
    #[must_use]
    pub fn quoted_value(&self) -> Option<Value> {
        let reads = self.part.iter().flat_map(|part| &part.reads);
        self.admits.as_ref()?.quoted(reads.map(|read| (&read.name, &read.value)))
    }
}

/// An attribute that a part reads.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadValue {
    /// The name of the attribute.
    pub name: Name,
    /// Its value.
    pub value: Value,
    /// Whether the attribute is of the partner of the ad that the clause belongs to.
    pub is_partners: bool,
    /// Whether all offers of which the clause is told have this value.
    pub is_common: bool,
}

impl ReadValue {
    /// Makes the value of an attribute. Of a private attribute, a word stands for the value.
    pub(super) fn of(name: &Name, value: Value, is_partners: bool) -> Self {
        let value = if name.is_secret() { Value::string(b"(private)") } else { value };
        ReadValue { name: name.clone(), value, is_partners, is_common: false }
    }
}

/// Maximum number of values in a sentence about a part. With more of them, the sentence has none.
const MAX_TOLD_VALUES: usize = 4;

/// Maximum length of a value that is told, in characters.
const MAX_VALUE_CHARS: usize = 40;

impl DecisivePart {
    /// Lists the values that the part reads: ` (RequestCpus is 4, Cpus is 1)`; empty if it reads none, or too many. With
    /// `is_shared`, lists those of the partner and common ones only: several ads have the clause, each with its own values.
    #[must_use]
    pub fn values_phrase(&self, is_shared: bool) -> String {
        let is_told = |read: &&ReadValue| read.is_partners || read.is_common || !is_shared;
        values_phrase(&self.text, self.reads.iter().filter(is_told))
    }
}

/// Lists the values that the part with `text` reads: ` (RequestCpus is 4, Cpus is 1)`; empty if it reads none, or too
/// many, or is only a name itself.
pub(super) fn values_phrase<'r>(text: &str, reads: impl Iterator<Item = &'r ReadValue>) -> String {
    let told: Vec<&ReadValue> = reads.collect();
    let is_itself = matches!(told.as_slice(), [read] if read.name.as_str() == text);
    if told.is_empty() || told.len() > MAX_TOLD_VALUES || is_itself {
        return String::new();
    }
    let value = |read: &&ReadValue| {
        let shown = shorten(&read.value.to_string(), MAX_VALUE_CHARS);
        let clock = clock_value(&read.name, &read.value).map_or_else(String::new, |clock| format!(", {clock}"));
        format!("{} is {shown}{clock}", read.name)
    };
    format!(" ({})", told.iter().map(value).collect::<Vec<_>>().join(", "))
}

/// The days of the week, by the number that `ClockDay` has.
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Returns what a value of the clock of a slot means: `21:19` of the minute 1279 of a day. `None` for any other attribute.
fn clock_value(name: &Name, value: &Value) -> Option<String> {
    let Value::Integer(number) = value else { return None };
    if name.is("ClockDay") {
        return DAYS.get(usize::try_from(*number).ok()?).map(|day| (*day).to_owned());
    }
    name.is("ClockMin").then(|| format!("{}:{:02}", number.div_euclid(60), number.rem_euclid(60)))
}
