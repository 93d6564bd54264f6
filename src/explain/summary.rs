//! Renders a verdict as one sentence.

use crate::ad::{BinaryOperator, Dialect, Name, Value};
use crate::constraint::InconsistencyKind;
use crate::matching::gang::DockedOffer;
use crate::protocol::JobState;
use crate::text::{join_and, shorten, with_commas};

use super::clause_analysis::ClauseComparison;
use super::clauses::text;
use super::decisive_part::DecisivePart;
use super::distance::{as_number, similar_string};
use super::evaluation::ClauseOutcome;
use super::failure_reason::{Alternative, FailureReason, type_phrase};
use super::job_report::HoldReason;
use super::report::{ClauseReport, RequestReport, RequestVerdict};

/// An ad that a sentence names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdReference {
    /// A request, given by its index.
    Request(usize),
    /// An offer as advertised, or a residual of the offer.
    Offer {
        /// Index of the offer.
        offer: usize,
        /// 1 for the offer as advertised, 2 for its first residual, 3 for its second residual, and so on.
        part: usize,
    },
}

/// Gives ads their names in sentences. Closures from [`AdReference`] to `String` implement it.
pub trait AdNames {
    /// Returns the name of an ad.
    fn ad_name(&self, ad: AdReference) -> String;
}

impl<F: Fn(AdReference) -> String> AdNames for F {
    fn ad_name(&self, ad: AdReference) -> String {
        self(ad)
    }
}

/// Writes sentences about explanations; the fields are the settings.
pub struct SummaryWriter<'w> {
    /// The explained request, as the subject of a sentence.
    pub subject: &'w str,
    /// Whether the subject is plural.
    pub is_plural: bool,
    /// The noun for the candidates, singular and plural.
    pub nouns: [&'w str; 2],
    /// The names of the ads other than the subject.
    pub names: &'w dyn AdNames,
    /// The dialect in which clauses are printed.
    pub dialect: Dialect,
    /// Maximum length of a clause in characters; the rest is cut off.
    pub max_clause_chars: usize,
}

/// Maximum number of operands of a disjunction of which a sentence tells why they are not met.
const MAX_TOLD_ALTERNATIVES: usize = 3;

/// Maximum number of ads named in a sentence.
const MAX_NAMED_ADS: usize = 3;

