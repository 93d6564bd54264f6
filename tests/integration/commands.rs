//! Every `$ classad ...` block of the README, of the samples' README, of the topics of `classad help`, which are also
//! manual pages, and of `tests/cases` is executed and compared.  With `TRYCMD=overwrite` in the environment what differs is rewritten.

#[test]
fn documents_tell_the_truth() {
    trycmd::TestCases::new()
        .env("TZ", "UTC")
        .env("COLUMNS", "80")
        .case("README.md")
        .case("samples/README.md")
        .case("src/cli/commands/help/topics/*.md")
        .case("tests/cases/*.md");
}
