//! What goes with what: languages, models, equivalences and explorers.
//!
//! This is the only place that says so. A front end asks [`plan`] before it explores; what does not go
//! together is a typed [`Unsupported`] that says why, and what there is instead.

use std::fmt;
use std::str::FromStr;

use crate::dpor::{optimal_dpor, source_dpor};
use crate::model::RvfOptions;
use crate::sampling::{self, Sampling, Strategy};
use crate::{Limits, Summary, Visitor, rf_part_smc, rf_smc, rvf_smc};
use raddle_core::model::Model;
use raddle_core::program::Program;

/// When two executions count as the same behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equivalence {
    /// The threads do the same, and every read observes the same write.
    ReadsFrom,
    /// Every read observes the same write, and the writes of every location reach memory in the same order.
    Trace,
    /// The threads do the same, every read gets the same value, and the causal orders of the reads agree.
    ReadsValueFrom,
}

/// An algorithm that explores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Explorer {
    /// RF-partSMC, [`rf_part_smc`].
    #[default]
    RfPartSmc,
    /// RF-SMC, [`rf_smc`].
    RfSmc,
    /// Source-DPOR, [`source_dpor`]: models with store buffers only.
    SourceDpor,
    /// Optimal-DPOR, [`optimal_dpor`]: models with store buffers only.
    OptimalDpor,
    /// RVF-SMC, [`rvf_smc`]: models with store buffers only.
    RvfSmc,
    /// RVF-SMC with [open classes](crate::model::RvfOptions::open), an experiment.
    RvfOpen,
    /// Runs by chance, [`sampling`]: never everything.
    Random(Sampling),
    /// Runs by priorities that change at few moments, [`sampling`]: never everything.
    Pct(Sampling),
}

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Instructions of x86.
    X86,
    /// C or C++, with their atomics.
    C,
}

/// How to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The memory model.
    pub model: Model,
    /// The explorer.
    pub explorer: Explorer,
}

/// Something that does not go with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What.
    pub what: What,
    /// The model.
    pub model: Model,
}

/// What may not go with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A language that has no meaning under it.
    Language(Language),
    /// An explorer that cannot explore under it.
    Explorer(Explorer),
    /// To compare it with SC.
    Robustness,
}

/// How to explore a program in this language.
///
/// # Errors
/// If the language means nothing under the model, or the explorer cannot explore under it.
pub fn plan(language: Language, model: Model, explorer: Explorer) -> Result<Plan, Unsupported> {
    for what in [What::Language(language), What::Explorer(explorer)] {
        if !what.supports(model) {
            return Err(Unsupported { what, model });
        }
    }
    Ok(Plan { model, explorer })
}

impl What {
    fn supports(self, model: Model) -> bool {
        match self {
            What::Language(language) => language.supports(model),
            What::Explorer(explorer) => explorer.supports(model),
            What::Robustness => model.buffers_stores(),
        }
    }
}

impl Language {
    /// Whether it means something under the model.
    fn supports(self, model: Model) -> bool {
        match self {
            Language::X86 => model.has_store_buffers(),
            Language::C => true,
        }
    }

    /// The model if none is asked for.
    #[must_use]
    pub fn default_model(self) -> Model {
        match self {
            Language::X86 => Model::Tso,
            Language::C => Model::C20,
        }
    }
}

impl Equivalence {
    /// All of them.
    pub const ALL: [Equivalence; 3] =
        [Equivalence::ReadsFrom, Equivalence::Trace, Equivalence::ReadsValueFrom];

    /// The name used on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Equivalence::ReadsFrom => "rf",
            Equivalence::Trace => "trace",
            Equivalence::ReadsValueFrom => "rvf",
        }
    }

    /// The explorer if none is asked for.
    #[must_use]
    pub fn explorer(self) -> Explorer {
        match self {
            Equivalence::ReadsFrom => Explorer::RfPartSmc,
            Equivalence::Trace => Explorer::OptimalDpor,
            Equivalence::ReadsValueFrom => Explorer::RvfSmc,
        }
    }
}

impl Explorer {
    /// All that explore everything.
    pub const ALL: [Explorer; 6] = [
        Explorer::RfPartSmc,
        Explorer::RfSmc,
        Explorer::SourceDpor,
        Explorer::OptimalDpor,
        Explorer::RvfSmc,
        Explorer::RvfOpen,
    ];

