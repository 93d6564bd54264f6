//! Advertising, notification, the registrar and claims through the binary, on ads of the papers.

use serde_json::Value;

use super::binary::{classad, file, run};

/// The requests of thesis Figure 8 (as mended) and of another user, without names.
const UNNAMED: [&str; 2] = [
    "[ Owner = \"raman\"; Address = \"<froth.cs.wisc.edu:2020>\"; Constraint = other.Memory >= 64; Rank = other.Memory ]",
    "[ Owner = \"miron\"; Address = \"<froth.cs.wisc.edu:2021>\"; Constraint = other.Memory >= 32 ]",
];

const MACHINES: &str = "[ Name = \"cobra\"; Type = \"Machine\"; Memory = 251; ClaimId = \"c1\"; Constraint = true ]
    [ Name = \"viper\"; Type = \"Machine\"; Memory = 32; ClaimId = \"v1\"; Constraint = true ]";

/// What `query` and `census` take with `--at` is what `match` takes, for any ads and times.
#[test]
fn what_is_held_is_what_takes_part() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut expired = 0;
    for round in 0..12 {
        let ads: Vec<String> = (0..12)
            .map(|number| {
                let name = ["cobra", "viper", "python", "mamba"][random.usize(0..4)];
                let kind = ["Machine", "License"][random.usize(0..2)];
                let sequence = match random.u8(0..3) {
                    0 => String::new(),
                    _ => format!("UpdateSequenceNumber = {}; ", random.u8(0..3)),
                };
                let life = random.u8(0..9);
                format!(
                    "[ Name = \"{name}\"; Type = \"{kind}\"; {sequence}LastHeardFrom = 100; ClassAdLifetime = {life}; Number = {number}; Constraint = true ]"
                )
            })
            .collect();
        let pool = file(&format!("advertising-held-{round}.ad"), ads.join("\n"));
        let request = file("advertising-held-request.ad", "[ Name = \"r\"; Constraint = true; Rank = 0 ]");
        let at = (100 + random.u8(0..9)).to_string();
        let (_, held, told) = classad(&["query", "true", &pool, "--at", &at, "--af", "Number"]);
        let matched = ["match", &request, "--pool", &pool, "--at", &at, "--all", "-o", "tsv", "--no-header"];
        let (_, pairs, _) = classad(&matched);
        let names = |number: &str| ads[number.parse::<usize>().unwrap()].split('"').nth(1).unwrap().to_owned();
        let held_names: Vec<String> = held.lines().map(names).collect();
        let taken: Vec<&str> = pairs.lines().filter_map(|line| line.split('\t').nth(1)).collect();
        assert_eq!(held_names, taken, "{told}");
        let (_, counted, _) = classad(&["census", &pool, "--at", &at, "--attr", "Number", "-o", "json"]);
        let census: Value = serde_json::from_str(&counted).unwrap();
        assert_eq!(census["ads"], held.lines().count());
        let (_, collected, _) = classad(&["collect", &pool, "--at", &at, "-o", "jsonl"]);
        let numbers: Vec<String> = lines(&collected).iter().map(|ad| ad["Number"].to_string()).collect();
        assert_eq!(numbers, held.lines().collect::<Vec<_>>());
        expired += usize::from(told.contains("expired"));
    }
    assert!(expired > 3, "{expired}: nothing expires");
}

/// An ad without a name keeps its place in the file as its name.
#[test]
fn places_stay_with_at() {
    let ads = "[ a = 1; LastHeardFrom = 1; ClassAdLifetime = 1 ]\n[ a = 2 ]\n[ a = 3; ]";
    let (_, names, _) = classad(&["query", "a > 0", &file("advertising-places.ad", ads), "--at", "100", "-o", "names"]);
    let numbers: Vec<&str> = names.lines().filter_map(|name| name.rsplit(':').next()).collect();
    assert_eq!(numbers, ["2", "3"]);
    let bad = file("advertising-bad.ad", "[ a = 1 ]\n[ a = = ]\n[ a = 3 ]");
    let (status, names, told) = classad(&["query", "true", &bad, "--at", "100", "--af", "a"]);
    assert_eq!((status, names.as_str()), (Some(2), "1\n3\n"), "{told}");
    assert_eq!(classad(&["query", "true", &bad, "--at", "1", "--newest"]).0, Some(2));
}

