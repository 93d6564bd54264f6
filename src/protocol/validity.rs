//! Which ads are valid advertisements (thesis 3.2.1): a collector accepts no others (thesis 3.3.2).
//!
//! | rule | applies to |
//! |---|---|
//! | `Ports` is a list of ports: records with distinct labels, or groups of ports | all ads; in HTCondor's dialect those whose `Ports` is a list |
//! | each port has a constraint | all ads with ports |
//! | an ad without ports has a constraint | ads of jobs and machines; in the papers' dialect also ads without `MyType` |
//!
//! Other ads of HTCondor match nothing and need no constraint: those of its daemons, and records without a kind, such as
//! those of `condor_userprio -long`.

use std::fmt;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind};
use crate::eval::Context;

use super::{AdvertisedState, Advertisement, PORTS, PortFault, Protocol, check_port_list, port_list, read_ports};

/// Attributes of which each shows that an ad of HTCondor without a kind is of a job or of a slot.
const PARTY_ATTRIBUTES: [&str; 4] = ["ProcId", "JobStatus", "State", "SlotType"];

/// Why an ad is not a valid advertisement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidAd {
    /// The list of ports cannot be used.
    Ports(PortFault),
    /// A port has no constraint.
    PortWithoutConstraint(PortFault),
    /// The ad has neither a constraint nor ports.
    NoConstraint,
}

impl InvalidAd {
    /// Returns the place of the fault in the text of the value of `Ports`; `None` if the ad has no ports.
    #[must_use]
    pub fn port_fault(&self) -> Option<&PortFault> {
        match self {
            InvalidAd::Ports(fault) | InvalidAd::PortWithoutConstraint(fault) => Some(fault),
            InvalidAd::NoConstraint => None,
        }
    }
}

impl fmt::Display for InvalidAd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port_fault() {
            Some(fault) => fault.fmt(f),
            None => f.write_str("this ad has no constraint, so it accepts nothing"),
        }
    }
}

impl std::error::Error for InvalidAd {}

/// Returns what makes an ad invalid if it is to take part in matches, whatever its kind is.
#[must_use]
pub fn invalidities(ad: &Ad, protocol: &Protocol, dialect: Dialect) -> Vec<InvalidAd> {
    if let Err(fault) = check_port_list(ad, dialect) {
        return vec![InvalidAd::Ports(fault)];
    }
    let Some(list) = port_list(ad) else {
        let has_constraint = protocol.constraint_name(ad).is_some();
        return if has_constraint { Vec::new() } else { vec![InvalidAd::NoConstraint] };
    };
    let ports = match read_ports(ad) {
        Ok(ports) => ports.list,
        Err(fault) => return vec![InvalidAd::Ports(fault)],
    };
    let entries: &[Expression] = match list.without_parentheses().kind() {
        ExpressionKind::List(entries) => entries,
        _ => &[],
    };
    let lacks = |(place, port): (usize, &super::Port)| {
        let record = port.record.as_ref().filter(|record| protocol.constraint_name(record).is_none())?;
        // If an ad has groups of ports, an element of the list may be a group instead of a port: the place is the whole
        // list then.
        let is_listed = entries.len() == ports.len() && record.get(&PORTS).is_none();
        let entry = entries.get(place).filter(|_| is_listed).unwrap_or(list);
        let reason = format!("the port {} has no constraint, so it accepts no offer", port.label);
        Some(InvalidAd::PortWithoutConstraint(PortFault { span: entry.span(), reason }))
    };
    ports.iter().enumerate().filter_map(lacks).collect()
}

/// Returns why a collector refuses an ad; `None` if it accepts the ad.
#[must_use]
pub fn advertisement_fault(ad: &Ad, protocol: &Protocol, context: &Context) -> Option<InvalidAd> {
    let mut faults = invalidities(ad, protocol, context.dialect).into_iter();
    faults.find(|fault| *fault != InvalidAd::NoConstraint || takes_part(ad, protocol, context))
}

