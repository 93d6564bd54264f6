//! Macro expansion: `$(name)`, `$(name:default)`, `$(MY.attribute)`, and functions such as `$INT(name)`.
//!
//! The text of a macro is expanded again, since it may contain macros itself.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};
use crate::syntax::ParseOptions;

use super::edited_ad::EditedAd;
use super::edited_shapes::EditedShapes;
use super::expander::MacroExpander;
use super::keywords::is_variable_byte;
use super::macro_function;

/// Variables of the rules, for one ad.
pub(super) type MacroVariables = FxHashMap<Name, MacroText>;

/// Text of a variable or of a macro.
#[derive(Clone, Debug, Default)]
pub(super) struct MacroText {
    pub bytes: Vec<u8>,
    /// Whether an ad wrote some of it. Such a text reads no environment variable and ends no string.
    pub is_from_ad: bool,
}

impl From<Vec<u8>> for MacroText {
    /// Returns a text that the rules have.
    fn from(bytes: Vec<u8>) -> Self {
        MacroText { bytes, is_from_ad: false }
    }
}

/// Variables that rules find besides their own, such as those of a configuration. Clones share the table.
#[derive(Clone, Debug, Default)]
pub struct VariableTable(pub(super) Arc<MacroVariables>);

impl VariableTable {
    /// Whether there is a variable of this name; case is ignored.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(&Name::new(name))
    }

    /// Returns the text of a variable, with its macros; `None` if there is no such variable. Case is ignored.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(&Name::new(name)).map(|text| text.bytes.as_slice())
    }

    /// Returns the table with default values for variables that it lacks. In HTCondor a variable with an empty value has
    /// none.
    #[must_use]
    pub fn with_defaults<'d>(&self, defaults: impl IntoIterator<Item = (&'d str, &'d str)>) -> VariableTable {
        let mut all: MacroVariables =
            defaults.into_iter().map(|(name, value)| (Name::new(name), value.as_bytes().to_vec().into())).collect();
        let own = self.0.iter().map(|(name, value)| (name.clone(), value.clone()));
        for (name, value) in own {
            if !value.bytes.is_empty() || !all.contains_key(&name) {
                all.insert(name, value);
            }
        }
        VariableTable(Arc::new(all))
    }

    /// Returns the table with the variables of another one that it lacks.
    #[must_use]
    pub(crate) fn over(&self, defaults: &VariableTable) -> VariableTable {
        defaults.overlaid(MacroVariables::clone(&self.0))
    }

    /// Returns the table with other variables, which count before those of the table.
    pub(super) fn overlaid(&self, own: MacroVariables) -> VariableTable {
        let mut all = MacroVariables::clone(&self.0);
        all.extend(own);
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
        let text = expander.expand(text, ParseOptions::new(context.dialect)).map_err(|failure| failure.message)?;
        Ok(Expansion { text, unknown: expander.take_unknown() })
    }
}

