//! Tests of records of matches: what is read of them, and what is told of bad ones.

use super::*;
use crate::cli::program::session_of;

/// Reads records. Returns the parties that are bound of each match, with `!` before those of a claimed match, and the
/// messages.
fn read(text: &str) -> (Vec<String>, Vec<String>) {
    let mut session = session_of(&["repl", "--quiet"]);
    session.keep_messages();
    let mut matches = Matches::new();
    add_matches(&mut session, "file", text.as_bytes(), &mut matches).unwrap();
    let bound = |found: &RecordedMatch| {
        let parties: Vec<&str> = found.bound_parties().map(|party| party.id.as_str()).collect();
        format!("{}{}", if found.is_claimed { "!" } else { "" }, parties.join(" "))
    };
    (matches.values().map(bound).collect(), session.told())
}

const GANG: &str = "{\"version\":1,\"match\":\"m1\",\"request\":\"r\",\"ports\":\
                    [{\"label\":\"a\",\"offer\":\"o\",\"link\":0,\"ports\":[]},\
                    {\"label\":\"b\",\"offer\":\"p\",\"link\":0,\"ports\":[]}]}";

#[test]
fn matches_are_read_in_lines_and_lists() {
    let pair = r#"{"request":"r","offer":"o"}"#;
    let not_json = "this is not JSON: ";
    for (text, bound, messages) in [
        (String::new(), &[][..], &[][..]),
        (" \n\n".to_owned(), &[], &[]),
        (pair.to_owned(), &["r o"], &[]),
        (format!("[{pair},\n{GANG}]\n"), &["r o", "r o p"], &[]),
        (format!("{GANG}\n{pair}"), &["r o p", "r o"], &[]),
        // The same match again adds nothing.
        (format!("{GANG}\n\n{GANG}\n"), &["r o p"], &[]),
        (
            format!("{{}}\n{pair}\n[5]"),
            &["r o"],
            &["error: file:1: this is not a match: give", "error: file:3: this is not a match: give"],
        ),
        (
            format!("\n\n{{\"request\":5,\"offer\":\"o\"}}\n{pair}"),
            &["r o"],
            &["error: file:3: this is not a match: invalid type"],
        ),
        (format!("nonsense\n{pair}\n"), &["r o"], &[not_json]),
        (format!("{pair}\n\n{{\"request\": ]\n{GANG}\nx"), &["r o", "r o p"], &[not_json, not_json]),
        (format!("{pair}\n{{\"request\":"), &["r o"], &[not_json]),
        (
            GANG.replace("\"version\":1", "\"version\":2"),
            &[],
            &["error: file:1: this record has version 2, which this program cannot read"],
        ),
        (
            format!("{GANG}\n{}", GANG.replace("\"o\"", "\"q\"")),
            &["r o p"],
            &["error: file:2: two matches have the identifier m1"],
        ),
        (format!("{GANG}\n{}", GANG.replace("\"r\"", "\"s\"")), &["r o p"], &["error: file:2: two matches"]),
    ] {
        let (found, told) = read(&text);
        assert_eq!(found, bound, "{text}");
        assert_eq!(told.len(), messages.len(), "{text}: {told:?}");
        for (message, part) in told.iter().zip(messages) {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
    // A line that is no JSON has its own number.
    for (text, line) in [("x\n", 1), ("\n\nx\n", 3), ("{}\n{\"a\":\n\n{}\n", 2), ("{\"a\": 1 2}\n", 1)] {
        let (_, told) = read(text);
        let expected = format!("error: file:{line}: {not_json}");
        assert!(told.iter().any(|message| message.starts_with(&expected)), "{text:?}: {told:?}");
    }
}

#[test]
fn outcomes_settle_matches() {
    let outcome = |outcome: &str, claimed: &str| {
        format!("{{\"match\":\"m1\",\"outcome\":\"{outcome}\",\"claimed\":[{claimed}]}}")
    };
    for (outcomes, bound) in [
        (vec![outcome("committed", "")], &["!r o p"][..]),
        (vec![outcome("kept", "")], &["!r o p"]),
        (vec![outcome("partial", "\"o\"")], &["!o"]),
        (vec![outcome("partial", "\"r\",\"p\"")], &["!r p"]),
        (vec![outcome("partial", "\"r\"")], &[]),
        (vec![outcome("aborted", "")], &[]),
        (vec![outcome("released", "\"o\"")], &["!r p"]),
        (vec![outcome("released", "\"o\""), outcome("released", "\"p\"")], &[]),
        (vec![outcome("partial", "\"r\",\"o\""), outcome("committed", "")], &["!r o"]),
    ] {
        let (found, told) = read(&format!("{GANG}\n{}", outcomes.join("\n")));
        assert_eq!((found, told), (bound.iter().map(|&bound| bound.to_owned()).collect(), Vec::new()), "{outcomes:?}");
    }
    let (found, told) = read(&outcome("committed", ""));
    assert_eq!(
        (found.len(), told),
        (0, vec!["error: file:1: no earlier record has the match m1 of this outcome".to_owned()])
    );
}

#[test]
fn parties_that_are_advertised_again_are_free() {
    let mut matches = Matches::new();
    add_match(&mut matches, serde_json::from_str(GANG).unwrap()).unwrap();
    let found = || {
        let mut notice = matches[0].notice.clone();
        notice.parties.iter_mut().for_each(|party| party.sequence = Some(5));
        RecordedMatch::new(notice)
    };
    let offers: Vec<usize> = found().bound_offers().map(|(party, _)| party).collect();
    assert_eq!(offers, [1, 2]);
    // Nothing is known of the parties now: they stay bound.
    assert_eq!(found().without_fresh(&|_| None).unwrap().bound_parties().count(), 3);
    let fresh =
        |id: &'static str| move |party: &Party| (party.id == id).then(|| Party { sequence: Some(9), ..party.clone() });
    let left = found().without_fresh(&fresh("o")).unwrap();
    assert_eq!(left.bound_offers().map(|(_, party)| party.id.as_str()).collect::<Vec<_>>(), ["p"]);
    assert!(left.without_fresh(&fresh("p")).is_none());
}
