//! Configuration dumps, map files and routes on the command line.

use crate::binary::{classad, file};

/// The answers of HTCondor's library 25.14 with this map.
#[test]
fn user_map_answers_as_htcondors_does() {
    let other = file("users-other.map", "* zoe fromOther\n@include again.map\n");
    let text = "# groups\n* alice physics,Biology\n* \"bob smith\" chem\n* /^(.*)@CERN\\.ch$/i cern-\\1,x\\2\ngsi carol g1\n\
                * /u(x)?y/ [\\1]\n* \"a\\\"b\" \"q\\\"r \\1\"\n* zed  \" , a , b \"\n* alice second\n* /a\\/b/ slash\n\
                @include users-other.map\n";
    let map = format!("g={}", file("users.map", text));
    for (call, expected) in [
        (r#"userMap("g", "alice")"#, r#""physics,Biology""#),
        (r#"userMap("G", "alice", "biology")"#, r#""Biology""#),
        (r#"userMap("g", "bob smith")"#, r#""chem""#),
        (r#"userMap("g", "me@cern.ch")"#, r#""cern-me,x\\2""#),
        (r#"userMap("g", "carol")"#, "undefined"),
        (r#"userMap("g.GSI", "carol")"#, r#""g1""#),
        (r#"userMap("g", "uy")"#, r#""[\\1]""#),
        (r#"userMap("g", "a\"b")"#, r#""q\"r \\1""#),
        (r#"userMap("g", "zed")"#, r#"" , a , b ""#),
        (r#"userMap("g", "zed", "B")"#, r#""b""#),
        (r#"userMap("g", "zed", "q", "d")"#, r#""a""#),
        (r#"userMap("g", "xa/b")"#, r#""slash""#),
        (r#"userMap("g", "zoe")"#, r#""fromOther""#),
        (r#"userMap("g", undefined, 1, 2)"#, "2"),
        (r#"userMap("none", "alice", 1, 2)"#, "2"),
    ] {
        let (_, out, err) = classad(&["eval", "--dialect", "condor", "--map", &map, "-e", call]);
        assert_eq!(out.trim_end(), expected, "{call}: {err}");
        assert!(err.contains(&format!("{other}:2:10")) && err.contains("can include no other"), "{err}");
    }
    // The line that is wrong is told with its place, and is an error.
    let (status, out, err) = classad(&["eval", "--map", &format!("g={}", file("bad.map", "* a\n* b c\n")), "-e", "1"]);
    assert!(
        status == Some(2) && out == "1\n" && err.contains("bad.map:1:1") && err.contains("a result is missing"),
        "{err}"
    );
    for (option, expected) in [("g", "NAME=FILE"), ("a.b=x", "has no dot"), ("g=/nowhere", "cannot read /nowhere")] {
        let (status, _, err) = classad(&["eval", "--map", option, "-e", "1"]);
        assert!(status == Some(2) && err.contains(expected), "{err}");
    }
}
