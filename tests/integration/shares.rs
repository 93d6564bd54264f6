//! Partial results of random shares are merged to what one run prints: output, messages and exit status.

use super::binary::{classad, file, from_root, resealed, run};
use super::merging::{cuttings, text};
use super::parts::Numbers;

/// A queue and a pool.
struct Case {
    requests: Vec<String>,
    pool: String,
}

/// The time of all runs, in seconds since 1970.
const NOW: &str = "1000000";

impl Numbers {
    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// Returns whether something happens that happens once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Lines of the long form as an ad in the long form, or as a bracketed one.
fn ad_text(lines: &[String], is_bracketed: bool) -> String {
    if is_bracketed { format!("[ {} ]\n", lines.join("; ")) } else { lines.join("\n") + "\n\n" }
}

/// The lines that ads of both sides can have: bad ones, and those of expired ads.
fn add_faults(numbers: &mut Numbers, lines: &mut Vec<String>) {
    if numbers.once_in(12) {
        lines.push(numbers.pick(&["Spare = (", "Spare = 1 +", "= 3", "Spare = \"open"]).to_owned());
    }
    if numbers.once_in(9) {
        lines.push(format!("ExpirationTime = {}", 999_990 + numbers.below(20)));
    }
    if numbers.once_in(9) {
        lines.push("Cpus = Cpus".to_owned());
    }
}

fn request(numbers: &mut Numbers, number: usize, has_ports: bool, is_bracketed: bool) -> String {
    let mut lines = vec![
        "MyType = \"Job\"".to_owned(),
        format!("Owner = \"{}\"", numbers.pick(&["ann", "bob", "cy"])),
        format!("RequestMemory = {}", numbers.pick(&["1", "2", "4", "64", "900"])),
        format!("JobPrio = {}", numbers.below(3)),
    ];
    if !numbers.once_in(10) {
        // Some ads have the same identity.
        lines.push(format!(
            "ClusterId = {}\nProcId = {}",
            number / 3,
            number % 3 - usize::from(numbers.once_in(15) && !number.is_multiple_of(3))
        ));
    }
    if !numbers.once_in(4) {
        lines.push(format!("JobStatus = {}", numbers.pick(&["1", "1", "1", "1", "2", "5"])));
    }
    let requirements = [
        "TARGET.Memory >= RequestMemory",
        "TARGET.Memory >= RequestMemory && TARGET.Arch == \"X86\"",
        "TARGET.Memory >= RequestMemory && TARGET.Archh == \"X86\"",
        "TARGET.Cpus > 2 && TARGET.Cpus < 2",
        "TARGET.Memory + 0 > 3 || regexp(\"^s[1-3]\", TARGET.Name)",
        "TARGET.Memory > 0 && TARGET.Disk > 99999",
        "true",
    ];
    if !numbers.once_in(12) {
        lines.push(format!("Requirements = {}", numbers.pick(&requirements)));
    }
    if !numbers.once_in(3) {
        let rank =
            numbers.pick(&["TARGET.Memory", "\"high\"", "Missing", "{ 1 }", "0", "TARGET.Cpus > 1", "[ a = 1 ]"]);
        lines.push(format!("Rank = {rank}"));
    }
    if has_ports && numbers.once_in(3) {
        let ports = [
            "{ [ Label = \"a\"; Constraint = a.Memory > 1 ], [ Label = \"b\"; Constraint = b.Cpus > 1 ] }",
            "{ [ Label = \"a\"; Constraint = a.Memory > 9000 ] }",
            "{ [ Label = 7 ] }",
        ];
        lines.push(format!("Ports = {}", numbers.pick(&ports)));
    }
    if numbers.once_in(20) {
        lines.push(format!("ResourceRequestCount = {}", numbers.pick(&["2", "\"two\""])));
    }
    add_faults(numbers, &mut lines);
    ad_text(&lines.join("\n").lines().map(str::to_owned).collect::<Vec<_>>(), is_bracketed)
}

fn offer(numbers: &mut Numbers, number: usize, is_bracketed: bool) -> String {
    let mut lines = vec![
        "MyType = \"Machine\"".to_owned(),
        format!("Memory = {}", numbers.pick(&["1", "2", "4", "8", "Spare", "4 + 4"])),
        format!("Cpus = {}", 1 + numbers.below(4)),
        format!("Arch = \"{}\"", numbers.pick(&["X86", "ARM"])),
    ];
    if !numbers.once_in(10) {
        lines.push(format!("Name = \"s{}\"", number - usize::from(numbers.once_in(10) && number > 0)));
    }
    if numbers.once_in(4) {
        lines.push(format!("State = \"{}\"", numbers.pick(&["Claimed", "Owner", "Unclaimed"])));
    }
    if numbers.once_in(4) {
        lines.push("PartitionableSlot = true".to_owned());
    }
    let requirements = ["true", "TARGET.RequestMemory < 5", "TARGET.Owner == \"ann\"", "TARGET.Missing > 3"];
    if !numbers.once_in(12) {
        lines.push(format!("Requirements = {}", numbers.pick(&requirements)));
    }
    if numbers.once_in(2) {
        lines.push(format!("Rank = {}", numbers.pick(&["TARGET.JobPrio", "\"low\"", "TARGET.Owner", "Missing"])));
    }
    add_faults(numbers, &mut lines);
    ad_text(&lines, is_bracketed)
}

fn case(numbers: &mut Numbers, name: &str, has_ports: bool) -> Case {
    let is_bracketed = has_ports || numbers.once_in(3);
    let mut number = 0;
    let mut requests = Vec::new();
    for part in 0..=numbers.below(3) {
        let count = numbers.below(22);
        let ads: String = (0..count).map(|at| request(numbers, number + at, has_ports, is_bracketed)).collect();
        number += count;
        requests.push(file(&format!("{name}-{part}.requests"), ads));
    }
    let offers: String = (0..numbers.below(20)).map(|number| offer(numbers, number, is_bracketed)).collect();
    Case { requests, pool: file(&format!("{name}.pool"), offers) }
}

/// Runs a command at once and in shares, and compares. Returns whether it was not refused.
fn compare(numbers: &mut Numbers, name: &str, command: &[&str], case: &Case) -> bool {
    let requests = case.requests.iter().map(String::as_str);
    let input: Vec<&str> = requests.chain(["--pool", &case.pool, "--now", NOW]).collect();
    let command = &[command, &input].concat()[..];
    let whole = text(&run(command, b""));
    let count = 1 + numbers.below(7);
    let mut written = Vec::new();
    for number in 1..=count {
        let share = format!("{number}/{count}");
        let output = run(&[command, &["--partial", "--share", &share]].concat(), b"");
        if whole.1.is_empty() && output.status.code() == Some(2) {
            // A run that is refused is refused in each share that finds out.
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(whole, (Some(2), String::new(), told), "{command:?} {share}");
            return false;
        }
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), told.as_str()), (Some(0), ""), "{command:?} {share}");
        written.push(file(&format!("{name}-{number}.part"), &output.stdout));
    }
    for index in (1..written.len()).rev() {
        written.swap(index, numbers.below(index + 1));
    }
    let merge: Vec<&str> = ["merge"].into_iter().chain(written.iter().map(String::as_str)).collect();
    let merged = text(&run(&merge, b""));
    assert!(merged == whole, "{command:?} in {count} shares:\n{merged:#?}\ninstead of\n{whole:#?}");
    true
}

