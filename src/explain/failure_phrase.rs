//! Says why a clause is true of no offer.

use crate::ad::{BinaryOperator, Dialect, Name, Value};
use crate::constraint::ClauseComparison;
use crate::text::{join_and, join_with, shorten, with_commas};

use super::clause_report::ClauseReport;
use super::clause_time::ClauseTime;
use super::clauses::{counted_list_text, operand_text, text};
use super::distance::{as_number, similar_string};
use super::failure_reason::FailureReason;
use super::misplaced_value::MisplacedValue;
use super::nested_constraint::NestedFailure;
use super::nested_phrase;
use super::offered_values::OfferedRange;
use super::unmet_offer_clause::{ReadValue, values_phrase};
use super::value_phrase::{
    asks_for_dynamic_slots, closest_value_phrase, oddity, offered_phrase, type_phrase, wanted_item, wanted_items,
};

/// Maximum number of the offers' strings that a sentence tells.
const MAX_TOLD_STRINGS: usize = 2;

/// Maximum length of a corrected clause in a sentence, in characters.
const MAX_CORRECTED_CHARS: usize = 70;

/// Maximum number of operands of a disjunction whose failures a sentence explains.
const MAX_EXPLAINED_ALTERNATIVES: usize = 3;

/// Writer of phrases about clauses that no offer meets. The fields are its settings.
#[derive(Clone, Copy)]
pub struct FailureWriter<'w> {
    /// The noun for the offers, singular and plural.
    pub nouns: [&'w str; 2],
    /// The dialect in which clauses are printed.
    pub dialect: Dialect,
    /// Maximum length of a clause in characters; the rest is cut off.
    pub max_clause_chars: usize,
    /// Whether a sentence is to be short: it tells one value, and no attribute that holds what is asked for.
    pub is_brief: bool,
}

