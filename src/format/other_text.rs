//! Texts that are no ads but that people have at hand, and what makes an input of each.

/// Number of bytes at the beginning of a text that are searched.
const SEARCHED_BYTES: usize = 1 << 14;

/// A text without ads.
struct OtherText {
    /// What it looks like.
    looks_like: &'static str,
    /// What to do.
    help: &'static str,
    /// Whether a line shows it; the first line of the text is `true`.
    shows: fn(&[u8], bool) -> bool,
}

/// The texts that are told from the long form. The first that a line shows counts.
const OTHER_TEXTS: [OtherText; 5] = [
    OtherText {
        looks_like: "a configuration file of HTCondor",
        help: "`classad check --config FILE` reads it",
        shows: is_of_configuration,
    },
    OtherText {
        looks_like: "rules that change ads",
        help: "`classad transform --rules FILE jobs.long` applies them",
        shows: is_rule,
    },
    OtherText {
        looks_like: "a table of condor_q or condor_status",
        help: "`condor_q -long` and `condor_status -long` print ads",
        shows: is_table_heading,
    },
    OtherText {
        looks_like: "a log of a daemon of HTCondor, such as NegotiatorLog or MatchLog",
        help: "`condor_q -long` and `condor_status -long` print the ads of its jobs and slots",
        shows: is_log_line,
    },
    OtherText {
        looks_like: "a table of values, as -af prints it",
        help: "`condor_q -long` and `condor_status -long` print ads",
        shows: |_, _| false,
    },
];

/// Returns why a text in no form that is known, which would be read as the long form, has no ads; `None` if it may have
/// some.
pub(super) fn reason_without_ads(text: &[u8]) -> Option<String> {
    let text = &text[..text.len().min(SEARCHED_BYTES)];
    let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let content = || lines().filter(|line| !line.starts_with(b"#") && !line.starts_with(b"//"));
    // One wrong line in an ad is the error of that line.
    if content().any(|line| is_any(first_word(line).0, &["MyType", "ClusterId"])) {
        return None;
    }
    let shown = content()
        .enumerate()
        .find_map(|(number, line)| OTHER_TEXTS.iter().find(|other| (other.shows)(line, number == 0)));
    let is_of_values = || {
        let is_row = |line: &[u8]| {
            let line = line.trim_ascii();
            line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() > 1
                && line.iter().all(|byte| byte.is_ascii_alphanumeric() || b" \t_.@:/-%".contains(byte))
        };
        content().count() > 1 && content().all(is_row)
    };
    let found = shown.or_else(|| OTHER_TEXTS.last().filter(|_| is_of_values()))?;
    Some(format!("it looks like {}, not like ads; {}", found.looks_like, found.help))
}

/// Splits a line at the end of its first word.
fn first_word(line: &[u8]) -> (&[u8], &[u8]) {
    let length = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.$()".contains(byte)).count();
    (&line[..length], line[length..].trim_ascii_start())
}

