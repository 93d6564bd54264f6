//! Who gains and who loses by a change, in words.

use classad::text::{counted, join_first};

use super::diagnostics::single_line;

/// Says who gains and who loses something: `2 jobs gain a match: 7.0 and 7.1; no job loses one`. `noun` is the singular of
/// who, and `object` is what they gain. At most `most` are named of each.
pub fn gains_and_losses(gaining: &[&str], losing: &[&str], [noun, object]: [&str; 2], most: usize) -> String {
    let phrase = |names: &[&str], verbs: [&str; 2], object: &str| match names {
        [] => format!("no {noun} {} {object}", verbs[0]),
        [only] => format!("1 {noun} {} {object}: {only}", verbs[0]),
        several => {
            let names = join_first(several.iter(), several.len(), most);
            let hint = if several.len() > most { " (-v lists them)" } else { "" };
            format!("{} {} {object}: {names}{hint}", counted(several.len(), noun), verbs[1])
        }
    };
    let gain = phrase(gaining, ["gains", "gain"], object);
    let lose = phrase(losing, ["loses", "lose"], if losing.is_empty() { "one" } else { object });
    single_line(&format!("{gain}; {lose}"))
}

#[cfg(test)]
mod tests {
    use super::gains_and_losses;

    #[test]
    fn names_are_listed_up_to_the_limit() {
        let words = ["job", "a match"];
        assert_eq!(gains_and_losses(&[], &[], words, 2), "no job gains a match; no job loses one");
        assert_eq!(
            gains_and_losses(&["7.0"], &["8.0"], words, 2),
            "1 job gains a match: 7.0; 1 job loses a match: 8.0"
        );
        let several = gains_and_losses(&["7.0", "7.1", "7.2"], &["8.0", "8.1"], words, 2);
        let expected = "3 jobs gain a match: 7.0, 7.1 and 1 more (-v lists them); 2 jobs lose a match: 8.0 and 8.1";
        assert_eq!(several, expected);
    }
}
