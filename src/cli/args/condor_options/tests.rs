use std::ffi::OsString;

use super::{find_condor_word, find_option, is_condor_option, split_suffix, translate};

/// Translates the words of a command line; the message, if it is refused.
fn translated(line: &str) -> String {
    let words = std::iter::once("classad").chain(line.split('|')).map(OsString::from).collect();
    match translate(words, &crate::cli::program::tree) {
        Ok(words) => words.iter().skip(1).map(|word| word.to_string_lossy()).collect::<Vec<_>>().join("|"),
        Err(message) => format!("refused: {message}"),
    }
}

#[test]
fn options_of_query() {
    for (line, expected) in [
        ("query|true|x", "query|true|x"),
        ("parse|-constraint|a", "parse|-constraint|a"),
        ("query|-constraint|a > 1|Cargo.toml", "query|--condor-table=partial|--constraint=a > 1|--ads=Cargo.toml"),
        ("query|-con|a", "query|--condor-table=partial|--constraint=a"),
        ("query|-CONSTRAINT|a", "query|--condor-table=partial|--constraint=a"),
        ("query|-constraint|a == \"x\\y\"", "query|--condor-table=partial|--constraint=a == \"x\\\\y\""),
        ("query|-constraint|a == \"x\\\"y\"", "query|--condor-table=partial|--constraint=a == \"x\\\"y\""),
        ("query|-constraint", "refused: -constraint needs a value"),
        ("query|-constraint|--ads", "refused: -constraint needs a value"),
        (
            "query|-hold|-constraint|a",
            "query|--condor-table=held|--constraint=JobStatus == 5|--condor-table=partial|--constraint=a",
        ),
        ("query|-idle", "query|--condor-table=idle|--constraint=JobStatus == 1"),
        ("query|-totals", "query|--condor-table=totals|--constraint=true"),
        ("query|-long", "query|--output=long|--constraint=true"),
        ("query|-l", "query|--output=long|--constraint=true"),
        ("query|-long:json", "query|--output=json|--constraint=true"),
        (
            "query|-af|Owner|Cmd",
            "query|--mask=columns:|--mask=expression:Owner|--mask=expression:Cmd|--constraint=true",
        ),
        ("query|-af:h,|Owner|-", "query|--mask=columns:h,|--mask=expression:Owner|--constraint=true"),
        ("query|-af|-long", "refused: -af needs an attribute or an expression"),
        ("query|-aaf:V|Owner", "query|--append=columns:V|--append=expression:Owner|--constraint=true"),
        ("query|-format|%d|Owner", "query|--mask=format:%d|--mask=expression:Owner|--constraint=true"),
        ("query|-format|%d", "refused: -format needs a format and an expression"),
        ("query|-sort|Prio", "query|--sort=Prio|--constraint=(Prio) =!= undefined"),
        ("query|-sort|NO", "query|--sort=NO|--constraint=true"),
        ("query|-backwards|-backwards", "query|--newest|--constraint=true"),
        (
            "query|-pool|x",
            "refused: -pool asks a daemon; read a file from `condor_q -long` or `condor_status -long` instead",
        ),
        ("query|-factory", "refused: -factory is not supported: use -constraint 'JobMaterializeLimit > 0'"),
        ("query|-wide|7", "query|--called=7"),
        ("query|-wide|7.0", "query|--condor-table=partial|--called=7.0"),
        ("query|-wide|7.x", "query|7.x"),
        ("query|-ads|f|slot1@h", "query|--condor-table=of-slots|--ads=f|--called=slot1@h"),
        ("query|-ads|f|true", "query|--condor-table=of-slots|--ads=f|true"),
        ("query|-ads|f|a > 1", "query|--condor-table=of-slots|--ads=f|a > 1"),
        ("query|-jobads|f|--|-x", "query|--condor-table=of-jobs|--ads=f|--|-x"),
        ("query|-jobads|f|--", "query|--condor-table=of-jobs|--ads=f|--constraint=true|--"),
        ("query|-qo|json|-idle", "query|-qo|json|--condor-table=idle|--constraint=JobStatus == 1"),
        (
            "query|-idle|-z",
            "refused: there is no option -z; `classad help from-condor` lists HTCondor's options that work here",
        ),
        ("query|-idel", "refused: there is no option -idel; did you mean -idle?"),
        ("query|-machine|x", "refused: `query` has no option -machine, but `explain` has"),
        ("--seed|7|query|-idle", "--seed|7|query|--condor-table=idle|--constraint=JobStatus == 1"),
    ] {
        assert_eq!(translated(line), expected, "{line}");
    }
}

