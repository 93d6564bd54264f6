use clap::{Args, Command, FromArgMatches};
use classad::ad::Dialect;
use classad::matching::policy::Policy;

use super::ExplainCommand;
use super::selection::named_subjects;
use super::share::ExplanationNotes;
use crate::cli::args::policy::LoadedPolicy;
use crate::cli::outcome::{Failure, Status};
use crate::cli::session::Session;

/// The command with these words, between which are spaces.
fn command(line: &str) -> ExplainCommand {
    let tree = ExplainCommand::augment_args(Command::new("explain"));
    let words = ["explain", "jobs"].into_iter().chain(line.split_whitespace());
    let matches = tree.try_get_matches_from(words).unwrap_or_else(|error| panic!("{error}"));
    ExplainCommand::from_arg_matches(&matches).unwrap()
}

fn refusal<T>(result: Result<T, Failure>) -> String {
    match result {
        Ok(_) => String::new(),
        Err(Failure::Refused(Some(reason))) => reason,
        Err(failure) => panic!("{failure:?}"),
    }
}

#[test]
fn forms_are_refused_where_they_tell_nothing() {
    let of_pair = "the explanation of a pair can be printed as table, json or jsonl";
    let of_summary = "--summary can be printed as table, json, csv, tsv, markdown or svg";
    for (line, expected) in [
        ("", ""),
        ("-o table --summary --offer s", ""),
        ("-o json --summary --offer s", ""),
        ("-o jsonl", ""),
        ("-o jsonl --offer s", ""),
        ("-o jsonl --summary", of_summary),
        ("-o csv", ""),
        ("-o csv --summary", ""),
        ("-o csv --offer s", of_pair),
        ("-o tsv --offer s", of_pair),
        ("-o markdown --offer s", of_pair),
        ("-o csv --offer s --reverse", ""),
        ("-o svg", ""),
        ("-o svg --offer s", of_pair),
        ("-o svg --offer s --reverse", ""),
    ] {
        assert_eq!(refusal(command(line).check_form()), expected, "{line}");
    }
}

#[test]
fn reports_are_listed_for_programs_and_for_fixes() {
    for (line, expected) in [
        ("", false),
        ("-o table", false),
        ("-o svg", false),
        ("-o csv", true),
        ("-o json", true),
        ("-o jsonl", true),
        ("--summary", false),
        ("--summary -o csv", false),
        ("--summary -o json", false),
        ("--fix", true),
        ("--fix-scripts d", true),
    ] {
        assert_eq!(command(line).lists_reports(), expected, "{line}");
    }
    for (line, options, are_whole, have_drained) in [
        ("", "", false, false),
        ("", "-v", false, true),
        ("-o json", "", false, true),
        ("-o jsonl", "", false, true),
        ("-o csv", "", false, false),
        ("--all-offers", "", true, true),
        ("--all-offers --unmatched", "", true, false),
        ("-o json --unmatched", "-v", false, false),
    ] {
        let lists = command(line).offer_lists(&Session::keeping(options));
        assert_eq!((lists.are_whole, lists.have_drained), (are_whole, have_drained), "{line} {options}");
    }
}

#[test]
fn requests_compete_where_offers_are_given_away() {
    let groups = b"share: { by: User, weight: Weight, in-use-by: UsedBy, groups: { bio: 1 } }";
    for (line, without_quotas, with_quotas) in [
        ("", false, true),
        ("--unmatched", true, true),
        ("--when-start --run-time 1", true, true),
        ("--when", false, true),
        ("--reverse", false, false),
    ] {
        let mut policy = LoadedPolicy::default();
        assert_eq!(command(line).competes(&policy), without_quotas, "{line}");
        policy.policy = Policy::parse(groups, Dialect::Condor).unwrap();
        assert_eq!(command(line).competes(&policy), with_quotas, "{line}");
    }
}

#[test]
fn a_share_explains_groups_of_requests() {
    for (line, expected) in [
        ("", ""),
        ("--reverse --offer s", ""),
        ("--offer s", "--share and --offer cannot be combined"),
        ("--when-start --run-time 1", "--share and --when-start cannot be combined"),
        ("--stats", "--stats and --share cannot be combined"),
    ] {
        let command = command(line);
        assert_eq!(command.share_refusal().unwrap_or_default(), expected, "{line}");
        let reason = if expected.is_empty() { String::new() } else { format!("explain: {expected}") };
        assert_eq!(refusal(command.input_of_shares()), reason, "{line}");
    }
    let with_pool = command("--pool slots --pool more");
    let [requests, offers] = with_pool.input_of_shares().unwrap();
    assert_eq!((requests, offers), (&["jobs".to_owned()][..], &["slots".to_owned(), "more".to_owned()][..]));
}

#[test]
fn named_ads_are_requests_or_the_offer() {
    for (line, expected) in [
        ("", ""),
        ("--request a --request b", "a b"),
        ("--request a --offer s", "a"),
        ("--offer s", ""),
        ("--request a --offer s --reverse", "s"),
        ("--request a --reverse", "a"),
    ] {
        assert_eq!(named_subjects(&command(line)).join(" "), expected, "{line}");
    }
    let missing = "--when-start needs run times: give --run-time EXPR, or --from-history FILE";
    for (line, expected) in
        [("", ""), ("--when-start", missing), ("--when-start --run-time 1", ""), ("--when-start --from-history h", "")]
    {
        assert_eq!(refusal(command(line).starts.check()), expected, "{line}");
    }
}

#[test]
fn what_shares_say_is_told_once() {
    let usual = ExplanationNotes::default;
    let whole = "note: each job takes a whole slot, even a partitionable one; `--policy htcondor` divides slots";
    let stopped = "error: evaluations were stopped at a limit and count as errors; see `classad help budgets`";
    for (notes, told, status) in [
        (vec![], vec![], 0),
        (vec![usual()], vec![], 0),
        (vec![ExplanationNotes { has_unmatched: true, ..usual() }], vec![], 0),
        (
            vec![
                usual(),
                ExplanationNotes { gives_whole_slots: true, ..usual() },
                ExplanationNotes { gives_whole_slots: true, ..usual() },
            ],
            vec![whole],
            0,
        ),
        (vec![ExplanationNotes { unexplained: 1, ..usual() }, usual()], vec!["error: 1 request not explained"], 3),
        (
            vec![ExplanationNotes { unexplained: 1, ..usual() }, ExplanationNotes { unexplained: 2, ..usual() }],
            vec!["error: 3 requests not explained"],
            3,
        ),
        (
            vec![ExplanationNotes { failures: 1, ..usual() }, ExplanationNotes { failures: 1, ..usual() }],
            vec!["error: 2 evaluations or searches were stopped at a limit; see `classad help budgets`"],
            3,
        ),
        (vec![usual(), ExplanationNotes { has_stopped: true, ..usual() }], vec![stopped], 3),
    ] {
        let mut session = Session::keeping("");
        ExplanationNotes::report(&notes, &mut session);
        assert_eq!(session.told(), told);
        assert_eq!(session.exit_code(Ok(Status::Yes)), status);
    }
}
