//! Ads laid out: the same tokens and comments, and once is enough.

use std::path::{Path, PathBuf};

use classad::ad::{Ad, Dialect};
use classad::format::{FileFormat, FormattedText, detect, format_ads, read, write};
use classad::syntax::{StringSyntax, Token};
use logos::Logos;
use proptest::prelude::*;

use super::properties::{name, tree};

/// The text laid out, after a look at whether laying it out again changes anything.
fn laid_out(text: &[u8], form: FileFormat, dialect: Dialect, width: usize) -> FormattedText {
    let once = format_ads(text, form, dialect, width).expect("a form with a layout");
    let twice = format_ads(&once.text, form, dialect, width).expect("a form with a layout");
    assert_eq!(
        String::from_utf8_lossy(&once.text),
        String::from_utf8_lossy(&twice.text),
        "from {}",
        String::from_utf8_lossy(text)
    );
    once
}

/// The ads of a text that parse.
fn ads(text: &[u8], form: FileFormat, dialect: Dialect) -> Vec<Ad> {
    read(text, form, dialect).filter_map(|item| item.ok().map(|entry| entry.ad)).collect()
}

/// Lays out and compares the ads before and behind.
fn same_ads(text: &[u8], form: FileFormat, dialect: Dialect, width: usize) -> FormattedText {
    let laid = laid_out(text, form, dialect, width);
    let (before, behind) = (ads(text, form, dialect), ads(&laid.text, form, dialect));
    assert!(before == behind, "{}\nbecame\n{}", String::from_utf8_lossy(text), String::from_utf8_lossy(&laid.text));
    laid
}

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "ad" || extension == "long")).collect()
}

#[test]
fn the_samples_are_laid_out_once_and_mean_the_same() {
    let samples = samples();
    assert!(samples.len() > 30, "{samples:?}");
    for path in samples {
        let text = std::fs::read(&path).unwrap();
        let form = detect(&text).unwrap();
        let dialect = if form.facts().is_of_htcondor { Dialect::Condor } else { Dialect::Classad };
        for width in [20, 80, 100] {
            let laid = same_ads(&text, form, dialect, width);
            assert!(laid.is_valid(), "{}", path.display());
            let comments = |text: &[u8]| {
                let text = String::from_utf8_lossy(text).into_owned();
                let marks = ["//", "#"].map(|mark| text.matches(mark).count());
                (marks, text.split_whitespace().collect::<String>().len())
            };
            assert_eq!(comments(&text).0, comments(&laid.text).0, "{}", path.display());
        }
    }
}

/// What may stand between two tokens; `#` is the number of the comment.
const BETWEEN: [&str; 10] = [
    " // #\n",
    "\n// #\n",
    "\n\n  // #\n\n",
    " /* # */ ",
    "/* # */",
    "\n/* # */",
    "/* # */\n",
    "  /* #\n    on */ ",
    "\n \t\n",
    " // #\n\n/* # */ // #\n",
];

/// A text with comments and lines put between its tokens, and the comments.
fn disturbed(text: &[u8], choices: &[(usize, usize)]) -> (Vec<u8>, Vec<String>) {
    let spans = Token::lexer_with_extras(text, StringSyntax::Escaped.into()).spanned().map(|(_, span)| span);
    let places: Vec<usize> = spans.map(|span| span.start).chain([text.len()]).collect();
    let mut chosen: Vec<(usize, &str)> =
        choices.iter().map(|(place, what)| (places[place % places.len()], BETWEEN[what % BETWEEN.len()])).collect();
    chosen.sort_by_key(|(place, _)| *place);
    let (mut out, mut comments, mut at) = (Vec::new(), Vec::new(), 0);
    for (place, what) in chosen {
        out.extend_from_slice(&text[at..place]);
        at = place;
        for (position, part) in what.split('#').enumerate() {
            if position > 0 {
                let comment = format!("note{}.", comments.len());
                out.extend_from_slice(comment.as_bytes());
                comments.push(comment);
            }
            out.extend_from_slice(part.as_bytes());
        }
    }
    out.extend_from_slice(&text[at..]);
    (out, comments)
}

