//! Explorers against brute force, and against each other.

mod common;
mod counterexample;
mod dpor;
mod dpor_oracle;
mod estimate;
mod explorers;
mod incremental_models;
mod incremental_models_examples;
mod long;
mod loops;
mod overlapping;
mod parallel;
mod quiet;
mod reductions;
mod rf_part_smc;
mod rf_smc;
mod rf_smc_oracle;
mod robustness;
mod rvf_smc;
mod rvf_smc_examples;
mod sampling;
mod symmetry;
