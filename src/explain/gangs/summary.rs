//! Renders the verdict on a gang as one sentence.

use crate::ad::{Dialect, Name};
use crate::explain::clauses::text;
use crate::explain::findings::value_text;
use crate::explain::summary::{MOST_NAMED, listed, named, shortened, superlative, thousands};
use crate::matching::gang::{Bound, Condition, Docked, Gang, Impasse, Stuck};

use super::{Cause, GangReport, GangVerdict, Obstacle};

/// Settings for sentences about gangs: names, dialect and maximum length of a condition.
pub struct GangWording<'w> {
    /// The explained request, as the subject of a sentence.
    pub subject: &'w str,
    /// Whether the subject is plural.
    pub is_plural: bool,
    /// Returns the name of a docked offer.
    pub offer: &'w dyn Fn(&Docked) -> String,
    /// Returns the name of an offer, by index.
    pub name: &'w dyn Fn(usize) -> String,
    /// Returns the name of another request, by index.
    pub requests: &'w dyn Fn(usize) -> String,
    /// The dialect in which conditions are printed.
    pub dialect: Dialect,
    /// Maximum length of a condition in characters; the rest is cut off.
    pub longest: usize,
}

impl GangWording<'_> {
    /// Returns the verdict as one sentence without a full stop.
    #[must_use]
    pub fn summary(&self, report: &GangReport) -> String {
        let verb = |one: &'static str, several: &'static str| if self.is_plural { several } else { one };
        let subject = self.subject;
        let (gets, a) = (verb("gets", "get"), verb("a gang", "a gang each"));
        match (&report.verdict, &report.gang, &report.impasse) {
            (GangVerdict::Matches, Some(gang), _) => format!("{subject} {gets} {a}: {}", self.docked(gang)),
            (GangVerdict::Taken(by), Some(gang), _) => {
                let (gang, takers) = (self.docked(gang), named(by, self.requests));
                format!("{subject} could have {a} ({gang}), but offers of it are taken by {takers}")
            }
            (GangVerdict::NoOffers, ..) => format!("{subject} {gets} no gang: there are no offers"),
            (GangVerdict::Empty(obstacle), _, Some(impasse)) => {
                format!("{subject} {gets} no gang: {}", self.empty(obstacle, impasse, report.offers))
            }
            (GangVerdict::Apart(obstacle), _, Some(impasse)) => {
                format!("{subject} {gets} no gang: {}", self.apart(obstacle, impasse))
            }
            _ => format!("{subject} {gets} no gang"),
        }
    }

    /// Lists the offers of a gang with their ports: `host-1 at cpu, lic-1 at license`.
    #[must_use]
    pub fn docked(&self, gang: &Gang) -> String {
        if gang.ports.is_empty() {
            return "it needs nobody".to_owned();
        }
        let docked: Vec<String> =
            gang.ports.iter().map(|docked| format!("{} at {}", (self.offer)(docked), docked.label)).collect();
        docked.join(", ")
    }

    /// Returns the text of a condition; for a missing constraint, a phrase.
    #[must_use]
    pub fn condition(&self, condition: &Condition) -> String {
        if condition.text.is_empty() {
            return if condition.of_request {
                "the port has no constraint, and accepts nobody".to_owned()
            } else {
                "no constraint of their own, so that they accept nobody".to_owned()
            };
        }
        self.shorter(&condition.text)
    }

    /// Returns a condition for use in a sentence: quoted, or a phrase for a missing constraint.
    fn told(&self, condition: &Condition) -> String {
        if condition.text.is_empty() { self.condition(condition) } else { self.quoted(&condition.text) }
    }

    /// Lists the values that a condition reads, of the request and of the first offer:
    /// `, where Site.HostName = Cpu.Name is "host-4"`.
    #[must_use]
    pub fn reads(&self, condition: &Condition) -> String {
        let all = || condition.reads.iter().chain(&condition.theirs);
        // Skip a value that is only passed on under another name.
        let is_told = |name: &str| all().any(|read| read.text == name);
        let reads = all().filter(|read| read.text != read.value || !is_told(&read.name)).map(|read| {
            let value = shortened(&read.value, self.longest);
            let is = if read.text == read.value { String::new() } else { format!(" = {}", self.shorter(&read.text)) };
            format!("{}{is} is {value}", read.name)
        });
        let reads: Vec<String> = reads.collect();
        if reads.is_empty() { String::new() } else { format!(", where {}", listed(&reads)) }
    }

    fn shorter(&self, text: &str) -> String {
        shortened(text, self.longest)
    }

    fn quoted(&self, text: &str) -> String {
        format!("`{}`", self.shorter(text))
    }

    fn empty(&self, obstacle: &Obstacle, impasse: &Impasse, offers: usize) -> String {
        let port = &impasse.ports[obstacle.port];
        let label = &port.label;
        let nobody = format!("nobody docks at {label}");
        let cause = match &obstacle.cause {
            Cause::NoConstraint => format!("{nobody}: the port has no constraint, and accepts none"),
            Cause::Missing { .. } | Cause::Unmet { .. } => {
                format!("{nobody}: {}", self.part(&obstacle.cause, &port.ruled_out, offers))
            }
            Cause::Refused { suitable } => {
                let (would, refuse) = match suitable {
                    1 => ("1 offer would do".to_owned(), "it refuses"),
                    many => (format!("{} offers would do", thousands(*many)), "each of them refuses"),
                };
                format!("{nobody}: {would}, but {refuse}: {}", self.refusing(&port.ruled_out))
            }
            _ => format!("{nobody}: {}", self.together(&port.ruled_out)),
        };
        match port.used {
            0 => cause,
            1 => format!("{cause}; 1 more would do, but is used up"),
            used => format!("{cause}; {} more would do, but are used up", thousands(used)),
        }
    }

    fn apart(&self, obstacle: &Obstacle, impasse: &Impasse) -> String {
        let port = &impasse.ports[obstacle.port];
        let label = &port.label;
        let stuck = impasse.stuck.iter().find(|stuck| stuck.port == obstacle.port);
        let Some(stuck) = stuck else { return format!("{label} stays empty") };
        if let Cause::Group = obstacle.cause {
            let ports: Vec<String> =
                impasse.stuck.iter().map(|stuck| impasse.ports[stuck.port].label.clone()).collect();
            return format!("too few of {} can be filled together{}", listed(&ports), self.beside(impasse));
        }
        if let (Cause::Unserved, Some(first)) = (&obstacle.cause, stuck.unserved.first()) {
            return self.unserved(label, stuck, *first);
        }
        let all = match port.alone {
            1 => format!("the only candidate of {label}"),
            many => format!("of {} candidates of {label}", thousands(many)),
        };
        if let Cause::Held = obstacle.cause {
            let members = impasse.deepest.members();
            let holding = members.iter().filter(|docked| stuck.held.contains(&docked.offer));
            let wants: Vec<String> = holding.map(|docked| docked.label.clone()).chain([label.clone()]).collect();
            let only: Vec<String> = stuck.held.iter().take(MOST_NAMED).map(|offer| (self.name)(*offer)).collect();
            return match stuck.held.as_slice() {
                [_] => {
                    let all = if wants.len() > 2 { "all" } else { "both" };
                    format!("{} {all} want {}, and there is no other", listed(&wants), listed(&only))
                }
                held => format!("{} have only {} between them", listed(&wants), plural(held.len(), "candidate")),
            };
        }
        if let Cause::Discarded = obstacle.cause {
            let discarded = plural(stuck.discarded, "candidate");
            return format!("the docking vector discards the {discarded} of {label}{}", self.beside(impasse));
        }
        let tied = stuck.conditions.first().map(|condition| condition.labels.as_slice());
        let other = tied.and_then(|labels| match labels {
            [only] => impasse.ports.iter().find(|other| other.label == *only),
            _ => None,
        });
        let reasons = self.together(&stuck.conditions);
        match other {
            Some(other) if port.given == 0 && other.given == 0 => {
                let with = plural(other.alone, "candidate");
                format!("none of the {with} of {} goes with one of {label} ({}): {reasons}", other.label, port.alone)
            }
            _ if port.alone == 1 => format!("{all} does not dock{}: {reasons}", self.beside(impasse)),
            _ => format!("{all} none docks{}: {reasons}", self.beside(impasse)),
        }
    }

    /// Lists the offers already docked: ` beside host-4 at Cpu`. Empty if there are none.
    fn beside(&self, impasse: &Impasse) -> String {
        if impasse.deepest.ports.is_empty() {
            String::new()
        } else {
            format!(" beside {}", self.docked(&impasse.deepest))
        }
    }

    fn unserved(&self, label: &str, stuck: &Stuck, first: usize) -> String {
        let name = (self.name)(first);
        let lacking: Vec<String> =
            stuck.needs.iter().filter(|(_, offers)| *offers == 0).map(|(label, _)| label.clone()).collect();
        let what = match stuck.unserved.len() {
            1 => format!("{name} would dock at {label}, but cannot fill its own"),
            many => format!("{} offers would dock at {label}, but cannot fill their own", thousands(many)),
        };
        match lacking.as_slice() {
            [] => format!("{what} ports together"),
            [only] => format!("{what} port {only}, for which there is no candidate"),
            several => format!("{what} ports {}, for which there are no candidates", listed(several)),
        }
    }

    /// Says why no offer meets a part.
    fn part(&self, cause: &Cause, conditions: &[Condition], offers: usize) -> String {
        match cause {
            Cause::Missing { name, near, .. } => {
                let near: Vec<String> = near
                    .iter()
                    .map(|(name, having)| {
                        let have = if *having == 1 { "has" } else { "have" };
                        format!("{name}? {} {have} it", plural(*having, "offer"))
                    })
                    .collect();
                let near = if near.is_empty() { String::new() } else { format!(" (did you mean {})", near.join("; ")) };
                format!("no offer has {name}{near}")
            }
            Cause::Unmet { asked: Some(asked), best: Some(best), .. } => {
                let wanted = self.wanted(asked);
                let best = superlative(asked.operator, best, &asked.value);
                format!("no offer has {}; {best}", self.shorter(&wanted))
            }
            Cause::Unmet { text, .. } => {
                let told = conditions.iter().find(|condition| condition.of_request && condition.text == *text);
                // Omit the values of single offers.
                let reads = told.map(|condition| self.reads(&Condition { theirs: Vec::new(), ..condition.clone() }));
                let (shown, offers) = (self.quoted(text), plural(offers, "offer"));
                format!("{shown} is true of none of {offers}{}", reads.unwrap_or_default())
            }
            _ => self.together(conditions),
        }
    }

    /// Formats a comparison with the source of its bound: `Cpu.Memory >= 65536 (RequestMemory)`.
    fn wanted(&self, asked: &Bound) -> String {
        let symbol = if self.dialect.is_condor() { asked.operator.condor_symbol() } else { asked.operator.symbol() };
        let from = asked.written.as_ref().and_then(|written| written.name.as_ref()).map(Name::as_str);
        let from = from.map(|name| format!(" ({name})")).unwrap_or_default();
        format!("{} {symbol} {}{from}", text(&asked.what, self.dialect), value_text(&asked.value))
    }

    /// Says by which condition suitable offers refuse.
    fn refusing(&self, conditions: &[Condition]) -> String {
        let refusing: Vec<&Condition> = conditions.iter().filter(|condition| !condition.of_request).collect();
        let Some(first) = refusing.first() else { return String::new() };
        let in_some = if refusing.len() > 1 { format!(" in {}", thousands(first.offers.len())) } else { String::new() };
        if first.text.is_empty() {
            return format!("there is no constraint, which accepts nobody{in_some}");
        }
        format!("{} is not true{in_some}{}", self.told(first), self.reads(first))
    }

    /// Says how many offers each condition rules out.
    fn together(&self, conditions: &[Condition]) -> String {
        match conditions {
            [] => "all are taken".to_owned(),
            [only] => format!("{} is not true{}", self.told(only), self.reads(only)),
            several => {
                let shown = several.iter().take(2).map(|condition| {
                    format!("{} rules out {}", self.told(condition), thousands(condition.offers.len()))
                });
                let mut shown: Vec<String> = shown.collect();
                let rest: usize = several.iter().skip(2).map(|condition| condition.offers.len()).sum();
                if rest > 0 {
                    shown.push(format!("other conditions {}", thousands(rest)));
                }
                listed(&shown)
            }
        }
    }
}

/// Formats a number with its noun: `3 offers`.
fn plural(count: usize, what: &str) -> String {
    format!("{} {what}{}", thousands(count), if count == 1 { "" } else { "s" })
}
