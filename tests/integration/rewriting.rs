//! What becomes of files that commands write, of the standard streams, and of hidden characters on a terminal.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of its own, empty at first.
fn folder(name: &str) -> PathBuf {
    let path = crate::binary::temporary().join(format!("rewriting-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Runs a script in a folder; `$0` is the program. Returns the exit status, the output and the messages.
fn script(shell: &str, folder: &Path, text: &str) -> (Option<i32>, String, String) {
    let output = Command::new(shell)
        .args(["-c", text, env!("CARGO_BIN_EXE_classad")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Sets an extended attribute to a value in hexadecimal digits. Returns whether the file system has such attributes.
fn set_attribute(path: &Path, name: &str, value: &str) -> bool {
    let code = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]))";
    Command::new("python3").args(["-c", code]).arg(path).args([name, value]).status().unwrap().success()
}

fn attributes(path: &Path) -> String {
    let code =
        "import os, sys; p = sys.argv[1]; print([(n, os.getxattr(p, n).hex()) for n in sorted(os.listxattr(p))])";
    let output = Command::new("python3").args(["-c", code]).arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Read for the user 65534 alone beside the owner: `user::rw-,user:nobody:r--,group::---,mask::r--,other::---`.
const ACCESS_LIST: &str = "02000000\
    01000600ffffffff\
    02000400feff0000\
    04000000ffffffff\
    10000400ffffffff\
    20000000ffffffff";

#[test]
fn a_rewritten_file_keeps_its_access_control_list_and_its_extended_attributes() {
    let folder = folder("attributes");
    let path = folder.join("a.long");
    for arguments in ["fmt -w a.long", "fmt --write=.bak a.long", "transform --set b=2 -w a.long"] {
        fs::write(&path, "a=1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if !set_attribute(&path, "system.posix_acl_access", ACCESS_LIST) {
            return; // the file system has none
        }
        set_attribute(&path, "user.note", "6b657074");
        let before = attributes(&path);
        assert_eq!(script("sh", &folder, &format!("\"$0\" {arguments}")).0, Some(0));
        assert_ne!(fs::read_to_string(&path).unwrap(), "a=1\n", "{arguments}");
        assert_eq!(attributes(&path), before, "{arguments}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640, "the mask is shown as the group");
    }
    assert_eq!(attributes(&folder.join("a.long.bak")), attributes(&path));
}

/// A new file inherits the default list of its folder, but one that replaces a file must not.
#[test]
fn a_rewritten_file_does_not_get_the_access_control_list_of_its_folder() {
    let folder = folder("inherited");
    let path = folder.join("a.long");
    fs::write(&path, "a=1\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    if !set_attribute(&folder, "system.posix_acl_default", ACCESS_LIST) {
        return; // the file system has none
    }
    assert_eq!(script("sh", &folder, "\"$0\" fmt -w a.long").0, Some(0));
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), attributes(&path).trim()), ("a = 1\n", "[]"));
}

#[test]
fn a_file_whose_owner_cannot_be_kept_stays_as_it_is() {
    let folder = folder("owner");
    let path = folder.join("a.long");
    fs::write(&path, "a=1\n").unwrap();
    // Only an administrator can make such a file.
    if chown(&path, Some(1), Some(1)).is_err() {
        return;
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6666)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.join("program");
    fs::copy(env!("CARGO_BIN_EXE_classad"), &program).unwrap();
    let code = "import os, sys; os.setgid(65534); os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])";
    let run = |program: &str| {
        let output = Command::new("python3")
            .args(["-c", code, program, "fmt", "-w", "a.long"])
            .current_dir(&folder)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, told) = run("./program");
    // Where the folders above are closed to others, there is nothing to try.
    if told.contains("cannot write") {
        assert_eq!(status, Some(2));
        assert!(told.contains("cannot write a.long: its owner cannot be kept"), "{told}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a=1\n");
        assert_eq!(names(&folder), ["a.long", "program"]);
    }
    assert_eq!(script("sh", &folder, "\"$0\" fmt -w a.long").0, Some(0));
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o7777), (1, 1, 0o6666));
}

#[test]
fn other_names_of_a_rewritten_file_are_told() {
    let folder = folder("links");
    let spec = "cases:\n- { name: a, expression: 1, expect: 2 }\n";
    for (arguments, text) in [
        ("fmt -w one", "a=1\n"),
        ("transform --set b=2 -w one", "a=1\n"),
        ("test --update one", spec),
        ("negotiate --policy htcondor jobs --pool offers --usage one", "submitters: {}\n"),
        ("match jobs --pool offers --notify one", ""),
    ] {
        let _ = (fs::remove_file(folder.join("one")), fs::remove_file(folder.join("two")));
        fs::write(folder.join("jobs"), "JobId = 1\nOwner = \"a\"\nUser = \"a@b\"\nRequirements = true\n").unwrap();
        fs::write(folder.join("offers"), "Name = \"m\"\nRequirements = true\n").unwrap();
        fs::write(folder.join("one"), text).unwrap();
        fs::hard_link(folder.join("one"), folder.join("two")).unwrap();
        let (_, _, told) = script("sh", &folder, &format!("\"$0\" {arguments}"));
        assert!(
            told.contains("one is a new file now; hard links to the file with the old text: 1"),
            "{arguments}: {told}"
        );
        assert_eq!(fs::read_to_string(folder.join("two")).unwrap(), text, "{arguments}");
    }
}

