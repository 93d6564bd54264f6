//! Suggestions for misspelt names, by edit distance.

use std::fmt;

use strsim::osa_distance;

/// Maximum number of names suggested.
const MAX_SUGGESTIONS: usize = 3;

/// How many edits more than the nearest name a name may be away.
const MAX_FARTHER: usize = 2;

/// Maximum length of a compared name, in characters; longer ones are hardly typed by a person and would be slow
/// to compare.
const MAX_NAME_CHARACTERS: usize = 64;

/// Minimum length of a name that stands for a longer one, in characters.
const MIN_ABBREVIATION_CHARACTERS: usize = 5;

/// Returns the names of `among` closest to `name`, ignoring case: best first, at most three, each once.
///
/// A name is close if its edit distance to `name` is at most one plus a fifth of the letters of `name`. The distance
/// must also be less than the length of the longer name, so that not every letter differs, and at most two more than that of the
/// closest one. If none is close, the only name that begins with
/// `name` counts, as `MinMemory` for `MinMem`. O(m n) to compare names of
/// lengths m and n.
#[must_use]
pub fn closest_names<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    nearest_names(name, among, MAX_SUGGESTIONS)
}

/// Returns the first of the [`closest_names`]; `None` if there are none.
#[must_use]
pub fn closest_name<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_names(name, among, 1).pop()
}

/// Returns at most `count` of the [`closest_names`].
fn nearest_names<'a>(name: &str, among: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let Some((name, length)) = folded(name) else { return Vec::new() };
    let mut most = 1 + length / 5;
    // The nearest names so far, each with its distance and in lower case, best first.
    let mut near: Vec<(usize, String, &str)> = Vec::with_capacity(count + 1);
    // The names that begin with this one: none, the only one, or the first two.
    let mut longer: Vec<(String, &str)> = Vec::new();
    for candidate in among {
        let Some((other, letters)) = folded(candidate) else { continue };
        let is_longer = length >= MIN_ABBREVIATION_CHARACTERS && longer.len() < 2 && other.starts_with(&name);
        if is_longer && longer.iter().all(|(known, _)| *known != other) {
            longer.push((other.clone(), candidate));
        }
        if letters.abs_diff(length) > most {
            continue;
        }
        if letters_to_change(&name, &other) > most {
            continue;
        }
        let distance = osa_distance(&name, &other);
        if distance > most || distance >= length.max(letters) {
            continue;
        }
        let found = (distance, other, candidate);
        match near.iter_mut().find(|(_, known, _)| *known == found.1) {
            Some(known) if found < *known => *known = found,
            Some(_) => {}
            None => {
                near.insert(near.partition_point(|known| *known < found), found);
                near.truncate(count);
            }
        }
        // A name that is farther than the last of so many cannot be among them.
        if let Some((farthest, ..)) = near.get(count - 1) {
            most = *farthest;
        }
    }
    // A long name has room for many edits. Beside a slip, another name is far away.
    let nearest = near.first().map_or(0, |(distance, ..)| *distance);
    near.retain(|(distance, ..)| *distance <= nearest + MAX_FARTHER);
    match longer.as_slice() {
        [(_, only)] if near.is_empty() => vec![only],
        _ => near.into_iter().map(|(_, _, name)| name).collect(),
    }
}

/// Returns the identities of `among` that are most similar to `id`: at most three that begin with it, ignoring case, as
/// `slot1@node01.example.org` begins with `slot1@node01`; otherwise the [`closest_names`].
#[must_use]
pub fn similar_ids<'a>(id: &str, among: impl Iterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    let begins = |other: &&str| other.get(..id.len()).is_some_and(|start| start.eq_ignore_ascii_case(id));
    let longer: Vec<&str> = among.clone().filter(begins).take(MAX_SUGGESTIONS).collect();
    if id.is_empty() || longer.is_empty() { closest_names(id, among) } else { longer }
}

/// Returns `did you mean a, b?` for the names that [`closest_names`] found; `None` if `near` is empty.
#[must_use]
pub fn did_you_mean<S: fmt::Display>(near: &[S]) -> Option<String> {
    let names: Vec<String> = near.iter().map(S::to_string).collect();
    Some(format!("did you mean {}?", names.join(", "))).filter(|_| !near.is_empty())
}

