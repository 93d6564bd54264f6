//! Renders a verdict as one sentence.

use crate::ad::{BinaryOperator, Dialect, Name, Value, nearest};
use crate::constraint::Clash;

use super::clauses::text;
use super::distance::number;
use super::failure_reason::{Fault, phrase};
use super::findings::value_text;
use super::report::{ClauseReport, Report, Verdict};

/// Settings for the sentences: nouns, dialect and maximum length of a clause.
pub struct Wording<'w> {
    /// The explained request, as the subject of a sentence.
    pub subject: &'w str,
    /// Whether the subject is plural.
    pub is_plural: bool,
    /// The noun for the candidates, singular and plural.
    pub ads: [&'w str; 2],
    /// Returns the name of another request, by index.
    pub names: &'w dyn Fn(usize) -> String,
    /// The dialect in which clauses are printed.
    pub dialect: Dialect,
    /// Maximum length of a clause in characters; the rest is cut off.
    pub longest: usize,
}

/// Maximum number of ads named in a sentence.
pub const MOST_NAMED: usize = 3;

impl Wording<'_> {
    /// Returns the verdict as one sentence without a full stop.
    #[must_use]
    pub fn summary(&self, report: &Report) -> String {
        let Wording { subject, is_plural, .. } = self;
        let verb = |one: &str, several: &str| if *is_plural { several.to_owned() } else { one.to_owned() };
        let matches = verb("matches", "match");
        match &report.verdict {
            Verdict::Ports => {
                let has = verb("has", "have");
                return format!(
                    "{subject} {has} Ports: gangs are explained from the side of those that ask for them, without --reverse"
                );
            }
            Verdict::Matches => {
                let more = match report.discarded {
                    0 => String::new(),
                    discarded => format!("; the docking vector discards {} more", thousands(discarded)),
                };
                return format!(
                    "{subject} {matches} {} of {}{more}",
                    thousands(report.matches),
                    self.count(report.offers)
                );
            }
            Verdict::NotServed => {
                let is = verb("is", "are");
                return format!(
                    "{subject} {is} not served: `roots` of the policy is not true of {}",
                    verb("it", "them")
                );
            }
            Verdict::Taken(by) => {
                let could =
                    format!("{subject} {matches} {} of {}", thousands(report.matches), self.count(report.offers));
                let taken = if report.matches == 1 { "which is taken by" } else { "all of which are taken, by" };
                return format!("{could}, {taken} {}", named(by, self.names));
            }
            _ => {}
        }
        if report.verdict == Verdict::NoOffers {
            return format!("{subject} {matches} nothing: there are no {}", self.ads[1]);
        }
        format!("{subject} {matches} none of {}: {}", self.count(report.offers), self.cause(report))
    }

    /// Formats a number of ads: `5,979 offers`.
    fn count(&self, ads: usize) -> String {
        format!("{} {}", thousands(ads), self.ads[usize::from(ads != 1)])
    }

    /// Quotes and shortens the text of a clause.
    fn quoted(&self, text: &str) -> String {
        format!("`{}`", shortened(text, self.longest))
    }

    fn clause(&self, report: &Report, place: usize) -> String {
        self.quoted(&report.clauses[place].text)
    }

    fn cause(&self, report: &Report) -> String {
        match &report.verdict {
            Verdict::NoConstraint => "without a constraint nothing is accepted".to_owned(),
            Verdict::Contradiction { clauses, subject, clash } => {
                let shown: Vec<String> = clauses.iter().map(|place| self.clause(report, *place)).collect();
                let subject = self.quoted(&text(subject, self.dialect));
                match (shown.as_slice(), clash) {
                    ([only], _) => format!("{only} contradicts itself, whatever {subject} is"),
                    (_, Clash::Value) => format!("{} can never be true together", listed(&shown)),
                    (_, Clash::Type) => format!("{} want {subject} to be of different types", listed(&shown)),
                    (_, Clash::Presence) => {
                        format!("{} can never be true together: one wants {subject} to be undefined", listed(&shown))
                    }
                }
            }
            Verdict::Unmet { clause, fault, near } => {
                let others = report.clauses.iter().filter(|other| other.fault.is_some()).count() - 1;
                let more = match others {
                    0 => String::new(),
                    1 => "; one more clause is true of none".to_owned(),
                    others => format!("; {others} more clauses are true of none"),
                };
                format!("{}{more}", self.fault(&report.clauses[*clause], fault, near))
            }
            Verdict::Conflict(clauses) => {
                let shown: Vec<String> = clauses.iter().map(|place| self.clause(report, *place)).collect();
                format!("none meets {} together, though each alone is met", listed(&shown))
            }
            Verdict::Refused => self.refused(report),
            Verdict::Discarded { component, text, missing } => {
                let (would, them) = match report.discarded {
                    1 => (format!("1 {} would do", self.ads[0]), "it"),
                    many => (format!("{} would do", self.count(many)), "them all"),
                };
                let component = format!("component {} of it, {}", component + 1, self.quoted(text));
                let missing = missing.as_ref().map(|(name, near)| format!(": {}", self.missing(name, near)));
                let missing = missing.unwrap_or_default();
                let has = format!("{component}, has no value that can be compared{missing}");
                format!("{would}, but the docking vector discards {them}: {has}")
            }
            Verdict::Matches | Verdict::Taken(_) | Verdict::Ports | Verdict::NoOffers | Verdict::NotServed => {
                String::new()
            }
        }
    }

    fn refused(&self, report: &Report) -> String {
        let suitable = report.refusals.iter().filter(|refusal| refusal.suitable > 0).collect::<Vec<_>>();
        let (would, refuse) = match report.suitable {
            1 => (format!("1 {} would do", self.ads[0]), "but it refuses: "),
            many => (format!("{} would do", self.count(many)), "but each of them refuses: "),
        };
        let reason = match suitable.first().map(|refusal| (refusal, &refusal.clause)) {
            Some((_, None)) if report.suitable == 1 => "it has no constraint, and accepts nothing".to_owned(),
            Some((refusal, None)) => format!("{} have no constraint, and accept nothing", thousands(refusal.suitable)),
            Some((refusal, Some(clause))) => {
                let lacking = lacks(self.subject, self.is_plural, &refusal.lacking);
                let is = format!("{} is {}{lacking}", self.quoted(clause), refusal.outcome.phrase());
                let in_some = format!(" in {}", thousands(refusal.suitable));
                if suitable.len() == 1 { is } else { is + &in_some }
            }
            None => String::new(),
        };
        format!("{would}, {refuse}{reason}")
    }

    fn fault(&self, clause: &ClauseReport, fault: &Fault, near: &[(Name, usize)]) -> String {
        let one = self.ads[0];
        let shown = self.quoted(&clause.text);
        match fault {
            Fault::Function(name, near) => {
                let near: Vec<String> = near.iter().map(|name| format!("{name}()")).collect();
                format!("there is no function {name}(){}", did_you_mean(&near))
            }
            Fault::Lacking(name, near) => {
                let near: Vec<String> = near.iter().map(Name::to_string).collect();
                format!("it has no {name} itself, which {shown} reads{}", did_you_mean(&near))
            }
            Fault::Precedence(reading) => {
                // Allow a longer text: it must show the parentheses.
                format!("{shown} is read as `{}`", shortened(reading, self.longest.saturating_mul(3)))
            }
            Fault::Shadowed(name) => {
                format!("{shown} reads its own {name}, not that of an {one}, and so is never true")
            }
            Fault::ByItself => match clause.left.as_deref() {
                Some(value @ ("false" | "undefined")) => format!("{shown} is {value}, whatever an {one} has"),
                Some("error") => format!("{shown} is an error, whatever an {one} has"),
                _ => format!("{shown} can never be true, whatever an {one} has"),
            },
            Fault::Missing(name) => self.missing(name, near),
            Fault::Types { theirs, bound, offers } => {
                let what = clause.examined.asked.as_ref().map(|asked| text(&asked.what, self.dialect));
                let (what, offers) = (self.quoted(&what.unwrap_or_default()), self.count(*offers));
                let (theirs, bound) = (phrase(*theirs), phrase(*bound));
                format!("{shown} compares {bound} with {theirs}: {what} is {theirs} in {offers}")
            }
            Fault::Case { theirs, offers } => {
                let symbol = if self.dialect.is_condor() { "=?=" } else { "is" };
                let have = if *offers == 1 { "has" } else { "have" };
                format!(
                    "{shown} is never true: {symbol} minds upper and lower case, and {} {have} \"{}\"",
                    self.count(*offers),
                    theirs.to_str()
                )
            }
            Fault::Value => self.margin(clause, &shown),
        }
    }

    /// Says that no offer has an attribute, and suggests similar names.
    fn missing(&self, name: &Name, near: &[(Name, usize)]) -> String {
        let one = self.ads[0];
        match near {
            [] => format!("no {one} defines {name}"),
            [(known, having)] => {
                let have = if *having == 1 { "has" } else { "have" };
                format!("no {one} defines {name} (did you mean {known}? {} {have} it)", self.count(*having))
            }
            several => {
                let several: Vec<String> =
                    several.iter().map(|(name, having)| format!("{name}, which {} have", thousands(*having))).collect();
                format!("no {one} defines {name} (did you mean {}?)", several.join("; "))
            }
        }
    }

    fn margin(&self, clause: &ClauseReport, shown: &str) -> String {
        let one = self.ads[0];
        if let (Some(asked), Some(best)) = (&clause.examined.asked, &clause.best) {
            let what = text(&asked.what, self.dialect);
            let what = asked.attribute.as_ref().map_or(what, Name::to_string);
            let symbol =
                if self.dialect.is_condor() { asked.operator.condor_symbol() } else { asked.operator.symbol() };
            let wanted = format!("{what} {symbol} {}", value_text(&asked.bound));
            let from = asked.own.as_ref().map(|own| format!(" ({own})")).unwrap_or_default();
            let nearest = superlative(asked.operator, best, &asked.bound);
            return format!("no {one} has {}{from}; {nearest}", shortened(&wanted, self.longest));
        }
        if let Some(asked) = clause.examined.asked.as_ref().filter(|_| clause.counts.is_false > 0)
            && asked.attribute.is_some()
            && matches!(asked.operator, BinaryOperator::Equal | BinaryOperator::Is)
        {
            return format!("{shown} is true of no {one}");
        }
        let counts = &clause.counts;
        let mut found = Vec::new();
        for (count, word) in [(counts.is_false, "false"), (counts.undefined, "undefined"), (counts.error, "an error")] {
            if count > 0 {
                found.push(format!("{word} in {}", thousands(count)));
            }
        }
        format!("{shown} is true of none: it is {}", listed(&found))
    }
}

