//! Properties of differences between random ads.

use classad::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Span, Value, structurally_equal};
use classad::pool::diff::{DiffMode, Difference, UnpairedAds, differences};
use classad::syntax::{ParseOptions, Style, parse_expression, print};
use proptest::prelude::*;

use super::binary::{classad, file};
use super::properties::{name, tree};

fn attributes() -> impl Strategy<Value = Vec<(Name, Expression)>> {
    prop::collection::vec((name(), tree()), 0..8)
}

fn ad(attributes: Vec<(Name, Expression)>) -> Ad {
    attributes.into_iter().collect()
}

/// The attributes of an ad in another order.
fn shuffled(ad: &Ad, seed: u64) -> Ad {
    let mut attributes: Vec<_> = ad.iter().map(|one| (one.name.clone(), one.expression.clone())).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut attributes);
    attributes.into_iter().collect()
}

/// The first ad with the differences made to it.
fn applied(before: &Ad, differences: &[Difference]) -> Ad {
    let mut attributes: Vec<_> = before.iter().map(|one| (one.name.clone(), one.expression.clone())).collect();
    for difference in differences {
        attributes.retain(|(name, _)| name != difference.name());
        attributes.extend(difference.after().map(|after| (after.name.clone(), after.expression.clone())));
    }
    attributes.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// An ad is the same as itself, in any order of its attributes.
    #[test]
    fn nothing_differs_from_itself(attributes in attributes(), seed: u64) {
        let ad = ad(attributes);
        for measure in [DiffMode::Meaning, DiffMode::Text] {
            prop_assert!(differences(&ad, &ad, measure).is_empty());
            prop_assert!(differences(&ad, &shuffled(&ad, seed), measure).is_empty());
        }
    }

    /// The first ad with the differences made to it is the second one.
    #[test]
    fn differences_lead_from_one_ad_to_the_other(before in attributes(), after in attributes()) {
        let (before, after) = (ad(before), ad(after));
        for measure in [DiffMode::Meaning, DiffMode::Text] {
            let made = applied(&before, &differences(&before, &after, measure));
            prop_assert!(differences(&made, &after, measure).is_empty());
            prop_assert_eq!(made.len(), after.len());
        }
    }

    /// One change is one difference, and in the right attribute.
    #[test]
    fn a_change_is_found(attributes in attributes(), which: prop::sample::Index, other in tree()) {
        let before = ad(attributes);
        prop_assume!(!before.is_empty());
        let name = before.iter().nth(which.index(before.len())).unwrap().name.clone();
        prop_assume!(!structurally_equal(before.get(&name).unwrap(), &other));
        let after = before.with(name.clone(), other);
        let found = differences(&before, &after, DiffMode::Meaning);
        prop_assert_eq!(found.iter().map(Difference::name).collect::<Vec<_>>(), [&name]);
        let back = differences(&after, &before, DiffMode::Meaning);
        prop_assert_eq!(back.len(), 1);
    }

    /// A change somewhere deep in a tree is a change of the tree.
    #[test]
    fn a_change_of_one_leaf_is_found(tree in tree(), which: prop::sample::Index) {
        let mut leaves = 0;
        let _ = with_leaf(&tree, usize::MAX, &mut leaves);
        let changed = with_leaf(&tree, which.index(leaves), &mut 0);
        prop_assert!(!structurally_equal(&tree, &changed));
        prop_assert!(!structurally_equal(&changed, &tree));
    }

    /// What is printed and read again is the same tree, with whatever parentheses it then has.
    #[test]
    fn printing_changes_no_meaning(tree in tree()) {
        let again = parse_expression(&print(&tree, Style::New), ParseOptions::new(Dialect::Condor)).unwrap();
        prop_assert!(structurally_equal(&tree, &again));
    }

    /// Partners have the same identity, nothing has two, and nobody is left who has one in the other set.
    #[test]
    fn partners_leave_nobody_out(
        before in prop::collection::vec(0_u32..6, 0..12),
        after in prop::collection::vec(0_u32..6, 0..12),
    ) {
        let mut partners: UnpairedAds<u32> = before.iter().copied().collect();
        let found: Vec<Option<usize>> = after.iter().map(|identity| partners.take_partner(identity)).collect();
        let left = partners.into_positions();
        for (identity, partner) in after.iter().zip(&found) {
            prop_assert!(partner.is_none_or(|partner| before[partner] == *identity));
            prop_assert!(partner.is_some() || left.iter().all(|other| before[*other] != *identity));
        }
        let mut all: Vec<usize> = found.iter().flatten().copied().chain(left).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..before.len()).collect::<Vec<_>>());
    }
}

