//! Files of one history: the file that is being written, and the older ones that were renamed.

use std::collections::BTreeMap;

/// Puts the files of each history in the order of their times: first those with a time in their name, as
/// `history.20260101T120000`, then the one without, which is the newest. All other files keep their places.
///
/// Files are of one history if their paths are the same but for the time.
pub fn in_order_of_time(paths: &[String]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, path) in paths.iter().enumerate() {
        let base = split_time(path).map_or(file_of(path), |(base, _)| base);
        places.entry(base).or_default().push(place);
    }
    let mut order: Vec<usize> = (0..paths.len()).collect();
    for places in places.into_values() {
        let mut files = places.clone();
        files.sort_by_key(|place| {
            let time = split_time(&paths[*place]).map(|(_, time)| time);
            (time.is_none(), time)
        });
        for (place, file) in places.into_iter().zip(files) {
            order[place] = file;
        }
    }
    order.into_iter().map(|file| paths[file].clone()).collect()
}

/// Returns the path of the file, without the range of a part.
fn file_of(path: &str) -> &str {
    match path.rsplit_once('@') {
        Some((file, range)) if range.contains('-') && range.bytes().all(|b| b == b'-' || b.is_ascii_digit()) => file,
        _ => path,
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
    use super::in_order_of_time;

    #[test]
    fn a_history_is_in_order_and_all_else_stays() {
        let order = |paths: &str| in_order_of_time(&paths.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ");
        for (given, expected) in [
            ("h h.20260102T000000 h.20260101T000000", "h.20260101T000000 h.20260102T000000 h"),
            ("b h a h.2026-01-01T00:00:00", "b h.2026-01-01T00:00:00 a h"),
            ("x/h y/h.20260101T000000", "x/h y/h.20260101T000000"),
            ("h h.old h.20260101T000000Z", "h h.old h.20260101T000000Z"),
            ("- b a b", "- b a b"),
            ("h@5-9 h@0-5 h.20260101T000000@0-7", "h.20260101T000000@0-7 h@5-9 h@0-5"),
        ] {
            assert_eq!(order(given), expected);
        }
    }
}
