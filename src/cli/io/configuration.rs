//! Configurations of HTCondor: files, folders of files, and what `condor_config_val -dump` prints.

use std::path::Path;

use classad::ad::Dialect;
use classad::configuration::{Configuration, ConfigurationSettings, configuration_files};
use classad::eval::Context;
use classad::format::{FileFormat, Problem, form_of_ads};
use classad::text::{join_first, shorten};

use super::source_text::SourceText;
use super::user_maps;
use super::whole_file::read_text;
use crate::cli::outcome::{Failure, io_reason, refuse};
use crate::cli::session::Session;

/// A configuration and the texts of its files.
pub struct LoadedConfiguration {
    pub configuration: Configuration,
    pub text: SourceText,
    /// What was met while it was read.
    pub problems: Vec<Problem>,
}

impl LoadedConfiguration {
    /// Reads a configuration as [`LoadedConfiguration::load`] does, and reports its problems.
    pub fn read(session: &mut Session, path: &str) -> Result<Self, Failure> {
        let loaded = LoadedConfiguration::load(session, path)?;
        loaded.problems.iter().try_for_each(|problem| loaded.report(session, problem))?;
        Ok(loaded)
    }

    /// Reads a file, or several in order, which commas separate. Of a folder, all files count. Lines that cannot be read
    /// are problems; the others count. The maps of users that the configuration names become known to `userMap()`, unless
    /// an option `--map` gives one of the name.
    pub fn load(session: &mut Session, path: &str) -> Result<Self, Failure> {
        let paths = configuration_paths(path)?;
        session.ask_live(&paths)?;
        let read = |path: &String| match read_text(path) {
            Ok(bytes) => Ok((path.clone(), bytes)),
            Err(error) => Err(Failure::unreadable(path, &error)),
        };
        let files = paths.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        if let Some((path, form)) = files.iter().find_map(|(path, bytes)| Some((path, form_of_ads(bytes)?))) {
            return refuse(format!(
                "{path} has ads in {form}, not settings: give a configuration file, or what `condor_config_val -dump` prints"
            ));
        }
        let settings = ConfigurationSettings {
            root: session.options.config_root.clone(),
            context: Context { dialect: Dialect::Condor, ..session.context() },
            allows_environment: true,
            local_name: session.options.config_local_name.clone(),
        };
        let (configuration, problems) = Configuration::read_files(&files, &settings);
        let text = SourceText::of_configuration(path, configuration.texts());
        let loaded = LoadedConfiguration { configuration, text, problems };
        loaded.add_user_maps(session)?;
        Ok(loaded)
    }

    /// Reports a problem at its place in the dump.
    pub fn report(&self, session: &mut Session, problem: &Problem) -> Result<(), Failure> {
        session.report_problem(&self.text, problem)
    }

    /// Returns the macros in the value of a variable that are HTCondor's defaults, in words; `None` if there are none.
    pub fn defaults(&self, name: &str) -> Option<String> {
        const MOST: usize = 3;
        const MOST_CHARACTERS: usize = 60;
        let defaults = self.configuration.defaults_in(self.configuration.entry(name)?);
        let value = |(name, value): &(String, String)| match shorten(value, MOST_CHARACTERS) {
            value if value.is_empty() => format!("$({name}) is empty"),
            value => format!("$({name}) is `{value}`"),
        };
        let texts: Vec<String> = defaults.iter().map(value).collect();
        (!texts.is_empty()).then(|| format!("HTCondor's default of {}", join_first(&texts, texts.len(), MOST)))
    }

    /// Returns the statements that set a variable before the one that counts, in words; `None` if there are none.
    pub fn replaced(&self, name: &str) -> Option<String> {
        const MOST: usize = 3;
        const MOST_CHARACTERS: usize = 60;
        let replaced: Vec<String> = self
            .configuration
            .replaced(name)
            .map(|entry| {
                let (place, range) = self.text.placed(entry.name_range.clone());
                let value = shorten(self.configuration.raw_value(entry), MOST_CHARACTERS);
                format!("`{value}` ({}:{})", place.name, place.position(range.start).line)
            })
            .collect();
        (!replaced.is_empty()).then(|| format!("it replaces {}", join_first(&replaced, replaced.len(), MOST)))
    }

    /// Adds the maps that a variable `..._CLASSAD_USER_MAP_NAMES` lists.
    fn add_user_maps(&self, session: &mut Session) -> Result<(), Failure> {
        const LIST: &str = "CLASSAD_USER_MAP_NAMES";
        let (configuration, context) = (&self.configuration, session.context());
        let mut names: Vec<String> = Vec::new();
        let lists = configuration.entries().iter().filter(|entry| entry.name.to_ascii_uppercase().ends_with(LIST));
        for list in lists {
            match configuration.words(&list.name, &context) {
                Ok(words) => names.extend(words),
                Err(problem) => self.report(session, &problem)?,
            }
        }
        names.sort_by_key(|name| name.to_ascii_lowercase());
        names.dedup_by(|name, known| name.eq_ignore_ascii_case(known));
        for name in names.iter().filter(|name| !context.user_maps.contains(name)) {
            if let Err(problem) = self.add_user_map(session, name)? {
                self.report(session, &problem)?;
            }
        }
        Ok(())
    }

    /// Adds a map that stands in a file or in the configuration itself.
    fn add_user_map(&self, session: &mut Session, name: &str) -> Result<Result<(), Problem>, Failure> {
        let (configuration, context) = (&self.configuration, session.context());
        let has_prefixes = match configuration.truth(&format!("CLASSAD_USER_MAP_PREFIX_{name}"), false, &context) {
            Ok(is) => is,
            Err(problem) => return Ok(Err(problem)),
        };
        let [file, data] = ["FILE", "DATA"].map(|kind| format!("CLASSAD_USER_MAP{kind}_{name}"));
        let stored = configuration.entry(&file).map(|entry| (entry, true));
        let Some((entry, is_file)) = stored.or_else(|| Some((configuration.entry(&data)?, false))) else {
            session.warning(&format!(
                "{}: the map {name} is not defined: {file} and {data} are both missing",
                self.text.name
            ));
            return Ok(Ok(()));
        };
        let value = match configuration.expand(entry, &context) {
            Ok(value) => value.text,
            Err(problem) => return Ok(Err(problem)),
        };
        if !is_file {
            let line = self.text.position(entry.value_range.start).line;
            let text = SourceText::from_lines(&self.text.name, &value, line);
            user_maps::add_map(session, name, &text, has_prefixes)?;
            return Ok(Ok(()));
        }
        match std::fs::read(&value) {
            Ok(bytes) => {
                user_maps::add_map(
                    session,
                    name,
                    &SourceText::from_file(&value, bytes, FileFormat::Long),
                    has_prefixes,
                )?;
            }
            // The dump may be of another machine.
            Err(error) => session.warning(&format!(
                "{}: cannot read {value}: {}; give the map with --map {name}=FILE",
                entry.name,
                io_reason(&error)
            )),
        }
        Ok(Ok(()))
    }
}

/// Returns the files that the value of `--config` names.
fn configuration_paths(text: &str) -> Result<Vec<String>, Failure> {
    let names: Vec<&str> = if Path::new(text).exists() { vec![text] } else { text.split(',').collect() };
    let mut paths = Vec::new();
    for name in names {
        if !Path::new(name).is_dir() {
            paths.push(name.to_owned());
            continue;
        }
        let files = configuration_files(Path::new(name));
        if files.is_empty() {
            return refuse(format!("the folder {name} has no files of a configuration"));
        }
        paths.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
    }
    Ok(paths)
}