#[test]
fn options_of_explain() {
    let regexp = "regexp(\"^h[.]\", Machine, \"i\")";
    for (line, expected) in [
        ("query|-better-analyze|-slotads|f", "explain|--pool=f"),
        ("query|-better-analyze:reverse,sum|-slotads|f", "explain|--reverse|--summary|--pool=f"),
        ("query|-reverse-analyze|-slotads|f", "explain|--reverse|--pool=f"),
        ("query|-better-analyze", "refused: the analysis needs the slots: add -slotads FILE"),
        ("explain|-better-analyze|-help", "explain|--help"),
        (
            "explain|-jobads|j|-slotads|s|7.1|8",
            "explain|j|--pool=s|--constraint=(ClusterId == 7 && ProcId == 1) || ClusterId == 8",
        ),
        ("explain|-jobads|j|-slotads|s|ann", "explain|j|--pool=s|--request=ann"),
        ("explain|-jobads|j|-slotads|s|ann.ad", "explain|j|--pool=s|ann.ad"),
        (
            "explain|-slotads|s|-machine|a.b",
            "explain|--pool=s|--offer-constraint=Name == \"a.b\" || Machine == \"a.b\"",
        ),
        (
            "why|-slotads|s|-machine|h",
            &format!("why|--pool=s|--offer-constraint=Name == \"h\" || Machine == \"h\" || {regexp}"),
        ),
        ("explain|-run|-slotads|s", "explain|--constraint=JobStatus == 2 || JobStatus == 6 || JobStatus == 7|--pool=s"),
        ("explain|-long", "refused: `explain` has no option -long, but `query` has"),
    ] {
        assert_eq!(translated(line), expected, "{line}");
    }
}

#[test]
fn other_words_of_query() {
    for (line, expected) in [
        // Options of ours keep their values, also those that look like words of HTCondor.
        ("-q|query|-idle", "-q|query|--condor-table=idle|--constraint=JobStatus == 1"),
        ("query|-qo|json", "query|-qo|json"),
        ("query|-ojson|-totals", "query|-ojson|--condor-table=totals|--constraint=true"),
        ("query|--sort|-idle|-totals", "query|--sort|-idle|--condor-table=totals|--constraint=true"),
        ("query|--partial|-totals", "query|--partial|--condor-table=totals|--constraint=true"),
        ("query|-wide|--constraint=a", "query|--constraint=a"),
        ("query|-wide|--constraint|a", "query|--constraint|a"),
        ("query|-wide|-q", "query|-q|--constraint=true"),
        ("query|-wide|-h", "query|-h|--constraint=true"),
        ("query|-wide|-V", "query|-V|--constraint=true"),
        ("query|-idle|-1", "query|--condor-table=idle|--constraint=JobStatus == 1|-1"),
        ("query|-wide|xo|7", "query|xo|--called=7"),
        ("query|-constraint|--1", "query|--condor-table=partial|--constraint=--1"),
        // Numbers of jobs.
        ("query|-wide|12345678901234567", "query|--called=12345678901234567"),
        ("query|-wide|123456789012345678", "query|123456789012345678"),
        ("query|-wide|7.12345678901234567", "query|--condor-table=partial|--called=7.12345678901234567"),
        ("query|-wide|7.123456789012345678", "query|7.123456789012345678"),
        ("query|-wide|7.", "query|7."),
        ("query|-wide|.7", "query|.7"),
        ("query|-wide|7a", "query|7a"),
        ("query|-wide|1.2.3", "query|1.2.3"),
        // Names, once the ads come from a file.
        ("query|-wide|ann", "query|ann"),
        ("query|-wide|x > 1", "query|x > 1"),
        ("query|-wide|Cargo.toml", "query|--ads=Cargo.toml|--constraint=true"),
        ("query|-wide|Cargo.toml|ann", "query|--ads=Cargo.toml|--called=ann"),
        ("query|-ads|f|Cargo.toml", "query|--condor-table=of-slots|--ads=f|--ads=Cargo.toml|--constraint=true"),
        ("query|-ads|f|@x", "query|--condor-table=of-slots|--ads=f|@x"),
        ("query|-ads|f|FALSE", "query|--condor-table=of-slots|--ads=f|FALSE"),
        ("query|-ads|f|a_b.c-d+e", "query|--condor-table=of-slots|--ads=f|--called=a_b.c-d+e"),
        ("query|-jobads|f|a > 1", "query|--condor-table=of-jobs|--ads=f|a > 1"),
        // Keys by which HTCondor does not sort.
        ("query|-sort|none", "query|--sort=none|--constraint=true"),
        ("query|-sort|False", "query|--sort=False|--constraint=true"),
        ("query|-sort|0", "query|--sort=0|--constraint=true"),
        ("query|-sort|1", "query|--sort=1|--constraint=(1) =!= undefined"),
        ("query|-since|x == \"\\d\"", "query|--since=x == \"\\\\d\"|--constraint=true"),
        (
            "query|-constraint|x == \"\\d\" && \"a\\b\" == y",
            "query|--condor-table=partial|--constraint=x == \"\\\\d\" && \"a\\\\b\" == y",
        ),
        (
            "query|-zz",
            "refused: there is no option -zz; `classad help from-condor` lists HTCondor's options that work here",
        ),
        ("query|-reverse:x", "refused: the analysis needs the slots: add -slotads FILE"),
    ] {
        assert_eq!(translated(line), expected, "{line}");
    }
}