impl<N: AsRef<str>, V: Into<Vec<u8>>> FromIterator<(N, V)> for VariableTable {
    /// Of several values of a variable the last counts.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let pairs = variables.into_iter().map(|(name, value)| (Name::new(name.as_ref()), value.into().into()));
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
pub(super) const DOLLAR: &str = "DOLLAR";

/// Whether a text contains a macro.
pub(super) fn has_macros(text: &str) -> bool {
    find_macro(text.as_bytes(), 0).is_some()
}

/// Returns a text with `placeholder` in the place of each macro.
pub(super) fn with_placeholders(text: &str, placeholder: &str) -> String {
    let mut out = text.to_owned();
    for found in find_macros(text.as_bytes()).into_iter().rev() {
        out.replace_range(found.range, placeholder);
    }
    out
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

/// Evaluates an expression in the current state of an ad.
pub(super) fn evaluate(expression: &Expression, ad: &mut EditedAd<'_>, context: &Context) -> Result<Value, Abort> {
    if let ExpressionKind::Literal(value) = expression.kind() {
        return Ok(value.clone());
    }
    let (environment, frame) = Environment::single(ad.ad_for(expression, context.dialect));
    Evaluator::new(&environment, context).evaluate(expression, &frame)
}

pub(super) fn endless_expansion() -> StatementFailure {
    "the macros form a circle, are nested too deeply, or give too long a text".to_owned().into()
}

/// Replaces the macros of the variable `name`. `value` returns the replacement of a macro. Its argument is the default
/// of the macro, or an empty text if the macro has none.
pub(super) fn replace_macros<'v>(text: &'v [u8], name: &str, value: impl Fn(&'v [u8]) -> &'v [u8]) -> Vec<u8> {
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

/// Puts dollars in place of `$(DOLLAR)`. As in HTCondor, such a macro directly behind another stays: `$$(` begins no macro.
pub(super) fn replace_dollars(text: &[u8]) -> Vec<u8> {
    let (mut out, mut done, mut replaced) = (Vec::with_capacity(text.len()), 0, None);
    for found in find_macros(text) {
        let is_dollar = found.function.is_empty() && text[found.body].eq_ignore_ascii_case(DOLLAR.as_bytes());
        if is_dollar && replaced != Some(found.range.start) {
            out.extend_from_slice(&text[done..found.range.start]);
            out.push(b'$');
            done = found.range.end;
            replaced = Some(done);
        }
    }
    out.extend_from_slice(&text[done..]);
    out
}

/// Expands only the macros of the variable `name` in `text`, which is assigned to this variable. Such a macro stands
/// for the previous text of the variable: `A = $(A) x`.
pub(super) fn expand_own(text: &str, name: &str, before: Option<&MacroText>) -> Result<MacroText, StatementFailure> {
    const MAX_VALUE_BYTES: usize = 1 << 16;
    let own = before.filter(|own| !own.bytes.is_empty());
    let bytes = replace_macros(text.as_bytes(), name, |default| own.map_or(default, |own| own.bytes.as_slice()));
    // A text without the variable is no longer than its line.
    if bytes.len() > MAX_VALUE_BYTES && bytes != text.as_bytes() {
        return Err(endless_expansion());
    }
    let is_from_ad = own.is_some_and(|own| own.is_from_ad) && bytes != text.as_bytes();
    Ok(MacroText { bytes, is_from_ad })
}

/// Appends a text to that of a variable; `between` stands between the two if the variable has a text.
pub(super) fn append(variables: &mut MacroVariables, name: &str, between: &str, text: &str) {
    let own = variables.entry(Name::new(name)).or_default();
    if !own.bytes.is_empty() {
        own.bytes.extend_from_slice(between.as_bytes());
    }
    own.bytes.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{MacroText, MacroVariables, append, expand_own, find_macro};
    use crate::ad::Name;

    #[test]
    fn a_variable_in_its_own_text_is_its_text_before() {
        for (before, text, expected) in [
            ("1", "$(a) x", "1 x"),
            ("1", "$(A)$(a)", "11"),
            ("1", "$(a:2)", "1"),
            ("", "$(a:2)", "2"),
            ("", "$(a)", ""),
            ("1", "$(b) x", "$(b) x"),
            ("1", "x", "x"),
        ] {
            let mut variables = MacroVariables::default();
            append(&mut variables, "a", ", ", before);
            let found = expand_own(text, "a", variables.get(&Name::new("a"))).ok().unwrap();
            assert_eq!(String::from_utf8(found.bytes).unwrap(), expected, "{before}, {text}");
        }
        let mut variables = MacroVariables::default();
        for text in ["", "1", "2"] {
            append(&mut variables, "a", ", ", text);
        }
        assert_eq!(variables[&Name::new("a")].bytes, b"1, 2");
    }

    #[test]
    fn a_text_is_from_an_ad_if_the_text_before_was_and_stands_in_it() {
        let of = |bytes: &str, is_from_ad| MacroText { bytes: bytes.into(), is_from_ad };
        for (before, text, expected) in [
            (Some(of("1", true)), "$(a) x", true),
            (Some(of("1", false)), "$(a) x", false),
            (Some(of("1", true)), "x", false),
            // A default is of the rule.
            (Some(of("", true)), "$(a:2)", false),
            (None, "$(a:2)", false),
        ] {
            let found = expand_own(text, "a", before.as_ref()).ok().unwrap();
            assert_eq!(found.is_from_ad, expected, "{text}");
        }
    }

    #[test]
    fn a_default_may_have_parentheses_in_it() {
        for (text, expected) in [
            ("x $(a) y", Some(("$(a)", None))),
            ("$(a:)", Some(("$(a:)", Some("")))),
            ("$(a:b c)d)", Some(("$(a:b c)", Some("b c")))),
            ("$(a:())", Some(("$(a:())", Some("()")))),
            ("$(a:(b))", Some(("$(a:(b))", Some("(b)")))),
            ("$(a:(b)c)d", Some(("$(a:(b)c)", Some("(b)c")))),
            ("$(a:$(b)$(c))", Some(("$(a:$(b)$(c))", Some("$(b)$(c)")))),
            ("$(a:(b)", None),
            ("$(a:\"\")", None),
            ("$(a b)", None),
            ("$$(a)", None),
            ("$(a", None),
        ] {
            let found = find_macro(text.as_bytes(), 0);
            let found = found.map(|found| (&text[found.range], found.default.map(|default| &text[default])));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_a_variable_makes_of_itself_has_at_most_65536_bytes() {
        for (length, fits) in [(65_535, true), (65_536, true), (65_537, false)] {
            let own = MacroText { bytes: vec![b'x'; length], is_from_ad: false };
            let variables = MacroVariables::from_iter([(Name::new("a"), own)]);
            assert_eq!(expand_own("$(a)", "a", variables.get(&Name::new("a"))).is_ok(), fits, "{length}");
        }
        assert!(expand_own(&"x".repeat(100_000), "a", None).is_ok());
    }
}
