//! Tests of the whole: the samples, the command line, whatever may come in.

mod census;
mod check;
mod commands;
mod differences;
mod explain;
mod forms;
mod fuzz;
mod gang_policies;
mod gangs;
mod help;
mod layout;
mod marshalling;
mod negotiation;
mod policies;
mod properties;
mod protocol;
mod random;
mod references;
mod robustness;
mod samples;
mod selection;
mod slips;
mod specialize;
mod threads;
mod transform;
mod workload;