#[test]
fn other_words_of_explain() {
    for (line, expected) in [
        ("query|-better-analyze|-jobads|j|-slotads|f", "explain|j|--pool=f"),
        ("query|-better-analyze:sum|-slotads|f", "explain|--summary|--pool=f"),
        ("query|-better-analyze:x|-slotads|f", "explain|--pool=f"),
        ("query|-reverse:rev|-slotads|f", "explain|--reverse|--pool=f"),
        ("query|-better-analyze|j|--offers|f", "explain|j|--offers|f"),
        ("explain|--offers|-run|-idle", "explain|--offers|-run|--constraint=JobStatus == 1"),
        ("explain|-better-analyze|-h", "explain|-h"),
        ("explain|-slotads|s|7.1|--|x", "explain|--pool=s|--constraint=(ClusterId == 7 && ProcId == 1)|--|x"),
        ("explain|-slotads|s|ann", "explain|--pool=s|ann"),
        ("explain|-slotads|s|Cargo.toml", "explain|--pool=s|Cargo.toml"),
        ("explain|-jobads|j|-slotads|s|Cargo.toml", "explain|j|--pool=s|Cargo.toml"),
        ("explain|-jobads|j|-slotads|s|ann@x.y", "explain|j|--pool=s|--request=ann@x.y"),
        ("explain|-jobads|j|-slotads|s|x > 1", "explain|j|--pool=s|x > 1"),
        (
            "explain|-slotads|s|-machine|a-b",
            "explain|--pool=s|--offer-constraint=Name == \"a-b\" || Machine == \"a-b\" || \
             regexp(\"^a-b[.]\", Machine, \"i\")",
        ),
        ("explain|-mconstraint|a == \"\\d\"", "explain|--offer-constraint=a == \"\\\\d\""),
        ("explain|-l", "refused: `explain` has no option -long, but `query` has"),
        ("explain|-l:new", "refused: `explain` has no option -long, but `query` has"),
        ("explain|-machine", "refused: -machine needs the name of a slot or a machine"),
        ("explain|-jobads", "refused: -jobads needs a file"),
        ("explain|-version", "refused: -version is not supported: `classad --version` prints the version"),
    ] {
        assert_eq!(translated(line), expected, "{line}");
    }
}

#[test]
fn words_and_abbreviations() {
    for (word, expected) in [
        ("af", Some("autoformat")),
        ("co", None),
        ("con", Some("constraint")),
        ("comp", None),
        ("compa", Some("compact")),
        ("nat", Some("natural")),
        ("HOLD", Some("hold")),
        ("schedd", Some("schedd")),
        ("submitter", Some("submitter")),
        ("nothing", None),
    ] {
        assert_eq!(find_option(word).map(|option| option.0[0]), expected, "{word}");
    }
    for (text, is_option) in [
        ("-af", true),
        ("-af:h", true),
        ("-l", true),
        ("-q", false),
        ("--af", false),
        ("-1", false),
        ("-", false),
        ("-a b", false),
    ] {
        assert_eq!(is_condor_option(text), is_option, "{text}");
    }
    assert_eq!(["-af:h:j", "-af", "af:"].map(split_suffix), [("af", Some("h:j")), ("af", None), ("af", Some(""))]);
    for (command, word, is_known) in [
        ("query", "-af", true),
        ("explain", "-af", false),
        ("why", "-idle", true),
        ("parse", "-idle", false),
        ("query", "af", false),
    ] {
        assert_eq!(find_condor_word(command, word).is_some(), is_known, "{command} {word}");
    }
}
