//! JSON for scripts: values of ads, and objects written one after the other.

use std::io::{self, Write};

use classad::ad::Value;
use serde::Serialize;

use super::output::OutputForm;

/// Two records as one object. The fields of `head` come first.
#[derive(Serialize)]
pub struct JoinedRecord<H, T> {
    #[serde(flatten)]
    pub head: H,
    #[serde(flatten)]
    pub tail: T,
}

/// Converts a value to JSON. A value that JSON cannot express becomes its text.
pub fn value_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Boolean(is) => (*is).into(),
        Value::Integer(integer) => (*integer).into(),
        Value::Real(real) if real.is_finite() => (*real).into(),
        Value::String(text) => text.to_str().into(),
        other => other.to_string().into(),
    }
}

/// Writes a value over several lines, in one piece: each of the small pieces of a value would lock standard output.
pub fn write_json_value(out: &mut dyn Write, value: &serde_json::Value) -> io::Result<()> {
    out.write_all(format!("{value:#}\n").as_bytes())
}

/// Writes records as one JSON document: an object with the counts, and then an array named `key` of all records. For
/// [`OutputForm::Jsonl`], writes each record as a line instead, without the counts.
pub fn write_json_document(
    out: &mut dyn Write,
    form: OutputForm,
    counts: &[(&str, usize)],
    key: &str,
    records: impl Iterator<Item = impl Serialize>,
) -> io::Result<()> {
    let mut writer = JsonValueWriter::new(form);
    if !writer.is_line_per_value {
        write!(out, "{{\"version\":1,")?;
        counts.iter().try_for_each(|(name, count)| write!(out, "\"{name}\":{count},"))?;
        write!(out, "\"{key}\":")?;
    }
    for record in records {
        writer.write(out, &record)?;
    }
    writer.finish(out)?;
    if writer.is_line_per_value { Ok(()) } else { writeln!(out, "}}") }
}

/// Writes JSON values one after the other, as one array or one a line.
pub struct JsonValueWriter {
    /// Whether each value is a line of its own, instead of an element of an array.
    is_line_per_value: bool,
    is_empty: bool,
    /// Buffer for the text of one value. Serializers write in small pieces, and each piece would lock standard output.
    text: Vec<u8>,
}

impl JsonValueWriter {
    pub fn new(form: OutputForm) -> Self {
        JsonValueWriter { is_line_per_value: form == OutputForm::Jsonl, is_empty: true, text: Vec::new() }
    }

    pub fn write(&mut self, out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        self.text.clear();
        if !self.is_line_per_value {
            self.text.extend_from_slice(if is_first { b"[\n" } else { b",\n" });
        }
        serde_json::to_writer(&mut self.text, value)?;
        if self.is_line_per_value {
            self.text.push(b'\n');
        }
        out.write_all(&self.text)
    }

    /// Writes the end of the array. Writes nothing if each value is a line of its own.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        match (self.is_line_per_value, self.is_empty) {
            (true, _) => Ok(()),
            (false, true) => writeln!(out, "[]"),
            (false, false) => writeln!(out, "\n]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::{Span, Value};

    use super::{JsonValueWriter, OutputForm, value_json, write_json_document};

    #[test]
    fn values_of_json_are_themselves() {
        for (value, expected) in [
            (Value::Boolean(false), "false"),
            (Value::Integer(-7), "-7"),
            (Value::Real(1.0), "1.0"),
            (Value::Real(f64::INFINITY), "\"real(\\\"INF\\\")\""),
            (Value::string("a\"b"), "\"a\\\"b\""),
            (Value::Undefined, "\"undefined\""),
            (Value::error(Span::default(), "wrong"), "\"error\""),
        ] {
            assert_eq!(value_json(&value).to_string(), expected);
        }
    }

    #[test]
    fn values_stand_in_a_list_or_in_lines() {
        for (form, values, expected) in [
            (OutputForm::Json, &[][..], "[]\n"),
            (OutputForm::Json, &[1], "[\n1\n]\n"),
            (OutputForm::Json, &[1, 2, 3], "[\n1,\n2,\n3\n]\n"),
            (OutputForm::Jsonl, &[], ""),
            (OutputForm::Jsonl, &[1, 2], "1\n2\n"),
        ] {
            let (mut out, mut writer) = (Vec::new(), JsonValueWriter::new(form));
            for value in values {
                writer.write(&mut out, value).unwrap();
            }
            writer.finish(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{form:?}");
        }
    }

    #[test]
    fn a_document_has_numbers_before_its_records() {
        let record = |number: i32| serde_json::json!({ "a": number });
        for (form, counts, records, expected) in [
            (OutputForm::Json, &[][..], 0, "{\"version\":1,\"rows\":[]\n}\n"),
            (
                OutputForm::Json,
                &[("all", 5), ("some", 0)],
                1,
                "{\"version\":1,\"all\":5,\"some\":0,\"rows\":[\n{\"a\":0}\n]\n}\n",
            ),
            (OutputForm::Json, &[("all", 2)], 2, "{\"version\":1,\"all\":2,\"rows\":[\n{\"a\":0},\n{\"a\":1}\n]\n}\n"),
            (OutputForm::Jsonl, &[("all", 2)], 0, ""),
            (OutputForm::Jsonl, &[("all", 2)], 2, "{\"a\":0}\n{\"a\":1}\n"),
        ] {
            let mut out = Vec::new();
            write_json_document(&mut out, form, counts, "rows", (0..records).map(record)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{form:?} {records}");
        }
    }
}
