//! Matching options of a pattern, as PCRE2 takes them.

/// Matching options of a pattern, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternOptions(u8);

impl PatternOptions {
    pub(super) const ANY_CASE: u8 = 1;
    pub(super) const MULTI_LINE: u8 = 2;
    pub(super) const DOT_ALL: u8 = 4;
    pub(super) const EXTENDED: u8 = 8;
    pub(super) const NOT_EMPTY: u8 = 16;

    /// Returns the options for finding a non-empty part without regard to case.
    pub(in crate::eval) fn non_empty_in_any_case() -> Self {
        PatternOptions(Self::ANY_CASE | Self::NOT_EMPTY)
    }

    /// Returns the options for matching without regard to case.
    pub(crate) fn any_case() -> Self {
        PatternOptions(Self::ANY_CASE)
    }

    /// Returns the options for a string of option letters, such as `im`; unknown letters are ignored.
    pub(crate) fn of(letters: &[u8]) -> Self {
        PatternOptions(letters.iter().fold(0, |all, letter| {
            all | match letter {
                b'i' => Self::ANY_CASE,
                b'm' => Self::MULTI_LINE,
                b's' => Self::DOT_ALL,
                b'x' => Self::EXTENDED,
                _ => 0,
            }
        }))
    }

    /// Whether there are no options.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, option: u8) -> bool {
        self.0 & option != 0
    }

    /// Returns PCRE2's own options at the start of a pattern, with a limit of the match calls.
    pub(super) fn limits(self, limit: u32) -> String {
        let not_empty = if self.has(Self::NOT_EMPTY) { "(*NOTEMPTY)" } else { "" };
        format!("{not_empty}(*LIMIT_MATCH={limit})(*LIMIT_HEAP={MAX_HEAP_KIB})")
    }

    /// Returns what [`PatternOptions::limits`] does, with the option that quantifiers may always go back. The limit then
    /// counts the bytes that they pass.
    pub(super) fn start(self, limit: u32) -> String {
        format!("(*NO_AUTO_POSSESS){}", self.limits(limit))
    }

    /// Returns the end of a group around a pattern. `\E` ends an open `\Q` of the pattern, the line break ends an open
    /// comment.
    pub(super) fn end_of_group(self) -> &'static str {
        if self.has(Self::EXTENDED) { "\\E\n)" } else { "\\E)" }
    }
}

/// Limit of the heap memory of every search, in KiB: 256 MiB. PCRE2 would otherwise use up to 20 GB. The JIT stays off,
/// because it uses the stack and its limits differ between machines.
const MAX_HEAP_KIB: u32 = 256 << 10;
