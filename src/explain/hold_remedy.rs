//! What to do about a hold before the job is released.

use crate::text::shorten;

use super::hold_reason::{HoldReason, POLICIES};

/// Maximum number of characters of the expression of a policy.
const MAX_POLICY_CHARS: usize = 80;

/// `ENOENT`, `ENOEXEC` and `EACCES`, the errors of the system that holds tell most.
const MISSING: Option<i64> = Some(2);
const NOT_EXECUTABLE: Option<i64> = Some(8);
const FORBIDDEN: Option<i64> = Some(13);

/// The codes of holds for files of which the system tells an error.
const FILES: [i64; 6] = [7, 9, 12, 13, 14, 22];

/// What to do about a hold, by its codes (HTCondor's `condor_holdcodes.h`) and by the error of the system; without one, the row is
/// for all errors. The first row that fits counts.
const REMEDIES: [(&[i64], Option<i64>, &str); 27] = [
    (&[13], Some(28), "raise request_disk above what its input takes, or make room: a disk is full"),
    (&[3], None, "let the program keep within what PeriodicHold allows, or change PeriodicHold"),
    (&FILES, Some(28), "make room where its files go: a disk is full"),
    (&FILES, Some(122), "make room where its files go: a quota is used up"),
    (&[4], None, "renew its credential: the proxy, or the token of a service"),
    (&[5, 27], None, "define what the policy reads"),
    (
        &[6],
        MISSING,
        "see that the first line of the program names an interpreter of the slot (line ends of Windows spoil it), or that the \
         slot has the program",
    ),
    (
        &[6],
        NOT_EXECUTABLE,
        "give the program a first line such as `#!/bin/sh` and Unix line ends, or build it for the slot",
    ),
    (&[6], FORBIDDEN, "make the program executable (chmod +x)"),
    (&[7], None, "make the directories of output and error, and let the user write them"),
    (&[8], None, "create the file of standard input, or let the user read it"),
    (
        &[12],
        MISSING,
        "see from its output and its errors why the program did not write the file, or take it out of transfer_output_files",
    ),
    (&[12], FORBIDDEN, "let the user write the directory for the output"),
    (&[13], MISSING, "create the file at the access point, or correct transfer_input_files"),
    (&[13], FORBIDDEN, "let the user read the file at the access point"),
    (&[12, 13], None, "see that the files and the URLs that it transfers are there and can be read"),
    (&[26], None, "keep within what the access point allows (SYSTEM_PERIODIC_HOLD), or ask its admin"),
    (&[14], None, "create the initial directory, or correct initialdir"),
    (&[20], None, "set a later deferral_time"),
    (&[22], MISSING, "create the directory of log at the access point, or set another log"),
    (&[22], None, "let the user write the file of log"),
    (&[25], None, "correct the cron settings"),
    (&[32], None, "transfer less, let it fetch large files by URLs (such as osdf://), or raise max_transfer_input_mb"),
    (&[33], None, "transfer less, or raise max_transfer_output_mb"),
    (&[35], None, "correct the name of the image"),
    (
        &[46],
        None,
        "let the program do less, or raise AllowedJobDuration (condor_qedit); where the pool has categories, choose a \
         longer one (JobDurationCategory = \"Long\")",
    ),
    (
        &[47],
        None,
        "let the program do less, or raise AllowedExecuteDuration (condor_qedit); where the pool has categories, choose a \
         longer one (JobDurationCategory = \"Long\")",
    ),
];

/// Errors of the system in words, in lower case.
const ERROR_WORDS: [(&str, i64); 5] = [
    ("no such file or directory", 2),
    ("exec format error", 8),
    ("permission denied", 13),
    ("no space left", 28),
    ("quota exceeded", 122),
];

/// What to do if a server refuses to send a file, and if it refuses to take one.
const REFUSED: [&str; 2] = [
    "get the right to read the URL (a token), or name a file that the user may read",
    "get the right to write the URL (a token), or correct it",
];

/// What to do if a server does not answer in time.
const LATE: [&str; 2] = ["see that the server of the URL answers: it did not in time"; 2];

/// What servers say of a URL, in lower case, with what to do for input and for output.
const SERVER_ANSWERS: [(&str, [&str; 2]); 6] = [
    ("403", REFUSED),
    ("401", REFUSED),
    ("forbidden", REFUSED),
    ("404", ["correct the URL: its server has no such file", "correct the URL: its server has no such place"]),
    ("timed out", LATE),
    ("timeout", LATE),
];

/// `HoldReasonCode` of a job whose output was not transferred (`TransferOutputError`).
const OUTPUT: i64 = 12;

/// `HoldReasonCode` of jobs that ran longer than they may (`JobDurationExceeded`, `JobExecuteExceeded`).
const DURATIONS: [i64; 2] = [46, 47];

/// The category of the longest jobs, where pools have categories.
const LONGEST: &str = "Long";

/// What HTCondor says of a hold by the end of a run.
const AT_EXIT: &str = "OnExitHold";

