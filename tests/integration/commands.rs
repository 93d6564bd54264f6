//! Executes every `$ classad ...` block of the README, the tour, the samples' README, the topics of `classad help` and
//! `tests/cases`, and compares the output. `TRYCMD=overwrite` in the environment rewrites outputs that differ.

#[test]
fn documents_tell_the_truth() {
    let cases = trycmd::TestCases::new();
    // A script of `packaging/` runs these with the binary of another processor.
    if let Some(other) = std::env::var_os("OTHER_CLASSAD") {
        cases.register_bin("classad", std::path::PathBuf::from(other));
    }
    cases
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "80")
        .case("README.md")
        .case("samples/README.md")
        .case("samples/tour.md")
        .case("src/cli/commands/help/topics/*.md")
        .case("tests/cases/*.md");
}
