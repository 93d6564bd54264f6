//! Every `$ classad ...` block of the README, of the samples' README and of `tests/cases` is executed
//! and compared.  `BLESS=1` rewrites what differs.

#[test]
fn documents_tell_the_truth() {
    if std::env::var_os("BLESS").is_some() {
        // Before any other thread of this test reads the environment.
        // The harness itself asks for this variable.
        assert_eq!(std::env::var("TRYCMD").as_deref(), Ok("overwrite"), "BLESS=1 goes with TRYCMD=overwrite");
    }
    trycmd::TestCases::new()
        .env("TZ", "UTC")
        .env("COLUMNS", "80")
        .case("README.md")
        .case("samples/README.md")
        .case("tests/cases/*.md");
}