/// Compares each command on random queues and pools.
fn compare_all(seed: u64, name: &str, commands: &[&[&str]]) {
    let mut numbers = Numbers(seed);
    let mut merged = 0;
    for round in 0..cuttings() {
        for (index, command) in commands.iter().enumerate() {
            let name = format!("{name}-{round}-{index}");
            let has_ports = numbers.once_in(2);
            let case = case(&mut numbers, &name, has_ports);
            merged += usize::from(compare(&mut numbers, &name, command, &case));
        }
    }
    assert!(merged * 3 > cuttings() * commands.len() * 2, "{merged} of {} were merged", cuttings() * commands.len());
}

#[test]
fn matches_are_merged_from_shares() {
    compare_all(
        21,
        "shared-matches",
        &[
            &["match", "--best", "2"],
            &["match", "--all"],
            &["match", "--best", "1", "-o", "json"],
            &["match", "--all", "-o", "jsonl"],
            &["match", "--best", "3", "-o", "csv"],
            &["match", "--all", "-o", "table", "--no-header"],
            &["match", "--best", "2", "-o", "markdown"],
            &["match", "--all", "-o", "names", "-v"],
            &["match", "--all", "--count"],
            &["match", "--best", "2", "--count", "--lenient"],
            &["match", "--best", "2", "--dock", "-label.Memory"],
            &["match", "--all", "--dock", "label.Missing", "--dock", "label.Cpus"],
            &["match", "--best", "3", "--order", "JobPrio", "--roots", "RequestMemory > 1"],
            &["match", "--best", "2", "--no-autocluster"],
            &["match", "--all", "--no-matchlist", "--no-index"],
            &["match", "--best", "2", "--max-steps", "4"],
            &["match", "--all", "--max-steps", "4", "--order", "JobPrio + 1 + 1 + 1 + 1"],
            &["match", "--best", "9", "--id", "Owner"],
            &["match", "--best", "2", "--as-given", "--all-states", "--policy", "htcondor"],
        ],
    );
}

