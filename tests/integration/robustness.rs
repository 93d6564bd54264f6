//! Whatever comes in: no panic, no hang, no overflow; the right exit status and a place.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use classad::ad::{Ad, Dialect, Value};
use classad::eval::{Abort, Context, Environment, Evaluator};
use classad::format::FileFormat;
use classad::syntax::{ParseOptions, Style, parse_ad, parse_expression, print};

use super::binary::{file, run, words};

/// Parses a file of these bytes: exit status, standard output and error.
fn parse(name: &str, bytes: &[u8]) -> (Option<i32>, String, String) {
    let path = file(name, bytes);
    let output = run(&["parse", &path], b"");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn bad_files_are_told_with_their_place_and_the_rest_is_read() {
    let good_long = "\n\ngood = 1\n";
    let good_new = "\n[ good = 1 ]\n";
    let good_json = "\n{\"good\": 1}\n";
    let good_xml = "\n<c><a n=\"good\"><i>1</i></a></c>\n";
    for (name, bytes, place) in [
        ("string.long", format!("a = \"x{good_long}"), "1:5"),
        ("bracket.long", format!("a = 1\nb = (2{good_long}"), "2:7"),
        ("junk.long", format!("this is not an ad{good_long}"), "1:1"),
        ("nul.long", format!("a = \"x\0y\"{good_long}"), "1:5"),
        ("closing.long", format!("a = ){good_long}"), "1:5"),
        ("comment.new", format!("[ a = 1 ]{good_new}/* x"), "3:1"),
        ("string.new", format!("[ a = \"x ]{good_new}"), "1:7"),
        ("bracket.new", format!("[ a = (1 ]{good_new}"), "1:10"),
        ("closing.new", format!("[ a = 1 ] ]{good_new}"), "1:11"),
        ("nul.new", format!("[ a = \0 ]{good_new}"), "1:7"),
        ("empty-value.new", format!("[ a = ]{good_new}"), "1:7"),
        ("character.new", format!("[ a = 1 $ 2 ]{good_new}"), "1:9"),
        ("string.json", format!("{{\"a\": \"x}}{good_json}"), "1:7"),
        ("bracket.json", format!("{{\"a\": [1}}{good_json}"), "1:9"),
        ("closing.json", format!("{{\"a\": 1}} x{good_json}"), "1:10"),
        ("expression.json", format!("{{\"a\": \"\\/Expr(1 +)\\/\"}}{good_json}"), "1:18"),
        ("nul.json", format!("{{\"a\": \"x\0\"}}{good_json}"), "1:9"),
        ("tag.xml", format!("<c><a n=\"a\"><i>1</i></c>{good_xml}"), "1:21"),
        ("value.xml", format!("<c><a n=\"a\"><i></i></a></c>{good_xml}"), "1:16"),
        ("expression.xml", format!("<c><a n=\"a\"><e>b &lt;</e></a></c>{good_xml}"), "1:22"),
        ("entity.xml", format!("<c><a n=\"a\"><s>x&y;</s></a></c>{good_xml}"), "1:17"),
    ] {
        let (status, out, err) = parse(name, bytes.as_bytes());
        assert_eq!(status, Some(2), "{name}: {err}");
        assert!(out.contains("good"), "{name}: the rest is lost: {out}");
        assert!(err.contains(&format!("{name}:{place}]")), "{name}: no place {place} in {err}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_told_where_an_escape_could_stand() {
    let (status, out, err) = parse("utf8.new", b"[ a = \"\xff\" ]\n[ good = 1 ]");
    assert_eq!(status, Some(2), "{err}");
    assert!(out.contains("good = 1") && err.contains("utf8.new:1:7]") && err.contains("\\377"), "{err}");
    let (status, _, err) = parse("utf8-name.long", b"\xff = 1\n");
    assert!(status == Some(2) && err.contains("utf8-name.long:1:1]"), "{err}");
    // HTCondor's long form has no escapes: it writes any byte of a string as it is.
    let path = file("bytes.long", b"a = \"\xff\xfe\"\n");
    let output = run(&["parse", &path], b"");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"a = \"\xff\xfe\"\n\n".as_slice()));
}

#[test]
fn odd_files() {
    // Windows' line ends are line ends.
    let (status, out, _) = parse("crlf.long", b"a = 1\r\nb = \"x\"\r\n\r\nc = 2\r\n");
    assert_eq!((status, out.as_str()), (Some(0), "a = 1\nb = \"x\"\n\nc = 2\n\n"));
    let (status, _, err) = parse("empty.long", b"");
    assert!(status == Some(1) && err.contains("empty.long has no ads"), "{status:?} {err}");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"a = 1\n").unwrap();
    let (status, out, _) = parse("pool.long.gz", &packed.finish().unwrap());
    assert_eq!((status, out.as_str()), (Some(0), "a = 1\n\n"));
    let (status, out, _) = parse("pool.long.zst", &zstd::stream::encode_all(b"a = 1\n".as_slice(), 1).unwrap());
    assert_eq!((status, out.as_str()), (Some(0), "a = 1\n\n"));
    for (name, bytes) in [("broken.gz", &b"\x1f\x8b\x08\0"[..]), ("broken.zst", b"\x28\xb5\x2f\xfd")] {
        let (status, _, err) = parse(name, bytes);
        assert!(status == Some(2) && err.contains(name), "{err}");
    }
    for missing in [env!("CARGO_TARGET_TMPDIR"), "no-such-file.ads"] {
        let output = run(&["parse", missing], b"");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && err.contains(missing), "{err}");
    }
    // An empty pipe is a pool of no machines.
    assert_eq!(run(&["query", "true"], b"").status.code(), Some(1));
}

