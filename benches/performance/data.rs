//! The ads that are measured with, made by the library's workloads when they are first asked for.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use classad::format::{AdDocumentWriter, FileFormat};
use classad::workload::{AdGenerator, AdKind, DomainMix, GangVariant, GangWorkload, IndexWorkload, PoolWorkload};

use crate::Result;
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

    /// A number of ads of the measurements of growth, or a small part of it for a quick run.
    pub fn growth_size(&self, usual: u32) -> u32 {
        if self.is_quick { usual.div_ceil(400) } else { usual }
    }

    /// How many machines and jobs a pool has.
    pub fn sizes(&self, name: &str) -> [u32; 2] {
        let pool = POOLS.iter().find(|pool| pool.0 == name);
        pool.map_or([0, 0], |&(_, usual, quick)| if self.is_quick { quick } else { usual })
    }

    /// A file of a pool in a form: `machines.long` of `pool`.
    pub fn pool(&self, name: &str, file: &str) -> Result<PathBuf> {
        let [machines, jobs] = self.sizes(name);
        self.file(name, &PoolWorkload { machines, jobs, ..PoolWorkload::default() }, 2, file)
    }

    /// A file of a pool with these numbers of machines and jobs. The machines do not depend on the number of jobs.
    pub fn pool_of(&self, [machines, jobs]: [u32; 2], file: &str) -> Result<PathBuf> {
        let name = if file.starts_with("machines") { format!("{machines}") } else { format!("{machines}-{jobs}") };
        self.file(&format!("pool-{name}"), &PoolWorkload { machines, jobs, ..PoolWorkload::default() }, 2, file)
    }

    /// Jobs and machines of a pool.
    pub fn pool_files(&self, name: &str) -> Result<Files> {
        Ok([self.pool(name, "jobs.long")?, self.pool(name, "machines.long")?])
    }

    /// Queries and objects of the index's workload.
    pub fn index(&self, mix: DomainMix, n: u32, attributes: u16) -> Result<Files> {
        let name = format!("index-{}-{n}x{attributes}", mix.name());
        let workload = IndexWorkload { ads: n, attributes, mix, ..IndexWorkload::default() };
        let file = |file| self.file(&name, &workload, 1, file);
        Ok([file("queries.long")?, file("objects.long")?])
    }

    /// Jobs, machines and licences of a gang workload.
    pub fn gangs(&self, workload: &GangWorkload) -> Result<[PathBuf; 3]> {
        let GangWorkload { machines, license_percent, selectivity, variant, .. } = workload;
        let name = match variant {
            GangVariant::Heuristic => "gang-heuristic".to_owned(),
            variant => format!("gang-{}-{machines}-{license_percent}-{selectivity}", variant.name()),
        };
        let file = |file| self.file(&name, workload, 1, file);
        Ok([file("jobs.new")?, file("machines.new")?, file("licenses.new")?])
    }

    fn file(&self, name: &str, workload: &dyn AdGenerator, seed: u64, file: &str) -> Result<PathBuf> {
        let given = self.given.iter().find(|(set, _)| set == name).map(|(_, folder)| folder.join(file));
        if let Some(path) = given.filter(|path| path.exists()) {
            return Ok(path);
        }
        let folder = self.folder.join(if self.is_quick { format!("quick-{name}") } else { name.to_owned() });
        let path = folder.join(file);
        if !path.exists() {
            let (kind, form) = file.split_once('.').ok_or("a file of ads has a form")?;
            let kind = AdKind::ALL.into_iter().find(|known| known.name() == kind).ok_or("no workload has such ads")?;
            let form = match form {
                "new" => FileFormat::Bracketed,
                "json" => FileFormat::Json,
                "jsonl" => FileFormat::JsonLines,
                _ => FileFormat::Long,
            };
            fs::create_dir_all(&folder)?;
            // Made aside and then renamed: what is there is whole.
            let made = self.folder.join(format!("unfinished-{}", std::process::id()));
            let mut out = BufWriter::new(File::create(&made)?);
            let mut writer = AdDocumentWriter::new(form);
            for ad in workload.ads(kind, seed) {
                writer.write(&mut out, &ad, |_| true)?;
            }
            writer.finish(&mut out)?;
            out.flush()?;
            fs::rename(&made, &path)?;
        }
        Ok(path)
    }
}
