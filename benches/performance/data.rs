//! The ads that are measured with, made by `classad workload` when they are first asked for.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::process::{self, BINARY};
use crate::tasks::Files;

/// Where the sets of ads are, and how large they are.
pub struct Data {
    folder: PathBuf,
    is_quick: bool,
    given: Vec<(String, PathBuf)>,
}

/// The pools: name, machines and jobs, and the same for a quick run.
const POOLS: [(&str, [u32; 2], [u32; 2]); 3] =
    [("pool", [1236, 5831], [60, 200]), ("large", [10_000, 50_000], [200, 600]), ("dump", [100_000, 100], [1000, 10])];

/// The workload of the thesis's gangs (§5.2.1).
pub struct Gangs {
    /// Jobs, and as many machines.
    pub n: u32,
    /// Licences, in percent of the machines.
    pub licences: u32,
    /// Into how many parts licences and machines are divided.
    pub selectivity: u32,
    /// `base`, `dud` or `heuristic`.
    pub variant: &'static str,
}

impl fmt::Display for Gangs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gangs { n, licences, selectivity, variant } = self;
        match *variant {
            "base" => write!(f, "{n}, {licences} %, selectivity {selectivity}"),
            "dud" => write!(f, "{n}, {licences} %, with duds"),
            variant => write!(f, "{n}, {variant}"),
        }
    }
}

/// Reads `SET=DIR`.
pub fn with(text: &str) -> std::result::Result<(String, PathBuf), String> {
    let (name, folder) = text.split_once('=').ok_or("it is written SET=DIR")?;
    Ok((name.to_owned(), folder.into()))
}

impl Data {
    pub fn new(folder: &Path, is_quick: bool, given: Vec<(String, PathBuf)>) -> Self {
        Data { folder: folder.to_owned(), is_quick, given }
    }

    /// So many, or a small part of it for a quick run.
    pub fn size(&self, usual: u32) -> u32 {
        if self.is_quick { usual.div_ceil(20) } else { usual }
    }

    /// How many machines and jobs a pool has.
    pub fn sizes(&self, name: &str) -> [u32; 2] {
        let pool = POOLS.iter().find(|pool| pool.0 == name);
        pool.map_or([0, 0], |&(_, usual, quick)| if self.is_quick { quick } else { usual })
    }

    /// A file of a pool in a form: `machines.long` of `pool`.
    pub fn pool(&self, name: &str, file: &str) -> Result<PathBuf> {
        let [machines, jobs] = self.sizes(name);
        self.file(name, &format!("pool --machines {machines} --jobs {jobs} --seed 2"), file)
    }

    /// Jobs and machines of a pool.
    pub fn pool_files(&self, name: &str) -> Result<Files> {
        Ok([self.pool(name, "jobs.long")?, self.pool(name, "machines.long")?])
    }

    /// Queries and objects of the index's workload.
    pub fn index(&self, mix: &str, n: u32, attributes: u32) -> Result<Files> {
        let file = |file| {
            let workload = format!("index --n {n} --attrs {attributes} --mix {mix}");
            self.file(&format!("index-{mix}-{n}x{attributes}"), &workload, file)
        };
        Ok([file("queries.long")?, file("objects.long")?])
    }

    /// Jobs, machines and licences of a gang workload.
    pub fn gangs(&self, gangs: &Gangs) -> Result<[PathBuf; 3]> {
        let Gangs { n, licences, selectivity, variant } = gangs;
        let (name, workload) = match *variant {
            "heuristic" => ("gang-heuristic".to_owned(), format!("gang --machines {n} --variant heuristic")),
            variant => (
                format!("gang-{variant}-{n}-{licences}-{selectivity}"),
                format!("gang --machines {n} --licenses {licences} --selectivity {selectivity} --variant {variant}"),
            ),
        };
        let file = |file| self.file(&name, &workload, file);
        Ok([file("jobs.new")?, file("machines.new")?, file("licenses.new")?])
    }

    fn file(&self, name: &str, workload: &str, file: &str) -> Result<PathBuf> {
        let given = self.given.iter().find(|(set, _)| set == name).map(|(_, folder)| folder.join(file));
        if let Some(path) = given.filter(|path| path.exists()) {
            return Ok(path);
        }
        let folder = self.folder.join(if self.is_quick { format!("quick-{name}") } else { name.to_owned() });
        let path = folder.join(file);
        if !path.exists() {
            let (kind, form) = file.split_once('.').ok_or("a file of ads has a form")?;
            // Made aside and then renamed: what is there is whole.
            let made = self.folder.join(format!("unfinished-{}", std::process::id()));
            let out = made.to_str().ok_or("the folder's name is no text")?;
            let arguments = format!("workload {workload} --kind {kind} --form {form} --quiet --out");
            process::succeed(BINARY, &arguments.split(' ').chain([out]).collect::<Vec<_>>())?;
            fs::create_dir_all(&folder)?;
            fs::rename(made.join(file), &path)?;
            fs::remove_dir_all(&made)?;
        }
        Ok(path)
    }
}
