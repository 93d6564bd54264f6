//! Expander of macros in the texts of rules.
//!
//! A text of the ad is expanded again, as in HTCondor. It reads no environment variable then, unless it is allowed to,
//! and it ends no string in which a rule puts it.

use std::ops::Range;
use std::sync::Arc;

use crate::ad::{ExpressionKind, Name, Value};
use crate::eval::Context;
use crate::syntax::{ParseOptions, Style, print};

use super::edited_ad::EditedAd;
use super::macro_function;
use super::macros::{
    DOLLAR, MacroReference, MacroText, MacroVariables, StatementFailure, VariableTable, endless_expansion, find_macro,
    replace_dollars,
};
use super::string_state::StringState;

/// Which texts may read environment variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EnvironmentReaders {
    /// None.
    Nobody,
    /// The rules, but no ad.
    Rules,
    /// The rules and the ads.
    Everybody,
}

impl EnvironmentReaders {
    fn allows(self, is_of_ad: bool) -> bool {
        match self {
            EnvironmentReaders::Nobody => false,
            EnvironmentReaders::Rules => !is_of_ad,
            EnvironmentReaders::Everybody => true,
        }
    }
}

/// Macro expander for one ad.
pub(super) struct MacroExpander<'a, 'u> {
    variables: &'a MacroVariables,
    outer_variables: &'a VariableTable,
    pub ad: &'a mut EditedAd<'u>,
    pub context: &'a Context,
    /// Which texts may read environment variables.
    pub environment: EnvironmentReaders,
    /// The folder below which `$Ff()` makes full paths; `None` where there is none.
    pub folder: Option<Arc<str>>,
    /// The names that were looked up, if they are recorded.
    pub looked_up: Option<Vec<Name>>,
    /// Whether a macro drew a random number.
    pub is_random: bool,
    /// Macros in whose place nothing stands.
    pub gaps: Vec<MacroGap>,
    /// Number of bytes that may still be copied. The limit is necessary because macros may refer to one another without
    /// end.
    bytes_left: usize,
    depth: usize,
    /// The first variable without a value and a default.
    unknown: Option<String>,
    /// Whether an ad wrote some of the macro that is being expanded.
    is_macro_from_ad: bool,
    /// Whether the value of the macro that is being expanded depends on the ad.
    reads_ad: bool,
}

/// Macro in whose place nothing stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MacroGap {
    /// A function fails, for this reason.
    Function(String),
    /// A text that may not read the environment names this environment variable.
    Environment(String),
}

/// Name of the variable that is the folder of `$Ff()`.
pub(crate) const FOLDER: &str = "Iwd";

/// Maximum number of bytes that an expansion copies.
const MAX_COPIED_BYTES: usize = 16 << 20;

/// Maximum nesting depth of expansions. Expansions nest because a macro function expands its arguments.
const MAX_EXPANSION_DEPTH: usize = 50;

impl<'a, 'u> MacroExpander<'a, 'u> {
    pub fn new(
        (variables, outer_variables): (&'a MacroVariables, &'a VariableTable),
        ad: &'a mut EditedAd<'u>,
        context: &'a Context,
    ) -> Self {
        MacroExpander {
            variables,
            outer_variables,
            ad,
            context,
            environment: EnvironmentReaders::Rules,
            folder: None,
            looked_up: None,
            is_random: false,
            gaps: Vec::new(),
            bytes_left: MAX_COPIED_BYTES,
            depth: 0,
            unknown: None,
            is_macro_from_ad: false,
            reads_ad: false,
        }
    }

    /// Returns the first variable that was used without a value and a default.
    pub fn take_unknown(&mut self) -> Option<String> {
        self.unknown.take()
    }

    /// Returns a text of the rules with its macros expanded. `rules` are those of the strings in it.
    pub fn expand(&mut self, text: &[u8], rules: ParseOptions) -> Result<Vec<u8>, StatementFailure> {
        self.expand_text(text.to_vec().into(), rules).map(|text| text.bytes)
    }

    fn expand_text(&mut self, text: MacroText, rules: ParseOptions) -> Result<MacroText, StatementFailure> {
        if self.depth > MAX_EXPANSION_DEPTH {
            return Err(endless_expansion());
        }
        self.depth += 1;
        let expanded = self.expand_once(text, rules);
        self.depth -= 1;
        expanded
    }

