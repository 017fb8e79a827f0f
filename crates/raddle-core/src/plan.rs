//! What goes with what: languages, models, equivalences and explorers.
//!
//! This is the only place that says so. A front end asks [`plan`] before it explores; what does not go
//! together is a typed [`Unsupported`] that says why, and what there is instead.

use std::fmt;
use std::str::FromStr;

use crate::explore::{Limits, Summary, Visitor, reads_from, reads_from_compact};
use crate::model::Model;
use crate::program::Program;

/// When two executions count as the same behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equivalence {
    /// The threads do the same, and every read observes the same write.
    ReadsFrom,
}

/// An algorithm that explores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Explorer {
    /// RF-partSMC, [`reads_from_compact`].
    #[default]
    Compact,
    /// RF-SMC, [`reads_from`].
    ReadsFrom,
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
    /// To compare it with SC.
    Robustness,
}

/// How to explore a program in this language.
///
/// # Errors
/// If the language means nothing under the model.
pub fn plan(language: Language, model: Model, explorer: Explorer) -> Result<Plan, Unsupported> {
    match language {
        Language::X86 if !model.has_store_buffers() => {
            Err(Unsupported { what: What::Language(language), model })
        }
        Language::X86 | Language::C => Ok(Plan { model, explorer }),
    }
}

impl What {
    fn goes_with(self, model: Model) -> bool {
        match self {
            What::Language(language) => plan(language, model, Explorer::default()).is_ok(),
            What::Robustness => Plan { model, explorer: Explorer::default() }.has_robustness(),
        }
    }
}

impl Language {
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
    /// The name used on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Equivalence::ReadsFrom => "rf",
        }
    }
}

impl Explorer {
    /// All of them.
    pub const ALL: [Explorer; 2] = [Explorer::Compact, Explorer::ReadsFrom];

    /// The name used on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Explorer::Compact => "compact",
            Explorer::ReadsFrom => "reads-from",
        }
    }

    /// What it tells apart.
    #[must_use]
    pub fn equivalence(self) -> Equivalence {
        match self {
            Explorer::Compact | Explorer::ReadsFrom => Equivalence::ReadsFrom,
        }
    }
}

impl Plan {
    /// Whether what the model allows can be compared with what SC allows
    /// ([`robust`](crate::robust)).
    #[must_use]
    pub fn has_robustness(&self) -> bool {
        matches!(self.model, Model::Tso | Model::Pso)
    }

    /// Explores a program.
    pub fn explore(
        &self,
        program: &mut dyn Program,
        limits: &Limits,
        visitor: &mut dyn Visitor,
    ) -> Summary {
        match self.explorer {
            Explorer::Compact => reads_from_compact::explore(program, self.model, limits, visitor),
            Explorer::ReadsFrom => reads_from::explore(program, self.model, limits, visitor),
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = Model::ALL.into_iter().filter(|&model| self.what.goes_with(model));
        let names: Vec<&str> = models.map(Model::name).collect();
        let what = match self.what {
            What::Language(Language::X86) => "x86 instructions, which have no memory orders,",
            What::Language(Language::C) => "C",
            What::Robustness => "robustness, a comparison with sc,",
        };
        write!(f, "{what} cannot be checked under {}: expected {}", self.model, names.join(", "))
    }
}

impl std::error::Error for Unsupported {}

impl FromStr for Equivalence {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Equivalence::ReadsFrom];
        let found = all.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| format!("there is no equivalence '{name}': expected rf"))
    }
}

impl FromStr for Explorer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Explorer::ALL.into_iter().find(|it| it.name() == name);
        let names = Explorer::ALL.map(Explorer::name).join(" or ");
        found.ok_or_else(|| format!("there is no explorer '{name}': expected {names}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_goes_with_the_models_that_have_store_buffers() {
        let with = |model| plan(Language::X86, model, Explorer::Compact).is_ok();
        let models: Vec<Model> = Model::ALL.into_iter().filter(|&model| with(model)).collect();
        assert_eq!(models, Model::STORE_BUFFERS);
        let error = plan(Language::X86, Model::Rc11, Explorer::Compact).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x86 instructions, which have no memory orders, cannot be checked under rc11: expected \
             sc, tso, pso"
        );
    }

    #[test]
    fn names_lead_back_to_what_they_name() {
        for explorer in Explorer::ALL {
            assert_eq!(explorer.name().parse(), Ok(explorer));
        }
        let error = "dfs".parse::<Explorer>().unwrap_err();
        assert_eq!(error, "there is no explorer 'dfs': expected compact or reads-from");
        let error = "trace".parse::<Equivalence>().unwrap_err();
        assert_eq!(error, "there is no equivalence 'trace': expected rf");
    }
}
