//! String values: byte strings, as in HTCondor, nearly always UTF-8.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The value of a string: arbitrary bytes.  Cloning is O(1).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "BytesRecord", from = "BytesRecord")]
pub struct ByteString(Arc<[u8]>);

impl ByteString {
    /// Returns the bytes, which need not be UTF-8.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text, with U+FFFD in place of bytes that are not UTF-8.
    #[must_use]
    pub fn to_str(&self) -> Cow<'_, str> {
        // Nearly all strings are UTF-8; validating is faster than the lossy conversion.
        str::from_utf8(&self.0).map_or_else(|_| String::from_utf8_lossy(&self.0), Cow::Borrowed)
    }

    /// Returns a string of other bytes.  Uses the memory again where that is possible: if the bytes are the same, or if
    /// they are as many and nothing else refers to the string.
    #[must_use]
    pub(crate) fn replaced_by(mut self, bytes: &[u8]) -> Self {
        if *self.0 == *bytes {
            return self;
        }
        match Arc::get_mut(&mut self.0) {
            Some(own) if own.len() == bytes.len() => own.copy_from_slice(bytes),
            _ => return ByteString::from(bytes),
        }
        self
    }

    /// Compares without regard to ASCII case, as the language's `==` does (thesis 2.4.4).
    #[must_use]
    pub fn eq_ignore_case(&self, other: &ByteString) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    /// Orders by bytes in ASCII lower case, as the language's `<` does.
    #[must_use]
    pub fn cmp_ignore_case(&self, other: &ByteString) -> std::cmp::Ordering {
        super::name::cmp_ignore_case(&self.0, &other.0)
    }
}

impl<T: AsRef<[u8]>> From<T> for ByteString {
    fn from(bytes: T) -> Self {
        ByteString(Arc::from(bytes.as_ref()))
    }
}

/// A string as it is written in JSON: a text if it is UTF-8, else an array of numbers.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BytesRecord {
    Text(String),
    Raw(Vec<u8>),
}

impl From<ByteString> for BytesRecord {
    fn from(bytes: ByteString) -> Self {
        let raw = |_| BytesRecord::Raw(bytes.0.to_vec());
        str::from_utf8(&bytes.0).map_or_else(raw, |text| BytesRecord::Text(text.to_owned()))
    }
}

impl From<BytesRecord> for ByteString {
    fn from(record: BytesRecord) -> Self {
        match record {
            BytesRecord::Text(text) => text.into(),
            BytesRecord::Raw(bytes) => bytes.into(),
        }
    }
}

impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_str(), f)
    }
}
