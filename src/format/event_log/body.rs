//! The text of an event behind its time, and the attributes that it gives.

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Value};
use crate::syntax::{ParseOptions, parse_expression, simple_literal};

use super::known_lines::{HEADS, LABELS, LINES, TRANSFERS};

/// The numbers of the events that the lines of a body depend on.
mod number {
    pub const SUBMIT: u16 = 0;
    pub const EXECUTE: u16 = 1;
    pub const EVICTED: u16 = 4;
    pub const GENERIC: u16 = 8;
    pub const HELD: u16 = 12;
    pub const NODE_EXECUTE: u16 = 14;
    pub const REMOTE_ERROR: u16 = 21;
    pub const DISCONNECTED: u16 = 22;
    pub const RECONNECT_FAILED: u16 = 24;
    pub const AD_INFORMATION: u16 = 28;
    pub const ATTRIBUTE_UPDATE: u16 = 33;
    pub const CLUSTER_SUBMIT: u16 = 35;
}

/// The attributes of an event, while its lines are read.
pub struct EventBody {
    number: u16,
    dialect: Dialect,
    attributes: Vec<(Name, Expression)>,
    /// The attributes of the slot, for `ExecuteProps`.
    properties: Vec<(Name, Expression)>,
    /// Where the columns of the table of resources end: usage, request, allocated, assigned. Empty outside the table.
    columns: Vec<usize>,
    /// Number of lines read that are not known ones.
    free_lines: usize,
    /// The lines that no attribute has.
    payload: Vec<String>,
}

impl EventBody {
    pub fn new(number: u16, dialect: Dialect) -> Self {
        EventBody {
            number,
            dialect,
            attributes: Vec::new(),
            properties: Vec::new(),
            columns: Vec::new(),
            free_lines: 0,
            payload: Vec::new(),
        }
    }

    /// Reads the text behind the time of the event.
    pub fn read_head(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        if self.number == number::GENERIC {
            return self.push_text("Info", &text);
        }
        if let Some((number, _)) = (1..).zip(TRANSFERS).find(|(_, transfer)| *transfer == text) {
            return self.push("Type", Value::Integer(number));
        }
        if self.number == number::ATTRIBUTE_UPDATE && self.read_update(&text) {
            return;
        }
        match HEADS.iter().find_map(|(begin, name)| Some((*name, text.strip_prefix(begin)?))) {
            Some(("Node", rest)) => {
                let (node, host) = rest.split_once(" executing on host: ").unwrap_or((rest.trim_end_matches('.'), ""));
                self.push_number("Node", node.split(' ').next().unwrap_or(node));
                if !host.is_empty() {
                    self.push_text("ExecuteHost", host);
                }
            }
            Some(("Size", size)) => self.push_number("Size", size),
            Some(("", "")) => {}
            // Of an evicted job, the codes of the reason stand in the first line.
            Some(("", rest)) => self.read_line(rest.as_bytes()),
            Some((name, rest)) => self.push_text(name, rest),
            None => self.push_text("EventHead", &text),
        }
        match self.number {
            number::DISCONNECTED => self.push_text("EventDescription", "Job disconnected, attempting to reconnect"),
            number::RECONNECT_FAILED => {
                self.push_text("EventDescription", "Job reconnect impossible: rescheduling job");
            }
            number::HELD => {
                self.push("HoldReasonCode", Value::Integer(0));
                self.push("HoldReasonSubCode", Value::Integer(0));
            }
            _ => {}
        }
    }

    /// Reads a further line of the event.
    pub fn read_line(&mut self, line: &[u8]) {
        let whole = String::from_utf8_lossy(line);
        let text = whole.trim();
        if text.is_empty() {
            return;
        }
        if self.read_resources(&whole) || self.read_known_line(text) {
            return;
        }
        self.free_lines += 1;
        let is_first = self.free_lines == 1;
        match self.number {
            number::SUBMIT | number::CLUSTER_SUBMIT => {
                let warning = "WARNING: Committed job submission into the queue with the following warning(s): ";
                match (text.strip_prefix(warning), self.free_lines) {
                    (Some(warnings), _) => self.push_text("Warnings", warnings),
                    (None, 1) => self.push_text("LogNotes", text),
                    (None, 2) => self.push_text("UserNotes", text),
                    _ => self.payload.push(text.to_owned()),
                }
            }
            number::HELD if is_first => {
                if text != "Reason unspecified" {
                    self.push_text("HoldReason", text);
                }
            }
            7 if is_first => self.push_text("Message", text),
            number::EVICTED | 9 | 13 | number::RECONNECT_FAILED | 37 | 38 if is_first => self.push_text("Reason", text),
            number::DISCONNECTED if is_first => self.push_text("DisconnectReason", text),
            36 if is_first => self.push_text("Notes", text),
            number::REMOTE_ERROR if is_first => self.push_text("ErrorMsg", text),
            _ => self.payload.push(text.to_owned()),
        }
    }

