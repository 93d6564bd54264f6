//! What the table of machines reads of a slot.

use super::slot_totals::{TotalsEntry, TotalsStyle, platform};
use crate::cli::commands::query::print_function::{ACTIVITIES, STATES, letter_of};
use classad::query::AdLookup;

/// The attributes that [`SlotFacts`] reads.
pub const MACHINE_ATTRIBUTES: [&str; 14] = [
    "Machine",
    "Name",
    "SlotTypeId",
    "PartitionableSlot",
    "DynamicSlot",
    "BackfillSlot",
    "State",
    "Activity",
    "Cpus",
    "Memory",
    "ChildState",
    "ChildActivity",
    "RecentJobStarts",
    "ChildMemory",
];

/// What a table reads of a slot beside its row.
#[allow(clippy::struct_excessive_bools)] // each is an attribute
pub struct SlotFacts {
    pub machine: String,
    /// `SlotTypeId` without its sign.
    pub slot_type: i64,
    /// The name before the `@`.
    pub slot: String,
    pub is_partitionable: bool,
    is_dynamic: bool,
    is_backfill: bool,
    /// Whether the slot has less than a tenth of a processor left.
    is_exhausted: bool,
    /// Whether the slot is claimed or about to be. A claimed partitionable slot is not.
    pub is_busy: bool,
    state: Option<String>,
    child_states: Vec<String>,
    child_activities: Vec<String>,
}

impl SlotFacts {
    pub fn new(lookup: &mut AdLookup) -> Self {
        let state = lookup.string("State");
        let is_partitionable = lookup.is_true("PartitionableSlot");
        let is_claimed = matches!(state.as_deref(), Some("Matched" | "Claimed" | "Preempting"));
        let name = lookup.string("Name").unwrap_or_default();
        SlotFacts {
            machine: lookup.string("Machine").unwrap_or_default(),
            slot_type: lookup.integer("SlotTypeId").unwrap_or(0).saturating_abs(),
            slot: name.split('@').next().unwrap_or_default().to_owned(),
            is_partitionable,
            is_dynamic: !is_partitionable && lookup.is_true("DynamicSlot"),
            is_backfill: lookup.is_true("BackfillSlot"),
            is_exhausted: is_partitionable && lookup.real("Cpus").is_some_and(|cpus| cpus < 0.1),
            is_busy: is_claimed && !(is_partitionable && state.as_deref() == Some("Claimed")),
            state,
            child_states: lookup.strings("ChildState").unwrap_or_default(),
            child_activities: lookup.strings("ChildActivity").unwrap_or_default(),
        }
    }

    /// Returns what the slot adds to the totals: a partitionable slot adds its parts, and itself if something is left.
    pub fn totals(&self, style: &TotalsStyle, lookup: &mut AdLookup) -> Vec<TotalsEntry> {
        if self.is_dynamic {
            return Vec::new();
        }
        let name = platform(lookup);
        let mut entry = |state: Option<&str>| style.state_entry(name.clone(), state, self.is_backfill, lookup);
        let mut entries = Vec::new();
        if self.is_partitionable {
            entries.extend(self.child_states.iter().map(|state| entry(Some(state))));
        }
        if !self.is_partitionable || !(self.is_exhausted || self.is_backfill) {
            entries.push(entry(self.state.as_deref()));
        }
        entries
    }

    /// Returns the letters of the state and the activity of a partitionable slot and its parts: a `*` where they
    /// differ. `own` are the letters of the slot itself.
    pub fn common_code(&self, own: &str) -> String {
        let mut letters = own.chars();
        let (mut state, mut activity) = (letters.next().unwrap_or(' '), letters.next().unwrap_or(' '));
        let child_state = consensus(&self.child_states, &STATES, 'P');
        let child_activity = consensus(&self.child_activities, &ACTIVITIES, 'v');
        let shown = |letter: Option<char>| letter.unwrap_or(' ');
        if (state, activity) == ('U', 'i') && self.is_exhausted {
            (state, activity) = (shown(child_state), shown(child_activity));
        } else if state == 'D' && child_state == Some('C') {
            state = 'C';
        }
        if child_state == Some('P') {
            state = 'P';
        }
        if child_activity == Some('v') {
            activity = 'v';
        }
        let state = if child_state.is_some_and(|child| child != state) { '*' } else { state };
        let activity = if child_activity.is_some_and(|child| child != activity) { '*' } else { activity };
        format!("{state}{activity}")
    }
}

/// Returns the letter that all names have; `None` if there are no names. If they differ, it is `#`, or `winner` if a
/// name after the first has it.
fn consensus(names: &[String], letters: &[(&str, char)], winner: char) -> Option<char> {
    let mut common = None;
    for letter in names.iter().filter_map(|name| letter_of(letters, name)) {
        match common {
            None => common = Some(letter),
            Some(known) if known == letter => {}
            Some(_) if letter == winner => return Some(winner),
            Some(_) => common = Some('#'),
        }
    }
    common
}
