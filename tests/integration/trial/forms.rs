//! Results for other programs: `JUnit` and TAP.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Folder, run};

#[test]
fn junit_is_xml_whatever_stands_in_a_spec() {
    let strange = "cases:\n\
                - name: \"<&>'\\\"]]> \\e \\t \\n é\"\n  \
                expression: '\"<![CDATA[ & \\\\001 ]]>\"'\n  expect: \"<b>\"\n\
                - { name: b, max-steps: 1, expression: 1 + 1 + 1, expect: 3 }\n\
                - { name: c, expression: 1, expect: 1 }\n";
    let folder = Folder::new();
    let (strange, broken) =
        (folder.write("a&<b>'.yaml", strange), folder.write("broken.yaml", "cases: 5\n\"<&\": 1\n"));
    let output = run(&["-o", "junit", &strange, &broken], "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.chars().any(|c| c < ' ' && c != '\n'), "{text}");
    let mut reader = Reader::from_str(&text);
    let (mut depth, mut seen) = (0, Vec::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {text}")) {
            Event::Start(tag) => {
                tag.attributes().for_each(|attribute| drop(attribute.unwrap()));
                seen.push(tag.name().as_ref().to_owned());
                depth += 1;
            }
            Event::Empty(tag) => seen.push(tag.name().as_ref().to_owned()),
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    let count = |name: &str| seen.iter().filter(|seen| *seen == name).count();
    assert_eq!(["testsuites", "testsuite", "testcase", "failure", "error"].map(count), [1, 2, 5, 1, 3], "{text}");
    assert!(text.contains("<testsuites name=\"classad test\" tests=\"5\" failures=\"1\" errors=\"3\" skipped=\"0\">"));
}

#[test]
fn tap_counts_its_points() {
    let spec = "cases:\n\
                - { name: 'a # TODO', expression: 1, expect: 1 }\n\
                - { name: b, expression: 1, expect: 2 }\n\
                - { name: c, max-steps: 1, expression: 1 + 1 + 1, expect: 3 }\n";
    let text = String::from_utf8(run(&["-o", "tap"], spec).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..4],
        ["TAP version 14", "1..3", "ok 1 - standard input: a \\# TODO", "not ok 2 - standard input: b"]
    );
    assert_eq!(lines.iter().filter(|line| line.starts_with("not ok ")).count(), 2);
    assert_eq!(
        lines.iter().filter(|line| **line == "  ---").count(),
        lines.iter().filter(|line| **line == "  ...").count()
    );
    let nothing = String::from_utf8(run(&["-o", "tap", "--filter", "x"], spec).stdout).unwrap();
    assert_eq!(nothing, "TAP version 14\n1..0 # no case is selected\n");
}
