//! Partial results of random cuttings are merged to what one run prints: output, problems and exit status.

use std::process::Output;

use super::binary::{classad, file, from_root, run};
use super::parts::{Numbers, history_text, json_text, long_text};

/// Number of random cuttings of each run of a command; `CLASSAD_CASES` sets another.
pub fn cuttings() -> usize {
    std::env::var("CLASSAD_CASES").ok().and_then(|cases| cases.parse::<usize>().ok()).map_or(1, |cases| cases / 500)
}

/// Cuts texts at random places. Returns for each partial result the arguments that name its parts.
fn cut(numbers: &mut Numbers, files: &[(String, usize)]) -> Vec<Vec<String>> {
    let mut parts = Vec::new();
    for (path, length) in files {
        let mut cuts: Vec<usize> = (0..numbers.below(5)).map(|_| numbers.below(length + 1)).collect();
        cuts.sort_unstable();
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let last = if numbers.below(2) == 0 { String::new() } else { length.to_string() };
        let ends = cuts.iter().map(ToString::to_string).chain([last]);
        parts.extend(starts.zip(ends).map(|(start, end)| format!("{path}@{start}-{end}")));
    }
    // A partial result may be of several parts, in any order.
    let mut partials: Vec<Vec<String>> = Vec::new();
    for part in parts {
        match partials.last_mut().filter(|_| numbers.below(4) == 0) {
            Some(partial) => partial.push(part),
            None => partials.push(vec![part]),
        }
    }
    for index in (1..partials.len()).rev() {
        partials.swap(index, numbers.below(index + 1));
    }
    partials
}

