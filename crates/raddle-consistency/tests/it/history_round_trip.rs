//! Writing and reading again changes nothing.

use proptest::prelude::*;
use raddle_consistency::history::{Format, fuzz, parse, write, write_event};
use raddle_core::execution::{
    Action, Execution, ExecutionBuilder, LocationId, MemoryOrder, SourceClaim, ThreadId,
};

const VALUES: [i128; 6] = [0, 1, 2, -1, i64::MIN as i128, u64::MAX as i128];
const THREADS: [&str; 4] = ["P0", "main", "worker[1]", "T-3"];
const LOCATIONS: [&str; 4] = ["x", "s.next", "*(p+8)", "0x7f00"];
const LOCKS: [&str; 2] = ["m", "q->lock"];

/// Numbers from which an event is made.
type Seed = (usize, u8, usize, usize, usize, usize);

/// A random execution: some threads, locations mentioned in some order, and events made of seeds.
/// Seeds that would make no sense where they are (a release without acquire, say) are left out.
fn execution() -> impl Strategy<Value = Execution> {
    let seed = (0..4_usize, 0..12_u8, 0..4_usize, 0..6_usize, 0..6_usize, 0..8_usize);
    let names = Just((0..4).collect::<Vec<usize>>()).prop_shuffle();
    let inits = prop::collection::vec(prop::option::of(0..6_usize), 4);
    let seeds = prop::collection::vec(seed, 0..25);
    (names.clone(), names, inits, 0..5_usize, any::<bool>(), seeds).prop_filter_map(
        "spawns and joins in a cycle",
        |(threads, locations, inits, early, recorded, seeds)| {
            let mut maker = Maker::new(&threads, recorded);
            for &location in &locations[..early.min(4)] {
                maker.builder.location(LOCATIONS[location]);
            }
            for (location, init) in inits.iter().enumerate() {
                // A location without writes needs an initial value; with 0 it may go without.
                let id = maker.builder.location(LOCATIONS[location]);
                if let Some(value) = *init {
                    maker.builder.init(id, VALUES[value]).expect("the first value");
                }
                maker.initial.push((id, init.map(|value| VALUES[value])));
            }
            seeds.iter().for_each(|&seed| maker.add(seed));
            maker.finish()
        },
    )
}

/// Makes an execution and remembers what its events may refer to.
struct Maker {
    builder: ExecutionBuilder,
    threads: Vec<ThreadId>,
    initial: Vec<(LocationId, Option<i128>)>,
    /// The acquires that hold.
    held: Vec<(ThreadId, usize)>,
    spawned: Vec<usize>,
    events: Vec<(ThreadId, Action)>,
    claims: Vec<usize>,
}

impl Maker {
    fn new(order: &[usize], recorded: bool) -> Self {
        let mut builder = ExecutionBuilder::new();
        if recorded {
            builder.keep_order();
        }
        let mut threads = vec![ThreadId::new(0); THREADS.len()];
        for &thread in order {
            threads[thread] = builder.thread(THREADS[thread]);
            builder.declare(threads[thread]);
        }
        let (initial, held, spawned, events, claims) = (vec![], vec![], vec![], vec![], vec![]);
        Maker { builder, threads, initial, held, spawned, events, claims }
    }

    fn add(&mut self, (t, kind, l, a, b, claim): Seed) {
        let thread = self.threads[t];
        let (location, init) = self.initial[l];
        let (first, second) = (VALUES[a], VALUES[b]);
        let lock_holder = (thread, l % LOCKS.len());
        let holder = self.held.iter().position(|&held| held == lock_holder);
        let action = match (kind, holder) {
            (0 | 1, _) => Action::Write { location, value: first },
            (2 | 3, _) if self.has_value(l) => Action::Read { location, value: first },
            (4, _) => Action::Rmw { location, read: first, written: second },
            (5, _) => cas(location, first, second, None),
            (6, _) if init.is_some() => cas(location, first, second, Some(VALUES[claim % 6])),
            (7, _) => [Action::Fence, Action::StoreFence][a % 2],
            (8 | 9, None) => {
                self.held.push(lock_holder);
                Action::Lock { lock: self.builder.location(LOCKS[lock_holder.1]) }
            }
            (8 | 9, Some(index)) => {
                self.held.swap_remove(index);
                Action::Unlock { lock: self.builder.location(LOCKS[lock_holder.1]) }
            }
            (10, _) if !self.spawned.contains(&l) => {
                self.spawned.push(l);
                Action::Spawn { thread: self.threads[l] }
            }
            (11, _) => Action::Join { thread: self.threads[l] },
            _ => return,
        };
        self.events.push((thread, action));
        self.claims.push(claim);
    }