/// The comments that `disturbed` put into a text.
fn notes(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text).into_owned();
    let ends = text.match_indices("note").filter_map(|(at, _)| text[at..].find('.').map(|end| &text[at..=at + end]));
    ends.filter(|note| note[4..note.len() - 1].bytes().all(|b| b.is_ascii_digit())).map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Comments and lines between any two tokens: each comment survives once, in order, and the ads
    /// mean what they meant.
    #[test]
    fn comments_survive_anywhere(
        attributes in prop::collection::vec((name(), tree()), 0..4),
        choices in prop::collection::vec((0_usize..1000, 0_usize..10), 0..6),
        width in prop::sample::select(vec![20_usize, 40, 80, 200]),
        condor in any::<bool>(),
    ) {
        let dialect = if condor { Dialect::Condor } else { Dialect::Classad };
        let mut text = Vec::new();
        write(&mut text, &attributes.into_iter().collect(), FileFormat::Bracketed).unwrap();
        let (text, comments) = disturbed(&text, &choices);
        prop_assume!(read(&text, FileFormat::Bracketed, dialect).all(|item| item.is_ok()));
        let laid = same_ads(&text, FileFormat::Bracketed, dialect, width);
        prop_assert_eq!(notes(&laid.text), comments);
        prop_assert!(!laid.text.split(|byte| *byte == b'\n').any(|line| line.ends_with(b" ")
            && !line.contains(&b'"') && !line.contains(&b'\'')));
    }

    /// Several ads, with separators and what is not an ad between them.
    #[test]
    fn files_of_anything(
        parts in prop::collection::vec(prop::sample::select(vec![
            "[ a = 1 ]", "[b=\"x\n y\";c={1,2}]", "[ a = (1 ]", "[", "]", "{", "}", ",", ";", "x", "// c\n", "/* d */",
            "\n", "\n\n", "\r\n", " ", "  [ a = \"x ]\n", "/* e\n  f */", "[ ]", "\"", "'", "[a = 1; // g\n ]", "#",
        ]), 0..12),
    ) {
        let text = parts.concat();
        same_ads(text.as_bytes(), FileFormat::Bracketed, Dialect::Classad, 40);
    }

    /// Lines with any space, comments between them, and lines that are not attributes.
    #[test]
    fn lines_of_anything(
        parts in prop::collection::vec(prop::sample::select(vec![
            "a = 1", "b=\"C:\\dir\\\"", "c = \"x\\\" \" ", "  'q =' = {1,2}", "d = f(1 ,2)// e", "e = 1 junk \"x\\\" ",
            "# c", " // d ", "f = [ g=1;;h = 2; ]", "x", "i = (", "j = - 5 + -5", "k = a/* l */+ 1", "\t", "", "", "\r",
            "m=1;2", "n = 1 /* o", "/* p */ q = 1", "r = \"x", "s==1", "= 1", "t = a?b:c", "u = \"\" \"\"",
        ]), 0..12),
        windows in any::<bool>(),
        ended in any::<bool>(),
    ) {
        let end = if windows { "\r\n" } else { "\n" };
        let text = parts.join(end) + if ended { end } else { "" };
        for dialect in [Dialect::Classad, Dialect::Condor] {
            same_ads(text.as_bytes(), FileFormat::Long, dialect, 80);
        }
    }

    /// Ads in the long form.
    #[test]
    fn long_ads(attributes in prop::collection::vec((name(), tree()), 0..4)) {
        let mut text = Vec::new();
        write(&mut text, &attributes.into_iter().collect(), FileFormat::Long).unwrap();
        // Names with semicolons may look like JDL, which is refused.
        prop_assume!(format_ads(&text, FileFormat::Long, Dialect::Condor, 80).is_ok());
        same_ads(&text, FileFormat::Long, Dialect::Condor, 80);
    }

    /// Any bytes at all.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(prop::sample::select(b"[]{}();=\"'\\/*ab01.,<>&|?:!-+ \n\r\t\0\xff#".to_vec()), 0..50)) {
        for form in [FileFormat::Bracketed, FileFormat::Long] {
            // What looks like JDL is refused.
            if format_ads(&bytes, form, Dialect::Classad, 20).is_err() {
                continue;
            }
            same_ads(&bytes, form, Dialect::Classad, 20);
        }
    }
}

