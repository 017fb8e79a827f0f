//! Which languages, models, equivalences and explorers support each other.
//!
//! This is the only place that decides. A front end calls [`plan`] before it explores. An unsupported combination is a
//! typed [`UnsupportedModel`], whose message names the reason and the alternatives.

use std::fmt;
use std::str::FromStr;

use crate::dpor::{optimal_dpor, source_dpor};
use crate::model::RvfOptions;
use crate::sampling::{self, Sampling, Strategy};
use crate::{Extent, Limits, Summary, Unsupported, Visitor, rf_part_smc, rf_smc, rvf_smc};
use raddle_core::model::Model;
use raddle_core::outcome::{Bound, SampledRun};
use raddle_core::program::Program;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// When two executions are equivalent. An exploration visits one execution per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equivalence {
    /// The threads execute the same events, and every read observes the same write.
    ReadsFrom,
    /// Every read observes the same write, and the writes of every location reach memory in the same order.
    Trace,
    /// The threads execute the same events, every read returns the same value, and the causal orders of the reads
    /// agree.
    ReadsValueFrom,
}

/// An exploration algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
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
    /// Random testing, [`sampling`]: never exhaustive.
    Random(Sampling),
    /// Random testing by thread priorities with few change points (PCT), [`sampling`]: never exhaustive.
    Pct(Sampling),
}

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// x86 instructions, which have no memory orders.
    X86,
    /// C or C++, with their atomics.
    C,
}

/// A supported combination of model and explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The memory model.
    pub model: Model,
    /// The explorer.
    pub explorer: Explorer,
}

/// A feature that does not support a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedModel {
    /// The feature.
    pub feature: Feature,
    /// The model.
    pub model: Model,
}

/// Features that do not support every model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The semantics of a language.
    Language(Language),
    /// An explorer.
    Explorer(Explorer),
    /// The comparison with SC.
    Robustness,
}

/// Returns the plan for a program in this language.
///
/// # Errors
/// If the language or the explorer does not support the model.
pub fn plan(
    language: Language,
    model: Model,
    explorer: Explorer,
) -> Result<Plan, UnsupportedModel> {
    for feature in [Feature::Language(language), Feature::Explorer(explorer)] {
        if !feature.supports(model) {
            return Err(UnsupportedModel { feature, model });
        }
    }
    Ok(Plan { model, explorer })
}

impl Feature {
    fn supports(self, model: Model) -> bool {
        match self {
            Feature::Language(language) => language.supports(model),
            Feature::Explorer(explorer) => explorer.supports(model),
            Feature::Robustness => model.buffers_stores(),
        }
    }
}

impl Language {
    /// Returns `true` if programs in the language have a semantics under the model.
    fn supports(self, model: Model) -> bool {
        match self {
            Language::X86 => model.has_store_buffers(),
            Language::C => true,
        }
    }

    /// The default of `--model`.
    #[must_use]
    pub fn default_model(self) -> Model {
        match self {
            Language::X86 => Model::Tso,
            Language::C => Model::C20,
        }
    }
}

impl Equivalence {
    /// All equivalences.
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

    /// The default explorer by this equivalence.
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
    /// All exhaustive explorers.
    pub const ALL: [Explorer; 6] = [
        Explorer::RfPartSmc,
        Explorer::RfSmc,
        Explorer::SourceDpor,
        Explorer::OptimalDpor,
        Explorer::RvfSmc,
        Explorer::RvfOpen,
    ];

    /// All explorers, also those that only sample.
    pub fn any() -> impl Iterator<Item = Explorer> {
        let sampling = Sampling::default();
        let samplers = [Explorer::Random(sampling), Explorer::Pct(sampling)];
        Explorer::ALL.into_iter().chain(samplers)
    }

    /// The options for random testing, or `None` if the explorer is exhaustive.
    #[must_use]
    pub fn sampling(self) -> Option<Sampling> {
        match self {
            Explorer::Random(sampling) | Explorer::Pct(sampling) => Some(sampling),
            _ => None,
        }
    }

    /// Replaces the options for random testing. Exhaustive explorers are returned unchanged.
    #[must_use]
    pub fn with_sampling(self, change: impl FnOnce(Sampling) -> Sampling) -> Self {
        match self {
            Explorer::Random(sampling) => Explorer::Random(change(sampling)),
            Explorer::Pct(sampling) => Explorer::Pct(change(sampling)),
            other => other,
        }
    }

