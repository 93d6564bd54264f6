//! What all slots that refuse a request lack: as much of a resource as the request asks for.

use fixedbitset::FixedBitSet;

use crate::ad::{Expression, Name, Value};
use crate::lint::SizeUnit;
use crate::text::with_commas;

use super::distance::as_number;
use super::evaluation::{OfferTable, RequestContext};

/// A resource of which no suitable slot has as much as a request asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceShortage {
    /// The resource, such as `Disk`.
    pub resource: Name,
    /// The attribute of the request, such as `RequestDisk`.
    pub request: Name,
    /// Amount that the request asks for.
    pub wanted: Value,
    /// The largest amount that a slot has as it is.
    pub largest: Value,
    /// The largest amount that a partitionable slot has in all; `None` if it is not more.
    pub largest_if_drained: Option<Value>,
    /// Whether no slot of the pool has enough. Otherwise some have that the request rejects.
    pub is_of_all: bool,
}

impl ResourceShortage {
    /// Says what no slot has, in a phrase such as `no slot has 300 GiB of disk (RequestDisk is 314572800); the largest has
    /// 190.7 GiB`. `suitable` is the number of slots that would do, `nouns` the noun for them, singular and plural.
    #[must_use]
    pub fn phrase(&self, suitable: usize, nouns: [&str; 2]) -> String {
        let unit = SizeUnit::of(&self.resource);
        let amount = |value: &Value| match unit.zip(as_number(value)) {
            Some((unit, number)) => unit.readable(number),
            None => value.to_string(),
        };
        let resource = match unit {
            Some(_) => format!("of {}", self.resource.as_str().to_lowercase()),
            None => self.resource.to_string(),
        };
        let request = match unit {
            Some(_) => format!("{} is {}", self.request, self.wanted),
            None => self.request.to_string(),
        };
        let [wanted, largest] = [&self.wanted, &self.largest].map(amount);
        let drained = self.largest_if_drained.as_ref().map(amount).filter(|drained| *drained != largest);
        let drained = drained.map(|drained| format!(" ({drained} if drained)")).unwrap_or_default();
        let found = format!("{wanted} {resource} ({request})");
        let [noun, several] = nouns;
        match suitable {
            _ if self.is_of_all => format!("no {noun} has {found}; the largest has {largest}{drained}"),
            1 => format!("1 {noun} would do, but does not have {found}: it has {largest}{drained}"),
            some => {
                let some = with_commas(some);
                format!("{some} {several} would do, but none has {found}; the largest has {largest}{drained}")
            }
        }
    }
}

/// Returns the largest amount of a resource that slots have; of all, or of the rows in `rows`.
pub fn largest_amount(
    table: &OfferTable,
    request: &RequestContext,
    resource: &Name,
    rows: Option<&FixedBitSet>,
) -> Option<Value> {
    let [_, other] = table.context.dialect.side_names();
    let amount = Expression::select(Expression::attribute(other), resource.clone());
    let values = table.expression_values(request, &amount);
    let larger = |one: Value, next: Value| if as_number(&next) > as_number(&one) { next } else { one };
    let is_number = |value: &&Value| as_number(value).is_some();
    match rows {
        None => values.weighted_values().map(|(value, _)| value).filter(is_number).cloned().reduce(larger),
        Some(rows) => rows.ones().map(|row| values.value(row)).filter(is_number).cloned().reduce(larger),
    }
}

#[cfg(test)]
mod tests {
    use super::ResourceShortage;
    use crate::ad::{Name, Value};

    #[test]
    fn sizes_have_units_and_numbers_have_none() {
        for (resource, [wanted, largest], drained, is_of_all, expected) in [
            (
                "Disk",
                [314_572_800, 199_996_928],
                None,
                true,
                "no slot has 300 GiB of disk (RequestDisk is 314572800); the largest has 190.7 GiB",
            ),
            // More if drained, but not to be seen.
            (
                "Disk",
                [314_572_800, 199_996_928],
                Some(200_000_000),
                true,
                "no slot has 300 GiB of disk (RequestDisk is 314572800); the largest has 190.7 GiB",
            ),
            (
                "Memory",
                [8192, 1024],
                Some(4096),
                true,
                "no slot has 8 GiB of memory (RequestMemory is 8192); the largest has 1 GiB (4 GiB if drained)",
            ),
            ("Cpus", [8, 2], Some(4), true, "no slot has 8 Cpus (RequestCpus); the largest has 2 (4 if drained)"),
            ("GPUs", [2, 0], None, false, "4 slots would do, but none has 2 GPUs (RequestGPUs); the largest has 0"),
        ] {
            let shortage = ResourceShortage {
                resource: Name::new(resource),
                request: Name::new(&format!("Request{resource}")),
                wanted: Value::Integer(wanted),
                largest: Value::Integer(largest),
                largest_if_drained: drained.map(Value::Integer),
                is_of_all,
            };
            assert_eq!(shortage.phrase(4, ["slot", "slots"]), expected);
        }
    }
}