pub fn text(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Runs a command over files and over parts of them, and compares.
fn compare(numbers: &mut Numbers, name: &str, command: &[&str], files: &[(String, usize)]) {
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let whole = text(&run(&[command, &paths].concat(), b""));
    for _ in 0..cuttings() {
        let partials = cut(numbers, files);
        let mut written = Vec::new();
        for (index, parts) in partials.iter().enumerate() {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let output = run(&[command, &["--partial"], &parts].concat(), b"");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!((output.status.code(), told.as_str()), (Some(0), ""), "{command:?} {parts:?}");
            written.push(file(&format!("{name}-{index}.part"), &output.stdout));
        }
        let merged =
            text(&run(&[&["merge"][..], &written.iter().map(String::as_str).collect::<Vec<_>>()].concat(), b""));
        assert!(merged == whole, "{command:?} cut as {partials:?}:\n{merged:#?}\ninstead of\n{whole:#?}");
    }
}

/// The files of the tests, each form for itself and one with several files.
fn inputs(name: &str) -> Vec<Vec<(String, usize)>> {
    let write = |suffix: &str, text: String| (file(&format!("{name}-{suffix}"), &text), text.len());
    let epoch: String = (0..30)
        .map(|number| {
            let body = format!("ClusterId = {number}\nProcId = 0\nId = {number}\nCpus = {}\n", number % 5);
            let banner = format!("*** EPOCH ClusterId={number} ProcId=0 RunInstanceId=1 Owner=\"a\" CurrentTime=5\n");
            body + &banner
        })
        .collect();
    let late = long_text(30)
        + "Id = 77\nCpus = Spare\nSpare = 2\n\nId = 78\nCpus = 1\nSpare = )\n\nId = 79\nCpus = Spare\nSpare = (\n";
    let policy = |number: usize| {
        let requirements = [
            "TARGET.Cpuss >= Cpus && Arch == \"X\"",
            "Cpus > 4 && Cpus < 2",
            "TARGET.Memory > 1 || TARGET.Memory <= 1",
            "OpSys == LINUX && my.Owner =?= \"a\"",
            "Kind.Of.Cpus > 3 && eval(Text)",
        ];
        let twice = if number % 9 == 4 { "cpus = 2\nOther = (\n" } else { "" };
        let name = if number.is_multiple_of(4) { String::new() } else { format!("Name = \"n{number}\"\n") };
        let requirements = requirements[number % 11 % 5];
        format!(
            "Id = {number}\n{name}Cpus = {}\nRequirements = {requirements}\nRank = Own{}\n{twice}\n",
            number % 3,
            number % 4
        )
    };
    let policies: String = (0..30).map(policy).collect();
    vec![
        vec![write("p.long", policies)],
        vec![write("a.long", late)],
        vec![write("b.history", history_text(25))],
        vec![write("c.epoch", epoch)],
        vec![write("d.jsonl", json_text(30))],
        vec![
            write("e.long", long_text(12)),
            write("f.history", history_text(9)),
            write("g.empty", String::new()),
            write("h.long", long_text(4)),
        ],
    ]
}

#[test]
fn queries_are_merged_from_parts() {
    let mut numbers = Numbers(11);
    let commands: [&[&str]; 21] = [
        &["query", "Cpus > 1", "--af", "Id,Owner,Cpus / 3.0"],
        &["query", "Cpus > 1", "--af", "Id,Name", "-o", "json"],
        &["query", "Cpus == 2"],
        &["query", "Cpus == 2", "-o", "jsonl", "--attributes", "Id,Owner"],
        &["query", "Cpus == 2", "-o", "names"],
        &["query", "Cpus >= 1", "--count"],
        &["query", "Cpus >= 1", "--count", "--limit", "7"],
        &["query", "Cpus >= 1", "--af", "Id", "--limit", "5"],
        &[
            "query",
            "true",
            "--group-by",
            "Owner,Cpus",
            "--sum",
            "Id / 7.0",
            "--mean",
            "Id",
            "--percentile",
            "90:Id / 3.0",
            "--max",
            "Id",
            "--totals",
        ],
        &["query", "true", "--af", "Id", "--sort", "-Cpus", "--limit", "6"],
        &["query", "Cpus > 0", "--sort", "Owner", "--sort", "Cpus", "-o", "names"],
        &["query", "true", "--af", "Owner,Cpus", "--distinct"],
        &["query", "true", "--af", "Owner,Cpus", "--distinct", "--sort", "Cpus", "--limit", "4"],
        &["query", "Cpuss > 3 || Cpus > 90", "--af", "Id", "--lenient"],
        &["query", "Cpus > 1", "--fail-fast", "--af", "Id"],
        &["query", "-af:h", "Id", "Owner", "-constraint", "Cpus > 2"],
        &["query", "Cpus == undefined || Cpus > 1", "--af", "Id"],
        &["query", "Cpus > 1", "--af", "Id,Owner == undefined"],
        &["query", "true", "--af", "Id,substr(Owner)"],
        &["query", "true", "--af", "Owner,Cpus+1+1+1+1", "--distinct", "--max-steps", "5"],
        &["query", "Cpus+1+1+1 > 0 || Id > 20", "--group-by", "Owner", "--sum", "Id+1+1+1+1", "--max-steps", "5"],
    ];
    for (index, files) in inputs("merging").into_iter().enumerate() {
        for command in commands {
            compare(&mut numbers, &format!("merging-{index}"), command, &files);
        }
    }
}

#[test]
fn censuses_are_merged_from_parts() {
    let mut numbers = Numbers(12);
    let commands: [&[&str]; 4] = [
        &["census", "--top", "3"],
        &["census", "-o", "json", "--top", "40"],
        &["census", "--attr", "Cpus,Owner,Missing", "-o", "table"],
        &["census", "--sort", "name", "--nested", "--lenient"],
    ];
    for (index, files) in inputs("censuses").into_iter().enumerate() {
        for command in commands {
            compare(&mut numbers, &format!("censuses-{index}"), command, &files);
        }
    }
}

#[test]
fn references_are_merged_from_parts() {
    let mut numbers = Numbers(13);
    let pool = file("references-pool.long", "Cpus = 4\nOwners = \"x\"\n");
    let commands: [&[&str]; 9] = [
        &["refs"],
        &["refs", "--internal", "-o", "json"],
        &["refs", "--expr", "Cpus + Owner + size(Spare)"],
        &["refs", "--attr", "Cpus,Spare"],
        &["refs", "--attr", "Cpuss", "--count"],
        &["refs", "--union", "-o", "jsonl"],
        &["refs", "--count", "--expr", "Cpus + Own + MY.Spare.x"],
        &["refs", "--pool", &pool],
        &["refs", "--dot", "--lenient"],
    ];
    for (index, files) in inputs("references").into_iter().enumerate() {
        for command in commands {
            compare(&mut numbers, &format!("references-{index}"), command, &files);
        }
    }
}

#[test]
fn checks_are_merged_from_parts() {
    let mut numbers = Numbers(14);
    let pool = file("checks-pool.long", "Cpus = 4\nOpSys = \"LINUX\"\nArch = \"X86_64\"\n");
    let commands: [&[&str]; 6] = [
        &["check"],
        &["check", "-o", "json"],
        &["check", "-o", "sarif", "--pool", &pool],
        &["check", "--only", "duplicate,syntax,contradiction", "--lenient"],
        &["check", "--level", "warning", "--fail-level", "error", "-o", "github"],
        &["check", "--pool", &pool, "--allow", "syntax"],
    ];
    for (index, files) in inputs("checks").into_iter().enumerate() {
        for command in commands {
            compare(&mut numbers, &format!("checks-{index}"), command, &files);
        }
    }
}

#[test]
fn what_does_not_tile_is_refused() {
    let text = long_text(40);
    let path = file("tile.long", &text);
    let part = |name: &str, command: &[&str], range: &str| {
        let output = run(&[command, &["--partial", &format!("{path}@{range}")]].concat(), b"");
        file(name, &output.stdout)
    };
    let query = ["query", "true", "--count"];
    let first = part("tile-1.part", &query, "0-300");
    let second = part("tile-2.part", &query, "300-900");
    let last = part("tile-3.part", &query, "900-");
    let other = part("tile-4.part", &["query", "false", "--count"], "300-900");
    let torn = std::fs::read(&second).expect("it is there");
    let torn = file("tile-5.part", &torn[..torn.len() - 10]);
    assert_eq!(classad(&["merge", &last, &first, &second]).1, classad(&["query", "true", "--count", &path]).1);
    for (partials, reason) in [
        (vec![&first, &last], format!("a part is missing: run the command on {path}@300-900")),
        (vec![&first, &second], format!("a part is missing: run the command on {path}@900-")),
        (vec![&second, &last], format!("a part is missing: run the command on {path}@0-300")),
        (vec![&first, &second, &second, &last], "overlaps with another part".to_owned()),
        (vec![&first, &other, &last], "is of `query false --count`".to_owned()),
        (vec![&first, &torn, &last], "it is not complete".to_owned()),
        (vec![&first, &path, &last], "it is not a partial result".to_owned()),
    ] {
        let arguments: Vec<&str> = std::iter::once("merge").chain(partials.iter().map(|path| path.as_str())).collect();
        let (status, out, told) = classad(&arguments);
        assert!(status == Some(2) && out.is_empty() && told.replace('\n', " ").contains(&reason), "{reason}: {told}");
    }
    for arguments in [&["--quiet"][..], &["--now", "dump"], &["--newest"], &["--seed", "1"]] {
        let output = run(&[&query[..], &["--partial", &path], arguments].concat(), b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    }
    assert_eq!(run(&["query", "true", "--partial"], b"A = 1\n").status.code(), Some(2));
    // A run that fails leaves a partial result that is refused.
    let output = run(&["query", "true", "--partial", &path, "no such file"], b"");
    assert_eq!(output.status.code(), Some(2));
    let failed = file("tile-6.part", output.stdout);
    assert_eq!(classad(&["merge", &failed]).0, Some(2));
}

#[test]
fn parts_that_are_compared_with_different_pools_are_refused() {
    let ads = file("pools.long", "Requirements = TARGET.Memory > 1\n\nRequirements = TARGET.Cpus > 1\n");
    for command in ["check", "refs"] {
        let part = |name: &str, pool: &str, range: &str| {
            let (pool, part) = (file("pools-pool.long", pool), format!("{ads}@{range}"));
            let (_, partial, told) = classad(&[command, "--pool", &pool, "--partial", &part]);
            assert!(!partial.is_empty(), "{told}");
            file(name, partial)
        };
        let first = part("pools-1.part", "Memory = 1\n", "0-34");
        let second = part("pools-2.part", "Cpus = 777\n", "34-");
        let (status, out, told) = classad(&["merge", &first, &second]);
        assert!((status, out.as_str()) == (Some(2), "") && told.contains("was another for"), "{told}");
    }
}

/// Two hosts have a file of the same name: the test replaces the file between the runs.
#[test]
fn files_of_several_hosts_are_told_apart() {
    let path = file("hosts.history", history_text(9));
    let group = ["query", "true", "--group-by", "Owner", "--totals"];
    let partial = |name: &str, options: &[&str], range: &str| {
        let output = run(&[&group, options, &[&format!("{path}{range}")]].concat(), b"");
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        file(name, &output.stdout)
    };
    let unnamed = partial("hosts-0.part", &["--partial"], "");
    let first =
        [partial("hosts-1.part", &["--partial=ap1"], "@0-300"), partial("hosts-2.part", &["--partial=ap1"], "@300-")];
    let other = file("hosts-other.history", history_text(20));
    std::fs::rename(&other, &path).expect("both are there");
    let second = partial("hosts-3.part", &["--partial=ap2"], "");
    let both = classad(&["merge", &second, &first[1], &first[0]]);
    let [one, other] = [file("hosts-one.history", history_text(9)), file("hosts-two.history", history_text(20))];
    let whole = classad(&[&group[..], &[&one, &other]].concat());
    let renamed = [(&one, "ap1"), (&other, "ap2")]
        .iter()
        .fold(whole.2, |told, (name, host)| told.replace(name.as_str(), &format!("{host}:{path}")));
    assert_eq!((both.0, &both.1, &both.2), (whole.0, &whole.1, &renamed));
    assert!(both.1.contains("total\t25"), "{both:?}");
    let (status, out, told) = classad(&["merge", &second, &first[1]]);
    let told = told.replace('\n', " ");
    assert!(
        status == Some(2)
            && out.is_empty()
            && told.contains(&format!("a part is missing: run the command on ap1:{path}@0-300")),
        "{told}"
    );
    // Without the names of the hosts, the message says how to give them.
    let unnamed_second = partial("hosts-4.part", &["--partial"], "");
    let (status, _, told) = classad(&["merge", &unnamed, &unnamed_second]);
    let told = told.replace("\n  ", " ");
    let reason = "for files on several hosts, give --partial=HOST";
    assert!(status == Some(2) && told.contains(reason) && told.contains(&unnamed_second), "{told}");
    assert!(!told.contains("overlaps with another part"), "{told}");
    for command in [&["query", "true"][..], &["census"], &["refs"]] {
        let [with, without] = ["--partial=ap1", "--partial"].map(|option| {
            let output = run(&[command, &[option, &path]].concat(), b"");
            String::from_utf8_lossy(&output.stdout).contains("ap1")
        });
        assert_eq!((with, without), (true, false), "{command:?}");
    }
    // The name of a host is no file.
    assert_eq!(run(&["query", "true", "--partial", "ap1", &path], b"").status.code(), Some(2));
}

/// A plan in either form, and all partial results but those of one line of the plan.
#[test]
fn what_a_plan_lacks_is_refused() {
    let (big, small) = (file("plan-big.long", long_text(40)), file("plan-small.jsonl", json_text(3)));
    let lines = run(&["parts", "--size", "700", &big, &small], b"").stdout;
    let plans = [file("plan.txt", &lines), {
        let json = run(&["parts", "--size", "700", "-o", "json", &big, &small], b"").stdout;
        file("plan.json", &json)
    }];
    let lines = String::from_utf8(lines).expect("names are UTF-8");
    let query = ["query", "true", "--count"];
    let partial = |(index, line): (usize, &str)| {
        let words: Vec<&str> = line.split(' ').collect();
        let output = run(&[&query[..], &["--partial"], &words].concat(), b"");
        assert_eq!(output.status.code(), Some(0));
        file(&format!("plan-{index}.part"), &output.stdout)
    };
    let partials: Vec<String> = lines.lines().enumerate().map(partial).collect();
    assert!(partials.len() > 3, "{lines}");
    let whole = text(&run(&[&query[..], &[&small, &big]].concat(), b""));
    for plan in &plans {
        let merge = |partials: &[&str]| text(&run(&[&["merge", "--plan", plan], partials].concat(), b""));
        let all: Vec<&str> = partials.iter().map(String::as_str).collect();
        assert_eq!(merge(&all), whole);
        for missing in 0..all.len() {
            let (status, out, told) = merge(&[&all[..missing], &all[missing + 1..]].concat());
            let again = lines.lines().nth(missing).expect("it has a line");
            let told = told.replace('\n', " ");
            assert!(status == Some(2) && out.is_empty(), "{told}");
            for part in again.split(' ') {
                let end = part.rsplit_once('-').expect("it is a part").1;
                assert!(told.contains("missing") && told.contains(&format!("-{end}")), "{again}: {told}");
            }
        }
    }
    let other = file("plan-other.long", long_text(2));
    let added = file("plan-added.part", run(&[&query[..], &["--partial", &other]].concat(), b"").stdout);
    let mut all: Vec<&str> = partials.iter().map(String::as_str).collect();
    all.push(&added);
    let (status, _, told) = text(&run(&[&["merge", "--plan", &plans[0]], &all[..]].concat(), b""));
    assert!(status == Some(2) && told.contains("is not in the plan"), "{told}");
    // A file that is another one than when the plan was made, or that has fewer bytes.
    let renamed = file("plan-renamed.long", long_text(40));
    std::fs::rename(&renamed, &big).expect("both are there");
    let first = file("plan-0.part", run(&[&query[..], &["--partial", &format!("{big}@0-700")]].concat(), b"").stdout);
    let (status, _, told) = text(&run(&["merge", "--plan", &plans[1], &first], b""));
    assert!(status == Some(2) && told.contains("in the plan is another file"), "{told}");
    assert_eq!(run(&["merge", "--plan", &big, &first], b"").status.code(), Some(2));
}

/// All that must run again is named, however long the line becomes.
#[test]
fn every_missing_file_is_named() {
    let files: Vec<String> = (0..40).map(|number| file(&format!("plan-many-{number}.long"), long_text(1))).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let plan = file("plan-many.txt", run(&[&["parts"], &files[..]].concat(), b"").stdout);
    let partial = file("plan-many.part", run(&["query", "true", "--count", "--partial", files[0]], b"").stdout);
    let (status, _, told) = text(&run(&["merge", "--plan", &plan, &partial], b""));
    assert_eq!(status, Some(2), "{told}");
    for missing in &files[1..] {
        assert!(told.contains(missing), "{missing}: {told}");
    }
}

/// The lines that `scatter` prints are run by a shell, and merged.
#[test]
fn a_shell_runs_what_scatter_prints() {
    let paths = [file("scatter it's.long", long_text(40)), file("scatter.history", history_text(20))].map(from_root);
    let plan = file("scatter-plan.json", b"");
    let constraint = "Cpus > 0 && regexp(\"^n[1-4]\", Name ?: \"n1\") && time() == 77";
    let options = ["--af", "Id,Owner,'a b' ?: time()", "-o", "json"];
    let command = [&["query", constraint], &options[..], &["--now", "77", &paths[0], &paths[1]]].concat();
    let scatter = [&["scatter", "--command", "--size", "600", "--plan", &plan, "--"], &command[..]].concat();
    let lines = String::from_utf8(run(&scatter, b"").stdout).expect("it is text");
    assert!(lines.lines().count() > 4, "{lines}");
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_classad")).parent().expect("it is in a folder");
    let mut search = vec![folder.to_owned()];
    search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let search = std::env::join_paths(search).expect("no colon is in a folder");
    let partial = |(index, line): (usize, &str)| {
        let shell = std::process::Command::new("sh").args(["-c", line]).env("PATH", &search).output();
        let output = shell.expect("there is a shell");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), told.as_str()), (Some(0), ""), "{line}");
        file(&format!("scatter-{index}.part"), &output.stdout)
    };
    let partials: Vec<String> = lines.lines().enumerate().map(partial).collect();
    let partials: Vec<&str> = partials.iter().map(String::as_str).collect();
    let merged = text(&run(&[&["merge", "--plan", &plan], &partials[..]].concat(), b""));
    assert_eq!(merged, text(&run(&command, b"")));
    assert!(merged.1.len() > 100, "{merged:?}");
    // Runs on parts may be in other folders: options name files from the root, too.
    let check = ["check", "--pool", "Cargo.toml", "--map=m=Cargo.lock", "--only", "unknown-attribute", &paths[0]];
    let lines = text(&run(&[&["scatter", "--command", "--"], &check[..]].concat(), b"")).1;
    let root = std::env::current_dir().expect("there is a folder").display().to_string();
    let expected = format!("--pool {root}/Cargo.toml --map=m={root}/Cargo.lock --only unknown-attribute --now ");
    assert!(lines.contains(&expected), "{lines}");
    let behind = ["query", "--count", "--", "Cpus > 1", &paths[0]];
    let lines = text(&run(&[&["scatter", "--command", "--"], &behind[..]].concat(), b"")).1;
    assert!(lines.contains(" --partial --threads 1 -- 'Cpus > 1' "), "{lines}");
    for (arguments, reason) in [
        (
            &["match", "a", "--pool", "b"][..],
            "match: shares need --best N or --all; without them, one run must make all matches",
        ),
        (&["query", "true"], "name the files to divide into parts (`query` takes them after its constraint)"),
        (&["query", "true", "--now", "dump", &paths[0]], "--now dump differs"),
        (&["query", "true", "--cont", &paths[0]], "query: unexpected argument"),
        (&["query", "true", "no such file"], "there is no such file"),
    ] {
        let (status, out, told) = text(&run(&[&["scatter", "--command", "--"], arguments].concat(), b""));
        assert!(status == Some(2) && out.is_empty() && told.contains(reason), "{arguments:?}: {told}");
    }
}
