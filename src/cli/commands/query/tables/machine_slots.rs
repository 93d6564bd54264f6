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

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;
    use crate::cli::commands::query::tables::slot_totals::{AdTotals, BY_STATE};

    /// What is read of a slot with these attributes, and what `read` makes of it.
    fn of_slot<T>(attributes: &str, read: impl FnOnce(SlotFacts, &mut AdLookup) -> T) -> T {
        let context = Context::new(Dialect::Condor);
        let ad = parse_ad(format!("[ {attributes} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let mut lookup = AdLookup::new(&ad, &context);
        let facts = SlotFacts::new(&mut lookup);
        read(facts, &mut lookup)
    }

    #[test]
    fn facts_are_those_of_the_ad() {
        for (attributes, expected) in [
            ("x = 1", "'' 0 ''"),
            ("Machine = \"m\"; Name = \"slot1_2@m\"; SlotTypeId = -3", "'m' 3 'slot1_2'"),
            ("Machine = \"m\"; Name = \"m\"; SlotTypeId = 2; State = \"Matched\"", "'m' 2 'm' busy"),
            ("State = \"Claimed\"", "'' 0 '' busy"),
            ("State = \"Preempting\"; PartitionableSlot = true", "'' 0 '' busy partitionable"),
            ("State = \"Claimed\"; PartitionableSlot = true", "'' 0 '' partitionable"),
            ("State = \"Unclaimed\"; PartitionableSlot = true; DynamicSlot = true", "'' 0 '' partitionable"),
            ("State = \"Drained\"; DynamicSlot = true", "'' 0 '' dynamic"),
            ("BackfillSlot = true; PartitionableSlot = true; Cpus = 0.09", "'' 0 '' partitionable backfill exhausted"),
            ("PartitionableSlot = true; Cpus = 0.1", "'' 0 '' partitionable"),
            ("Cpus = 0", "'' 0 ''"),
        ] {
            let found = of_slot(attributes, |slot, _| {
                let words = [
                    (slot.is_busy, " busy"),
                    (slot.is_partitionable, " partitionable"),
                    (slot.is_dynamic, " dynamic"),
                    (slot.is_backfill, " backfill"),
                    (slot.is_exhausted, " exhausted"),
                ];
                let words: String = words.into_iter().filter(|(is_true, _)| *is_true).map(|(_, word)| word).collect();
                format!("'{}' {} '{}'{words}", slot.machine, slot.slot_type, slot.slot)
            });
            assert_eq!(found, expected, "{attributes}");
        }
    }

    /// The letters of a slot and of its parts.
    #[test]
    fn letters_that_differ_are_stars() {
        for (own, cpus, states, activities, expected) in [
            ("Ui", 1, "", "", "Ui"),
            ("", 1, "", "", "  "),
            ("O", 1, "", "", "O "),
            ("Ui", 1, "\"Unclaimed\"", "\"Idle\"", "Ui"),
            ("Ui", 1, "\"Claimed\"", "\"Idle\"", "*i"),
            ("Ui", 1, "\"Claimed\", \"Claimed\"", "\"Busy\", \"Busy\"", "**"),
            ("Ci", 1, "\"Claimed\", \"Owner\"", "\"Idle\", \"Idle\"", "*i"),
            // Of a slot that has nothing left, the letters are those of its parts.
            ("Ui", 0, "\"Claimed\", \"Claimed\"", "\"Busy\", \"Busy\"", "Cb"),
            ("Ui", 0, "\"Claimed\", \"Owner\"", "\"Busy\", \"Idle\"", "##"),
            ("Ui", 0, "", "", "  "),
            ("Oi", 0, "\"Claimed\"", "\"Idle\"", "*i"),
            ("Ub", 0, "\"Claimed\"", "\"Busy\"", "*b"),
            // A drained slot is claimed as its parts are. A part that is preempted or vacates tells it for all.
            ("Di", 1, "\"Claimed\"", "\"Idle\"", "Ci"),
            ("Di", 1, "\"Owner\"", "\"Idle\"", "*i"),
            ("Ci", 1, "\"Claimed\", \"Preempting\"", "\"Idle\", \"Vacating\"", "Pv"),
            ("Ci", 1, "\"Preempting\", \"Claimed\"", "\"Vacating\", \"Idle\"", "**"),
            ("Ci", 1, "\"Preempting\", \"Preempting\"", "\"Vacating\"", "Pv"),
            ("Ci", 1, "\"Odd\", \"Claimed\"", "\"Odd\"", "Ci"),
        ] {
            let children = format!("ChildState = {{ {states} }}; ChildActivity = {{ {activities} }}");
            let attributes = format!("PartitionableSlot = true; Cpus = {cpus}; {children}");
            let found = of_slot(&attributes, |slot, _| slot.common_code(own));
            assert_eq!(found, expected, "{own} {attributes}");
        }
    }

    /// The entries of a slot, as the line of all of them says: all, owner, claimed, unclaimed, and so on.
    #[test]
    fn parts_and_what_is_left_are_in_the_totals() {
        let two = "PartitionableSlot = true; ChildState = { \"Claimed\", \"Owner\" }";
        for (attributes, expected) in [
            ("State = \"Claimed\"", "1 0 1 0 0 0 0 0 0"),
            ("State = \"Claimed\"; DynamicSlot = true", "0 0 0 0 0 0 0 0 0"),
            ("State = \"Unclaimed\"; BackfillSlot = true", "0 0 0 0 0 0 0 0 1"),
            ("State = \"Claimed\"; ChildState = { \"Claimed\" }", "1 0 1 0 0 0 0 0 0"),
            (&format!("State = \"Unclaimed\"; Cpus = 1; {two}"), "3 1 1 1 0 0 0 0 0"),
            (&format!("State = \"Unclaimed\"; Cpus = 0; {two}"), "2 1 1 0 0 0 0 0 0"),
            (&format!("State = \"Unclaimed\"; Cpus = 1; BackfillSlot = true; {two}"), "2 1 0 0 0 0 0 1 0"),
            ("State = \"Unclaimed\"; PartitionableSlot = true", "1 0 0 1 0 0 0 0 0"),
        ] {
            let attributes = format!("OpSysAndVer = \"o\"; Arch = \"a\"; {attributes}");
            let mut totals = AdTotals::default();
            of_slot(&attributes, |slot, lookup| {
                for entry in slot.totals(&BY_STATE, lookup) {
                    assert_eq!(entry.name.as_deref(), Some("a/o"));
                    totals.add(&entry);
                }
            });
            let mut out = Vec::new();
            totals.write(&mut out, &BY_STATE, 0).unwrap();
            let text = String::from_utf8(out).unwrap();
            let numbers: Vec<&str> = text.lines().last().unwrap().split_whitespace().skip(1).collect();
            assert_eq!(numbers.join(" "), expected, "{attributes}");
        }
    }
}
