//! Random scripts as C programs: as many classes as brute force has, wherever the variables are.
//!
//! What threads share is in variables of the program, on the stack of the main thread between what is its own, or in a block. What
//! a script has in registers is in variables on the stack whose addresses are known, so that there are hooks for them.

use std::fmt::Write;

use raddle_core::execution::MemoryOrder;
use raddle_core::model::Model;
use raddle_core::outcome::{Counts, Outcome, Verdict};
use raddle_core::program::UpdateKind;
use raddle_core::random::Random;
use raddle_native::{Request, build, check_built};
use raddle_testkit::programs::random::{OrderStyle, ProgramFeatures, cycle, random};
use raddle_testkit::programs::{classes, shrink};
use raddle_testkit::script::{Script, ScriptExpression, Statement};
use raddle_testkit::seeds::for_cases;

/// How many states the oracle may visit.
const BUDGET: usize = 20_000;
const MODELS: [Model; 6] = [Model::Sc, Model::Tso, Model::Pso, Model::Ra, Model::Rc20, Model::C20];

/// Where shared variables are, and for how long threads are busy with their own memory.
#[derive(Clone, Copy, Debug)]
struct Shape {
    place: Place,
    rounds: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Globals,
    Stack,
    Block,
}

impl Shape {
    fn random(random: &mut Random) -> Self {
        let places = [Place::Globals, Place::Stack, Place::Block];
        let place = *random.pick(&places).expect("there are places");
        Shape { place, rounds: *random.pick(&[0, 2, 700]).expect("there are numbers") }
    }
}

/// The script in C, if C has all that it does.
fn in_c(script: &Script, shape: Shape) -> Option<String> {
    let members: String = script
        .variables
        .iter()
        .map(|variable| format!("long before_{0}; atomic_long {0}; ", variable.name))
        .collect();
    let mut text = format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         static struct shared {{ {members}long last; }} globals;\n\
         static void know(long *r, long *s) {{ (void)r; (void)s; }}\n\
         static long busy(int rounds) {{\n    long own[4] = {{0}}, at = 0;\n    know(own, &at);\n    \
         for (int i = 0; i < rounds; i++) {{ own[at] += i; at = (at + 1) % 4; }}\n    return own[0];\n}}\n"
    );
    let (_, others) = script.threads.split_first()?;
    for thread in others {
        let name = &thread.name;
        let mut body = String::new();
        block(&mut body, &thread.body)?;
        let rounds = shape.rounds;
        let _ = write!(
            text,
            "static void *run_{name}(void *p) {{\n    struct shared *const at = p;\n    long r = 0, s = 0;\n    \
             know(&r, &s);\n    busy({rounds});\n{body}    return 0;\n}}\n"
        );
    }
    let shared = match shape.place {
        Place::Globals => "struct shared *at = &globals;",
        Place::Stack => "struct shared own = {0}, *at = &own;",
        Place::Block => "struct shared *at = calloc(1, sizeof *at);",
    };
    let count = others.len();
    let _ = write!(text, "int main(void) {{\n    {shared}\n    pthread_t threads[{count}];\n");
    for (number, thread) in others.iter().enumerate() {
        let name = &thread.name;
        let _ = writeln!(text, "    pthread_create(&threads[{number}], 0, run_{name}, at);");
    }
    let _ = writeln!(text, "    at->last = 1;\n    know(&at->last, &at->last);");
    let _ = writeln!(text, "    for (int i = 0; i < {count}; i++) pthread_join(threads[i], 0);");
    Some(text + "    return at->last != 1;\n}\n")
}

fn block(out: &mut String, statements: &[Statement]) -> Option<()> {
    for statement in statements {
        statement_in_c(out, statement)?;
    }
    Some(())
}

