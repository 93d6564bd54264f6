//! How similar texts are: values that offers have, and the one that a clause asks for.

use rustc_hash::FxHashSet;

/// Minimum length of a wanted text that counts as found within a value, in characters.
const MIN_CONTAINED_CHARS: usize = 3;

/// What is left of the similarity of two names of devices that are of different models.
const OF_ANOTHER_MODEL: f64 = 0.1;

/// How near the versions `10.2.1` are to each other, by their first three numbers; `None` if a text is no version.
fn version_similarity(one: &str, other: &str) -> Option<f64> {
    let number = |version: &str| {
        let numbers: Option<Vec<u32>> = version.split('.').map(|number| number.parse().ok()).collect();
        let numbers = numbers.filter(|numbers| numbers.len() > 2)?;
        Some(numbers.iter().take(3).fold(0.0, |sum, number| sum * 1000.0 + f64::from(*number)))
    };
    Some(1.0 / (1.0 + (number(one)? - number(other)?).abs() / 1e6))
}

/// Returns the words that number a model, such as `RTX 3060`, in lower case: another number is another device, and no other
/// spelling. A version has fewer digits.
pub fn model_words(name: &str) -> impl Iterator<Item = String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_of_model = |word: &&str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        digits > 2 || digits > 0 && digits < word.len()
    };
    words.filter(is_of_model).map(str::to_ascii_lowercase)
}

/// Whether two names of devices are of different models: `Tesla T4` and `Tesla L4`.
fn are_models(one: &str, other: &str) -> bool {
    let first = |text: &str| model_words(text).next();
    one.contains(' ') && first(one).is_some_and(|model| first(other).is_none_or(|other| other != model))
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
    let share = if are_models(one, other) { OF_ANOTHER_MODEL } else { 1.0 };
    let [one, other] = [pairs(one), pairs(other)];
    let common = one.intersection(&other).count();
    share * 2.0 * common as f64 / (one.len() + other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{model_words, similarity};

    #[test]
    #[expect(clippy::float_cmp, reason = "the measures are exact")]
    fn measures_of_similarity() {
        for (wanted, value, expected) in [
            ("abc", "xABCx", 1.0),
            // A text of two letters is within many.
            ("ab", "xabx", 0.5),
            ("abc", "ab", 2.0 / 3.0),
            ("abcd", "cdab", 2.0 / 3.0),
            ("a", "a", 0.0),
            ("", "", 0.0),
            ("abc", "xyz", 0.0),
            ("4", "4", 1.0),
            ("4", "5.0", 0.5),
            ("5", "1", 0.2),
            ("1.2.3", "1.2.3", 1.0),
            ("1.2.3", "2.2.3", 0.5),
            ("1.2.3.4", "1.2.3.9", 1.0),
            ("1.2.3", "2.2", 2.0 / 3.0),
            // Of another model, a tenth is left.
            ("Tesla T4", "Tesla L4", 0.1 * 10.0 / 14.0),
            ("TeslaT4", "TeslaL4", 8.0 / 12.0),
            ("Tesla T4", "Tesla", 0.1 * 8.0 / 11.0),
        ] {
            assert_eq!(similarity(wanted, value), expected, "{wanted} {value}");
        }
    }

    #[test]
    fn words_that_number_a_model() {
        for (name, expected) in [
            ("NVIDIA RTX 3060", "3060"),
            ("GeForce GTX-1080 Ti", "1080"),
            ("Tesla T4", "t4"),
            ("A100-SXM4-40GB", "a100 sxm4 40gb"),
            ("driver 12", ""),
            ("driver 123", "123"),
            ("", ""),
        ] {
            assert_eq!(model_words(name).collect::<Vec<_>>().join(" "), expected, "{name}");
        }
    }

    #[test]
    fn the_same_model_in_another_spelling_is_the_most_similar() {
        for (wanted, nearer, farther) in [
            ("NVIDIA H100", "NVIDIA H100 80GB HBM3", "NVIDIA H200"),
            ("NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB", "NVIDIA A40-SXM4-40GB"),
            ("Tesla T4", "NVIDIA Tesla T4", "Tesla L4"),
            ("Madisn", "Madison", "Medina"),
            ("10.2.1", "10.3.0", "12.0.0"),
            ("8", "9", "7.5e3"),
        ] {
            let [nearer_is, farther_is] = [nearer, farther].map(|value| similarity(wanted, value));
            assert!(nearer_is > farther_is, "{wanted}: {nearer} {nearer_is}, {farther} {farther_is}");
        }
    }
}
