//! Programs whose accesses of different sizes overlap and are not ordered.

use std::io::Write;

use raddle_core::model::Model;
use raddle_core::outcome::{FindingKind, Outcome, Verdict};
use raddle_core::program::StoreForwarding;
use raddle_explore::plan::Explorer;
use raddle_native::{Environment, Object, Request, build, check_built};
use raddle_testkit::seeds::for_cases;

/// A program whose threads are `a` and `b`.
fn built(globals: &str, [a, b]: [&str; 2], check: &str) -> Object {
    let text = format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>\n#include <string.h>\n\
         {globals}\n\
         static void *a(void *unused) {{ {a}; return 0; }}\n\
         static void *b(void *unused) {{ {b}; return 0; }}\n\
         int main(void) {{ pthread_t p, q; pthread_create(&p, 0, a, 0); pthread_create(&q, 0, b, 0);\n\
         pthread_join(p, 0); pthread_join(q, 0); {check}; return 0; }}\n"
    );
    let mut file = tempfile::Builder::new().suffix(".c").tempfile().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("it can be written");
    build(&Request::new(&[file.path()]).source).unwrap_or_else(|error| panic!("{error}"))
}

fn explore(object: &Object, model: Model) -> Outcome {
    check_built(object, &Request { model, ..Request::new(&[]) }).expect("it loads")
}

/// The verdict and the number of classes under SC, TSO and PSO.
fn reported(object: &Object) -> [(Verdict, u64); 3] {
    [Model::Sc, Model::Tso, Model::Pso].map(|model| {
        let outcome = explore(object, model);
        (outcome.verdict, outcome.counts.classes)
    })
}

const BYTES: &str = "static union { _Atomic uint32_t word; _Atomic uint8_t byte[4]; } u; static uint32_t r; static int ok;";

#[test]
fn a_byte_is_stored_and_its_word_is_read() {
    let store = "atomic_store_explicit(&u.byte[0], 1, memory_order_relaxed); \
                 r = atomic_load_explicit(&u.word, memory_order_relaxed)";
    let exchange = "uint32_t old = 0; ok = atomic_compare_exchange_strong(&u.word, &old, 0x200)";
    let object = built(BYTES, [store, exchange], "assert(!ok || r != 1)");
    let [sc, tso, pso] = reported(&object).map(|(verdict, _)| verdict);
    assert_eq!([sc, tso, pso], [Verdict::Clean, Verdict::Bug, Verdict::Bug]);
    let environment = Environment { forwarding: StoreForwarding::Wait, ..Environment::default() };
    for model in [Model::Tso, Model::Pso] {
        let request = Request { model, environment, ..Request::new(&[]) };
        let outcome = check_built(&object, &request).expect("it loads");
        assert_eq!((outcome.verdict, outcome.counts.classes), (Verdict::Clean, 2), "{model}");
    }
}

#[test]
fn two_pointers_are_exchanged_at_once_and_read_one_by_one() {
    let globals = "static union { _Atomic __int128 both; struct { _Atomic uint64_t low, high; }; } u; static int done[2];";
    let body = |thread: usize| {
        format!(
            "uint64_t low = u.low, high = u.high; __int128 old = (__int128)high << 64 | low; \
             done[{thread}] = atomic_compare_exchange_strong(&u.both, &old, (__int128)(high + 1) << 64 | (low + 1))"
        )
    };
    let check = "assert(u.low == done[0] + done[1] && u.high == u.low && u.low > 0)";
    let object = built(globals, [&body(0), &body(1)], check);
    assert_eq!(reported(&object), [(Verdict::Clean, 6); 3]);
}

#[test]
fn updates_of_a_word_and_of_its_bytes_are_atomic() {
    let add = "atomic_fetch_add(&u.word, 0x1ff); atomic_fetch_sub(&u.word, 0xff)";
    let object =
        built(BYTES, [add, "atomic_fetch_xor(&u.byte[3], 5)"], "assert(u.word == 0x5000100)");
    let verdicts = reported(&object).map(|(verdict, _)| verdict);
    assert_eq!(verdicts, [Verdict::Clean; 3]);
    let object = built(BYTES, ["u.word++", "u.byte[0]++"], "assert(u.word == 2)");
    assert_eq!(reported(&object), [(Verdict::Clean, 2); 3]);
}

