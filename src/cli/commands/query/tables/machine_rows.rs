//! The rows of `condor_status -compact`: the slots of a machine that have one type are one row.

use classad::ad::Value;

use super::ad_table::TableRecord;
use crate::cli::commands::query::print_mask::MaskValues;
use classad::query::{to_integer, to_real, to_text};

/// The columns whose values are counted, in the print format of machines.
const MACHINE: usize = 0;
const SLOTS: usize = 2;
const FREE_CPUS: usize = 7;
const FREE_MEMORY: usize = 8;
const CODE: usize = 10;
const JOB_STARTS: usize = 11;
const LARGEST: usize = 12;

/// Makes the rows of machines of records that are sorted by machine and type of slot.
pub fn machine_rows(records: &[TableRecord]) -> Vec<MaskValues> {
    let mut rows: Vec<MaskValues> = Vec::new();
    let mut last: Option<(&str, i64)> = None;
    for record in records {
        let Some(slot) = &record.slot else { continue };
        let key = (slot.machine.as_str(), slot.slot_type);
        if last == Some(key)
            && !slot.machine.is_empty()
            && let Some(row) = rows.last_mut()
        {
            fold(row, record);
            continue;
        }
        let is_further = last.is_some_and(|(machine, _)| machine == slot.machine && !machine.is_empty());
        let mut row = own_row(record);
        if is_further && !slot.slot.is_empty() {
            row[MACHINE] = Some(Value::string(format!("   {}", slot.slot)));
        }
        rows.push(row);
        last = Some(key);
    }
    rows
}

fn real(row: &MaskValues, column: usize) -> f64 {
    row[column].as_ref().and_then(to_real).unwrap_or(0.0)
}

/// Returns the row of a single slot.
fn own_row(record: &TableRecord) -> MaskValues {
    let mut row = record.values.clone();
    let Some(slot) = &record.slot else { return row };
    if slot.is_partitionable {
        let own = row[CODE].as_ref().and_then(to_text).unwrap_or_default();
        row[CODE] = row[CODE].as_ref().map(|_| Value::string(slot.common_code(&own)));
        return row;
    }
    row[LARGEST] = Some(Value::Real(real(&row, FREE_MEMORY)));
    if slot.is_busy {
        row[FREE_CPUS] = row[FREE_CPUS].as_ref().map(|_| Value::Integer(0));
        row[FREE_MEMORY] = row[FREE_MEMORY].as_ref().map(|_| Value::Real(0.0));
    }
    row[SLOTS] = Some(Value::Integer(1));
    row
}

/// Adds another slot to the row of a machine. A column that the first slot leaves empty stays empty, except the number
/// of slots.
fn fold(row: &mut MaskValues, record: &TableRecord) {
    let Some(slot) = &record.slot else { return };
    let other = &record.values;
    let mut set = |column: usize, sum: fn(f64, f64) -> f64, number: f64| {
        let sum = sum(real(row, column), number);
        row[column] = row[column].as_ref().map(|_| Value::Real(sum));
    };
    let free = real(other, FREE_MEMORY);
    set(LARGEST, f64::max, if slot.is_partitionable { real(other, LARGEST) } else { free });
    if slot.is_partitionable || !slot.is_busy {
        set(FREE_MEMORY, |a, b| a + b, free);
        set(FREE_CPUS, |a, b| a + b, real(other, FREE_CPUS));
    }
    set(JOB_STARTS, |a, b| a + b, real(other, JOB_STARTS));
    let own = row[SLOTS].as_ref().and_then(to_integer).unwrap_or(1);
    let parts = other[SLOTS].as_ref().and_then(to_integer).unwrap_or(0);
    row[SLOTS] = Some(Value::Integer(own + if slot.is_partitionable { parts } else { 1 }));
    let text = |value: &Option<Value>| value.as_ref().and_then(to_text).unwrap_or_default();
    let code = if slot.is_partitionable { slot.common_code(&text(&other[CODE])) } else { text(&other[CODE]) };
    let own = text(&row[CODE]);
    let common: String = own.chars().zip(code.chars()).map(|(a, b)| if a == b { a } else { '*' }).collect();
    row[CODE] = Some(Value::string(common));
}

#[cfg(test)]
mod tests {
    use classad::ad::{Dialect, Value};
    use classad::eval::Context;
    use classad::query::AdLookup;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;
    use crate::cli::commands::query::tables::machine_slots::SlotFacts;

