//! Why a request got its offers and not the next best ones.

use std::cmp::Ordering;

use crate::ad::Value;
use crate::matching::gang::{DockedOffer, Gang};
use crate::matching::policy::PolicyVector;

use super::granted_offer::GrantedOffer;

/// The next best offers for a request, and the first difference that decided against them.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The next best offer, or the offers of the next best gang in preorder: index and part of each.
    pub runner_up: Vec<(usize, usize)>,
    /// Path of the port at which the gangs differ, such as `service.machine`; `None` for single offers, for the request's
    /// own ports, and if nothing differs.
    pub port: Option<String>,
    /// What differs.
    pub difference: DecidingDifference,
}

/// The first difference between the winner and the runner-up. Pairs hold the winner's side first.
#[derive(Clone, Debug, PartialEq)]
pub enum DecidingDifference {
    /// The component of the docking vector with this index.
    Component(usize, [Value; 2]),
    /// The rank that the request, or the port, gives the offer.
    RequestRank([f64; 2]),
    /// The rank that the offer gives the request, or the ad at whose port it is docked.
    OfferRank([f64; 2]),
    /// The labels of the filled ports.
    FilledPorts([Vec<String>; 2]),
    /// Nothing: the winner is earlier in the input.
    InputOrder,
}

impl Choice {
    /// Compares two single offers.
    #[must_use]
    pub fn between_offers(winner: &GrantedOffer, runner_up: &GrantedOffer) -> Self {
        Choice {
            runner_up: vec![(runner_up.offer, runner_up.part)],
            port: None,
            difference: worth_difference(worth_of_offer(winner), worth_of_offer(runner_up))
                .unwrap_or(DecidingDifference::InputOrder),
        }
    }

    /// Compares two gangs, in the order in which gangs are compared: ad by ad in preorder, and of each ad first which
    /// ports are filled, then the offers docked at them.
    #[must_use]
    pub fn between_gangs(winner: &Gang, runner_up: &Gang) -> Self {
        let offers = runner_up.members().iter().map(|docked| (docked.offer, docked.part)).collect();
        let mut pending = vec![(None, winner.ports.as_slice(), runner_up.ports.as_slice())];
        while let Some((path, winning, losing)) = pending.pop() {
            let labels =
                [winning, losing].map(|ports| ports.iter().map(|docked| docked.label.clone()).collect::<Vec<String>>());
            if labels[0] != labels[1] {
                return Choice { runner_up: offers, port: path, difference: DecidingDifference::FilledPorts(labels) };
            }
            let below = |label: &str| path.as_ref().map_or(label.to_owned(), |path: &String| format!("{path}.{label}"));
            for (left, right) in winning.iter().zip(losing) {
                if let Some(difference) = worth_difference(worth_of_docked(left), worth_of_docked(right)) {
                    return Choice { runner_up: offers, port: Some(below(&left.label)), difference };
                }
            }
            let children = winning.iter().zip(losing).rev();
            pending.extend(children.map(|(left, right)| (Some(below(&left.label)), &left.ports[..], &right.ports[..])));
        }
        Choice { runner_up: offers, port: None, difference: DecidingDifference::InputOrder }
    }
}

/// What decides between candidates: the docking vector if there is one, else the two ranks.
type Worth<'v> = (Option<&'v PolicyVector>, [f64; 2]);

fn worth_of_offer(granted: &GrantedOffer) -> Worth<'_> {
    (granted.vector.as_ref(), [granted.request_rank, granted.offer_rank])
}

fn worth_of_docked(docked: &DockedOffer) -> Worth<'_> {
    (docked.vector.as_ref(), [docked.rank, docked.offer_rank])
}

fn worth_difference((left, ranks): Worth<'_>, (right, other_ranks): Worth<'_>) -> Option<DecidingDifference> {
    if let (Some(left), Some(right)) = (left, right) {
        let index = left.first_difference(right)?;
        let value = |vector: &PolicyVector| {
            let component = vector.0.get(index).and_then(Option::as_ref);
            component.map_or(Value::Undefined, |component| component.value.clone())
        };
        return Some(DecidingDifference::Component(index, [value(left), value(right)]));
    }
    let differ = |place: usize| ranks[place].total_cmp(&other_ranks[place]) != Ordering::Equal;
    if differ(0) {
        return Some(DecidingDifference::RequestRank([ranks[0], other_ranks[0]]));
    }
    differ(1).then_some(DecidingDifference::OfferRank([ranks[1], other_ranks[1]]))
}
