//! The JSON Schemas of JSON outputs describe what the commands print.

use serde_json::{Map, Value, json};

use crate::binary::{classad, file};

const JOBS: &str = "samples/pool/jobs.long";
const MACHINES: &str = "samples/pool/machines.long";

/// Checks a value by the keywords of JSON Schema that the schemas use. Other keywords are refused.
fn check(schema: &Value, root: &Value, value: &Value, path: &str) -> Result<(), String> {
    for (keyword, of) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" => {}
            "$ref" => {
                let name = of.as_str().and_then(|path| path.strip_prefix("#/$defs/")).expect("it is a definition");
                check(&root["$defs"][name], root, value, path)?;
            }
            "const" if of == value => {}
            "enum" if of.as_array().is_some_and(|values| values.contains(value)) => {}
            "type" if has_type(of, value) => {}
            "minimum" if value.as_f64().is_none_or(|number| Some(number) >= of.as_f64()) => {}
            "anyOf" if of.as_array().is_some_and(|all| all.iter().any(|one| check(one, root, value, path).is_ok())) => {
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(of, root, item, &format!("{path}/{index}"))?;
                }
            }
            "required" => {
                let names = of.as_array().into_iter().flatten().filter_map(Value::as_str);
                if let (Some(object), Some(missing)) =
                    (value.as_object(), names.clone().find(|name| value.get(name).is_none()))
                {
                    return Err(format!("{path} lacks {missing}: {object:?}"));
                }
            }
            "properties" => {
                for (name, schema) in of.as_object().expect("properties are an object") {
                    value.get(name).map_or(Ok(()), |value| check(schema, root, value, &format!("{path}/{name}")))?;
                }
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object().cloned().unwrap_or_default();
                for (name, value) in value.as_object().unwrap_or(&Map::new()) {
                    match of {
                        Value::Bool(false) if !known.contains_key(name) => {
                            return Err(format!("{path}/{name} is unknown"));
                        }
                        of if of.is_object() => check(of, root, value, &format!("{path}/{name}"))?,
                        _ => {}
                    }
                }
            }
            keyword => return Err(format!("{path}: {value} is not {keyword} {of}")),
        }
    }
    Ok(())
}

fn has_type(types: &Value, value: &Value) -> bool {
    let one = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("{other} is not a type of JSON Schema"),
    };
    types.as_str().map_or_else(|| types.as_array().into_iter().flatten().filter_map(Value::as_str).any(one), one)
}

