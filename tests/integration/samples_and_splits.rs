//! Ads drawn at random, and ads written into several files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::binary::{classad, classad_on, file};

/// Makes an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = crate::binary::temporary().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

/// Returns `count` ads in the long form, with the numbers from 0 and one of `keys` keys.
fn ads(count: usize, keys: usize) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = write!(text, "Number = {number}\nKey = \"k/{}\"\n\n", number * 7 % keys);
        text
    })
}

#[test]
fn a_sample_has_distinct_ads_in_order() {
    let path = file("sample.long", ads(500, 3).as_bytes());
    let numbers = |text: &str| -> Vec<u32> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("Number = "));
        lines.map(|number| number.parse().expect("it is a number")).collect()
    };
    let sample = |arguments: &[&str]| classad(&[&["sample", path.as_str()], arguments].concat());
    let mut drawn_before = BTreeSet::new();
    for seed in 0..40_u32 {
        let seed = seed.to_string();
        let (status, out, told) = sample(&["-n", "25", "--seed", &seed]);
        let numbers = numbers(&out);
        assert!(status == Some(0) && told.is_empty() && numbers.len() == 25);
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        assert_eq!(sample(&["--ads", "25", "--seed", &seed]).1, out);
        drawn_before.extend(numbers);
    }
    assert!(drawn_before.len() > 350 && drawn_before.last() > Some(&450), "{drawn_before:?}");
    let (status, out, told) = sample(&["-n", "501"]);
    assert_eq!((status, told.as_str()), (Some(0), "note: the input has only 500 ads\n"));
    assert_eq!(numbers(&out), (0..500).collect::<Vec<u32>>());
    assert_eq!(sample(&["-n", "0"]).0, Some(2));
    let (status, out, _) = classad_on(&["sample", "-n", "3", "-o", "jsonl"], b"a = (\nb = 1\n\nc = 2\n");
    assert_eq!((status, out.contains("{\"c\": 2}")), (Some(2), true), "{out}");
    assert_eq!(classad_on(&["sample", "-n", "3"], b"").0, Some(1));
}

#[test]
fn the_files_of_a_split_have_every_ad_once() {
    let text = ads(1000, 150);
    let path = file("split.long", text.as_bytes());
    for form in ["long", "new", "json", "jsonl", "xml", "yaml"] {
        for cut in [&["--ads", "13"][..], &["--bytes", "700"], &["--by", "Key"]] {
            let folder = folder("split");
            let into = folder.join(format!("p-{{}}.{form}"));
            let arguments = [&["split", "-o", form, "--into", into.to_str().unwrap(), &path], cut].concat();
            let (status, out, told) = classad(&arguments);
            assert_eq!((status, told.as_str()), (Some(0), ""));
            let files: Vec<&str> = out.lines().collect();
            let expected = match cut[0] {
                "--ads" => 77,
                "--by" => 150,
                _ => files.len(),
            };
            assert_eq!((files.len(), fs::read_dir(&folder).unwrap().count()), (expected, expected));
            let whole = classad(&["convert", "--to", "jsonl", &path]).1;
            let mut wanted: Vec<&str> = whole.lines().collect();
            let parts = classad(&[&["convert", "--to", "jsonl"], files.as_slice()].concat());
            assert_eq!((parts.0, parts.2.as_str()), (Some(0), ""));
            let mut found: Vec<&str> = parts.1.lines().collect();
            if cut[0] == "--by" {
                assert!(files[0].ends_with(&format!("p-k%2F0.{form}")), "{}", files[0]);
                wanted.sort_unstable();
                found.sort_unstable();
            }
            assert!(found == wanted, "{form} {cut:?}");
            if cut[0] == "--bytes" {
                let size = |file: &str| fs::metadata(file).unwrap().len();
                assert!(files.iter().all(|file| size(file) <= 700));
            }
            // What is there is not overwritten.
            let before = fs::read(files[0]).unwrap();
            let (status, _, told) = classad(&arguments);
            assert_eq!(
                (status, told),
                (Some(2), format!("error: {} exists already; it is not overwritten\n", files[0]))
            );
            assert_eq!(fs::read(files[0]).unwrap(), before);
        }
    }
}

