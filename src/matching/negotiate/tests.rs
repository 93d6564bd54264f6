use super::slice_size;

#[test]
fn slices_are_whole_and_starve_no_one() {
    for (offers, share, expected) in
        [(6, 2.0 / 3.0, 4), (6, 1.0 / 3.0, 2), (1, 0.1, 1), (10, 0.26, 2), (3, 1.0, 3), (4, f64::NAN, 4)]
    {
        assert_eq!(slice_size(offers, share), expected, "{share} of {offers}");
    }
}
