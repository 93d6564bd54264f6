//! HTCondor's configuration, as far as ads meet it: map files.

mod dump;
mod map_file;

pub use dump::{Configuration, ConfigurationEntry, ExpandedValue};
pub use map_file::{MapFileLine, MapFileReader, includes_file};