    fn expand_once(&mut self, text: MacroText, rules: ParseOptions) -> Result<MacroText, StatementFailure> {
        let MacroText { bytes: mut rest, mut is_from_ad } = text;
        // The parts of `rest` that an ad wrote.
        let mut foreign: Vec<_> = is_from_ad.then_some(0..rest.len()).into_iter().collect();
        let (mut out, mut strings) = (Vec::new(), StringState::new(rules));
        // Text before this offset is expanded already.
        let mut from = 0;
        let mut dollars = false;
        while let Some(found) = find_macro(&rest, from) {
            let body = &rest[found.body.clone()];
            if found.function.is_empty() && body.eq_ignore_ascii_case(DOLLAR.as_bytes()) {
                dollars = true;
                advance(&mut strings, &rest, from..found.range.end, &foreign);
                out.extend_from_slice(&rest[from..found.range.end]);
                from = found.range.end;
                continue;
            }
            let overlaps = |part: &Range<usize>| part.start < found.range.end && found.range.start < part.end;
            let mut value = self.value(&rest, &found, foreign.iter().any(overlaps))?;
            is_from_ad |= value.is_from_ad;
            // A dollar before the inner macro may begin an outer macro, as in `$(MY.$(name))`. The outer macro is
            // complete when the inner macro is replaced by its value.
            let dollar = memchr::memchr(b'$', &rest[from..found.range.start]);
            let done = dollar.map_or(found.range.start, |at| from + at);
            advance(&mut strings, &rest, from..done, &foreign);
            out.extend_from_slice(&rest[from..done]);
            if value.is_from_ad {
                let mut here = strings.clone();
                advance(&mut here, &rest, done..found.range.start, &foreign);
                here.guard(&mut value.bytes);
            }
            let mut cost = value.bytes.len() + 1;
            if dollar.is_some() || value.bytes.contains(&b'$') {
                // The value is scanned again, together with the text around it.
                move_parts(&mut foreign, done, &found.range, &value);
                let mut again = rest[done..found.range.start].to_vec();
                again.append(&mut value.bytes);
                again.extend_from_slice(&rest[found.range.end..]);
                cost += again.len();
                rest = again;
                from = 0;
            } else {
                strings.advance(&value.bytes, value.is_from_ad);
                out.append(&mut value.bytes);
                from = found.range.end;
            }
            self.bytes_left = self.bytes_left.checked_sub(cost).ok_or_else(endless_expansion)?;
        }
        advance(&mut strings, &rest, from..rest.len(), &foreign);
        out.extend_from_slice(&rest[from..]);
        if strings.is_broken(&out) {
            return Err("a value of the ad ends in a backslash, which would escape the quote that ends the string"
                .to_owned()
                .into());
        }
        let bytes = if dollars { replace_dollars(&out) } else { out };
        Ok(MacroText { bytes, is_from_ad })
    }

    /// Returns the text that a macro stands for, before it is scanned again. `is_from_ad` tells whether an ad wrote some of
    /// the macro.
    fn value(&mut self, text: &[u8], found: &MacroReference, is_from_ad: bool) -> Result<MacroText, StatementFailure> {
        let (outer_macro, outer_value) = (self.is_macro_from_ad, self.reads_ad);
        (self.is_macro_from_ad, self.reads_ad) = (is_from_ad, is_from_ad);
        let bytes = self.value_bytes(text, found);
        let is_from_ad = self.reads_ad;
        (self.is_macro_from_ad, self.reads_ad) = (outer_macro, outer_value || is_from_ad);
        Ok(MacroText { bytes: bytes?, is_from_ad })
    }