    /// Reads a line that means the same wherever it stands. Returns false for any other line.
    fn read_known_line(&mut self, text: &str) -> bool {
        if matches!(self.number, number::AD_INFORMATION | number::EXECUTE | number::NODE_EXECUTE)
            && let Some(attribute) = self.parse_attribute(text)
        {
            let of_ad = self.number == number::AD_INFORMATION;
            if of_ad { &mut self.attributes } else { &mut self.properties }.push(attribute);
            return true;
        }
        if let Some((value, label)) = text.split_once("  -  ")
            && let Some((_, name, is_real)) = LABELS.iter().find(|(begin, _, _)| label.starts_with(begin))
        {
            if value.starts_with("Usr ") {
                self.push_text(name, value);
            } else if let Some(real) = value.trim().parse().ok().filter(|_| *is_real) {
                self.push(name, Value::Real(real));
            } else {
                self.push_number(name, value.trim());
            }
            return true;
        }
        let is_submission = matches!(self.number, number::SUBMIT | number::CLUSTER_SUBMIT);
        if is_submission && let Some(node) = text.strip_prefix("DAG Node: ") {
            let notes: Ad = [(Name::new("DAGNodeName"), text_value(node))].into_iter().collect();
            self.push_text("LogNotes", text);
            self.attributes.push((Name::new("StructuredNotes"), ExpressionKind::Ad(notes).into()));
            return true;
        }
        if let Some((name, rest)) = LINES.iter().find_map(|(begin, name)| Some((*name, text.strip_prefix(begin)?))) {
            match name {
                "QueueingDelay" | "NumberOfPIDs" | "PauseCode" | "HoldCode" => self.push_number(name, rest),
                _ => self.push_text(name, rest),
            }
            return true;
        }
        if let Some((code, subcode)) = text.strip_prefix("Code ").and_then(|codes| codes.split_once(" Subcode ")) {
            let prefix = if self.number == number::EVICTED { "Reason" } else { "HoldReason" };
            self.push_number(&format!("{prefix}Code"), code);
            self.push_number(&format!("{prefix}SubCode"), subcode);
            return true;
        }
        if let Some((name, address)) =
            text.strip_prefix("Trying to reconnect to ").and_then(|rest| rest.split_once(' '))
        {
            self.push_text("StartdName", name);
            self.push_text("StartdAddr", address);
            return true;
        }
        if let Some(rest) = text.strip_prefix("Can not reconnect to ") {
            self.push_text("StartdName", rest.trim_end_matches(", rescheduling job"));
            return true;
        }
        self.read_outcome(text)
    }

    /// Reads a line that begins with `(0)` or `(1)`, or that says how the job ended. Returns false for any other line.
    fn read_outcome(&mut self, text: &str) -> bool {
        if let Some(rest) = text.strip_prefix("Job terminated of its own accord at ") {
            return self.read_own_end(rest.trim_end_matches('.'));
        }
        let (is_true, rest) = match text.as_bytes() {
            [b'(', digit @ (b'0' | b'1'), b')', b' ', ..] => (*digit == b'1', &text[4..]),
            _ => return false,
        };
        let code = |begin: &str| rest.strip_prefix(begin)?.trim_end_matches(')').parse::<i64>().ok();
        if let Some(value) = code("Normal termination (return value ") {
            self.push("TerminatedNormally", Value::Boolean(true));
            self.push("ReturnValue", Value::Integer(value));
        } else if let Some(signal) = code("Abnormal termination (signal ") {
            self.push("TerminatedNormally", Value::Boolean(false));
            self.push("TerminatedBySignal", Value::Integer(signal));
        } else if self.number == number::EVICTED && !rest.starts_with("No core file") {
            let is_requeued = rest.contains("requeued");
            self.push("Checkpointed", Value::Boolean(is_true && !is_requeued));
            self.push("TerminatedAndRequeued", Value::Boolean(is_requeued));
            self.push("TerminatedNormally", Value::Boolean(false));
        } else {
            return rest.starts_with("No core file");
        }
        true
    }

