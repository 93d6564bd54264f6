//! Columns of a print mask: what they print for an ad, and how wide they are.

use classad::ad::{AbsoluteTime, Expression, ExpressionKind, Value};
use classad::syntax::{ConversionKind, Style, expression_text, print_value};
use serde::{Deserialize, Serialize};

use crate::cli::commands::query::format_string::FormatString;
use crate::cli::commands::query::print_function::{PrintCall, PrintFunction};
use crate::cli::commands::query::units;
use classad::query::{AdLookup, to_integer, to_real};

/// A column of a print mask.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a word of HTCondor's print formats
pub struct MaskColumn {
    pub heading: String,
    pub expression: Expression,
    /// The function of `PRINTAS`, which makes another value of the expression's.
    pub function: Option<&'static PrintFunction>,
    /// The format of the value; `None` if the value is a string that is printed as it is.
    pub format: Option<FormatString>,
    /// Width in characters. 0: the cells of the column have no common width.
    pub width: usize,
    /// Whether the column becomes as wide as its widest cell.
    pub fits_cells: bool,
    pub is_left_aligned: bool,
    /// Whether wider cells are cut.
    pub is_cut: bool,
    pub has_prefix: bool,
    pub has_suffix: bool,
    /// Whether the function is called for a value that it cannot print, too.
    pub is_always_called: bool,
    pub placeholder: Placeholder,
}

/// What stands in place of a value that a column cannot print.
#[derive(Clone, Copy)]
pub struct Placeholder {
    /// A blank stands for nothing.
    pub character: char,
    /// Whether the character fills the column.
    pub is_wide: bool,
}

/// The text of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MaskCell {
    /// The text; `None` if the column cannot print the value.
    pub text: Option<String>,
    /// Whether the text is a number, which is right-aligned in every column.
    pub is_number: bool,
}

impl MaskColumn {
    /// Makes a column without a width, whose cells are never cut.
    pub fn new(heading: &str, expression: Expression, format: Option<FormatString>) -> Self {
        MaskColumn {
            heading: heading.to_owned(),
            expression,
            function: None,
            format,
            width: 0,
            fits_cells: false,
            is_left_aligned: false,
            is_cut: false,
            has_prefix: true,
            has_suffix: true,
            is_always_called: false,
            placeholder: Placeholder { character: ' ', is_wide: false },
        }
    }

    /// Gives the column the width and the alignment of its format's conversion, unless it has a width.
    pub fn adopt_width_of_format(&mut self) {
        if let Some(conversion) = self.format.as_ref().and_then(|format| format.conversion.as_ref())
            && self.width == 0
        {
            self.width = conversion.width();
            self.is_left_aligned |= conversion.is_left_aligned();
        }
    }

    /// Evaluates the column in an ad. `None` if the column cannot print the value.
    pub fn value(&self, lookup: &mut AdLookup) -> Option<Value> {
        let Some(function) = self.function else { return self.plain_value(lookup) };
        let value = match lookup.value(&self.expression) {
            // A formatter that is always called gets a number in place of nothing.
            Value::Undefined if self.is_always_called => Value::Integer(0),
            value => value,
        };
        let has_narrow_width = !self.fits_cells && self.width < 10;
        (function.run)(&mut PrintCall { value, lookup, has_narrow_width, width: self.width })
    }

