//! What a census has counted, as a record that can be written and merged elsewhere.

use serde::{Deserialize, Serialize};

use crate::ad::Name;

use super::census_counter::{CensusPart, PartAttribute, PartValue};
use super::summary::{AttributeSummary, MeasuresRecord};
use super::value_sample::ValueSample;

/// What a census has counted. It has all values of the census, with their exact counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CensusRecord {
    pub(super) ads: usize,
    /// The attributes in the order of first appearance.
    pub(super) attributes: Vec<AttributeRecord>,
}

/// One attribute of a [`CensusRecord`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AttributeRecord {
    pub name: String,
    pub ads: usize,
    pub measures: MeasuresRecord,
    pub values: Vec<ValueRecord>,
}

/// A value: its hash, the number of ads that have it, and its text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ValueRecord(pub u64, pub usize, pub RecordedText);

/// A text: a string if it is UTF-8, else bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RecordedText {
    Text(String),
    Raw(Vec<u8>),
}

impl From<&[u8]> for RecordedText {
    fn from(text: &[u8]) -> Self {
        let raw = |_| RecordedText::Raw(text.to_vec());
        str::from_utf8(text).map_or_else(raw, |text| RecordedText::Text(text.to_owned()))
    }
}

impl RecordedText {
    fn as_bytes(&self) -> &[u8] {
        match self {
            RecordedText::Text(text) => text.as_bytes(),
            RecordedText::Raw(bytes) => bytes,
        }
    }
}

impl AttributeRecord {
    pub(super) fn new(name: &Name, summary: &AttributeSummary) -> Self {
        let values = summary.sample().into_iter().flat_map(ValueSample::iter);
        let values = values.map(|(hash, text, ads)| ValueRecord(hash, ads, text.into()));
        let (name, ads) = (name.as_str().to_owned(), summary.ads());
        AttributeRecord { name, ads, measures: summary.measures_record(), values: values.collect() }
    }
}

/// For [`super::Census::merge`], which merges the parts of threads, too.
impl From<CensusRecord> for CensusPart {
    fn from(record: CensusRecord) -> Self {
        let attributes = record.attributes.into_iter().map(|attribute| {
            let mut texts = Vec::new();
            let values = attribute.values.into_iter().map(|ValueRecord(hash, ads, text)| {
                texts.extend_from_slice(text.as_bytes());
                PartValue { hash, end: texts.len(), ads }
            });
            let values = values.collect();
            let (name, measures) = (Name::new(&attribute.name), attribute.measures.into());
            PartAttribute { name, ads: attribute.ads, measures, values, texts }
        });
        CensusPart { ads: record.ads, attributes: attributes.collect() }
    }
}