#[test]
fn a_lock_is_a_byte_of_a_word() {
    let globals =
        "static union { _Atomic uint32_t word; _Atomic uint8_t locked; } l; static int data;";
    let body = |order: &str| {
        format!(
            "uint32_t free = 0; while (!atomic_compare_exchange_strong(&l.word, &free, 1)) free = 0; \
             data++; atomic_store_explicit(&l.locked, 0, {order})"
        )
    };
    let body = [body("memory_order_release"), body("memory_order_relaxed")];
    let object = built(globals, [&body[0], &body[0]], "assert(data == 2)");
    assert_eq!(reported(&object), [(Verdict::Clean, 2); 3]);
    let object = built(globals, [&body[1], &body[1]], "assert(data == 2)");
    let [sc, tso, pso] = reported(&object).map(|(verdict, _)| verdict);
    assert_eq!([sc, tso, pso], [Verdict::Clean, Verdict::Clean, Verdict::Bug]);
}

#[test]
fn bit_fields_that_share_a_word_overwrite_each_other() {
    let globals = "static struct { unsigned a : 4, b : 4; unsigned char c; short d; } s;";
    let object = built(globals, ["s.a = 5", "s.b = 6; s.c = 1"], "assert(s.c == 1)");
    let verdicts = reported(&object).map(|(verdict, _)| verdict);
    assert_eq!(verdicts, [Verdict::Clean; 3]);
    let object = built(globals, ["s.a = 5", "s.b = 6"], "assert(s.a == 5 && s.b == 6)");
    let verdicts = reported(&object).map(|(verdict, _)| verdict);
    assert_eq!(verdicts, [Verdict::Bug; 3]);
}

/// A copy is one access for every eight bytes.
#[test]
fn a_copy_is_one_access_for_every_word() {
    let globals = "static union { uint64_t words[3]; uint32_t halves[6]; } u; static uint64_t x; static uint32_t y;";
    let set = "memset(&u, 1, sizeof u)";
    let check = "assert(x == 0 || x == 0x0101010101010101)";
    let object = built(globals, [set, "x = u.words[1]; y = u.halves[2]"], check);
    let classes = reported(&object);
    assert_eq!(classes.map(|(verdict, _)| verdict), [Verdict::Clean; 3]);
    assert_eq!(classes[0].1, 3);
}

/// What a program under C20 comes to: its verdict, its classes, and the kind of error.
fn under_c20(object: &Object) -> (Verdict, u64, Option<FindingKind>) {
    let outcome = explore(object, Model::C20);
    (outcome.verdict, outcome.counts.classes, outcome.kind())
}

const HALVES: &str = "static union { struct { uint32_t low, high; }; _Atomic uint64_t word; } u; static int mine, yours; \
     static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";

/// Plain accesses of parts of an atomic variable compose its value if they are ordered.
#[test]
fn parts_of_an_atomic_variable_are_ordered_or_race() {
    let add = "atomic_fetch_add_explicit(&u.word, 1, memory_order_relaxed)";
    let object =
        built(HALVES, [add, add], "u.high += 3; assert(u.low == 2 && u.word == 0x300000002)");
    assert_eq!(under_c20(&object), (Verdict::Clean, 1, None));
    let object = built(HALVES, [add, add], "assert(u.word == 3)");
    assert_eq!(under_c20(&object), (Verdict::Bug, 1, Some(FindingKind::Assertion)));
    let race = (Verdict::Bug, Some(FindingKind::Race));
    for plain in ["u.low = 5", "mine = u.high"] {
        let (verdict, _, kind) = under_c20(&built(HALVES, [add, plain], ""));
        assert_eq!((verdict, kind), race, "{plain}");
    }
    let check = "atomic_store(&u.word, 1)";
    let (verdict, _, kind) = under_c20(&built(HALVES, ["u.low = 5", "u.low = 6"], check));
    assert_eq!((verdict, kind), race);
}

/// Accesses of different parts need no order, which is not modelled if the whole is atomic.
#[test]
fn disjoint_parts_of_an_atomic_variable_do_not_race() {
    let check = "atomic_fetch_add(&u.word, 1)";
    for [a, b] in [["u.low = 5", "u.high = 6"], ["u.low = 5", "mine = u.high"]] {
        let (verdict, _, kind) = under_c20(&built(HALVES, [a, b], check));
        assert_eq!(
            (verdict, kind),
            (Verdict::Incomplete, Some(FindingKind::Unsupported)),
            "{a}, {b}"
        );
    }
    let object = built(HALVES, ["mine = u.low", "yours = u.high"], check);
    assert_eq!(under_c20(&object).0, Verdict::Clean);
}

/// With a lock around every access, C20 allows what SC allows.
#[test]
fn locked_parts_of_an_atomic_variable_have_the_outcomes_of_sc() {
    let locked = |accesses: [&str; 2]| {
        let around = |access| format!("pthread_mutex_lock(&m); {access}; pthread_mutex_unlock(&m)");
        accesses.map(around).join("; ")
    };
    let a = locked(["u.low += 1", "u.word += 0x100000000"]);
    let b = locked(["u.high += 2", "mine = u.low; u.word = 7"]);
    let outcomes =
        [(1, 4), (0, 4), (0, 0), (8, 3), (7, 1), (7, 0), (7, 3), (8, 1), (8, 0), (1, 1), (9, 0)];
    for (low, high) in outcomes {
        let check = format!("assert(u.low != {low} || u.high != {high})");
        let object = built(HALVES, [&a, &b], &check);
        let verdict = explore(&object, Model::Sc).verdict;
        assert_eq!(explore(&object, Model::C20).verdict, verdict, "{low}, {high}");
    }
}

