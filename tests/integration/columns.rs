//! Typed columns in Parquet, beside the rows in JSON.

use std::collections::BTreeMap;
use std::fs;

use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

use crate::binary::{file, run};

/// What a run has written.
struct Written {
    bytes: Vec<u8>,
    stdout: String,
    stderr: String,
    status: Option<i32>,
}

fn classad(arguments: &[&str]) -> Written {
    with_input(arguments, "")
}

fn with_input(arguments: &[&str], input: &str) -> Written {
    let output = run(arguments, input.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    Written { bytes: output.stdout, stdout, stderr, status: output.status.code() }
}

/// Returns the columns of a Parquet file with their types, and its rows.
fn columns(bytes: Vec<u8>) -> (Vec<String>, Vec<BTreeMap<String, Field>>) {
    let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    let schema = reader.metadata().file_metadata().schema().get_fields().to_vec();
    let types = schema.iter().map(|field| format!("{}: {:?}", field.name(), field.get_physical_type())).collect();
    let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns().into_iter().collect());
    (types, rows.collect())
}

/// Whether a field has the value that the row in JSON has.
fn agrees(field: &Field, value: &Value) -> bool {
    match field {
        Field::Null => value.is_null() || *value == "/Expr(error)/",
        Field::Bool(boolean) => *value == *boolean,
        Field::Long(integer) => *value == *integer,
        Field::Double(real) => value.as_f64() == Some(*real),
        Field::Str(text) => *text == value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        other => panic!("{other:?}"),
    }
}

/// Compares the columns with the rows in JSON. Returns the columns with their types, and the notes.
#[track_caller]
fn compare(arguments: &[&str]) -> (Vec<String>, String) {
    let written = classad(&[arguments, &["-o", "parquet"]].concat());
    let rows = classad(&[arguments, &["-o", "jsonl"]].concat());
    let (types, columns) = columns(written.bytes.clone());
    let rows: Vec<Value> = rows.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(columns.len(), rows.len(), "{arguments:?}");
    for (fields, row) in columns.iter().zip(&rows) {
        for (name, field) in fields {
            assert!(agrees(field, &row[name]), "{name}: {field:?} {:?}", row[name]);
        }
    }
    (types, written.stderr)
}

#[test]
fn columns_have_the_values_of_the_rows() {
    let af = "Name,Memory,LoadAvg,HasFileTransfer,half=Memory/2.0,mixed=ifThenElse(Memory>8000,\"a\",1),both=ifThenElse(Cpus>2,1,0.5),none=Nope,bad=1/0";
    let (types, notes) = compare(&["query", "true", "samples/pool/machines.long", "--af", af]);
    assert_eq!(
        types,
        [
            "Name: BYTE_ARRAY",
            "Memory: INT64",
            "LoadAvg: DOUBLE",
            "HasFileTransfer: BOOLEAN",
            "half: DOUBLE",
            "mixed: BYTE_ARRAY",
            "both: DOUBLE",
            "none: BYTE_ARRAY",
            "bad: BYTE_ARRAY"
        ]
    );
    assert!(notes.contains("column `mixed` is text, because it has 9 integers and 3 strings"), "{notes}");
    assert!(notes.contains("column `bad`: null replaces 12 errors"), "{notes}");
    compare(&[
        "query",
        "Cpus > 2",
        "samples/pool/machines.long",
        "--af",
        "Name,Cpus",
        "--sort",
        "-Memory",
        "--limit",
        "3",
    ]);
    compare(&["query", "true", "samples/pool/machines.long", "--af", "Machine,OpSys", "--distinct"]);
}

#[test]
fn rows_are_written_in_groups() {
    let ads: Vec<String> = (0..140_000).map(|number| format!("a = {number}\nb = \"{}\"\n\n", number / 7)).collect();
    let ads = ads.concat();
    let path = file("columns-groups.long", &ads);
    let written = classad(&["query", "true", &path, "--af", "a,b", "-o", "parquet"]);
    let (_, rows) = columns(written.bytes);
    assert_eq!(rows.len(), 140_000);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row["a"], Field::Long(i64::try_from(number).unwrap()));
        assert_eq!(row["b"], Field::Str((number / 7).to_string()));
    }
}