#[test]
fn explanations_are_merged_from_shares() {
    compare_all(
        22,
        "shared-explanations",
        &[
            &["explain", "--unmatched"],
            &["explain", "--unmatched", "-v"],
            &["explain", "--unmatched", "-vv"],
            &["explain", "--unmatched", "--summary"],
            &["explain", "--unmatched", "-o", "json"],
            &["explain", "--unmatched", "-o", "json", "--summary", "--all-states"],
            &["explain", "--unmatched", "-o", "jsonl", "--all-offers"],
            &["explain", "--unmatched", "-o", "csv"],
            &["explain", "--unmatched", "-o", "tsv", "--unmatchable", "--no-header"],
            &["explain", "--unmatched", "--request", "1.0"],
            &["explain", "--unmatched", "--request", "ann", "-o", "json"],
            &["explain", "--unmatched", "--unmatchable", "--lenient"],
            &["explain", "--unmatched", "--constraint", "RequestMemory > 1"],
            &["explain", "--unmatched", "--roots", "RequestMemory > 2"],
            &["explain", "--unmatched", "--policy", "htcondor"],
            &["explain", "--unmatched", "--as-given", "--max-steps", "6"],
            &["explain", "--unmatched", "--offer-constraint", "Cpus > 1"],
            &["explain"],
            &["explain", "--reverse", "-o", "json"],
            &["explain", "--what-if", "RequestMemory=RequestMemory/2"],
        ],
    );
}

/// More problems than one run prints: in ads, and in ports, which are read while their requests are explained.
#[test]
fn problems_are_printed_once() {
    let requests: String = (0..140)
        .map(|number| match number % 7 {
            0 => format!("[ Id = {number}; Spare = ( ]\n"),
            1 => format!("[ Id = {number}; Id = 2; Requirements = true ]\n"),
            _ => format!("[ Id = {number}; Ports = {{ [ Label = {number} ] }} ]\n"),
        })
        .collect();
    let pool = "[ Memory = 4; Requirements = true ]\n[ Memory = ) ]\n".repeat(70);
    let case = Case { requests: vec![file("problems.requests", requests)], pool: file("problems.pool", pool) };
    let mut numbers = Numbers(25);
    for command in [&["explain", "--unmatched"][..], &["explain", "--lenient", "-o", "json"], &["match", "--best", "1"]]
    {
        assert!(compare(&mut numbers, "problems", command, &case));
    }
}

/// Writes the partial result of a share.
fn share(name: &str, command: &[&str], share: &str) -> String {
    let output = run(&[command, &["--partial", "--share", share]].concat(), b"");
    file(name, &output.stdout)
}

