//! The real binary, and files for it to read.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// Runs `classad` in the project's folder, for 80 columns, with this on its standard input.
pub fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_classad"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("TZ", "UTC")
        .env("COLUMNS", "80")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has an input");
    let input = input.to_vec();
    // It may stop reading early; that is its right.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    output
}

/// Exit status, standard output and standard error of `classad` with these arguments and an empty input.
pub fn classad(arguments: &[&str]) -> (Option<i32>, String, String) {
    classad_on(arguments, b"")
}

/// Exit status, standard output and standard error of `classad` with these arguments and this input.
pub fn classad_on(arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let output = run(arguments, input);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The words of a text, one blank between two: however it is folded, and without the frame of a report.
pub fn words(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Compares with the text of a file of the project. With `BLESS=1` in the environment the file is rewritten.
pub fn assert_recorded(path: &str, text: &str) {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&recorded, text).expect("the file can be written");
    }
    let recorded = std::fs::read_to_string(&recorded).expect("the file is text");
    let differing = text.lines().zip(recorded.lines()).find(|(now, then)| now != then);
    assert!(text == recorded, "{path}, now and as recorded: {differing:?} (BLESS=1 rewrites it)");
}

/// Compares answers with those in a file of the project, which has the cases, too: a line that is not indented is a case,
/// and what is indented below it is its answer. With `BLESS=1` in the environment the answers are rewritten.
pub fn assert_answers(path: &str, answer: impl Fn(&str) -> String) {
    let recorded = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("the file is text");
    let mut text = String::with_capacity(recorded.len());
    for line in recorded.lines().filter(|line| !line.starts_with("  ")) {
        text.push_str(line);
        text.push('\n');
        if !line.is_empty() && !line.starts_with("# ") {
            text.push_str(&answer(line));
        }
    }
    assert_recorded(path, &text);
}

/// The folder of this process for temporary files: tests may run in several processes at once. Folders of processes that
/// have ended are removed. Its name has as many characters in each process: messages are folded, and name files.
pub fn temporary() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let own = std::process::id();
        let processes = Path::new("/proc");
        for entry in std::fs::read_dir(all).expect("the folder can be read").flatten() {
            let owner: Option<u32> = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let has_ended = |owner: u32| processes.join("self").exists() && !processes.join(owner.to_string()).exists();
            if owner.is_some_and(|owner| owner == own || has_ended(owner)) {
                // Another process may be removing it, too.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let folder = all.join(format!("{own:010}"));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        folder
    });
    &FOLDER
}

/// The path of a file with these bytes; tests of one process run at once, so each wants a name of its own. It is relative
/// to the project's folder, so that messages are folded alike wherever the project lies.
pub fn file(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = temporary().join(name);
    // The file is replaced as a whole: another test may be reading it.
    let new = path.with_extension(format!("{:?}.new", std::thread::current().id()));
    std::fs::write(&new, bytes).expect("the folder can be written");
    std::fs::rename(&new, &path).expect("the file can be replaced");
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&path).to_string_lossy().into_owned()
}

/// The path of a file from the root, as commands of `scatter` name it.
pub fn from_root(path: String) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_string_lossy().into_owned()
}

/// A changed partial result with the checksum that fits it, if it is complete.
pub fn resealed(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let mut lines: Vec<&[u8]> = lines.filter(|line| !line.starts_with(b"{\"checksum\"")).collect();
    let end = lines.pop_if(|line| *line == b"\"end\"\n");
    let text = lines.concat();
    let checksum = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let seal = end.map(|_| format!("{{\"checksum\":\"{checksum}\"}}\n\"end\"\n"));
    [text, seal.unwrap_or_default().into_bytes()].concat()
}
