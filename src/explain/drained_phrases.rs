//! Says how many partitionable slots would match if drained, and what they have too little of.

use crate::ad::Name;
use crate::text::{join_and, with_commas};

use super::report::RequestReport;

/// Says how many partitionable slots would match if drained, and what they have too little of. Begins with a semicolon, or
/// is empty.
pub fn drained_note(report: &RequestReport) -> String {
    match report.slots.map_or(0, |slots| slots.if_drained) {
        0 => String::new(),
        number => format!("; {}", if_drained_phrase(number, &report.lacking)),
    }
}

/// Says how many partitionable slots would match if drained, and what they have too little of.
pub fn if_drained_phrase(slots: usize, lacking: &[(Name, usize)]) -> String {
    let noun = if slots == 1 { "partitionable slot" } else { "partitionable slots" };
    let lacking = if lacking.is_empty() { String::new() } else { format!(": {}", lacking_phrase(lacking, slots)) };
    format!("{} {noun} would match if drained{lacking}", with_commas(slots))
}

/// Names the scarce resources of slots: `none has enough Cpus left, 2 do not have enough Memory left`. `slots` is the number of these
/// slots.
fn lacking_phrase(lacking: &[(Name, usize)], slots: usize) -> String {
    let (all, some): (Vec<_>, Vec<_>) = lacking.iter().partition(|(_, number)| *number == slots);
    let all: Vec<String> = all.iter().map(|(name, _)| name.to_string()).collect();
    let none = if slots == 1 { "it does not have" } else { "none has" };
    let mut phrases = Vec::new();
    if !all.is_empty() {
        phrases.push(format!("{none} enough {} left", join_and(&all)));
    }
    for (name, number) in some {
        let have = if *number == 1 { "1 does".to_owned() } else { format!("{} do", with_commas(*number)) };
        phrases.push(format!("{have} not have enough {name} left"));
    }
    phrases.join(", ")
}