fn schema(name: &str) -> Value {
    let (status, text, _) = classad(&["help", "schema", name]);
    assert_eq!(status, Some(0), "{name}");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Runs a command and checks each document that it prints.
fn assert_described(name: &str, arguments: &[&str], is_lines: bool) -> Vec<Value> {
    let schema = schema(name);
    let (_, text, errors) = classad(arguments);
    let documents: Vec<Value> = if is_lines {
        text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
    } else {
        vec![serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {errors}"))]
    };
    assert!(!documents.is_empty(), "{arguments:?}");
    for document in &documents {
        check(&schema, &schema, document, "").unwrap_or_else(|reason| panic!("{arguments:?}: {reason}"));
    }
    documents
}

#[test]
fn documents_are_as_their_schemas_say() {
    let gangs = ["--pool", "samples/gangs/offers.ad"];
    let licences = ["--pool", "samples/license/machines.ad", "--pool", "samples/license/licenses.ad"];
    let broken = file("schemas-broken.ad", "[ A = ; B = A + 1; C = C ]");
    for arguments in [
        &["check", JOBS, "--json"][..],
        &["check", JOBS, "--pool", MACHINES, "--json"],
        &["check", &broken, "--json"],
        &["check", "--expr", "A > 1 && A < 0", "--json"],
        &["check", "tests/cases/check/jobs.long", "--json"],
        &["check", "--config", "samples/policies/config.dump", "--json"],
    ] {
        assert_described("check", arguments, false);
    }
    for arguments in [
        &["explain", JOBS, "--pool", MACHINES, "--json"][..],
        &["explain", JOBS, "--pool", MACHINES, "--summary", "--json"],
        &["explain", JOBS, "--pool", MACHINES, "--reverse", "--json"],
        &["explain", JOBS, "--pool", MACHINES, "--what-if", "RequestMemory=1", "--json"],
        &["explain", JOBS, "--pool", MACHINES, "--config", "samples/policies/config.dump", "--json"],
        &[&["explain", "samples/gangs/jobs.ad", "--json"], &gangs[..]].concat(),
        &[&["explain", "samples/license/jobs.ad", "--json"], &licences[..]].concat(),
    ] {
        let found = assert_described("explain", arguments, false);
        assert_eq!(found[0]["schema"], "classad.explain/2");
    }
    let of_cycle = ["tests/pool/cycles/Y1/jobs.long.gz", "--pool", "tests/pool/cycles/Y1/slots.long.gz"];
    let accounts = ["--userprio", "tests/pool/cycles/Y1/userprio.long", "--config", "tests/pool/cycles/Y1/config.dump"];
    assert_described("explain", &[&["explain", "--json"], &of_cycle[..], &accounts[..]].concat(), false);
    let pair = ["explain", JOBS, "--pool", MACHINES, "--request", "106.0", "--offer", "slot1@node01.example.org"];
    assert_described("explain-pair", &[&pair[..], &["--json"]].concat(), false);
    let starts = ["explain", JOBS, "--pool", MACHINES, "--when-start"];
    assert_described("explain-starts", &[&starts[..], &["--run-time", "3600", "--json"]].concat(), false);
    assert_described(
        "explain-starts",
        &[&starts[..], &["--from-history", "tests/cases/history/history", "--json"]].concat(),
        false,
    );
    assert_described("explain-times", &["explain", JOBS, "--pool", MACHINES, "--when", "--json"], false);
    let gang_pair = ["explain", "samples/license/jobs.ad", "--json", "--offer", "host-1"];
    assert_described("explain-pair", &[&gang_pair[..], &licences[..]].concat(), false);
    assert_described("census", &["census", MACHINES, "--json"], false);
    let folder = "tests/pool/cycles/R11b";
    let [jobs, slots] = ["jobs", "slots"].map(|name| format!("{folder}/{name}.long.gz"));
    let cycles = ["negotiate", &jobs, "--pool", &slots, "--policy", "htcondor", "--now", "1795815814", "-o", "json"];
    let of_cycles = ["--cycles", "20", "--run-time", "600", "--config", "tests/pool/cycles/R11b/config.dump"];
    let found = assert_described("cycles", &[&cycles[..], &of_cycles].concat(), false);
    let sum = |what: &str| -> usize {
        let cycles = found[0]["cycles"].as_array().expect("it is a list").iter();
        cycles.map(|cycle| cycle[what].as_array().map_or(0, Vec::len)).sum()
    };
    assert_eq!(found[0]["totals"]["matches"], sum("matches"));
    assert_eq!(found[0]["totals"]["started"], sum("starts"));
    assert_eq!(found[0]["cycles"].as_array().map(Vec::len), Some(20));
    assert_described("cycles", &[&cycles[..], &["--cycles", "1", "--matched", "/dev/null"]].concat(), false);
    assert_described("diff", &["diff", "tests/cases/diff/before.long", "tests/cases/diff/after.long", "--json"], false);
    assert_described("gangs", &[&["gangmatch", "samples/gangs/jobs.ad", "--json"], &gangs[..]].concat(), false);
    assert_described("gangs", &[&["gangmatch", "samples/license/jobs.ad", "--json"], &licences[..]].concat(), false);
    assert_described("notices", &["match", JOBS, "--pool", MACHINES, "--notify", "-", "--with-ads"], true);
    let notices = ["gangmatch", "samples/license/jobs.ad", "--notify", "-"];
    assert_described("notices", &[&notices[..], &licences[..]].concat(), true);
    let spec = file(
        "schemas-spec.yaml",
        "cases:\n- {name: one, expression: 1 + 1, expect: 3}\n- {name: two, expression: 1, expect: 1}\n",
    );
    let tested = assert_described("test", &["test", &spec, "--json"], false);
    assert_eq!(tested[0]["failed"], 1, "{tested:?}");
    let broken = file("schemas-broken.yaml", "cases:\n- {name: one, expr: 1}\n");
    assert_described("test", &["test", &broken, "samples", "--json"], false);
    let route = ["route", "--config", "samples/routes/config.dump", "--json"];
    assert_described("route", &route, false);
    assert_described("route", &[&route[..], &["samples/routes/jobs.long"]].concat(), false);
}

const LICENCES: [&str; 5] =
    ["samples/license/jobs.ad", "--pool", "samples/license/machines.ad", "--pool", "samples/license/licenses.ad"];

/// A run of each command that prints JSON: the schema and the arguments. The first argument is the command.
fn runs() -> Vec<(&'static str, Vec<&'static str>)> {
    let rules = "samples/transform/site.rules";
    let pool = [JOBS, "--pool", MACHINES];
    let claimed = ["tests/cases/claim/notices.jsonl", "--ads", "tests/cases/claim/request.ad", "--ads"];
    let with = |command: &'static str, arguments: &[&'static str]| [&[command], arguments].concat();
    vec![
        ("ads", with("anonymize", &["--key-file", rules, JOBS])),
        ("rows", with("autocluster", &pool)),
        ("ads", with("autocluster", &[&pool[..], &["--requests"]].concat())),
        ("rows", with("autocluster", &[&pool[..], &["--significant"]].concat())),
        ("census", with("census", &[MACHINES])),
        ("check", with("check", &[JOBS])),
        ("rows", with("claim", &[&claimed[..], &["tests/cases/claim/offers.ad", "--at", "1700"]].concat())),
        ("ads", with("collect", &["samples/advertising/machines.ad", "--at", "972223200"])),
        ("ads", with("convert", &[MACHINES])),
        ("diff", with("diff", &["tests/cases/diff/before.long", "tests/cases/diff/after.long"])),
        ("explain", with("explain", &pool)),
        ("rows", with("functions", &[])),
        ("rows", with("functions", &["substr"])),
        ("gangs", with("gangmatch", &LICENCES)),
        ("gang-reports", with("gangmatch", &[&LICENCES[..], &["--explain"]].concat())),
        ("ads", with("gangmatch", &[&LICENCES[..], &["--environment"]].concat())),
        ("rows", with("join", &[JOBS, "--with", JOBS, "--on", "Owner=Owner", "--af", "Owner,TARGET.Cmd"])),
        ("rows", with("match", &[&pool[..], &["--why"]].concat())),
        ("rows", with("negotiate", &[&pool[..], &["--policy", "htcondor"]].concat())),
        ("ads", with("parse", &["samples/license/jobs.ad"])),
        ("parts", with("parts", &["--size", "3K", JOBS])),
        ("ads", with("query", &["true", MACHINES])),
        ("ads", with("query", &["true", MACHINES, "--attributes", "Name,Cpus"])),
        ("rows", with("query", &["true", MACHINES, "--af", "Name,Cpus,{1,Nope},GPUs/0"])),
        ("rows", with("query", &["true", JOBS, "--group-by", "Owner", "--sum", "RequestCpus"])),
        ("rows", with("refs", &[JOBS])),
        ("rows", with("refs", &["--pool", MACHINES, JOBS])),
        ("rows", with("refs", &["--rectangle", JOBS])),
        ("route", with("route", &["--config", "samples/routes/config.dump"])),
        ("cycles", with("negotiate", &[JOBS, "--pool", MACHINES, "--policy", "htcondor", "--cycles", "3"])),
        ("ads", with("sample", &["-n", "2", "--seed", "1", MACHINES])),
        ("ads", with("specialize", &["samples/license/jobs.ad"])),
        ("test", with("test", &["samples"])),
        ("ads", with("transform", &["--rules", rules, JOBS])),
        ("transform", with("transform", &["-n", "--rules", rules, JOBS])),
        ("transform", with("transform", &["-n", "--set", "A = 1", "--delete", "Owner", JOBS])),
    ]
}

/// `split` writes its ads into files.
const WITHOUT_DOCUMENT: [&str; 1] = ["split"];

/// Each command that takes `-o json` has a run above, and prints what its schema says, also line by line.
#[test]
fn every_json_has_a_schema() {
    let runs = runs();
    let (_, commands, _) = classad(&["help", "commands"]);
    let mut with_json = 0;
    for command in commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        let (_, help, _) = classad(&[command, "--help"]);
        if help.contains("      --json\n") && !WITHOUT_DOCUMENT.contains(&command) {
            with_json += 1;
            assert!(
                runs.iter().any(|(_, arguments)| arguments[0] == command),
                "{command} prints JSON without a schema"
            );
        }
    }
    assert!(with_json > 20, "{commands}");
    for (name, arguments) in &runs {
        let whole = assert_described(name, &[&arguments[..], &["-o", "json"]].concat(), false);
        if let Some(all) = whole[0].as_array() {
            assert!(!all.is_empty(), "{arguments:?}");
            // Lines are the elements of the array.
            let (status, lines, _) = classad(&[&arguments[..], &["-o", "jsonl"]].concat());
            if status != Some(2) {
                let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("it is JSON"));
                assert_eq!(&lines.collect::<Vec<_>>(), all, "{arguments:?}");
            }
        } else {
            let version = ["version", "schema", "classad_plan"].iter().find_map(|key| whole[0].get(key));
            assert!(version.is_some(), "{arguments:?}");
        }
    }
    // Every schema is of some run, here or above.
    let (_, list, _) = classad(&["help", "schema"]);
    for line in list.lines().take_while(|line| !line.is_empty()) {
        let name = line.trim().split(' ').next().expect("it has a name");
        let is_run = runs.iter().any(|(of, _)| *of == name)
            || ["explain-pair", "explain-starts", "explain-times", "notices"].contains(&name);
        assert!(is_run, "{name}");
    }
}