#[test]
fn keys_of_a_split() {
    let folder = folder("split-keys");
    let into = folder.join("{}");
    let into = into.to_str().unwrap();
    let text = format!(
        "k = \"..\"\n\nk = 1\n\nk = \"1\"\n\nj = 1\n\nk = \"\"\n\nk = \"{0}a\"\n\nk = \"{0}b\"\n",
        "x".repeat(250)
    );
    let (status, out, told) = classad_on(&["split", "--by", "k", "--into", into], text.as_bytes());
    assert_eq!((status, told.as_str()), (Some(0), ""));
    let names: Vec<&str> = out.lines().map(|path| path.rsplit('/').next().unwrap()).collect();
    let cut = "x".repeat(180);
    let long = [format!("{cut}%~6"), format!("{cut}%~7")];
    assert_eq!(names, ["%2E.", "1", "%31", "undefined", "%", &long[0], &long[1]]);
    assert_eq!(fs::read_to_string(folder.join("1")).unwrap(), "k = 1\n\n");
    assert_eq!(fs::read_to_string(folder.join("%31")).unwrap(), "k = \"1\"\n\n");
    for wrong in [&["--into", "x"][..], &["--into", "{}{}"], &["--into", "/nonexistent/{}"]] {
        let (status, out, _) = classad_on(&[&["split", "--ads", "1"], wrong].concat(), b"a = 1\n");
        assert_eq!((status, out.as_str()), (Some(2), ""));
    }
    assert_eq!(classad_on(&["split", "--ads", "1", "--bytes", "1", "--into", into], b"a = 1\n").0, Some(2));
}

/// Sizes are those of the written files.
#[test]
fn the_files_of_a_split_are_filled_up_to_their_size() {
    let ads = (1..=5).fold(String::new(), |text, number| format!("{text}A = {number}\nK = \"{}\"\n\n", number % 2));
    let path = file("split-sizes.long", ads.as_bytes());
    for (arguments, expected) in [
        ("--ads 1", "0001 15, 0002 15, 0003 15, 0004 15, 0005 15"),
        ("--ads 2", "0001 30, 0002 30, 0003 15"),
        ("--ads 5", "0001 75"),
        ("--ads 6", "0001 75"),
        // An ad counts with two bytes more, and so does a file.
        ("--bytes 15", "0001 15, 0002 15, 0003 15, 0004 15, 0005 15"),
        ("--bytes 35", "0001 15, 0002 15, 0003 15, 0004 15, 0005 15"),
        ("--bytes 36", "0001 30, 0002 30, 0003 15"),
        ("--bytes 100", "0001 75"),
        ("--bytes 60 -o jsonl", "0001 38, 0002 38, 0003 19"),
        ("--bytes 80 -o json", "0001 63, 0002 43"),
        ("--bytes 120 -o new", "0001 96, 0002 24"),
        ("--by K", "%31 45, %30 30"),
        ("--by A<2", "true 15, false 60"),
    ] {
        let folder = folder("split-sizes");
        let into = folder.join("{}");
        let words: Vec<&str> = arguments.split(' ').collect();
        let (status, out, told) = classad(&[&["split", "--into", into.to_str().unwrap(), &path], &words[..]].concat());
        assert_eq!((status, told.as_str()), (Some(0), ""), "{arguments}");
        let sizes = out
            .lines()
            .map(|file| format!("{} {}", file.rsplit('/').next().unwrap(), fs::metadata(file).unwrap().len()));
        assert_eq!(sizes.collect::<Vec<_>>().join(", "), expected, "{arguments}");
    }
    let folder = folder("split-names");
    let text = format!("k = \"{0}\"\n\nk = \"{0}y\"\n", "x".repeat(200));
    let into = folder.join("{}");
    let (_, out, _) = classad_on(&["split", "--by", "k", "--into", into.to_str().unwrap()], text.as_bytes());
    let lengths: Vec<usize> = out.lines().map(|path| path.rsplit('/').next().unwrap().len()).collect();
    assert_eq!(lengths, [200, 183], "{out}");
    let split = |by: &str, path: &str| classad(&["split", "--by", by, "--into", into.to_str().unwrap(), path]);
    let none = file("split-none.long", "");
    assert_eq!(split("Kind", &none), (Some(1), String::new(), format!("note: {none} has no ads\n")));
    assert_eq!(split("Kind", &path).2, "note: no ad has the attribute Kind\n");
}
