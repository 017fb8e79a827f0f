//! The incremental checker and the checkers of whole executions agree after every step, and after
//! steps were taken back.

use raddle_consistency::check::{CheckOptions, check};
use raddle_consistency::history::{Format, write};
use raddle_consistency::incremental::{AccessKind, Incremental, UndoMark, WriteId};
use raddle_consistency::witness::ConsistencyVerdict;
use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId,
};
use raddle_core::model::Model;
use raddle_core::random::Random;

use raddle_testkit::seeds::for_cases;

const THREADS: usize = 4;
const LOCATIONS: usize = 2;
const STEPS: usize = 40;

/// An event that was added. Of a read and an update, the step of its source, or none for init.
#[derive(Clone, Copy)]
enum Event {
    Write,
    Read(Option<usize>),
    Update(Option<usize>),
    Fence,
}

#[derive(Clone, Copy)]
struct Step {
    thread: usize,
    location: usize,
    order: MemoryOrder,
    event: Event,
}

impl Step {
    fn writes(&self) -> bool {
        matches!(self.event, Event::Write | Event::Update(_))
    }
}

/// The execution of some steps. Step `s` writes the value `s + 1`.
fn execution(steps: &[Step]) -> Execution {
    let mut builder = ExecutionBuilder::new();
    let threads: Vec<ThreadId> = (0..THREADS).map(|t| builder.thread(&format!("P{t}"))).collect();
    let locations: Vec<LocationId> =
        ["x", "y"].map(|name| builder.location(name)).into_iter().collect();
    for &location in &locations {
        builder.init(location, 0).expect("a location has one initial value");
    }
    let mut positions = vec![];
    for (at, step) in steps.iter().enumerate() {
        let location = locations[step.location];
        let written = at as i128 + 1;
        let value = |source: Option<usize>| source.map_or(0, |source| source as i128 + 1);
        let (action, source) = match step.event {
            Event::Write => (Action::Write { location, value: written }, None),
            Event::Read(source) => (Action::Read { location, value: value(source) }, Some(source)),
            Event::Update(source) => {
                (Action::Rmw { location, read: value(source), written }, Some(source))
            }
            Event::Fence => (Action::Fence, None),
        };
        let claim = match source {
            None => SourceClaim::Unnamed,
            Some(None) => SourceClaim::Init,
            Some(Some(source)) => {
                let (thread, position): (usize, usize) = positions[source];
                SourceClaim::Event { thread: threads[thread], position }
            }
        };
        let position = builder.push_ordered(threads[step.thread], action, step.order, claim);
        positions.push((step.thread, position));
    }
    builder.build().expect("the steps make an execution")
}

struct Run {
    model: Model,
    checker: Incremental,
    steps: Vec<Step>,
    /// By step: the state before it.
    marks: Vec<UndoMark>,
    /// By step that writes: its write.
    writes: Vec<Option<WriteId>>,
}

impl Run {
    fn new(model: Model) -> Run {
        let checker = Incremental::new(model).expect("the model is supported");
        Run { model, checker, steps: vec![], marks: vec![], writes: vec![] }
    }

    /// Whether the offline checker allows the run so far and one more step.
    fn allows(&self, next: &[Step]) -> bool {
        // Two updates of one write are no execution at all.
        let observes = |step: &Step| match step.event {
            Event::Update(source) => Some((step.location, source)),
            _ => None,
        };
        let taken = |step: &Step| {
            observes(step).is_some_and(|own| self.steps.iter().any(|s| observes(s) == Some(own)))
        };
        if next.iter().any(taken) {
            return false;
        }
        let all = [&self.steps[..], next].concat();
        match check(&execution(&all), self.model, &CheckOptions::default()) {
            ConsistencyVerdict::Consistent(_) => true,
            ConsistencyVerdict::Inconsistent(_) => false,
            ConsistencyVerdict::Unknown { .. } => panic!("{} was given up", self.model),
        }
    }

    fn add(&mut self, step: Step) {
        let (thread, location) = (ThreadId::new(step.thread), LocationId::new(step.location));
        let source_of = |source: Option<usize>| {
            source.map_or(WriteId::INIT, |step| self.writes[step].expect("a write"))
        };
        self.marks.push(self.checker.mark());
        let added = match step.event {
            Event::Write => Some(self.checker.write(thread, location, step.order)),
            Event::Fence => {
                self.checker.fence(thread, step.order);
                None
            }
            Event::Read(source) => {
                let read = self.checker.read(thread, location, source_of(source), step.order);
                read.expect("the source was offered");
                None
            }
            Event::Update(source) => {
                let update = self.checker.update(thread, location, source_of(source), step.order);
                Some(update.expect("the source was offered"))
            }
        };
        self.writes.push(added);
        self.steps.push(step);
    }

