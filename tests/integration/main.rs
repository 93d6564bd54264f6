//! Tests of the whole: the samples, the command line, whatever may come in.

mod commands;
mod forms;
mod gangs;
mod properties;
mod robustness;
mod samples;
mod specialize;
