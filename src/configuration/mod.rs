//! HTCondor's configuration, as far as ads meet it: map files.

mod map_file;

pub use map_file::{MapFileLine, MapFileReader, includes_file};