/// Returns what to do before a job is released; `None` if the codes do not tell.
pub fn hold_remedy(hold: &HoldReason) -> Option<&'static str> {
    let (code, error) = (hold.codes[0]?, system_error(hold));
    if hold.text.contains(AT_EXIT) {
        return Some("see from its output why the program ended so, which on_exit_hold holds");
    }
    // What a policy reads is no answer of a server.
    if !POLICIES.contains(&code)
        && let Some(remedy) = answer_of_server(&hold.text, code == OUTPUT)
    {
        return Some(remedy);
    }
    let is_short = hold.duration.as_ref().is_some_and(|category| !category.eq_ignore_ascii_case(LONGEST));
    if DURATIONS.contains(&code) && is_short {
        return Some(
            "set JobDurationCategory to \"Long\", let the program save its state (checkpoint), or do less in one job",
        );
    }
    let fits = |(codes, of, _): &&(&[i64], Option<i64>, &str)| codes.contains(&code) && (of.is_none() || *of == error);
    REMEDIES.iter().find(fits).map(|(.., remedy)| *remedy)
}

/// Says what to do about a policy that would hold a job again. `it` is the word for the job.
pub fn remedy_of_policy(hold: &HoldReason, it: &str) -> String {
    match hold.told_policy() {
        Some(told) => {
            let told = shorten(told, MAX_POLICY_CHARS);
            format!("change what `{told}` reads, which would hold {it} again, then release {it}, or submit {it} anew")
        }
        None => format!("change PeriodicHold, which would hold {it} again, then release {it}"),
    }
}

/// Returns what to do about what a server said of a URL; `None` if the text names no URL, or if the server said nothing known.
fn answer_of_server(text: &str, is_output: bool) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let (urls, words): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|word| word.contains("://"));
    let words = words.iter().map(|word| word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()));
    let said = format!(" {} ", words.collect::<Vec<_>>().join(" "));
    let known = SERVER_ANSWERS.iter().find(|(words, _)| said.contains(&format!(" {words} ")));
    known.filter(|_| !urls.is_empty()).map(|(_, remedies)| remedies[usize::from(is_output)])
}

/// Returns the number of the system's error: that of the words, such as `(errno 2)`, else the subcode.
fn system_error(hold: &HoldReason) -> Option<i64> {
    let text = hold.text.to_ascii_lowercase();
    let told = text.split_once("errno").map(|(_, behind)| behind.trim_start_matches([' ', '=', ':']));
    let number = |text: &str| text.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
    let words = || ERROR_WORDS.iter().find(|(words, _)| text.contains(words)).map(|(_, error)| *error);
    told.and_then(number).or_else(words).or(hold.codes[1])
}

#[cfg(test)]
mod tests {
    use super::hold_remedy;
    use crate::explain::hold_reason::HoldReason;

    #[test]
    fn codes_and_errors_tell_what_to_do() {
        for (codes, text, expected) in [
            ([Some(4), None], "", Some("renew its credential: the proxy, or the token of a service")),
            ([Some(13), Some(2)], "", Some("create the file at the access point, or correct transfer_input_files")),
            (
                [Some(13), Some(256)],
                "reading from file /a: (errno 13) Permission denied",
                Some("let the user read the file at the access point"),
            ),
            (
                [Some(6), Some(8)],
                "(errno=8: 'Exec format error')",
                Some("give the program a first line such as `#!/bin/sh` and Unix line ends, or build it for the slot"),
            ),
            (
                [Some(13), Some(5)],
                "",
                Some("see that the files and the URLs that it transfers are there and can be read"),
            ),
            ([Some(14), None], "Errno 99", Some("create the initial directory, or correct initialdir")),
            (
                [Some(13), Some(256)],
                "reading osdf:///a/b403/c: cache returned 403 Forbidden",
                Some("get the right to read the URL (a token), or name a file that the user may read"),
            ),
            (
                [Some(13), Some(28)],
                "https://e.org/404/b: Connection timed out after 30001 ms",
                Some("see that the server of the URL answers: it did not in time"),
            ),
            (
                [Some(12), Some(1)],
                "uploading to osdf:///a/b: 403 Forbidden",
                Some("get the right to write the URL (a token), or correct it"),
            ),
            (
                [Some(19), None],
                "Unable to download image osdf:///a/b.sif: 404 Not Found",
                Some("correct the URL: its server has no such file"),
            ),
            (
                [Some(26), None],
                "https://e.org/404 is 404",
                Some("keep within what the access point allows (SYSTEM_PERIODIC_HOLD), or ask its admin"),
            ),
            ([Some(12), Some(28)], "a file: timed out", Some("make room where its files go: a disk is full")),
            ([Some(1), None], "", None),
            ([None, None], "(errno 2)", None),
        ] {
            let hold = HoldReason {
                text: text.to_owned(),
                codes,
                exceeded: None,
                holds_again: false,
                held_by: None,
                duration: None,
            };
            assert_eq!(hold_remedy(&hold), expected, "{codes:?} {text}");
        }
    }
}
