//! Macro expansion: `$(name)`, `$(name:default)`, `$(MY.attribute)`, and functions such as `$INT(name)`.
//!
//! The text of a macro is expanded again, since it may contain macros itself.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};
use crate::syntax::{Style, print};

use super::edited_ad::EditedAd;
use super::edited_shapes::EditedShapes;
use super::keywords::is_variable_byte;
use super::macro_function;

/// Variables of the rules, for one ad.
pub(super) type MacroVariables = FxHashMap<Name, Vec<u8>>;

/// Variables that rules find besides their own, such as those of a configuration. Clones share the table.
#[derive(Clone, Debug, Default)]
pub struct VariableTable(Arc<MacroVariables>);

impl VariableTable {
    /// Whether there is a variable of this name; case is ignored.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(&Name::new(name))
    }

    /// Returns the table with default values for variables that it lacks. In HTCondor a variable with an empty value has
    /// none.
    #[must_use]
    pub fn with_defaults<'d>(&self, defaults: impl IntoIterator<Item = (&'d str, &'d str)>) -> VariableTable {
        let mut all: MacroVariables =
            defaults.into_iter().map(|(name, value)| (Name::new(name), value.as_bytes().to_vec())).collect();
        let own = self.0.iter().map(|(name, value)| (name.clone(), value.clone()));
        for (name, value) in own {
            if !value.is_empty() || !all.contains_key(&name) {
                all.insert(name, value);
            }
        }
        VariableTable(Arc::new(all))
    }

    /// The names of the variables, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(Name::as_str)
    }

    /// Expands the macros of a text, which may use the variables of the table and no ad.
    ///
    /// # Errors
    ///
    /// The reason, as a phrase, if a macro stands for itself.
    pub fn expand(&self, text: &[u8], context: &Context) -> Result<Expansion, String> {
        let mut ad = EditedAd::new(&Ad::default(), &EditedShapes::default());
        let own = MacroVariables::default();
        let mut expander = MacroExpander::new((&own, self), &mut ad, context);
        let text = expander.expand(text).map_err(|failure| failure.message)?;
        Ok(Expansion { text, unknown: expander.unknown })
    }
}

impl<N: AsRef<str>, V: Into<Vec<u8>>> FromIterator<(N, V)> for VariableTable {
    /// Of several values of a variable the last counts.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let pairs = variables.into_iter().map(|(name, value)| (Name::new(name.as_ref()), value.into()));
        VariableTable(Arc::new(pairs.collect()))
    }
}

/// A text with its macros expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The text.
    pub text: Vec<u8>,
    /// A variable that nothing gives a value, and that has no default: nothing stands in its place.
    pub unknown: Option<String>,
}

/// Reason why a statement fails for an ad.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StatementFailure {
    /// The reason, as a phrase.
    pub message: String,
    /// Reason why an evaluation stopped, such as an exceeded budget; `None` for any other failure.
    pub halt: Option<Abort>,
}

impl From<Abort> for StatementFailure {
    fn from(halt: Abort) -> Self {
        StatementFailure { message: halt.to_string(), halt: Some(halt) }
    }
}

impl From<String> for StatementFailure {
    fn from(message: String) -> Self {
        StatementFailure { message, halt: None }
    }
}

/// Macro in a text; all ranges are byte ranges of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MacroReference {
    /// The whole macro, from the dollar to the closing parenthesis.
    pub range: Range<usize>,
    /// The function name between the dollar and the parenthesis; empty for `$(name)`.
    pub function: Range<usize>,
    /// The text in the parentheses, up to the colon if there is a default.
    pub body: Range<usize>,
    /// The default after the colon.
    pub default: Option<Range<usize>>,
}

/// Name of the macro that expands to a literal dollar.
const DOLLAR: &str = "DOLLAR";

/// Whether a text contains a macro.
pub(super) fn has_macros(text: &str) -> bool {
    find_macro(text.as_bytes(), 0).is_some()
}

/// Returns the macros of a text in order. No two of them overlap.
pub(crate) fn find_macros(text: &[u8]) -> Vec<MacroReference> {
    std::iter::successors(find_macro(text, 0), |last| find_macro(text, last.range.end)).collect()
}