#[test]
fn lines_of_four_megabytes() {
    let long = "x".repeat(4_000_000);
    let (status, out, _) = parse("long-string.long", format!("a = \"{long}\"\n").as_bytes());
    assert_eq!((status, out.len()), (Some(0), 4_000_008));
    for (name, line) in [
        ("long-name.long", long.clone()),
        ("long-open.long", format!("a = {}", "(".repeat(4_000_000))),
        ("long-quote.new", format!("[ a = \"{long} ]")),
        ("long-tail.new", format!("[ a = {long} $ ]")),
        ("long-not.new", format!("[ a = {} ]", "!".repeat(4_000_000))),
    ] {
        let (status, _, err) = parse(name, line.as_bytes());
        assert_eq!(status, Some(2), "{name}");
        assert!(err.contains(&format!("{name}:1:")) && err.len() < 4_000, "{name}: {} bytes of error", err.len());
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut random = fastrand::Rng::with_seed(7);
    let alphabet = b"[]{}();=\"'\\/*ab01.,<>&|?:!-+ \n\r\t\0\xff";
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.usize(0..40)).map(|_| alphabet[random.usize(0..alphabet.len())]).collect();
        for dialect in [Dialect::Classad, Dialect::Condor] {
            for form in [FileFormat::Long, FileFormat::Bracketed, FileFormat::Json, FileFormat::Xml] {
                for item in classad::format::read(&bytes, form, dialect) {
                    if let Err(problem) = item {
                        assert!(problem.range.start <= problem.range.end && problem.range.end <= bytes.len());
                    }
                }
            }
            if let Ok(tree) = parse_expression(&bytes, ParseOptions::new(dialect)) {
                let again = parse_expression(&print(&tree, Style::New), ParseOptions::new(dialect));
                assert!(again.is_ok_and(|again| again == tree), "{}", String::from_utf8_lossy(&bytes));
            }
        }
    }
}

fn evaluate(text: &str) -> Result<Value, Abort> {
    let tree = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).expect("it parses");
    let copy = tree.clone();
    let (environment, frame) = Environment::single(Ad::default());
    let value = Evaluator::new(&environment, &Context::new(Dialect::Condor)).evaluate(&copy, &frame);
    assert!(copy == tree);
    value
}

#[test]
fn no_depth_overflows_the_stack() {
    // As little stack as any thread may have.
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let test = small.spawn(|| {
        let deep = |open: &str, close: &str| evaluate(&(open.repeat(30_000) + "1" + &close.repeat(30_000)));
        assert_eq!(evaluate(&("1+".repeat(300_000) + "1")), Ok(Value::Integer(300_001)));
        assert_eq!(evaluate(&("true&&".repeat(300_000) + "true")), Ok(Value::Boolean(true)));
        assert_eq!(deep("(", ")"), Ok(Value::Integer(1)));
        assert_eq!(deep("true?1:", ""), Ok(Value::Integer(1)));
        assert_eq!(deep("false?1:", ""), Ok(Value::Integer(1)));
        assert!(matches!(deep("{", "}"), Ok(Value::List(_))));
        assert!(matches!(deep("[a=", "]"), Ok(Value::Ad(_))));
        for (open, close) in [("-", ""), ("!", ""), ("f(", ")"), ("a[", "]"), ("1+(", ")"), ("strcat(", ")")] {
            match deep(open, close) {
                Ok(_) | Err(Abort::TooDeep(_)) => {}
                Err(halt) => panic!("{open}: {halt}"),
            }
        }
        let nest = "[a=".repeat(30_000) + "1" + &"]".repeat(30_000);
        let ad = parse_ad(nest.as_bytes(), ParseOptions::default()).expect("it parses");
        assert!(ad == ad.clone().iter().map(|a| (a.name.clone(), a.expression.clone())).collect());
    });
    test.expect("a thread starts").join().expect("nothing overflows");
}

/// Each of these once took time that grew with the square of its length: that would be days here.
#[test]
fn what_is_never_closed_is_searched_for_once() {
    for (name, text) in [
        ("brackets.new", "[a\n".repeat(80_000)),
        ("quotes.new", format!("[ a={}", "\\\"\n".repeat(250_000))),
        ("names.new", format!("[ a={}", "\\'\n".repeat(250_000))),
        ("comments.new", format!("[ {}", "/* ".repeat(250_000))),
    ] {
        assert_eq!(parse(name, text.as_bytes()).0, Some(2), "{name}");
    }
}

