//! The memory models.
//!
//! A machine defines SC, TSO and PSO (`reference::machine` of `raddle-consistency`); the [`axioms()`] on the
//! [`relations`] of an execution define the C11-style models. SC has an axiom as well.
//!
//! A model has an entry here (name, summary, cost) and a row in the table of [`orders`] that all fast paths read.
//! Independent of that, its [`axioms()`] and its rows in [`reference`](mod@reference) are the definition that the fast paths
//! are tested against. All of them are exhaustive: a new model does not compile until it has every row.

mod axioms;
pub mod orders;
mod race;
pub mod reference;
pub mod relation;
pub mod relations;

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use axioms::{Axiom, AxiomDefinition, axioms, broken};
pub use race::{is_race, race};

/// Declares the models: variant, name, summary and the cost of a check.
macro_rules! models {
    ($($(#[$doc:meta])* $model:ident { name: $name:literal, summary: $summary:literal, cost: $cost:literal })*) => {
        /// A memory model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        pub enum Model {$(
            $(#[$doc])*
            $model,
        )*}

        impl Model {
            /// All models.
            pub const ALL: [Model; [$($name),*].len()] = [$(Model::$model),*];

            /// The name used on the command line and in JSON.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Model::$model => $name,)*
                }
            }

            /// One sentence about the model, for users.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self {
                    $(Model::$model => $summary,)*
                }
            }

            /// The cost of checking an execution of n events and k threads, if every read has one source. With several
            /// sources the question is NP-hard under every model.
            #[must_use]
            pub fn cost(self) -> &'static str {
                match self {
                    $(Model::$model => $cost,)*
                }
            }
        }
    };
}

models! {
    /// Sequential consistency: one interleaving, every store visible at once.
    Sc {
        name: "sc",
        summary: "One interleaving of all threads, every store visible at once.",
        cost: "O(k n^k)"
    }
    /// Total store order: one FIFO store buffer per thread.
    Tso {
        name: "tso",
        summary: "Every thread has a FIFO store buffer, as on x86.",
        cost: "O(k n^(k+1))"
    }
    /// Partial store order: one FIFO store buffer per thread and location.
    Pso {
        name: "pso",
        summary: "Every thread has a FIFO store buffer for each location, as on SPARC.",
        cost: "O(k n^(k+1)) without fences; with full fences times min(n^(k(k-1)), 2^(k d)) for d \
               locations; with store-store fences exponential"
    }
    /// Strong release/acquire: modification orders and happens-before have one common order.
    Sra {
        name: "sra",
        summary: "Release/acquire, where all modification orders and happens-before have one common order.",
        cost: "O(k n^(k+1)), O(n k) without updates; a search over the order of SeqCst fences"
    }
    /// Release/acquire.
    Ra {
        name: "ra",
        summary: "Release/acquire: a read sees what its source had seen.",
        cost: "O(n k); a search over the order of SeqCst fences"
    }
    /// Weak release/acquire: causal consistency without modification orders.
    Wra {
        name: "wra",
        summary: "Release/acquire without modification orders: causal consistency.",
        cost: "O(n k); a search over the order of SeqCst fences"
    }
    /// RC20: C++20 without sequentially consistent accesses.
    Rc20 {
        name: "rc20",
        summary: "C++20 without sequentially consistent accesses: relaxed, release and acquire accesses, and fences.",
        cost: "O(n k); a search over the order of SeqCst fences"
    }
    /// Relaxed accesses only: coherence of every location.
    Relaxed {
        name: "relaxed",
        summary: "Coherence per location, nothing else.",
        cost: "O(n)"
    }
    /// RC11 (Lahav et al., PLDI 2017).
    Rc11 {
        name: "rc11",
        summary: "C11 as repaired by Lahav et al., with its long release sequences.",
        cost: "NP-hard: a search over what SeqCst leaves open"
    }
    /// RC20 with the sequentially consistent accesses and fences of RC11: C++20 and Rust.
    C20 {
        name: "c20",
        summary: "C++20 and Rust: RC20 with the sequentially consistent accesses and fences of RC11.",
        cost: "NP-hard: a search over what SeqCst leaves open"
    }
}

impl Model {
    /// The store-buffer models, which machines define (SC has no buffers), strongest first.
    pub const STORE_BUFFERS: [Model; Model::count(true)] = Model::family(true);

    /// The C11-style models, which axioms define.
    pub const C11: [Model; Model::count(false)] = Model::family(false);

    /// Returns `true` for the store-buffer models ([`Model::STORE_BUFFERS`]), SC among them.
    #[must_use]
    pub const fn has_store_buffers(self) -> bool {
        self.store_buffers().is_some()
    }

    /// The number of models of a family.
    const fn count(has_store_buffers: bool) -> usize {
        let (mut count, mut at) = (0, 0);
        while at < Model::ALL.len() {
            count += (Model::ALL[at].has_store_buffers() == has_store_buffers) as usize;
            at += 1;
        }
        count
    }

    /// The models of a family of `N`, in the order of [`Model::ALL`].
    const fn family<const N: usize>(has_store_buffers: bool) -> [Model; N] {
        let mut family = [Model::Sc; N];
        let (mut count, mut at) = (0, 0);
        while at < Model::ALL.len() {
            if Model::ALL[at].has_store_buffers() == has_store_buffers {
                family[count] = Model::ALL[at];
                count += 1;
            }
            at += 1;
        }
        family
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no memory model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownModel(String);

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown memory model '{}': expected", self.0)?;
        for (i, model) in Model::ALL.iter().enumerate() {
            write!(f, "{} {model}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownModel {}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        let found = Model::ALL.into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| UnknownModel(name.to_owned()))
    }
}