#[test]
fn shares_that_do_not_belong_together_are_refused() {
    let mut numbers = Numbers(23);
    let queue =
        |numbers: &mut Numbers| (0..30).map(|number| request(numbers, number, false, false)).collect::<String>();
    let requests = file("refused.requests", queue(&mut numbers));
    let pool = file("refused.pool", (0..9).map(|number| offer(&mut numbers, number, false)).collect::<String>());
    let best = ["match", "--best", "1", &requests, "--pool", &pool, "--now", NOW];
    let shares = ["1/3", "2/3", "3/3"].map(|of| share(&format!("refused-{}.part", &of[..1]), &best, of));
    let other = share("refused-4.part", &["match", "--all", &requests, "--pool", &pool, "--now", NOW], "2/3");
    let later = share("refused-5.part", &["match", "--best", "1", &requests, "--pool", &pool, "--now", "now"], "2/3");
    let of_two = share("refused-6.part", &best, "2/2");
    let torn = std::fs::read(&shares[1]).expect("it is there");
    let torn = file("refused-7.part", &torn[..torn.len() - 10]);
    let parts = file("refused-8.part", run(&["query", "true", "--count", "--partial", &pool], b"").stdout);
    let merge = |partials: &[&str]| {
        let (status, out, told) = classad(&[&["merge"], partials].concat());
        (status, out, told.replace('\n', " "))
    };
    let [first, second, third] = shares.each_ref().map(String::as_str);
    assert_eq!(merge(&[third, first, second]).1, classad(&best).1);
    let again =
        format!("run it with `classad match --best 1 {requests} --pool {pool} --now {NOW} --partial --share 2/3`");
    for (partials, reasons) in [
        (vec![first, third], ["a share is missing: 2/3", &again]),
        (vec![second], ["shares are missing: 1/3 and 3/3", "run each with"]),
        (vec![first, second, second, third], ["have the same share 2/3", "refused-2.part"]),
        (vec![first, &other, third], ["is of `match --all", "of `match --best 1"]),
        (vec![first, &later, third], ["is of `match --best 1", "--now now"]),
        (vec![first, &of_two, third], ["is one of 2 shares", "one of 3"]),
        (vec![first, &torn, third], ["it is not complete", "repeat the run with --share 2/3"]),
        (vec![first, second, third, &parts], ["is from a run with --share, but", "refused-8.part is not"]),
    ] {
        let (status, out, told) = merge(&partials);
        assert!(status == Some(2) && out.is_empty(), "{reasons:?}: {told}");
        for reason in reasons {
            assert!(told.contains(reason), "{reason}: {told}");
        }
    }
    // Another time, which only the header tells.
    let text = std::fs::read_to_string(second).expect("it is there");
    let late = text.replace(&format!("\"now\":{NOW}"), "\"now\":1000007");
    let late = file("refused-9.part", resealed(late.as_bytes()));
    let told = merge(&[first, &late, third]).2;
    assert!(told.contains("give all shares the same --now"), "{told}");
    // Something else that was read, such as another policy.
    let strange = file("refused-9.part", resealed(text.replace("\"offers\":", "\"offers\":7").as_bytes()));
    let told = merge(&[first, &strange, third]).2;
    assert!(told.contains("read different ads"), "{told}");
    // Another policy, a file of which the header tells the size and the inode.
    let of_policy = |text: &str, of: &str| {
        let policy = file("refused.yaml", text);
        share(&format!("refused-policy-{}.part", &of[..1]), &[&best[..], &["--policy", &policy]].concat(), of)
    };
    let policies = [of_policy("order: JobPrio\n", "1/2"), of_policy("order: JobPrio + 1\n", "2/2")];
    let told = merge(&[&policies[0], &policies[1]]).2;
    assert!(told.contains("refused.yaml is not the file that another share read"), "{told}");
    // The queue was written anew, with the same size and with another one.
    std::fs::rename(file("refused.copy", std::fs::read(&requests).expect("it is there")), &requests)
        .expect("it can be");
    let fourth = share("refused-10.part", &best, "2/3");
    let told = merge(&[first, &fourth, third]).2;
    assert!(told.contains("refused.requests is not the file that another share read; run all shares again"), "{told}");
}

