//! Renders the verdict on a gang as one sentence.

use crate::ad::{Dialect, Value};
use crate::explain::clauses::operand_text;
use crate::explain::distance::as_number;
use crate::explain::summary::SummaryWriter;
use crate::matching::gang::{
    BlockedPort, FailedCondition, Gang, GangFailure, MemberCause, MemberFailure, PortCandidates, UnmetClause,
};
use crate::text::{counted, join_and, short_number, shorten, with_commas, with_short_numbers};

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
                let (gang, waits) = (self.list_docked(gang), limit.waiting_phrase(self.is_plural));
                format!("{subject} could have {a} ({gang}), but {waits}")
            }
            _ => match self.gang_cause(report) {
                cause if cause.is_empty() => format!("{subject} {gets} no gang"),
                cause => format!("{subject} {gets} no gang: {cause}"),
            },
        }
    }

    /// Says why there is no gang, or who keeps the request from it, without naming the request. Empty if it gets a gang.
    #[must_use]
    pub fn gang_cause(&self, report: &GangReport) -> String {
        match (&report.verdict, &report.failure) {
            (GangVerdict::Taken(_), _) => format!("other requests get {} of its gang", self.nouns[1]),
            (GangVerdict::Limited(limit), _) => limit.to_string(),
            (GangVerdict::Undecided(tests), _) => format!(
                "the search ended at its limit of {} tests, so that there may be one",
                with_commas(usize::try_from(*tests).unwrap_or(usize::MAX))
            ),
            (GangVerdict::NoOffers, _) => "there are no offers".to_owned(),
            (GangVerdict::EmptyPort(empty), Some(failure)) => self.empty_port(empty, failure, report),
            (GangVerdict::Incompatible(empty), Some(failure)) => self.incompatible_ports(empty, failure),
            _ => String::new(),
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

    /// Returns ` beside host-1 at cpu`; empty for a gang without offers.
    #[must_use]
    pub fn beside(&self, gang: &Gang) -> String {
        if gang.ports.is_empty() { String::new() } else { format!(" beside {}", self.list_docked(gang)) }
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

    fn empty_port(&self, empty: &EmptyPort, failure: &GangFailure, report: &GangReport) -> String {
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
                let (shown, offers) = (self.quoted(text), self.count(report.offers));
                format!("{shown} is true for none of {offers}{}", reads.unwrap_or_default())
            }
            EmptyPortCause::Refused { suitable } => {
                format!("{}{}", self.refusals().prefix(*suitable, ""), self.refusing_condition(&port.ruled_out))
            }
            _ => self.ruled_out(&port.ruled_out),
        };
        let taken = match port.used_up {
            1 => "the only offer that fits is given to another request".to_owned(),
            used => format!("all {} offers that fit are given to other requests", with_commas(used)),
        };
        let cause = match port.used_up {
            0 => cause,
            _ if report.is_taken => taken,
            _ => format!("{taken}, and even with {} there is no gang", if port.used_up == 1 { "it" } else { "them" }),
        };
        format!("{} stays empty: {cause}", port.label)
    }

    fn incompatible_ports(&self, empty: &EmptyPort, failure: &GangFailure) -> String {
        let port = &failure.ports[empty.port];
        let label = &port.label;
        let Some(blocked) = failure.blocked.iter().find(|blocked| blocked.port == empty.port) else {
            return format!("{label} stays empty");
        };
        let beside = self.beside(&failure.deepest);
        match &empty.cause {
            EmptyPortCause::GroupUnfillable => {
                let ports = failure.blocked.iter().map(|blocked| failure.ports[blocked.port].label.as_str());
                let ports: Vec<&str> = ports.collect();
                format!("too few of the ports {} can be filled together{beside}", join_and(&ports))
            }
            EmptyPortCause::OwnPorts => format!("{}{beside}", self.own_ports(label, blocked)),
            EmptyPortCause::AllDocked => self.all_docked(label, blocked, failure),
            EmptyPortCause::Discarded => {
                let unranked = counted(blocked.unacceptable, "candidate");
                format!("the policy ranks none of the {unranked} for {label}{beside}{}", unranking_rule(blocked))
            }
            _ => {
                let reasons = self.ruled_out(&blocked.conditions);
                let other = blocked.conditions.first().and_then(|condition| match condition.labels.as_slice() {
                    [only] if port.consistent == 0 => {
                        let incompatible = blocked.incompatible.iter().map(|port| &failure.ports[*port]);
                        incompatible.into_iter().find(|other| other.label == *only && other.consistent == 0)
                    }
                    _ => None,
                });
                match (other, port.independent) {
                    (Some(other), _) => {
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
        let holding: Vec<&str> = holding.map(|docked| docked.label.as_str()).collect();
        let wanting: Vec<&str> = holding.iter().copied().chain([label]).collect();
        let (held, at) = (blocked.held.as_slice(), join_and(&holding));
        match held {
            [] => format!("no candidate for {label} is left"),
            [only] if blocked.is_contested => {
                format!("{} both need {}, and no other offer fits", join_and(&wanting), self.offer_name(*only))
            }
            [only] => format!("the only candidate for {label}, {}, is docked at {at}", self.offer_name(*only)),
            held if blocked.is_contested => {
                format!("{} compete for only {}", join_and(&wanting), counted(held.len(), "candidate"))
            }
            held => format!("all {} for {label} are docked at {at}", counted(held.len(), "candidate")),
        }
    }

    /// Says why offers that fit the port `label` cannot serve it with their own ports. Only the nearest of them is named.
    fn own_ports(&self, label: &str, blocked: &BlockedPort) -> String {
        let all = match blocked.unserved.len() {
            1 => String::new(),
            many => format!("none of {} offers that fit {label} serves it: ", with_commas(many)),
        };
        all + &blocked
            .member
            .as_ref()
            .map_or_else(|| "their own ports were not examined".to_owned(), |member| self.member_failure(label, member))
    }

    /// Says why an offer that fits the port `label` cannot serve it with its own ports.
    fn member_failure(&self, label: &str, member: &MemberFailure) -> String {
        let name = self.offer_name(member.offer);
        match &member.cause {
            MemberCause::Refused { own_ports, clauses, fail_alone } => {
                let labels: Vec<&str> = own_ports.iter().map(|docked| docked.label.as_str()).collect();
                let fills = if labels.is_empty() { String::new() } else { format!(" and fills {}", join_and(&labels)) };
                format!("{name} fits {label}{fills}; {}", self.unmet_clauses(label, clauses, *fail_alone))
            }
            MemberCause::OwnPorts(failure) => {
                let fits = format!("{name} fits {label}, but cannot fill its own");
                let is_empty = |port: &&PortCandidates| port.is_required && port.independent == 0;
                let empty: Vec<&PortCandidates> = failure.ports.iter().filter(is_empty).collect();
                match empty.as_slice() {
                    [] => format!("{fits} {}", self.unfilled_ports(failure)),
                    [only] => format!("{fits} port {}{}", only.label, self.empty_own_port(only)),
                    several => {
                        let labels: Vec<&str> = several.iter().map(|port| port.label.as_str()).collect();
                        format!("{fits} ports {}, which have no candidates left", join_and(&labels))
                    }
                }
            }
            MemberCause::Unknown => format!("{name} fits {label}, but its own ports were not examined"),
        }
    }

    /// Says why no offer that is left fits a port of an offer.
    fn empty_own_port(&self, port: &PortCandidates) -> String {
        match (port.used_up, port.ruled_out.as_slice()) {
            (0, []) => ", which has no candidate left".to_owned(),
            (0, ruled_out) => format!(": {}", self.ruled_out(ruled_out)),
            (1, _) => ": the only offer that fits is taken already".to_owned(),
            (used, _) => format!(": all {} offers that fit are taken already", with_commas(used)),
        }
    }

    /// Says which ports of an offer cannot be filled together, each of which has candidates.
    fn unfilled_ports(&self, failure: &GangFailure) -> String {
        let beside = self.beside(&failure.deepest);
        let labels: Vec<&str> =
            failure.blocked.iter().map(|blocked| failure.ports[blocked.port].label.as_str()).collect();
        let [blocked] = failure.blocked.as_slice() else {
            return format!("ports {} together{beside}", join_and(&labels));
        };
        let label = join_and(&labels);
        let why = match blocked {
            BlockedPort { member: Some(member), .. } => self.member_failure(&label, member),
            BlockedPort { unacceptable, conditions, .. } if *unacceptable > 0 && conditions.is_empty() => {
                format!("the policy ranks none of its candidates{}", unranking_rule(blocked))
            }
            BlockedPort { conditions, .. } if conditions.is_empty() => self.all_docked(&label, blocked, failure),
            BlockedPort { conditions, .. } => self.ruled_out(conditions),
        };
        format!("port {label}{beside}: {why}")
    }

    /// Says which clauses fail while an offer is docked at the port `label` with offers at its own ports.
    fn unmet_clauses(&self, label: &str, clauses: &[UnmetClause], fail_alone: bool) -> String {
        if !fail_alone {
            let texts: Vec<String> = clauses.iter().map(|clause| self.quoted(&clause.condition.text)).collect();
            return format!("no way to fill its own ports meets {}", join_and(&texts));
        }
        let failing = clauses.iter().map(|clause| {
            let owner = if clause.condition.is_of_port { format!(" of {label}") } else { String::new() };
            let own = if clause.condition.is_of_port { "" } else { "its own " };
            let against = clause.operands.as_ref().map(|[left, right]| {
                format!(": {} against {}", short_value(left, self.dialect), short_value(right, self.dialect))
            });
            let text = if self.dialect.is_condor() {
                clause.condition.text.clone()
            } else {
                with_short_numbers(&clause.condition.text)
            };
            format!("{own}{}{owner} fails{}", self.quoted(&text), against.unwrap_or_default())
        });
        join_and(&failing.collect::<Vec<_>>())
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

/// Says which rule of the policy has no value for the candidates of a port: ` (its rule 2)`.
#[must_use]
pub fn unranking_rule(blocked: &BlockedPort) -> String {
    let component = blocked.discarding.map(|component| format!(" (its rule {})", component + 1));
    component.unwrap_or_default()
}

/// Returns the text of a value, in the papers' dialect with [`short_number`].
fn short_value(value: &Value, dialect: Dialect) -> String {
    let number = as_number(value).filter(|_| !dialect.is_condor());
    number.and_then(short_number).unwrap_or_else(|| value.to_string())
}
