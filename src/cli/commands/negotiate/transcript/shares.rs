//! What a transcript says of shares by weight: groups, quotas, rounds and turns.

use std::iter;

use classad::matching::negotiate::{GroupBalance, NegotiationEvent};
use classad::matching::policy::ROOT_GROUP;
use classad::text::{counted, rounded, with_commas};

use super::Transcript;
use crate::cli::render::alignment::{left_aligned, right_aligned};

impl Transcript<'_> {
    /// Appends a line of text and a record for an event of shares by weight.
    pub(super) fn record_shares(&mut self, event: &NegotiationEvent<'_>) {
        match *event {
            NegotiationEvent::Quotas { groups } => self.record_quotas(groups),
            NegotiationEvent::Allocation { number } => {
                let detail = "groups may use what others could not use";
                self.push(&format!("allocation {number}"), "", "allocation", detail);
            }
            NegotiationEvent::Group { name, own, quota, usage } => {
                name.clone_into(&mut self.group);
                self.push(&format!("group {name}"), name, "group", &group_detail([own, quota, usage]));
            }
            NegotiationEvent::GroupSkipped { name, quota, usage } => {
                let detail = skipped_group_detail(quota, usage);
                self.push(&format!("group {name} is skipped"), name, "skipped group", &detail);
            }
            NegotiationEvent::QuotaReached { quota, usage } => {
                if quota <= 0.0 {
                    return;
                }
                let group = self.group.clone();
                let has_beyond = self.policy.weighted_share().is_some_and(|share| share.beyond.is_some());
                let detail = reached_quota_detail(rounded(quota), rounded(usage), has_beyond);
                self.push(&format!("group {group}"), &group, "quota reached", &detail);
            }
            NegotiationEvent::Spin { number, weight } => {
                self.round = number;
                let detail = format!("up to {} more for all submitters together", rounded(weight));
                self.push(&format!("round {number}"), "", "round", &detail);
            }
            NegotiationEvent::WeightedTurn { submitter, priority, limit, usage, requests } => {
                let goes_beyond =
                    self.policy.weighted_share().is_some_and(|share| share.preempts && share.beyond.is_some());
                let share = turn_share(limit, requests, goes_beyond);
                let detail = format!("priority {priority}, {} in use, {share}", rounded(usage));
                self.push(submitter, submitter, "turn", &detail);
            }
            NegotiationEvent::CeilingReached { submitter, ceiling } => {
                let detail = format!("no further turn: its ceiling is {}", rounded(ceiling));
                self.push(submitter, submitter, "ceiling reached", &detail);
            }
            NegotiationEvent::ShareTooSmall { submitter, limit, smallest } => {
                let (limit, smallest) = (rounded(limit), rounded(smallest));
                let detail = format!(
                    "no further turn: its share, {limit}, is less than the smallest weight of a whole offer, {smallest}"
                );
                self.push(submitter, submitter, "share too small", &detail);
            }
            _ => {}
        }
    }

    /// Appends a table of the groups and a record for each.
    fn record_quotas(&mut self, groups: &[GroupBalance<'_>]) {
        let share = self.policy.weighted_share();
        let regroups = share.is_some_and(|share| share.groups.groups().iter().any(|group| group.regroups));
        let header = ["group", "quota", "in use", "requests"].map(str::to_owned);
        let row = |group: &GroupBalance<'_>| {
            let whose = match group.name {
                ROOT_GROUP if regroups => "<none>, for submitters without a group or with a second turn",
                ROOT_GROUP => "<none>, for submitters without a group",
                name => name,
            };
            let [quota, usage] = [group.quota, group.usage].map(|weight| rounded(weight).to_string());
            [whose.to_owned(), quota, usage, with_commas(group.requests)]
        };
        let rows: Vec<[String; 4]> = iter::once(header).chain(groups.iter().map(row)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths = [0, 1, 2, 3].map(width);
        for [name, numbers @ ..] in &rows {
            let numbers = numbers.iter().zip(&widths[1..]).map(|(number, width)| right_aligned(number, *width));
            self.add_line(
                "",
                [left_aligned(name, widths[0])].into_iter().chain(numbers).collect::<Vec<_>>().join("  "),
            );
        }
        for GroupBalance { name, quota, usage, requests } in groups {
            let (quota, usage) = (rounded(*quota), rounded(*usage));
            let detail = format!("quota {quota}, {usage} in use, {}", counted(*requests, "request"));
            self.add_record(name, "quota", ["", "", "", &detail]);
        }
    }
}

