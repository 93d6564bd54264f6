//! Tests of the whole: the samples, the command line, whatever may come in.

mod census;
mod commands;
mod differences;
mod gangs;
mod properties;
mod random;
mod references;
mod robustness;
mod samples;
mod specialize;