#[test]
fn lists_that_functions_make_may_be_deep() {
    let deep = format!("[ x = {}[ a = 1 ]{}.a ]", "{".repeat(15_000), "}".repeat(15_000));
    let path = file("deep-list.new", deep.as_bytes());
    let output = run(&["eval", "--dialect", "condor", "--attr", "x", &path], b"");
    assert!(output.status.code() == Some(0) && output.stdout.len() > 60_000);
    let output = run(&["eval", "--dialect", "condor", "--max-depth", "100", "--attr", "x", &path], b"");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn budgets_end_what_would_not() {
    // Each attribute uses the next one twice: 2^40 steps, as the last one has a new value each time.
    let text: Vec<String> = (0..40).map(|i| format!("a{i} = a{} + a{}", i + 1, i + 1)).collect();
    let ad = format!("[ {}; a40 = random(10) ]", text.join("; "));
    let path = file("doubling.new", ad.as_bytes());
    let output = run(&["eval", "--max-steps", "2000000", "--my", &path, "a0"], b"");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--max-steps"));
    let output = run(&["eval", "--max-depth", "10", &"-(".repeat(20).replace("-(", "- "), "1"], b"");
    assert_eq!(output.status.code(), Some(2), "an operator without operand is a syntax error");
    let nested = "- ".repeat(20) + "1";
    assert_eq!(run(&["eval", "--max-depth", "10", &nested], b"").status.code(), Some(3));
}

#[test]
fn what_a_form_cannot_carry_is_told_or_refused() {
    let ad = b"[ Name = \"x\"; s = \"a\nb\"; l = { \"c\\\\\", 2 } ]\n[ Name = \"y\" ]";
    let output = run(&["parse", "-", "-o", "long"], ad);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(out, "Name = \"x\"\ns = \"a b\"\nl = { \"c\\ \", 2 }\n\nName = \"y\"\n\n");
    assert!(err.contains("x: s: ") && err.contains("x: l: "), "{err}");
    let output = run(&["parse", "-", "-o", "long", "--strict"], ad);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), b"Name = \"y\"\n\n".as_slice()));
}

#[test]
fn chance_is_one_stream_that_a_seed_fixes() {
    let pool = "a = 1\n\n".repeat(50);
    let draw = |seed: &str| {
        let output =
            run(&["query", "true", "-", "--af", "random(1000000),random(1000000)", "--seed", seed], pool.as_bytes());
        String::from_utf8(output.stdout).unwrap()
    };
    let drawn = draw("1");
    let numbers: std::collections::HashSet<&str> = drawn.split_whitespace().collect();
    assert!(numbers.len() > 95, "{} different numbers of 100", numbers.len());
    assert!(drawn == draw("1") && drawn != draw("2"));
}

#[test]
fn ports_that_cannot_be_used_have_a_place() {
    let offers = file("offers.new", b"[ Constraint = true ]");
    let requests = b"[ Ports = { [ Label = a; Constraint = true ] } ]\n[ Ports = { [ Label = a ], [ Label = A ] } ]";
    let output = run(&["gangmatch", "-", "--pool", &offers, "-o", "json"], requests);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && err.contains("standard input:2:28]"), "{err}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"label\":\"a\""));
    let long = b"A = 1\nPorts = { [ Label = a ], [ Label = A ] }\n";
    let output = run(&["gangmatch", "-", "--pool", &offers, "-o", "json"], long);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && err.contains("standard input:2:26]"), "{err}");
}

#[test]
fn a_misspelt_option_is_no_expression() {
    for arguments in [&["eval", "--tpye"][..], &["query", "--tpye"], &["query", "-cnostraint"]] {
        let output = run(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("there is no option"));
    }
    let err = run(&["explian"], b"").stderr;
    assert!(String::from_utf8_lossy(&err).contains("a similar subcommand exists: 'explain'"), "{}", err.escape_ascii());
    assert_eq!(run(&["eval", "-5 + 3"], b"").stdout, b"-2\n");
    assert_eq!(run(&["eval", "--", "--x"], b"").stdout, b"undefined\n");
}

