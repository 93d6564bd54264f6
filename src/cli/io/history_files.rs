//! Files of one history: the file that is being written, and the older ones that were renamed.

use std::collections::BTreeMap;

/// Puts the files of each history or log in the order of their times: first those that were renamed, then the one that is
/// written, which is the newest. All other files keep their places.
///
/// Files are of one history if their paths are the same but for the ending: `.old` is the oldest, then come times, as
/// `history.20260101T120000`, or numbers, as `EventLog.2` before `EventLog.1`. Numbers count only beside the file without
/// one, because logs of different jobs end with numbers, too.
pub fn in_order_of_time(paths: &[String]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, path) in paths.iter().enumerate() {
        let base = split_rotation(path, paths).map_or(file_of(path), |(base, _)| base);
        places.entry(base).or_default().push(place);
    }
    let mut order: Vec<usize> = (0..paths.len()).collect();
    for places in places.into_values() {
        let mut files = places.clone();
        files.sort_by_key(|place| {
            let rotation = split_rotation(&paths[*place], paths).map(|(_, rotation)| rotation);
            (rotation.is_none(), rotation)
        });
        for (place, file) in places.into_iter().zip(files) {
            order[place] = file;
        }
    }
    order.into_iter().map(|file| paths[file].clone()).collect()
}

/// Returns the files of the history or log that is written to a path, from the oldest to that one.
pub fn rotated_files(path: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (&path[..=folder.len()], name));
    let listed = std::fs::read_dir(if folder.is_empty() { "." } else { folder });
    let names = listed.into_iter().flatten().flatten().filter_map(|file| file.file_name().into_string().ok());
    let mut paths: Vec<String> =
        names.filter(|other| other.starts_with(name)).map(|name| format!("{folder}{name}")).collect();
    paths.sort_unstable();
    let of_path = |other: &String| other == path || split_rotation(other, &paths).is_some_and(|(base, _)| base == path);
    let own: Vec<String> = paths.iter().filter(|other| of_path(other)).cloned().collect();
    in_order_of_time(&own)
}

/// Returns the path of the file, without the range of a part.
fn file_of(path: &str) -> &str {
    match path.rsplit_once('@') {
        Some((file, range)) if range.contains('-') && range.bytes().all(|b| b == b'-' || b.is_ascii_digit()) => file,
        _ => path,
    }
}

/// How a file was renamed, in the order of age.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rotation {
    Old,
    Time(String),
    Number(std::cmp::Reverse<u32>),
}

/// Splits a path at the `.` before what was added when the file was renamed. `None` if it was not.
fn split_rotation<'p>(path: &'p str, paths: &[String]) -> Option<(&'p str, Rotation)> {
    if let Some((base, time)) = split_time(path) {
        return Some((base, Rotation::Time(time)));
    }
    let (base, ending) = file_of(path).rsplit_once('.').filter(|(base, _)| !base.is_empty())?;
    let has_base = || paths.iter().any(|path| file_of(path) == base);
    match ending {
        "old" => Some((base, Rotation::Old)),
        number if number.len() <= 3 && has_base() => {
            Some((base, Rotation::Number(std::cmp::Reverse(number.parse().ok()?))))
        }
        _ => None,
    }
}

/// Splits a path at the `.` before its time. Returns the digits of the time; `None` if the path ends with no time.
fn split_time(path: &str) -> Option<(&str, String)> {
    let (base, time) = file_of(path).rsplit_once('.')?;
    let (date, clock) = time.split_once('T')?;
    let digits = |text: &str, separator: char| text.replace(separator, "");
    let (date, clock) = (digits(date, '-'), digits(clock, ':'));
    let is_time = date.len() == 8 && clock.len() == 6 && date.bytes().chain(clock.bytes()).all(|b| b.is_ascii_digit());
    (is_time && !base.is_empty()).then(|| (base, date + &clock))
}

#[cfg(test)]
mod tests {
    use super::{in_order_of_time, rotated_files};

    #[test]
    fn a_history_is_in_order_and_all_else_stays() {
        let order = |paths: &str| in_order_of_time(&paths.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ");
        for (given, expected) in [
            ("h h.20260102T000000 h.20260101T000000", "h.20260101T000000 h.20260102T000000 h"),
            ("b h a h.2026-01-01T00:00:00", "b h.2026-01-01T00:00:00 a h"),
            ("x/h y/h.20260101T000000", "x/h y/h.20260101T000000"),
            ("h h.old h.20260101T000000Z", "h.old h h.20260101T000000Z"),
            ("h h.20260101T000000 h.old", "h.old h.20260101T000000 h"),
            ("e e.1 e.10 e.2 x", "e.10 e.2 e.1 e x"),
            ("job.1 job.0 job.10", "job.1 job.0 job.10"),
            ("- b a b", "- b a b"),
            ("h@5-9 h@0-5 h.20260101T000000@0-7", "h.20260101T000000@0-7 h@5-9 h@0-5"),
        ] {
            assert_eq!(order(given), expected);
        }
    }

    #[test]
    fn numbers_and_times_of_rotated_files() {
        let order = |paths: &str| in_order_of_time(&paths.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ");
        for (given, expected) in [
            ("e e.999 e.1000", "e.999 e e.1000"),
            ("e e.1x e.1", "e.1 e.1x e"),
            ("e e.", "e e."),
            ("e .old x/.old", "e .old x/.old"),
            ("h h.20260101T000000 h.20251231T235959", "h.20251231T235959 h.20260101T000000 h"),
            ("h h.20260101T00000 h.2026010T000000", "h h.20260101T00000 h.2026010T000000"),
            ("h h.2026-01-01T00:00:01 h.20260101T000000", "h.20260101T000000 h.2026-01-01T00:00:01 h"),
            ("h@5 h.old", "h@5 h.old"),
            ("h@5-9x h.old", "h@5-9x h.old"),
            ("h@- h.old@5-9", "h.old@5-9 h@-"),
        ] {
            assert_eq!(order(given), expected, "{given}");
        }
    }

    #[test]
    fn rotated_files_of_a_file_are_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["h", "h.old", "h.20260101T000000", "h.2", "h.10", "hx", "hx.old", "a.old", "h.2x", "h.1000"];
        for name in names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let path = format!("{}/h", folder.path().display());
        let found: Vec<String> = rotated_files(&path).iter().map(|found| found.replace(&path, "h")).collect();
        assert_eq!(found, ["h.old", "h.20260101T000000", "h.10", "h.2", "h"]);
        assert!(rotated_files(&format!("{path}/none")).is_empty());
    }
}