    /// Evaluates a column without a function: a value of the type that its conversion prints.
    fn plain_value(&self, lookup: &mut AdLookup) -> Option<Value> {
        let Some(format) = &self.format else { return Some(lookup.value(&self.expression)) };
        let Some(conversion) = &format.conversion else { return Some(Value::Undefined) };
        let expression = &self.expression;
        let bound = if let ExpressionKind::Attribute(name) = expression.kind() { lookup.ad.get(name) } else { None };
        // Text of the expression without evaluation; for an attribute reference, the text of the attribute in the ad.
        let raw = || match (bound, expression.kind()) {
            (None, ExpressionKind::Attribute(_)) => "undefined".to_owned(),
            (bound, _) => expression_text(bound.unwrap_or(expression), Style::Long),
        };
        match conversion.kind() {
            ConversionKind::Raw => Some(Value::string(raw())),
            ConversionKind::Value => Some(lookup.value(expression)),
            ConversionKind::String => match lookup.value(expression) {
                Value::String(text) => Some(Value::String(text)),
                _ => bound.map(|_| Value::string(raw())),
            },
            ConversionKind::Integer | ConversionKind::Time => to_integer(&lookup.value(expression)).map(Value::Integer),
            ConversionKind::Real => to_real(&lookup.value(expression)).map(Value::Real),
            ConversionKind::Date => match lookup.value(expression) {
                Value::AbsoluteTime(AbsoluteTime { seconds, .. }) => Some(Value::Integer(seconds)),
                value => to_integer(&value).map(Value::Integer),
            },
        }
    }

    /// Formats a value of this column.
    pub fn cell(&self, value: Option<&Value>) -> MaskCell {
        let missing = MaskCell { text: None, is_number: false };
        let Some(value) = value else { return missing };
        let text = |text: String| MaskCell { text: Some(text), is_number: false };
        let string = || match value {
            Value::String(string) => string.to_str().into_owned(),
            _ => String::new(),
        };
        let is_formatted = self.function.is_some_and(|function| function.is_formatter);
        let Some(format) = self.format.as_ref().filter(|_| !is_formatted) else { return text(string()) };
        let Some(conversion) = &format.conversion else { return text(format.before.clone()) };
        let around = |shown: &str| format!("{}{shown}{}", format.before, format.after);
        let number = |shown: Option<String>| match shown {
            Some(shown) => MaskCell { text: Some(around(&shown)), is_number: true },
            None => missing.clone(),
        };
        match conversion.kind() {
            ConversionKind::Integer => number(to_integer(value).map(|number| conversion.format_integer(number))),
            ConversionKind::Real => number(to_real(value).map(|number| conversion.format_real(number))),
            ConversionKind::Time => number(to_integer(value).map(units::duration)),
            ConversionKind::Date => number(to_integer(value).map(units::month_and_day)),
            ConversionKind::String | ConversionKind::Raw => text(around(&conversion.format_text(&string()))),
            ConversionKind::Value => {
                let shown = match value {
                    Value::String(string) if !conversion.is_quoted() => string.to_str().into_owned(),
                    value => String::from_utf8_lossy(&print_value(value, Style::Long)).into_owned(),
                };
                text(around(&conversion.format_text(&shown)))
            }
        }
    }

    /// Returns the width of the column if these are its cells.
    pub fn width_with<'c>(&self, cells: impl Iterator<Item = &'c MaskCell>) -> usize {
        let widths = cells.filter_map(|cell| cell.text.as_deref()).map(|text| text.chars().count());
        if self.fits_cells { widths.fold(self.width, usize::max) } else { self.width }
    }

    /// Pads or cuts a cell to the width of the column.
    pub fn padded(&self, cell: &MaskCell, width: usize) -> String {
        let text = match &cell.text {
            Some(text) => text.clone(),
            None => self.placeholder.text(width),
        };
        let length = text.chars().count();
        let blanks = " ".repeat(width.saturating_sub(length));
        match () {
            () if width == 0 || length == width => text,
            () if length > width && self.is_cut => text.chars().take(width).collect(),
            () if self.is_left_aligned && !cell.is_number => text + &blanks,
            () => blanks + &text,
        }
    }
}

impl Placeholder {
    /// Returns the text in a column of this width: a wide `?` stands between brackets.
    fn text(self, width: usize) -> String {
        let Placeholder { character, is_wide } = self;
        match character {
            '?' if is_wide && width >= 3 => format!("[{}]", "?".repeat(width - 2)),
            _ if is_wide && width >= 3 => character.to_string().repeat(width),
            _ if is_wide && width == 0 => String::new(),
            ' ' => String::new(),
            _ => character.to_string(),
        }
    }
}
