//! The models in words.

use super::Model;

impl Model {
    /// What the model is, in one sentence.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Model::Sc => "One interleaving of all threads, every store visible at once.",
            Model::Tso => "Every thread has a FIFO store buffer, as on x86.",
            Model::Pso => "Every thread has a FIFO store buffer for each location, as on SPARC.",
            Model::Sra => {
                "Release/acquire, where all modification orders and happens-before have one common \
                 order."
            }
            Model::Ra => "Release/acquire: a read sees what its source had seen.",
            Model::Wra => "Release/acquire without modification orders: causal consistency.",
            Model::Rc20 => {
                "C++20 without sequentially consistent accesses: relaxed, release and acquire \
                 accesses, and fences."
            }
            Model::Relaxed => "Every location is coherent by itself, and that is all.",
            Model::Rc11 => "C11 as repaired by Lahav et al., with its long release sequences.",
            Model::C20 => {
                "C++20 and Rust: RC20 with the sequentially consistent accesses and fences of RC11."
            }
        }
    }

    /// What checking an execution of n events and k threads costs, if every read has one source.
    /// With several it is NP-hard under every model.
    #[must_use]
    pub fn cost(self) -> &'static str {
        match self {
            Model::Sc => "O(k n^k)",
            Model::Tso => "O(k n^(k+1))",
            Model::Pso => {
                "O(k n^(k+1)) without fences; with full fences times min(n^(k(k-1)), 2^(k d)) for d \
                 locations; with store-store fences exponential"
            }
            Model::Sra => {
                "O(k n^(k+1)), O(n k) without updates; a search over the order of SeqCst fences"
            }
            Model::Ra | Model::Wra | Model::Rc20 => {
                "O(n k); a search over the order of SeqCst fences"
            }
            Model::Relaxed => "O(n)",
            Model::Rc11 | Model::C20 => "NP-hard: a search over what SeqCst leaves open",
        }
    }
}