#[test]
fn a_schema_gives_the_types() {
    let ads = file("columns.long", "a = 1\nt = 86400\n\na = \"x\"\nt = 2.5\n\nb = 1\n\n");
    let schema = file("columns-schema.json", json!({ "A": "integer", "t": "timestamp" }).to_string());
    let written = classad(&["query", "true", &ads, "--af", "a,t", "-o", "parquet", "--schema", &schema]);
    let (types, rows) = columns(written.bytes);
    assert_eq!(types, ["a: INT64", "t: INT64"]);
    assert_eq!(rows[0]["a"], Field::Long(1));
    assert_eq!(rows[0]["t"], Field::TimestampMillis(86_400_000));
    assert_eq!([&rows[1]["a"], &rows[1]["t"], &rows[2]["a"]], [&Field::Null; 3]);
    assert!(
        written.stderr.contains("column `a` is of type integer: null replaces 1 value of other types"),
        "{}",
        written.stderr
    );
    // With --strict, what is lost is an error.
    let strict = classad(&["query", "true", &ads, "--af", "a", "-o", "parquet", "--schema", &schema, "--strict"]);
    assert_eq!(strict.status, Some(2));
    // A census is a schema, also for what can be read only once.
    let census = classad(&["census", "-o", "json", "samples/pool/machines.long"]);
    let census = file("columns-census.json", &census.stdout);
    let command = ["query", "true", "--af", "Name,Memory", "-o", "parquet"];
    let input = fs::read_to_string("samples/pool/machines.long").unwrap();
    let piped = with_input(&[&command[..], &["--schema", &census]].concat(), &input);
    assert_eq!(columns(piped.bytes).0, ["Name: BYTE_ARRAY", "Memory: INT64"]);
    let unknown = with_input(&command, &input);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.stderr.contains("give the types of columns with --schema"), "{}", unknown.stderr);
}

#[test]
fn convert_writes_the_columns_of_query() {
    let columns = ["--columns", "Name,half=Memory/2", "samples/pool/machines.long"];
    let converted = classad(&[&["convert", "--to", "parquet"], &columns[..]].concat());
    let queried = ["query", "true", "--af", "Name,half=Memory/2", "-o", "parquet", "samples/pool/machines.long"];
    assert_eq!(converted.bytes, classad(&queried).bytes);
    assert!(converted.bytes.starts_with(b"PAR1"));
}

#[test]
fn what_has_no_typed_columns_is_refused() {
    let file = "samples/pool/machines.long";
    for (arguments, message) in [
        (vec!["query", "true", file, "-o", "parquet"], "-o parquet needs columns: name them with --af"),
        (vec!["query", "true", file, "-o", "parquet", "--af", "a", "--partial"], "cannot be combined"),
        (vec!["query", "true", file, "-o", "parquet", "--af", "a,A"], "two columns have the name `A`"),
        (vec!["query", "true", file, "-o", "csv", "--af", "a", "--schema", "x"], "-o parquet"),
        (vec!["query", "true", file, "-o", "parquet", "--af", "a", "--schema", file], "is not a schema"),
        (
            vec!["query", "true", file, "--group-by", "a", "-o", "parquet"],
            "-o parquet cannot be combined with --group-by",
        ),
        (vec!["convert", "--to", "parquet", file], "--to parquet needs columns"),
        (vec!["convert", "--to", "json", "--columns", "a", file], "--columns needs --to parquet"),
        (vec!["join", file, "--with", file, "--on", "Name=Name", "-o", "parquet"], "parquet"),
    ] {
        let output = classad(&arguments);
        assert_eq!(output.status, Some(2), "{arguments:?}");
        assert!(output.stderr.contains(message), "{arguments:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
}

#[test]
fn separated_values_and_json_tell_undefined_and_errors() {
    let rows = |form: &[&str]| {
        let arguments = [
            "query",
            "Name == \"slot1@node01.example.org\"",
            "samples/pool/machines.long",
            "--af",
            "n=Nope,e=1/0,s=\"error\"",
        ];
        classad(&[&arguments[..], form].concat()).stdout
    };
    assert_eq!(rows(&["-o", "csv"]), "n,e,s\nundefined,error,error\n");
    assert_eq!(rows(&["-o", "csv", "--null", ""]), "n,e,s\n,error,error\n");
    assert_eq!(rows(&["-o", "tsv", "--null", "NA"]), "n\te\ts\nNA\terror\terror\n");
    assert_eq!(rows(&["-o", "jsonl"]), "{\"n\":null,\"e\":\"/Expr(error)/\",\"s\":\"error\"}\n");
}
