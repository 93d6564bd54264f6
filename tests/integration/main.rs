//! Tests of the whole: the samples, the command line, whatever may come in.

mod commands;
mod gangs;
mod layout;
mod properties;
mod robustness;
mod samples;
