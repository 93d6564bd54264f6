//! Names of attributes of files, for completions.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use classad::ad::Dialect;
use classad::format::{ReadCache, Stream};
use classad::syntax::print_name;

/// Maximum number of files that are read.
const MAX_FILES: usize = 4;

/// Maximum number of bytes of a file that are read.
const MAX_FILE_BYTES: u64 = 1 << 18;

/// Maximum number of ads of a file that are read.
const MAX_ADS: usize = 100;

/// Returns the names of the attributes at the beginnings of the files among `words`, sorted. Files that cannot be read
/// and ads with errors are left out.
pub fn attribute_names<'w>(words: impl Iterator<Item = &'w str>) -> Vec<String> {
    let mut names = BTreeMap::new();
    for path in words.filter(|word| Path::new(word).is_file()).take(MAX_FILES) {
        // The end is cut off on purpose: what comes before is enough.
        let _ = add_names(path, &mut names);
    }
    names.into_values().collect()
}

/// Adds the names of a file, each by its lower case.
fn add_names(path: &str, names: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    let mut stream = Stream::new(Box::new(File::open(path)?.take(MAX_FILE_BYTES)), None)?;
    let mut cache = ReadCache::new(Dialect::Condor);
    let mut ads_read = 0;
    while let Some(block) = stream.next_block()? {
        for entry in block.ads_cached(&mut cache).flatten() {
            for attribute in entry.ad.iter() {
                let name = print_name(attribute.name);
                names.entry(name.to_ascii_lowercase()).or_insert(name);
            }
            ads_read += 1;
            if ads_read == MAX_ADS {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MAX_ADS, attribute_names};

    #[test]
    fn names_are_those_of_the_first_ads_of_the_first_files() {
        let folder = std::env::temp_dir().join(format!("classad-attribute-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.to_string_lossy().into_owned()
        };
        let many = (1..=MAX_ADS + 1).map(|number| format!("A{number} = 1\n\n")).collect::<Vec<_>>().concat();
        let paths = [
            file("many.long", &many),
            file("some.ad", "[ a1 = 2; 'b c' = 3 ] [ B = ]"),
            file("c.long", "C = 1\n"),
            file("d.long", "D = 1\n"),
            file("e.long", "E = 1\n"),
        ];
        let words =
            |paths: &[String]| attribute_names(["true", "--af"].into_iter().chain(paths.iter().map(String::as_str)));
        let names = words(&paths);
        let others: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.starts_with('A')).collect();
        assert_eq!(others, ["'b c'", "C", "D"]);
        assert_eq!(names.len(), MAX_ADS + 3);
        assert!(names.contains(&format!("A{MAX_ADS}")) && names.contains(&"A1".to_owned()), "{names:?}");
        assert_eq!(words(&paths[3..]), ["D", "E"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
