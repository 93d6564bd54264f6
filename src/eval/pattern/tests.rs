use super::{CompiledPattern, PatternOptions, SearchForm, SearchSteps, as_utf8, build};
use crate::ad::ByteString;

const ENOUGH: u64 = 1_000_000_000;

/// Returns a random pattern. It may be invalid.
fn random_pattern(random: &mut fastrand::Rng, depth: u8) -> String {
    const PARTS: [&str; 22] = [
        "a", "b", ".", "[ab]", "[^a]", "\\n", "^", "$", "\\b", "\\G", "\\K", "a*", "b+", ".*?", "a{2,}", "(a)",
        "(?=b)", "(?<=a)", "(?>a*)", "a*+", "\\1", "(?i)",
    ];
    let mut text = String::new();
    for _ in 0..random.usize(1..4) {
        match random.u8(0..10) {
            0 if depth > 0 => text += &["(", &random_pattern(random, depth - 1), ")"].concat(),
            1 if depth > 0 => text += &["(?:", &random_pattern(random, depth - 1), ")*"].concat(),
            2 => text.push('|'),
            3 if random.u8(0..8) == 0 => text += ["(*COMMIT)", "(*SKIP)", "(?R)?", "(*ACCEPT)"][random.usize(..4)],
            _ => text += PARTS[random.usize(..PARTS.len())],
        }
    }
    text
}

/// A search within limits finds what PCRE2 finds without them, with the same groups.
#[test]
fn limits_change_no_match() {
    let mut random = fastrand::Rng::with_seed(21);
    let mut forms = [0; 3];
    for _ in 0..20_000 {
        let text = random_pattern(&mut random, 2);
        let letters: &[u8] = [&b""[..], b"m", b"s", b"ix"][random.usize(..4)];
        let options = PatternOptions::of(letters);
        let Ok(pattern) = CompiledPattern::new(&ByteString::from(text.as_bytes().to_vec()), options) else {
            continue;
        };
        let Ok(plain) = build(&text, options) else { panic!("{text} can be compiled") };
        forms[pattern.form as usize] += 1;
        let subject: Vec<u8> = (0..random.usize(..90)).map(|_| b"aab\nB"[random.usize(..5)]).collect();
        let from = random.usize(..=subject.len());
        let mut groups = plain.capture_locations();
        let expected = plain.captures_read_at(&mut groups, &subject, from);
        let mut steps = SearchSteps::new(ENOUGH);
        let found = pattern.find(&subject, from, &mut steps);
        let all = |groups: &super::CaptureLocations| (0..groups.len()).map(|at| groups.get(at)).collect::<Vec<_>>();
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                let expected = expected.map(|_| all(&groups));
                assert_eq!(found.as_ref().map(all), expected, "{text} {letters:?} {subject:?} {from}");
            }
            (expected, found) => assert!(expected.is_err() && found.is_err(), "{text}: {expected:?} {found:?}"),
        }
        let matches = pattern.matches(&subject, &mut SearchSteps::new(ENOUGH)).ok();
        assert_eq!(matches, plain.is_match(&subject).ok(), "{text} {letters:?} {subject:?}");
        let mut again = SearchSteps::new(ENOUGH);
        let _ = pattern.find(&subject, from, &mut again);
        assert_eq!(again.taken(), steps.taken(), "{text}");
    }
    assert!(forms.iter().all(|count| *count > 50), "{forms:?}");
}

#[test]
fn searches_take_steps() {
    let steps = |pattern: &str, length: usize| {
        let pattern = CompiledPattern::new(&ByteString::from(pattern.as_bytes().to_vec()), PatternOptions::of(b""));
        let mut steps = SearchSteps::new(ENOUGH);
        let found = pattern.unwrap().matches(&vec![b'x'; length], &mut steps);
        (steps.taken(), found.map_err(|fault| fault.to_string()))
    };
    assert_eq!(steps("^x", 1000), (4, Ok(true)));
    assert_eq!(steps("[yz]", 20), (168, Ok(false)));
    assert_eq!(steps("[yz]", 1000), (4004, Ok(false)));
    let (taken, found) = steps("^(x+)+$.", 60);
    assert_eq!(found, Err("the search for a match takes too many steps".to_owned()));
    assert!((2_500_000..5_000_000).contains(&taken), "{taken}");
    let (taken, found) = steps("x+[yz]", 2000);
    assert_eq!(found, Ok(false));
    // 2000 starts, which pass 1000 bytes on average.
    assert!((500_000..2_500_000).contains(&taken), "{taken}");
    assert_eq!(steps("(?:x*+y|x)*[yz]", 300_000).1, Err("the search takes too many steps".to_owned()));
    let form = |text| SearchForm::of(text, PatternOptions::of(b""));
    assert_eq!(
        ["^a", "^a|b", "a", "^*a", "a(*SKIP)b", "(?R)?a"].map(form),
        [
            SearchForm::Anchored,
            SearchForm::Prefixed,
            SearchForm::Prefixed,
            SearchForm::Prefixed,
            SearchForm::Repeated,
            SearchForm::Repeated
        ]
    );
}

#[test]
fn bytes_beyond_ascii_are_escaped() {
    assert_eq!(as_utf8(b"a\xe9\\\xe9\\Q\\\xe9\\E\\\\\xe9"), "a\\xe9\\xe9\\Q\\\\E\\xe9\\Q\\E\\\\\\xe9");
}

#[test]
fn calls_that_pass_many_bytes_are_charged_for_them() {
    for (pattern, expected) in [
        ("abc", 3),
        ("(a*)b", 5),
        ("a{3}", 12),
        ("a{2,5}", 12),
        ("a{2,}", 10),
        ("a{2}b{3}", 48),
        ("(?>a{2,5})", 50),
        ("(a)\\1", 5),
        ("(a*)\\1", u64::MAX),
        ("(a+)\\g1", u64::MAX),
        ("(a{2,})\\1", u64::MAX),
        ("\\X*", u64::MAX),
        ("\\d*", 3),
        ("x*+", u64::MAX),
        ("(?=a*)", u64::MAX),
        ("a(?R)?", u64::MAX),
    ] {
        assert_eq!(super::bytes_per_call(pattern), expected, "{pattern}");
    }
}
