//! Wildcard patterns for names of attributes.

/// A pattern for names: ignores case; `*` matches any characters or none.
#[derive(Clone, Debug)]
pub struct NameGlob(String);

impl NameGlob {
    pub fn new(text: &str) -> Self {
        NameGlob(text.to_ascii_lowercase())
    }

    pub fn matches(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == name };
        let Some(mut left) = name.strip_prefix(first) else { return false };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        // Take the first occurrence of each text between two `*`, because it leaves the longest part of the name for
        // the texts that follow.
        for part in middle.split('*') {
            let Some(at) = left.find(part) else { return false };
            left = &left[at + part.len()..];
        }
        left.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::NameGlob;

    #[test]
    fn stars_are_any_letters() {
        for (pattern, fits, others) in [
            ("Memory", vec!["memory", "MEMORY"], vec!["Memory1", "xMemory", ""]),
            ("Last*", vec!["Last", "LASTHeardFrom"], vec!["TheLast"]),
            ("*Time", vec!["Time", "LastTime", "TimeTime"], vec!["TimeOut"]),
            ("*", vec!["", "x"], vec![]),
            ("a*b*c", vec!["abc", "aXbYc", "abcbc"], vec!["acb", "abb", "ac"]),
            ("*aa*a", vec!["aaa", "xaaya"], vec!["aa", "aab"]),
            ("a*a", vec!["aa", "aba"], vec!["a"]),
            ("a**b", vec!["ab", "axb"], vec!["a"]),
        ] {
            let pattern = NameGlob::new(pattern);
            assert!(fits.iter().all(|name| pattern.matches(name)), "{pattern:?}");
            assert!(!others.iter().any(|name| pattern.matches(name)), "{pattern:?}");
        }
    }
}