    fn undo(&mut self, count: usize) {
        let left = self.steps.len() - count;
        if count > 0 {
            self.checker.undo_to(self.marks[left]);
        }
        self.steps.truncate(left);
        self.marks.truncate(left);
        self.writes.truncate(left);
    }

    /// The sources that the incremental checker offers, which must be those that the offline checker
    /// allows.
    fn sources(&mut self, step: Step, as_event: fn(Option<usize>) -> Event) -> Vec<Option<usize>> {
        let access = match as_event(None) {
            Event::Update(_) => AccessKind::Update,
            _ => AccessKind::Read,
        };
        let (thread, location) = (ThreadId::new(step.thread), LocationId::new(step.location));
        let mut offered = vec![];
        self.checker.sources(thread, location, access, &mut offered);
        let candidates = [None].into_iter().chain((0..self.steps.len()).map(Some));
        let fits = |&source: &Option<usize>| {
            source.is_none_or(|at| {
                self.steps[at].writes() && self.steps[at].location == step.location
            })
        };
        let sources: Vec<Option<usize>> = candidates.filter(fits).collect();
        let mut allowed = vec![];
        for source in sources {
            let write = source.map_or(WriteId::INIT, |at| self.writes[at].expect("a write"));
            let next = Step { event: as_event(source), ..step };
            let expected = self.allows(&[next]);
            let text = || {
                let steps = [&self.steps[..], &[next]].concat();
                let named =
                    [&self.steps[..], if expected { &steps[steps.len() - 1..] } else { &[] }];
                write_text(&named.concat())
            };
            let found = offered.contains(&write);
            assert_eq!(found, expected, "{} from {source:?}\n{}", self.model, text());
            if expected {
                allowed.push(source);
            }
        }
        assert_eq!(allowed.len(), offered.len(), "{}: a source twice, or none", self.model);
        allowed
    }
}

fn write_text(steps: &[Step]) -> String {
    write(&execution(steps), Format::Text)
}

fn pick_order(random: &mut Random, action: &Action) -> MemoryOrder {
    // A sequentially consistent fence is ordered by when it is added; offline, any order will do.
    let fence = *action == Action::Fence;
    let fits =
        |order: &&MemoryOrder| order.is_atomic() && !(fence && **order == MemoryOrder::SeqCst);
    let orders: Vec<MemoryOrder> = action.possible_orders().iter().filter(fits).copied().collect();
    orders[random.below(orders.len())]
}

fn grow(model: Model, random: &mut Random) {
    let mut run = Run::new(model);
    for _ in 0..STEPS {
        if random.below(12) == 0 {
            run.undo(random.below(run.steps.len() + 1));
        }
        let location_id = LocationId::new(0);
        let (thread, location) = (random.below(THREADS), random.below(LOCATIONS));
        let blank = Step { thread, location, order: MemoryOrder::Relaxed, event: Event::Fence };
        let step = match random.below(10) {
            0..=3 => {
                let action = Action::Write { location: location_id, value: 0 };
                Step { order: pick_order(random, &action), event: Event::Write, ..blank }
            }
            4..=7 => {
                let action = Action::Read { location: location_id, value: 0 };
                let step = Step { order: pick_order(random, &action), ..blank };
                let sources = run.sources(step, Event::Read);
                let source = *random.pick(&sources).expect("a read has a source");
                Step { event: Event::Read(source), ..step }
            }
            8 => {
                let action = Action::Rmw { location: location_id, read: 0, written: 0 };
                let step = Step { order: pick_order(random, &action), ..blank };
                let sources = run.sources(step, Event::Update);
                let source = *random.pick(&sources).expect("an update has a source");
                Step { event: Event::Update(source), ..step }
            }
            _ => Step { order: pick_order(random, &Action::Fence), ..blank },
        };
        run.add(step);
        assert!(run.allows(&[]), "{model}\n{}", write_text(&run.steps));
    }
}

#[test]
fn incremental_and_offline_checkers_agree_after_every_step() {
    for_cases(150, |random| {
        for model in [Model::Wra, Model::Ra, Model::Rc20, Model::Relaxed] {
            grow(model, random);
        }
    });
}
