//! The table of the forms of files of ads.

use std::fmt;

use super::FileFormat;

/// What there is to know of a form.
#[derive(Debug)]
pub struct FormFacts {
    /// The form.
    pub form: FileFormat,
    /// What options such as `--from` call it.
    pub name: &'static str,
    /// What messages call it.
    pub title: &'static str,
    /// How the names of its files end, without the full stop. The content decides, and the name where it does not: see
    /// [`FileFormat::of_path`].
    pub extensions: &'static [&'static str],
    /// What it looks like, or what is in it.
    pub looks_like: &'static str,
    /// Whether HTCondor itself reads and writes it. The default dialect of a run depends on it.
    pub is_of_htcondor: bool,
    /// Whether ads are written in it. Each form is read.
    pub is_written: bool,
    /// A text in the form, with an ad.
    pub example: &'static str,
}

/// The forms.
pub const FORMS: [FormFacts; 10] = [
    FormFacts {
        form: FileFormat::Long,
        name: "long",
        title: "the long form",
        extensions: &["long", "ads", "history"],
        looks_like: "output of condor_q -long: NAME = EXPRESSION on each line, a blank line between ads",
        is_of_htcondor: true,
        is_written: true,
        example: "Name = \"a\"\nCpus = 4\n",
    },
    FormFacts {
        form: FileFormat::Bracketed,
        name: "new",
        title: "the bracketed form",
        extensions: &["ad", "classad", "jdl"],
        looks_like: "ads in brackets: [ Name = \"a\"; Cpus = 4 ]; comments are allowed",
        is_of_htcondor: false,
        is_written: true,
        example: "[ Name = \"a\"; Cpus = 4 ]\n",
    },
    FormFacts {
        form: FileFormat::Json,
        name: "json",
        title: "JSON",
        extensions: &["json"],
        looks_like: "an array of objects, or objects one after the other; an expression is \"\\/Expr(...)\\/\"",
        is_of_htcondor: true,
        is_written: true,
        example: "[\n{\"Name\": \"a\", \"Cpus\": 4}\n]\n",
    },
    FormFacts {
        form: FileFormat::JsonLines,
        name: "jsonl",
        title: "JSON Lines",
        extensions: &["jsonl", "ndjson"],
        looks_like: "JSON Lines: an object on each line",
        is_of_htcondor: true,
        is_written: true,
        example: "{\"Name\": \"a\", \"Cpus\": 4}\n",
    },
    FormFacts {
        form: FileFormat::Xml,
        name: "xml",
        title: "XML",
        extensions: &["xml"],
        looks_like: "HTCondor's XML",
        is_of_htcondor: true,
        is_written: true,
        example: "<classads><c><a n=\"Cpus\"><i>4</i></a></c></classads>\n",
    },
    FormFacts {
        form: FileFormat::Yaml,
        name: "yaml",
        title: "YAML",
        extensions: &["yaml", "yml"],
        looks_like: "a document for each ad; an expression has the tag !expr",
        is_of_htcondor: false,
        is_written: true,
        example: "---\nName: a\nCpus: 4\n",
    },
    FormFacts {
        form: FileFormat::EventLog,
        name: "events",
        title: "the form of an event log",
        extensions: &["log"],
        looks_like: "a job event log as text: an ad for each event",
        is_of_htcondor: true,
        is_written: false,
        example: "000 (001.000.000) 2026-11-22 23:35:27 Job submitted from host: <a>\n...\n",
    },
    FormFacts {
        form: FileFormat::JobQueueLog,
        name: "queue-log",
        title: "the form of a job queue log",
        extensions: &["log"],
        looks_like: "job_queue.log, Accountantnew.log or OfflineLog: the ads that exist at its end",
        is_of_htcondor: true,
        is_written: false,
        example: "101 1.0 Job Machine\n103 1.0 ClusterId 1\n",
    },
    FormFacts {
        form: FileFormat::Submit,
        name: "submit",
        title: "the form of a submit file",
        extensions: &["sub", "submit"],
        looks_like: "a submit file: the jobs that condor_submit makes of it",
        is_of_htcondor: true,
        is_written: false,
        example: "executable = a.sh\nqueue\n",
    },
    FormFacts {
        form: FileFormat::Dag,
        name: "dag",
        title: "the form of a DAG file",
        extensions: &["dag"],
        looks_like: "a file of condor_submit_dag: an ad for each node",
        is_of_htcondor: true,
        is_written: false,
        example: "JOB A a.sub\n",
    },
];

impl FileFormat {
    /// What there is to know of the form.
    #[must_use]
    pub fn facts(self) -> &'static FormFacts {
        const LONG: &FormFacts = &FORMS[0];
        FORMS.iter().find(|facts| facts.form == self).unwrap_or(LONG)
    }

    /// Returns the form in which a file of this name is if its content does not decide: that of a submit file or of a DAG
    /// file, of which no line needs to be their own. `None` for other names. That of a packed file has another ending behind.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let packings = [".gz", ".zst", ".xz", ".bz2"];
        let path = packings.iter().find_map(|packing| path.strip_suffix(packing)).unwrap_or(path);
        let extension = std::path::Path::new(path).extension()?.to_str()?;
        let has = |facts: &&FormFacts| facts.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension));
        let named = FORMS.iter().find(has).map(|facts| facts.form);
        named.filter(|form| matches!(form, FileFormat::Submit | FileFormat::Dag))
    }

    /// Returns the form that options call by this name; case is ignored. `None` if there is no such form.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        FORMS.iter().find(|facts| facts.name.eq_ignore_ascii_case(name)).map(|facts| facts.form)
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().title)
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMS, FileFormat};
    use crate::format::{Stream, StreamLimits};

    #[test]
    fn names_of_files_decide_where_their_content_does_not() {
        let form = |text: &'static str, name: &str| {
            let text = Box::new(std::io::Cursor::new(text));
            Stream::of_file(text, name, StreamLimits::default()).unwrap().form()
        };
        for (text, name, expected) in [
            ("log = a.log\n", "a.sub", FileFormat::Submit),
            ("foo = 1\ninclude : b.sub\n", "a.submit", FileFormat::Submit),
            ("log = a.log\n", "a.sub.gz", FileFormat::Submit),
            ("log = a.log\n", "a.long", FileFormat::Long),
            ("log = a.log\n", "sub", FileFormat::Long),
            // The content decides first.
            ("executable = a.sh\nqueue\n", "a.long", FileFormat::Submit),
            ("ClusterId = 1\nlog = \"a\"\n", "a.sub", FileFormat::Long),
            ("[ a = 1 ]", "a.sub", FileFormat::Bracketed),
            ("JOB A a.sub\n", "a.sub", FileFormat::Dag),
            ("RETRY A 3\nJOB A a.sub\n", "a.dag", FileFormat::Dag),
            ("RETRY = 3\n", "a.dag", FileFormat::Long),
            ("executable = a.sh\nqueue\n", "a.dag", FileFormat::Submit),
        ] {
            assert_eq!(form(text, name), Some(expected), "{name}: {text}");
        }
    }

    #[test]
    fn each_example_is_detected_as_its_form() {
        for facts in &FORMS {
            let text = std::io::Cursor::new(facts.example);
            let stream = Stream::new(Box::new(text), None).expect("it is read");
            assert_eq!(stream.form(), Some(facts.form), "{}", facts.name);
            assert_eq!((facts.form.facts().name, FileFormat::of_name(facts.name)), (facts.name, Some(facts.form)));
        }
    }
}
