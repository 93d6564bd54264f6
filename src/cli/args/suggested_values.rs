//! Values that completions offer for an argument that takes any text.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

/// Parser that takes any text, and lists some values for completions. The command reports a text that it does not know,
/// with more to say than clap.
#[derive(Clone, Copy)]
pub struct SuggestedValues(pub fn() -> Vec<PossibleValue>);

impl TypedValueParser for SuggestedValues {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, text: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}
