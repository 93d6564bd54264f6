//! JSON for scripts: values of ads, and objects written one after the other.

use std::io::{self, Write};

use classad::ad::Value;
use classad::syntax::{Style, print_value};
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
        other => String::from_utf8_lossy(&print_value(other, Style::New)).into(),
    }
}

/// Writes JSON values as one array, or one a line for [`OutputForm::Jsonl`].
pub fn write_json_array(
    out: &mut dyn Write,
    form: OutputForm,
    values: impl Iterator<Item = impl Serialize>,
) -> io::Result<()> {
    let mut writer = JsonValueWriter::new(form);
    for value in values {
        writer.write(out, &value)?;
    }
    writer.finish(out)
}

/// Writes JSON values one after the other, as one array or one a line.
pub struct JsonValueWriter {
    /// Whether each value is a line of its own, instead of an element of an array.
    is_line_per_value: bool,
    is_empty: bool,
}

impl JsonValueWriter {
    pub fn new(form: OutputForm) -> Self {
        JsonValueWriter { is_line_per_value: form == OutputForm::Jsonl, is_empty: true }
    }

    pub fn write(&mut self, out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        match (self.is_line_per_value, is_first) {
            (true, _) => {}
            (false, true) => out.write_all(b"[\n")?,
            (false, false) => out.write_all(b",\n")?,
        }
        serde_json::to_writer(&mut *out, value)?;
        if self.is_line_per_value { writeln!(out) } else { Ok(()) }
    }

    /// Writes the end of the array.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        match (self.is_line_per_value, self.is_empty) {
            (true, _) => Ok(()),
            (false, true) => writeln!(out, "[]"),
            (false, false) => writeln!(out, "\n]"),
        }
    }
}