/// Whether an ad without ports takes part in matches, as its kind or its attributes tell.
fn takes_part(ad: &Ad, protocol: &Protocol, context: &Context) -> bool {
    let is_condor = context.dialect.is_condor();
    let Some(kind) = Advertisement::new(ad, context).kind_text() else {
        let mut names = PARTY_ATTRIBUTES.into_iter().chain([protocol.rank_name().as_str()]);
        return !is_condor || names.any(|name| ad.get_str(name).is_some());
    };
    match AdvertisedState::of_kind(Some(&kind), |_| None) {
        AdvertisedState::Job(_) | AdvertisedState::Slot(_) => true,
        AdvertisedState::Daemon => false,
        // In the papers, things of any `Type` are offered, such as licenses.
        AdvertisedState::Stateless => !is_condor && ad.get_str("MyType").is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::advertisement_fault;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn an_advertisement_is_valid_by_its_kind() {
        for (text, expected) in [
            ("[ Constraint = true ]", None),
            ("[ Requirements = false ]", None),
            ("[ Ports = { [ Label = a; Constraint = true ] } ]", None),
            ("[ Ports = { [ Min = 0; Ports = { [ Label = a; Requirements = true ] } ] } ]", None),
            ("[ MyType = \"Scheduler\"; Name = \"ap\" ]", None),
            ("[ MyType = \"Submitter\" ]", None),
            ("[ Type = \"Scheduler\" ]", None),
            ("[ a = 1 ]", Some("no constraint")),
            ("[ Type = \"License\" ]", Some("no constraint")),
            ("[ MyType = \"Machine\" ]", Some("no constraint")),
            ("[ MyType = \"job\"; Rank = 1 ]", Some("no constraint")),
            ("[ Constraint = true; Ports = 5 ]", Some("must be a list")),
            ("[ MyType = \"Scheduler\"; Ports = { 5 } ]", Some("must be a record")),
            ("[ Ports = { [ Label = a; Constraint = true ], [ Label = A; Constraint = true ] } ]", Some("already")),
            ("[ Ports = { [ Constraint = true ] } ]", Some("needs a Label")),
            ("[ Constraint = true; Ports = { [ Label = a ] } ]", Some("the port a has no constraint")),
            ("[ Ports = { [ Ports = { [ Label = a ] } ] } ]", Some("the port a has no constraint")),
        ] {
            assert_fault(text, Dialect::Classad, expected);
        }
    }

    #[test]
    fn an_ad_of_htcondor_that_matches_nothing_needs_no_constraint() {
        for (text, expected) in [
            ("[ Name = \"alice@site\"; Priority = 500.0 ]", None),
            ("[ JobClusterId = 12; TransferType = \"download\" ]", None),
            ("[ Type = \"Scheduler\" ]", None),
            ("[ Type = \"License\" ]", None),
            ("[ MyType = undefined; Name = \"x\" ]", None),
            ("[ Type = \"Machine\" ]", Some("no constraint")),
            ("[ MyType = \"Job\" ]", Some("no constraint")),
            ("[ ClusterId = 1; ProcId = 0 ]", Some("no constraint")),
            ("[ Name = \"slot1\"; State = \"Unclaimed\" ]", Some("no constraint")),
            ("[ Name = \"slot1\"; Rank = 0 ]", Some("no constraint")),
            ("[ MyType = \"Machine\"; Requirements = true; Ports = \"8080,8081\" ]", None),
            ("[ MyType = \"Machine\"; Ports = 8080 ]", Some("no constraint")),
            ("[ MyType = \"Machine\"; Requirements = true; Ports = { 5 } ]", Some("must be a record")),
        ] {
            assert_fault(text, Dialect::Condor, expected);
        }
    }

    /// Asserts that an ad has a fault whose text contains `expected`, or none.
    fn assert_fault(text: &str, dialect: Dialect, expected: Option<&str>) {
        let ad = parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
        let found = advertisement_fault(&ad, &Protocol::new(dialect), &Context::new(dialect));
        let found = found.map(|fault| fault.to_string());
        let is_expected = match (&found, expected) {
            (Some(found), Some(expected)) => found.contains(expected),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(is_expected, "{text}: {found:?}");
    }
}
