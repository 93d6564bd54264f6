//! How much a report says.

/// Maximum number of characters of a clause that is quoted in a sentence.
pub const MAX_CLAUSE_CHARS: usize = 70;

/// Maximum number of items in a section of a report without `-v`, such as changes or refusals. The section of nearest
/// offers is shorter: it has one offer without `-v`, and at most this number of offers with `-v`.
pub const DEFAULT_MAX_ITEMS: usize = 3;

/// Maximum number of elements in lists of offers, and of groups of offers, of a report without `--all-offers`.
pub const MAX_LISTED_OFFERS: usize = 10;

/// Maximum number of items in most sections of a report with `-v`, such as refusals or conflicts.
pub const MAX_EVIDENCE_ITEMS: usize = MAX_LISTED_OFFERS;
