//! Pictures in SVG: well-formed, the same in every run, with all that they count.

use quick_xml::events::{BytesStart, Event};

use crate::binary::{classad, file};

const JOBS: &str = "samples/pool/jobs.long";
const MACHINES: &str = "samples/pool/machines.long";

/// A picture: its texts in their order, and its boxes.
#[derive(Debug, Default)]
struct Picture {
    size: [f64; 2],
    /// The texts without those that show when the mouse is on a text: position, anchor, and content.
    texts: Vec<Text>,
    /// Class, position and size of each box.
    boxes: Vec<(String, [f64; 4])>,
    /// The full texts of those that were cut.
    full_texts: Vec<String>,
}

#[derive(Debug)]
struct Text {
    position: [f64; 2],
    is_end: bool,
    content: String,
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).expect("attributes are well-formed")?;
    Some(found.value.into_owned())
}

fn number(tag: &BytesStart<'_>, name: &str) -> f64 {
    let text = attribute(tag, name).unwrap_or_else(|| panic!("{tag:?} has {name}"));
    text.parse().unwrap_or_else(|error| panic!("{tag:?}: {error}"))
}

/// Reads a picture with an XML parser that checks names of end tags. Fails unless it has a title and a `viewBox`.
fn read(svg: &str) -> Picture {
    let mut reader = quick_xml::Reader::from_str(svg);
    let mut picture = Picture::default();
    let (mut open, mut title): (Vec<String>, String) = (Vec::new(), String::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {svg}")) {
            Event::Start(tag) => {
                let name = tag.name().as_ref().to_owned();
                if name == "svg" {
                    let size = [number(&tag, "width"), number(&tag, "height")];
                    assert_eq!(attribute(&tag, "viewBox"), Some(format!("0 0 {} {}", size[0], size[1])));
                    picture.size = size;
                }
                if name == "text" {
                    let is_end = attribute(&tag, "text-anchor").is_some();
                    let position = [number(&tag, "x"), number(&tag, "y")];
                    picture.texts.push(Text { position, is_end, content: String::new() });
                }
                open.push(name);
            }
            Event::End(_) => drop(open.pop()),
            Event::Empty(tag) if tag.name().as_ref() == "rect" => {
                let class = attribute(&tag, "class").unwrap_or_default();
                if class != "page" {
                    picture.boxes.push((class, ["x", "y", "width", "height"].map(|name| number(&tag, name))));
                }
            }
            Event::Text(text) => push(&mut picture, &mut title, &open, &text),
            Event::GeneralRef(reference) => {
                let letter = match &*reference {
                    "lt" => "<",
                    "gt" => ">",
                    "amp" => "&",
                    "quot" => "\"",
                    "apos" => "'",
                    other => panic!("&{other}; is not of XML"),
                };
                push(&mut picture, &mut title, &open, letter);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty() && !title.is_empty(), "{svg}");
    picture
}

fn push(picture: &mut Picture, title: &mut String, open: &[String], text: &str) {
    match open.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["svg", "title"] => title.push_str(text),
        ["svg", "text"] => picture.texts.last_mut().expect("it has begun").content.push_str(text),
        ["svg", "text", "title"] => picture.full_texts.push(text.to_owned()),
        _ => assert!(text.trim().is_empty() || open.last().is_some_and(|name| name == "style"), "{open:?}: {text}"),
    }
}

impl Picture {
    fn has(&self, text: &str) -> bool {
        self.texts.iter().any(|found| found.content == text)
    }

    /// The text at the right of a label, on the same base line.
    fn beside(&self, label: &str) -> Vec<&str> {
        let label = self.texts.iter().find(|text| text.content == label).unwrap_or_else(|| panic!("{label}: {self:?}"));
        let same =
            |text: &&Text| (text.position[1] - label.position[1]).abs() < 1.0 && text.position[0] > label.position[0];
        self.texts.iter().filter(same).map(|text| text.content.as_str()).collect()
    }

    /// Fails if a text leaves the picture, if two texts overlap, or if two boxes do (but for a bar in its track).
    #[allow(clippy::cast_precision_loss)] // the numbers of characters are small
    fn assert_legible(&self) {
        // The widest fonts of the style need 0.6 of their size for a character.
        let span = |text: &Text| {
            let width = text.content.chars().count() as f64 * 7.9;
            let x = text.position[0];
            if text.is_end { [x - width, x] } else { [x, x + width] }
        };
        for (place, text) in self.texts.iter().enumerate() {
            let [left, right] = span(text);
            assert!(left >= 0.0 && right <= self.size[0] && text.position[1] <= self.size[1], "{text:?}");
            for other in &self.texts[place + 1..] {
                let [other_left, other_right] = span(other);
                let is_apart = right <= other_left || other_right <= left;
                let lines = (text.position[1] - other.position[1]).abs();
                assert!(is_apart || lines >= 16.0, "{text:?} and {other:?}");
            }
        }
        for (place, (class, one)) in self.boxes.iter().enumerate() {
            assert!(one[0] + one[2] <= self.size[0] && one[1] + one[3] <= self.size[1], "{one:?}");
            for (_, other) in self.boxes[place + 1..].iter().filter(|_| class != "track") {
                let apart = |axis: usize| {
                    one[axis] + one[axis + 2] <= other[axis] || other[axis] + other[axis + 2] <= one[axis]
                };
                assert!(apart(0) || apart(1), "{one:?} and {other:?}");
            }
        }
    }
}

