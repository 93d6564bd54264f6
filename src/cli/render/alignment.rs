//! Alignment of texts in columns of any width. The widths of `format!` end at 65,535.

/// Returns the text with blanks after it, so that it has at least `width` characters.
pub fn left_aligned(text: &str, width: usize) -> String {
    format!("{text}{}", blanks(text, width))
}

/// Returns the text with blanks before it, so that it has at least `width` characters.
pub fn right_aligned(text: &str, width: usize) -> String {
    format!("{}{text}", blanks(text, width))
}

fn blanks(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::{left_aligned, right_aligned};

    #[test]
    fn texts_have_any_width() {
        assert_eq!(left_aligned("ä", 3), "ä  ");
        assert_eq!(right_aligned("ab", 1), "ab");
        assert_eq!(right_aligned("a", 70_000).len(), 70_000);
    }
}