    /// Restricts random testing to the last of `runs` runs, to repeat it. Exhaustive explorers are returned unchanged.
    #[must_use]
    pub fn only_last(self, runs: u64) -> Self {
        self.with_sampling(|sampling| sampling.only(runs.saturating_sub(1)))
    }

    /// The name used on the command line, in trace files and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Explorer::Random(_) => "random",
            Explorer::Pct(_) => "pct",
            Explorer::RfPartSmc => "rf-part-smc",
            Explorer::RfSmc => "rf-smc",
            Explorer::SourceDpor => "source-dpor",
            Explorer::OptimalDpor => "optimal-dpor",
            Explorer::RvfSmc => "rvf-smc",
            Explorer::RvfOpen => "rvf-open",
        }
    }

    /// The explorer that earlier versions called `name`. Former names are accepted, but never printed.
    fn by_former_name(name: &str) -> Option<Self> {
        match name {
            "compact" => Some(Explorer::RfPartSmc),
            "reads-from" => Some(Explorer::RfSmc),
            "source" => Some(Explorer::SourceDpor),
            "optimal" => Some(Explorer::OptimalDpor),
            "reads-value-from" => Some(Explorer::RvfSmc),
            "open" => Some(Explorer::RvfOpen),
            _ => None,
        }
    }

    /// The equivalence whose classes the explorer visits.
    #[must_use]
    pub fn equivalence(self) -> Equivalence {
        match self {
            Explorer::RfPartSmc | Explorer::RfSmc => Equivalence::ReadsFrom,
            Explorer::Random(_) | Explorer::Pct(_) => Equivalence::ReadsFrom,
            Explorer::SourceDpor | Explorer::OptimalDpor => Equivalence::Trace,
            Explorer::RvfSmc | Explorer::RvfOpen => Equivalence::ReadsValueFrom,
        }
    }

    /// Returns `true` if the explorer can explore under the model.
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
    /// Returns `true` if the executions that the model allows can be compared with those that SC allows
    /// ([`robustness`](crate::robustness)).
    #[must_use]
    pub fn has_robustness(&self) -> bool {
        Feature::Robustness.supports(self.model)
    }

    /// Passes every execution to the visitor. Without this, random testing passes on only executions with a bug.
    #[must_use]
    pub fn showing_all(self) -> Self {
        let visit_all = |sampling| Sampling { visit_all: true, ..sampling };
        Plan { explorer: self.explorer.with_sampling(visit_all), ..self }
    }

    /// Checks that an exploration can be divided among workers ([`parallel`](crate::parallel)) and written to a
    /// checkpoint.
    ///
    /// # Errors
    /// If it cannot, with the explorer that can.
    pub fn is_divisible(&self) -> Result<(), String> {
        match self.explorer {
            Explorer::RfPartSmc => Ok(()),
            other => {
                let (name, divisible) = (other.name(), Explorer::RfPartSmc.name());
                Err(format!(
                    "{name} supports neither several workers nor checkpoints: use the explorer {divisible}"
                ))
            }
        }
    }

    /// Why an exploration left executions out, if it did and was not stopped by its visitor.
    #[must_use]
    pub fn bound(&self, summary: &Summary) -> Option<Bound> {
        match summary.extent {
            Extent::All if summary.classes == 0 && summary.blocked > 0 => Some(Bound::AllBlocked),
            Extent::All | Extent::Stopped => None,
            Extent::Classes => Some(Bound::Classes),
            Extent::Deadline => Some(Bound::Deadline),
            Extent::Events => Some(match &summary.cut {
                Some(cut) => Bound::LongExecution(Box::new(cut.clone())),
                None => Bound::Events,
            }),
            Extent::Unsupported(reason) => Some(Bound::Unsupported(reason)),
            Extent::Sampled => Some(Bound::Sampled {
                runs: summary.runs(),
                explorer: self.explorer.name().into(),
                seed: self.explorer.sampling().unwrap_or_default().seed,
            }),
        }
    }

    /// The last run of an exploration, if it samples runs: the one that a visitor stopped.
    #[must_use]
    pub fn last_run(&self, summary: &Summary) -> Option<SampledRun> {
        let number = summary.runs();
        let sampling = self.explorer.only_last(number).sampling()?;
        Some(SampledRun { explorer: self.explorer.name().into(), number, seed: sampling.seed })
    }

    /// Explores a program.
    pub fn explore(
        &self,
        program: &mut dyn Program,
        limits: &Limits,
        visitor: &mut dyn Visitor,
    ) -> Summary {
        if self.explorer != Explorer::RfPartSmc && program.has_joint_accesses() {
            return Summary::unsupported(Unsupported::Overlaps);
        }
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

impl fmt::Display for UnsupportedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = Model::ALL.into_iter().filter(|&model| self.feature.supports(model));
        let alternatives = alternatives(models.map(Model::name));
        let model = self.model;
        match self.feature {
            Feature::Language(Language::X86) => {
                write!(f, "x86 instructions have no memory orders, which {model} requires")
            }
            Feature::Language(Language::C) => write!(f, "C programs do not support {model}"),
            Feature::Robustness => {
                write!(
                    f,
                    "robustness compares a store-buffer model with sc and does not support {model}"
                )
            }
            Feature::Explorer(explorer) => {
                let (name, by) = (explorer.name(), explorer.equivalence().name());
                write!(f, "{name}, which explores by {by}, does not support {model}")
            }
        }?;
        write!(f, ": use {alternatives}")
    }
}

