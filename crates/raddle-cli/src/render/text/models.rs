//! The memory models, their axioms, and the explorers that support them.

use raddle_core::model::{Axiom, Model, axioms};
use raddle_explore::plan::{Explorer, Plan};

use crate::render::table::table;
use crate::results::models::{ModelFacts, facts};

/// The relations in the axioms.
const RELATIONS: &str = "\
The axioms use these relations between events:

  po    program order; initial values precede all events
  asw   from a spawn to the first event of the thread, and from its last event to the join
  rf    from a write to a read that observes it
  mo    modification order: a total order of the writes of each location
  fr    from a read to every write that follows the observed write in mo
  sw    synchronizes-with: from a release to an acquire that observes it
  hb    happens-before: the transitive closure of po, asw and sw; hbloc: within one location
  psc   partial SC order of sequentially consistent accesses and fences (Lahav et al., PLDI 2017)
";

/// Inclusions between models.
const STRENGTH: &str = "\
Every execution that a model allows is allowed by the models after it (except for races):

  sc, tso, pso
  sc, sra, ra, wra
  sc, sra, ra, rc20, relaxed
  sc, rc11, c20, rc20, relaxed
";

/// The meaning of memory orders per model.
const ORDERS: &str = "\
Memory orders (sc ignores them; under tso and pso they may restrict the store buffer):

  rc11, c20     as specified; an access without one, such as R x 1, is non-atomic
  rc20          the same, but an sc access is only acquire and release
  sra, ra, wra  every atomic read acquires, every atomic write releases
  relaxed       atomic accesses and fences do not synchronize; locks, spawn and join do

Under sra, ra, wra and rc20, the sc fences are totally ordered, and each happens before the next.
";

/// All models, their axioms and the explorers.
pub(crate) fn text() -> String {
    let summaries: Vec<Vec<String>> =
        Model::ALL.map(|model| vec![format!("  {model}"), model.summary().to_owned()]).to_vec();
    format!(
        "The models:\n\n{}\n{STRENGTH}\n\
         The axioms of each model (tso and pso are defined by a machine):\n\n{}\n\
         The formulas of the axioms:\n\n{}\n{RELATIONS}\n{ORDERS}\n\
         The witness that `raddle verify` prints, whether data races are errors, whether `raddle history \
         generate`\nsupports the model, and the cost of checking an execution of n events and k threads in which \
         every read\nhas one source (NP-hard if a read has several):\n\n{}\n\
         The explorers (`raddle check --explorer`): their equivalence, whether they are exhaustive, whether \
         they\nsupport parallel exploration (--jobs) and checkpoints (--checkpoint), and the models they \
         support:\n\n{}",
        table(&summaries),
        table(&axioms_of_models()),
        table(&formulas()),
        table(&properties()),
        table(&explorers()),
    )
}

fn axioms_of_models() -> Vec<Vec<String>> {
    let names = |model| axioms(model).iter().map(Axiom::to_string).collect::<Vec<_>>().join(", ");
    let models = Model::ALL.into_iter().filter(|&model| !axioms(model).is_empty());
    models.map(|model| vec![format!("  {model}"), names(model)]).collect()
}

/// Every axiom of a model once, with its formula.
fn formulas() -> Vec<Vec<String>> {
    let mut all: Vec<Axiom> = vec![];
    for &axiom in Model::ALL.into_iter().flat_map(axioms) {
        if !all.contains(&axiom) {
            all.push(axiom);
        }
    }
    let row = |axiom: &Axiom| vec![format!("  {axiom}"), axiom.definition().formula.to_owned()];
    all.iter().map(row).collect()
}

fn properties() -> Vec<Vec<String>> {
    let heads = ["  model", "witness", "races", "generate", "cost"];
    let row = |model: Model| {
        let ModelFacts { model, witness, races, generate, cost, .. } = facts(model);
        let name = format!("  {model}");
        [&name, witness, yes_or_no(races), yes_or_no(generate), cost].map(str::to_owned).to_vec()
    };
    [heads.map(str::to_owned).to_vec()].into_iter().chain(Model::ALL.map(row)).collect()
}

fn explorers() -> Vec<Vec<String>> {
    let heads = ["  explorer", "--by", "exhaustive", "parallel", "models"];
    let row = |explorer: Explorer| {
        let models: Vec<Model> =
            Model::ALL.into_iter().filter(|&model| explorer.supports(model)).collect();
        let names = models.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ");
        let models_of = if models.len() == Model::ALL.len() { "all" } else { &names };
        let is_divisible = Plan { model: models[0], explorer }.is_divisible().is_ok();
        let name = format!("  {}", explorer.name());
        let explores_all = yes_or_no(explorer.sampling().is_none());
        [&name, explorer.equivalence().name(), explores_all, yes_or_no(is_divisible), models_of]
            .map(str::to_owned)
            .to_vec()
    };
    [heads.map(str::to_owned).to_vec()].into_iter().chain(Explorer::any().map(row)).collect()
}

fn yes_or_no(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}
