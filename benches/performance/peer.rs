//! HTCondor's own library, in Python: as a process that does what it is asked, or as a script to run whole.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::Result;
use crate::measure::{Bench, Run};
use crate::process;

/// HTCondor's own library.
pub struct Peer {
    python: String,
    script: PathBuf,
}

impl Peer {
    /// Installs it if it is not there.
    pub fn new(root: &Path) -> Result<Self> {
        let mut python = Command::new(root.join("tests/conformance/python"));
        let output = python.args(["-c", "import sys; print(sys.executable)"]).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err("HTCondor's library cannot be installed".into());
        }
        let python = String::from_utf8(output.stdout)?.trim().to_owned();
        Ok(Peer { python, script: root.join("benches/performance/peer.py") })
    }

    /// Runs a command of the script as a whole process.
    pub fn run(&self, bench: &Bench, arguments: &[&str]) -> Result<Run> {
        let script = self.script.to_str().ok_or("the script's name is not text")?;
        process::run(&self.python, &[&[script], arguments].concat(), bench.limit * 10)
    }

    /// How long Python takes to have the library.
    pub fn start(&self, bench: &Bench) -> Result<Run> {
        process::run(&self.python, &["-c", "import htcondor2, classad2"], bench.limit)
    }

    /// Has a task done in a process of its own, which reads what it needs before its time begins.
    pub fn ask(&self, task: &Value) -> Result<Run> {
        let mut server = Server::start(self)?;
        let reply = server.ask(task)?;
        let cost = reply[0].as_f64().ok_or_else(|| format!("{task}: the reply is {reply}"))?;
        let answer = (!reply[1].is_null()).then(|| reply[1].to_string().into_bytes());
        Ok(Run { cost, amount: 1.0, answer, ..Run::default() })
    }
}

/// A task: its name, its files, and the rest of its arguments.
pub fn task(name: &str, files: &[&Path], rest: &[Value]) -> Value {
    let files = files.iter().map(|path| json!(path.to_string_lossy()));
    [json!(name)].into_iter().chain(files).chain(rest.iter().cloned()).collect()
}

/// The process that does what it is asked.
struct Server(Child);

impl Server {
    fn start(peer: &Peer) -> Result<Self> {
        let mut command = Command::new(&peer.python);
        let command = command.arg(&peer.script).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(Server(command.spawn()?))
    }

    fn ask(&mut self, task: &Value) -> Result<Value> {
        let input = self.0.stdin.as_mut().ok_or("its input is a pipe")?;
        writeln!(input, "{task}")?;
        let output = self.0.stdout.as_mut().ok_or("its output is a pipe")?;
        let mut reply = String::new();
        BufReader::new(output).read_line(&mut reply)?;
        Ok(serde_json::from_str(&reply).map_err(|_| format!("{task}: no reply"))?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input is its end.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