/// Returns ` (1.0 has no RequestDisk)` for the first name in `lacking`; empty if there is none.
#[must_use]
pub fn lacks(subject: &str, is_plural: bool, lacking: &[Name]) -> String {
    let has = if is_plural { "have" } else { "has" };
    lacking.first().map(|name| format!(" ({subject} {has} no {name})")).unwrap_or_default()
}

/// Says which value comes closest to meeting a comparison, in words that fit the operator.
pub fn superlative(operator: BinaryOperator, best: &Value, bound: &Value) -> String {
    let text = value_text(best);
    match operator {
        BinaryOperator::Greater | BinaryOperator::GreaterEqual => format!("the largest is {text}"),
        BinaryOperator::Less | BinaryOperator::LessEqual => format!("the smallest is {text}"),
        _ if number(best).is_some() || is_alike(best, bound) => format!("the nearest is {text}"),
        _ => format!("most have {text}"),
    }
}

/// Whether both are strings with similar spelling.
fn is_alike(value: &Value, bound: &Value) -> bool {
    match (value, bound) {
        (Value::String(value), Value::String(bound)) => !nearest(&bound.to_str(), [&*value.to_str()]).is_empty(),
        _ => false,
    }
}

/// Formats a number with commas between thousands.
#[must_use]
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Lists the names of the first ads and counts the rest: `a, b, c and 5 more`.
pub fn named(ads: &[usize], name: &dyn Fn(usize) -> String) -> String {
    let mut shown: Vec<String> = ads.iter().take(MOST_NAMED).map(|ad| name(*ad)).collect();
    if ads.len() > MOST_NAMED {
        shown.push(format!("{} more", thousands(ads.len() - MOST_NAMED)));
    }
    listed(&shown)
}

/// Joins items in the manner of a sentence: `a, b and c`.
#[must_use]
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Cuts a text to at most `most` characters; a cut text ends with three dots.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::{listed, shortened, thousands};

    #[test]
    fn how_things_are_written() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(thousands), ["0", "12", "999", "1,000", "1,234,567"]);
        let items = |items: &[&str]| listed(&items.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            [items(&[]), items(&["a"]), items(&["a", "b"]), items(&["a", "b", "c"])],
            ["", "a", "a and b", "a, b and c"]
        );
        assert_eq!([shortened("abcdef", 6), shortened("abcdefg", 6)], ["abcdef", "abc..."]);
    }
}