/// Returns [`did_you_mean`] as the end of a message: `; did you mean a, b?`. The text is empty if `near` is empty.
#[must_use]
pub fn suggestion<S: fmt::Display>(near: &[S]) -> String {
    did_you_mean(near).map(|question| format!("; {question}")).unwrap_or_default()
}

/// Returns a lower bound of the edit distance: the number of letters that one name has and the other lacks, whatever
/// their order. An edit changes it by one at most. O(m + n), so that most names need no table of distances.
fn letters_to_change(name: &str, other: &str) -> usize {
    // Names that are not ASCII are compared in full: a character of several bytes is changed by one edit.
    if !name.is_ascii() || !other.is_ascii() {
        return 0;
    }
    let mut surplus = [0_i32; 128];
    name.bytes().for_each(|letter| surplus[letter as usize] += 1);
    other.bytes().for_each(|letter| surplus[letter as usize] -= 1);
    let (more, fewer) = surplus.iter().fold((0, 0), |(more, fewer), count| match count {
        0.. => (more + count, fewer),
        _ => (more, fewer - count),
    });
    usize::try_from(more.max(fewer)).unwrap_or_default()
}

/// Returns the name in lower case and its number of characters; `None` if it has more than [`MAX_NAME_CHARACTERS`].
fn folded(name: &str) -> Option<(String, usize)> {
    let length = name.chars().take(MAX_NAME_CHARACTERS + 1).count();
    (length <= MAX_NAME_CHARACTERS).then(|| (name.to_ascii_lowercase(), length))
}

#[cfg(test)]
mod tests {
    use strsim::osa_distance;

    use super::{closest_name, closest_names, letters_to_change, similar_ids, suggestion};

    #[test]
    fn no_name_is_nearer_than_its_letters_say() {
        let mut random = fastrand::Rng::with_seed(4);
        let letters = ['a', 'b', 'c', '_', '9', 'z', '\u{e4}'];
        for _ in 0..20_000 {
            let mut name = || (0..random.usize(0..9)).map(|_| letters[random.usize(0..7)]).collect::<String>();
            let [name, other] = [name(), name()];
            assert!(letters_to_change(&name, &other) <= osa_distance(&name, &other), "{name} {other}");
        }
    }

    #[test]
    fn the_closest_names_are_those_of_all_distances() {
        let mut random = fastrand::Rng::with_seed(7);
        let letters = ['a', 'A', 'b', '_', '9', '\u{e4}'];
        for _ in 0..2_000 {
            let mut name = || (0..random.usize(0..7)).map(|_| letters[random.usize(0..6)]).collect::<String>();
            let (wanted, among) = (name(), (0..12).map(|_| name()).collect::<Vec<_>>());
            let length = wanted.chars().count();
            let folded = |name: &String| name.to_ascii_lowercase();
            let mut all: Vec<(usize, String, &str)> = among
                .iter()
                .map(|name| (osa_distance(&folded(&wanted), &folded(name)), folded(name), name.as_str()))
                .filter(|(distance, _, name)| {
                    *distance <= 1 + length / 5 && *distance < length.max(name.chars().count())
                })
                .collect();
            all.sort_unstable();
            all.dedup_by(|(_, later, _), (_, earlier, _)| later == earlier);
            let expected: Vec<&str> = all.into_iter().map(|(_, _, name)| name).take(3).collect();
            assert_eq!(closest_names(&wanted, among.iter().map(String::as_str)), expected, "{wanted} {among:?}");
            let first = closest_name(&wanted, among.iter().map(String::as_str));
            assert_eq!(first, expected.first().copied(), "{wanted} {among:?}");
        }
    }