/// Says what a group may use: its own quota, all that it may use, and what it uses.
fn group_detail([own, quota, usage]: [f64; 3]) -> String {
    let surplus = rounded((quota - own).max(0.0));
    let with_surplus = if surplus >= 1.0 { format!(", {surplus} of it surplus") } else { String::new() };
    if quota <= 0.0 && own > 0.0 {
        format!("{} in use; it may get only offers that prefer its requests", rounded(usage))
    } else {
        format!("{} in use, at most {}{with_surplus}", rounded(usage), rounded(quota))
    }
}

/// Says why a group has no turn.
fn skipped_group_detail(quota: f64, usage: f64) -> String {
    let reason = match () {
        () if quota <= 0.0 => "its quota is 0",
        () if usage >= quota => "its quota is used up",
        () => "nothing is allocated to it",
    };
    format!("{reason} ({} of {} in use)", rounded(usage), rounded(quota))
}

/// Says that a group uses its maximum, or why it uses more. `has_beyond` tells whether the policy has `beyond`.
fn reached_quota_detail(most: f64, used: f64, has_beyond: bool) -> String {
    let rule = match used > most {
        true if has_beyond => "; the last offer, and offers for which `beyond` is true, may exceed the maximum",
        true => "; the last offer may exceed the maximum",
        false => "",
    };
    format!("the maximum is reached ({used} of {most} in use{rule})")
}

/// Says what a submitter may get in its turn. `goes_beyond` tells whether offers may exceed its share.
fn turn_share(limit: f64, requests: usize, goes_beyond: bool) -> String {
    let asked = counted(requests, "request");
    match limit > 0.0 {
        true => format!("up to {} more for {asked}", rounded(limit)),
        false if goes_beyond => {
            format!("share used up; {asked} may get only offers that prefer them (`beyond` of the policy)")
        }
        false => format!("share used up, nothing for {asked}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{group_detail, reached_quota_detail, skipped_group_detail, turn_share};

    #[test]
    fn what_a_group_may_use() {
        for (weights, expected) in [
            ([5.0, 5.0, 2.0], "2 in use, at most 5"),
            ([5.0, 6.0, 2.0], "2 in use, at most 6, 1 of it surplus"),
            ([5.0, 7.25, 2.0], "2 in use, at most 7.25, 2.25 of it surplus"),
            ([5.0, 5.99, 2.0], "2 in use, at most 5.99"),
            ([6.0, 4.0, 2.345], "2.35 in use, at most 4"),
            ([5.0, 0.5, 2.0], "2 in use, at most 0.5"),
            ([5.0, 0.0, 2.0], "2 in use; it may get only offers that prefer its requests"),
            ([0.0, 0.0, 0.0], "0 in use, at most 0"),
        ] {
            assert_eq!(group_detail(weights), expected, "{weights:?}");
        }
        for (quota, usage, expected) in [
            (0.0, 0.0, "its quota is 0 (0 of 0 in use)"),
            (0.5, 0.0, "nothing is allocated to it (0 of 0.5 in use)"),
            (2.0, 1.0, "nothing is allocated to it (1 of 2 in use)"),
            (2.0, 2.0, "its quota is used up (2 of 2 in use)"),
            (2.0, 3.0, "its quota is used up (3 of 2 in use)"),
        ] {
            assert_eq!(skipped_group_detail(quota, usage), expected);
        }
    }

    #[test]
    fn what_ends_a_turn() {
        let both = "the maximum is reached (3 of 2 in use; the last offer, and offers for which `beyond` is true, may exceed \
                    the maximum)";
        for (most, used, has_beyond, expected) in [
            (2.0, 2.0, true, "the maximum is reached (2 of 2 in use)"),
            (2.0, 2.0, false, "the maximum is reached (2 of 2 in use)"),
            (2.0, 3.0, true, both),
            (2.0, 3.0, false, "the maximum is reached (3 of 2 in use; the last offer may exceed the maximum)"),
        ] {
            assert_eq!(reached_quota_detail(most, used, has_beyond), expected);
        }
        let beyond = "share used up; 2 requests may get only offers that prefer them (`beyond` of the policy)";
        for (limit, requests, goes_beyond, expected) in [
            (0.5, 1, true, "up to 0.5 more for 1 request"),
            (0.5, 2, false, "up to 0.5 more for 2 requests"),
            (0.0, 2, true, beyond),
            (0.0, 2, false, "share used up, nothing for 2 requests"),
        ] {
            assert_eq!(turn_share(limit, requests, goes_beyond), expected);
        }
    }
}
