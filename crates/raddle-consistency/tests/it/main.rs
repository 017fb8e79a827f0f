//! Consistency checkers, rechecking, history files and explanations against brute force.

mod c11_consistency;
mod c11_litmus;
mod c11_properties;
mod c11_recheck;
mod consistency;
mod explain;
mod explain_c11;
mod history;
mod history_fuzz;
mod history_hostile;
mod history_round_trip;
mod incremental;
mod incremental_offline;
mod recheck_violation;
mod recheck_witness;
mod reference_generate;
mod reference_litmus;
mod regressions;
