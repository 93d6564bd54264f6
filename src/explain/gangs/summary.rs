//! Renders the verdict on a gang as one sentence.

use crate::explain::clauses::text;
use crate::explain::summary::{MAX_NAMED_ADS, SummaryWriter};
use crate::matching::gang::{BlockedPort, FailedCondition, Gang, GangFailure};
use crate::text::{counted, join_and, shorten, with_commas};

use super::{EmptyPort, EmptyPortCause, GangReport, GangVerdict};

impl SummaryWriter<'_> {
    /// Returns the verdict on a gang as one sentence without a full stop.
    #[must_use]
    pub fn gang_summary(&self, report: &GangReport) -> String {
        let subject = self.subject;
        let (gets, a) = (self.verb("gets", "get"), self.verb("a gang", "a gang each"));
        match (&report.verdict, &report.gang, &report.failure) {
            (GangVerdict::Matches, Some(gang), _) => format!("{subject} {gets} {a}: {}", self.list_docked(gang)),
            (GangVerdict::Taken(by), Some(gang), _) => {
                let (gang, takers) = (self.list_docked(gang), self.list_requests(by));
                format!("{subject} could have {a} ({gang}), but offers of it are taken by {takers}")
            }
            (GangVerdict::NoOffers, ..) => format!("{subject} {gets} no gang: there are no offers"),
            (GangVerdict::EmptyPort(obstacle), _, Some(failure)) => {
                format!("{subject} {gets} no gang: {}", self.empty_port(obstacle, failure, report.offers))
            }
            (GangVerdict::Incompatible(obstacle), _, Some(failure)) => {
                format!("{subject} {gets} no gang: {}", self.incompatible_ports(obstacle, failure))
            }
            _ => format!("{subject} {gets} no gang"),
        }
    }

    /// Lists the offers of a gang with their ports: `host-1 at cpu, lic-1 at license`.
    #[must_use]
    pub fn list_docked(&self, gang: &Gang) -> String {
        if gang.ports.is_empty() {
            return "it needs nobody".to_owned();
        }
        let docked: Vec<String> =
            gang.ports.iter().map(|docked| format!("{} at {}", self.docked_name(docked), docked.label)).collect();
        docked.join(", ")
    }

    /// Returns the text of a condition; for a missing constraint, a phrase.
    #[must_use]
    pub fn condition_text(&self, condition: &FailedCondition) -> String {
        if condition.text.is_empty() {
            return if condition.is_of_request {
                "the port has no constraint, and accepts nobody".to_owned()
            } else {
                "no constraint of their own, so that they accept nobody".to_owned()
            };
        }
        self.shorten(&condition.text)
    }

    /// Returns a condition for use in a sentence: its quoted text, or a phrase for a missing constraint.
    fn condition_phrase(&self, condition: &FailedCondition) -> String {
        if condition.text.is_empty() { self.condition_text(condition) } else { self.quoted(&condition.text) }
    }

    /// Lists the values that a condition reads, of the request and of the first offer:
    /// `, where Site.HostName = Cpu.Name is "host-4"`.
    #[must_use]
    pub fn read_values(&self, condition: &FailedCondition) -> String {
        let all = || condition.request_attributes.iter().chain(&condition.offer_attributes);
        // Skip a literal if another value shown is a plain reference to its attribute: the two are equal.
        let is_told = |name: &str| all().any(|read| read.text == name);
        let reads = all().filter(|read| read.text != read.value || !is_told(&read.name)).map(|read| {
            let value = shorten(&read.value, self.max_clause_chars);
            let is = if read.text == read.value { String::new() } else { format!(" = {}", self.shorten(&read.text)) };
            format!("{}{is} is {value}", read.name)
        });
        let reads: Vec<String> = reads.collect();
        if reads.is_empty() { String::new() } else { format!(", where {}", join_and(&reads)) }
    }

    fn empty_port(&self, obstacle: &EmptyPort, failure: &GangFailure, offers: usize) -> String {
        let port = &failure.ports[obstacle.port];
        let label = &port.label;
        let nobody = format!("nobody docks at {label}");
        let cause = match &obstacle.cause {
            EmptyPortCause::NoConstraint => format!("{nobody}: the port has no constraint, and accepts none"),
            EmptyPortCause::Missing { .. } | EmptyPortCause::Unmet { .. } => {
                format!("{nobody}: {}", self.unmet_part(&obstacle.cause, &port.ruled_out, offers))
            }
            EmptyPortCause::Refused { suitable } => {
                format!("{nobody}: {}{}", self.refusal_prefix(*suitable), self.refusing_condition(&port.ruled_out))
            }
            _ => format!("{nobody}: {}", self.ruled_out(&port.ruled_out)),
        };
        match port.used_up {
            0 => cause,
            1 => format!("{cause}; 1 more would do, but is used up"),
            used => format!("{cause}; {} more would do, but are used up", with_commas(used)),
        }
    }

    fn incompatible_ports(&self, obstacle: &EmptyPort, failure: &GangFailure) -> String {
        let port = &failure.ports[obstacle.port];
        let label = &port.label;
        let stuck = failure.blocked.iter().find(|stuck| stuck.port == obstacle.port);
        let Some(stuck) = stuck else { return format!("{label} stays empty") };
        if let EmptyPortCause::GroupUnfillable = obstacle.cause {
            let ports: Vec<String> =
                failure.blocked.iter().map(|stuck| failure.ports[stuck.port].label.clone()).collect();
            return format!("too few of {} can be filled together{}", join_and(&ports), self.beside(failure));
        }
        if let (EmptyPortCause::OwnPortsUnfilled, Some(first)) = (&obstacle.cause, stuck.unserved.first()) {
            return self.unserved(label, stuck, *first);
        }
        let all = match port.independent {
            1 => format!("the only candidate of {label}"),
            many => format!("of {} candidates of {label}", with_commas(many)),
        };
        if let EmptyPortCause::AllDocked = obstacle.cause {
            let members = failure.deepest.members();
            let holding = members.iter().filter(|docked| stuck.held.contains(&docked.offer));
            let wants: Vec<String> = holding.map(|docked| docked.label.clone()).chain([label.clone()]).collect();
            let only: Vec<String> =
                stuck.held.iter().take(MAX_NAMED_ADS).map(|offer| self.offer_name(*offer)).collect();
            return match stuck.held.as_slice() {
                [_] => {
                    let all = if wants.len() > 2 { "all" } else { "both" };
                    format!("{} {all} want {}, and there is no other", join_and(&wants), join_and(&only))
                }
                held => format!("{} have only {} between them", join_and(&wants), counted(held.len(), "candidate")),
            };
        }
        if let EmptyPortCause::Discarded = obstacle.cause {
            let discarded = counted(stuck.unacceptable, "candidate");
            return format!("the docking vector discards the {discarded} of {label}{}", self.beside(failure));
        }
        let tied = stuck.conditions.first().map(|condition| condition.labels.as_slice());
        let other = tied.and_then(|labels| match labels {
            [only] => failure.ports.iter().find(|other| other.label == *only),
            _ => None,
        });
        let reasons = self.ruled_out(&stuck.conditions);
        match other {
            Some(other) if port.consistent == 0 && other.consistent == 0 => {
                let with = counted(other.independent, "candidate");
                format!(
                    "none of the {with} of {} goes with one of {label} ({}): {reasons}",
                    other.label, port.independent
                )
            }
            _ if port.independent == 1 => format!("{all} does not dock{}: {reasons}", self.beside(failure)),
            _ => format!("{all} none docks{}: {reasons}", self.beside(failure)),
        }
    }

    /// Lists the offers already docked: ` beside host-4 at Cpu`. Empty if there are none.
    fn beside(&self, failure: &GangFailure) -> String {
        if failure.deepest.ports.is_empty() {
            String::new()
        } else {
            format!(" beside {}", self.list_docked(&failure.deepest))
        }
    }

    fn unserved(&self, label: &str, stuck: &BlockedPort, first: usize) -> String {
        let name = self.offer_name(first);
        let lacking: Vec<String> =
            stuck.unserved_ports.iter().filter(|(_, offers)| *offers == 0).map(|(label, _)| label.clone()).collect();
        let what = match stuck.unserved.len() {
            1 => format!("{name} would dock at {label}, but cannot fill its own"),
            many => format!("{} offers would dock at {label}, but cannot fill their own", with_commas(many)),
        };
        match lacking.as_slice() {
            [] => format!("{what} ports together"),
            [only] => format!("{what} port {only}, for which there is no candidate"),
            several => format!("{what} ports {}, for which there are no candidates", join_and(several)),
        }
    }

    /// Says why no offer meets a part.
    fn unmet_part(&self, cause: &EmptyPortCause, conditions: &[FailedCondition], offers: usize) -> String {
        match cause {
            EmptyPortCause::Missing { name, near, .. } => {
                let near = near.iter().map(|(name, having)| format!("{name}? {}", self.having(*having)));
                let near: Vec<String> = near.collect();
                let near = if near.is_empty() { String::new() } else { format!(" (did you mean {})", near.join("; ")) };
                format!("no offer has {name}{near}")
            }
            EmptyPortCause::Unmet { asked: Some(asked), best: Some(best), .. } => {
                let holder = asked.literal.as_ref().and_then(|written| written.name.as_ref());
                let operand = text(&asked.operand, self.dialect);
                self.unmet_comparison(&operand, asked.operator, &asked.value, holder, best)
            }
            EmptyPortCause::Unmet { text, .. } => {
                let told = conditions.iter().find(|condition| condition.is_of_request && condition.text == *text);
                // Omit the values of offers, because the condition fails in all of them.
                let reads = told.map(|condition| {
                    self.read_values(&FailedCondition { offer_attributes: Vec::new(), ..condition.clone() })
                });
                let (shown, offers) = (self.quoted(text), self.count(offers));
                format!("{shown} is true of none of {offers}{}", reads.unwrap_or_default())
            }
            _ => self.ruled_out(conditions),
        }
    }

    /// Says by which condition suitable offers refuse.
    fn refusing_condition(&self, conditions: &[FailedCondition]) -> String {
        let refusing: Vec<&FailedCondition> = conditions.iter().filter(|condition| !condition.is_of_request).collect();
        let Some(first) = refusing.first() else { return String::new() };
        let in_some =
            if refusing.len() > 1 { format!(" in {}", with_commas(first.offers.len())) } else { String::new() };
        if first.text.is_empty() {
            return format!("there is no constraint, which accepts nobody{in_some}");
        }
        format!("{} is not true{in_some}{}", self.condition_phrase(first), self.read_values(first))
    }

    /// Says how many offers each condition rules out.
    fn ruled_out(&self, conditions: &[FailedCondition]) -> String {
        match conditions {
            [] => "all are taken".to_owned(),
            [only] => format!("{} is not true{}", self.condition_phrase(only), self.read_values(only)),
            several => {
                let shown = several.iter().take(2).map(|condition| {
                    format!("{} rules out {}", self.condition_phrase(condition), with_commas(condition.offers.len()))
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
