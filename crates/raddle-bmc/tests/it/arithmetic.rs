//! Integer arithmetic, compared with compiled programs.
//!
//! Random expressions over variables of all integer types are evaluated by a compiled program. The checker must compute
//! the same values, both for constants (which terms fold) and for inputs that are assumed to have these values (which
//! the solver computes).

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use raddle_bmc::{BmcOptions, check};
use raddle_core::outcome::{Outcome, Verdict};

use super::support::XorShift;

/// A random number, often a boundary value.
fn boundary_value(random: &mut XorShift) -> i64 {
    match random.below(6) {
        0 => [0, 1, -1, 2, 127, 128, 255, 256][random.below(8)],
        1 => [i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN][random.below(4)],
        2 => 1 << random.below(63),
        3 => random.next() as i64 & 0xff,
        _ => random.next() as i64,
    }
}

const TYPES: [(&str, &str); 9] = [
    ("_Bool", "bool"),
    ("signed char", "char"),
    ("unsigned char", "uchar"),
    ("short", "short"),
    ("unsigned short", "ushort"),
    ("int", "int"),
    ("unsigned", "uint"),
    ("long", "long"),
    ("unsigned long", "ulong"),
];

/// A random expression without undefined behaviour: divisors are small and not zero, shifts are short. Products and
/// quotients of variables, which are hard for the solver, occur only if `hard`.
fn expression(random: &mut XorShift, depth: usize, hard: bool) -> String {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(5) {
            0 => format!("{}", random.below(300)),
            1 => format!("0x{:x}u", random.next() as u32),
            _ => ["a", "b", "c"][random.below(3)].to_owned(),
        };
    }
    let sub = |random: &mut XorShift| expression(random, depth - 1, hard);
    let (x, y) = (sub(random), sub(random));
    match random.below(18) {
        0 | 1 => format!("({x} + {y})"),
        2 | 3 => format!("({x} - {y})"),
        4 if hard => format!("({x} * {y})"),
        5 if hard => format!("({x} / (({y} & 0xff) + 1))"),
        6 if hard => format!("({x} % -(int)(({y} & 0xff) + 2))"),
        4..7 => format!("({x} * {})", random.below(9)),
        7 => format!("({x} & {y})"),
        8 => format!("({x} | {y})"),
        9 => format!("({x} ^ {y})"),
        10 => format!("({x} << ({y} & 15))"),
        11 => format!("({x} >> ({y} & 15))"),
        12 => {
            let op = ["<", ">", "<=", ">=", "==", "!="][random.below(6)];
            format!("({x} {op} {y})")
        }
        13 => format!("({x} ? {y} : {})", sub(random)),
        14 => format!("({x} && {y})"),
        15 => format!("({}{x})", ["-", "~", "!", "+"][random.below(4)]),
        16 => format!("(({}){x})", TYPES[random.below(TYPES.len())].0),
        _ => format!("({x} || {y})"),
    }
}

struct ExpressionCase {
    types: [usize; 3],
    values: [i64; 3],
    expression: String,
}

fn cases(random: &mut XorShift, count: usize, hard: bool) -> Vec<ExpressionCase> {
    let case = |_| {
        let types = [(); 3].map(|()| random.below(TYPES.len()));
        let values = [(); 3].map(|()| boundary_value(random));
        let depth = 1 + random.below(2);
        ExpressionCase { types, values, expression: expression(random, depth, hard) }
    };
    (0..count).map(case).collect()
}

/// Expressions per generated function. Compile time is proportional to the number of functions.
const EXPRESSIONS_PER_FUNCTION: usize = 50;

