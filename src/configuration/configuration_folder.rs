//! Folders of configuration files, such as `LOCAL_CONFIG_DIR`.

use std::path::{Path, PathBuf};

/// Returns the files of a folder of configurations, in the order in which HTCondor reads them, without those that its
/// default of `LOCAL_CONFIG_DIR_EXCLUDE_REGEXP` excludes.
#[must_use]
pub fn configuration_files(folder: &Path) -> Vec<PathBuf> {
    let is_excluded = |name: &str| {
        name.starts_with(['.', '#'])
            || name.ends_with('~')
            || [".rpmsave", ".rpmnew", ".dpkg-old", ".dpkg-dist"].iter().any(|ending| name.ends_with(ending))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| !is_excluded(name)));
    let mut files: Vec<PathBuf> = named.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort_unstable();
    files
}