    fn has_value(&self, l: usize) -> bool {
        let (location, init) = self.initial[l];
        let writes = |action: &Action| {
            action.location() == Some(location) && action.written_value().is_some()
        };
        init.is_some() || self.events.iter().any(|(_, action)| writes(action))
    }

    /// Names the source of about every second event that has one, if some source fits.
    fn finish(mut self) -> Option<Execution> {
        let mut taken = vec![];
        for (index, &(thread, action)) in self.events.iter().enumerate() {
            let wish = self.claims[index];
            let fitting = if action.has_source() { self.sources(index) } else { vec![] };
            let mut claim = SourceClaim::Unnamed;
            if wish % 2 == 1 && !fitting.is_empty() {
                claim = fitting[wish / 2 % fitting.len()];
            }
            if action.is_atomic_update() && claim != SourceClaim::Unnamed {
                if taken.contains(&(action.location(), claim)) {
                    claim = SourceClaim::Unnamed;
                }
                taken.push((action.location(), claim));
            }
            let possible = action.possible_orders();
            let order = possible[wish % possible.len()];
            self.builder.push_ordered(thread, action, order, claim);
        }
        self.builder.build().ok()
    }

    fn sources(&self, reader: usize) -> Vec<SourceClaim> {
        let (_, action) = self.events[reader];
        let init = self.initial.iter().find(|&&(id, _)| Some(id) == action.location());
        let initial = init.and_then(|&(_, value)| value).unwrap_or(0);
        let from_init = action.read_value().is_none_or(|value| value == initial);
        let mut sources = if from_init { vec![SourceClaim::Init] } else { vec![] };
        for (index, &(thread, source)) in self.events.iter().enumerate() {
            let fits = source.is_source()
                && source.location() == action.location()
                && source.written_value() == action.read_value();
            if fits && index != reader {
                let before = &self.events[..index];
                let position = before.iter().filter(|&&(other, _)| other == thread).count();
                sources.push(SourceClaim::Event { thread, position });
            }
        }
        sources
    }
}

fn cas(location: LocationId, expected: i128, desired: i128, failed: Option<i128>) -> Action {
    let (read, succeeded) = (failed.unwrap_or(expected), failed.is_none());
    Action::Cas { location, expected, desired, read, succeeded }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn executions_survive_both_forms(execution in execution()) {
        prop_assert!(execution.thread_count() == 4);
        fuzz::check_round_trip(&execution);
    }

    #[test]
    fn text_survives_json_lines(execution in execution()) {
        let text = write(&execution, Format::Text);
        let from_text = parse(text.as_bytes()).unwrap();
        let json = write(&from_text, Format::JsonLines);
        let from_json = parse(json.as_bytes()).unwrap();
        prop_assert_eq!(&from_text, &from_json);
        prop_assert_eq!(write(&from_json, Format::Text), text);
    }
}

/// A history with every kind of event, as the writer writes it.
const SAMPLE: &str = include_str!("../data/every-event.txt");

#[test]
fn text_is_written_as_people_write_it() {
    let execution = parse(SAMPLE.as_bytes()).unwrap();
    assert_eq!(write(&execution, Format::Text), SAMPLE);
    let events: Vec<String> = execution.events().map(|e| write_event(&execution, e)).collect();
    assert_eq!(
        events[..5],
        ["init x=0", "init m=0", "init y=-3", "init z=18446744073709551615", "W x 1"]
    );
    assert_eq!(events[14], "CAS x 0 5 failed 2 <- P1.0");
}

/// Every memory order that each kind of event can have, as the writer writes it.
const ORDERS: &str = "\
P0: W x 1; W.rlx x 2; W.rel x 3; W.sc x 4; F; F.acq; F.rel; F.ar; F.ss
P1: R x 0; R.rlx x 1; R.acq x 2; R.sc x 3; RMW x 0 5; RMW.rlx x 5 6; RMW.acq x 6 7; RMW.rel x 7 8
P1: RMW.ar x 8 9; CAS x 9 10; CAS.rlx x 10 11; CAS.acq x 11 12; CAS.rel x 12 13; CAS.ar x 13 14
P1: CAS x 0 1 failed 2; CAS.rlx x 0 1 failed 2; CAS.acq x 0 1 failed 2
";