impl FailureWriter<'_> {
    /// Formats a number of ads: `5,979 offers`.
    pub fn count(&self, ads: usize) -> String {
        format!("{} {}", with_commas(ads), self.nouns[usize::from(ads != 1)])
    }

    /// Cuts the text of a clause to `max_clause_chars`.
    pub fn shorten(&self, text: &str) -> String {
        shorten(text, self.max_clause_chars)
    }

    /// Quotes and shortens the text of a clause.
    pub fn quoted(&self, text: &str) -> String {
        format!("`{}`", self.shorten(text))
    }

    /// Maximum number of the offers' strings that a sentence tells.
    fn most_told(&self) -> usize {
        if self.is_brief { 1 } else { MAX_TOLD_STRINGS }
    }

    /// The name of an attribute that holds what is asked for, as it stands in a sentence.
    fn held_by(&self, holder: Option<&Name>) -> String {
        holder.filter(|_| !self.is_brief).map(|name| format!(" ({name})")).unwrap_or_default()
    }

    /// Quotes a corrected clause, which a short sentence tells, too.
    fn correction(&self, text: &str) -> String {
        format!("`{}`", shorten(text, self.max_clause_chars.max(MAX_CORRECTED_CHARS)))
    }

    /// Says how many ads have what follows: `3 offers have`.
    fn have(&self, ads: usize) -> String {
        format!("{} {}", self.count(ads), if ads == 1 { "has" } else { "have" })
    }

    /// Says how many ads have an attribute: `3 offers have it`.
    pub fn having(&self, ads: usize) -> String {
        self.have(ads) + " it"
    }

    /// Says that no offer meets a comparison of `operand`, and which value comes closest.
    pub fn unmet_comparison(&self, operand: &str, comparison: &ClauseComparison, closest: &Value) -> String {
        let ClauseComparison { operator, bound, bound_holder, .. } = comparison;
        let wanted = match counted_list_text(&comparison.operand) {
            Some(list) if *operator == BinaryOperator::GreaterEqual => format!("{bound} {list}"),
            _ => format!("{operand} {} {bound}", operator.symbol_in(self.dialect)),
        };
        let holder = self.held_by(bound_holder.as_ref().map(|(name, _)| name));
        let closest = closest_value_phrase(*operator, closest, bound);
        format!("no {} has {}{}{holder}; {closest}", self.nouns[0], self.shorten(&wanted), oddity(bound))
    }

    /// Says why no entry of a list, such as no free GPU, meets a nested constraint.
    fn nested_phrase(&self, nested: &NestedFailure) -> String {
        let (one, entry) = (self.nouns[0], nested_phrase::entry(nested));
        let Some(unmet) = &nested.unmet else { return format!("no {one} has {entry}") };
        let unmet = self.shorten(unmet);
        if !nested.clashing.is_empty() {
            let each = entry.strip_prefix("a free ").unwrap_or(&entry);
            let parts: Vec<String> = nested.clashing.iter().map(|part| self.quoted(part)).collect();
            let of = nested_phrase::clashing_values(nested);
            return format!("no {each} can meet {} together ({of})", join_and(&parts));
        }
        let holder = self.held_by(Some(&nested.holder.0));
        if let Some((message, corrected)) = &nested.mistake {
            let correction = self.correction(corrected);
            return format!("no {one} has {entry} with {unmet}{holder}; {message}: write {correction}");
        }
        let values = nested_phrase::values(nested, self.most_told());
        format!("no {one} has {entry} with {unmet}{holder}{values}")
    }

    /// Says why a clause is true of no offer.
    pub fn failure(&self, clause: &ClauseReport, fault: &FailureReason) -> String {
        let one = self.nouns[0];
        let shown = self.quoted(&clause.text);
        match fault {
            FailureReason::UnknownFunction(name, near) => {
                let near: Vec<String> = near.iter().map(|name| format!("{name}()")).collect();
                format!("there is no function {name}(){}", did_you_mean(&near))
            }
            FailureReason::MissingOwnAttribute(name, near) => {
                let near: Vec<String> = near.iter().map(Name::to_string).collect();
                format!("{shown} reads {name}, which its own ad does not have{}", did_you_mean(&near))
            }
            FailureReason::Precedence(reading) => {
                // Allow a longer text, because the reader must see the parentheses, in which the clause stands, too.
                let reading = shorten(reading, self.max_clause_chars.saturating_mul(3));
                format!("{} is read as `{reading}`", if self.is_brief { "a clause" } else { &shown })
            }
            FailureReason::Shadowed(name) => {
                format!("{shown} is never true: it reads the {name} of its own ad, not of the {one}")
            }
            FailureReason::NotNow(time) => time.unmet_phrase(&shown) + clock_hint(clause),
            FailureReason::NeverTrue(own) => self.never_true(clause, own, &shown),
            FailureReason::MissingAttribute { name, near, meeting } => {
                self.missing_attribute(name, near, Some(*meeting))
            }
            FailureReason::Unquoted { name, value, offers, .. } => {
                let (have, value) = (self.have(*offers), value.to_str());
                format!("{shown} reads an attribute {name}, but {have} the string: write \"{value}\"")
            }
            FailureReason::Slip { message, corrected, offers, then, opens, .. } => {
                let corrected = text(corrected, self.dialect);
                let then = then.as_ref().and_then(|then| Some((then, then.failure.as_ref()?)));
                then.map_or_else(
                    || self.slip_phrase(message, &corrected, *offers, opens.as_ref()),
                    |(then, fault)| self.corrected_but(message, &corrected, then, fault),
                )
            }
            FailureReason::Setting { name, message, to, offers, opens } => {
                let corrected = format!("{name} = {}", text(to, self.dialect));
                self.setting_phrase(message, &corrected, *offers, opens.as_ref())
            }
            FailureReason::Alternatives(alternatives) => self.alternatives_phrase(alternatives, &shown),
            FailureReason::Nested(nested) => self.nested_phrase(nested),
            FailureReason::TypeMismatch { theirs, bound, offers } => {
                self.type_mismatch(clause, &shown, [*theirs, *bound].map(type_phrase), *offers)
            }
            FailureReason::CaseMismatch { theirs, offers } => {
                let symbol = BinaryOperator::Is.symbol_in(self.dialect);
                let (have, theirs) = (self.have(*offers), theirs.to_str());
                format!("{shown} is never true: {symbol} is case-sensitive, and {have} \"{theirs}\"")
            }
            FailureReason::Misplaced(found) => self.misplaced(clause, found),
            // Nothing about the slots: what the job asks for is unknown.
            FailureReason::NoValue(behind) => behind.no_value_phrase(),
            FailureReason::NoSuchValue => self.other_values(clause, &shown),
        }
    }

    /// Says which attribute has the string for which a clause asks.
    fn misplaced(&self, clause: &ClauseReport, found: &MisplacedValue) -> String {
        let MisplacedValue { name, value, offers, .. } = found;
        let has = format!("no {} has {}; {}", self.nouns[0], self.shorten(&clause.text), self.have(*offers));
        match value {
            Some(value) => format!("{has} {name} \"{}\"", value.to_str()),
            None => format!("{has} this value in {name}"),
        }
    }

    /// Says which mistake a clause has, and why it is not met without either.
    fn corrected_but(&self, message: &str, corrected: &str, then: &ClauseReport, fault: &FailureReason) -> String {
        format!("{message}: write {}, but {}", self.correction(corrected), self.failure(then, fault))
    }

    /// Says which mistake a clause has, and how many offers meet it without, or when some do.
    fn slip_phrase(&self, message: &str, corrected: &str, offers: usize, opens: Option<&ClauseTime>) -> String {
        // What to do has a correction that does not fit a sentence.
        let is_long = corrected.chars().count() > self.max_clause_chars.max(MAX_CORRECTED_CHARS);
        let corrected = if is_long { "the corrected clause".to_owned() } else { self.correction(corrected) };
        match opens.and_then(ClauseTime::opening) {
            Some(opening) => format!("{message}: {corrected} is true {opening}"),
            None if self.is_brief && offers > 0 && !is_long => format!("{message}: write {corrected}"),
            None => format!("{message}: {corrected} would be true for {}", self.count_or_none(offers)),
        }
    }

    /// Says that a clause compares values of two types, those of the offers and its own.
    fn type_mismatch(&self, clause: &ClauseReport, shown: &str, [theirs, own]: [&str; 2], offers: usize) -> String {
        let comparison = clause.analysis.comparison.as_ref();
        let operand = comparison.map(|comparison| text(&comparison.operand, self.dialect)).unwrap_or_default();
        let (operand, offers) = (self.quoted(&operand), self.count(offers));
        format!("{shown} compares {own} with {theirs}: {operand} is {theirs} in {offers}")
    }

    /// Says which mistake an attribute of the request has, and for how many offers, or when, the clause is true without.
    fn setting_phrase(&self, message: &str, corrected: &str, offers: usize, opens: Option<&ClauseTime>) -> String {
        let opening = opens.and_then(ClauseTime::opening);
        let when = opening.unwrap_or_else(|| format!("for {}", self.count_or_none(offers)));
        format!("{message}: with {} the clause is true {when}", self.correction(corrected))
    }

    /// Formats a number of ads that a correction gains; no ads meet the uncorrected clause either.
    fn count_or_none(&self, ads: usize) -> String {
        if ads == 0 { "none either".to_owned() } else { self.count(ads) }
    }

    /// Says that a clause is never true, whatever the offers have. `own` are the values of the request that it reads.
    fn never_true(&self, clause: &ClauseReport, own: &[ReadValue], shown: &str) -> String {
        let values = match &clause.own_expression {
            Some(behind) => format!(" ({})", behind.phrase),
            None => values_phrase(&clause.text, own.iter()),
        };
        let one = self.nouns[0];
        match clause.residue.as_deref() {
            // A constraint that is the literal `false` needs no reason.
            _ if clause.text == "false" => format!("its constraint is {shown}"),
            Some(value @ ("false" | "undefined")) => format!("{shown} is {value}{values}, whatever the {one} has"),
            Some("error") => format!("{shown} is an error{values}, whatever the {one} has"),
            _ => format!("{shown} can never be true{values}, whatever the {one} has"),
        }
    }

    /// Says why no operand of a disjunction is met.
    fn alternatives_phrase(&self, alternatives: &[ClauseReport], shown: &str) -> String {
        let equal_to = |clause: &ClauseReport| {
            let comparison = clause.analysis.comparison.as_ref()?;
            let is_plain =
                comparison.operator == BinaryOperator::Equal && clause.failure == Some(FailureReason::NoSuchValue);
            is_plain.then(|| (comparison.attribute().cloned(), comparison.bound.to_string()))
        };
        let choices: Vec<_> = alternatives.iter().map_while(equal_to).collect();
        if let Some((Some(attribute), _)) = choices.first()
            && choices.len() == alternatives.len()
            && choices.iter().all(|(of, _)| of.as_ref() == Some(attribute))
        {
            let values: Vec<&str> = choices.iter().map(|(_, value)| value.as_str()).collect();
            let closest = alternatives.iter().find_map(|clause| {
                let (comparison, closest) = (clause.analysis.comparison.as_ref()?, clause.closest_value.as_ref()?);
                Some(format!("; {}", closest_value_phrase(comparison.operator, closest, &comparison.bound)))
            });
            let values = self.shorten(&values.join(" or "));
            let offered = alternatives.first().and_then(|clause| clause.offered.as_ref());
            let offered = offered.filter(|offered| offered.value_count > 0);
            let closest = closest.or(offered.map(|offered| format!("; {}", offered_phrase(offered, self.most_told()))));
            return format!("no {} has {attribute} == {values}{}", self.nouns[0], closest.unwrap_or_default());
        }
        let phrases = alternatives.iter().take(MAX_EXPLAINED_ALTERNATIVES);
        let phrases = phrases.filter_map(|clause| Some(self.failure(clause, clause.failure.as_ref()?)));
        let more = match alternatives.len().saturating_sub(MAX_EXPLAINED_ALTERNATIVES) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!("{shown} is true for none: {}{more}", phrases.collect::<Vec<_>>().join("; "))
    }

    /// Says that no offer has an attribute, and suggests similar names. `meeting` is the number of offers that meet a clause with
    /// the first of them; `None` if no clause reads it.
    pub fn missing_attribute(&self, name: &Name, near: &[(Name, usize)], meeting: Option<usize>) -> String {
        if name.is("DynamicSlot") {
            let slot = self.nouns[0];
            return format!(
                "{name} is of the parts of {slot}s that other jobs have; a job gets a part of its own without it"
            );
        }
        let missing = format!("no {} defines {name}", self.nouns[0]);
        // The first is the most similar.
        let near = if self.is_brief { &near[..near.len().min(1)] } else { near };
        match near {
            [] => missing,
            [(known, having)] => {
                let fewer = match meeting.filter(|meeting| meeting < having) {
                    Some(0) => ", but none meets the clause with it".to_owned(),
                    Some(1) => ", and 1 of them meets the clause with it".to_owned(),
                    Some(fewer) => format!(", and {} of them meet the clause with it", with_commas(fewer)),
                    None => String::new(),
                };
                format!("{missing} (did you mean {known}? {}{fewer})", self.having(*having))
            }
            several => {
                let several = several.iter().map(|(name, having)| {
                    format!("{name}, which {} {}", with_commas(*having), if *having == 1 { "has" } else { "have" })
                });
                format!("{missing} (did you mean {}?)", several.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// Says that the offers have other values than a clause asks for, and which ones.
    fn other_values(&self, clause: &ClauseReport, shown: &str) -> String {
        if clause.analysis.comparison.as_ref().is_some_and(asks_for_dynamic_slots) {
            let slot = self.nouns[0];
            return format!(
                "{shown} asks for parts of {slot}s that other jobs have; a job gets a part of its own without it"
            );
        }
        // What is like a macro says nothing of what it stands for.
        let offered = clause.offered.as_ref().filter(|offered| offered.value_count > 0 && !clause.has_macro());
        let values = offered.map(|offered| format!("; {}", offered_phrase(offered, self.most_told())));
        let values = values.unwrap_or_default();
        (self.unlisted(clause).map(|unlisted| unlisted + &values))
            .or_else(|| self.closest_value(clause))
            .or_else(|| self.unequal(clause).map(|unequal| unequal + &values))
            .unwrap_or_else(|| self.outcomes(clause, shown) + &values)
    }

    /// Says that no offer has an item in a list, or that no offer is in a list. `None` for a clause of another kind.
    fn unlisted(&self, clause: &ClauseReport) -> Option<String> {
        let (of, one) = (clause.offered.as_ref().filter(|of| of.value_count > 0)?, self.nouns[0]);
        if let Some(item) = wanted_item(&clause.analysis.residue) {
            return Some(format!("no {one} has \"{item}\" in {}", of.name));
        }
        let items = wanted_items(&clause.analysis.residue)?;
        let items: Vec<String> = items.iter().map(|item| format!("\"{item}\"")).collect();
        Some(format!("no {one} has {} {}", of.name, self.shorten(&join_with(&items, "or"))))
    }

    /// Says that no offer meets a comparison, and which value comes closest. `None` if none does.
    fn closest_value(&self, clause: &ClauseReport) -> Option<String> {
        let comparison = clause.analysis.comparison.as_ref()?;
        let (range, asleep) =
            clause.offered.as_ref().map_or((None, None), |of| (of.range.as_ref(), of.offline.as_ref()));
        let offered = clause.offered.as_ref().filter(|offered| offered.value_count > 0);
        let are_strings = offered.is_some_and(|offered| offered.are_strings);
        let is_told = |closest: &&Value| !are_strings || similar_string(&[(closest, 1)], &comparison.bound).is_some();
        // What hibernates is told apart.
        let closest_bound = |range: &OfferedRange| range.bounds[usize::from(!comparison.asks_for_less())].clone();
        let of_awake = range.zip(asleep).map(|(range, _)| closest_bound(range));
        let of_asleep = asleep.map(|asleep| (closest_bound(asleep), asleep.offers));
        let closest = of_awake.as_ref().or(clause.closest_value.as_ref()).filter(is_told)?;
        let attribute = comparison.attribute();
        let operand = attribute.map_or_else(|| operand_text(&comparison.operand, self.dialect), Name::to_string);
        let unmet = self.unmet_comparison(&operand, comparison, closest);
        let drained = clause.closest_if_drained.as_ref();
        let drained = drained.map(|drained| format!(" ({drained} if drained)")).unwrap_or_default();
        let is_closer = |number: &Value| {
            let [asleep, awake] = [Some(number), of_awake.as_ref()].map(|value| value.and_then(as_number));
            if comparison.asks_for_less() { asleep < awake } else { asleep > awake }
        };
        let asleep = of_asleep.filter(|(number, _)| of_awake.is_some() && is_closer(number));
        let asleep = asleep.map(|(number, offers)| {
            format!(" ({number} in {} offline {})", with_commas(offers), self.nouns[usize::from(offers != 1)])
        });
        let behind = clause.own_expression.as_ref().map(|behind| format!(" ({})", behind.phrase));
        Some(unmet + &drained + &asleep.unwrap_or_default() + &behind.unwrap_or_default())
    }

    /// Says that no offer has the value with which a clause compares an attribute for equality. `None` for another clause.
    fn unequal(&self, clause: &ClauseReport) -> Option<String> {
        let comparison = clause.analysis.comparison.as_ref()?;
        let is_equality = matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is);
        let attribute = comparison.attribute().filter(|_| clause.counts.is_false > 0 && is_equality)?;
        let holder = self.held_by(comparison.bound_holder.as_ref().map(|(name, _)| name));
        let wanted = format!("{attribute} {} {}", comparison.operator.symbol_in(self.dialect), comparison.bound);
        Some(format!("no {} has {}{}{holder}", self.nouns[0], self.shorten(&wanted), oddity(&comparison.bound)))
    }

    /// Says what a clause is for the offers: `false for all 6 slots`.
    fn outcomes(&self, clause: &ClauseReport, shown: &str) -> String {
        let counts = &clause.counts;
        let outcomes = [(counts.is_false, "false"), (counts.undefined, "undefined"), (counts.error, "an error")];
        let found: Vec<&(usize, &str)> = outcomes.iter().filter(|(count, _)| *count > 0).collect();
        if let [(count, word)] = found.as_slice() {
            let all =
                if *count == 1 { format!("the only {}", self.nouns[0]) } else { format!("all {}", self.count(*count)) };
            return format!("{shown} is {word} for {all}");
        }
        let found = found.iter().map(|(count, word)| format!("{word} for {}", with_commas(*count)));
        format!("{shown} is never true: {}", join_and(&found.collect::<Vec<_>>()))
    }
}

/// Says how a slot counts the days or the minutes that a clause reads. Empty if it reads none, and if it is `Cron` that waits.
fn clock_hint(clause: &ClauseReport) -> &'static str {
    let reads = |known: &str| clause.analysis.offer_attributes.iter().any(|name| name.is(known));
    match (reads("ClockDay"), reads("ClockMin")) {
        (true, true) => "; ClockDay is 0 on Sunday, and ClockMin counts minutes from midnight",
        (true, false) => "; ClockDay is 0 on Sunday and 6 on Saturday",
        (false, true) => "; ClockMin counts minutes from midnight",
        (false, false) => "",
    }
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}