#[test]
fn pipes_and_devices_are_not_rewritten() {
    let folder = folder("special");
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    symlink("/dev/zero", folder.join("zero")).unwrap();
    fs::write(folder.join("jobs"), "JobId = 1\nRequirements = true\n").unwrap();
    for path in ["/dev/full", "/dev/zero", "zero", "pipe"] {
        for arguments in [
            "fmt -w",
            "fmt --write=.bak",
            "transform --set a=1 -w",
            "test --update",
            "negotiate jobs --pool jobs --policy htcondor --usage",
        ] {
            let (status, _, told) = script("bash", &folder, &format!("timeout 20 \"$0\" {arguments} {path}"));
            assert_eq!(status, Some(2), "{arguments} {path}: {told}");
            assert!(told.contains(&format!("cannot write {path}: it is not a regular file")), "{arguments}: {told}");
        }
    }
    fs::create_dir(folder.join("folder")).unwrap();
    let (status, _, told) = script("sh", &folder, "\"$0\" fmt -w folder");
    assert_eq!(status, Some(2));
    assert!(told.contains("it is a directory"), "{told}");
}

/// The limit is 8 KiB for each file.
#[test]
fn a_file_that_cannot_be_written_to_its_end_does_not_appear() {
    let folder = folder("limit");
    let ad = |number| format!("Name = \"m{}\"\nText = \"{}\"\n\n", number % 3, "x".repeat(500));
    fs::write(folder.join("a.long"), (0..100).map(ad).collect::<String>()).unwrap();
    fs::write(
        folder.join("jobs"),
        (0..500).map(|id| format!("JobId = {id}\nRequirements = true\n\n")).collect::<Vec<_>>().concat(),
    )
    .unwrap();
    fs::write(
        folder.join("offers"),
        (0..500).map(|id| format!("Name = \"{id}\"\nRequirements = true\n\n")).collect::<Vec<_>>().concat(),
    )
    .unwrap();
    let before = names(&folder);
    for arguments in [
        "split --ads 90 --into 's-{}' a.long",
        "split --by Name --into 's-{}' a.long",
        "fmt -w a.long",
        "fmt --write=.bak a.long",
        "match jobs --pool offers -q --notify new",
        "workload pool --machines 90 --jobs 1 --out .",
        "scatter --dag . --size 200 -- query true a.long",
        "man --out .",
        "query true a.long > /dev/full",
    ] {
        let (status, out, told) = script("bash", &folder, &format!("ulimit -f 8; \"$0\" {arguments}"));
        assert_eq!(status, Some(2), "{arguments}: {told}");
        assert!(told.contains("cannot write") && out.is_empty(), "{arguments}: {told}");
        // Files that are whole before stay.
        let whole = ["plan.json", "job.dag"];
        let added: Vec<String> = names(&folder)
            .into_iter()
            .filter(|name| !before.contains(name) && !whole.contains(&name.as_str()) && !is_page(name))
            .collect();
        assert!(added.is_empty(), "{arguments}: {added:?}");
    }
}

/// Whether a file is a manual page.
fn is_page(name: &str) -> bool {
    name.ends_with(".1") || name.ends_with(".7")
}

#[test]
fn a_closed_standard_stream_is_an_error() {
    let folder = folder("streams");
    fs::write(folder.join("a.long"), "a = 1\n").unwrap();
    for arguments in
        ["eval 1", "query true a.long", "parse a.long", "fmt a.long", "--help", "help budgets", "man", "functions"]
    {
        let (status, _, told) = script("sh", &folder, &format!("\"$0\" {arguments} >&-"));
        assert_eq!(
            (status, told.as_str()),
            (Some(2), "error: cannot write the output: standard output is closed\n"),
            "{arguments}"
        );
        // Who wants no output has it.
        assert_eq!(script("sh", &folder, &format!("\"$0\" {arguments} > /dev/null")).0, Some(0), "{arguments}");
    }
    assert_eq!(script("sh", &folder, "\"$0\" -q eval 1 >&-").0, Some(0));
    for arguments in ["query true", "query true -", "fmt", "match - --pool a.long", "test", "repl"] {
        let (status, _, told) = script("sh", &folder, &format!("\"$0\" {arguments} <&-"));
        assert_eq!(status, Some(2), "{arguments}");
        assert!(told.starts_with("error: cannot read standard input: it is closed\n"), "{arguments}: {told}");
    }
    let (status, out, _) = script("sh", &folder, "\"$0\" eval 1 2>&-; \"$0\" query nothing nothing 2>&-");
    assert_eq!((status, out.as_str()), (Some(2), "1\n"));
}