    #[test]
    fn what_was_meant() {
        let pool = ["Memory", "Machine", "Cpus", "CpuFamily", "OpSys", "OpSysMajorVer", "HasDocker", "memory"];
        for (name, expected) in [
            ("Memroy", vec!["Memory"]),
            ("MEMORY", vec!["Memory"]),
            ("Cpu", vec!["Cpus"]),
            ("OpSysMajorVersion", vec!["OpSysMajorVer"]),
            ("has_docker", vec!["HasDocker"]),
            ("CpuFam", vec!["CpuFamily"]),
            ("HasDo", vec!["HasDocker"]),
            ("HasD", vec![]),
            ("Machi", vec!["Machine"]),
            ("Owner", vec![]),
            ("", vec![]),
            ("x", vec![]),
        ] {
            assert_eq!(closest_names(name, pool), expected, "{name}");
        }
    }

    #[test]
    fn best_first_and_no_more_than_three() {
        let among = ["abcdefXX", "abcdefgX", "abcdefgh", "abcdefgY", "abcdefgZ"];
        assert_eq!(closest_names("abcdefgh", among), ["abcdefgh", "abcdefgX", "abcdefgY"]);
    }

    #[test]
    fn beside_a_slip_another_long_name_is_far() {
        let among = ["HAS_CVMFS_oasis_opensciencegrid_org", "HAS_CVMFS_ara_opensciencegrid_org"];
        assert_eq!(closest_names("HAS_CVMFS_oasis_opensciencegird_org", among), among[..1]);
        // The nearest has two edits itself, and the other two more.
        assert_eq!(closest_names("HAS_CVMFS_eic_opensciencegrid_org", among), [among[1], among[0]]);
    }

    #[test]
    fn endless_names_cost_nothing() {
        let endless = "x".repeat(1_000_000);
        assert!(closest_names(&endless, [endless.as_str()]).is_empty());
        assert!(closest_names("x", [endless.as_str()]).is_empty());
    }

    #[test]
    fn suggestions_end_a_message() {
        assert_eq!([suggestion::<&str>(&[]), suggestion(&["a", "b"])], ["", "; did you mean a, b?"]);
    }

    #[test]
    fn a_name_may_differ_by_an_edit_more_for_each_five_letters() {
        for (name, other, is_near) in [
            ("abcd", "abce", true),
            ("abcd", "abef", false),
            ("abcde", "abcxy", true),
            ("abcde", "abxyz", false),
            ("abcdefghi", "abcdefgxy", true),
            ("abcdefghi", "abcdefxyz", false),
            ("abcdefghij", "abcdefgxyz", true),
            ("a", "b", false),
            ("a", "ab", true),
            ("ab", "cd", false),
            ("ab", "", false),
        ] {
            assert_eq!(closest_names(name, [other]).len(), usize::from(is_near), "{name} {other}");
        }
        // The only longer name counts for five letters, and no longer name of several.
        for (name, among, expected) in [
            ("MinMe", vec!["MinMemoryOfAll"], vec!["MinMemoryOfAll"]),
            ("MinM", vec!["MinMemoryOfAll"], vec![]),
            ("MinMe", vec!["MinMemoryOfAll", "MINMEMORYOFALL"], vec!["MinMemoryOfAll"]),
            ("MinMe", vec!["MinMemoryOfAll", "MinMemoryOfOne"], vec![]),
            ("MinMe", vec!["MinMemoryOfAll", "MinNe"], vec!["MinNe"]),
        ] {
            assert_eq!(closest_names(name, among), expected, "{name}");
        }
        let (long, longer) = ("x".repeat(64), "x".repeat(65));
        assert_eq!(closest_names(&long, [long.as_str()]), [long.as_str()]);
        assert!(closest_names(&longer, [longer.as_str()]).is_empty());
    }

    #[test]
    fn identities_that_begin_alike_come_first() {
        let among = ["slot1@a", "slot1_1@a", "slot1_2@a", "SLOT1_3@a", "slot2@a"];
        for (id, expected) in [
            ("slot1", vec!["slot1@a", "slot1_1@a", "slot1_2@a"]),
            ("slot1_3", vec!["SLOT1_3@a"]),
            ("slot2@a", vec!["slot2@a"]),
            ("slot3@a", vec!["slot1@a", "slot2@a", "SLOT1_3@a"]),
            ("", vec![]),
            ("none", vec![]),
        ] {
            assert_eq!(similar_ids(id, among.into_iter()), expected, "{id}");
        }
    }
}
