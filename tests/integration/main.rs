//! Tests of the whole: the samples, the command line, whatever may come in.

#[path = "../../fuzz/checks/mod.rs"]
mod checks;

use checks::random;

mod advertising;
mod binary;
mod census;
mod check;
mod commands;
mod compiled;
mod condor_tables;
mod configurations;
mod determinism;
mod differences;
mod explain;
mod forms;
mod fuzz;
mod gang_policies;
mod gangs;
mod group_cycle;
mod groups;
mod help;
mod histories;
mod htcondor_policy;
mod layout;
mod manuals;
mod marshalling;
mod merging;
mod negotiation;
mod negotiation_pool;
mod one_cycle;
mod parts;
mod policies;
mod policy_expressions;
mod pool_faults;
mod progress;
mod properties;
mod protocol;
mod queues;
mod real_pool;
mod references;
mod repl;
mod robustness;
mod rule_blocks;
mod samples;
mod selection;
mod slips;
mod specialize;
mod states;
mod tables;
mod threads;
mod transform;
mod trial;
mod words;
mod workload;