#[test]
fn memory_orders_are_written_unless_they_are_the_default() {
    let execution = parse(ORDERS.as_bytes()).unwrap();
    assert_eq!(write(&execution, Format::Text), ORDERS);
    let orders: Vec<&str> = execution.events().map(|e| execution.order(e).name()).collect();
    assert_eq!(
        orders.join(" "),
        "na na rlx rel sc sc acq rel ar rel na rlx acq sc sc rlx acq rel ar sc rlx acq rel ar \
         sc rlx acq"
    );
    let json = write(&execution, Format::JsonLines);
    let lines: Vec<&str> = json.lines().collect();
    assert_eq!(lines[2], r#"{"thread":"P0","op":"write","location":"x","value":2,"order":"rlx"}"#);
    assert_eq!(lines[5], r#"{"thread":"P0","op":"fence"}"#);
    assert_eq!(lines[6], r#"{"thread":"P0","op":"fence","order":"acq"}"#);
    let read = parse(json.as_bytes()).unwrap();
    assert_eq!(read, execution);
}

#[test]
fn default_orders_may_be_written() {
    let said = parse(b"P0: W.na x 1; R.na x 1; RMW.sc x 1 2; CAS.sc x 2 3; F.sc").unwrap();
    assert_eq!(said, parse(b"P0: W x 1; R x 1; RMW x 1 2; CAS x 2 3; F").unwrap());
    assert_eq!(said.order(said.events().last().unwrap()), MemoryOrder::SeqCst);
    let json = r#"{"thread":"P0","op":"write","location":"x","value":1,"order":"na"}"#;
    let short = r#"{"thread":"P0","op":"write","location":"x","value":1}"#;
    assert_eq!(parse(json.as_bytes()).unwrap(), parse(short.as_bytes()).unwrap());
}

#[test]
fn json_lines_and_text_are_equivalent() {
    insta::assert_snapshot!(write(&parse(SAMPLE.as_bytes()).unwrap(), Format::JsonLines));
}

#[test]
fn blanks_and_signs_are_free() {
    let plain = parse(b"init: x=16\nP0: R x 16 <- init; W x 1; F\nP1:\n").unwrap();
    let free =
        b"\xef\xbb\xbf \t\r\n#\n init : x = 0x10\r\nP0:R x 0x10<-init;W x 1;\r\nP1:# none\nP0:F";
    assert_eq!(parse(free).unwrap(), plain);
}

#[test]
fn json_fields_come_in_any_order_and_may_be_escaped() {
    let json = concat!(
        "{ \"value\" : 1 , \"location\":\"p-\\u003ex\", \"op\" : \"write\",\"thread\":\"P0\" }\r\n",
        "\n{\"recorded\":false}",
    );
    assert_eq!(parse(json.as_bytes()).unwrap(), parse(b"P0: W p->x 1").unwrap());
}

#[test]
fn threads_are_ordered_by_their_lines() {
    let execution = parse(b"P0: R x 1 <- P2.0; SPAWN P3\nP1: F\nP2: W x 1\nP3:").unwrap();
    let names: Vec<&str> = execution.threads().map(|t| execution.thread(t).name.as_str()).collect();
    assert_eq!(names, ["P0", "P1", "P2", "P3"]);
}

#[test]
fn json_lines_keep_the_recorded_order() {
    let json = "{\"thread\":\"P1\",\"op\":\"fence\"}\n{\"thread\":\"P0\",\"op\":\"fence\"}\n{\"thread\":\"P1\",\"op\":\"fence\"}\n";
    let execution = parse(json.as_bytes()).unwrap();
    assert_eq!(execution.recorded_order().unwrap().len(), 3);
    assert_eq!(write(&execution, Format::JsonLines), json);
    assert_eq!(parse(b"P0: F").unwrap().recorded_order(), None);
}

/// A prefix may lose the write that let a location go without an initial value.
#[test]
fn a_prefix_can_be_read_again() {
    let prefix = parse(b"P0: R x 0; W x 1\nP1: F").unwrap().prefix(&[1, 1]);
    let text = write(&prefix, Format::Text);
    assert_eq!(text, "init: x=0\nP0: R x 0\nP1: F\n");
    assert!(parse(text.as_bytes()).is_ok());
}
