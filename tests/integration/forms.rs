//! JSON and XML: whatever an ad holds is carried, whatever is read in parts is read alike.

use classad::ad::{Ad, Dialect};
use classad::format::{AdDocumentWriter, FORMS, FileFormat, complete_prefix_length, read, write};
use proptest::prelude::*;

use super::properties::{name, same, tree};
use crate::binary::{classad, classad_on, file};

const NESTED: [FileFormat; 3] = [FileFormat::Json, FileFormat::JsonLines, FileFormat::Xml];

fn ad() -> impl Strategy<Value = Ad> {
    prop::collection::vec((name(), tree()), 0..5).prop_map(|attributes| attributes.into_iter().collect())
}

/// A document that holds these ads.
fn document(ads: &[Ad], form: FileFormat) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = AdDocumentWriter::new(form);
    for ad in ads {
        writer.write(&mut text, ad, <[_]>::is_empty).unwrap();
    }
    writer.finish(&mut text).unwrap();
    text
}

/// What is found in a text, the bad ads too.
fn found(text: &[u8], form: FileFormat) -> Vec<Result<Ad, String>> {
    read(text, form, Dialect::Classad)
        .map(|item| item.map(|entry| entry.ad).map_err(|problem| problem.message))
        .collect()
}

/// What is found in a text that comes in pieces: as much as is whole is read each time.
fn found_in_pieces(text: &[u8], form: FileFormat, cuts: &[usize]) -> Vec<Result<Ad, String>> {
    let mut all = Vec::new();
    let mut start = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        let there = &text[start.min(cut)..cut];
        let length = if cut == text.len() { there.len() } else { complete_prefix_length(there, form) };
        assert!(length <= there.len());
        all.extend(found(&there[..length], form));
        start += length;
    }
    all
}

fn alike(left: &[Result<Ad, String>], right: &[Result<Ad, String>]) -> bool {
    let one = |pair: (&Result<Ad, String>, &Result<Ad, String>)| match pair {
        (Ok(left), Ok(right)) => left == right,
        (Err(left), Err(right)) => left == right,
        _ => false,
    };
    left.len() == right.len() && left.iter().zip(right).all(one)
}