/// A usage error keeps its exit status where its message can go nowhere.
#[test]
fn a_wrong_option_is_status_2_without_a_standard_error() {
    for arguments in ["--nope", "query", "explain --pool", "query --threads x"] {
        let script = format!("exec '{}' {arguments} 2>&-", env!("CARGO_BIN_EXE_classad"));
        let output = Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments}");
    }
    // So it is where nobody reads on, for our options and for HTCondor's.
    for arguments in [&["--nope"][..], &["query", "-limit"], &["explain", "-af", "x"], &["query", "-atributes", "x"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut child = Command::new(env!("CARGO_BIN_EXE_classad"));
        let output = child.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let pool = format!("{}\n", "a = 1\n\n".repeat(200_000));
    let path = file("large.long", pool.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_classad"))
        .args(["parse", &path])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn whoever_waits_for_an_ad_gets_it_before_the_next_comes() {
    for (command, ad) in [
        (&["convert", "--to", "jsonl"][..], "a = 1\n\n"),
        (&["convert", "--to", "jsonl"], "{\"a\": 1}\n"),
        (&["transform", "--default", "a=2", "-o", "jsonl"], "[ a = 1 ]\n"),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_classad"))
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..3 {
            input.write_all(ad.as_bytes()).unwrap();
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, "{\"a\": 1}\n");
        }
        drop(input);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn each_file_in_its_own_form_is_a_whole_document() {
    let files =
        [("first.json", "[{\"a\": 1}]"), ("second.xml", "<c><a n=\"a\"><i>2</i></a></c>"), ("third.new", "[ a = 3 ]")];
    let paths = files.map(|(name, text)| file(name, text));
    let documents = "[\n{\"a\": 1}\n]\n<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n\
        <classads>\n<c>\n    <a n=\"a\"><i>2</i></a>\n</c>\n</classads>\n[\n  a = 3;\n]\n";
    for command in [&["parse"][..], &["transform", "--default", "a=2"]] {
        let arguments: Vec<&str> = command.iter().copied().chain(paths.iter().map(String::as_str)).collect();
        let output = run(&arguments, b"");
        assert_eq!(String::from_utf8_lossy(&output.stdout), documents, "{command:?}");
    }
}

#[test]
fn what_comes_whole_before_a_break_is_delivered() {
    let ads: Vec<String> = (0..2000).map(|number| format!("a = {number}\n\n")).collect();
    let text = ads.concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::stream::encode_all(text.as_bytes(), 0).unwrap().repeat(2);
    for (packed, least) in [(&gzip[..1000], 80), (&gzip[..gzip.len() - 4], 2000), (&zstd[..zstd.len() - 1], 2000)] {
        let output = run(&["convert", "--to", "jsonl"], packed);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.starts_with("error: cannot read standard input to its end: "), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(out.lines().count() >= least, "{}", out.lines().count());
        // No ad is half an ad.
        for (number, line) in out.lines().enumerate() {
            assert_eq!(line, format!("{{\"a\": {number}}}"));
        }
    }
}

#[test]
fn comments_alone_are_no_ads_and_no_fault() {
    for text in ["# c\n", "// c\n/* d */", "\u{feff}# c\n\n# d\n", "<!-- c -->\n", "# c\n---\n"] {
        let output = run(&["convert", "--to", "jsonl"], text.as_bytes());
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(1), 0, 0), "{text}");
    }
    let output = run(&["convert", "--to", "jsonl"], b"/* never closed [ a = 1 ]");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn diff_and_census_of_what_is_deep_wide_or_long() {
    let nest = |open: &str, close: &str| open.repeat(20_000) + "1" + &close.repeat(20_000);
    let many: Vec<String> = (0..20_000).map(|number| format!("a{number} = {number}")).collect();
    let text = format!(
        "[ Name = \"deep\"; list = {}; ad = {}; not = {}; sum = {}1 ]\n[ {} ]\n[ long = \"{}\" ]",
        nest("{", "}"),
        nest("[a=", "]"),
        nest("!", ""),
        "1+".repeat(20_000),
        many.join("; "),
        "x".repeat(2_000_000),
    );
    let path = &file("deep-and-wide.new", text.as_bytes());
    let output = run(&["diff", path, path], b"");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let changed = text.replacen("+1+1 ]", "+1+2 ]", 1).replacen("}}", ",2}}", 1);
    let output = run(&["diff", path, "-"], changed.as_bytes());
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1));
    let names: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("  + ")?.split(' ').next()).collect();
    assert_eq!(names, ["list", "sum"]);
    for arguments in [&["census", path, "-o", "json"][..], &["census", path, "-o", "table", "--nested"]] {
        let output = run(arguments, b"");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stdout.windows(6).any(|part| part == b"a19999"), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_reported() {
    let full = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let program = env!("CARGO_BIN_EXE_classad");
    for arguments in [&["help"][..], &["--help"], &["query", "--help"], &["--version"], &["help", "budgets"]] {
        let output = Command::new(program).args(arguments).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains("cannot write the output"), "{arguments:?}: {message}");
        let closed = Command::new(program).args(arguments).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(closed.code(), Some(2), "{arguments:?}");
    }
    for arguments in [&["query", "-foo", "x"][..], &["nosuch"]] {
        let status = Command::new(program).args(arguments).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_packed_ad_that_does_not_end_is_refused() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"[ good = 1 ]\n[ a = {").unwrap();
    for _ in 0..40 {
        gzip.write_all(&b"1,".repeat(1 << 18)).unwrap();
    }
    let (status, out, err) = parse("endless.gz", &gzip.finish().unwrap());
    assert_eq!(status, Some(2), "{err}");
    assert!(out.contains("good"), "{out}");
    assert!(err.contains("an ad (in YAML, a document) has more than 8388608 bytes"), "{err}");
}

/// Runs a command; exit status, output and messages.
fn run_on(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(arguments, b"");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn limits_of_input_have_options() {
    let long = file("limits.ad", format!("[ good = 1 ]\n[ a = {{ {} }} ]", vec!["1"; 1_500_000].join(",")));
    assert_eq!(run_on(&["query", "true", &long, "--count"]).1, "2\n");
    let (status, out, err) = run_on(&["query", "true", &long, "--count", "--max-ad-bytes", "1000000"]);
    assert_eq!((status, out.as_str()), (Some(2), "1\n"), "{err}");
    assert!(err.contains("an ad (in YAML, a document) has more than 1000000 bytes"), "{err}");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![b' '; 70_000_000]).unwrap();
    gzip.write_all(b"[ a = 1 ]").unwrap();
    let packed = file("limits.gz", gzip.finish().unwrap());
    assert!(run_on(&["query", "true", &packed, "--count"]).2.contains("it unpacks to more than 256 times its size"));
    assert_eq!(run_on(&["query", "true", &packed, "--count", "--max-unpack-ratio", "10000"]).1, "1\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(b"[ Name = \"a\" ]\n[ Name = \"b\" ]\n[ Name = \"c\" ]\n").unwrap();
    let packed = file("few.gz", gzip.finish().unwrap());
    for arguments in [&["match", &packed, "--pool", &packed][..], &["diff", &packed, &packed]] {
        let (status, _, err) = run_on(&[arguments, &["--max-packed-ads", "2"]].concat());
        assert_eq!(status, Some(2), "{err}");
        assert!(
            err.contains("it is compressed and has more than 2 ads; unpack it, or raise --max-packed-ads"),
            "{err}"
        );
        assert!(!run_on(&[arguments, &["--max-packed-ads", "3"]].concat()).2.contains("more than"));
    }
}

#[test]
fn a_run_ends_within_its_steps() {
    let sum = |name: &str, terms: usize| vec![name; terms].join(" + ");
    let offer = |n: usize| format!("Name = \"m{n}\"\nCpus = {n}\nRequirements = true\n\n");
    let offers = file("run-steps.offers", (0..100).map(offer).collect::<String>());
    let long = sum("b", 6000);
    let clauses: Vec<String> = (0..1).map(|n| format!("TARGET.a{n} > long")).collect();
    let job = file(
        "run-steps.job",
        format!("JobId = \"1\"\nRequirements = {}\nlong = {long}\nb = TARGET.Cpus * 2\n", clauses.join(" && ")),
    );
    let other =
        file("run-steps.match", format!("JobId = \"1\"\nRequirements = {long} > 100000\nb = TARGET.Cpus * 2\n"));
    for arguments in [
        &["explain", &job, "--pool", &offers][..],
        &["match", &other, "--pool", &offers, "--no-index"],
        &["query", &sum("Cpus", 9000), &offers, "--count"],
        &["eval", "--each", &sum("Cpus", 9000), &offers],
    ] {
        let (status, _, err) = run_on(&[arguments, &["--max-run-steps", "1000"]].concat());
        assert_eq!(status, Some(3), "{arguments:?}: {err}");
        assert!(err.contains("the evaluations of this run together took more than"), "{err}");
        assert!(err.contains("--max-run-steps raises the limit"), "{err}");
        let (status, _, err) = run_on(arguments);
        assert!(status != Some(3) && !err.contains("together"), "{arguments:?}: {err}");
    }
    // The offers whose constraints differ are many, and each change is tried with all of them.
    let offer = |n: usize| format!("Name = \"m{n}\"\nz = {n}\nRequirements = TARGET.x > {n} && TARGET.y{n} > z\n\n");
    let offers = file("run-steps.many", (0..1500).map(offer).collect::<String>());
    let job = |n: usize| format!("JobId = \"j{n}\"\nx = {n}\nRequirements = true\n\n");
    let jobs = file("run-steps.jobs", (0..30).map(job).collect::<String>());
    let (status, _, err) = run_on(&["explain", &jobs, "--pool", &offers, "--max-run-steps", "1000"]);
    assert_eq!(status, Some(3), "{err}");
    assert!(err.contains("requests not explained"), "{err}");
}

/// An ad whose evaluation was stopped is no ad that was found, and its row says so by the exit status.
#[test]
fn a_query_tells_of_evaluations_that_were_stopped() {
    let sum = vec!["1"; 200].join(" + ");
    let ads =
        file("stopped.ads", format!("[ Name = \"a\"; x = {sum} ]\n[ Name = \"b\"; x = 1 ]\n[ Name = \"c\"; x = 1 ]\n"));
    for (more, expected) in [
        (&[][..], "b\nc\n"),
        (&["--limit", "1"], "b\n"),
        (&["--limit", "2"], "b\nc\n"),
        (&["--limit", "1", "--sort", "-Name"], "c\n"),
    ] {
        let (status, out, err) =
            run_on(&[&["query", "x > 0", &ads, "--af", "Name", "--max-steps", "100"], more].concat());
        assert_eq!(out, expected, "{more:?}");
        assert!(status == Some(3) && err.contains("ad 1"), "{more:?} {status:?} {err}");
    }
    let slots = file("stopped.slots", format!("MyType = \"Machine\"\nName = \"s\"\nMachine = \"m\"\nMemory = {sum}\n"));
    for (steps, expected) in [("100", Some(3)), ("10000", Some(0))] {
        let (status, out, err) = run_on(&["query", "--condor-table", "slots", &slots, "--max-steps", steps]);
        assert!(status == expected && out.contains('s'), "{steps} {status:?} {out} {err}");
    }
}

/// An explanation calls an expression an error that was stopped at a limit. It says so.
#[test]
fn explanations_name_a_limit_that_stopped_an_evaluation() {
    let pool = "samples/pool/machines.long";
    for arguments in [
        &["explain", "samples/pool/jobs.long", "--pool", pool, "-q"][..],
        &["route", "samples/routes/jobs.long", "--config", "samples/routes/config.dump", "-q"],
    ] {
        let (status, _, err) = run_on(arguments);
        assert!(status == Some(1) && !err.contains("limit"), "{arguments:?}: {err}");
        let (status, _, err) = run_on(&[arguments, &["--max-steps", "3"]].concat());
        assert!(status == Some(3) && err.contains("evaluations were stopped at a limit"), "{arguments:?}: {err}");
    }
    let (pattern, text) = ("(a|aa|b.*)*(a|aa)*(aa|a)*(a|aa)*$x", "a".repeat(300));
    let job = file(
        "stopped.job",
        format!("JobId = \"1\"\nRequirements = regexp(\"{pattern}\", strcat(\"{text}\", TARGET.Name))\n"),
    );
    let deep = file("stopped-deep.job", "JobId = \"1\"\nRequirements = a\na = b + 0\nb = TARGET.Cpus + 0\n");
    for (job, option, limit) in [(&job, "--max-steps", "3000"), (&deep, "--max-depth", "3")] {
        let (status, _, err) = run_on(&["explain", job, "--pool", pool, "-q", option, limit]);
        assert!(status == Some(3) && err.contains("evaluations were stopped at a limit"), "{option}: {err}");
    }
}

#[test]
fn comparing_ads_ends_within_its_steps() {
    let job = |n: usize| {
        format!(
            "JobId = \"j{n}\"\nOwner = \"u{n}\"\nRequirements = TARGET.Cpus >= 0\nRank = TARGET.Cpus % {}\n\n",
            n + 2
        )
    };
    let offer = |n: usize| format!("Name = \"m{n}\"\nCpus = {n}\nk = 1\nRequirements = true\n\n");
    let jobs = file("compared.jobs", (0..100).map(job).collect::<String>());
    let offers = file("compared.offers", (0..100).map(offer).collect::<String>());
    for arguments in [
        &["match", &jobs, "--pool", &offers, "--strategy", "stable"][..],
        &["match", &jobs, "--pool", &offers, "--all"],
        &["match", &jobs, "--pool", &offers, "--best", "50"],
        &["negotiate", &jobs, "--pool", &offers],
        &["negotiate", &jobs, "--pool", &offers, "--policy", "htcondor"],
        &["join", &offers, "--with", &offers, "--on", "k"],
        &["join", &jobs, "--with", &offers, "--on", "1=k"],
    ] {
        // Each byte of input adds 25 steps and 16 bytes. Without the options they suffice.
        let (status, all, err) = run_on(arguments);
        assert!(status != Some(3) && !err.contains("comparing"), "{arguments:?}: {err}");
        for option in ["--max-comparison-steps", "--max-held-bytes"] {
            let (_, fewer, _) = run_on(&[arguments, &[option, "0"]].concat());
            assert!(fewer.len() <= all.len(), "{arguments:?}");
        }
    }
    let tiny = |n: usize| format!("[k=1;Name=\"{n}\"]\n");
    let ads = file("compared.ad", (0..600).map(tiny).collect::<String>());
    let arguments = ["join", &ads, "--with", &ads, "--on", "k"];
    let (status, some, err) = run_on(&[&arguments[..], &["--max-comparison-steps", "1000"]].concat());
    assert_eq!(status, Some(3), "{err}");
    assert!(err.contains("some results are missing: comparing ads took more than"), "{err}");
    assert!(err.contains("--max-comparison-steps raises the limit"), "{err}");
    assert!((20_000..200_000).contains(&some.lines().count()), "{}", some.lines().count());
    assert_eq!(run_on(&arguments).1.lines().count(), 360_001);
}

#[test]
fn lists_of_candidates_end_within_their_bytes() {
    let jobs = (0..300).map(|n| format!("[Rank=TARGET.c*{n};Requirements=true]\n"));
    let offers = (0..300).map(|n| format!("[c={n};Requirements=true]\n"));
    let (jobs, offers) = (file("held.jobs", jobs.collect::<String>()), file("held.offers", offers.collect::<String>()));
    for more in [&["--all"][..], &["--best", "200"], &["--best", "20", "-o", "table"], &["--strategy", "stable"]] {
        let arguments = [&["match", &jobs, "--pool", &offers][..], more].concat();
        let (status, all, err) = run_on(&arguments);
        assert_eq!(status, Some(0), "{more:?}: {err}");
        let (status, some, err) = run_on(&[&arguments[..], &["--max-held-bytes", "0"]].concat());
        assert_eq!(status, Some(3), "{more:?}: {err}");
        assert!(err.contains("--max-held-bytes raises the limit"), "{more:?}: {err}");
        let (some, all) = (some.lines().count(), all.lines().count());
        assert!((1..all).contains(&some), "{more:?}: {some} of {all}");
    }
}

/// The first steps of an evaluation do not count for the run, but thousands of pairs are evaluated.
#[test]
fn evaluations_of_pairs_count_as_comparisons() {
    let job = format!("[Requirements = sum({{{}}}) >= 0]\n", vec!["TARGET.c"; 1000].join(","));
    let offer = |n: usize| format!("[c={n};Requirements=true]\n");
    let offers = file("paired.offers", (0..300).map(offer).collect::<String>());
    let job = file("paired.job", job);
    for more in [&["--all"][..], &["--all", "--no-index"], &["--all", "--count"]] {
        let arguments = [&["match", &job, "--pool", &offers][..], more].concat();
        let (status, _, err) = run_on(&arguments);
        assert_eq!(status, Some(0), "{more:?}: {err}");
        let (status, _, err) = run_on(&[&arguments[..], &["--max-comparison-steps", "0"]].concat());
        assert_eq!(status, Some(3), "{more:?}: {err}");
        assert!(err.contains("--max-comparison-steps raises the limit"), "{more:?}: {err}");
    }
}

/// A few functions make long texts in few steps, in each of many ads.
#[test]
fn long_values_count_as_steps_of_the_run() {
    let twice = |n: usize| format!("x{n}=strcat(x{},x{});", n - 1, n - 1);
    let doubled: String = (1..=15).map(twice).collect();
    let ad = format!("[x0=\"{}\";{doubled}]\n", "y".repeat(64));
    let ads = file("doubled.ad", ad.repeat(100));
    let arguments = ["query", "size(x15) > 1", &ads, "--count"];
    assert_eq!(run_on(&arguments).0, Some(0));
    let (status, _, err) = run_on(&[&arguments[..], &["--max-run-steps", "0"]].concat());
    assert_eq!(status, Some(3), "{err}");
    assert!(err.contains("--max-run-steps raises the limit"), "{err}");
}

#[test]
fn a_rank_without_a_value_counts_as_0_in_lists_and_in_numbers() {
    let job = format!("[Requirements=true;Rank=TARGET.c+{}]\n", vec!["1"; 3000].join("+"));
    let job = file("ranked.job", job);
    let offer = |n: usize| format!("[Name=\"m{n}\";c={n};Requirements=true]\n");
    let offers = file("ranked.offers", (0..5).map(offer).collect::<String>());
    for more in [&[][..], &["--no-index"]] {
        let arguments = [&["match", &job, "--pool", &offers, "--all", "--max-steps", "100"][..], more].concat();
        let (status, listed, err) = run_on(&arguments);
        assert_eq!((status, listed.lines().count()), (Some(3), 6), "{more:?}: {err}");
        assert!(listed.lines().skip(1).all(|row| row.ends_with("\t0\t0")), "{listed}");
        assert_eq!(run_on(&[&arguments[..], &["--count"]].concat()).1, "5\n", "{more:?}");
    }
}

#[test]
fn an_ad_that_rules_make_is_bounded() {
    let copy = |n: usize| format!("COPY big b{n}\n");
    let copies: String = (0..200).map(copy).collect();
    let rules = file("copies.rules", copies);
    for (name, length, is_made) in [("copies.short", 1000, true), ("copies.long", 100_000, false)] {
        let ads = file(name, format!("small = 1\nbig = \"z\"\n\nsmall = 1\nbig = \"{}\"\n", "y".repeat(length)));
        let (status, out, err) = run_on(&["transform", "--rules", &rules, &ads]);
        assert_eq!(status == Some(0), is_made, "{name}: {err}");
        assert_eq!(words(&err).contains("the rules put more than 8388608"), !is_made, "{name}: {err}");
        assert!(out.contains("b199 = \"z\""), "{name}");
    }
}

#[test]
fn vectors_and_derived_ads_are_bounded() {
    let component = |n: usize| format!("  - Cpus + {n}\n");
    let components: String = (0..257).map(component).collect();
    let policy = file("long-vector.yaml", format!("order:\n{components}"));
    let jobs = file("long-vector.jobs", "JobId = \"1\"\nRequirements = true\n");
    let (status, _, err) = run_on(&["negotiate", &jobs, "--pool", &jobs, "--policy", &policy]);
    assert_eq!(status, Some(2), "{err}");
    assert!(err.contains("this vector has more than 256 components"), "{err}");
    let ad = |n: usize| format!("  a{n}: {{ like: a{}, with: {{ y{n}: 1 }} }}\n", n - 1);
    let derived: String = (1..2100).map(ad).collect();
    let spec =
        format!("ads:\n  a0: {{ x: 1 }}\n{derived}cases:\n  - {{ name: c, my: a0, expression: x, expect: 1 }}\n");
    let (status, _, err) = run_on(&["test", &file("derived.yaml", spec)]);
    assert_eq!(status, Some(2), "{err}");
    assert!(err.contains("the ads with `file` or `like` have more than 2000000 attributes"), "{err}");
}

/// Searches of patterns count by what they do, not by the time that they take.
#[test]
fn patterns_take_steps() {
    let ad = file("patterns.long", format!("s = \"{}\"\nt = \"{}!\"\n", "x".repeat(300_000), "a".repeat(40)));
    for expression in ["regexp(\"(?:x*+y|x)*z\", s)", "regexp(\"x{1000,}[yz]\", s)"] {
        let (status, _, err) = run_on(&["eval", "--each", expression, &ad]);
        assert_eq!(status, Some(3), "{expression}: {err}");
        assert!(err.contains("--max-steps raises the limit"), "{err}");
    }
    for (expression, value) in
        [("regexp(\"^(a+)+$\", t)", "error"), ("regexp(\"(x+x+)+[yz]\", s)", "error"), ("regexp(\"x.*y\", s)", "false")]
    {
        let (status, out, err) = run_on(&["eval", "--each", expression, &ad]);
        assert!(status == Some(0) && out.ends_with(&format!("{value}\n")), "{expression}: {out} {err}");
    }
    let map = file("patterns.map", "* /^(a+)+$/ x\n".repeat(100));
    let user = format!("userMap(\"m\", \"{}b\")", "a".repeat(40));
    assert_eq!(run_on(&["eval", "--map", &format!("m={map}"), &user]).0, Some(3));
}

#[test]
fn an_ad_has_a_bounded_number_of_ports() {
    let ports =
        |count: usize| (0..count).map(|n| format!("[ Label = p{n}; Constraint = true ]")).collect::<Vec<_>>().join(",");
    let offers = file("ports.offers", "[ Name = \"m\"; Constraint = true ]\n");
    for (count, is_refused) in [(500, false), (501, true)] {
        let request = file("ports.request", format!("[ Name = \"j\"; Ports = {{ {} }} ]", ports(count)));
        let (_, _, err) = run_on(&["gangmatch", &request, "--pool", &offers]);
        assert_eq!(err.contains("this ad has more than 500 ports"), is_refused, "{err}");
    }
}

#[test]
fn a_long_value_is_written_a_bounded_number_of_times() {
    let line = |n: usize| format!("c{n} = strcat(s, y)\n");
    let uses: String = (0..100).map(line).collect();
    let ad = file("long-value.long", format!("s = \"{}\"\n{uses}", "x".repeat(5000)));
    let (status, all, err) = run_on(&["specialize", &ad]);
    assert_eq!((status, all.matches("xxxx\"").count()), (Some(0), 101), "{err}");
    let (status, some, err) = run_on(&["specialize", &ad, "--max-value-bytes", "50000"]);
    assert_eq!(status, Some(0), "{err}");
    assert!((2..12).contains(&some.matches("xxxx\"").count()), "{}", some.len());
    assert!(some.contains("strcat(s,y)") || some.contains("strcat(s, y)"), "{}", some.len());
}

#[test]
fn a_gang_search_ends_at_its_budget() {
    // The sum over 40 ports cannot be met, which only the last port shows.
    let sum = (0..40).map(|port| format!("p{port}.A")).collect::<Vec<_>>().join(" + ");
    let ports: Vec<String> = (0..40)
        .map(|port| {
            let last = if port == 39 { format!(" && {sum} == 41.5") } else { String::new() };
            format!("[ Label = p{port}; Requirements = p{port}.Type == \"M\"{last} ]")
        })
        .collect();
    let text = format!("[ Type = \"J\"; Ports = {{ {} }} ]\n", ports.join(", "));
    let [request, twice] =
        [("spent.request", 1), ("spent.requests", 2)].map(|(name, count)| file(name, text.repeat(count).as_bytes()));
    let offer =
        |number: usize| format!("[ Type = \"M\"; Name = \"m{number}\"; A = {}.25; Requirements = true ]\n", number % 7);
    let offers = file("spent.offers", (0..40).map(offer).collect::<String>().as_bytes());
    let output = run(&["gangmatch", "--max-search-tests", "200", "--pool", &offers, &request], b"");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("1 evaluation or search was stopped at a limit"), "{message}");
    let tail = "ended at a limit: a gang may be missing, or there may be a better one; --max-search-tests raises it";
    assert!(message.contains(&format!("note: 1 search for a gang {tail}\n")), "{message}");
    let output = run(&["gangmatch", "--max-search-tests", "200", "--pool", &offers, &twice], b"");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains(&format!("note: 2 searches for gangs {tail}\n")), "{message}");
}

