//! Routes of the job router and transforms of a configuration: which route takes a job, what becomes of it, and what
//! `check` finds. What HTCondor does was asked of `condor_job_router_info` of 25.14.1.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value as Json;

/// A folder of its own for a test, with files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = crate::binary::temporary().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("the file can be written");
    }
    folder
}

/// Runs the binary in a folder. Returns the exit status, standard output and standard error.
fn run(folder: &PathBuf, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.current_dir(folder).args(arguments).env("CLASSAD_SECRET", "s3cr3t").env("CLASSAD_EMPTY", "");
    let output = command.output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Idle jobs of ann, numbered, with further attributes.
fn jobs(count: usize, more: &str) -> String {
    let job =
        |proc| format!("ClusterId = 1\nProcId = {proc}\nOwner = \"ann\"\nJobStatus = 1\nJobUniverse = 5\n{more}\n\n");
    (0..count).map(job).collect()
}

/// A configuration of routes that accept all jobs.
fn dump(routes: &[(&str, &str)]) -> String {
    let names: Vec<&str> = routes.iter().map(|(name, _)| *name).collect();
    let mut text = format!("JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true\nJOB_ROUTER_ROUTE_NAMES = {}\n", names.join(" "));
    for (name, body) in routes {
        let _ = writeln!(text, "JOB_ROUTER_ROUTE_{name} @=end\n{body}\n@end");
    }
    text
}

/// Returns the number of jobs that each route takes, and why it can take none.
fn taken(name: &str, dump: &str, jobs: &str) -> Vec<(String, i64, String)> {
    let folder = folder(name, &[("dump", dump), ("jobs", jobs)]);
    let (_, out, err) = run(&folder, &["route", "jobs", "--config", "dump", "-o", "json"]);
    let document: Json = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let routes = document["routes"].as_array().unwrap().iter().map(|route| {
        let text = |key: &str| route[key].as_str().unwrap_or_default().to_owned();
        (text("name"), route["jobs"].as_i64().unwrap(), text("obstacle"))
    });
    routes.collect()
}

/// Returns the messages of `check --config`, after its exit status.
fn findings(name: &str, dump: &str) -> (Option<i32>, Vec<String>) {
    let folder = folder(name, &[("dump", dump)]);
    let (status, out, err) = run(&folder, &["check", "--config", "dump", "-o", "json", "--level", "warning"]);
    let document: Json = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let found = document["findings"].as_array().unwrap().iter();
    (status, found.map(|found| found["message"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn a_route_without_universe_and_grid_resource_takes_no_job() {
    for (index, (body, universe)) in [
        ("SET A 1", None),
        ("UNIVERSE grid", None),
        ("UNIVERSE docker", None),
        ("TargetUniverse = 9\nGridResource =", None),
        ("UNIVERSE VANILLA", Some(5)),
        ("TargetUniverse = 5", Some(5)),
        ("UNIVERSE local", Some(12)),
        ("GridResource = batch slurm", Some(9)),
        ("UNIVERSE grid\nSET GridResource \"batch slurm\"", Some(9)),
        ("EditJobInPlace = true", Some(9)),
    ]
    .into_iter()
    .enumerate()
    {
        let routes = dump(&[("A", body), ("B", "UNIVERSE VANILLA")]);
        let taken = taken(&format!("route-universe-{index}"), &routes, &jobs(1, ""));
        assert_eq!(taken[0].1, i64::from(universe.is_some()), "{body}: {taken:?}");
        assert_eq!(taken[0].2.is_empty(), universe.is_some(), "{body}: {taken:?}");
        let (status, found) = findings(&format!("route-universe-check-{index}"), &routes);
        let is_told = found.iter().any(|message| message.contains("JOB_ROUTER_ROUTE_A: the route takes no job"));
        assert_eq!((status, is_told), (Some(i32::from(universe.is_none())), universe.is_none()), "{body}: {found:?}");
    }
}

#[test]
fn limits_count_the_jobs_that_have_the_route_already() {
    let made = |status: i64, route: &str| {
        format!(
            "ClusterId = 2\nProcId = {status}\nOwner = \"ann\"\nJobStatus = {status}\nJobUniverse = 5\nRouteName = \"{route}\"\nRoutedBy = \"jobrouter\"\n\n"
        )
    };
    let counts = |name: &str, routes: &[(&str, &str)], jobs: &str| -> Vec<i64> {
        taken(name, &dump(routes), jobs).into_iter().map(|(_, jobs, _)| jobs).collect()
    };
    let vanilla = |limits: &str| format!("UNIVERSE VANILLA\n{limits}");
    let (three, rest) = (vanilla("MaxJobs = 3"), vanilla(""));
    assert_eq!(counts("limit-1", &[("A", &three), ("B", &rest)], &jobs(5, "")), [3, 2]);
    // The jobs that routes made before may stand behind the others.
    let before = format!("{}{}{}", jobs(5, ""), made(2, "A"), made(1, "a"));
    assert_eq!(counts("limit-2", &[("A", &three), ("B", &rest)], &before), [1, 4]);
    // Finished jobs do not count, nor do those of another router.
    let other = made(1, "A").replace("jobrouter", "elsewhere");
    // A RouteName alone says nothing of the router: such a job takes a route as any other.
    let unknown = made(1, "A").replace("RoutedBy = \"jobrouter\"\n", "");
    assert_eq!(counts("limit-0", &[("A", &three), ("B", &rest)], &format!("{}{unknown}", jobs(5, ""))), [3, 3]);
    let finished = format!("{}{}{}{}", jobs(5, ""), made(4, "A"), made(3, "A"), other);
    assert_eq!(counts("limit-3", &[("A", &three), ("B", &rest)], &finished), [3, 3]);
    let idle = vanilla("MaxIdleJobs = 2");
    let running = format!("{}{}{}", jobs(5, ""), made(2, "A"), made(6, "A"));
    assert_eq!(counts("limit-4", &[("A", &idle), ("B", &rest)], &running), [2, 3]);
    assert_eq!(counts("limit-5", &[("A", &idle), ("B", &rest)], &before), [1, 4]);
    // Without limits there are 100 jobs and 50 idle ones; a negative MaxIdleJobs is no limit, a wrong one is the default.
    let no_idle = vanilla("MaxIdleJobs = -1");
    assert_eq!(counts("limit-6", &[("A", &rest), ("B", &no_idle)], &jobs(160, "")), [50, 100]);
    let (two, half) = (vanilla("MaxJobs = two"), vanilla("MaxIdleJobs = 10 / 4"));
    assert_eq!(counts("limit-7", &[("A", &two), ("B", &half)], &jobs(60, "")), [50, 2]);
    // The whole router, and taking turns.
    let whole = format!("JOB_ROUTER_MAX_JOBS = 4\n{}", dump(&[("A", &rest)]));
    assert_eq!(taken("limit-8", &whole, &before)[0].1, 2);
    let turns = format!("JOB_ROUTER_ROUND_ROBIN_SELECTION = true\n{}", dump(&[("A", &three), ("B", &rest)]));
    let turns = taken("limit-9", &turns, &jobs(10, ""));
    assert_eq!((turns[0].1, turns[1].1), (3, 7));
}

#[test]
fn a_full_route_is_named_as_the_reason() {
    let text = format!(
        "{}ClusterId = 2\nProcId = 0\nJobStatus = 2\nOwner = \"ann\"\nRouteName = \"A\"\nRoutedBy = \"JobRouter\"\n\n",
        jobs(1, "")
    );
    let folder = folder("route-full", &[("dump", &dump(&[("A", "UNIVERSE 5\nMaxJobs = 1")])), ("jobs", &text)]);
    let (status, out, _) = run(&folder, &["route", "jobs", "--config", "dump", "-o", "csv"]);
    assert_eq!(status, Some(1));
    assert!(out.contains("A: it is full: it has 1 of 1 jobs (MaxJobs)"), "{out}");
    let (_, out, _) = run(&folder, &["route", "jobs", "--config", "dump", "--all-states", "--summary", "-o", "csv"]);
    assert!(out.contains("A,2,2,1"), "{out}");
}

#[test]
fn universe_and_grid_resource_reach_the_routed_job() {
    let routes = dump(&[
        (
            "Grid",
            "UNIVERSE grid\nGridResource = \"batch $(LRMS)$(MY.Owner)\"\nSET Was \"$(MY.JobUniverse)$(MY.Remote_JobUniverse)\"",
        ),
        ("Local", "UNIVERSE local\nGridResource = batch"),
        ("Edit", "UNIVERSE local\nEditJobInPlace = true\nSET A 1"),
        ("May", "UNIVERSE local\nEditJobInPlace = MY.JobUniverse == 5"),
    ]);
    let folder = folder("routed-ads", &[("dump", &format!("LRMS = slurm\n{routes}")), ("jobs", &jobs(1, ""))]);
    let made_by = |route: &str| {
        let (status, out, err) = run(&folder, &["transform", "jobs", "--config", "dump", "--route", route]);
        assert_eq!(status, Some(0), "{err}");
        out
    };
    let grid = made_by("Grid");
    for line in ["JobUniverse = 9", "Remote_JobUniverse = 5", "GridResource = \"batch slurm\"", "Was = \"95\""] {
        assert!(grid.lines().any(|known| known == line), "{line}: {grid}");
    }
    let local = made_by("Local");
    assert!(local.contains("\nJobUniverse = 12") && !local.contains("GridResource"), "{local}");
    for route in ["Edit", "May"] {
        let edited = made_by(route);
        assert!(edited.contains("\nJobUniverse = 5") && !edited.contains("Remote_"), "{edited}");
    }
    let (_, rules, _) = run(&folder, &["transform", "--config", "dump", "--route", "Local", "--print-rules"]);
    assert_eq!(rules, "NAME Local\nUNIVERSE local\nGridResource = batch\n\n");
}

#[test]
fn a_wrong_statement_is_left_out_of_a_route_and_a_wrong_line_ends_it() {
    let routes = dump(&[
        ("A", "UNIVERSE 5\nREQUIREMENTS Size == 1\nSET X (1\nSET Y 2"),
        ("B", "UNIVERSE 5\nREQUIREMENTS Size == 2\nSETT X 1"),
    ]);
    let text = format!("{}{}", jobs(1, "Size = 1"), jobs(1, "Size = 2"));
    let taken = taken("route-wrong-statement", &routes, &text);
    assert_eq!(taken.iter().map(|(name, jobs, _)| (name.as_str(), *jobs)).collect::<Vec<_>>(), [("A", 1)]);
    let folder = folder("route-wrong-statement-2", &[("dump", &routes), ("jobs", &text)]);
    let (status, out, _) = run(&folder, &["transform", "jobs", "--config", "dump", "--route", "A"]);
    assert_eq!((status, out.matches("\nY = 2").count(), out.contains("\nX =")), (Some(0), 1, false), "{out}");
}

#[test]
fn transforms_and_routes_share_their_variables() {
    let shared = "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = One Two\nJOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = Last\n\
        JOB_ROUTER_TRANSFORM_One @=end\nEVALMACRO large RequestCpus > 2\n@end\n\
        JOB_ROUTER_TRANSFORM_Two @=end\nSET Large $(large)\n@end\n\
        JOB_ROUTER_TRANSFORM_Last @=end\nSET Queue \"$(queue)$(large)\"\nif defined extra\nSET Extra $(extra)\nelse\n\
        SET None $(extra)\nendif\nSET Lost \"$(lost)\"\n@end\n\
        JOB_TRANSFORM_NAMES = T U\nJOB_TRANSFORM_T @=end\nEVALMACRO size RequestCpus * 2\n@end\n\
        JOB_TRANSFORM_U @=end\nSET Size $(size)\n@end\n";
    let routes = dump(&[("A", "UNIVERSE 5\nqueue = short\nif $(large)\nqueue = long\nendif"), ("B", "UNIVERSE 5")]);
    let text = format!("{shared}{routes}");
    let (status, found) = findings("shared-variables", &text);
    let lacks = |name| {
        format!("JOB_ROUTER_TRANSFORM_Last: the variable {name} has no value and is replaced by an empty string")
    };
    assert_eq!((status, found), (Some(1), vec![lacks("extra"), lacks("lost")]));
    let folder = folder("shared-variables-2", &[("dump", &text), ("jobs", &jobs(1, "RequestCpus = 4"))]);
    let (_, out, err) = run(&folder, &["transform", "jobs", "--config", "dump", "--route", "A"]);
    assert!(out.contains("\nLarge = true") && out.contains("\nQueue = \"longtrue\""), "{out}");
    assert_eq!(err.matches("has no value").count(), 2, "{err}");
    let (_, out, _) = run(&folder, &["explain", "jobs", "--config", "dump", "--pool", "jobs"]);
    assert!(out.contains("JOB_TRANSFORM_U changes 1 job: 1.0 (Size)"), "{out}");
}

#[test]
fn rules_that_cannot_do_what_they_say_are_found() {
    let transform = |body: &str| format!("JOB_TRANSFORM_NAMES = T\nJOB_TRANSFORM_T @=end\n{body}\n@end\n");
    let around = |list: &str, body: &str| {
        format!(
            "JOB_ROUTER_{list}_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T @=end\n{body}\n@end\n{}",
            dump(&[("A", "UNIVERSE 5")])
        )
    };
    let route = |body: &str| dump(&[("A", &format!("UNIVERSE 5\n{body}"))]);
    let everywhere = |body: &str| [transform(body), around("PRE_ROUTE", body), around("POST_ROUTE", body), route(body)];
    let mut tried = Vec::new();
    for (body, message) in [
        ("SET RequestCpus RequestCpus * 2", "RequestCpus refers to itself"),
        ("SET Requirements (TARGET.HasX) && MY.requirements", "Requirements refers to itself"),
        ("SET X ifThenElse(X > $(LEAST:1), X, 1)", "X refers to itself"),
        ("DEFAULT X X + 1", "X refers to itself"),
        ("if RequestCpus > 2\nSET X 1\nendif", "complex conditionals"),
        ("if false\nelif $(MY.RequestCpus) == 2\nSET X 1\nendif", "complex conditionals"),
        ("if defined MY.X\nif $INT(MY.X) > 2\nSET X 1\nendif\nendif", "complex conditionals"),
        ("if ($(a))\nSET X 1\nendif\na = 1", "complex conditionals"),
    ] {
        tried.extend(everywhere(body).map(|dump| (dump, message)));
    }
    tried.extend([
        ("JOB_TRANSFORM_NAMES = T\nJOB_TRANSFORM_T = [ set_X = 1 ]\n".to_owned(), "JOB_TRANSFORM_T has no effect"),
        ("JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ENTRIES = [ Name = \"A\"; TargetUniverse = 5; Requirements = true ]\n".to_owned(), "JOB_ROUTER_ENTRIES has no effect"),
        ("JOB_ROUTER_ENTRIES_CMD = /bin/routes\n".to_owned(), "JOB_ROUTER_ENTRIES_CMD has no effect"),
        ("JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = [ TargetUniverse = 5; Requirements = true ]\n".to_owned(), "JOB_ROUTER_ROUTE_A has no effect"),
        (route("MaxJobs = 0"), "MaxJobs is 0"),
        (route("MaxJobs = -1"), "MaxJobs is -1"),
        (route("MaxIdleJobs = 0"), "MaxIdleJobs is 0"),
        (route("MaxJobs = two"), "MaxJobs is not a number: `two`; HTCondor uses 100"),
        (route("REQUIREMENTS JobStatus == 2"), "the route takes no job"),
        (format!("{}JOB_ROUTER_SOURCE_JOB_CONSTRAINT = target.JobUniverse == 5\n", route("REQUIREMENTS JobUniverse == 9")), "the route takes no job"),
        (format!("{}JOB_ROUTER_ROUTE_B = REQUIREMENTS true\n", route("")), "JOB_ROUTER_ROUTE_B has no effect"),
        (route("").replace("JOB_ROUTER_ROUTE_NAMES = A\n", ""), "JOB_ROUTER_ROUTE_NAMES is missing"),
        ("MATLAB_LIMIT = two\n".to_owned(), "MATLAB_LIMIT: `two` is not a number"),
        ("DB.SLOW_LIMIT = \"3\"\n".to_owned(), "DB.SLOW_LIMIT: `\"3\"` is not a number"),
        ("MATLAB_LIMIT = -3\n".to_owned(), "MATLAB_LIMIT is negative"),
        ("CONCURRENCY_LIMIT_DEFAULT = many\n".to_owned(), "CONCURRENCY_LIMIT_DEFAULT"),
        ("CONCURRENCY_LIMIT_DEFAULT_db = many\n".to_owned(), "CONCURRENCY_LIMIT_DEFAULT_db: `many` is not a number"),
        ("GROUP_NAMES = a\nGROUP_QUOTA_a = ten\n".to_owned(), "GROUP_QUOTA_a"),
        ("MAX_JOBS_PER_OWNER = 1O\n".to_owned(), "MAX_JOBS_PER_OWNER: `1O` is not a number"),
        ("JOB_ROUTER_MAX_JOBS = x\nJOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=e\nUNIVERSE 5\nREQUIREMENTS true\n@e\n".to_owned(), "JOB_ROUTER_MAX_JOBS"),
    ]);
    tried.extend(["false", "0", "undefined", "\"true\"", "JobPrio > 5 && 1 > 2"].map(|never| {
        (route(&format!("REQUIREMENTS {never}")), "the route takes no job: its REQUIREMENTS are not true for any job")
    }));
    for (index, (dump, message)) in tried.iter().enumerate() {
        let (status, found) = findings(&format!("rule-findings-{index}"), dump);
        assert!(status >= Some(1) && found.iter().any(|found| found.contains(message)), "{message}\n{dump}\n{found:?}");
    }
    let fine = [
        "SET Cpus RequestCpus",
        "EVALSET RequestCpus RequestCpus * 2",
        "SET Requirements $(MY.Requirements:true) && TARGET.HasX",
        "SET X TARGET.X",
        "REQUIREMENTS 2.5",
        "REQUIREMENTS time() > 5 && JobPrio",
        "EVALMACRO large RequestCpus > 2\nif $(large)\nSET X 1\nendif",
        "if defined MY.X\nSET X 1\nelif version >= 25.0\nSET X 2\nendif\nif ! $(a:false)\nSET Y 1\nendif",
        "MaxJobs = 10 / 5\nMaxIdleJobs = -1",
    ];
    for (index, body) in fine.iter().enumerate() {
        assert_eq!(findings(&format!("rule-fine-{index}"), &route(body)), (Some(0), Vec::new()), "{body}");
    }
    let limits = "MATLAB_LIMIT = 10 / 5\nDB_LIMIT = $(MATLAB_LIMIT) * 2\nX_LIMIT =\nMAX_JOBS_RUNNING = 200\nJOB_ROUTER_MAX_JOBS = -1\n";
    assert_eq!(findings("limits-fine", limits), (Some(0), Vec::new()));
}

#[test]
fn a_condition_that_needs_the_job_keeps_a_route_from_being_used() {
    let taken = taken(
        "route-complex",
        &dump(&[
            ("A", "UNIVERSE 5\nif $INT(MY.RequestCpus) > 2\nSET X 1\nendif"),
            // What is decided by the job itself is not looked at before.
            (
                "B",
                "UNIVERSE 5\nif defined MY.RequestCpus\nif MY.RequestCpus > 2\nSET X 1\nendif\nendif\nif $(MY.Bar)\nSET Y 1\nendif",
            ),
        ]),
        &jobs(1, "RequestCpus = 4"),
    );
    assert_eq!(taken.iter().map(|(_, jobs, _)| *jobs).collect::<Vec<_>>(), [0, 1]);
    assert!(taken[0].2.contains("complex conditionals are not supported, as in line 5"), "{taken:?}");
}

#[test]
fn a_value_of_an_ad_reads_no_environment_and_ends_no_string() {
    let ad = "MyType = \"Job\"\nLeak = \"$ENV(CLASSAD_SECRET)\"\nHalf = \"$\"\nQuote = \"x\\\" + error + \\\"y\"\n\
        Macro = \"$INT(3+4)\"\nTail = \"\\\"\nNested = \"$(MY.Leak)\"\nPlus = \" + error + \"\n";
    let folder = folder("values-of-ads", &[("ad", ad)]);
    let value = |rule: &str, more: &[&str]| {
        fs::write(folder.join("rules"), format!("{rule}\n")).unwrap();
        let (status, out, err) = run(&folder, &[&["transform", "--rules", "rules", "ad"], more].concat());
        let line = out.lines().find(|line| line.starts_with("T = ")).unwrap_or_default().to_owned();
        (status, line, err)
    };
    for rule in [
        "SET T \"$(MY.Leak)\"",
        "SET T \"$(MY.Nested)\"",
        "SET T \"$(MY.Half)ENV(CLASSAD_SECRET)\"",
        "x = $(MY.Leak)\nSET T \"$(x)\"",
        "EVALMACRO x Leak\nSET T \"$(x)\"",
        "SET T \"$STRING(MY.Leak)\"",
        "SET T \"$EVAL(Leak)\"",
        "EVALSET T \"$(MY.Leak)\"",
        "SET T \"$CHOICE(0,MY.Leak)\"",
        "SET T \"$Fn(MY.Leak)\"",
        "SET T \"$(none:$(MY.Leak))\"",
    ] {
        let (status, line, err) = value(rule, &[]);
        assert_eq!((status, line.as_str()), (Some(0), "T = \"\""), "{rule}: {err}");
        assert!(
            err.contains("does not get the environment variable CLASSAD_SECRET") && err.contains("--allow-env"),
            "{err}"
        );
        let (_, line, err) = value(rule, &["--allow-env"]);
        assert_eq!((line.as_str(), err.contains("environment")), ("T = \"s3cr3t\"", false), "{rule}: {err}");
    }
    // The rules themselves read the environment.
    assert_eq!(value("SET T \"$ENV(CLASSAD_SECRET)$(MY.Macro)\"", &[]).1, "T = \"s3cr3t7\"");
    assert_eq!(value("SET T \"$ENV(CLASSAD_EMPTY:x)$ENV(CLASSAD_NONE:y)\"", &[]).1, "T = \"y\"");
    let quoted = "T = \"x\\\" + error + \\\"y\"";
    for rule in [
        "SET T \"$(MY.Quote)\"",
        "EVALSET T \"$(MY.Quote)\"",
        "x = \"$(MY.Quote)\"\nSET T $(x)",
        "EVALMACRO x Quote\nSET T \"$(x)\"",
        "SET T \"$STRING(MY.Quote)\"",
        "EVALMACRO x strcat(\"$(MY.Quote)\", \"\")\nSET T \"$(x)\"",
    ] {
        let (status, line, err) = value(rule, &[]);
        assert_eq!((status, line.as_str()), (Some(0), quoted), "{rule}: {err}");
    }
    // Outside a string, the text of an ad is an expression.
    assert_eq!(value("SET T $(MY.Macro) + 1", &[]).1, "T = 7 + 1");
    // A backslash at the end of a value does not take the quote behind it.
    let (_, line, err) = value("SET T strcat(\"$(MY.Tail)\", \"$(MY.Plus)\")", &[]);
    assert!(line.is_empty() && err.contains("ends in a backslash"), "{line}{err}");
    assert_eq!(value("EVALSET T strcat(\"$(MY.Tail)\", \"$(MY.Plus)\")", &[]).1, "T = \"\\ + error + \"");
}

#[test]
fn nothing_stands_for_a_function_that_fails() {
    let folder = folder(
        "failing-functions",
        &[("ad", "Owner = \"ann\"\n"), ("rules", "SET A \"<$CHOICE(5,a,b)>\"\nSET B $INT(Owner)\n")],
    );
    let (status, out, err) = run(&folder, &["transform", "--rules", "rules", "ad"]);
    assert_eq!((status, out.as_str()), (Some(2), "Owner = \"ann\"\nA = \"<>\"\n\n"), "{err}");
    assert!(err.contains("there is no item 5") && err.contains("`Owner` is not a number"), "{err}");
}

#[test]
fn lines_behind_transform_are_ignored_and_names_keep_their_macros() {
    let rules =
        "n = foo\nmy$(n) = 5\nSET A $(myfoo)\nSET $(n) 1\nSET B \"$(x)\"\nTRANSFORM x in (a, b)\nSET C 1\nd = 1\n";
    let folder = folder("lines-behind-transform", &[("ad", "Owner = \"ann\"\n"), ("rules", rules)]);
    let (status, out, err) = run(&folder, &["transform", "--rules", "rules", "ad"]);
    let ad = |item: &str| format!("Owner = \"ann\"\nA = 5\n$(n) = 1\nB = \"{item}\"\n\n");
    assert_eq!((status, out), (Some(0), ad("a") + &ad("b")), "{err}");
    assert_eq!(err.matches("follow TRANSFORM and are ignored").count(), 1, "{err}");
    assert!(err.contains("macros are not expanded in this name"), "{err}");
}

#[test]
fn a_submit_requirement_that_is_undefined_has_its_own_reason() {
    let text = "SUBMIT_REQUIREMENT_NAMES = Project\nSUBMIT_REQUIREMENT_Project = TARGET.Project != \"none\"\n\
        SUBMIT_REQUIREMENT_Project_REASON = \"name a project\"\nSUBMIT_REQUIREMENT_Project_IS_WARNING = true\n";
    let files = [("dump", text), ("none", &*jobs(1, "Project = \"none\"")), ("undefined", &*jobs(1, ""))];
    let folder = folder("submit-requirements", &files);
    let told = |jobs: &str, dump: &str| {
        let (_, out, _) = run(&folder, &["explain", jobs, "--config", dump, "--pool", jobs]);
        out.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(told("none", "dump"), "SUBMIT_REQUIREMENT_Project warns about 1 job: 1.0 (name a project)");
    let undefined =
        "SUBMIT_REQUIREMENT_Project refuses 1 job: 1.0 (Submit requirement Project evaluated to non-boolean.)";
    assert_eq!(told("undefined", "dump"), undefined);
    let bare = "SUBMIT_REQUIREMENT_NAMES = Project\nSUBMIT_REQUIREMENT_Project = TARGET.Project != \"none\"\n";
    fs::write(folder.join("bare"), bare).unwrap();
    assert_eq!(
        told("none", "bare"),
        "SUBMIT_REQUIREMENT_Project refuses 1 job: 1.0 (Submit requirement Project not met.)"
    );
}
