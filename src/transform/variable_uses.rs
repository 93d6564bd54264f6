//! Check of the variables of a rules file: each variable that is used should be given a value.

use std::ops::Range;

use crate::ad::closest_names;
use crate::format::Problem;

use super::keywords::{error, is_variable};
use super::logical_line::LogicalLine;
use super::macro_function;
use super::macros::{self, VariableTable};

/// The variables that the lines read so far define and use.
pub(super) struct VariableUses {
    /// Variables that are given a value.
    defined: Vec<String>,
    /// Variables used without a default, with their range in the file.
    used: Vec<(String, Range<usize>)>,
    /// Variables that the rules find besides their own.
    outer: VariableTable,
    /// Whether variables get values whose names are not known, as by `x$(y) = 1`.
    defines_any: bool,
}

/// Variables that are defined in every rule.
const BUILT_IN_VARIABLES: [&str; 10] = [
    "Row",
    "Step",
    "ItemIndex",
    "Iterating",
    "XFormId",
    "DOLLAR",
    "IsClusterAd",
    "IsLinux",
    "IsWindows",
    "LateMaterialization",
];

impl VariableUses {
    /// Creates the record for rules that find these variables besides their own.
    pub fn new(outer: &VariableTable, shared: &[String]) -> Self {
        let defined = BUILT_IN_VARIABLES.map(str::to_owned).into_iter().chain(shared.iter().cloned()).collect();
        VariableUses { defined, used: Vec::new(), outer: outer.clone(), defines_any: false }
    }

    /// Records that some variables are given values, no matter which.
    pub fn define_any(&mut self) {
        self.defines_any = true;
    }

    /// Records a variable that is given a value.
    pub fn define(&mut self, name: &str) {
        self.defined.push(name.to_owned());
    }

    /// Records the variables that a line uses after the byte offset `start`. Returns a problem for each function that
    /// is written in the wrong case or is not supported. Uses of variables that are sure to have a value are not recorded.
    pub fn check_macros(&mut self, line: &LogicalLine, start: usize, is_sure: &dyn Fn(&str) -> bool) -> Vec<Problem> {
        let text = &line.text[start..];
        for found in macros::find_macros(text.as_bytes()) {
            let name = &text[found.body.clone()];
            let plain = found.function.is_empty() && found.default.is_none() && is_variable(name);
            let attribute = name.get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case("MY."));
            if plain && !attribute && !is_sure(name) {
                let place = line.file_range(start + found.body.start..start + found.body.end);
                self.used.push((name.to_owned(), place));
            }
        }
        // A `$name(` after the last `)` is plain text, because no parenthesis closes it.
        let last = text.rfind(')').unwrap_or(0);
        let mistake = |(dollar, _): (usize, &str)| {
            let name = &text[dollar + 1..];
            let word = &name[..name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len())];
            let open = dollar + 1 + word.len();
            let problem = |message| line.locate(error(start + dollar..start + open, message));
            if !text[open..].starts_with('(') {
                return None;
            }
            let meant = macro_function::intended_function(word)?;
            Some(problem(format!("${word}() is not a function: write ${meant}()")).as_warning())
        };
        text[..last].match_indices('$').filter_map(mistake).collect()
    }

    /// Returns a warning for each use of a variable that nothing gives a value.
    pub fn without_value(&self) -> impl Iterator<Item = Problem> + '_ {
        let is_defined =
            |name: &str| self.outer.contains(name) || self.defined.iter().any(|known| known.eq_ignore_ascii_case(name));
        let unsure = self.used.iter().filter(|_| !self.defines_any);
        unsure.filter(move |(name, _)| !is_defined(name)).map(|(name, place)| {
            let near = closest_names(name, self.defined.iter().map(String::as_str).chain(self.outer.names()));
            let help = match near.first() {
                Some(near) => format!("did you mean $({near})?"),
                None => {
                    format!("write `$({name}:...)` to give a default, or `$(MY.{name})` for the attribute of the ad")
                }
            };
            let message = format!("the variable {name} has no value and is replaced by an empty string");
            error(place.clone(), message).with_help(help).as_warning()
        })
    }
}