    /// Returns the rows of slots as machine, slots, free processors, free and largest memory, state, and starts of jobs. A
    /// slot is its ad, its number of parts (-1 for none), its processors and memory, and the largest memory of a part.
    fn rows(slots: &[(&str, i64, i64, f64, f64)]) -> Vec<String> {
        let context = Context::new(Dialect::Condor);
        let record = |(text, parts, cpus, memory, largest): &(&str, i64, i64, f64, f64)| {
            let text = format!("[ Machine = \"m\"; Name = \"slot1@m\"; {text} ]");
            let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let slot = SlotFacts::new(&mut AdLookup::new(&ad, &context));
            let code = if slot.is_busy { "Cb" } else { "Ui" };
            let mut values = vec![None; LARGEST + 1];
            values[MACHINE] = Some(Value::string(slot.machine.clone()));
            values[SLOTS] = Some(Value::Integer(*parts)).filter(|_| *parts >= 0);
            (values[FREE_CPUS], values[FREE_MEMORY]) = (Some(Value::Integer(*cpus)), Some(Value::Real(*memory)));
            (values[CODE], values[JOB_STARTS]) = (Some(Value::string(code)), Some(Value::Real(0.5)));
            values[LARGEST] = Some(Value::Real(*largest));
            TableRecord { slot: Some(slot), ..TableRecord::of_row(values) }
        };
        let text = |value: &Option<Value>| value.as_ref().map(ToString::to_string).unwrap_or_default();
        let columns = [MACHINE, SLOTS, FREE_CPUS, FREE_MEMORY, LARGEST, CODE, JOB_STARTS];
        let shown = |row: &MaskValues| columns.map(|column| text(&row[column])).join(" ").replace('"', "");
        machine_rows(&slots.iter().map(record).collect::<Vec<_>>()).iter().map(shown).collect()
    }

    #[test]
    fn the_slots_of_one_type_are_one_row() {
        let (free, busy) = ("State = \"Unclaimed\"", "State = \"Claimed\"");
        let divided = "State = \"Unclaimed\"; PartitionableSlot = true";
        for (slots, expected) in [
            (&[(free, 0, 1, 2.0, 0.0)][..], &["m 1 1 2.0 2.0 Ui 0.5"][..]),
            (&[(busy, 0, 1, 2.0, 0.0)], &["m 1 0 0.0 2.0 Cb 0.5"]),
            // What is busy is not free. The largest slot may be busy.
            (&[(free, 0, 1, 2.0, 0.0), (free, 0, 3, 4.0, 0.0)], &["m 2 4.0 6.0 4.0 Ui 1.0"]),
            (&[(free, 0, 1, 2.0, 0.0), (busy, 0, 3, 4.0, 0.0)], &["m 2 1 2.0 4.0 ** 1.0"]),
            (&[(free, 0, 1, 4.0, 0.0), (busy, 0, 3, 2.0, 0.0)], &["m 2 1 4.0 4.0 ** 1.0"]),
            // A partitionable slot counts its parts, and the largest one of them.
            (&[(divided, 3, 1, 2.0, 8.0)], &["m 3 1 2.0 8.0 Ui 0.5"]),
            (&[(divided, 3, 1, 2.0, 8.0), (divided, 2, 5, 1.0, 9.0)], &["m 5 6.0 3.0 9.0 Ui 1.0"]),
            (&[(divided, 3, 1, 2.0, 8.0), (divided, 2, 5, 9.0, 1.0)], &["m 5 6.0 11.0 8.0 Ui 1.0"]),
            (&[(divided, -1, 1, 2.0, 8.0), (divided, 2, 5, 1.0, 9.0)], &["m 3 6.0 3.0 9.0 Ui 1.0"]),
            (&[(divided, 3, 1, 2.0, 8.0), (divided, -1, 5, 1.0, 9.0)], &["m 3 6.0 3.0 9.0 Ui 1.0"]),
            (&[(divided, 3, 1, 2.0, 8.0), (busy, 0, 5, 4.0, 1.0)], &["m 4 1 2.0 8.0 ** 1.0"]),
            // Slots that tell no machine have rows of their own.
            (
                &[("Machine = \"\"", 0, 1, 2.0, 0.0), ("Machine = \"\"", 0, 3, 4.0, 0.0)],
                &[" 1 1 2.0 2.0 Ui 0.5", " 1 3 4.0 4.0 Ui 0.5"],
            ),
            (
                &[("Machine = \"\"", 0, 1, 2.0, 0.0), ("Machine = \"\"; SlotTypeId = 2", 0, 3, 4.0, 0.0)],
                &[" 1 1 2.0 2.0 Ui 0.5", " 1 3 4.0 4.0 Ui 0.5"],
            ),
            (
                &[(free, 0, 1, 2.0, 0.0), ("Name = \"@m\"; SlotTypeId = 2", 0, 1, 3.0, 0.0)],
                &["m 1 1 2.0 2.0 Ui 0.5", "m 1 1 3.0 3.0 Ui 0.5"],
            ),
            (
                &[(free, 0, 1, 2.0, 0.0), ("Machine = \"n\"", 0, 1, 3.0, 0.0)],
                &["m 1 1 2.0 2.0 Ui 0.5", "n 1 1 3.0 3.0 Ui 0.5"],
            ),
            // Other types have rows of their own.
            (
                &[(free, 0, 1, 2.0, 0.0), ("State = \"Unclaimed\"; SlotTypeId = 2", 0, 1, 3.0, 0.0)],
                &["m 1 1 2.0 2.0 Ui 0.5", "   slot1 1 1 3.0 3.0 Ui 0.5"],
            ),
        ] {
            assert_eq!(rows(slots), expected, "{slots:?}");
        }
    }
}
