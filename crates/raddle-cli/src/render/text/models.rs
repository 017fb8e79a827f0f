//! `raddle models`: the memory models, their axioms, and what goes with what.

use raddle_core::model::{Axiom, Model, axioms};
use raddle_explore::plan::{Explorer, Plan};

use crate::render::table::table;
use crate::results::models::{ModelFacts, facts};

/// What the relations in the axioms are.
const RELATIONS: &str = "\
The axioms speak of these relations between events:

  po    program order; initial values come before everything
  asw   from a spawn to the thread, and from its end to the join
  rf    from a write to a read that observes it
  mo    the order of the writes of a location, which all threads agree on
  fr    from a read to a write that comes later in mo than what it observes
  sw    from a release to an acquire that observes it
  hb    happens before: po, asw and sw, one after the other; hbloc within one location
  psc   what sequentially consistent accesses and fences must respect (Lahav et al., PLDI 2017)
";

/// What holds between models.
const STRENGTH: &str = "\
What a model allows, the models after it allow as well (races apart):

  sc, tso, pso
  sc, sra, ra, wra
  sc, sra, ra, rc20, relaxed
  sc, rc11, c20, rc20, relaxed
";

/// What the models make of memory orders.
const ORDERS: &str = "\
Memory orders (sc ignores them; under tso and pso they can keep stores in order):

  rc11, c20     as they stand; an access without one, such as R x 1, is non-atomic
  rc20          the same, but an sc access only acquires and releases
  sra, ra, wra  every atomic read acquires, every atomic write releases
  relaxed       no atomic access and no fence orders anything; locks, spawn and join do

Under sra, ra, wra and rc20, all sc fences have one order, and each happens before the next.
";

/// All models, their axioms and the explorers.
pub(crate) fn text() -> String {
    let summaries: Vec<Vec<String>> =
        Model::ALL.map(|model| vec![format!("  {model}"), model.summary().to_owned()]).to_vec();
    format!(
        "The models:\n\n{}\n{STRENGTH}\n\
         Their axioms (tso and pso are defined by a machine):\n\n{}\n\
         In formulas:\n\n{}\n{RELATIONS}\n{ORDERS}\n\
         What goes with what, and what it costs to check an execution of n events and k threads if \
         every\nread has one source (if some have several, that is NP-hard):\n\n{}\n\
         What explores programs (`raddle check --explorer`): by which equivalence, under which models, \
         whether\neverything, and whether it can be divided (--jobs) and kept (--checkpoint):\n\n{}",
        table(&summaries),
        table(&axioms_of_models()),
        table(&formulas()),
        table(&uses()),
        table(&explorers()),
    )
}

fn axioms_of_models() -> Vec<Vec<String>> {
    let names = |model| axioms(model).iter().map(Axiom::to_string).collect::<Vec<_>>().join(", ");
    let models = Model::ALL.into_iter().filter(|&model| !axioms(model).is_empty());
    models.map(|model| vec![format!("  {model}"), names(model)]).collect()
}

/// Every axiom of some model, with its formula.
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

fn uses() -> Vec<Vec<String>> {
    let heads = ["  model", "witness", "races", "--generate", "cost"];
    let row = |model: Model| {
        let ModelFacts { model, witness, races, generate, cost, .. } = facts(model);
        let name = format!("  {model}");
        [&name, witness, yes(races), yes(generate), cost].map(str::to_owned).to_vec()
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
        let explores_all = yes(explorer.sampling().is_none());
        [&name, explorer.equivalence().name(), explores_all, yes(is_divisible), models_of]
            .map(str::to_owned)
            .to_vec()
    };
    [heads.map(str::to_owned).to_vec()].into_iter().chain(Explorer::any().map(row)).collect()
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}
