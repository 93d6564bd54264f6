//! One-way queries in the papers' words: `other` and `TARGET`, and queries that are ads (1998 paper 4).

use crate::binary::{classad, classad_on, file};

const MACHINES: &str = "\
Name = \"a\"\nMemory = 4\nCpus = 2\nGPUs = { [ Capability = 7; Id = 1 ], [ Capability = 9; Id = 2 ] }\nRequirements = TARGET.Memory > 1\n
Name = \"b\"\nMemory = 16\nCpus = 1\nLimit = 8\n
Name = \"c\"\nMemory = 8\nCpus = 8\nTarget = \"t\"\n";

/// Standard output of a run that finds something, without a message.
fn found(arguments: &[&str]) -> String {
    let (status, out, notes) = classad(arguments);
    assert_eq!((status, notes.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

#[test]
fn other_and_target_are_the_ad_wherever_query_takes_an_expression() {
    let machines = &file("one_way.long", MACHINES);
    let arguments = |words: &str| -> Vec<String> { words.split('|').map(str::to_owned).collect() };
    for (words, plain) in [
        ("query|other.Memory > 4|FILE|--af|Name", "query|Memory > 4|FILE|--af|Name"),
        ("query|TARGET.Memory > 4 && target.Cpus < 8|FILE|--af|Name", "query|Memory > 4 && Cpus < 8|FILE|--af|Name"),
        ("query|FILE|-constraint|TARGET.Memory > 4|-af|Name", "query|FILE|-constraint|Memory > 4|-af|Name"),
        (
            "query|--constraint|other.Cpus > 1|--constraint|TARGET.Memory > 4|FILE|--count",
            "query|Cpus > 1 && Memory > 4|FILE|--count",
        ),
        ("query|true|FILE|--af|N=other.Name,M=TARGET.Memory * 2", "query|true|FILE|--af|N=Name,M=Memory * 2"),
        ("query|true|FILE|--sort|-TARGET.Memory|--af|Name", "query|true|FILE|--sort|-Memory|--af|Name"),
        (
            "query|true|FILE|--group-by|other.Cpus > 1|--sum|other.Memory|--no-header",
            "query|true|FILE|--group-by|Cpus > 1|--sum|Memory|--no-header",
        ),
        (
            "query|true|FILE|--group-by|TARGET.Cpus|--sum|other.Memory|--having|sum(other.Memory) > TARGET.Cpus|--no-header",
            "query|true|FILE|--group-by|Cpus|--sum|Memory|--having|sum(Memory) > Cpus|--no-header",
        ),
        ("query|other.Limit > 1|FILE|--undefined|-o|names", "query|Limit > 1|FILE|--undefined|-o|names"),
        ("query|other.Memory > 4|FILE|--invert|--af|Name", "query|Memory > 4|FILE|--invert|--af|Name"),
        ("query|countMatches(Capability > other.Cpus, GPUs) == 2|FILE|--af|Name", "query|Name == \"a\"|FILE|--af|Name"),
        ("query|other.Memory > 4|FILE|--strict-input|--threads|1|--af|Name", "query|Memory > 4|FILE|--af|Name"),
        ("query|Target == \"t\" && TARGET.Name == \"c\"|FILE|--af|Name", "query|Name == \"c\"|FILE|--af|Name"),
    ] {
        let [words, plain] = [words, plain].map(|words| arguments(&words.replace("FILE", machines)));
        let [words, plain] = [&words, &plain].map(|words| found(&words.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!(words, plain);
        assert!(!words.is_empty());
    }
    // What an ad says of its partner stays unknown, and a misspelt name is told.
    let (status, _, _) = classad(&["query", "Requirements", machines, "--count"]);
    assert_eq!(status, Some(1));
    let (_, _, notes) = classad(&["query", "TARGET.Memori > 1", machines]);
    assert!(notes.contains("Memory"), "{notes}");
}

#[test]
fn a_query_can_be_an_ad() {
    let machines = &file("one_way_ad.long", MACHINES);
    let query = &file(
        "one_way.query",
        "[ Type = \"Query\"; Least = 4; Enough = other.Memory > Least; Constraint = Enough && other.Cpus >= 1;\n\
         Rank = other.Limit - other.Cpus; Projection = \"Name, Memory Cpus\" ]",
    );
    let ads = "Name = \"b\"\nMemory = 16\nCpus = 1\n\nName = \"c\"\nMemory = 8\nCpus = 8\n\n";
    assert_eq!(found(&["query", "--query", query, machines]), ads);
    assert_eq!(found(&["query", "--query", query, machines, "--af", "Name"]), "b\nc\n");
    assert_eq!(found(&["query", "--query", query, machines, "--count"]), "2\n");
    assert_eq!(found(&["query", "--query", query, "other.Memory < 9", machines, "--af", "Name"]), "c\n");
    assert_eq!(classad_on(&["query", "--query", query, "--af", "Name"], MACHINES.as_bytes()).1, "b\nc\n");
    // HTCondor's words; a rank that is undefined is 0, between 1 and -1.
    let condor = &file(
        "one_way_condor.query",
        "Requirements = TARGET.Memory >= MY.Least\nLeast = 4\nRank = TARGET.Limit - 9\nProjection = { \"Name\" }\n",
    );
    assert_eq!(found(&["query", "--query", condor, machines]), "Name = \"a\"\n\nName = \"c\"\n\nName = \"b\"\n\n");
    // The ad of a query that names nothing of its own selects all.
    let empty = &file("one_way_empty.query", "[ ]");
    assert_eq!(found(&["query", "--query", empty, machines, "--count"]), "3\n");
    let (status, out, _) = classad(&["query", "--query", "missing.query", machines]);
    assert_eq!((status, out.as_str()), (Some(2), ""));
}

#[test]
fn parts_of_a_query_in_the_papers_words_are_one_run() {
    let machines = &file("one_way_parts.long", MACHINES);
    let query = &file("one_way_parts.query", "[ Constraint = other.Memory > 4; Rank = other.Cpus ]");
    let arguments = ["query", "--query", query, machines, "--af", "TARGET.Name"];
    let (status, partial, _) = classad(&[&arguments[..], &["--partial"]].concat());
    assert_eq!(status, Some(0));
    let partial = &file("one_way_parts.part", partial);
    assert_eq!(found(&["merge", partial]), found(&arguments));
}

#[test]
fn parts_of_different_queries_or_maps_are_refused() {
    let machines = file("one_way_other.long", MACHINES);
    let (query, map) = ("[ Constraint = other.Memory > 4 ]", "* a x\n");
    for (other_query, other_map) in [("[ Constraint = other.Memory > 9 ]", map), (query, "* a y\n")] {
        let write = |query: &str, map: &str| (file("one_way_other.query", query), file("one_way_other.map", map));
        let part = |name: &str, range: &str, (query, map): (String, String)| {
            let (part, map) = (format!("{machines}@{range}"), format!("m={map}"));
            let (status, partial, told) = classad(&["query", "--query", &query, "--map", &map, "--partial", &part]);
            assert_eq!(status, Some(0), "{told}");
            file(name, partial)
        };
        let first = part("one_way_other-1.part", "0-20", write(query, map));
        let same = part("one_way_other-2.part", "20-", write(query, map));
        assert_eq!(classad(&["merge", &first, &same]).0, Some(0));
        let other = part("one_way_other-3.part", "20-", write(other_query, other_map));
        for (second, reason) in [(&other, "was another for"), (&same, "has changed since the runs")] {
            let (status, out, told) = classad(&["merge", &first, second]);
            assert!((status, out.as_str()) == (Some(2), "") && told.contains(reason), "{told}");
        }
    }
}

#[test]
fn a_query_of_two_ads_is_refused() {
    let machines = &file("one_way_two.long", MACHINES);
    for second in ["[ Constraint = true ]", "[ Constraint = ]"] {
        let query = &file("one_way_two.query", format!("[ Constraint = other.Memory > 4 ]\n{second}\n"));
        let (status, out, told) = classad(&["query", "--query", query, machines]);
        assert_eq!((status, out.as_str()), (Some(2), ""));
        assert!(told.contains("expected one ad in") && told.contains("not 2"), "{told}");
    }
}

#[test]
fn a_file_that_is_on_both_sides_is_told() {
    let ads = &file("one_way_sides.ad", "[ Name = \"x\"; Requirements = true ]");
    let link = crate::binary::temporary().join("one_way_sides.link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("one_way_sides.ad", &link).expect("the folder can be written");
    let link = &link.to_string_lossy().into_owned();
    for command in ["match", "gangmatch", "negotiate", "explain"] {
        for pool in [ads, link] {
            let (_, _, notes) = classad(&[command, ads, "--pool", pool]);
            assert!(notes.contains("has requests and offers: an ad in it can match itself"), "{command}: {notes}");
        }
        let other = &file("one_way_other.ad", "[ Name = \"y\"; Requirements = true ]");
        assert!(!classad(&[command, ads, "--pool", other]).2.contains("match itself"));
    }
}