/// Runs a command twice and reads its picture.
fn drawn(arguments: &[&str]) -> Picture {
    let (_, svg, errors) = classad(arguments);
    assert_eq!(classad(arguments).1, svg, "{arguments:?}");
    assert!(svg.ends_with("</svg>\n"), "{arguments:?}: {errors}");
    let picture = read(&svg);
    picture.assert_legible();
    picture
}

#[test]
fn a_census_is_bars_of_the_main_attributes() {
    let picture = drawn(&["census", MACHINES, "-o", "svg"]);
    assert_eq!(picture.texts[0].content, "12 ads with 131 attributes");
    assert_eq!(picture.beside("Unclaimed"), ["7", "58.3 %"]);
    assert_eq!(picture.beside("OpSysAndVer"), ["3 values"]);
    let bars = picture.boxes.iter().filter(|(class, _)| class == "bar").count();
    assert_eq!(bars, 26, "{picture:?}");
    // A bar of 7 is 7/3 as long as one of 3.
    let lengths: Vec<f64> = picture.boxes.iter().filter(|(class, _)| class == "bar").map(|(_, at)| at[2]).collect();
    assert!((lengths[0] * 3.0 / 7.0 - lengths[1]).abs() <= 1.0, "{lengths:?}");
    let jobs = drawn(&["census", JOBS, "-o", "svg"]);
    assert_eq!(jobs.beside("1 (idle)"), ["8", "100.0 %"]);
    // The attributes that were asked for, and as many values.
    let two = drawn(&["census", JOBS, "--attr", "Owner,Cmd", "--top", "1", "-o", "svg"]);
    assert!(two.has("Cmd") && two.has("(other values)") && !two.has("JobStatus"), "{two:?}");
    // Many numbers are ranges.
    let ads = (0..100).map(|number| format!("Name = \"s{number}\"\nMemory = {}\n\n", number * 64));
    let ads = ads.collect::<Vec<_>>().concat();
    let ranges = drawn(&["census", &file("pictures-many.long", ads), "-o", "svg"]);
    assert!(ranges.has("0..792") && ranges.beside("0..792") == ["13", "13.0 %"], "{ranges:?}");
}

/// Names of any characters and lengths leave the picture legible.
#[test]
fn names_are_escaped_and_cut() {
    let long = "x".repeat(300);
    let ads = format!(
        "[ Owner = \"<b>&\\\"'\\001\\302\\205\"; State = \"{long}\"; {long} = 1 ]\n[ Owner = \"計算機の長い名前のとても長い名前です\"; ]\n"
    );
    let path = file("pictures-names.ad", ads);
    let picture = drawn(&["census", &path, "-o", "svg"]);
    assert!(picture.texts.iter().any(|text| text.content.starts_with("<b>&")), "{picture:?}");
    assert!(picture.full_texts.contains(&long), "{:?}", picture.full_texts);
    assert!(picture.texts.iter().any(|text| text.content.starts_with("xxx") && text.content.ends_with('…')));
    drawn(&["census", &path, "--attr", &long, "-o", "svg"]);
    let (status, svg, _) = classad(&["census", &file("pictures-none.ad", ""), "-o", "svg"]);
    assert!(status == Some(1) && read(&svg).has("0 ads with 0 attributes"), "{svg}");
}