    /// Reads `TIME with exit-code N` or `TIME with signal N`, and adds the ticket of execution.
    fn read_own_end(&mut self, text: &str) -> bool {
        let Some((time, outcome)) = text.split_once(" with ") else { return false };
        let (is_signal, code) = match (outcome.strip_prefix("exit-code "), outcome.strip_prefix("signal ")) {
            (Some(code), _) => (false, code),
            (_, Some(code)) => (true, code),
            _ => return false,
        };
        let Ok(code) = code.parse::<i64>() else { return false };
        let literal = |name: &str, value: Value| (Name::new(name), Expression::literal(value));
        let mut ticket = vec![
            literal("Who", Value::string(b"itself")),
            literal("How", Value::string(b"OF_ITS_OWN_ACCORD")),
            literal("HowCode", Value::Integer(0)),
        ];
        if let Some(time) = crate::ad::AbsoluteTime::parse(time) {
            ticket.push(literal("When", Value::Integer(time.seconds)));
        }
        ticket.push(literal("ExitBySignal", Value::Boolean(is_signal)));
        ticket.push(literal(if is_signal { "ExitSignal" } else { "ExitCode" }, Value::Integer(code)));
        let ticket: Ad = ticket.into_iter().collect();
        self.attributes.push((Name::new("ToE"), ExpressionKind::Ad(ticket).into()));
        true
    }

    /// Reads a line of the table of resources. Returns false for any other line.
    fn read_resources(&mut self, line: &str) -> bool {
        let Some((label, cells)) = line.split_once(" :") else {
            self.columns.clear();
            return false;
        };
        if label.trim() == "Partitionable Resources" {
            self.columns = words(cells).map(|(_, end)| label.len() + end).collect();
            return !self.columns.is_empty();
        }
        if self.columns.is_empty() {
            return false;
        }
        let resource = label.trim().split(" (").next().unwrap_or_default();
        for (cell, end) in words(cells) {
            let end = label.len() + end;
            // A cell that is wider than its column ends behind it. The last column, assigned, is not aligned.
            let column = self.columns.iter().position(|column| end <= *column).unwrap_or(self.columns.len() - 1);
            let name = match column {
                0 => format!("{resource}Usage"),
                1 => format!("Request{resource}"),
                2 => resource.to_owned(),
                _ => format!("Assigned{resource}"),
            };
            let value = simple_literal(cell.as_bytes()).unwrap_or_else(|| text_value(cell.trim_matches('"')));
            self.attributes.push((Name::new(&name), value));
        }
        true
    }

    /// Reads `Changing job attribute NAME from OLD to NEW` or `Setting job attribute NAME to NEW`.
    fn read_update(&mut self, text: &str) -> bool {
        let changing = text.strip_prefix("Changing job attribute ").and_then(|rest| rest.split_once(" from "));
        let setting = text.strip_prefix("Setting job attribute ").and_then(|rest| rest.split_once(" to "));
        let (name, value) = match (changing, setting) {
            (Some((name, values)), _) => match values.split_once(" to ") {
                Some((_, value)) => (name, value),
                None => return false,
            },
            (_, Some(setting)) => setting,
            _ => return false,
        };
        self.push_text("Attribute", name);
        self.push_text("Value", value);
        true
    }

    /// Parses `NAME = VALUE`. `None` if the line is not an attribute.
    fn parse_attribute(&self, text: &str) -> Option<(Name, Expression)> {
        let (name, value) = text.split_once('=')?;
        let name = name.trim();
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let value = parse_expression(value.as_bytes(), ParseOptions::long(self.dialect)).ok().filter(|_| is_name)?;
        Some((Name::new(name), value))
    }

    fn push(&mut self, name: &str, value: Value) {
        self.attributes.push((Name::new(name), Expression::literal(value)));
    }

    fn push_text(&mut self, name: &str, text: &str) {
        self.attributes.push((Name::new(name), text_value(text)));
    }

    /// Adds a number, or the text if it is none.
    fn push_number(&mut self, name: &str, text: &str) {
        let value = simple_literal(text.as_bytes()).unwrap_or_else(|| text_value(text));
        self.attributes.push((Name::new(name), value));
    }

    /// Returns the attributes of the event. Of attributes with the same name the last one counts.
    pub fn into_attributes(mut self) -> Vec<(Name, Expression)> {
        if !self.properties.is_empty() {
            let properties: Ad = self.properties.into_iter().collect();
            self.attributes.push((Name::new("ExecuteProps"), ExpressionKind::Ad(properties).into()));
        }
        if !self.payload.is_empty() {
            self.attributes.push((Name::new("EventPayloadLines"), text_value(&self.payload.join("\n"))));
        }
        self.attributes
    }
}

fn text_value(text: &str) -> Expression {
    Expression::literal(Value::string(text.as_bytes()))
}

/// Returns the words of a text, each with the offset of its end in bytes.
fn words(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut end = 0;
    text.split(' ').filter_map(move |word| {
        end += word.len() + 1;
        let trimmed = word.trim();
        (!trimmed.is_empty()).then(|| (trimmed, end - 1))
    })
}