/// What is not as a schema says is found.
#[test]
fn documents_that_differ_are_found() {
    let schema = schema("diff");
    let ad = json!({"id": "a", "change": "added", "before": null, "after": 1, "attributes": []});
    let document = |ad: &Value| json!({"version": 1, "changed": 0, "added": 1, "removed": 0, "equal": 0, "ads": [ad]});
    assert_eq!(check(&schema, &schema, &document(&ad), ""), Ok(()));
    for (key, value) in [("change", json!("moved")), ("after", json!(-1)), ("after", json!("1")), ("more", json!(1))] {
        let mut other = ad.clone();
        other[key] = value;
        assert!(check(&schema, &schema, &document(&other), "").is_err(), "{other}");
    }
    let mut shorter = ad.clone();
    shorter.as_object_mut().unwrap().remove("id");
    assert!(check(&schema, &schema, &document(&shorter), "").is_err());
}

#[test]
fn schemas_are_listed() {
    let (status, list, _) = classad(&["help", "schema"]);
    let lines: Vec<&str> = list.lines().take_while(|line| !line.is_empty()).collect();
    assert!(status == Some(0) && lines.len() == 17 && list.contains("Rows and ads have none"), "{list}");
    for line in lines {
        let (name, about) = line.trim().split_once("  ").unwrap();
        assert!(!about.trim().is_empty(), "{line}");
        assert_eq!(schema(name)["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
    let (status, _, told) = classad(&["help", "schema", "chek"]);
    assert!(status == Some(2) && told.contains("there is no schema chek; did you mean check?"), "{told}");
    let (status, _, told) = classad(&["help", "query", "check"]);
    assert!(status == Some(2) && told.contains("give one word"), "{told}");
}
