//! Reads the ad of a job.

use crate::ad::{Ad, Value};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;

use super::distance::as_number;

/// Reads the ad of a job.
pub struct JobReader<'r> {
    pub ad: &'r Ad,
    pub context: &'r Context,
}

impl JobReader<'_> {
    pub fn number(&self, name: &str) -> Option<i64> {
        match evaluate_attribute(self.ad, &name.into(), self.context) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        }
    }

    /// Returns a number, an integer or a real.
    pub fn amount(&self, name: &str) -> Option<f64> {
        evaluate_attribute(self.ad, &name.into(), self.context).as_ref().and_then(as_number)
    }

    /// Returns the number of the job as HTCondor's tools take it, with a blank before it; empty if the ad does not tell.
    pub fn id(&self) -> String {
        match (self.number("ClusterId"), self.number("ProcId")) {
            (Some(cluster), Some(process)) => format!(" {cluster}.{process}"),
            _ => String::new(),
        }
    }

    pub fn text(&self, name: &str) -> Option<String> {
        match evaluate_attribute(self.ad, &name.into(), self.context) {
            Some(Value::String(text)) => Some(text.to_str().trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    pub fn is_true(&self, name: &str) -> bool {
        evaluate_attribute(self.ad, &name.into(), self.context) == Some(Value::Boolean(true))
    }
}
