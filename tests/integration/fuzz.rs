//! The checks of the fuzz targets over a fixed corpus and mutations of it, which are always the same.

use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::checks;

/// The files of a folder of the corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).expect("it has a corpus").map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Bytes put in, left out, exchanged, doubled; and what means something put in.
fn mutated(text: &[u8], random: &mut Rng) -> Vec<u8> {
    const WORDS: [&[u8]; 24] = [
        b"\"",
        b"'",
        b"\\",
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b")",
        b"\n",
        b"\n\n",
        b"/*",
        b"*/",
        b"//",
        b"=",
        b";",
        b",",
        b"<c>",
        b"</c>",
        b"&amp;",
        b"---\n",
        b"\\/Expr(",
        b"\xff",
        b"\0",
    ];
    let mut text = text.to_vec();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(0..=text.len());
        let end = (at + random.usize(0..20)).min(text.len());
        match random.u8(0..5) {
            0 => drop(text.drain(at..end)),
            1 => text.insert(at, random.u8(..)),
            2 => {
                let again = text[at..end].to_vec();
                let to = random.usize(0..=text.len());
                text.splice(to..to, again);
            }
            3 => text.truncate(at.max(1)),
            _ => drop(text.splice(at..at, WORDS[random.usize(0..WORDS.len())].iter().copied())),
        }
    }
    text
}

fn run(target: &str, check: fn(&[u8])) {
    let corpus = corpus(target);
    let mut random = Rng::with_seed(25);
    for text in &corpus {
        check(text);
        for _ in 0..250 / corpus.len() {
            let other = &corpus[random.usize(0..corpus.len())];
            let text = if random.bool() {
                mutated(text, &mut random)
            } else {
                mutated(&[text.as_slice(), other].concat(), &mut random)
            };
            check(&text);
        }
    }
}

macro_rules! targets {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            run(stringify!($target), checks::$target);
        })*

        /// Every target of cargo-fuzz is run here, too.
        #[test]
        fn every_target_is_tested() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
            let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
            found.sort();
            let names: Vec<_> = found.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
            let mut tested = vec![$(stringify!($target)),*];
            tested.sort_unstable();
            assert_eq!(names, tested);
        }
    };
}

targets!(analysed compiled configuration expression gangs indexed json layout long negotiated new parts policy printed rules selected
    spec specialized stored stream xml yaml);