/// A new folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = crate::binary::temporary().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder can be written");
    }
    folder
}

/// Runs `classad fmt` in a folder: exit status, standard output and error.
fn fmt(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_classad"))
        .arg("fmt")
        .args(arguments)
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The names and texts of the files in a folder.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn files_are_rewritten_at_once_or_not_at_all() {
    let bad = "[ b=1 ]\n[ b=( ]\n";
    let folder = folder("rewritten", &[("good.ad", "[ a=1 ]"), ("bad.ad", bad), ("done.ad", "[\n  a = 1;\n]\n")]);
    let (status, out, err) = fmt(&folder, &["-w", "good.ad", "bad.ad", "done.ad"]);
    assert!(status == Some(2) && out.is_empty() && err.contains("bad.ad is left as it is"), "{err}");
    let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let done = "[\n  a = 1;\n]\n";
    assert_eq!(files(&folder), [text("bad.ad", bad), text("done.ad", done), text("good.ad", done)]);
    // Leniency is about the exit status: a file with a bad ad is still left alone.
    assert_eq!(fmt(&folder, &["-w", "--lenient", "bad.ad"]).0, Some(0));
    assert_eq!(std::fs::read_to_string(folder.join("bad.ad")).unwrap(), bad);
    for (arguments, reason) in [
        (&["-w"][..], "-w rewrites files: name them"),
        (&["-w", "-"], "-w rewrites files: name them"),
        (&["-w", "."], "cannot read ."),
        (&["-w=/x", "good.ad"], "cannot contain a slash"),
        (&["-w", "--check", "good.ad"], "cannot be used with"),
        (&["--width", "3", "good.ad"], "a width is a number"),
    ] {
        let (status, _, err) = fmt(&folder, arguments);
        assert!(status == Some(2) && err.contains(reason), "{arguments:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn rewritten_files_keep_their_permissions_and_their_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("permissions", &[("policy.ad", "[ a=1 ]"), ("locked.ad", "[ b=1 ]")]);
    let mode = |name: &str| std::fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o7777;
    let set = |name, mode| std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(mode)).unwrap();
    set("policy.ad", 0o640);
    set("locked.ad", 0o444);
    symlink("policy.ad", folder.join("link.ad")).unwrap();
    assert_eq!(fmt(&folder, &["--write=.bak", "link.ad"]).0, Some(0));
    assert!(std::fs::symlink_metadata(folder.join("link.ad")).unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(folder.join("policy.ad")).unwrap(), "[\n  a = 1;\n]\n");
    assert_eq!(std::fs::read_to_string(folder.join("policy.ad.bak")).unwrap(), "[ a=1 ]");
    assert_eq!((mode("policy.ad"), mode("policy.ad.bak")), (0o640, 0o640));
    let (status, _, err) = fmt(&folder, &["-w", "locked.ad"]);
    assert!(status == Some(2) && err.contains("cannot write locked.ad"), "{err}");
    assert_eq!(files(&folder).len(), 4, "no temporary file is left: {:?}", files(&folder));
}

#[test]
fn a_difference_is_one_that_patch_can_use() {
    let old = "a=1\nb = \"x\ry\"\r\nc=3";
    let folder = folder("difference", &[("x.long", old)]);
    let (status, out, _) = fmt(&folder, &["--diff", "x.long"]);
    let expected = "--- x.long\n+++ x.long\n@@ -1,3 +1,3 @@\n-a=1\n-b = \"x\ry\"\r\n-c=3\n\
                    \\ No newline at end of file\n+a = 1\n+b = \"x\ry\"\n+c = 3\n";
    assert_eq!((status, out.as_str()), (Some(1), expected));
}