/// Joins names as `a, b or c`.
fn alternatives(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl std::error::Error for UnsupportedModel {}

impl FromStr for Equivalence {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Equivalence::ALL.into_iter().find(|it| it.name() == name);
        let expected = || alternatives(Equivalence::ALL.into_iter().map(Equivalence::name));
        found.ok_or_else(|| format!("unknown equivalence '{name}': expected {}", expected()))
    }
}

impl FromStr for Explorer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Explorer::any().find(|explorer| explorer.name() == name);
        let expected = || alternatives(Explorer::any().map(Explorer::name));
        found
            .or_else(|| Explorer::by_former_name(name))
            .ok_or_else(|| format!("unknown explorer '{name}': expected {}", expected()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_supports_the_store_buffer_models() {
        let with = |model| plan(Language::X86, model, Explorer::RfPartSmc).is_ok();
        let models: Vec<Model> = Model::ALL.into_iter().filter(|&model| with(model)).collect();
        assert_eq!(models, Model::STORE_BUFFERS);
        let error = plan(Language::X86, Model::Rc11, Explorer::RfPartSmc).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x86 instructions have no memory orders, which rc11 requires: use sc, tso or pso"
        );
    }

    #[test]
    fn only_rf_part_smc_is_divisible() {
        for explorer in Explorer::ALL {
            let plan = Plan { model: Model::Sc, explorer };
            assert_eq!(plan.is_divisible().is_ok(), explorer == Explorer::RfPartSmc);
        }
        let plan = Plan { model: Model::Sc, explorer: Explorer::OptimalDpor };
        assert_eq!(
            plan.is_divisible().unwrap_err(),
            "optimal-dpor supports neither several workers nor checkpoints: use the explorer rf-part-smc"
        );
    }

    #[test]
    fn names_are_parsed() {
        for explorer in Explorer::any() {
            assert_eq!(explorer.name().parse(), Ok(explorer));
        }
        let error = "dfs".parse::<Explorer>().unwrap_err();
        let names =
            "rf-part-smc, rf-smc, source-dpor, optimal-dpor, rvf-smc, rvf-open, random or pct";
        assert_eq!(error, format!("unknown explorer 'dfs': expected {names}"));
        for equivalence in Equivalence::ALL {
            assert_eq!(equivalence.name().parse(), Ok(equivalence));
            assert_eq!(equivalence.explorer().equivalence(), equivalence);
        }
        let error = "traces".parse::<Equivalence>().unwrap_err();
        assert_eq!(error, "unknown equivalence 'traces': expected rf, trace or rvf");
    }

    #[test]
    fn former_names_of_explorers_are_parsed() {
        let former = ["compact", "reads-from", "source", "optimal", "reads-value-from", "open"];
        for (name, explorer) in former.into_iter().zip(Explorer::ALL) {
            assert_eq!(name.parse(), Ok(explorer));
            assert_ne!(explorer.name(), name);
        }
    }

    #[test]
    fn the_trace_explorers_support_the_store_buffer_models() {
        for explorer in [Explorer::SourceDpor, Explorer::OptimalDpor] {
            let with = |&model: &Model| plan(Language::C, model, explorer).is_ok();
            let models: Vec<Model> = Model::ALL.into_iter().filter(with).collect();
            assert_eq!(models, Model::STORE_BUFFERS);
            let error = plan(Language::C, Model::C20, explorer).unwrap_err();
            let name = explorer.name();
            let expected = format!(
                "{name}, which explores by trace, does not support c20: use sc, tso or pso"
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}
