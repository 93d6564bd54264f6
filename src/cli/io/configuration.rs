//! Configurations of HTCondor, as `condor_config_val -dump` prints them.

use classad::configuration::Configuration;
use classad::format::{FileFormat, Problem};

use super::source::SourceText;
use super::user_maps;
use super::whole_file::read_text;
use crate::cli::outcome::{Failure, io_reason};
use crate::cli::session::Session;

/// A configuration and the text of its dump.
pub struct LoadedConfiguration {
    pub configuration: Configuration,
    pub text: SourceText,
}

impl LoadedConfiguration {
    /// Reads a dump. Reports the lines that cannot be read; the others count. The maps of users that the configuration
    /// names become known to `userMap()`, unless an option `--map` gives one of the name.
    pub fn read(session: &mut Session, path: &str) -> Result<Self, Failure> {
        session.ask_live([&path.to_owned()])?;
        let bytes = read_text(path).map_err(|error| Failure::unreadable(path, &error))?;
        let (configuration, problems) = Configuration::read(&bytes);
        let text = SourceText::from_file(path, bytes, FileFormat::Long);
        for problem in &problems {
            session.report_problem(&text, problem)?;
        }
        let loaded = LoadedConfiguration { configuration, text };
        loaded.add_user_maps(session)?;
        Ok(loaded)
    }

    /// Reports a problem at its place in the dump.
    pub fn report(&self, session: &mut Session, problem: &Problem) -> Result<(), Failure> {
        session.report_problem(&self.text, problem)
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