/// Returns the first macro at or after the byte offset `from`; `None` if there is none. In `$(MY.$(name))` this is the
/// inner macro, because the outer name is incomplete until the inner macro is expanded. A macro within a default
/// belongs to the default. The argument of a function ends at the first `)`.
pub(super) fn find_macro(text: &[u8], from: usize) -> Option<MacroReference> {
    // Every macro ends with a closing parenthesis, so the search stops at the last one.
    let last = memchr::memrchr(b')', text)?;
    let mut at = from;
    loop {
        let dollar = at + memchr::memchr(b'$', text.get(at..last)?)?;
        let doubled = text[dollar + 1] == b'$';
        let word = dollar + 1 + usize::from(doubled);
        let length = text[word..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let open = word + length;
        at = open;
        if text.get(open) != Some(&b'(') || doubled {
            continue;
        }
        let function = word..open;
        let named = &text[function.clone()];
        let found = if named.is_empty() || named == b"ENV" {
            named_body(text, open + 1)
        } else if macro_function::is_function(named) {
            let length = memchr::memchr(b')', &text[open + 1..])?;
            Some((open + 1..open + 1 + length, None))
        } else {
            None
        };
        if let Some((body, default)) = found {
            let end = default.as_ref().map_or(body.end, |default| default.end) + 1;
            return Some(MacroReference { range: dollar..end, function, body, default });
        }
    }
}

/// Parses a name that begins at `start`, the default after its colon, and the closing parenthesis. Returns the ranges
/// of the name and of the default. `None` for any other text.
fn named_body(text: &[u8], start: usize) -> Option<(Range<usize>, Option<Range<usize>>)> {
    // Maximum number of bytes of a macro after its opening parenthesis. Each `$(` starts a search for the closing
    // parenthesis; the limit keeps these searches short.
    const MAX_MACRO_BYTES: usize = 4096;
    let text = &text[..text.len().min(start + MAX_MACRO_BYTES)];
    let name = text[start..].iter().take_while(|byte| is_variable_byte(**byte)).count();
    let end = start + name;
    match text.get(end)? {
        b')' => return Some((start..end, None)),
        b':' => {}
        _ => return None,
    }
    let mut at = end + 1;
    loop {
        match text.get(at)? {
            b')' => return Some((start..end, Some(end + 1..at))),
            b'(' => at += 1 + memchr::memchr(b')', &text[at + 1..])? + 1,
            byte if is_variable_byte(*byte) || b"$ ,\\:".contains(byte) => at += 1,
            _ => return None,
        }
    }
}

/// Macro expander for one ad.
pub(super) struct MacroExpander<'a, 'u> {
    variables: &'a MacroVariables,
    outer_variables: &'a VariableTable,
    pub ad: &'a mut EditedAd<'u>,
    pub context: &'a Context,
    /// Number of bytes that may still be copied. The limit is necessary because macros may refer to one another without
    /// end.
    bytes_left: usize,
    depth: usize,
    /// The first variable without a value and a default.
    unknown: Option<String>,
}

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
        MacroExpander { variables, outer_variables, ad, context, bytes_left: MAX_COPIED_BYTES, depth: 0, unknown: None }
    }

    /// Returns a text with its macros expanded.
    pub fn expand(&mut self, text: &[u8]) -> Result<Vec<u8>, StatementFailure> {
        if self.depth > MAX_EXPANSION_DEPTH {
            return Err(endless_expansion());
        }
        self.depth += 1;
        let expanded = self.expand_once(text);
        self.depth -= 1;
        expanded
    }

    fn expand_once(&mut self, text: &[u8]) -> Result<Vec<u8>, StatementFailure> {
        let mut out = Vec::new();
        let mut rest = text.to_vec();
        // Text before this offset is expanded already.
        let mut from = 0;
        let mut dollars = false;
        while let Some(found) = find_macro(&rest, from) {
            let body = &rest[found.body.clone()];
            if found.function.is_empty() && body.eq_ignore_ascii_case(DOLLAR.as_bytes()) {
                dollars = true;
                out.extend_from_slice(&rest[from..found.range.end]);
                from = found.range.end;
                continue;
            }
            let mut value = self.value(&rest, &found)?;
            // A dollar before the inner macro may begin an outer macro, as in `$(MY.$(name))`. The outer macro is
            // complete when the inner macro is replaced by its value.
            let dollar = memchr::memchr(b'$', &rest[from..found.range.start]);
            let done = dollar.map_or(found.range.start, |at| from + at);
            out.extend_from_slice(&rest[from..done]);
            let mut cost = value.len() + 1;
            if dollar.is_some() || value.contains(&b'$') {
                // The value is scanned again, together with the text around it.
                let mut again = rest[done..found.range.start].to_vec();
                again.append(&mut value);
                again.extend_from_slice(&rest[found.range.end..]);
                cost += again.len();
                rest = again;
                from = 0;
            } else {
                out.append(&mut value);
                from = found.range.end;
            }
            self.bytes_left = self.bytes_left.checked_sub(cost).ok_or_else(endless_expansion)?;
        }
        out.extend_from_slice(&rest[from..]);
        Ok(if dollars { replace_macros(&out, DOLLAR, |_| b"$") } else { out })
    }

    /// Returns the text that a macro stands for, before it is scanned again.
    fn value(&mut self, text: &[u8], found: &MacroReference) -> Result<Vec<u8>, StatementFailure> {
        let name = &text[found.function.clone()];
        let body = &text[found.body.clone()];
        if !name.is_empty() && name != b"ENV" {
            return macro_function::call(self, name, body);
        }
        let default = found.default.clone().map(|default| text[default].to_vec());
        if name == b"ENV" {
            let value = std::env::var_os(&*String::from_utf8_lossy(body));
            let value = value.map(|value| value.to_string_lossy().into_owned().into_bytes());
            let value = value.filter(|value| !value.is_empty() || default.is_none());
            return Ok(value.or(default).unwrap_or(b"UNDEFINED".to_vec()));
        }
        let found = self.lookup(body);
        if found.is_none() && default.is_none() && self.unknown.is_none() {
            self.unknown = Some(String::from_utf8_lossy(body).into_owned());
        }
        Ok(found.filter(|value| !value.is_empty()).or(default).unwrap_or_default())
    }

    /// Returns the unexpanded text of a variable, or for `MY.name` the text of an attribute of the ad. `None` if there
    /// is neither.
    pub fn lookup(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let name = std::str::from_utf8(name).ok()?;
        let key = Name::new(name);
        if let Some(text) = self.variables.get(&key).or_else(|| self.outer_variables.0.get(&key)) {
            return Some(text.clone());
        }
        let attribute = name.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("MY.")).map(|_| &name[3..])?;
        let expression = self.ad.get(&Name::new(attribute))?;
        Some(match expression.kind() {
            ExpressionKind::Literal(Value::String(text)) => text.as_bytes().to_vec(),
            _ => print(&expression, Style::Long),
        })
    }

    /// Expands the argument of a function. If the argument names a variable or an attribute, expands the text of that
    /// variable or attribute instead.
    pub fn expand_argument(&mut self, text: &[u8]) -> Result<Vec<u8>, StatementFailure> {
        let text = text.trim_ascii();
        let text = self.lookup(text).unwrap_or_else(|| text.to_vec());
        self.expand(&text)
    }
}

