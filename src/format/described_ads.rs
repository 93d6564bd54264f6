//! Ads that a text describes but does not contain: the jobs of a submit file.

use std::collections::BTreeMap;

use super::{AttributeSpan, ReadResult};

/// Ads that were made of a text, and the places in the text from which they have their attributes.
#[derive(Clone, Debug, Default)]
pub struct DescribedAds {
    /// The ads and the problems, in order. The offset of an ad is that of the statement that makes it.
    pub items: Vec<ReadResult>,
    /// The attributes that the ads of a statement have from the text, by the offset of the statement.
    pub(crate) places: BTreeMap<usize, Vec<AttributeSpan>>,
}

impl DescribedAds {
    /// Returns the places of the attributes of the ads that the statement at byte `offset` makes.
    #[must_use]
    pub fn attribute_spans(&self, offset: usize) -> &[AttributeSpan] {
        self.places.get(&offset).map_or(&[], Vec::as_slice)
    }
}