#[test]
fn a_queue_is_bars_of_its_causes() {
    let picture = drawn(&["explain", JOBS, "--pool", MACHINES, "-o", "svg"]);
    assert_eq!(picture.texts[0].content, "8 jobs: 6 match, 2 match nothing");
    assert!(picture.has("no slot defines OpSysMajorVersion (OpSysMajorVer?)"));
    assert!(picture.has("what would help: RequestMemory 524288 -> 221184 (much less than requested)"), "{picture:?}");
    assert_eq!(picture.boxes.iter().filter(|(class, _)| class == "good").count(), 1);
    assert_eq!(picture.boxes.iter().filter(|(class, _)| class == "bad").count(), 2);
    let left = drawn(&["explain", JOBS, "--pool", MACHINES, "--unmatched", "-o", "svg"]);
    assert_eq!(left.boxes.iter().filter(|(class, _)| class == "good").count(), 0);
    let changed = drawn(&["explain", JOBS, "--pool", MACHINES, "--what-if", "RequestMemory=1", "-o", "svg"]);
    assert!(changed.texts[1].content.contains("gains a match"), "{changed:?}");
    drawn(&["explain", JOBS, "--pool", MACHINES, "--reverse", "-o", "svg"]);
    let licences = ["--pool", "samples/license/machines.ad", "--pool", "samples/license/licenses.ad"];
    let gangs = drawn(&[&["explain", "samples/license/jobs.ad", "-o", "svg"], &licences[..]].concat());
    assert!(gangs.texts[0].content.starts_with("6 requests: 5 match"), "{gangs:?}");
    let pair = ["explain", JOBS, "--pool", MACHINES, "--request", "106.0", "--offer", "slot1@node01.example.org"];
    let (status, _, errors) = classad(&[&pair[..], &["-o", "svg"]].concat());
    assert!(status == Some(2) && errors.contains("a pair can be printed as table, json or jsonl"), "{errors}");
}

/// More causes than a picture has bars are counted together.
#[test]
fn many_causes_end_in_one_bar() {
    let job = |number: usize| {
        format!(
            "[ MyType = \"Job\"; ClusterId = {number}; ProcId = 0; Owner = \"a\"; JobStatus = 1; Requirements = TARGET.{} ]\n",
            [
                "Apple", "Berry", "Citron", "Date", "Elder", "Fig", "Grape", "Hazel", "Iris", "Juniper", "Kiwi",
                "Lemon", "Mango", "Nut"
            ][number % 14]
        )
    };
    let jobs = file("pictures-jobs.ad", (0..28).map(job).collect::<String>());
    let picture = drawn(&["explain", &jobs, "--pool", MACHINES, "-o", "svg"]);
    assert!(picture.has("2 other causes") && picture.texts[0].content == "28 jobs: none matches", "{picture:?}");
    assert_eq!(picture.boxes.iter().filter(|(class, _)| class == "bad").count(), 12);
}

#[test]
fn gangs_are_trees() {
    let gangs = ["--pool", "samples/gangs/offers.ad", "--policy", "samples/gangs/policy.yaml", "-o", "svg"];
    let picture = drawn(&[&["gangmatch", "samples/gangs/jobs.ad"], &gangs[..]].concat());
    assert!(picture.has("3 gangs") && picture.has("cpu (ranks 500, 0)") && picture.has("(unfilled)"), "{picture:?}");
    let count = |class: &str| picture.boxes.iter().filter(|(found, _)| found == class).count();
    assert_eq!([count("root"), count("box"), count("empty")], [3, 7, 3]);
    let service = ["--pool", "samples/multiprocessor/service.ad", "--pool", "samples/multiprocessor/nodes.ad"];
    let deep =
        drawn(&[&["gangmatch", "samples/multiprocessor/client.ad", "--all", "-o", "svg"], &service[..]].concat());
    assert!(deep.has("cpu1") && deep.has("slot1@beta"), "{deep:?}");
    // Further gangs and further ports are counted.
    let jobs = (0..14).map(|n| format!("[ Name = \"job {n}\"; Ports = {{ [ Label = \"m\"; Constraint = true ] }} ]\n"));
    let jobs = jobs.collect::<Vec<_>>().concat();
    let offers = (0..100).map(|n| format!("[ Name = \"offer {n}\"; Requirements = true ]\n"));
    let offers = offers.collect::<Vec<_>>().concat();
    let (jobs, offers) = (file("pictures-gangs.ad", jobs), file("pictures-offers.ad", offers));
    assert!(drawn(&["gangmatch", &jobs, "--pool", &offers, "-o", "svg"]).has("and 2 more gangs"));
    let ports: Vec<String> = (0..61).map(|n| format!("[ Label = \"p{n}\"; Constraint = true ]")).collect();
    let wide = file("pictures-wide.ad", format!("[ Name = \"wide\"; Ports = {{ {} }} ]", ports.join(", ")));
    assert!(drawn(&["gangmatch", &wide, "--pool", &offers, "-o", "svg"]).has("and 1 more port"));
    let (status, svg, _) = classad(&["gangmatch", &jobs, "--pool", &file("pictures-no.ad", "[ A = 1 ]"), "-o", "svg"]);
    assert!(status == Some(1) && read(&svg).has("no gangs"), "{svg}");
}

#[test]
fn commands_without_pictures_say_which_have_them() {
    for command in ["census", "explain", "gangmatch", "negotiate"] {
        let (_, help, _) = classad(&[command, "--help"]);
        assert!(help.contains("- svg:"), "{help}");
    }
    for command in ["query", "match", "refs", "diff", "claim", "autocluster", "route", "specialize"] {
        let (_, help, _) = classad(&[command, "--help"]);
        assert!(!help.contains("- svg:") && !help.contains("- tree:"), "{help}");
    }
}