/// A text with some of its bytes replaced, taken out or repeated.
fn mutated(mut text: Vec<u8>, mutations: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    const ALPHABET: &[u8] = b"{}[]\",:\\/<>&;!-='n \n\tce\xff\0";
    for (index, what, byte) in mutations {
        if text.is_empty() {
            break;
        }
        let at = index.index(text.len());
        let byte = ALPHABET[usize::from(*byte) % ALPHABET.len()];
        match what % 3 {
            0 => text[at] = byte,
            1 => drop(text.remove(at)),
            _ => text.insert(at, byte),
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// read(write(ad)) = ad, and nothing had to be changed.
    #[test]
    fn ads_read_back(ad in ad()) {
        for form in NESTED {
            let mut text = Vec::new();
            prop_assert!(write(&mut text, &ad, form).unwrap().is_empty());
            let again: Vec<_> = read(&text, form, Dialect::Classad).collect();
            prop_assert!(
                matches!(again.as_slice(), [Ok(entry)] if same(&entry.ad, &ad)),
                "{}: {again:?}", String::from_utf8_lossy(&text)
            );
        }
    }

    /// A document is valid JSON, whatever the ads hold; another program's rewriting of it changes nothing.
    #[test]
    fn rewritten_json_reads_back(ads in prop::collection::vec(ad(), 0..3)) {
        let text = document(&ads, FileFormat::Json);
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let again = found(json.to_string().as_bytes(), FileFormat::Json);
        // Names that differ in their case only are one name.
        prop_assert!(again.len() == ads.len() && again.iter().zip(&ads).all(|(again, ad)| {
            again.as_ref().is_ok_and(|again| same(again, ad))
        }), "{json}");
    }

    /// Cut anywhere, the ads are the same.
    #[test]
    fn cut_anywhere(ads in prop::collection::vec(ad(), 0..4), mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..6)) {
        for form in NESTED {
            let text = document(&ads, form);
            let mut cuts: Vec<usize> = cuts.iter_mut().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.sort_unstable();
            let (uncut, pieces) = (found(&text, form), found_in_pieces(&text, form, &cuts));
            prop_assert!(uncut.len() == ads.len() && alike(&uncut, &pieces), "{cuts:?} {}", String::from_utf8_lossy(&text));
            prop_assert_eq!(found(&text[..complete_prefix_length(&text, form)], form).len(), ads.len());
        }
    }

    /// Nothing panics, places are places of the text, and bad ads are found alike in a text that is cut.
    #[test]
    fn whatever_comes_in(
        ads in prop::collection::vec(ad(), 1..4),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<u8>()), 1..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        for form in NESTED {
            let text = mutated(document(&ads, form), &mutations);
            for dialect in [Dialect::Classad, Dialect::Condor] {
                for problem in read(&text, form, dialect).filter_map(Result::err) {
                    let ranges = problem.related.iter().map(|(range, _)| range).chain([&problem.range]);
                    for range in ranges {
                        prop_assert!(range.start <= range.end && range.end <= text.len(), "{problem:?}");
                    }
                }
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.sort_unstable();
            let (uncut, pieces) = (found(&text, form), found_in_pieces(&text, form, &cuts));
            prop_assert!(
                alike(&uncut, &pieces),
                "{cuts:?} {}\n{uncut:?}\n{pieces:?}", String::from_utf8_lossy(&text)
            );
        }
    }
}

/// Ads with something around them that people have at hand.
#[test]
fn ads_are_read_that_are_wrapped() {
    let hits = "{\"hits\":{\"total\":1,\"hits\":[{\"_id\":\"1\",\"_source\":{\"a\":1}},{\"_source\":{\"a\":2}}]}}";
    for text in [
        "[[ a = 1 ], [ a = 2 ]]\n",
        "[\n# c\na = 1; ]\n[ a = 2 ]\n",
        "[ a = 1; b = UNDEFINED(); c = ERROR() ] [ a = 2 ]",
        "-- Schedd: a@b : <127.0.0.1>\n[\n{\"a\": 1}\n]\n\n-- Schedd: c@d : <127.0.0.1>\n[\n{\"a\": 2}\n]\n",
        "-- Schedd: a@b : <127.0.0.1>\n<classads><c><a n=\"a\"><i>1</i></a></c><c><a n=\"a\"><i>2</i></a></c></classads>\n",
        "a = 1\n-\na = 2\n- update:true\n",
        hits,
        "{\"_index\": \"x\", \"_source\": {\"a\": 1}}\n{\"_index\": \"x\", \"_source\": {\"a\": 2}}\n",
    ] {
        let (status, out, told) = classad_on(&["query", "true", "--af", "a"], text.as_bytes());
        assert_eq!((status, &*out, &*told), (Some(0), "1\n2\n", ""), "{text}");
    }
}

/// Text without ads gives one message that says what it is and what makes an input of it.
#[test]
fn text_without_ads_is_one_message() {
    for (text, words) in [
        ("A = 1 && \\\n  B\nC = $(A)\n", ["a configuration file", "check --config"]),
        ("TRANSFORM a from items.txt\n", ["rules that change ads", "transform --rules"]),
        (
            "Name OpSys Arch State Activity LoadAv\nslot1@a LINUX X86_64 Claimed Busy 0.1\n",
            ["a table", "condor_status -long"],
        ),
        ("11/22/26 23:35:27 Matched 1.0 a@b\n11/22/26 23:35:28 x\n", ["a log of a daemon", "condor_q -long"]),
        ("alice 1.0 2048\nbob 2.0 1024\n", ["a table of values", "condor_q -long"]),
    ] {
        for command in [&["query", "true"][..], &["check"], &["explain", "--pool", "samples/pool/machines.long"]] {
            let (status, out, told) = classad(&[command, &[&file("no-ads.txt", text)]].concat());
            let is_one = told.matches("error").count() == 1 && words.iter().all(|word| told.contains(word));
            assert!(status == Some(2) && is_one && !out.contains('×'), "{command:?} {text}: {out}{told}");
        }
    }
}

#[test]
fn items_of_rules_stand_in_a_file() {
    let items = file("items-of-rules.txt", "p q\n\n r\n");
    let rules = file("items.rules", format!("SET a \"$(x)-$(y)\"\nTRANSFORM x, y from {items}\n"));
    let (status, out, told) = classad(&["transform", "--rules", &rules, &file("items.long", "b = 1\n")]);
    assert!(status == Some(0) && out.contains("a = \"p-q\"") && out.contains("a = \"r-\""), "{out}{told}");
}

/// `help formats` and `--from` have the forms of the table.
#[test]
fn each_form_is_in_the_help() {
    let help = include_str!("../../src/cli/commands/help/topics/formats.md");
    for facts in &FORMS {
        let row = format!("{:<10}{}", facts.name, facts.looks_like);
        assert!(help.contains(&row), "{row}");
        let given = ["query", "true", "--count", "--from", facts.name, &file("form.txt", facts.example)];
        let (status, out, told) = classad(&given);
        assert_eq!((status, &*out), (Some(0), "1\n"), "{}: {told}", facts.name);
        let converted = classad(&["convert", "--to", facts.name, "samples/job.sub"]);
        assert_eq!(converted.0 == Some(0), facts.is_written, "{}: {}", facts.name, converted.2);
    }
}

/// A DAG file has a node for each job, and a node status file is one of ads.
#[test]
fn nodes_of_dags_are_ads() {
    let dag = "JOB A a.sub\nJOB B b.sub DIR in\nFINAL F {\n  executable = f.sh\n  queue\n}\nPARENT A CHILD B\nVARS B n=\"3\"\n";
    let names = "Node,SubmitFile,Parents,Children,Vars.n";
    let (status, out, told) = classad(&["query", "true", &file("nodes.dag", dag), "--af", names]);
    let expected =
        "A\ta.sub\t{ }\t{ \"B\" }\tundefined\nB\tb.sub\t{ \"A\" }\t{ }\t3\nF\tundefined\t{ }\t{ }\tundefined\n";
    assert_eq!((status, &*out, &*told), (Some(0), expected, ""));
    let (status, out, told) =
        classad(&["query", "true", &file("wrong.dag", "JOB A a.sub\nPARENT A CHILD B\n"), "--af", "Node"]);
    assert!(
        status == Some(2) && out == "A\n" && told.contains("there is no node B in this file"),
        "{status:?} {out}{told}"
    );
    assert!(told.contains("wrong.dag:2:1"), "{told}");
    let status_file = "[\n  Type = \"DagStatus\";\n  DagFiles = {\n    \"a.dag\"\n  };\n  DagStatus = 3; /* \"STATUS_SUBMITTED ()\" */\n]\n[\n  \
        Type = \"NodeStatus\";\n  Node = \"A\";\n  NodeStatus = 5; /* \"STATUS_DONE\" */\n]\n[\n  Type = \"StatusEnd\";\n]\n";
    let nodes = ["query", "Type == \"NodeStatus\"", &file("dag.status", status_file), "--af", "Node,NodeStatus"];
    assert_eq!(classad(&nodes).1, "A\t5\n");
}