/// Evaluates an expression in the current state of an ad.
pub(super) fn evaluate(expression: &Expression, ad: &mut EditedAd<'_>, context: &Context) -> Result<Value, Abort> {
    if let ExpressionKind::Literal(value) = expression.kind() {
        return Ok(value.clone());
    }
    let (environment, frame) = Environment::single(ad.ad_for(expression, context.dialect));
    Evaluator::new(&environment, context).evaluate(expression, &frame)
}

fn endless_expansion() -> StatementFailure {
    "the macros form a circle, are nested too deeply, or give too long a text".to_owned().into()
}

/// Replaces the macros of the variable `name`. `value` returns the replacement of a macro. Its argument is the default
/// of the macro, or an empty text if the macro has none.
fn replace_macros<'v>(text: &'v [u8], name: &str, value: impl Fn(&'v [u8]) -> &'v [u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    for found in find_macros(text) {
        if found.function.is_empty() && text[found.body.clone()].eq_ignore_ascii_case(name.as_bytes()) {
            out.extend_from_slice(&text[done..found.range.start]);
            out.extend_from_slice(value(found.default.map_or(b"", |default| &text[default])));
            done = found.range.end;
        }
    }
    out.extend_from_slice(&text[done..]);
    out
}

/// Expands only the macros of the variable `name` in `text`, which is assigned to this variable. Such a macro stands
/// for the previous text of the variable: `A = $(A) x`.
pub(super) fn expand_own(text: &str, name: &str, variables: &MacroVariables) -> Result<Vec<u8>, StatementFailure> {
    const MAX_VALUE_BYTES: usize = 1 << 16;
    let own = variables.get(&Name::new(name)).filter(|own| !own.is_empty());
    let out = replace_macros(text.as_bytes(), name, |default| own.map_or(default, Vec::as_slice));
    if out.len() > MAX_VALUE_BYTES { Err(endless_expansion()) } else { Ok(out) }
}