fn statement_in_c(out: &mut String, statement: &Statement) -> Option<()> {
    let target = |target: &Option<String>| target.as_ref().map_or("r", String::as_str).to_owned();
    let line = match statement {
        Statement::Load { target: to, at, order } => {
            let (to, at, order) = (target(to), &at.variable, order_in_c(*order));
            format!("{to} = atomic_load_explicit(&at->{at}, {order});")
        }
        Statement::Store { at, value, order } => {
            let (at, value, order) = (&at.variable, expression(value), order_in_c(*order));
            format!("atomic_store_explicit(&at->{at}, {value}, {order});")
        }
        Statement::Update { target: to, at, kind, operand, order } => {
            let function = match kind {
                UpdateKind::Add => "atomic_fetch_add_explicit",
                UpdateKind::Swap => "atomic_exchange_explicit",
                _ => return None,
            };
            let (operand, order) = (expression(operand), order_in_c(*order));
            format!("{} = {function}(&at->{}, {operand}, {order});", target(to), at.variable)
        }
        Statement::CompareExchange {
            target: to,
            succeeded: None,
            at,
            expected,
            desired,
            success,
            failure,
            weak: false,
        } => {
            let (expected, desired) = (expression(expected), expression(desired));
            let (success, failure) = (order_in_c(*success), order_in_c(*failure));
            format!(
                "{{ long read = {expected}; atomic_compare_exchange_strong_explicit(&at->{}, &read, {desired}, \
                 {success}, {failure}); {} = read; }}",
                at.variable,
                target(to)
            )
        }
        Statement::Fence(order) => format!("atomic_thread_fence({});", order_in_c(*order)),
        Statement::If { condition, then, otherwise } => {
            let _ = writeln!(out, "    if ({}) {{", expression(condition));
            block(out, then)?;
            out.push_str("    } else {\n");
            block(out, otherwise)?;
            String::from("}")
        }
        _ => return None,
    };
    let _ = writeln!(out, "    {line}");
    Some(())
}

fn expression(it: &ScriptExpression) -> String {
    match it {
        ScriptExpression::Number(number) => number.to_string(),
        ScriptExpression::Register(register) => register.clone(),
        ScriptExpression::Binary(operator, a, b) => {
            format!("({} {} {})", expression(a), operator.symbol(), expression(b))
        }
    }
}

fn order_in_c(order: MemoryOrder) -> &'static str {
    match order {
        MemoryOrder::NonAtomic | MemoryOrder::Relaxed => "memory_order_relaxed",
        MemoryOrder::Acquire => "memory_order_acquire",
        MemoryOrder::Release => "memory_order_release",
        MemoryOrder::AcqRel => "memory_order_acq_rel",
        MemoryOrder::SeqCst => "memory_order_seq_cst",
    }
}

/// How the C program differs from the script, if it does; otherwise how many classes were compared.
fn compare(script: &Script, shape: Shape, models: &[Model]) -> Result<u64, String> {
    let Some(text) = in_c(script, shape) else { return Ok(0) };
    let file = tempfile::Builder::new().suffix(".c").tempfile().expect("there is room for a file");
    std::fs::write(file.path(), &text).expect("there is room for a file");
    let mut request = Request { exact: true, ..Request::new(&[file.path()]) };
    let object = build(&request.source).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut compared = 0;
    for &model in models {
        let Ok(expected) = classes(script, model, BUDGET) else { continue };
        request.model = model;
        let outcome = check_built(&object, &request).expect("it can be loaded");
        let Outcome { verdict, counts: Counts { classes, blocked, .. }, .. } = outcome;
        if (verdict, classes, blocked) != (Verdict::Clean, expected.len() as u64, 0) {
            let expected = expected.len();
            return Err(format!(
                "{model}, {shape:?}: expected {expected}: {outcome}\n{script}\n{text}"
            ));
        }
        compared += classes;
    }
    Ok(compared)
}

fn all_are_the_same(cases: u64, mut case: impl FnMut(&mut Random) -> Script) {
    let mut compared = 0;
    for_cases(cases, |random| {
        let (script, shape) = (case(random), Shape::random(random));
        match compare(&script, shape, &MODELS) {
            Ok(classes) => compared += classes,
            Err(difference) => {
                eprintln!("{difference}");
                let differs = &mut |it: &Script| compare(it, shape, &MODELS).is_err();
                let smallest = shrink(&script, differs);
                panic!("{}", compare(&smallest, shape, &MODELS).expect_err("it differs"));
            }
        }
    });
    println!("{compared} classes");
    assert!(compared > 10 * cases);
}

#[test]
fn random_programs_have_the_classes_of_brute_force() {
    let features = ProgramFeatures { updates: true, ..ProgramFeatures::NONE };
    all_are_the_same(60, |source| {
        let style = *source.pick(&OrderStyle::ALL).expect("there are styles");
        random(source, style, features)
    });
}

#[test]
fn critical_cycles_have_the_classes_of_brute_force() {
    all_are_the_same(40, |source| {
        let style = *source.pick(&OrderStyle::ALL).expect("there are styles");
        cycle(source, style)
    });
}