impl SummaryWriter<'_> {
    /// Returns the verdict as one sentence without a full stop.
    #[must_use]
    pub fn summary(&self, report: &RequestReport) -> String {
        let subject = self.subject;
        let matches = self.verb("matches", "match");
        let some = || format!("{subject} {matches} {} of {}", with_commas(report.matches), self.count(report.offers));
        match &report.verdict {
            RequestVerdict::NotWaiting(otherwise) => self.not_waiting(report, otherwise),
            RequestVerdict::Claimed if report.matches == 0 => {
                let drained = report.slots.map(|slots| slots.if_drained).unwrap_or_default();
                format!(
                    "{subject} {matches} none of {} as they are: {}",
                    self.count(report.offers),
                    if_drained(drained)
                )
            }
            RequestVerdict::Claimed => format!("{}{}", some(), self.slot_states(report, ", but none is free: ")),
            RequestVerdict::Matches if report.discarded == 0 => format!("{}{}", some(), self.slot_states(report, ": ")),
            RequestVerdict::Matches => {
                let discarded = with_commas(report.discarded);
                let states = self.slot_states(report, ": ");
                format!("{}; the docking vector discards {discarded} more{states}", some())
            }
            RequestVerdict::Taken(by) => {
                let by = self.list_requests(by);
                match report.slots {
                    Some(slots) if slots.free < report.matches => {
                        let taken = if slots.free == 1 { "the free one is taken" } else { "the free ones are taken" };
                        format!("{}{}; {taken} by {by}", some(), self.slot_states(report, ": "))
                    }
                    _ if report.matches == 1 => format!("{}, which is taken by {by}", some()),
                    _ => format!("{}, all of which are taken, by {by}", some()),
                }
            }
            RequestVerdict::NeedsGang => format!(
                "{subject} {} Ports: gangs are explained from the side of those that ask for them, without --reverse",
                self.verb("has", "have")
            ),
            RequestVerdict::NotServed => {
                let (is, it) = (self.verb("is", "are"), self.verb("it", "them"));
                format!("{subject} {is} not served: `roots` of the policy is not true of {it}")
            }
            RequestVerdict::NoOffers => format!("{subject} {matches} nothing: there are no {}", self.nouns[1]),
            _ => format!("{subject} {matches} none of {}: {}", self.count(report.offers), self.cause(report)),
        }
    }

    /// Says why the subject does not match, in a phrase without the subject. Empty if it matches.
    #[must_use]
    pub fn cause_phrase(&self, report: &RequestReport) -> String {
        match &report.verdict {
            RequestVerdict::Matches => String::new(),
            RequestVerdict::NotWaiting(_) => report.job.as_ref().map_or_else(String::new, |job| {
                let hold = job.hold.as_ref().map(HoldReason::to_string).unwrap_or_default();
                format!("{}{hold}", job.state.word())
            }),
            RequestVerdict::Claimed if report.matches == 0 => {
                "no slot has enough left; partitionable slots would match if drained".to_owned()
            }
            RequestVerdict::Claimed => "slots match, but none of them is free".to_owned(),
            RequestVerdict::Taken(_) => format!("other requests have taken the {} that match", self.nouns[1]),
            RequestVerdict::NeedsGang => "Ports: see explain without --reverse".to_owned(),
            RequestVerdict::NotServed => "not served: `roots` of the policy".to_owned(),
            RequestVerdict::NoOffers => format!("there are no {}", self.nouns[1]),
            _ => self.cause(report),
        }
    }

    /// Says why a job does not wait for a slot and, for a held job, what it would match.
    fn not_waiting(&self, report: &RequestReport, otherwise: &RequestVerdict) -> String {
        let subject = self.subject;
        let is = self.verb("is", "are");
        let Some(job) = &report.job else { return format!("{subject} {} for no slot", self.verb("waits", "wait")) };
        let slot = job.slot.as_ref().filter(|_| !self.is_plural).map(|slot| format!(" in {slot}")).unwrap_or_default();
        let itself = match job.state {
            JobState::Held => {
                let hold = job.hold.as_ref().map(HoldReason::to_string).unwrap_or_default();
                let it = self.verb("it", "they");
                let report = RequestReport { verdict: otherwise.clone(), job: None, ..report.clone() };
                let released = SummaryWriter { subject: it, ..*self }.summary(&report);
                return format!("{subject} {is} held{hold}. Once released, {released}");
            }
            JobState::SchedulerUniverse | JobState::LocalUniverse => "the access point itself runs",
            JobState::GridUniverse => "another system than this pool runs",
            state => {
                return format!(
                    "{subject} {is} {}{slot}, and {} for no slot",
                    state.word(),
                    self.verb("waits", "wait")
                );
            }
        };
        format!("{subject} {is} {}: {itself} {}", job.state.word(), self.verb("it", "them"))
    }

    /// Says in which states the slots are that match, after `opening`. Empty if the offers have no states.
    fn slot_states(&self, report: &RequestReport, opening: &str) -> String {
        let Some(slots) = report.slots else { return String::new() };
        let by_user = self.verb("claimed by its own user", "claimed by their own users");
        let by_others = if slots.claimed_by_others == 1 { "claimed by another user" } else { "claimed by others" };
        let states = [
            (slots.free, "free"),
            (slots.claimed_by_others, by_others),
            (slots.claimed_by_user, by_user),
            (slots.owner, "used by the owner of the machine"),
            (slots.draining, "draining"),
            (slots.offline, "offline"),
        ];
        let found: Vec<(usize, &str)> = states.into_iter().filter(|(number, _)| *number > 0).collect();
        let is = |number: usize| if number == 1 { "is" } else { "are" };
        let drained = match slots.if_drained {
            0 => String::new(),
            number => format!("; {}", if_drained(number)),
        };
        let states = match found.as_slice() {
            [] => String::new(),
            [(1, state)] => format!(", which is {state}"),
            [(number, state)] if *number == slots.matching() && *state == "free" => ", all of them free".to_owned(),
            found => {
                let found: Vec<String> = found
                    .iter()
                    .map(|(number, state)| format!("{} {} {state}", with_commas(*number), is(*number)))
                    .collect();
                format!("{opening}{}", join_and(&found))
            }
        };
        states + &drained
    }

    /// Chooses the verb form that agrees with the subject in number.
    pub(super) fn verb<'v>(&self, singular: &'v str, plural: &'v str) -> &'v str {
        if self.is_plural { plural } else { singular }
    }

    /// Formats a number of ads: `5,979 offers`.
    pub(super) fn count(&self, ads: usize) -> String {
        format!("{} {}", with_commas(ads), self.nouns[usize::from(ads != 1)])
    }

    /// Cuts the text of a clause to `max_clause_chars`.
    pub(super) fn shorten(&self, text: &str) -> String {
        shorten(text, self.max_clause_chars)
    }

    /// Quotes and shortens the text of a clause.
    pub(super) fn quoted(&self, text: &str) -> String {
        format!("`{}`", self.shorten(text))
    }

    /// Returns the name of the offer with the index `offer`.
    #[must_use]
    pub fn offer_name(&self, offer: usize) -> String {
        self.names.ad_name(AdReference::Offer { offer, part: 1 })
    }

    /// Returns the name of a docked offer.
    #[must_use]
    pub fn docked_name(&self, docked: &DockedOffer) -> String {
        self.names.ad_name(AdReference::Offer { offer: docked.offer, part: docked.part })
    }

    /// Lists the names of the first requests and counts the rest: `a, b, c and 5 more`.
    pub(super) fn list_requests(&self, requests: &[usize]) -> String {
        let named =
            requests.iter().take(MAX_NAMED_ADS).map(|request| self.names.ad_name(AdReference::Request(*request)));
        let mut shown: Vec<String> = named.collect();
        if requests.len() > MAX_NAMED_ADS {
            shown.push(format!("{} more", with_commas(requests.len() - MAX_NAMED_ADS)));
        }
        join_and(&shown)
    }

    /// Returns the beginning of a sentence about suitable offers that refuse: `1 offer would do, but it refuses: `. The
    /// caller appends the reason.
    pub(super) fn refusal_prefix(&self, suitable: usize) -> String {
        let refuse = if suitable == 1 { "it refuses" } else { "each of them refuses" };
        format!("{} would do, but {refuse}: ", self.count(suitable))
    }

    /// Says how many ads have an attribute: `3 offers have it`.
    pub(super) fn having(&self, ads: usize) -> String {
        format!("{} {} it", self.count(ads), if ads == 1 { "has" } else { "have" })
    }

    /// Says that no offer meets a comparison of `operand`, and which value comes closest.
    pub(super) fn unmet_comparison(&self, operand: &str, comparison: &ClauseComparison, closest: &Value) -> String {
        let ClauseComparison { operator, bound, bound_holder, .. } = comparison;
        let wanted = format!("{operand} {} {bound}", operator.symbol_in(self.dialect));
        let holder = bound_holder.as_ref().map(|(name, _)| format!(" ({name})")).unwrap_or_default();
        let closest = closest_value_phrase(*operator, closest, bound);
        format!("no {} has {}{holder}; {closest}", self.nouns[0], self.shorten(&wanted))
    }

    /// Lists the texts of clauses, which are given by index.
    fn list_clauses(&self, report: &RequestReport, clauses: &[usize]) -> String {
        let texts: Vec<String> = clauses.iter().map(|place| self.quoted(&report.clauses[*place].text)).collect();
        join_and(&texts)
    }

    fn cause(&self, report: &RequestReport) -> String {
        match &report.verdict {
            RequestVerdict::NoConstraint => "without a constraint nothing is accepted".to_owned(),
            RequestVerdict::Contradiction { clauses, subject, clash } => {
                let shown = self.list_clauses(report, clauses);
                let subject = self.quoted(&text(subject, self.dialect));
                match clash {
                    _ if clauses.len() == 1 => format!("{shown} contradicts itself, whatever {subject} is"),
                    InconsistencyKind::Value => format!("{shown} can never be true together"),
                    InconsistencyKind::Type => format!("{shown} want {subject} to be of different types"),
                    InconsistencyKind::Presence => {
                        format!("{shown} can never be true together: one wants {subject} to be undefined")
                    }
                }
            }
            RequestVerdict::Unmet { clause, fault, near } => {
                let others = report.clauses.iter().filter(|other| other.failure.is_some()).count() - 1;
                let more = match others {
                    0 => String::new(),
                    1 => "; one more clause is true of none".to_owned(),
                    others => format!("; {others} more clauses are true of none"),
                };
                format!("{}{more}", self.failure_phrase(&report.clauses[*clause], fault, near))
            }
            RequestVerdict::Conflict(clauses) => {
                format!("none meets {} together, though each alone is met", self.list_clauses(report, clauses))
            }
            RequestVerdict::Refused => self.refusal_phrase(report),
            RequestVerdict::Discarded { component, text, missing } => {
                let would = self.count(report.discarded);
                let them = if report.discarded == 1 { "it" } else { "them all" };
                let missing = missing.as_ref().map(|(name, near)| format!(": {}", self.missing_phrase(name, near)));
                format!(
                    "{would} would do, but the docking vector discards {them}: component {} of it, {}, has no value \
                     that can be compared{}",
                    component + 1,
                    self.quoted(text),
                    missing.unwrap_or_default()
                )
            }
            // `summary` does not ask for the cause of the other verdicts.
            _ => String::new(),
        }
    }

    fn refusal_phrase(&self, report: &RequestReport) -> String {
        let mut suitable = report.refusals.iter().filter(|group| group.suitable > 0);
        let reason = match suitable.next().map(|group| (group, &group.clause)) {
            Some((_, None)) if report.suitable == 1 => "it has no constraint, and accepts nothing".to_owned(),
            Some((group, None)) => format!("{} have no constraint, and accept nothing", with_commas(group.suitable)),
            Some((group, Some(clause))) => {
                let missing = missing_attribute_note(self.subject, self.is_plural, &group.missing);
                let in_some = suitable.next().map(|_| format!(" in {}", with_commas(group.suitable)));
                let reason = self.decisive_phrase(clause, group.outcome, group.part.as_ref(), group.suitable == 1);
                format!("{reason}{missing}{}", in_some.unwrap_or_default())
            }
            None => String::new(),
        };
        self.refusal_prefix(report.suitable) + &reason
    }

    /// Says which clause is not met. Of a clause that is too long to quote, only the decisive part is told. The values
    /// are told with `tells_values`, or if the part does not stand for the whole clause.
    #[must_use]
    pub fn decisive_phrase(
        &self,
        clause: &str,
        outcome: ClauseOutcome,
        part: Option<&DecisivePart>,
        tells_values: bool,
    ) -> String {
        if clause.eq_ignore_ascii_case("false") {
            return "it takes nothing: its constraint is `false`".to_owned();
        }
        let Some(part) = part else { return format!("{} is {}", self.quoted(clause), outcome.phrase()) };
        let is_long = clause.chars().count() > self.max_clause_chars;
        if !is_long && !tells_values {
            return format!("{} is {}", self.quoted(clause), outcome.phrase());
        }
        let (text, outcome) = if is_long { (part.text.as_str(), part.outcome) } else { (clause, outcome) };
        format!("{} is {}{}", self.quoted(text), outcome.phrase(), part.values_phrase())
    }

    fn failure_phrase(&self, clause: &ClauseReport, fault: &FailureReason, near: &[(Name, usize)]) -> String {
        let one = self.nouns[0];
        let shown = self.quoted(&clause.text);
        match fault {
            FailureReason::UnknownFunction(name, near) => {
                let near: Vec<String> = near.iter().map(|name| format!("{name}()")).collect();
                format!("there is no function {name}(){}", did_you_mean(&near))
            }
            FailureReason::MissingOwnAttribute(name, near) => {
                let near: Vec<String> = near.iter().map(Name::to_string).collect();
                format!("it has no {name} itself, which {shown} reads{}", did_you_mean(&near))
            }
            FailureReason::Precedence(reading) => {
                // Allow a longer text, because the reader must see the parentheses.
                format!("{shown} is read as `{}`", shorten(reading, self.max_clause_chars.saturating_mul(3)))
            }
            FailureReason::Shadowed(name) => {
                format!("{shown} reads its own {name}, not that of the {one}, and so is never true")
            }
            FailureReason::NeverTrue => match clause.residue.as_deref() {
                // A constraint that is the literal `false` needs no reason.
                _ if clause.text == "false" => format!("its constraint is {shown}"),
                Some(value @ ("false" | "undefined")) => format!("{shown} is {value}, whatever the {one} has"),
                Some("error") => format!("{shown} is an error, whatever the {one} has"),
                _ => format!("{shown} can never be true, whatever the {one} has"),
            },
            FailureReason::MissingAttribute(name) => self.missing_phrase(name, near),
            FailureReason::Unquoted { name, value, offers, .. } => {
                let have = if *offers == 1 { "has" } else { "have" };
                let value = value.to_str();
                format!(
                    "{shown} reads an attribute {name}; {} {have} \"{value}\", in quotation marks",
                    self.count(*offers)
                )
            }
            FailureReason::Slip { message, corrected, offers } => {
                let corrected = self.quoted(&text(corrected, self.dialect));
                format!("{message}: {corrected} would be true of {}", self.count(*offers))
            }
            FailureReason::Alternatives(alternatives) => self.alternatives_phrase(alternatives, &shown),
            FailureReason::Nested(nested) => {
                let (holder, list) = (&nested.holder.0, nested.list.as_str());
                let entry = list.strip_prefix("Available").and_then(|entry| entry.strip_suffix('s')).unwrap_or(list);
                let Some(unmet) = &nested.unmet else { return format!("no {one} has a {entry} left") };
                let unmet = self.shorten(unmet);
                let closest = nested
                    .closest
                    .as_ref()
                    .map(|(operator, bound, closest)| format!("; {}", closest_value_phrase(*operator, closest, bound)));
                format!("no {one} has a {entry} left with {unmet} ({holder}){}", closest.unwrap_or_default())
            }
            FailureReason::TypeMismatch { theirs, bound, offers } => {
                let comparison = clause.analysis.comparison.as_ref();
                let operand = comparison.map(|comparison| text(&comparison.operand, self.dialect)).unwrap_or_default();
                let (operand, offers) = (self.quoted(&operand), self.count(*offers));
                let (theirs, bound) = (type_phrase(*theirs), type_phrase(*bound));
                format!("{shown} compares {bound} with {theirs}: {operand} is {theirs} in {offers}")
            }
            FailureReason::CaseMismatch { theirs, offers } => {
                let symbol = BinaryOperator::Is.symbol_in(self.dialect);
                let (count, have) = (self.count(*offers), if *offers == 1 { "has" } else { "have" });
                let theirs = theirs.to_str();
                format!("{shown} is never true: {symbol} minds upper and lower case, and {count} {have} \"{theirs}\"")
            }
            FailureReason::NoSuchValue => self.closest_value_clause(clause, &shown),
        }
    }

    /// Says why no operand of a disjunction is met.
    fn alternatives_phrase(&self, alternatives: &[Alternative], shown: &str) -> String {
        let equal_to = |alternative: &Alternative| {
            let comparison = alternative.clause.analysis.comparison.as_ref()?;
            let is_plain = comparison.operator == BinaryOperator::Equal
                && alternative.clause.failure == Some(FailureReason::NoSuchValue);
            is_plain.then(|| (comparison.attribute().cloned(), comparison.bound.to_string()))
        };
        let choices: Vec<_> = alternatives.iter().map_while(equal_to).collect();
        if let Some((Some(attribute), _)) = choices.first()
            && choices.len() == alternatives.len()
            && choices.iter().all(|(of, _)| of.as_ref() == Some(attribute))
        {
            let values: Vec<&str> = choices.iter().map(|(_, value)| value.as_str()).collect();
            let closest = alternatives.iter().find_map(|alternative| {
                let comparison = alternative.clause.analysis.comparison.as_ref()?;
                let closest = alternative.clause.closest_value.as_ref()?;
                Some(format!("; {}", closest_value_phrase(comparison.operator, closest, &comparison.bound)))
            });
            let values = self.shorten(&values.join(" or "));
            return format!("no {} has {attribute} == {values}{}", self.nouns[0], closest.unwrap_or_default());
        }
        let phrases = alternatives.iter().take(MAX_TOLD_ALTERNATIVES).filter_map(|alternative| {
            Some(self.failure_phrase(&alternative.clause, alternative.clause.failure.as_ref()?, &alternative.near))
        });
        let more = match alternatives.len().saturating_sub(MAX_TOLD_ALTERNATIVES) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!("{shown} is true of none: {}{more}", phrases.collect::<Vec<_>>().join("; "))
    }

    /// Says that no offer has an attribute, and suggests similar names.
    fn missing_phrase(&self, name: &Name, near: &[(Name, usize)]) -> String {
        let missing = format!("no {} defines {name}", self.nouns[0]);
        match near {
            [] => missing,
            [(known, having)] => format!("{missing} (did you mean {known}? {})", self.having(*having)),
            several => {
                let several =
                    several.iter().map(|(name, having)| format!("{name}, which {} have", with_commas(*having)));
                format!("{missing} (did you mean {}?)", several.collect::<Vec<_>>().join("; "))
            }
        }
    }

    fn closest_value_clause(&self, clause: &ClauseReport, shown: &str) -> String {
        let counts = &clause.counts;
        if let Some(comparison) = &clause.analysis.comparison {
            let attribute = comparison.attribute();
            if let Some(closest) = &clause.closest_value {
                let operand = attribute.map_or_else(|| text(&comparison.operand, self.dialect), Name::to_string);
                return self.unmet_comparison(&operand, comparison, closest);
            }
            let is_equality = matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is);
            if counts.is_false > 0 && attribute.is_some() && is_equality {
                return format!("{shown} is true of no {}", self.nouns[0]);
            }
        }
        let outcomes = [(counts.is_false, "false"), (counts.undefined, "undefined"), (counts.error, "an error")];
        let found = outcomes.iter().filter(|(count, _)| *count > 0);
        let found: Vec<String> = found.map(|(count, word)| format!("{word} in {}", with_commas(*count))).collect();
        format!("{shown} is true of none: it is {}", join_and(&found))
    }
}

/// Returns ` (1.0 has no RequestDisk)` for the first name in `missing`; empty if there is none.
#[must_use]
pub fn missing_attribute_note(subject: &str, is_plural: bool, missing: &[Name]) -> String {
    let has = if is_plural { "have" } else { "has" };
    missing.first().map(|name| format!(" ({subject} {has} no {name})")).unwrap_or_default()
}

/// Says which value comes closest to meeting a comparison, such as `the largest is 4096` for `>`.
fn closest_value_phrase(operator: BinaryOperator, best: &Value, bound: &Value) -> String {
    let text = best.to_string();
    match operator {
        BinaryOperator::Greater | BinaryOperator::GreaterEqual => format!("the largest is {text}"),
        BinaryOperator::Less | BinaryOperator::LessEqual => format!("the smallest is {text}"),
        _ if as_number(best).is_some() || similar_string(&[(best, 1)], bound).is_some() => {
            format!("the nearest is {text}")
        }
        _ => format!("most have {text}"),
    }
}

/// Says how many partitionable slots would match if drained.
fn if_drained(slots: usize) -> String {
    let noun = if slots == 1 { "partitionable slot" } else { "partitionable slots" };
    format!("{} {noun} would match if drained", with_commas(slots))
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}