#[test]
fn usage_errors_spell_out_hidden_characters() {
    let hidden = "\u{1b}]0;x\u{7}\u{202e}\u{200b}\u{9b}";
    for arguments in [
        &["query", "true", &format!("-o{hidden}")][..],
        &["query", "true", &format!("--now={hidden}")],
        &["query", "true", "--dialect", hidden],
        &["query", "true", "-n", hidden],
        &["query", "true", "--limit", hidden],
        &["query", "true", "--af", hidden, "-limit", hidden],
        &["query", "true", hidden],
        &["query", "true", &format!("--{hidden}")],
        &["query", "true", &format!("-{hidden}")],
        &[hidden],
        &["help", hidden],
        &["help", "schema", hidden],
        &["man", hidden],
        &["split", "--bytes", hidden, "--into", "{}"],
        &["scatter", "--command", "--", "query", &format!("--{hidden}")],
        &["scatter", "--command", "--", hidden],
        &["transform", "--rename", hidden],
        &["match", "--policy", hidden],
        &["eval", "1", "--map", hidden],
        &["eval", &format!("= {hidden}")],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_classad")).args(arguments).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        let raw = |c: &char| c.is_control() && *c != '\n' || ['\u{202e}', '\u{200b}'].contains(c);
        assert_eq!(told.chars().find(raw), None, "{arguments:?}: {told:?}");
    }
}

/// Runs a command on a terminal of its own, and prints what the terminal gets.
const ON_TERMINAL: &str = "
import os, pty, sys
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 1 << 16))
sys.exit(os.waitstatus_to_exitcode(status))
";

/// Marks of direction, characters without width, and separators of lines are spelt out, whatever prints them. Who reads a
/// pipe gets the bytes.
#[test]
fn characters_that_hide_text_do_not_reach_a_terminal() {
    const HIDDEN: &str =
        "\u{202a}\u{202e}\u{2066}\u{2069}\u{200b}\u{200d}\u{200f}\u{2060}\u{feff}\u{2028}\u{2029}\u{61c}\u{ad}\u{9b}";
    let folder = folder("terminal");
    let ad = format!(
        "Name = \"m{HIDDEN}\"\nMyType = \"Machine\"\ns = \"{HIDDEN}\"\n'{HIDDEN}' = s\nRequirements = s == 1\n"
    );
    fs::write(folder.join("a.long"), &ad).unwrap();
    fs::write(folder.join("bad.long"), format!("a{HIDDEN} = (\nb = \"{HIDDEN}\" (\n")).unwrap();
    fs::write(folder.join(format!("f{HIDDEN}.long")), &ad).unwrap();
    for arguments in [
        "query true a.long",
        "query true a.long -o long",
        "query true a.long -o new",
        "query true a.long -o json",
        "query true a.long -o xml",
        "query true a.long -o yaml",
        "query true a.long -o names",
        "query true a.long --af s Name",
        "query true a.long --af s -o csv",
        "query true a.long --af s -o markdown",
        "query true a.long --group-by s",
        "parse bad.long",
        "query true f*.long f*.long/x",
        "parse a.long",
        "fmt a.long",
        "convert a.long --to jsonl",
        "refs a.long",
        "refs --dot a.long",
        "census a.long",
        "check a.long",
        "check bad.long -o github",
        "diff a.long a.long",
        "match a.long --pool a.long --all",
        "explain a.long --pool a.long",
        "split --by s --into '{}' a.long",
        "eval \"$(printf '\"\\342\\200\\256\\342\\200\\213\"')\"",
    ] {
        let command = format!("python3 -c '{ON_TERMINAL}' \"$0\" {arguments}");
        let (_, shown, told) = script("bash", &folder, &command);
        let found = shown.chars().find(|c| HIDDEN.contains(*c));
        assert_eq!(found, None, "{arguments}: {shown:?} {told}");
        let is_printed = ["query true a.long -o", "parse a.long", "fmt", "convert", "eval"]
            .iter()
            .any(|name| arguments.starts_with(name));
        assert!(!is_printed || shown.contains("\\342\\200"), "{arguments}: {shown:?} {told}");
        let _ = fs::remove_file(folder.join(HIDDEN));
    }
    let (_, out, _) = script("sh", &folder, "\"$0\" query true a.long --af s");
    assert_eq!(out, format!("{HIDDEN}\n"));
}
