//! Functions of the tables of `condor_status`.

use classad::ad::Value;

use super::PrintCall;
use super::values::list_words;
use crate::cli::render::alignment::left_aligned;

/// The letters of HTCondor's states of slots.
pub const STATES: [(&str, char); 10] = [
    ("None", '~'),
    ("Owner", 'O'),
    ("Unclaimed", 'U'),
    ("Matched", 'M'),
    ("Claimed", 'C'),
    ("Preempting", 'P'),
    ("Shutdown", 'S'),
    ("Delete", 'X'),
    ("Backfill", 'F'),
    ("Drained", 'D'),
];

/// The letters of HTCondor's activities of slots.
pub const ACTIVITIES: [(&str, char); 8] = [
    ("None", '0'),
    ("Idle", 'i'),
    ("Busy", 'b'),
    ("Retiring", 'r'),
    ("Vacating", 'v'),
    ("Suspended", 's'),
    ("Benchmarking", 'e'),
    ("Killing", 'k'),
];

/// Returns the letter of a state or of an activity; `None` if there is none of this name.
pub fn letter_of(letters: &[(&str, char)], name: &str) -> Option<char> {
    letters.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter)
}

#[allow(clippy::unnecessary_wraps)] // functions return it
fn text(text: impl Into<String>) -> Option<Value> {
    Some(Value::string(text.into()))
}

/// Letters for the state and the activity. The value is either of them; the other one is looked up.
pub fn activity_code(call: &mut PrintCall) -> Option<Value> {
    let name = call.text();
    let known = |letters: &[(&str, char)], name: &str| letter_of(letters, name).filter(|_| name != "None");
    let (state, activity) = if let Some(activity) = known(&ACTIVITIES, &name) {
        let state = call.lookup.string("State").unwrap_or(name);
        (known(&STATES, &state).unwrap_or(' '), activity)
    } else {
        let state = known(&STATES, &name)?;
        let activity = call.lookup.string("Activity").unwrap_or(name);
        (state, known(&ACTIVITIES, &activity).unwrap_or(' '))
    };
    text(format!("{state}{activity}"))
}

/// Seconds since the time that is the value, by the clock of the machine.
pub fn activity_time(call: &mut PrintCall) -> Option<Value> {
    let now = call.lookup.integer("MyCurrentTime").or_else(|| call.lookup.integer("LastHeardFrom"))?;
    Some(Value::Integer(now.saturating_sub(call.integer().unwrap_or(0)).max(0)))
}

pub fn elapsed_time(call: &mut PrintCall) -> Option<Value> {
    let now = call.lookup.integer("LastHeardFrom")?;
    Some(Value::Integer(now.saturating_sub(call.integer().unwrap_or(0))))
}

pub fn due_date(call: &mut PrintCall) -> Option<Value> {
    let now = call.lookup.integer("LastHeardFrom")?;
    Some(Value::Integer(now.saturating_add(call.integer().unwrap_or(0))))
}

/// The architecture and the operating system: `x64/Debian13`.
pub fn platform(call: &mut PrintCall) -> Option<Value> {
    let lookup = &mut *call.lookup;
    let is_windows = lookup.string("OpSys").is_some_and(|system| system == "WINDOWS");
    let system = lookup.string(if is_windows { "OpSysShortName" } else { "OpSysAndVer" })?;
    let processor = match lookup.string("Arch").unwrap_or_default() {
        processor if processor == "X86_64" => "x64".to_owned(),
        processor if processor == "X86" => "x86".to_owned(),
        processor => processor,
    };
    text(format!("{processor}/{system}"))
}

/// The platform of `$CondorPlatform: X86_64-Debian_13 $`.
pub fn condor_platform(call: &mut PrintCall) -> Option<Value> {
    let told = call.text();
    let word = told.split(' ').filter(|word| !word.is_empty()).nth(1)?;
    let word = word.split(['.', '$']).next().unwrap_or(word).replace('-', "_");
    let word = word.strip_prefix('X').map_or(word.clone(), |rest| format!("x{rest}"));
    text(word.find("WINDOWS_").map_or(word.clone(), |at| word[..at + 7].to_owned()))
}

/// The version of `$CondorVersion: 23.9.6 2024-08-08 BuildID: 746105 $`: the number, in a wide column with the build.
pub fn condor_version(call: &mut PrintCall) -> Option<Value> {
    let told = call.text();
    if told.is_empty() {
        return None;
    }
    let mut words = told.split(' ').filter(|word| !word.is_empty()).skip(1).peekable();
    let number = words.next().unwrap_or_default();
    // The date is one word, as 2024-08-08, or three, as Feb 12 2016.
    let is_one_word = words.peek().is_some_and(|word| word.as_bytes().get(4) == Some(&b'-'));
    let mut words = words.skip(if is_one_word { 1 } else { 3 }).peekable();
    words.next_if(|word| word.starts_with('B'));
    let build = words.next().filter(|word| !word.starts_with('$') && !call.has_narrow_width);
    let build = build.map_or(String::new(), |build| format!(".{}", build.split('-').next().unwrap_or(build)));
    text(format!("{number}{build}"))
}

pub fn count_tag(call: &mut PrintCall) -> Option<Value> {
    text(match call.text().as_str() {
        "Static" => "S".to_owned(),
        "Partitionable" => " ".to_owned(),
        other => other.chars().take(1).collect(),
    })
}

pub fn type_letter(call: &mut PrintCall) -> Option<Value> {
    text(match call.text().as_str() {
        "Static" => "s".to_owned(),
        "Dynamic" => "d".to_owned(),
        "Partitionable" => " ".to_owned(),
        other => other.chars().take(1).collect(),
    })
}

#[allow(clippy::unnecessary_wraps)] // as the other functions
pub fn dynamic_slot_count(call: &mut PrintCall) -> Option<Value> {
    let is_static = matches!(call.value, Value::Undefined) && !call.lookup.has("DynamicSlot");
    Some(if is_static { Value::Integer(1) } else { call.value.clone() })
}

/// The number of assigned GPUs, with the number of those that are offline.
pub fn total_gpus(call: &mut PrintCall) -> Option<Value> {
    let assigned = list_words(&call.lookup.string("AssignedGPUs")?);
    let offline = list_words(&call.lookup.string("OfflineGPUs").unwrap_or_default());
    let is_assigned = |id: &&String| assigned.iter().any(|known| known.eq_ignore_ascii_case(id));
    let shown = match offline.iter().filter(is_assigned).count() {
        0 => format!("{:4}", assigned.len()),
        offline => format!("{:4}-{offline}", assigned.len()),
    };
    text(left_aligned(&shown, call.width))
}
