//! The kinds of lines in the long form.

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A line with nothing but white space.
    Blank,
    /// A line that begins with `#` or `//`.
    Comment,
    /// A line that HTCondor's tools print between ads, such as `-- Schedd: a@b`.
    Heading,
    /// A line that begins with `***`, as behind each record of a history file.
    Banner,
    /// Any other line: an attribute, or a mistake.
    Attribute,
}

impl LineKind {
    /// Returns the kind of a line. `content` is the line without leading white space.
    #[inline]
    #[must_use]
    pub fn of(content: &[u8]) -> LineKind {
        let Some(first) = content.first() else { return LineKind::Blank };
        match first {
            b'#' => LineKind::Comment,
            b'/' if content.starts_with(b"//") => LineKind::Comment,
            b'*' if is_banner(content) => LineKind::Banner,
            b'-' | b'*' | b'.' | b'S' | b'D' | b'0'..=b'9' if is_heading(content) => LineKind::Heading,
            _ => LineKind::Attribute,
        }
    }

    /// Whether a line of this kind ends the ad before it.
    #[must_use]
    pub fn ends_ad(self) -> bool {
        matches!(self, LineKind::Blank | LineKind::Heading | LineKind::Banner)
    }
}

/// Whether a line is a banner, well-formed or not. `content` is the line without leading white space.
pub fn is_banner(content: &[u8]) -> bool {
    content.starts_with(b"***")
}

/// Whether a line is a heading of `condor_q -long`, `condor_submit -verbose` or `condor_submit -dry-run`.
fn is_heading(content: &[u8]) -> bool {
    let content = content.trim_ascii_end();
    let is_full_stops = || content.iter().all(|byte| *byte == b'.');
    match content.first() {
        // `-- Schedd: a@b : <1.2.3.4:9618?...> @ 11/22/26 20:00:00`, and `-` or `- update:true` of a job of the startd
        Some(b'-') => match content.strip_prefix(b"-- ") {
            Some(rest) => {
                let word = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                word > 0 && rest.get(word) == Some(&b':')
            }
            None => matches!(content, [b'-'] | [b'-', b' ', ..]) && !content.contains(&b'='),
        },
        // `** Proc 1.0:`
        Some(b'*') => content.strip_prefix(b"** Proc ").is_some_and(|rest| {
            let job = rest.strip_suffix(b":").unwrap_or_default();
            !job.is_empty() && job.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        }),
        // A full stop for each job.
        Some(b'.') => is_full_stops(),
        // `2 job(s) submitted to cluster 1.`
        Some(b'0'..=b'9') => {
            let digits = content.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let rest = content[digits..].strip_prefix(b" job(s) ").unwrap_or_default();
            rest.starts_with(b"submitted to cluster ") || rest.starts_with(b"dry-run to cluster ")
        }
        // `Submitting job(s)..`
        _ => [&b"Submitting job(s)"[..], b"Dry-Run job(s)"]
            .iter()
            .any(|words| content.strip_prefix(*words).is_some_and(|rest| rest.iter().all(|byte| *byte == b'.'))),
    }
}

/// Returns a line without a carriage return at its end.
pub fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::LineKind;

    #[test]
    fn kinds() {
        for (line, kind) in [
            ("", LineKind::Blank),
            ("# c", LineKind::Comment),
            ("// c", LineKind::Comment),
            ("/ c", LineKind::Attribute),
            ("***", LineKind::Banner),
            ("*** Offset = 0", LineKind::Banner),
            ("** Proc 1.0:", LineKind::Heading),
            ("** Proc x:", LineKind::Attribute),
            ("** Proc = 1", LineKind::Attribute),
            ("-- Schedd: a@b : <127.0.0.1:9618?noUDP> @ 11/22/26 20:00:00", LineKind::Heading),
            ("-- Submitter: a : <127.0.0.1:9618> : b", LineKind::Heading),
            ("-- a: b", LineKind::Heading),
            ("-- : b", LineKind::Attribute),
            ("-- Schedd = 1", LineKind::Attribute),
            ("--- a", LineKind::Attribute),
            ("-", LineKind::Heading),
            ("- update:true", LineKind::Heading),
            ("- a = 1", LineKind::Attribute),
            ("-a", LineKind::Attribute),
            (".", LineKind::Heading),
            ("..", LineKind::Heading),
            (".a = 1", LineKind::Attribute),
            ("Dry-Run job(s)", LineKind::Heading),
            ("Submitting job(s)...", LineKind::Heading),
            ("Submitting = 1", LineKind::Attribute),
            ("2 job(s) dry-run to cluster 1.", LineKind::Heading),
            ("2 jobs", LineKind::Attribute),
            ("a = 1", LineKind::Attribute),
        ] {
            assert_eq!(LineKind::of(line.as_bytes()), kind, "{line}");
        }
    }
}