#[test]
fn updates_of_matched_ads_are_discarded() {
    let machines = "samples/advertising/machines.ad";
    let arguments = ["match", "samples/advertising/jobs.ad", "--pool", machines, "--at", "972223500", "--notify", "-"];
    let (status, records, told) = classad(&arguments);
    assert_eq!(status, Some(0), "{told}");
    assert!(records.contains("\"to\":\"viper.cs.wisc.edu\""), "{records}");
    let matches = file("advertising-updates.jsonl", records);
    let update =
        file("advertising-update.ad", "[ Name = \"viper.cs.wisc.edu\"; UpdateSequenceNumber = 8; LoadAvg = 0.0 ]");
    let collect = ["collect", machines, "--at", "972223500", "-o", "names", "--matched", &matches];
    let (_, held, told) = classad(&[&collect[..], &["--update", &update]].concat());
    assert_eq!(held, "", "both are matched");
    assert!(told.contains("discarded: 1 update of an ad that is matched (first: viper.cs.wisc.edu)"), "{told}");
    // Advertised afresh, it is held again.
    let afresh = "[ Name = \"viper.cs.wisc.edu\"; Type = \"Machine\"; UpdateSequenceNumber = 8; Constraint = true ]";
    let afresh = file("advertising-afresh.ad", afresh);
    let (_, held, _) = classad(&[&["collect", &afresh], &collect[1..]].concat());
    assert_eq!(held, "viper.cs.wisc.edu\n");
    // An update of a name that two kinds of ads have must tell the kind.
    let both = file(
        "advertising-kinds.ad",
        "[ Name = \"a\"; Type = \"Machine\"; x = 1; Constraint = true ] [ Name = \"a\"; Type = \"License\"; x = 1; Constraint = true ]",
    );
    let unkind = file("advertising-unkind.ad", "[ Name = \"a\"; x = 2 ] [ Name = \"a\"; Type = \"License\"; x = 3 ]");
    let (_, held, told) = classad(&["collect", &both, "--update", &unkind, "-o", "jsonl"]);
    assert_eq!(lines(&held).iter().map(|ad| ad["x"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 3]);
    assert!(told.contains("several kinds"), "{told}");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

#[test]
fn ads_without_names_are_found_by_their_contents() {
    let requests = file("advertising-unnamed.ad", UNNAMED.join("\n"));
    let turned = file("advertising-unnamed-turned.ad", [UNNAMED[1], UNNAMED[0]].join("\n"));
    let offers = file("advertising-machines.ad", MACHINES);
    let (status, records, told) = classad(&["match", &requests, "--pool", &offers, "--notify", "-"]);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("2 ads without a name"), "{told}");
    let of_raman = lines(&records)[0].clone();
    assert!(of_raman["to"].as_str().is_some_and(|to| to.starts_with("content:")), "{of_raman}");
    assert_eq!(of_raman["address"], "<froth.cs.wisc.edu:2020>");
    assert_eq!(of_raman["members"][1]["submatch"], format!("{}.1", of_raman["match"].as_str().unwrap()));
    // The order of the file does not count, and another ad in it does not either.
    let matches = file("advertising-unnamed.jsonl", &records);
    let (status, claimed, _) = classad(&["claim", &matches, "--ads", &turned, "--ads", &offers, "-o", "tsv"]);
    assert_eq!((status, claimed.matches("committed").count()), (Some(0), 2), "{claimed}");
    let further = file("advertising-further.ad", "[ Owner = \"new\"; Constraint = true ]");
    let free = file("advertising-free.ad", "[ Name = \"free\"; Constraint = true ]");
    let arguments = ["match", &further, &turned, "--pool", &free, "--matched", &matches, "-o", "tsv", "--no-header"];
    let (status, rows, told) = classad(&arguments);
    assert_eq!(status, Some(0), "{told}");
    assert!(rows.starts_with(&further) && rows.lines().count() == 1, "{rows}");
    assert!(told.contains("2 of 3 requests left out"), "{told}");
}

/// Rows of `match` call an ad without a name by its place. They are understood as before.
#[test]
fn rows_call_unnamed_ads_by_place() {
    let requests = file("advertising-rows.ad", UNNAMED.join("\n"));
    let offers = file("advertising-rows-machines.ad", MACHINES);
    let rows = run(&["match", &requests, "--pool", &offers, "-o", "jsonl"], b"");
    let matches = file("advertising-rows.jsonl", rows.stdout);
    let (status, claimed, _) = classad(&["claim", &matches, "--ads", &requests, "--ads", &offers, "-o", "tsv"]);
    assert_eq!((status, claimed.matches("committed").count()), (Some(0), 2), "{claimed}");
}

/// `match` reads only a part of ads in the long form. With `--with-ads` it reads all, and the records have copies. A copy
/// has its secrets only for those who may know them.
#[test]
fn notices_carry_copies_of_the_ads() {
    let requests = file(
        "advertising-copies.long",
        "Owner = \"raman\"\nName = \"j\"\nRequirements = TARGET.Memory > 64\nCmd = \"run_sim\"\nClaimId = \"secret-of-j\"\n",
    );
    let offers = file(
        "advertising-copies-m.long",
        "Name = \"cobra\"\nMemory = 251\nMips = 550\nKFlops = 63685.5\nClaimId = \"c1\"\nCapability = \"cap\"\nRequirements = true\n",
    );
    let (_, records, _) = classad(&["match", &requests, "--pool", &offers, "--notify", "-", "--with-ads"]);
    let records = lines(&records);
    let ad = |record: usize, member: usize| records[record]["members"][member]["ad"].clone();
    assert_eq!(ad(0, 0)["Cmd"], "run_sim");
    assert_eq!((&ad(0, 1)["Mips"], &ad(0, 1)["KFlops"]), (&550.into(), &63685.5.into()));
    assert_eq!((&ad(0, 1)["ClaimId"], &ad(0, 1)["Capability"]), (&"c1".into(), &"cap".into()));
    assert_eq!(ad(1, 0).get("ClaimId"), None, "the machine may not know the ticket of its customer");
    assert_eq!(ad(0, 0)["ClaimId"], "secret-of-j");
    let (_, without, _) = classad(&["match", &requests, "--pool", &offers, "--notify", "-"]);
    assert!(!without.contains("Cmd") && without.contains("\"claim_id\":\"c1\""), "{without}");
    assert_eq!(classad(&["match", &requests, "--pool", &offers, "--with-ads"]).0, Some(2));
}

const JOBS_OF_POOL: &str = "samples/pool/jobs.long";
const MACHINES_OF_POOL: &str = "samples/pool/machines.long";

/// An annotated queue is clustered as before, in any order, and keeps its identifiers (2006 paper 4.1, step 5).
#[test]
fn annotated_requests_keep_their_autoclusters() {
    let annotate = |file: &str| {
        let arguments = ["autocluster", "--annotate", file, "--pool", MACHINES_OF_POOL, "-o", "jsonl"];
        let (status, ads, told) = classad(&arguments);
        assert_eq!(status, Some(0), "{told}");
        ads
    };
    let annotated = annotate(JOBS_OF_POOL);
    let id_of = |ads: &str, job: &str| {
        let ad = lines(ads).into_iter().find(|ad| format!("{}.{}", ad["ClusterId"], ad["ProcId"]) == job).unwrap();
        (ad["AutoClusterId"].as_i64().unwrap(), ad["AutoClusterAttrs"].as_str().unwrap().to_owned())
    };
    assert_eq!(id_of(&annotated, "101.0"), id_of(&annotated, "101.1"));
    assert!(id_of(&annotated, "101.0").1.split(',').any(|name| name == "RequestMemory"));
    // The last job comes first: without what is cached it would have the identifier 1.
    let turned: Vec<&str> = annotated.lines().rev().collect();
    let again = annotate(&file("advertising-turned.jsonl", turned.join("\n")));
    assert_eq!(again.lines().rev().collect::<Vec<_>>(), annotated.lines().collect::<Vec<_>>());
    // Of a changed job the identifier is not kept where the others of its cluster have it, and the others keep theirs.
    let first = annotated.lines().next().unwrap();
    let memory = lines(first)[0]["RequestMemory"].clone();
    let changed = first.replacen(&format!("\"RequestMemory\": {memory}"), "\"RequestMemory\": 4711", 1);
    assert_ne!(changed, first);
    let rest: Vec<&str> = annotated.lines().skip(1).chain([changed.as_str()]).collect();
    let third = annotate(&file("advertising-changed.jsonl", rest.join("\n")));
    assert_eq!(id_of(&third, "101.1"), id_of(&annotated, "101.1"));
    let largest = lines(&annotated).iter().map(|ad| ad["AutoClusterId"].as_i64().unwrap()).max().unwrap();
    assert_eq!(id_of(&third, "101.0").0, largest + 1);
    // The order of the attributes does not matter.
    let list = id_of(&annotated, "101.0").1;
    let turned_list = list.split(',').rev().collect::<Vec<_>>().join(", ");
    let turned = annotated.replace(&list, &turned_list);
    assert_ne!(turned, annotated);
    let reordered = annotate(&file("advertising-reordered.jsonl", turned));
    assert_eq!(id_of(&reordered, "101.0").0, id_of(&annotated, "101.0").0);
    // Identifiers made of other attributes are made anew.
    let other = annotated.replace("\"AutoClusterAttrs\": \"", "\"AutoClusterAttrs\": \"Foo,");
    let anew = annotate(&file("advertising-other.jsonl", other.lines().rev().collect::<Vec<_>>().join("\n")));
    assert_eq!(lines(&anew)[0]["AutoClusterId"], 1);
}

/// 2006 paper 4.1: a job whose significant attributes are edited loses its identifier, whichever job of its cluster it is,
/// and the others keep theirs.
#[test]
fn an_edited_job_gets_another_identifier() {
    let machines = file("edited-machines.ad", "[ Name = \"m\"; Requirements = other.Size > 0 && other.Prio >= 0 ]");
    let annotate = |jobs: &[String]| -> Vec<String> {
        let jobs = file("edited-jobs.jsonl", jobs.join("\n"));
        let (_, ads, told) = classad(&["autocluster", "--annotate", &jobs, "--pool", &machines, "-o", "jsonl"]);
        assert_eq!(told, "");
        ads.lines().map(str::to_owned).collect()
    };
    let id = |ad: &str| lines(ad)[0]["AutoClusterId"].as_i64().unwrap();
    let ids = |ads: &[String]| ads.iter().map(|ad| id(ad)).collect::<Vec<i64>>();
    let job = |name: usize, size: u8, more: &str| {
        format!("{{ \"Name\": \"j{name}\", \"Size\": {size}, \"Note\": 1{more}, \"Requirements\": true }}")
    };
    // Three clusters: two jobs, one job, three jobs.
    let sizes = [1, 1, 2, 3, 3, 3];
    let jobs: Vec<String> = sizes.iter().enumerate().map(|(name, size)| job(name, *size, "")).collect();
    let first = annotate(&jobs);
    assert_eq!(ids(&first), [1, 1, 2, 3, 3, 3]);
    assert_eq!(annotate(&first), first);
    let edits = [("\"Size\": ", "\"Size\": 4"), ("\"Requirements\": ", "\"Requirements\": false, \"Was\": ")];
    for edited in [&[0][..], &[1], &[2], &[3], &[5], &[0, 1], &[0, 3], &[3, 4], &[5, 2, 0], &[0, 1, 2, 3, 4, 5]] {
        for (from, to) in edits {
            let mut now = first.clone();
            for place in edited {
                now[*place] = now[*place].replacen(from, to, 1);
                // What is not significant may change everywhere.
                now[0] = now[0].replace("\"Note\": 1", "\"Note\": 2");
            }
            for _ in 0..2 {
                let again = annotate(&now);
                let mut of_edited = Vec::new();
                for (ad, before) in again.iter().zip(&now) {
                    let place = lines(ad)[0]["Name"].as_str().unwrap()[1..].parse::<usize>().unwrap();
                    if edited.contains(&place) {
                        assert!(id(ad) > 3, "{edited:?} {to}: {ad}");
                        of_edited.push(id(ad));
                    } else {
                        assert_eq!(id(ad), id(before), "{edited:?} {to}: {ad}");
                    }
                }
                assert_eq!(annotate(&again), again, "{edited:?}");
                now.reverse();
            }
        }
    }
    // Without signatures, as in ads of HTCondor, most of the jobs of an identifier keep it.
    let unsigned: Vec<String> = first.iter().map(|ad| ad.replace("AutoClusterSignature", "Other")).collect();
    let mut now = unsigned.clone();
    now[3] = now[3].replacen("\"Size\": 3", "\"Size\": 9", 1);
    now[2] = now[2].replacen("\"Size\": 2", "\"Size\": 1", 1);
    assert_eq!(ids(&annotate(&now)), [1, 1, 1, 4, 3, 3]);
}

/// As of jobs and machines, the newest ad of each submitter counts; a user of two access points has two.
#[test]
fn the_newest_ad_of_a_submitter_counts() {
    let submitter = |number: &str, schedd: &str, count: u8| {
        format!(
            "[ MyType = \"Submitter\"; Name = \"a@d\"; Owner = \"a\"; ScheddName = \"{schedd}\"; MyAddress = \"<1>\"; {number} \
             LastHeardFrom = 100; ClassAdLifetime = 50; ResourceRequests = {{ [ ResourceRequestCount = {count}; Requirements = true ], \
             [ ResourceRequestCount = 1; Requirements = other.Number > 1 ] }} ]"
        )
    };
    let machine = |number| format!("[ Name = \"m{number}\"; Number = {number}; Requirements = true ]\n");
    let machines = (0..9).map(machine).collect::<Vec<_>>().concat();
    let machines = file("submitters-machines.ad", machines);
    let numbered =
        |number: u8, schedd: &str, count| submitter(&format!("UpdateSequenceNumber = {number};"), schedd, count);
    for (ads, now, expected) in [
        (vec![numbered(1, "ap", 4), numbered(2, "ap", 2)], "120", 3),
        (vec![numbered(2, "ap", 2), numbered(1, "ap", 4)], "120", 3),
        (vec![submitter("", "ap", 4), submitter("", "ap", 1)], "120", 2),
        (vec![numbered(1, "ap", 4), submitter("", "ap", 1)], "120", 5),
        (vec![numbered(1, "ap1", 2), numbered(7, "ap2", 3)], "120", 7),
        (vec![numbered(2, "ap", 2), numbered(1, "ap", 4)], "151", 0),
    ] {
        let submitters = file("submitters-stale.ad", ads.join("\n"));
        let arguments = ["negotiate", &submitters, "--pool", &machines, "--now", now, "--no-header", "-o", "tsv"];
        let (_, rows, told) = classad(&arguments);
        assert_eq!(rows.lines().count(), expected, "{ads:?}: {rows}{told}");
        // A collector holds the same ads.
        let (_, held, _) = classad(&["collect", &submitters, "--at", now]);
        let held = file("submitters-held.ad", held);
        let (_, again, _) =
            classad(&["negotiate", &held, "--pool", &machines, "--now", now, "--no-header", "-o", "tsv"]);
        assert_eq!(again, rows, "{ads:?}");
    }
}

/// HTCondor has no ports: `Ports` is an attribute of the site there, unless it is a list of records.
#[test]
fn ports_of_a_site_are_an_attribute() {
    let jobs = "Requirements = TARGET.Ports == \"8080\"\nClusterId = 1\nProcId = 0\nMyType = \"Job\"\nPorts = 80\n";
    let jobs = file("site-ports.jobs", jobs);
    let slots = file("site-ports.slots", "Ports = \"8080\"\nRequirements = true\nName = \"x\"\nMyType = \"Machine\"\n");
    for command in ["match", "explain", "negotiate", "gangmatch"] {
        let (status, out, told) = classad(&[command, &jobs, "--pool", &slots]);
        assert_eq!((status, told.as_str()), (Some(0), ""), "{command}: {out}");
        assert!(out.contains("1.0"), "{command}: {out}");
    }
    assert!(classad(&["autocluster", &jobs, "--pool", &slots]).1.contains("\tRequirements\n"));
    let gang = file("site-ports.gang", "MyType = \"Job\"\nName = \"g\"\nPorts = { 80 }\n");
    let (status, _, told) = classad(&["gangmatch", &gang, "--pool", &slots]);
    assert!(status == Some(2) && told.contains("a port must be a record"), "{told}");
}

/// Thesis 3.3.2: a collector "ensures that the advertisements sent to it are valid".
#[test]
fn a_collector_refuses_ads_that_are_not_valid() {
    let ads = "[ Name = \"good\"; UpdateSequenceNumber = 1; Constraint = true ]
        [ Name = \"good\"; UpdateSequenceNumber = 2; Constraint = true; Ports = 5 ]
        [ Name = \"twice\"; Ports = { [ Label = a; Constraint = true ], [ Label = a; Constraint = true ] } ]
        [ Name = \"none\"; Type = \"License\" ]
        [ Name = \"port\"; Ports = { [ Label = a ] } ]
        [ Name = \"slot\"; MyType = \"Machine\" ]
        [ Name = \"ap\"; MyType = \"Scheduler\" ]
        [ Name = \"gang\"; Ports = { [ Label = a; Constraint = a.x ] } ]";
    let all = file("invalid-ads.ad", ads);
    let (status, held, told) = classad(&["collect", &all, "-o", "names"]);
    assert_eq!((status, held.as_str()), (Some(2), "good\nap\ngang\n"), "{told}");
    for (number, reason) in [
        (2, "Ports must be a list of records"),
        (3, "an earlier port of this ad has the label `a` already"),
        (4, "this ad has no constraint"),
        (5, "the port a has no constraint"),
        (6, "this ad has no constraint"),
    ] {
        assert!(told.contains(reason) && told.contains(&format!("(ad {number})")), "{number}: {told}");
    }
    assert!(told.contains("invalid-ads.ad:2:"), "{told}");
    let first = classad(&["collect", &all, "-o", "names", "--fail-fast"]);
    assert_eq!((first.0, first.2.matches('×').count()), (Some(2), 1), "{}", first.2);
    // The old ad stays what it was when an update would make it invalid.
    let good = file("valid-ad.ad", ads.lines().next().unwrap());
    let update = file("invalid-update.ad", "[ Name = \"good\"; UpdateSequenceNumber = 2; Ports = 5 ]");
    let (status, held, told) = classad(&["collect", &good, "--update", &update, "-o", "jsonl"]);
    assert_eq!((status, lines(&held)[0]["UpdateSequenceNumber"].as_i64()), (Some(0), Some(1)), "{told}");
    assert!(told.contains("discarded: 1 update that makes its ad invalid: Ports must be a list of records"), "{told}");
    for pool in ["tests/pool/dumps/daemons.long", "tests/pool/dumps/machines.long", "tests/pool/dumps/queue.long"] {
        assert_eq!(classad(&["collect", pool, "--at", "0", "-o", "names"]).0, Some(0), "{pool}");
    }
}

#[test]
fn a_collector_keeps_the_records_of_htcondor_that_match_nothing() {
    let users =
        "Name = \"alice@site\"\nPriority = 500.0\nIsAccountingGroup = false\n\nName = \"bio\"\nPriority = 1.0\n";
    let access_point = "Type = \"Scheduler\"\nName = \"ap\"\n";
    for (pool, kept) in [
        (file("user-priorities.long", users), 2),
        (file("access-point.long", access_point), 1),
        ("tests/pool/dumps/transfer_history".to_owned(), 9),
    ] {
        let (status, held, told) = classad(&["collect", &pool, "-o", "jsonl"]);
        assert_eq!((status, held.lines().count()), (Some(0), kept), "{pool}: {told}");
    }
}

#[test]
fn an_attribute_ports_of_a_site_is_no_list_of_ports() {
    let slot =
        "MyType = \"Machine\"\nName = \"x\"\nRequirements = TARGET.a > 5 && TARGET.a < 3\nPorts = \"8080,8081\"\n";
    let path = file("ports-of-a-site.long", slot);
    let (status, held, told) = classad(&["collect", &path, "-o", "names"]);
    assert_eq!((status, held.as_str()), (Some(0), "x\n"), "{told}");
    // The constraint is checked as that of any ad without ports.
    let (_, found, _) = classad(&["check", &path]);
    assert!(!found.contains("must be a list") && found.contains("contradiction"), "{found}");
    // A list is still read as one of ports, and in the papers' dialect everything is.
    let listed = file("ports-in-a-list.long", slot.replace("\"8080,8081\"", "{ 8080 }"));
    assert_eq!(classad(&["collect", &listed]).0, Some(2));
    assert_eq!(classad(&["collect", &path, "--dialect", "classad"]).0, Some(2));
}

#[test]
fn submitter_ads_nest_resource_requests() {
    let of = |option: &str| {
        let (status, ads, told) =
            classad(&["autocluster", option, JOBS_OF_POOL, "--pool", MACHINES_OF_POOL, "-o", "jsonl"]);
        assert_eq!(status, Some(0), "{told}");
        lines(&ads)
    };
    let submitters = of("--submitters");
    let (_, owners, _) = classad(&["query", "true", JOBS_OF_POOL, "--group-by", "Owner", "-o", "jsonl"]);
    assert_eq!(submitters.len(), owners.lines().count());
    let nested = |ad: &Value| ad["ResourceRequests"].as_array().unwrap().clone();
    let count = |ads: &[Value], name: &str| ads.iter().map(|ad| ad[name].as_i64().unwrap()).sum::<i64>();
    for submitter in &submitters {
        assert_eq!(submitter["MyType"], "Submitter");
        assert_eq!(count(&nested(submitter), "ResourceRequestCount"), submitter["IdleJobs"].as_i64().unwrap());
    }
    let jobs = [2, 1, 5].map(|status| {
        format!("MyType = \"Job\"\nClusterId = {status}\nProcId = 0\nJobStatus = {status}\nOwner = \"a\"\n")
    });
    let jobs = file("advertising-states.long", jobs.join("\n"));
    let (_, waiting, _) = classad(&["autocluster", "--submitters", &jobs, "--pool", MACHINES_OF_POOL, "-o", "jsonl"]);
    assert_eq!(lines(&waiting)[0]["IdleJobs"], 1, "only one job waits");
    // The nested ads keep what names the submitter under the policy.
    let job = "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nUser = \"u@x\"\nAccountingGroup = \"g.u\"\nRequirements = true\n";
    let job = file("advertising-group.long", job);
    let policy = ["--policy", "htcondor"];
    let (_, ads, _) =
        classad(&[&["autocluster", "--submitters", &job, "--pool", MACHINES_OF_POOL], &policy[..]].concat());
    let (_, rows, told) = classad(
        &[
            &["negotiate", &file("advertising-group.ad", ads), "--pool", MACHINES_OF_POOL, "--by-submitter"],
            &policy[..],
        ]
        .concat(),
    );
    assert!(rows.contains("g.u@x"), "{rows}{told}");
    let all: Vec<Value> = submitters.iter().flat_map(nested).collect();
    assert_eq!(count(&all, "ResourceRequestCount"), count(&of("--requests"), "ResourceRequestCount"));
}

/// 2006 paper, section 4.3: a cycle over the ads of submitters gives each the offers that its jobs get, in both forms of
/// the ads, with shares and without.
#[test]
fn a_cycle_reads_submitter_ads() {
    let policy = file("submitter-policy.yaml", "share: { by: Owner }");
    for options in [vec!["--policy", &policy], vec![]] {
        let cycle = |requests: &str| {
            let common = ["negotiate", requests, "--pool", MACHINES_OF_POOL, "--no-header", "-o", "tsv"];
            let (status, rows, told) = classad(&[&common[..], &options].concat());
            assert_eq!(status, Some(0), "{told}");
            let offer = |row: &str| row.split('\t').nth(1).unwrap_or_default().to_owned();
            let mut offers: Vec<String> = rows.lines().map(offer).collect();
            offers.sort_unstable();
            offers
        };
        for form in ["long", "new", "jsonl"] {
            let arguments = ["autocluster", "--submitters", JOBS_OF_POOL, "--pool", MACHINES_OF_POOL, "-o", form];
            let (_, ads, _) = classad(&[&arguments[..], &options].concat());
            let submitters = file(&format!("submitters.{form}"), ads);
            assert_eq!(cycle(&submitters), cycle(JOBS_OF_POOL), "{form}");
        }
    }
}

/// 1998, sections 3.2 and 4. The accountant records a claim, and the machine advertises that it is claimed. After the
/// release, the machine advertises that it is free.
#[test]
fn a_claim_is_accounted_and_advertised_until_its_release() {
    let job = file(
        "advertising-claim-job.long",
        "Name = \"run_sim\"\nMyType = \"Job\"\nJobStatus = 1\nOwner = \"raman\"\nRequirements = TARGET.Memory >= 31\nRank = TARGET.KFlops\n",
    );
    let machine = file(
        "advertising-claim-machine.long",
        "Name = \"leonardo.cs.wisc.edu\"\nMyType = \"Machine\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nMemory = 64\nKFlops = 21893\nClaimId = \"t1\"\nUpdateSequenceNumber = 4\nRank = 10\nRequirements = true\n",
    );
    let usage = file("advertising-usage.yaml", "");
    let [claimed, free] = ["advertising-claimed.long", "advertising-freed.long"].map(|name| file(name, ""));
    let (_, records, _) = classad(&["match", &job, "--pool", &machine, "--now", "1000", "--notify", "-"]);
    let matches = file("advertising-claim.jsonl", records);
    let claim = |ads: &str, arguments: &[&str]| {
        let common = ["claim", &matches, "--ads", ads, "--ads", &job, "--usage", &usage, "--no-header", "-o", "tsv"];
        classad(&[&common[..], arguments].concat())
    };
    let (status, rows, told) = claim(&machine, &["--now", "1000", "--follow", &claimed]);
    assert_eq!((status, rows.contains("committed")), (Some(0), true), "{rows} {told}");
    let account = std::fs::read_to_string(&usage).unwrap();
    assert!(account.contains("raman: { priority: 0.5, factor: 1000, resources: 1, usage: 0 }"), "{account}");
    let query = |file: &str| {
        classad(&["query", "true", file, "--af", "State,RemoteUser,CurrentRank,UpdateSequenceNumber,ClaimId"]).1
    };
    assert_eq!(query(&claimed), "Claimed\traman\t10.0\t5\tundefined\n");
    // The next request does not get the claimed machine.
    assert_eq!(classad(&["match", &job, "--pool", &machine, "--pool", &claimed]).0, Some(1));
    // The match cannot be claimed again: its ticket is used up.
    let again = classad(&["claim", &matches, "--ads", &claimed, "--ads", &job, "-o", "tsv"]);
    assert!(again.0 == Some(1) && again.1.contains("aborted"), "{}", again.1);

    let (status, rows, told) = claim(&claimed, &["--release", "--now", "1100", "--follow", &free]);
    assert_eq!((status, rows.contains("released")), (Some(0), true), "{rows} {told}");
    let account = std::fs::read_to_string(&usage).unwrap();
    assert!(account.contains("resources: 0, usage: 100 }") && !account.contains("claims"), "{account}");
    assert_eq!(query(&free), "Unclaimed\tundefined\t0.0\t6\tundefined\n");
    assert_eq!(classad(&["match", &job, "--pool", &machine, "--pool", &claimed, "--pool", &free]).0, Some(0));
    // What another user has claimed since is not released.
    let text = std::fs::read_to_string(&claimed).unwrap().replace("raman", "miron");
    let others = file("advertising-others.long", text);
    let (status, rows, _) = claim(&others, &["--release", "--now", "1100", "--follow", &free]);
    assert!(status == Some(1) && rows.contains("kept") && rows.contains("miron"), "{rows}");
}

/// Thesis 3.3.2 and 3.4.2: the registrar knows what is matched now. Rows of `claim` end matches, also those of ads
/// without sequence numbers, which would stay matched forever.
#[test]
fn the_registrar_lists_the_matches_in_force() {
    let jobs = file(
        "registrar-jobs.ad",
        "[ Name = \"a\"; Requirements = other.App == 1 ] [ Name = \"b\"; GlobalJobId = \"g1\"; Owner = \"u\"; Requirements = other.App == 2 ]",
    );
    let licences = file(
        "registrar-licences.ad",
        "[ Name = \"l1\"; App = 1; Requirements = true ] [ Name = \"l2\"; App = 2; UpdateSequenceNumber = 3; Requirements = true ]",
    );
    let run = |arguments: &[&str]| {
        let (status, rows, told) = classad(arguments);
        (status, rows, told)
    };
    let (_, records, _) = run(&["match", &jobs, "--pool", &licences, "--now", "1000", "--notify", "-"]);
    let matches = file("registrar-matches.jsonl", records);
    let list = |arguments: &[&str]| {
        let common = ["claim", "--list", "--no-header", "-o", "tsv"];
        let (status, rows, told) = run(&[&common[..], arguments].concat());
        assert!(told.is_empty(), "{told}");
        let cells = rows.lines().map(|row| row.split('\t').skip(1).collect::<Vec<&str>>().join(" "));
        (status, cells.collect::<Vec<String>>())
    };
    let pairs = |rows: &[&str]| (Some(i32::from(rows.is_empty())), rows.iter().map(|row| (*row).to_owned()).collect());
    assert_eq!(list(&[&matches]), pairs(&["matched 1000 a l1", "matched 1000 b l2"]));
    let piped = crate::binary::run(&["claim", "--list", "--no-header"], &std::fs::read(&matches).unwrap());
    assert_eq!(String::from_utf8(piped.stdout).unwrap().lines().count(), 2);
    // The matched ads are left out of the next cycle.
    let next = |outcomes: &[&str]| {
        let common = ["match", &jobs, "--pool", &licences, "--matched", &matches, "--no-header", "-o", "tsv"];
        let outcomes: Vec<&str> = outcomes.iter().flat_map(|file| ["--matched", file]).collect();
        run(&[&common[..], &outcomes].concat()).1.lines().count()
    };
    assert_eq!(next(&[]), 0);

    let claim = |ads: &str, arguments: &[&str]| {
        let common = ["claim", &matches, "--ads", &jobs, "--ads", ads, "-o", "jsonl"];
        run(&[&common[..], arguments].concat()).1
    };
    let claimed = file("registrar-claimed.jsonl", claim(&licences, &[]));
    assert_eq!(list(&[&matches, &claimed]), pairs(&["claimed 1000 a l1", "claimed 1000 b l2"]));
    // The second licence serves another job of the same owner: only the first is released.
    let others = file(
        "registrar-others.ad",
        "[ Name = \"l1\"; App = 1 ] [ Name = \"l2\"; App = 2; UpdateSequenceNumber = 3; RemoteOwner = \"u\"; GlobalJobId = \"g2\" ]",
    );
    let released = file("registrar-released.jsonl", claim(&others, &["--release"]));
    assert_eq!(list(&[&matches, &claimed, &released]), pairs(&["claimed 1000 b l2"]));
    assert_eq!(next(&[&claimed, &released]), 1);
    // The second licence is advertised afresh.
    let fresh = file("registrar-fresh.ad", "[ Name = \"l1\" ] [ Name = \"l2\"; UpdateSequenceNumber = 4 ]");
    assert_eq!(list(&[&matches, &claimed, "--ads", &fresh]), pairs(&["claimed 1000 a l1"]));

    // A claim that is aborted ends its match, too.
    let gone = file("registrar-gone.ad", "[ Name = \"l1\"; App = 1; Requirements = true ]");
    let aborted = file("registrar-aborted.jsonl", claim(&gone, &[]));
    assert_eq!(list(&[&matches, &aborted]), pairs(&["claimed 1000 a l1"]));
    // An outcome of an unknown match is an error.
    let (status, _, told) = run(&["claim", "--list", &aborted]);
    assert!(status == Some(2) && told.contains("no earlier record has the match"), "{told}");
}
