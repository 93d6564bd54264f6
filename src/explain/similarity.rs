//! How similar texts are: values that offers have, and the one that a clause asks for.

use rustc_hash::FxHashSet;

/// Minimum length of a wanted text that counts as found within a value, in characters.
const MIN_CONTAINED_CHARS: usize = 3;

/// How near the versions `10.2.1` are to each other, by their first three numbers; `None` if a text is no version.
fn version_similarity(one: &str, other: &str) -> Option<f64> {
    let number = |version: &str| {
        let numbers: Option<Vec<u32>> = version.split('.').map(|number| number.parse().ok()).collect();
        let numbers = numbers.filter(|numbers| numbers.len() > 2)?;
        Some(numbers.iter().take(3).fold(0.0, |sum, number| sum * 1000.0 + f64::from(*number)))
    };
    Some(1.0 / (1.0 + (number(one)? - number(other)?).abs() / 1e6))
}

/// The Dice coefficient of the pairs of adjacent letters of two texts, ignoring case; of numbers and versions, how near they
/// are.
#[expect(clippy::cast_precision_loss, reason = "a measure of similarity")]
pub fn similarity(one: &str, other: &str) -> f64 {
    if let (Ok(one), Ok(other)) = (one.parse::<f64>(), other.parse::<f64>()) {
        return 1.0 / (1.0 + (one - other).abs());
    }
    if let Some(similarity) = version_similarity(one, other) {
        return similarity;
    }
    let pairs = |text: &str| -> FxHashSet<(char, char)> {
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    // A name that goes on is the most similar: `NVIDIA H100 80GB HBM3` for `NVIDIA H100`.
    if one.chars().count() >= MIN_CONTAINED_CHARS && other.to_lowercase().contains(&one.to_lowercase()) {
        return 1.0;
    }
    let [one, other] = [pairs(one), pairs(other)];
    let common = one.intersection(&other).count();
    2.0 * common as f64 / (one.len() + other.len()).max(1) as f64
}