    fn value_bytes(&mut self, text: &[u8], found: &MacroReference) -> Result<Vec<u8>, StatementFailure> {
        let name = &text[found.function.clone()];
        let body = &text[found.body.clone()];
        if !name.is_empty() && name != b"ENV" {
            self.is_random |= name.starts_with(b"RANDOM_");
            return macro_function::call(self, name, body).or_else(|failure| match failure.halt {
                // As in HTCondor, nothing stands for the call.
                None if self.depth <= MAX_EXPANSION_DEPTH => {
                    self.gaps.push(MacroGap::Function(failure.message));
                    Ok(Vec::new())
                }
                _ => Err(failure),
            });
        }
        let default = found.default.clone().map(|default| text[default].to_vec());
        if name == b"ENV" {
            if !self.environment.allows(self.is_macro_from_ad) {
                self.gaps.push(MacroGap::Environment(String::from_utf8_lossy(body).into_owned()));
                return Ok(Vec::new());
            }
            let value = std::env::var_os(&*String::from_utf8_lossy(body));
            let value = value.map(|value| value.to_string_lossy().into_owned().into_bytes());
            return Ok(value.or(default).unwrap_or(b"UNDEFINED".to_vec()));
        }
        let found = self.lookup(body);
        if found.is_none() && default.is_none() && self.unknown.is_none() {
            self.unknown = Some(String::from_utf8_lossy(body).into_owned());
        }
        self.reads_ad |= found.as_ref().is_some_and(|found| found.is_from_ad);
        Ok(found.map(|found| found.bytes).filter(|bytes| !bytes.is_empty()).or(default).unwrap_or_default())
    }

    /// Returns the unexpanded text of a variable, or for `MY.name` the text of an attribute of the ad. `None` if there
    /// is neither.
    pub fn lookup(&mut self, name: &[u8]) -> Option<MacroText> {
        let name = std::str::from_utf8(name).ok()?;
        let key = Name::new(name);
        if let Some(looked_up) = &mut self.looked_up {
            looked_up.push(key.clone());
        }
        if let Some(text) = self.variables.get(&key).or_else(|| self.outer_variables.0.get(&key)) {
            return Some(text.clone());
        }
        let attribute = name.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("MY.")).map(|_| &name[3..])?;
        let expression = self.ad.get(&Name::new(attribute))?;
        let bytes = match expression.kind() {
            ExpressionKind::Literal(Value::String(text)) => text.as_bytes().to_vec(),
            _ => print(&expression, Style::Long),
        };
        Some(MacroText { bytes, is_from_ad: true })
    }

    /// Returns the folder below which `$Ff()` makes full paths. It counts as a variable called [`FOLDER`].
    pub fn folder(&mut self) -> Option<Arc<str>> {
        let folder = self.folder.clone()?;
        self.looked_up.iter_mut().for_each(|names| names.push(Name::new(FOLDER)));
        Some(folder)
    }

    /// Expands the argument of a function. If the argument names a variable or an attribute, expands the text of that
    /// variable or attribute instead.
    pub fn expand_argument(&mut self, text: &[u8]) -> Result<Vec<u8>, StatementFailure> {
        let text = text.trim_ascii();
        let found = self.lookup(text);
        self.expand_found(found.unwrap_or_else(|| text.to_vec().into()))
    }

    /// Expands a text that a function found, and records whether it is of the ad.
    pub fn expand_found(&mut self, mut text: MacroText) -> Result<Vec<u8>, StatementFailure> {
        text.is_from_ad |= self.is_macro_from_ad;
        let expanded = self.expand_text(text, ParseOptions::new(self.context.dialect))?;
        self.reads_ad |= expanded.is_from_ad;
        Ok(expanded.bytes)
    }

    /// Records that the value of the macro that is being expanded depends on the ad.
    pub fn set_reads_ad(&mut self) {
        self.reads_ad = true;
    }
}

/// Moves the parts of a text that an ad wrote, when the text before `done` is left out and the macro at `range` is replaced
/// by its value.
fn move_parts(foreign: &mut Vec<Range<usize>>, done: usize, range: &Range<usize>, value: &MacroText) {
    let before = range.start - done;
    let behind = before + value.bytes.len();
    let place = |at: usize| match at {
        at if at <= range.start => at.saturating_sub(done),
        at => (at.max(range.end) - range.end) + behind,
    };
    for part in foreign.iter_mut() {
        *part = place(part.start)..place(part.end);
    }
    foreign.retain(|part| !part.is_empty());
    foreign.extend(value.is_from_ad.then_some(before..behind));
}

/// Advances a state over a part of a text with parts that an ad wrote.
fn advance(strings: &mut StringState, text: &[u8], part: Range<usize>, foreign: &[Range<usize>]) {
    if foreign.is_empty() {
        return strings.advance(&text[part], false);
    }
    for at in part {
        strings.advance(&text[at..=at], foreign.iter().any(|foreign| foreign.contains(&at)));
    }
}