/// These commands explain what is wrong with ads: they do not pass over the attributes that they do not need.
#[test]
fn explain_and_autocluster_report_the_syntax_errors_that_query_reports() {
    let ad = |number: u32, text: &str| format!("ClusterId = {number}\nRequirements = true\nOther = {text}\n\n");
    // Several blocks, each with a bad ad.
    let many: String = (0..9000).map(|n| ad(n, if n % 4000 == 7 { "( 1" } else { "\"a\"" })).collect();
    let (bad, many) = (file("bad-other.long", b"a = (\nRequirements = true\n"), file("bad-many.long", many.as_bytes()));
    let good = file("good.long", b"Name = \"m\"\nRequirements = true\n");
    for (path, sound) in [(&bad, "0"), (&many, "8997")] {
        let (status, _, reported) = run_on(&["query", "true", path, "-o", "long"]);
        assert_eq!(status, Some(2), "{reported}");
        for arguments in [
            &["explain", path, "--pool", &good, "--unmatched"][..],
            &["explain", &good, "--pool", path, "--unmatched"],
            &["autocluster", path, "--count"],
            &["autocluster", &good, "--pool", path],
        ] {
            let (status, out, told) = run_on(arguments);
            assert_eq!(status, Some(2), "{arguments:?}: {told}");
            let errors = |text: &str| text.matches("expected").count();
            assert_eq!(errors(&told), errors(&reported), "{arguments:?}: {told} {reported}");
            let (_, strict, _) = run_on(&[arguments, &["--strict-input"]].concat());
            assert_eq!(out, strict, "{arguments:?}");
        }
        let (_, out, _) = run_on(&["autocluster", path, "-o", "json"]);
        assert_eq!(out.contains(&format!("\"requests\":{sound}")), sound != "0", "{out}");
    }
}

#[test]
fn an_unreadable_file_is_reported_once_with_parquet() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"a = 1\n\na = 2\n\n").unwrap();
    let whole = gzip.finish().unwrap();
    for (name, bytes) in [("cut.gz", &whole[..whole.len() - 6]), ("crc.gz", &damaged(&whole))] {
        let path = file(name, bytes);
        let (status, _, told) = run_on(&["query", "true", &path, "--af", "a", "-o", "parquet"]);
        assert_eq!(status, Some(2));
        assert_eq!(told.matches("error:").count(), 1, "{told}");
    }
}

/// Flips a bit of the check sum of a text in gzip.
fn damaged(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let at = text.len() - 6;
    text[at] ^= 1;
    text
}
