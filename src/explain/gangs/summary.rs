//! Renders the verdict on a gang as one sentence.

use crate::explain::clauses::operand_text;
use crate::explain::summary::SummaryWriter;
use crate::matching::gang::{BlockedPort, FailedCondition, Gang, GangFailure, UnservedPort};
use crate::text::{counted, join_and, shorten, with_commas};

use super::{EmptyPort, EmptyPortCause, GangReport, GangVerdict};

impl SummaryWriter<'_> {
    /// Returns the verdict on a gang as one sentence without a full stop.
    #[must_use]
    pub fn gang_summary(&self, report: &GangReport) -> String {
        let subject = self.subject;
        let (gets, a) = (self.verb("gets", "get"), self.verb("a gang", "a gang each"));
        match (&report.verdict, &report.gang, &report.failure) {
            (GangVerdict::Matches, Some(gang), _) => {
                // Several requests with the same report cannot all have the same offers.
                let gets = self.verb("gets a gang", "would each get a gang if served first");
                format!("{subject} {gets}: {}", self.list_docked(gang))
            }
            (GangVerdict::Taken(by), Some(gang), _) => {
                let (gang, takers) = (self.list_docked(gang), self.list_requests(by));
                format!("{subject} could have {a} ({gang}), but offers of this gang go to {takers}")
            }
            (GangVerdict::Limited(limit), Some(gang), _) => {
                let (gang, waits) = (self.list_docked(gang), self.verb("waits", "wait"));
                format!("{subject} could have {a} ({gang}), but {waits} for {limit}")
            }
            (GangVerdict::NoOffers, ..) => format!("{subject} {gets} no gang: there are no offers"),
            (GangVerdict::EmptyPort(empty), _, Some(failure)) => {
                format!("{subject} {gets} no gang: {}", self.empty_port(empty, failure, report.offers))
            }
            (GangVerdict::Incompatible(empty), _, Some(failure)) => {
                format!("{subject} {gets} no gang: {}", self.incompatible_ports(empty, failure))
            }
            _ => format!("{subject} {gets} no gang"),
        }
    }

    /// Lists the offers of a gang with their ports: `host-1 at cpu, lic-1 at license`.
    #[must_use]
    pub fn list_docked(&self, gang: &Gang) -> String {
        if gang.ports.is_empty() {
            return "it needs no offer".to_owned();
        }
        let docked: Vec<String> =
            gang.ports.iter().map(|docked| format!("{} at {}", self.docked_name(docked), docked.label)).collect();
        docked.join(", ")
    }

    /// Returns the text of a condition, and who sets it unless it is the port. If the port or the offer has no constraint,
    /// returns a phrase that says so.
    #[must_use]
    pub fn condition_text(&self, condition: &FailedCondition) -> String {
        match (condition.text.as_str(), condition.is_of_port) {
            ("", true) => "the port has no constraint, so it accepts no offer".to_owned(),
            ("", false) => "no constraint, so no request is accepted".to_owned(),
            (text, true) => self.shorten(text),
            (text, false) if condition.offers.len() > 1 => format!("they require {}", self.shorten(text)),
            (text, false) => format!("it requires {}", self.shorten(text)),
        }
    }

    /// Says that the port or the offers of a condition without text have no constraint.
    fn no_constraint_phrase(condition: &FailedCondition) -> String {
        match condition.offers.len() {
            _ if condition.is_of_port => "the port has no constraint, so it accepts no offer".to_owned(),
            1 => "1 offer has no constraint, so it accepts no request".to_owned(),
            offers => format!("{} offers have no constraint, so they accept no request", with_commas(offers)),
        }
    }

    /// Lists the values that a condition reads in the request and in offers, such as
    /// `, where Site.HostName = Cpu.Name is "host-4"`. Of the offers that fail the condition, only the first is shown.
    #[must_use]
    pub fn read_values(&self, condition: &FailedCondition) -> String {
        let all = || condition.request_attributes.iter().chain(&condition.offer_attributes);
        // Skip a literal attribute, such as `Cpu.Name`, if another attribute is just a reference to it, such as
        // `Site.HostName = Cpu.Name`. Both attributes have the same value.
        let is_told = |name: &str| all().any(|read| read.text == name);
        let reads = all().filter(|read| read.text != read.value || !is_told(&read.name)).map(|read| {
            let value = shorten(&read.value, self.max_clause_chars);
            let is = if read.text == read.value { String::new() } else { format!(" = {}", self.shorten(&read.text)) };
            format!("{}{is} is {value}", read.name)
        });
        let reads: Vec<String> = reads.collect();
        if reads.is_empty() {
            return String::new();
        }
        // The values are those of one offer of several.
        let of = match condition.offers.as_slice() {
            [first, _, ..] if !condition.offer_attributes.is_empty() => format!(" for {}", self.offer_name(*first)),
            _ => String::new(),
        };
        format!(", where {}{of}", join_and(&reads))
    }

    fn empty_port(&self, empty: &EmptyPort, failure: &GangFailure, offers: usize) -> String {
        let port = &failure.ports[empty.port];
        let cause = match &empty.cause {
            EmptyPortCause::NoConstraint => "the port has no constraint, so it accepts no offer".to_owned(),
            EmptyPortCause::Missing { name, near, .. } => {
                let near = near.iter().map(|(name, having)| format!("{name}? {}", self.failures().having(*having)));
                let near: Vec<String> = near.collect();
                let near = if near.is_empty() { String::new() } else { format!(" (did you mean {})", near.join("; ")) };
                format!("no offer has {name}{near}")
            }
            EmptyPortCause::Unmet { closest: Some(closest), .. } => {
                let (comparison, value) = &**closest;
                self.failures().unmet_comparison(&operand_text(&comparison.operand, self.dialect), comparison, value)
            }
            EmptyPortCause::Unmet { text, .. } => {
                let mut conditions = port.ruled_out.iter();
                let condition = conditions.find(|condition| condition.is_of_port && condition.text == *text);
                // Omit the values of the offers. The condition fails in all offers, but only the values of the first
                // are known.
                let reads = condition.map(|condition| {
                    self.read_values(&FailedCondition { offer_attributes: Vec::new(), ..condition.clone() })
                });
                let (shown, offers) = (self.quoted(text), self.count(offers));
                format!("{shown} is true for none of {offers}{}", reads.unwrap_or_default())
            }
            EmptyPortCause::Refused { suitable } => {
                format!("{}{}", self.refusal_prefix(*suitable, ""), self.refusing_condition(&port.ruled_out))
            }
            _ => self.ruled_out(&port.ruled_out),
        };
        let cause = match port.used_up {
            0 => cause,
            1 => "the only offer that fits is given to another request".to_owned(),
            used => format!("all {} offers that fit are given to other requests", with_commas(used)),
        };
        format!("{} stays empty: {cause}", port.label)
    }

    fn incompatible_ports(&self, empty: &EmptyPort, failure: &GangFailure) -> String {
        let port = &failure.ports[empty.port];
        let label = &port.label;
        let Some(blocked) = failure.blocked.iter().find(|blocked| blocked.port == empty.port) else {
            return format!("{label} stays empty");
        };
        let beside = if failure.deepest.ports.is_empty() {
            String::new()
        } else {
            format!(" beside {}", self.list_docked(&failure.deepest))
        };
        match (&empty.cause, blocked.unserved.first()) {
            (EmptyPortCause::GroupUnfillable, _) => {
                let ports = failure.blocked.iter().map(|blocked| failure.ports[blocked.port].label.as_str());
                let ports: Vec<&str> = ports.collect();
                format!("too few of the ports {} can be filled together{beside}", join_and(&ports))
            }
            (EmptyPortCause::OwnPortsUnfilled, Some(first)) => self.unserved(label, blocked, *first),
            (EmptyPortCause::AllDocked, _) => self.all_docked(label, blocked, failure),
            (EmptyPortCause::Discarded, _) => {
                let discarded = counted(blocked.unacceptable, "candidate");
                format!("the policy discards the {discarded} for {label}{beside}")
            }
            _ => {
                let reasons = self.ruled_out(&blocked.conditions);
                let other = blocked.conditions.first().and_then(|condition| match condition.labels.as_slice() {
                    [only] => failure.ports.iter().find(|other| other.label == *only && other.consistent == 0),
                    _ => None,
                });
                match (other, port.independent) {
                    (Some(other), _) if port.consistent == 0 => {
                        format!("no candidate for {} fits a candidate for {label}: {reasons}", other.label)
                    }
                    (_, 1) => format!("the only candidate for {label} does not fit{beside}: {reasons}"),
                    (_, many) => {
                        format!("none of {} candidates for {label} fits{beside}: {reasons}", with_commas(many))
                    }
                }
            }
        }
    }

    /// Says which ports compete for the offers that fit the port `label` but are docked at other ports.
    fn all_docked(&self, label: &str, blocked: &BlockedPort, failure: &GangFailure) -> String {
        let members = failure.deepest.members();
        let holding = members.iter().filter(|docked| blocked.held.contains(&docked.offer));
        let wanting: Vec<&str> = holding.map(|docked| docked.label.as_str()).chain([label]).collect();
        match blocked.held.as_slice() {
            [only] => {
                let all = if wanting.len() > 2 { "all" } else { "both" };
                format!("{} {all} need {}, and no other offer fits", join_and(&wanting), self.offer_name(*only))
            }
            held => format!("{} compete for only {}", join_and(&wanting), counted(held.len(), "candidate")),
        }
    }

    /// Says that offers would dock at the port `label`, but cannot fill their own ports. Only the first of these offers
    /// is named.
    fn unserved(&self, label: &str, blocked: &BlockedPort, first: usize) -> String {
        let name = self.offer_name(first);
        let missing: Vec<&UnservedPort> = blocked.unserved_ports.iter().filter(|port| port.candidates == 0).collect();
        let what = match blocked.unserved.len() {
            1 => format!("{name} fits {label}, but cannot fill its own"),
            many => format!("{} offers fit {label}, but cannot fill their own", with_commas(many)),
        };
        match missing.as_slice() {
            [] => format!("{what} ports together"),
            [only] if only.ruled_out.is_empty() => format!("{what} port {}, which has no candidate left", only.label),
            [only] => format!("{what} port {}: {}", only.label, self.ruled_out(&only.ruled_out)),
            several => {
                let labels: Vec<&str> = several.iter().map(|port| port.label.as_str()).collect();
                format!("{what} ports {}, which have no candidates left", join_and(&labels))
            }
        }
    }

    /// Says which clause of the offers' own constraints makes suitable offers refuse the request.
    fn refusing_condition(&self, conditions: &[FailedCondition]) -> String {
        let mut refusing = conditions.iter().filter(|condition| !condition.is_of_port);
        let Some(first) = refusing.next() else { return String::new() };
        let second = refusing.next();
        if first.text.is_empty() {
            return match first.offers.len() {
                1 if second.is_none() => "it has no constraint, so it accepts no request".to_owned(),
                _ => Self::no_constraint_phrase(first),
            };
        }
        let in_some = second.map(|_| format!(" for {} of them", with_commas(first.offers.len()))).unwrap_or_default();
        let others = second.map_or("", |_| "; the others refuse by other clauses");
        format!("{} is not true{in_some}{}{others}", self.quoted(&first.text), self.read_values(first))
    }

    /// Says how many offers each condition rules out.
    fn ruled_out(&self, conditions: &[FailedCondition]) -> String {
        match conditions {
            [] => "all are given to other requests".to_owned(),
            [only] if only.text.is_empty() => Self::no_constraint_phrase(only),
            [only] => format!("{} is not true{}", self.quoted(&only.text), self.read_values(only)),
            several => {
                let shown = several.iter().take(2).map(|condition| match condition.text.as_str() {
                    "" => Self::no_constraint_phrase(condition),
                    text => format!("{} rules out {}", self.quoted(text), with_commas(condition.offers.len())),
                });
                let mut shown: Vec<String> = shown.collect();
                let rest: usize = several.iter().skip(2).map(|condition| condition.offers.len()).sum();
                if rest > 0 {
                    shown.push(format!("other conditions {}", with_commas(rest)));
                }
                join_and(&shown)
            }
        }
    }
}