/// Values of the expressions, computed by a compiled program.
fn compiled_values(directory: &Path, cases: &[ExpressionCase]) -> Vec<i64> {
    let mut text = String::from("#include <stdio.h>\n");
    let functions = cases.chunks(EXPRESSIONS_PER_FUNCTION).enumerate();
    for (number, cases) in functions.clone() {
        let _ =
            writeln!(text, "static void e{number}(void) {{ long all[{}], *out = all;", cases.len());
        for case in cases {
            let _ = writeln!(
                text,
                "{{ {} *out++ = (long)({}); }}",
                declared_variables(case),
                case.expression
            );
        }
        let _ = writeln!(
            text,
            "for (int i = 0; i < {}; i++) printf(\"%ld\\n\", all[i]); }}",
            cases.len()
        );
    }
    let calls: String = functions.map(|(number, _)| format!("e{number}();\n")).collect();
    let _ = writeln!(text, "int main(void) {{\n{calls}}}");
    let (file, program) = (directory.join("native.c"), directory.join("native"));
    std::fs::write(&file, text).expect("the program can be written");
    let compiler =
        Command::new("cc").args(["-O0", "-w", "-fwrapv", "-o"]).arg(&program).arg(&file).status();
    assert!(compiler.expect("a C compiler is installed").success());
    let output = Command::new(program).output().expect("the program runs");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.parse().expect("the program prints numbers"))
        .collect()
}

/// Declares the variables with their values.
fn declared_variables(case: &ExpressionCase) -> String {
    let mut text = String::new();
    for ((name, ty), value) in ["a", "b", "c"].iter().zip(case.types).zip(case.values) {
        let _ = write!(text, "{} {name} = ({})0x{value:x}ul; ", TYPES[ty].0, TYPES[ty].0);
    }
    text
}

/// Declares the variables as inputs that are assumed to have their values.
fn assumed_inputs(case: &ExpressionCase) -> String {
    let mut text = String::new();
    for ((name, ty), value) in ["a", "b", "c"].iter().zip(case.types).zip(case.values) {
        let (ty, function) = TYPES[ty];
        let _ = write!(
            text,
            "{ty} {name} = __VERIFIER_nondet_{function}(); __VERIFIER_assume({name} == ({ty})0x{value:x}ul); "
        );
    }
    text
}

fn check_cases(
    directory: &Path,
    cases: &[ExpressionCase],
    expected: &[i64],
    variables: fn(&ExpressionCase) -> String,
    last: &str,
) -> Outcome {
    let mut text = String::from("#include <assert.h>\nextern void __VERIFIER_assume(int);\n");
    for (ty, function) in TYPES {
        let _ = writeln!(text, "extern {ty} __VERIFIER_nondet_{function}(void);");
    }
    text += "int main(void) {\n";
    for (case, expected) in cases.iter().zip(expected) {
        let _ = writeln!(
            text,
            "    {{ {} assert((long)({}) == (long)0x{expected:x}ul); }}",
            variables(case),
            case.expression
        );
    }
    let _ = writeln!(text, "    {last}\n}}");
    let file = directory.join("checked.c");
    std::fs::write(&file, text).expect("the program can be written");
    check(&BmcOptions::new(file)).expect("the program is supported").outcome
}

#[test]
fn folded_constants_agree_with_the_compiler() {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be created");
    let cases = cases(&mut XorShift(0x1234_5678_9abc_def1), 20_000, true);
    let expected = compiled_values(directory.path(), &cases);
    assert_eq!(expected.len(), cases.len());
    assert_eq!(
        check_cases(directory.path(), &cases, &expected, declared_variables, "").verdict,
        Verdict::Clean
    );
}

#[test]
fn solved_inputs_agree_with_the_compiler() {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be created");
    let mut random = XorShift(0x0fed_cba9_8765_4321);
    let mut all = cases(&mut random, 400, false);
    all.extend(cases(&mut random, 20, true));
    let expected = compiled_values(directory.path(), &all);
    assert_eq!(
        check_cases(directory.path(), &all, &expected, assumed_inputs, "").verdict,
        Verdict::Clean
    );
    let outcome = check_cases(directory.path(), &all, &expected, assumed_inputs, "assert(0 == 1);");
    let bug = outcome.finding().expect("the assumptions do not contradict each other");
    assert_eq!(bug.message, "thread main: assertion failed: 0 == 1");
}