fn is_any(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether only files of configuration have a line.
fn is_of_configuration(line: &[u8], _: bool) -> bool {
    let (word, rest) = first_word(line);
    if word.is_empty() {
        return false;
    }
    if is_any(word, &["use"]) {
        let category = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        return is_any(&rest[..category], &["role", "policy", "feature", "security"])
            && rest[category..].trim_ascii_start().starts_with(b":");
    }
    if is_any(word, &["include"]) && memchr::memchr(b'=', line).is_none() {
        return memchr::memchr(b':', rest).is_some();
    }
    let value = match rest {
        [b'@', b'=', tag @ ..] => return !tag.is_empty(),
        [b'=', b'=' | b'?' | b'!', ..] => return false,
        [b'=', value @ ..] => value.trim_ascii(),
        _ => return false,
    };
    let has_macro =
        memchr::memmem::find(value, b"$(").is_some_and(|at| !value[..at].iter().any(|byte| b"\"'".contains(byte)));
    let is_continued = value.ends_with(b"\\") && !value.starts_with(b"\"");
    has_macro || is_continued
}

/// Whether a line is a rule that changes ads.
fn is_rule(line: &[u8], is_first: bool) -> bool {
    const WORDS: [&str; 9] =
        ["SET", "EVALSET", "DEFAULT", "COPY", "RENAME", "DELETE", "TRANSFORM", "EVALMACRO", "REQUIREMENTS"];
    let (word, rest) = first_word(line);
    let begins_name = rest.first().is_some_and(u8::is_ascii_alphabetic);
    is_first
        && begins_name
        && (is_any(word, &WORDS) || is_any(word, &["NAME"]) && rest.iter().all(u8::is_ascii_graphic))
}

/// Whether a line is the heading of a table.
fn is_table_heading(line: &[u8], is_first: bool) -> bool {
    let has = |words: &[&str]| {
        words.iter().all(|word| line.split(u8::is_ascii_whitespace).any(|known| known == word.as_bytes()))
    };
    is_first
        && memchr::memchr(b'=', line).is_none()
        && (has(&["Name", "State", "Activity"])
            || has(&["Machine", "Platform"])
            || has(&["OWNER", "SUBMITTED"])
            || has(&["OWNER", "BATCH_NAME"])
            || has(&["Name", "OpSys", "Arch"]))
}

/// Whether a line begins as those of daemons do: `11/22/26 23:35:27 (pid:7) text`.
fn is_log_line(line: &[u8], is_first: bool) -> bool {
    let shape = |pattern: &[u8]| {
        line.len() > pattern.len()
            && line
                .iter()
                .zip(pattern)
                .all(|(byte, sign)| if *sign == b'0' { byte.is_ascii_digit() } else { byte == sign })
    };
    is_first && (shape(b"00/00/00 00:00:00 ") || shape(b"00/00/0000 00:00:00 "))
}

#[cfg(test)]
mod tests {
    use super::reason_without_ads;

    #[test]
    fn texts_without_ads_are_named() {
        for (text, expected) in [
            ("SYSTEM_PERIODIC_REMOVE = JobStatus == 5 && \\\n    NumJobStarts > 3\n", Some("a configuration")),
            ("A = $(A) B\n", Some("a configuration")),
            ("use ROLE : Execute\n", Some("a configuration")),
            ("# c\ninclude ifexist : /etc/x\n", Some("a configuration")),
            ("A @=end\n x\n@end\n", Some("a configuration")),
            ("SET x 1\n", Some("rules")),
            ("TRANSFORM a from items.txt\n", Some("rules")),
            ("NAME mine\nSET x 1\n", Some("rules")),
            ("Name       OpSys Arch State Activity\n", Some("a table of condor_q")),
            (" ID      OWNER            SUBMITTED     RUN_TIME\n", Some("a table of condor_q")),
            ("OWNER BATCH_NAME  IDLE TOTAL JOB_IDS\n", Some("a table of condor_q")),
            ("Machine  Platform  Slots\n", Some("a table of condor_q")),
            ("Name  State  Activity\n", Some("a table of condor_q")),
            ("OWNER  TOTAL\n", None),
            ("OWNER = BATCH_NAME\n", None),
            ("11/22/26 23:35:27 (pid:7) Negotiation Cycle\n", Some("a log")),
            ("11/22/26 23:35:27       Matched 1.0 a@b\n", Some("a log")),
            ("alice 2048\nbob 1024\n", Some("a table of values")),
            ("alice\n", None),
            ("a b\n", None),
            ("A = \"$(X)\"\n", None),
            ("A = 'a $(X)' == 1\n", None),
            ("A = $(X)\nMyType = \"Job\"\n", None),
            ("A = \"x\\\"\nB = 1\n", None),
            ("A = 1\nuse = 2\ninclude = 3\n", None),
            ("SET = 1\n", None),
            ("SET\n", None),
            ("SET 1\n", None),
            ("NAME my rules\n", None),
            ("A = B == 1 && C\n", None),
            ("this is\na text, with (signs)\n", None),
            ("", None),
        ] {
            let reason = reason_without_ads(text.as_bytes());
            let is_expected = match expected {
                Some(expected) => {
                    reason.as_ref().is_some_and(|reason| reason.starts_with(&format!("it looks like {expected}")))
                }
                None => reason.is_none(),
            };
            assert!(is_expected, "{text}: {reason:?}");
        }
    }
}