#[test]
fn runs_without_shares_are_refused() {
    let requests = file("unshared.requests", "ClusterId = 1\nProcId = 0\nMyType = \"Job\"\n");
    let pool = file("unshared.pool", "Name = \"a\"\nRequirements = true\n");
    let sides = [requests.as_str(), "--pool", &pool];
    let takes = "shares need --best N or --all; without them, one run must make all matches";
    for (command, reason) in [
        (&["match", "--partial", "--share", "1/2"][..], takes),
        (&["match", "--partial"], takes),
        (&["match", "--strategy", "max", "--partial", "--share", "1/2"], takes),
        (&["match", "--no-consume", "--partial", "--share", "1/2"], takes),
        (&["match", "--all", "--partial"], "--share 1/4 for the first of four"),
        (&["match", "--all", "--share", "1/2"], "--partial"),
        (&["match", "--all", "--partial", "--share", "3/2"], "a share is K/N"),
        (&["match", "--all", "--partial", "--share", "1/2", "--stats"], "--stats and --share cannot be combined"),
        (&["match", "--all", "--partial", "--share", "1/2", "--quiet"], "give --quiet to `merge`"),
        (&["match", "--all", "--partial", "--share", "1/2", "--seed", "1"], "--share and --seed cannot be combined"),
        (&["match", "--all", "--partial", "--share", "1/2"], "give all shares the same --now TIME"),
        (&["explain", "--offer", "a", "--partial", "--share", "1/2"], "--share and --offer cannot be combined"),
        (&["negotiate", "--partial"], "one run must do all the work"),
        (&["gangmatch", "--partial"], "`match --best N` can be divided into shares"),
        (&["autocluster", "--partial"], "this command has no partial results; use query"),
    ] {
        let (status, out, told) = classad(&[command, &sides].concat());
        let told = told.replace('\n', " ");
        assert!(status == Some(2) && out.is_empty() && told.contains(reason), "{command:?}: {told}");
    }
    let pipe =
        run(&["match", "--all", "--pool", &pool, "--partial", "--share", "1/2", "--now", NOW], b"ClusterId = 1\n");
    assert_eq!((pipe.status.code(), pipe.stdout.len()), (Some(2), 0));
    // A file that cannot be read is no reason to do a share of the rest.
    let lost =
        ["match", "--all", &requests, "no such file", "--pool", &pool, "--partial", "--share", "1/2", "--now", NOW];
    let (status, out, told) = classad(&lost);
    assert!(status == Some(2) && out.is_empty() && told.contains("cannot read no such file"), "{told}");
    // Old ads tell the time.
    let old = file("unshared-old.pool", "Name = \"a\"\nRequirements = true\nLastHeardFrom = 1000\n");
    let output = run(&["match", "--all", &requests, "--pool", &old, "--partial", "--share", "1/2"], b"");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// The lines that `scatter` prints are run by a shell, in another folder, and merged with the plan.
#[test]
fn scatter_plans_shares() {
    let mut numbers = Numbers(24);
    let requests: Vec<String> = ["scatter it's.requests", "scatter.requests"]
        .map(|name| file(name, (0..25).map(|number| request(&mut numbers, number, false, false)).collect::<String>()))
        .map(from_root)
        .into();
    let pool =
        from_root(file("scatter.pool", (0..9).map(|number| offer(&mut numbers, number, false)).collect::<String>()));
    let plans = ["scatter-shares.json", "scatter-lines.txt", "scatter-parts.json"].map(|name| file(name, b""));
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_classad")).parent().expect("it is in a folder");
    let mut search = vec![folder.to_owned()];
    search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let search = std::env::join_paths(search).expect("no colon is in a folder");
    for command in [&["match", "--best", "2", "--now", NOW][..], &["explain", "--unmatched", "--now", NOW]] {
        let command = [command, &[&requests[0], &requests[1], "--pool", &pool]].concat();
        let scatter = [&["scatter", "--command", "--shares", "3", "--plan", &plans[0], "--"], &command[..]].concat();
        let lines = String::from_utf8(run(&scatter, b"").stdout).expect("it is text");
        assert_eq!(lines.lines().count(), 3, "{lines}");
        let partial = |(index, line): (usize, &str)| {
            let mut shell = std::process::Command::new("sh");
            let shell = shell.args(["-c", line]).env("PATH", &search).env("COLUMNS", "80").current_dir("/").output();
            let output = shell.expect("there is a shell");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!((output.status.code(), told.as_str()), (Some(0), ""), "{line}");
            file(&format!("scatter-share-{index}.part"), &output.stdout)
        };
        let partials: Vec<String> = lines.lines().enumerate().map(partial).collect();
        let partials: Vec<&str> = partials.iter().map(String::as_str).collect();
        let whole = text(&run(&command, b""));
        let parts = [&["parts", "--shares", "3"][..], &[&requests[0], &requests[1], &pool]].concat();
        assert_eq!(text(&run(&parts, b"")).1, "--share 1/3\n--share 2/3\n--share 3/3\n");
        file("scatter-lines.txt", run(&parts, b"").stdout);
        file("scatter-parts.json", run(&[&parts[..], &["-o", "json"]].concat(), b"").stdout);
        for plan in &plans {
            assert_eq!(text(&run(&[&["merge", "--plan", plan], &partials[..]].concat(), b"")), whole);
            let (status, _, told) = text(&run(&[&["merge", "--plan", plan], &partials[1..]].concat(), b""));
            assert!(status == Some(2) && told.replace('\n', " ").contains("a share is missing: 1/3"), "{told}");
        }
        let others = run(&["parts", "--shares", "4", "-o", "json", &pool], b"").stdout;
        let others = file("scatter-others.json", others);
        let told = text(&run(&[&["merge", "--plan", &others], &partials[..]].concat(), b"")).2.replace('\n', " ");
        assert!(told.contains("the plan has 4 shares, but the partial results are of 3 shares"), "{told}");
        let mut changed: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&plans[0]).expect("it is there")).expect("it is JSON");
        changed["parts"][0][0]["size"] = 1.into();
        let changed = file("scatter-changed.json", changed.to_string());
        let told = text(&run(&[&["merge", "--plan", &changed], &partials[..]].concat(), b"")).2.replace('\n', " ");
        let expected = "in the plan is not the file that the shares read: make a new plan, and run all shares again";
        assert!(told.contains(expected), "{told}");
        let of_parts = file("scatter-of-parts.json", run(&["parts", "-o", "json", &pool], b"").stdout);
        let told = text(&run(&[&["merge", "--plan", &of_parts], &partials[..]].concat(), b"")).2.replace('\n', " ");
        assert!(told.contains("the plan has parts of files"), "{told}");
    }
    // Standard input cannot be read by each share.
    for requests in [&["-"][..], &["-", &requests[0]], &[&requests[0], "-"], &[]] {
        let command = [&["match", "--all"], requests, &["--pool", &pool]].concat();
        let scatter = [&["scatter", "--command", "--shares", "3", "--"], &command[..]].concat();
        let (status, _, told) = text(&run(&scatter, b""));
        assert!(status == Some(2) && told.contains("name their files"), "{requests:?} {told}");
    }
    // Without --now, old ads tell the time to each share; for others it is the time of the scatter.
    let (aged, fresh) =
        (file("scatter-old.pool", "Name = \"a\"\nLastHeardFrom = 5\n"), file("scatter-new.pool", "Name = \"a\"\n"));
    for (pool, has_now) in [(&aged, false), (&fresh, true)] {
        let scatter = ["scatter", "--command", "--shares", "2", "--", "match", "--all", pool, "--pool", pool];
        assert_eq!(text(&run(&scatter, b"")).1.contains(" --now "), has_now, "{pool}");
    }
    for (arguments, reason) in [
        (
            &["--shares", "2", "--", "match", "a", "--pool", "b"][..],
            "match: shares need --best N or --all; without them, one run must make all matches",
        ),
        (&["--shares", "2", "--", "query", "true", &pool], "query reads parts of files"),
        (
            &["--", "match", "--all", &pool, "--pool", &pool],
            "each run of match needs all files: divide the work with --shares N",
        ),
        (&["--shares", "2", "--", "match", "--all", "--pool", &pool], "each share reads all requests"),
        (&["--shares", "2", "--", "negotiate", &pool, "--pool", &pool], "negotiate: one run must do all the work"),
        (
            &["--shares", "2", "--", "parse", &pool],
            "parse: this command has no partial results; use query, census, refs, check",
        ),
        (&["--shares", "0", "--", "match", "--all", &pool, "--pool", &pool], "--shares"),
    ] {
        let (status, out, told) = text(&run(&[&["scatter", "--command"], arguments].concat(), b""));
        let told = told.replace('\n', " ");
        assert!(status == Some(2) && out.is_empty() && told.contains(reason), "{arguments:?}: {told}");
    }
    let dag = crate::binary::temporary().join("shares-dag");
    let dag = dag.to_str().expect("it is UTF-8");
    run(&["scatter", "--dag", dag, "--shares", "3", "--", "match", "--all", &pool, "--pool", &pool], b"");
    let text_of = |name: &str| std::fs::read_to_string(format!("{dag}/{name}")).expect("scatter wrote it");
    assert_eq!(text_of("job.dag").matches("JOB part").count(), 3);
    assert!(text_of("job.dag").contains("--partial --share 2/3 --threads 1"), "{}", text_of("job.dag"));
    assert!(text_of("part.sub").contains("request_memory = 512MB"));
    assert!(text_of("plan.json").contains("\"shares\":3"));
}