    /// All, also those that do not explore everything.
    pub fn any() -> impl Iterator<Item = Explorer> {
        let sampling = Sampling::default();
        let samplers = [Explorer::Random(sampling), Explorer::Pct(sampling)];
        Explorer::ALL.into_iter().chain(samplers)
    }

    /// How it samples, if it does not explore everything.
    #[must_use]
    pub fn sampling(self) -> Option<Sampling> {
        match self {
            Explorer::Random(sampling) | Explorer::Pct(sampling) => Some(sampling),
            _ => None,
        }
    }

    /// The same explorer, if it samples, with another way to do so.
    #[must_use]
    pub fn with_sampling(self, change: impl FnOnce(Sampling) -> Sampling) -> Self {
        match self {
            Explorer::Random(sampling) => Explorer::Random(change(sampling)),
            Explorer::Pct(sampling) => Explorer::Pct(change(sampling)),
            other => other,
        }
    }

    /// The same explorer, which makes only the last run that an exploration made, if it samples.
    #[must_use]
    pub fn only_last(self, runs: u64) -> Self {
        self.with_sampling(|sampling| sampling.only(runs.saturating_sub(1)))
    }

    /// What there is to say of so many runs in which nothing went wrong.
    #[must_use]
    pub fn sampled(self, runs: u64) -> String {
        let (name, seed) = (self.name(), self.sampling().unwrap_or_default().seed);
        let runs = if runs == 1 { String::from("1 run") } else { format!("{runs} runs") };
        format!("no bug in {runs} ({name}, seed {seed}), which is no proof")
    }

    /// The name used on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Explorer::Random(_) => "random",
            Explorer::Pct(_) => "pct",
            Explorer::RfPartSmc => "compact",
            Explorer::RfSmc => "reads-from",
            Explorer::SourceDpor => "source",
            Explorer::OptimalDpor => "optimal",
            Explorer::RvfSmc => "reads-value-from",
            Explorer::RvfOpen => "open",
        }
    }

    /// What it tells apart.
    #[must_use]
    pub fn equivalence(self) -> Equivalence {
        match self {
            Explorer::RfPartSmc | Explorer::RfSmc => Equivalence::ReadsFrom,
            Explorer::Random(_) | Explorer::Pct(_) => Equivalence::ReadsFrom,
            Explorer::SourceDpor | Explorer::OptimalDpor => Equivalence::Trace,
            Explorer::RvfSmc | Explorer::RvfOpen => Equivalence::ReadsValueFrom,
        }
    }

    /// Whether it can explore under the model.
    #[must_use]
    pub fn supports(self, model: Model) -> bool {
        match self {
            Explorer::RfPartSmc | Explorer::RfSmc => true,
            Explorer::Random(_) | Explorer::Pct(_) => true,
            Explorer::SourceDpor | Explorer::OptimalDpor | Explorer::RvfSmc | Explorer::RvfOpen => {
                model.has_store_buffers()
            }
        }
    }
}

impl Plan {
    /// Whether what the model allows can be compared with what SC allows
    /// ([`robust`](crate::robustness)).
    #[must_use]
    pub fn has_robustness(&self) -> bool {
        What::Robustness.supports(self.model)
    }

    /// The same plan, whose visitor is shown all executions, also those of which nothing need be told.
    #[must_use]
    pub fn showing_all(self) -> Self {
        let visit_all = |sampling| Sampling { visit_all: true, ..sampling };
        Plan { explorer: self.explorer.with_sampling(visit_all), ..self }
    }

    /// Whether an exploration can be divided among several workers ([`parallel`](crate::parallel)), and kept.
    ///
    /// # Errors
    /// If it cannot: why, and what there is instead.
    pub fn is_divisible(&self) -> Result<(), String> {
        match self.explorer {
            Explorer::RfPartSmc => Ok(()),
            other => {
                let (name, compact) = (other.name(), Explorer::RfPartSmc.name());
                Err(format!(
                    "the explorer {name} cannot be divided among several workers, and what is left of it cannot be \
                     kept: expected {compact}"
                ))
            }
        }
    }

