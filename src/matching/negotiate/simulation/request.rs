//! A request over the cycles of a simulation.

use crate::ad::{Ad, Expression, Name, Value};
use crate::protocol::{RESOURCE_COUNT, cool_down_end, evaluate_attribute, resource_count};

use super::super::NegotiationSettings;

/// A request in the simulation.
pub struct SimulatedRequest {
    pub ad: Ad,
    /// The ad with the attributes of the policy.
    pub prepared: Ad,
    pub submitter: String,
    /// The time from which it waits: `QDate`, or the end of its cool-down.
    pub arrival: i64,
    /// Number of units that wait.
    pub waiting: usize,
    /// Whether it is a resource request, which stands for a number of units.
    pub is_counted: bool,
    /// Whether it is held.
    pub is_held: bool,
}

impl SimulatedRequest {
    pub fn new(ad: &Ad, prepared: &Ad, submitter: String, settings: &NegotiationSettings) -> Self {
        let count = resource_count(ad, &settings.context);
        let arrival = match evaluate_attribute(ad, &Name::new("QDate"), &settings.context) {
            Some(Value::Integer(at)) => at,
            _ => i64::MIN,
        };
        let cool = cool_down_end(ad, &settings.context).map_or(i64::MIN, |until| until.saturating_add(1));
        let (waiting, is_counted) = (count.unwrap_or(1), count.is_some());
        SimulatedRequest {
            ad: ad.clone(),
            prepared: prepared.clone(),
            submitter,
            arrival: arrival.max(cool),
            waiting,
            is_counted,
            is_held: false,
        }
    }

    /// Returns the ad with which it asks for offers.
    pub fn asking_ad(&self) -> Ad {
        if !self.is_counted {
            return self.prepared.clone();
        }
        let count = Value::Integer(i64::try_from(self.waiting).unwrap_or(i64::MAX));
        self.prepared.with(Name::new(RESOURCE_COUNT), Expression::literal(count))
    }
}

#[cfg(test)]
mod tests {
    use super::{RESOURCE_COUNT, SimulatedRequest};
    use crate::ad::Ad;

    #[test]
    fn only_a_request_for_units_asks_with_their_number() {
        for (waiting, is_counted, expected) in [(3, true, Some("3")), (0, true, Some("0")), (1, false, None)] {
            let (ad, submitter) = (Ad::default(), "ann".to_owned());
            let prepared = ad.clone();
            let request = SimulatedRequest { ad, prepared, submitter, arrival: 0, waiting, is_counted, is_held: false };
            let asked = request.asking_ad();
            assert_eq!(asked.get_str(RESOURCE_COUNT).map(ToString::to_string).as_deref(), expected, "{waiting}");
        }
    }
}
