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
    let pair = ["explain", JOBS, "--pool", MACHINES, "--request", "106.0", "--offer", "slot1@node01.example.org"];
    assert_described("explain-pair", &[&pair[..], &["--json"]].concat(), false);
    let gang_pair = ["explain", "samples/license/jobs.ad", "--json", "--offer", "host-1"];
    assert_described("explain-pair", &[&gang_pair[..], &licences[..]].concat(), false);
    assert_described("census", &["census", MACHINES, "--json"], false);
    assert_described("diff", &["diff", "tests/cases/diff/before.long", "tests/cases/diff/after.long", "--json"], false);
    assert_described("gangs", &[&["gangmatch", "samples/gangs/jobs.ad", "--json"], &gangs[..]].concat(), false);
    assert_described("gangs", &[&["gangmatch", "samples/license/jobs.ad", "--json"], &licences[..]].concat(), false);
    assert_described("notices", &["match", JOBS, "--pool", MACHINES, "--notify", "-", "--with-ads"], true);
    let notices = ["gangmatch", "samples/license/jobs.ad", "--notify", "-"];
    assert_described("notices", &[&notices[..], &licences[..]].concat(), true);
    let spec = file(
        "schemas-spec.yaml",
        "cases:\n- name: one\n  expr: 1 + 1\n  value: 3\n- name: two\n  expr: 1\n  value: 1\n",
    );
    assert_described("test", &["test", &spec, "samples", "--json"], false);
    let route = ["route", "--config", "samples/routes/config.dump", "--json"];
    assert_described("route", &route, false);
    assert_described("route", &[&route[..], &["samples/routes/jobs.long"]].concat(), false);
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
    assert!(status == Some(0) && list.lines().count() == 9, "{list}");
    for line in list.lines() {
        let (name, about) = line.trim().split_once("  ").unwrap();
        assert!(!about.trim().is_empty(), "{line}");
        assert_eq!(schema(name)["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
    let (status, _, told) = classad(&["help", "schema", "chek"]);
    assert!(status == Some(2) && told.contains("there is no schema chek; did you mean check?"), "{told}");
    let (status, _, told) = classad(&["help", "query", "check"]);
    assert!(status == Some(2) && told.contains("one word too many"), "{told}");
}