    /// Explores a program.
    pub fn explore(
        &self,
        program: &mut dyn Program,
        limits: &Limits,
        visitor: &mut dyn Visitor,
    ) -> Summary {
        match self.explorer {
            Explorer::RfPartSmc => rf_part_smc::explore(program, self.model, limits, visitor),
            Explorer::RfSmc => rf_smc::explore(program, self.model, limits, visitor),
            Explorer::SourceDpor => source_dpor::explore(program, self.model, limits, visitor),
            Explorer::OptimalDpor => optimal_dpor::explore(program, self.model, limits, visitor),
            Explorer::RvfSmc => rvf_smc::explore(program, self.model, limits, visitor),
            Explorer::RvfOpen => {
                let options = RvfOptions { open: true, ..Default::default() };
                rvf_smc::explore_with(program, self.model, limits, visitor, options)
            }
            Explorer::Random(sampling) => {
                let strategy = Strategy::Random;
                sampling::explore(program, self.model, strategy, &sampling, limits, visitor)
            }
            Explorer::Pct(sampling) => {
                let strategy = Strategy::Pct;
                sampling::explore(program, self.model, strategy, &sampling, limits, visitor)
            }
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = Model::ALL.into_iter().filter(|&model| self.what.supports(model));
        let expected = models.map(Model::name).collect::<Vec<_>>().join(", ");
        let model = self.model;
        let what = match self.what {
            What::Language(Language::X86) => "x86 instructions, which have no memory orders,",
            What::Language(Language::C) => "C",
            What::Robustness => "robustness, a comparison with sc,",
            What::Explorer(explorer) => {
                let by = explorer.equivalence().name();
                return write!(f, "{model} cannot be explored by {by}: expected {expected}");
            }
        };
        write!(f, "{what} cannot be checked under {model}: expected {expected}")
    }
}

impl std::error::Error for Unsupported {}

impl FromStr for Equivalence {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Equivalence::ALL.into_iter().find(|it| it.name() == name);
        let names = Equivalence::ALL.map(Equivalence::name).join(" or ");
        found.ok_or_else(|| format!("there is no equivalence '{name}': expected {names}"))
    }
}

impl FromStr for Explorer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names: Vec<&str> = Explorer::any().map(Explorer::name).collect();
        let names = names.join(" or ");
        let error = || format!("there is no explorer '{name}': expected {names}");
        Explorer::any().find(|explorer| explorer.name() == name).ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_goes_with_the_models_that_have_store_buffers() {
        let with = |model| plan(Language::X86, model, Explorer::RfPartSmc).is_ok();
        let models: Vec<Model> = Model::ALL.into_iter().filter(|&model| with(model)).collect();
        assert_eq!(models, Model::STORE_BUFFERS);
        let error = plan(Language::X86, Model::Rc11, Explorer::RfPartSmc).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x86 instructions, which have no memory orders, cannot be checked under rc11: expected \
             sc, tso, pso"
        );
    }

    #[test]
    fn only_the_compact_explorer_has_parts() {
        for explorer in Explorer::ALL {
            let plan = Plan { model: Model::Sc, explorer };
            assert_eq!(plan.is_divisible().is_ok(), explorer == Explorer::RfPartSmc);
        }
        let plan = Plan { model: Model::Sc, explorer: Explorer::OptimalDpor };
        assert_eq!(
            plan.is_divisible().unwrap_err(),
            "the explorer optimal cannot be divided among several workers, and what is left of it cannot be kept: \
             expected compact"
        );
    }

    #[test]
    fn names_lead_back_to_what_they_name() {
        for explorer in Explorer::any() {
            assert_eq!(explorer.name().parse(), Ok(explorer));
        }
        let error = "dfs".parse::<Explorer>().unwrap_err();
        let names = "compact or reads-from or source or optimal or reads-value-from or open or random or pct";
        assert_eq!(error, format!("there is no explorer 'dfs': expected {names}"));
        for equivalence in Equivalence::ALL {
            assert_eq!(equivalence.name().parse(), Ok(equivalence));
            assert_eq!(equivalence.explorer().equivalence(), equivalence);
        }
        let error = "traces".parse::<Equivalence>().unwrap_err();
        assert_eq!(error, "there is no equivalence 'traces': expected rf or trace or rvf");
    }

    #[test]
    fn traces_go_with_the_models_that_have_store_buffers() {
        for explorer in [Explorer::SourceDpor, Explorer::OptimalDpor] {
            let with = |&model: &Model| plan(Language::C, model, explorer).is_ok();
            let models: Vec<Model> = Model::ALL.into_iter().filter(with).collect();
            assert_eq!(models, Model::STORE_BUFFERS);
            let error = plan(Language::C, Model::C20, explorer).unwrap_err();
            assert_eq!(error.to_string(), "c20 cannot be explored by trace: expected sc, tso, pso");
        }
    }
}
