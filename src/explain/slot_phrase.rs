//! Phrases about the states of slots: of those that match, of those that refuse, and of full ones.

use crate::text::{join_and, with_commas};

use super::report::RequestReport;
use super::scarce_resources::ScarceResources;

/// Says in which states the slots are that match, after `opening`. Empty if the offers have no states.
pub fn slot_states(report: &RequestReport, opening: &str) -> String {
    let Some(slots) = report.slots else { return String::new() };
    let sole = report.sole_claimant.as_ref().map(|user| format!("claimed by {}", user.to_str()));
    let named = |(number, words): (usize, &'static str)| {
        let is_of_others = ["claimed by another user", "claimed by others"].contains(&words);
        (number, sole.as_deref().filter(|_| is_of_others).unwrap_or(words).to_owned())
    };
    let found: Vec<(usize, String)> = slots.matching.words().into_iter().map(named).collect();
    let is = |number: usize| if number == 1 { "is" } else { "are" };
    match found.as_slice() {
        [] => String::new(),
        [(1, state)] => format!(", which is {state}"),
        [(_, state)] if state == "free" => ", all of them free".to_owned(),
        found => {
            let found: Vec<String> = found
                .iter()
                .map(|(number, state)| format!("{} {} {state}", with_commas(*number), is(*number)))
                .collect();
            format!("{opening}{}", join_and(&found))
        }
    }
}

/// Says in which states the slots are that refuse. Empty if all are free.
pub fn refusing_states(report: &RequestReport) -> String {
    let (all, full) = (report.refusing(), report.full_refusing);
    let Some(states) = report.refusing_states.filter(|states| states.free < all) else { return String::new() };
    let full = (full > 0).then_some((full, "full"));
    let states: Vec<(usize, &str)> = states.words().into_iter().chain(full).collect();
    match states.as_slice() {
        [] => String::new(),
        [(number, state)] if *number == all => format!(" ({state})"),
        states => {
            let states: Vec<String> =
                states.iter().map(|(number, state)| format!("{} {state}", with_commas(*number))).collect();
            format!(" ({})", states.join(", "))
        }
    }
}

/// Puts a phrase about scarce resources behind a main clause. Empty if there is no phrase.
pub fn scarcity(phrase: String) -> String {
    if phrase.is_empty() { phrase } else { format!("; {phrase}") }
}

/// Says how many partitionable slots are full, and what they have too little of. Begins with a semicolon, or is empty.
pub fn drained_note(report: &RequestReport) -> String {
    match report.slots.map_or(0, |slots| slots.if_drained) {
        0 => String::new(),
        number => format!("; {}", if_drained_phrase(number, &report.scarce)),
    }
}

/// Says how many partitionable slots are full: they would match without their jobs. Says also what they have too little of.
pub fn if_drained_phrase(slots: usize, scarce: &ScarceResources) -> String {
    let [noun, are, their, none] = match slots {
        1 => ["slot", "is", "its", "it does not have"],
        _ => ["slots", "are", "their", "none has"],
    };
    let slots = with_commas(slots);
    if scarce.is_empty() {
        return format!("{slots} full {noun} would match once {their} jobs end");
    }
    format!("{slots} partitionable {noun} {are} full: {}", scarce.phrase(none))
}
