//! The attributes that people look at first.

use classad::ad::Name;
use classad::pool::Census;

use super::CensusEntry;

/// The attributes of slots and jobs that people look at first, in this order, and whether a picture of the census shows
/// their values.
const MAIN_ATTRIBUTES: [(&str, bool); 28] = [
    ("Name", false),
    ("Machine", false),
    ("ClusterId", false),
    ("ProcId", false),
    ("Owner", true),
    ("JobStatus", true),
    ("JobUniverse", true),
    ("State", true),
    ("Activity", true),
    ("SlotType", true),
    ("OpSysAndVer", true),
    ("OpSys", false),
    ("Arch", true),
    ("Cpus", true),
    ("Memory", true),
    ("Disk", false),
    ("GPUs", true),
    ("Cmd", false),
    ("RequestCpus", true),
    ("RequestMemory", true),
    ("RequestDisk", true),
    ("RequestGPUs", true),
    ("JobPrio", false),
    ("QDate", false),
    ("HoldReason", false),
    ("Requirements", false),
    ("Rank", false),
    ("Start", false),
];

/// Number of attributes that a picture shows if the ads have none of the main ones.
const MAX_OTHER_ATTRIBUTES: usize = 8;

/// Returns the place of an attribute in the order of the main ones. Other attributes have a place after all of them.
pub fn place_of(name: &Name) -> usize {
    MAIN_ATTRIBUTES.iter().position(|(main, _)| name.is(main)).unwrap_or(MAIN_ATTRIBUTES.len())
}

/// Returns the attributes that a picture shows: the main ones, or else the first ones of `sorted` that several ads share
/// a value of.
pub fn drawn<'a>(sorted: &[CensusEntry<'a>], census: &Census) -> Vec<CensusEntry<'a>> {
    let is_main = |name: &Name| MAIN_ATTRIBUTES.get(place_of(name)).is_some_and(|(_, is_drawn)| *is_drawn);
    let main: Vec<CensusEntry> = sorted.iter().copied().filter(|(name, _)| is_main(name)).collect();
    if !main.is_empty() {
        return main;
    }
    let is_shared = |entry: &&CensusEntry| census.ads() == 1 || entry.1.distinct().values < entry.1.ads();
    sorted.iter().filter(is_shared).take(MAX_OTHER_ATTRIBUTES).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::{MAIN_ATTRIBUTES, place_of};
    use classad::ad::Name;

    #[test]
    fn main_attributes_are_listed_once_and_found_in_any_case() {
        for (place, (name, _)) in MAIN_ATTRIBUTES.iter().enumerate() {
            assert_eq!(place_of(&Name::new(&name.to_uppercase())), place, "{name}");
        }
        assert_eq!(place_of(&Name::new("AddressV1")), MAIN_ATTRIBUTES.len());
    }
}
