//! Says how many partitionable slots would match if drained, and what they have too little of.

use crate::text::with_commas;

use super::report::RequestReport;
use super::scarce_resources::ScarceResources;

/// Says how many partitionable slots would match if drained, and what they have too little of. Begins with a semicolon, or
/// is empty.
pub fn drained_note(report: &RequestReport) -> String {
    match report.slots.map_or(0, |slots| slots.if_drained) {
        0 => String::new(),
        number => format!("; {}", if_drained_phrase(number, &report.scarce)),
    }
}

/// Says how many partitionable slots would match if drained, and what they have too little of.
pub fn if_drained_phrase(slots: usize, scarce: &ScarceResources) -> String {
    let noun = if slots == 1 { "partitionable slot" } else { "partitionable slots" };
    let none = if slots == 1 { "it does not have" } else { "none has" };
    let scarce = if scarce.is_empty() { String::new() } else { format!(": {}", scarce.phrase(none)) };
    format!("{} {noun} would match if drained{scarce}", with_commas(slots))
}