/// An access of a word: its text, its bytes, whether it writes, and whether it is atomic.
type Access = (&'static str, [u8; 2], bool, bool);

const ACCESSES: [Access; 10] = [
    ("u.low = 5", [0, 4], true, false),
    ("u.high = 6", [4, 8], true, false),
    ("sink = u.low", [0, 4], false, false),
    ("sink = u.high", [4, 8], false, false),
    ("u.bytes[1] = 9", [1, 2], true, false),
    ("sink = u.bytes[5]", [5, 6], false, false),
    ("u.plain = 3", [0, 8], true, false),
    ("atomic_store_explicit(&u.word, 7, memory_order_relaxed)", [0, 8], true, true),
    ("sink = atomic_load_explicit(&u.word, memory_order_relaxed)", [0, 8], false, true),
    ("atomic_fetch_add_explicit(&u.word, 1, memory_order_relaxed)", [0, 8], true, true),
];

/// Whether two unordered accesses race, or would if they were not of disjoint bytes.
fn conflict(&(_, one, writes, is_atomic): &Access, other: &Access) -> (bool, bool) {
    let &(_, bytes, other_writes, other_is_atomic) = other;
    let may = (writes || other_writes) && !(is_atomic && other_is_atomic);
    let overlap = one[0] < bytes[1] && bytes[0] < one[1];
    (may && overlap, may && !overlap)
}

/// Threads without any order race if two of their accesses do.
#[test]
fn random_accesses_of_an_atomic_variable_race_or_not() {
    let globals = "static union { struct { uint32_t low, high; }; uint8_t bytes[8]; uint64_t plain; _Atomic uint64_t word; } u; \
                   static _Thread_local volatile uint64_t sink;";
    let mut told = [0; 3];
    for_cases(16, |numbers| {
        let most = if numbers.below(2) == 0 { 7 } else { ACCESSES.len() };
        let mut thread = || {
            let count = 1 + numbers.below(2);
            (0..count).map(|_| &ACCESSES[numbers.below(most)]).collect::<Vec<&Access>>()
        };
        let threads = [thread(), thread()];
        let pairs = || threads[0].iter().flat_map(|a| threads[1].iter().map(|b| conflict(a, b)));
        let (races, disjoint) = (pairs().any(|it| it.0), pairs().any(|it| it.1));
        let text =
            |thread: &[&Access]| thread.iter().map(|it| it.0).collect::<Vec<&str>>().join("; ");
        let bodies = [text(&threads[0]), text(&threads[1])];
        let check = "atomic_fetch_add(&u.word, 1); u.bytes[7] = 1";
        let object = built(globals, [&bodies[0], &bodies[1]], check);
        let kind = explore(&object, Model::C20).kind();
        let is_right = match kind {
            None => !races && !disjoint,
            Some(FindingKind::Race) => races,
            // Where accesses of disjoint parts are not ordered, races need not be found.
            Some(FindingKind::Unsupported) => disjoint,
            Some(_) => false,
        };
        assert!(is_right, "{bodies:?}: {kind:?}");
        told[match kind {
            None => 0,
            Some(FindingKind::Race) => 1,
            Some(_) => 2,
        }] += 1;
    });
    assert!(told.iter().all(|&times| times > 0), "{told:?}");
}

#[test]
fn what_is_not_modelled_is_refused() {
    let object = built(BYTES, ["u.byte[0] = 1", "u.word = 2"], "");
    let outcome = explore(&object, Model::C20);
    assert_eq!(outcome.kind(), Some(FindingKind::Unsupported));
    let message = outcome.finding().map(|finding| finding.message.clone()).unwrap_or_default();
    let end =
        "Raddle models such accesses only under sc, tso and pso if they are atomic, or may race";
    assert!(message.contains(" bytes of u.") && message.ends_with(end), "{message}");
    let explorer = Explorer::RfSmc;
    let request = Request { model: Model::Sc, explorer, ..Request::new(&[]) };
    let outcome = check_built(&object, &request).expect("it loads");
    let reason = outcome.bound.map(|bound| bound.to_string()).unwrap_or_default();
    assert_eq!(outcome.verdict, Verdict::Incomplete);
    assert!(reason.starts_with("accesses of different sizes overlap, which only"), "{reason}");
}
