//! The memory models.
//!
//! SC, TSO and PSO are defined by a machine ([`reference::machine`](raddle_consistency::reference::machine)), the
//! C11 models by [`axioms()`] on the [`relations`] of an execution; SC has an axiom as well.

mod axioms;
mod describe;
mod race;
pub mod relation;
pub mod relations;

use std::fmt;
use std::str::FromStr;

pub use axioms::{Axiom, Definition, axioms, broken};
pub use race::{is_race, race};

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Sequential consistency: one interleaving, every store visible at once.
    Sc,
    /// Total store order: one FIFO store buffer for each thread.
    Tso,
    /// Partial store order: one FIFO store buffer for each thread and location.
    Pso,
    /// Strong release/acquire: modification orders and happens-before have one common order.
    Sra,
    /// Release/acquire.
    Ra,
    /// Weak release/acquire: causal consistency without modification orders.
    Wra,
    /// RC20: C++20 without sequentially consistent accesses.
    Rc20,
    /// Relaxed accesses only: coherence of every location.
    Relaxed,
    /// RC11 (Lahav et al., PLDI 2017).
    Rc11,
    /// RC20 with the sequentially consistent accesses and fences of RC11: C++20 and Rust.
    C20,
}

impl Model {
    /// All models.
    pub const ALL: [Model; 10] = [
        Model::Sc,
        Model::Tso,
        Model::Pso,
        Model::Sra,
        Model::Ra,
        Model::Wra,
        Model::Rc20,
        Model::Relaxed,
        Model::Rc11,
        Model::C20,
    ];

    /// The models with store buffers (SC with none), which machines define; strongest first.
    pub const STORE_BUFFERS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

    /// The models in the style of C11, which axioms define.
    pub const C11: [Model; 7] =
        [Model::Sra, Model::Ra, Model::Wra, Model::Rc20, Model::Relaxed, Model::Rc11, Model::C20];

    /// The name used on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
            Model::Sra => "sra",
            Model::Ra => "ra",
            Model::Wra => "wra",
            Model::Rc20 => "rc20",
            Model::Relaxed => "relaxed",
            Model::Rc11 => "rc11",
            Model::C20 => "c20",
        }
    }

    /// Whether the model is one of those with store buffers ([`Model::STORE_BUFFERS`]).
    #[must_use]
    pub fn has_store_buffers(self) -> bool {
        Model::STORE_BUFFERS.contains(&self)
    }

    /// Whether sequentially consistent fences are updates of one hidden location, so that a witness
    /// has an order of them.
    #[must_use]
    pub fn orders_sc_fences(self) -> bool {
        matches!(self, Model::Sra | Model::Ra | Model::Wra | Model::Rc20)
    }

    /// Whether the model has modification orders.
    #[must_use]
    pub fn has_mo(self) -> bool {
        self != Model::Wra
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
