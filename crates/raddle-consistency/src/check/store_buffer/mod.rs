//! Checkers for SC, TSO and PSO: searches over partial runs of the store-buffer machine.

#[cfg(test)]
mod audit;
mod closure;
mod decide;
mod derivation;
mod eager;
mod inferences;
mod instance;
mod memory;
mod naive;
mod preserved;
mod queues;
mod run;
mod search;
mod verify_pso;
mod verify_sc;
mod verify_tso;

pub(super) use decide::decide;