/// The tree with another leaf in the place of one; counts the leaves that it passes.
fn with_leaf(tree: &Expression, which: usize, passed: &mut usize) -> Expression {
    let mut inner = |one: &Expression| with_leaf(one, which, passed);
    let kind = match tree.kind() {
        ExpressionKind::Select(a, name) => ExpressionKind::Select(inner(a), name.clone()),
        ExpressionKind::Unary(operator, a) => ExpressionKind::Unary(*operator, inner(a)),
        ExpressionKind::Parentheses(a) => ExpressionKind::Parentheses(inner(a)),
        ExpressionKind::Subscript(a, b) => ExpressionKind::Subscript(inner(a), inner(b)),
        ExpressionKind::Binary(operator, a, b) => ExpressionKind::Binary(*operator, inner(a), inner(b)),
        ExpressionKind::Elvis(a, b) => ExpressionKind::Elvis(inner(a), inner(b)),
        ExpressionKind::Conditional(a, b, c) => ExpressionKind::Conditional(inner(a), inner(b), inner(c)),
        ExpressionKind::Call(name, all) if !all.is_empty() => {
            ExpressionKind::Call(name.clone(), all.iter().map(inner).collect())
        }
        ExpressionKind::List(all) if !all.is_empty() => ExpressionKind::List(all.iter().map(inner).collect()),
        ExpressionKind::Ad(ad) if !ad.is_empty() => {
            ExpressionKind::Ad(ad.iter().map(|one| (one.name.clone(), inner(one.expression))).collect())
        }
        _ => {
            *passed += 1;
            if *passed - 1 != which {
                return tree.clone();
            }
            // No random tree has this leaf: its strings are shorter.
            ExpressionKind::Literal(Value::string("no random leaf"))
        }
    };
    Expression::new(kind, Span::default())
}

#[test]
fn many_ads_find_their_partners_quickly() {
    let identities: Vec<String> = (0..20_000).map(|number| format!("slot{number}")).collect();
    let mut others = identities.clone();
    fastrand::Rng::with_seed(1).shuffle(&mut others);
    let mut partners: UnpairedAds<&str> = identities.iter().map(String::as_str).collect();
    assert!(
        others
            .iter()
            .all(|other| partners.take_partner(&other.as_str()).is_some_and(|place| identities[place] == *other))
    );
    // All called the same: no quadratic search for the partner.
    let mut partners: UnpairedAds<()> = std::iter::repeat_n((), 200_000).collect();
    assert!((0..200_000).all(|place| partners.take_partner(&()) == Some(place)));
    assert!(partners.into_positions().is_empty());
}

/// The paragraphs of a file in the long form: ads with and without names, with errors and warnings, and comments.
fn paragraphs() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0_usize..9, 0_usize..7), 0..9)
}

fn long_text(paragraphs: &[(usize, usize)], ending: &str) -> String {
    let heads =
        ["Name = \"a\"", "Name = \"b\"", "Name = \"c\"", "Name=\"a\"", "Name = strcat(\"a\", \"\")", "# only", "X = 1"];
    let bodies = [
        "A = 1\nB = { 1, A }",
        "A = 2\nB = { 1, A }",
        "B = {1,A}\nA = (1)",
        "A = 1 2\nB = { 1, A }",
        "A = (",
        "# A = 1",
        "A = 1\n // B\nB = { 1, A }",
        "C = \"x\"\r",
        "",
    ];
    let text: Vec<String> =
        paragraphs.iter().map(|(body, head)| format!("{}\n{}\n", heads[*head], bodies[*body])).collect();
    text.join(if ending.len() > 1 { " \n\n" } else { "\n" }) + ending
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    /// Comparing the texts of ads finds what comparing their trees finds. With `--seed`, trees are compared.
    #[test]
    fn texts_and_trees_of_ads_have_the_same_differences(
        before in paragraphs(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..4, 0_usize..9, 0_usize..7), 0..4),
        (one, other) in (0_usize..3, 0_usize..3),
        options in 0_usize..5,
    ) {
        let mut after = before.clone();
        for (place, kind, body, head) in changes {
            let place = place.index(after.len() + 1);
            match kind {
                0 => after.insert(place, (body, head)),
                1 if place < after.len() => drop(after.remove(place)),
                2 if place < after.len() => after[place] = (body, head),
                _ => after.rotate_left(place),
            }
        }
        let endings = ["", "\n", "\n\n"];
        let [before, after] = [
            file("texts-before.long", long_text(&before, endings[one])),
            file("texts-after.long", long_text(&after, endings[other])),
        ];
        let options = [&[][..], &["--textual"], &["-o", "json"], &["--quiet"], &["--id", "A", "--ignore", "B"]][options];
        let compared = |more: &[&str]| {
            classad(&[&["diff", "--from", "long", "--now", "0", &before, &after], options, more].concat())
        };
        let trees = compared(&["--seed", "1"]);
        prop_assert_eq!(&compared(&[]), &trees);
        prop_assert_eq!(&compared(&["--threads", "3"]), &trees);
    }
}

/// What changes with time alone is left out with `--no-clocks`.
#[test]
fn clocks_can_be_left_out() {
    let slot = |clock: u32, state: &str| {
        format!(
            "MyType = \"Machine\"\nName = \"s\"\nClockMin = {clock}\nEnteredCurrentActivity = {clock}\n\
             KeyboardIdle = {clock}\nMyCurrentTime = {clock}\nUpdatesTotal = {clock}\nState = \"{state}\"\n"
        )
    };
    let [before, later, changed] =
        [("clocks-1", slot(1, "Owner")), ("clocks-2", slot(2, "Owner")), ("clocks-3", slot(3, "Claimed"))]
            .map(|(name, text)| file(name, text));
    assert_eq!(classad(&["diff", &before, &later]).0, Some(1));
    assert_eq!(classad(&["diff", &before, &later, "--no-clocks"]).0, Some(0));
    let (status, out, _) = classad(&["diff", &before, &changed, "--no-clocks"]);
    assert!(status == Some(1) && out.contains("State") && !out.contains("ClockMin"), "{out}");
}
