//! Suggestions for misspelt names, by edit distance.

use std::fmt;

/// Maximum number of names suggested.
const MAX_SUGGESTIONS: usize = 3;

/// Maximum length of a compared name, in characters; longer ones are hardly typed by a person and would be slow
/// to compare.
const MAX_NAME_CHARACTERS: usize = 64;

/// Returns the names of `among` closest to `name`, ignoring case: best first, at most three, each once.
///
/// A name is close if its edit distance is at most one plus a quarter of the letters of `name`, and smaller than
/// the longer of the two, so that at least one letter stays.  O(m n) for each pair of lengths m and n.
#[must_use]
pub fn closest_names<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(name) = folded(name) else { return Vec::new() };
    let most = 1 + name.len() / 4;
    let mut near: Vec<(usize, Vec<char>, &str)> = Vec::new();
    for candidate in among {
        let Some(other) = folded(candidate).filter(|other| other.len().abs_diff(name.len()) <= most) else { continue };
        let distance = edit_distance(&name, &other);
        if distance <= most && distance < name.len().max(other.len()) {
            near.push((distance, other, candidate));
        }
    }
    near.sort_unstable();
    near.dedup_by(|(_, later, _), (_, earlier, _)| later == earlier);
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, _, name)| name).collect()
}

/// Returns `did you mean a, b?` for the names that [`closest_names`] found; `None` if there are none.
#[must_use]
pub fn did_you_mean<S: fmt::Display>(near: &[S]) -> Option<String> {
    let names: Vec<String> = near.iter().map(S::to_string).collect();
    Some(format!("did you mean {}?", names.join(", "))).filter(|_| !near.is_empty())
}

/// Returns [`did_you_mean`] as the end of a message: `; did you mean a, b?`, or nothing.
#[must_use]
pub fn suggestion<S: fmt::Display>(near: &[S]) -> String {
    did_you_mean(near).map(|question| format!("; {question}")).unwrap_or_default()
}

/// Returns the characters in lower case; `None` if there are more than the limit.
fn folded(name: &str) -> Option<Vec<char>> {
    let characters: Vec<char> = name.chars().take(MAX_NAME_CHARACTERS + 1).map(|c| c.to_ascii_lowercase()).collect();
    Some(characters).filter(|characters| characters.len() <= MAX_NAME_CHARACTERS)
}

/// Computes the optimal string alignment distance: the number of insertions, deletions, substitutions and
/// transpositions of neighbours that turn one word into the other.
fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for i in 0..left.len() {
        let mut row = vec![i + 1];
        for j in 0..right.len() {
            let exchanged = above[j] + usize::from(left[i] != right[j]);
            let mut best = exchanged.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest_names, edit_distance, suggestion};

    #[test]
    fn distances() {
        for (left, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "abd", 1),
            ("abc", "bc", 1),
            ("abc", "acb", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
        ] {
            let word = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(edit_distance(&word(left), &word(right)), expected, "{left} {right}");
            assert_eq!(edit_distance(&word(right), &word(left)), expected, "{right} {left}");
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
    fn endless_names_cost_nothing() {
        let endless = "x".repeat(1_000_000);
        assert!(closest_names(&endless, [endless.as_str()]).is_empty());
        assert!(closest_names("x", [endless.as_str()]).is_empty());
    }

    #[test]
    fn suggestions_end_a_message() {
        assert_eq!([suggestion::<&str>(&[]), suggestion(&["a", "b"])], ["", "; did you mean a, b?"]);
    }
}
