//! How a format writes ads: the texts around attributes.

use crate::ad::{Ad, Expression, Name};
use crate::syntax::LossyChange;

/// Changes to values that the format cannot represent, each with the name of the attribute.
pub type LossyChanges = Vec<(Name, LossyChange)>;

/// How a format writes an ad.
pub struct AdSyntax {
    /// The text before the first attribute.
    pub begin: &'static str,
    /// The text between two attributes.
    pub separator: &'static str,
    /// The text behind the last attribute.
    pub end: &'static str,
    /// The text of an ad without attributes.
    pub empty: &'static str,
    /// The text behind a value that is a [plain literal](crate::syntax::LiteralText::is_plain), if the form writes such a value
    /// as the language does. `None` if it writes the value otherwise.
    pub plain_literal_end: Option<&'static str>,
    /// Appends the part of an attribute before its value.
    pub push_name: fn(&Name, &mut Vec<u8>),
    /// Appends the value of an attribute and the text behind the value.  Returns the changes to values that the format
    /// cannot represent.
    pub push_value: fn(&Expression, &mut Vec<u8>) -> Vec<LossyChange>,
}

impl AdSyntax {
    /// Appends the text of an ad.  Returns the changes to values that the format cannot represent, each with the name
    /// of the attribute.
    pub fn push_ad(&self, ad: &Ad, text: &mut Vec<u8>) -> LossyChanges {
        if ad.is_empty() {
            text.extend_from_slice(self.empty.as_bytes());
            return Vec::new();
        }
        let mut changes = Vec::new();
        text.extend_from_slice(self.begin.as_bytes());
        for (position, attribute) in ad.iter().enumerate() {
            text.extend_from_slice(if position > 0 { self.separator } else { "" }.as_bytes());
            (self.push_name)(attribute.name, text);
            let lost = (self.push_value)(attribute.expression, text);
            changes.extend(lost.into_iter().map(|change| (attribute.name.clone(), change)));
        }
        text.extend_from_slice(self.end.as_bytes());
        changes
    }
}
