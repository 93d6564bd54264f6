use super::slice;

#[test]
fn slices_are_rounded_up_and_starve_no_one() {
    for (offers, share, expected) in [(6, 2.0 / 3.0, 4), (6, 1.0 / 3.0, 2), (1, 0.1, 1), (10, 0.26, 3), (3, 1.0, 3)] {
        assert_eq!(slice(offers, share), expected, "{share} of {offers}");
    }
}
