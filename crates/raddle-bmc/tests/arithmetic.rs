//! The arithmetic of C against the compiled program.
//!
//! Random expressions over variables of all integer types, with values of all kinds. The compiler's program prints what
//! they are; the check must agree, for constants (what terms simplify to) and for inputs that are assumed to have these
//! values (what the solver is given).

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use raddle_bmc::{Answer, Options, check};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 20) as usize % limit
    }

    /// A number that is often at a border.
    fn value(&mut self) -> i64 {
        match self.below(6) {
            0 => [0, 1, -1, 2, 127, 128, 255, 256][self.below(8)],
            1 => [i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN][self.below(4)],
            2 => 1 << self.below(63),
            3 => self.next() as i64 & 0xff,
            _ => self.next() as i64,
        }
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

/// An expression. What is undefined is avoided: divisors are small and not zero, shifts are short. Long products and
/// quotients are kept out if the solver is to compute them.
fn expression(random: &mut Random, depth: usize, hard: bool) -> String {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(5) {
            0 => format!("{}", random.below(300)),
            1 => format!("0x{:x}u", random.next() as u32),
            _ => ["a", "b", "c"][random.below(3)].to_owned(),
        };
    }
    let sub = |random: &mut Random| expression(random, depth - 1, hard);
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

struct Case {
    types: [usize; 3],
    values: [i64; 3],
    expression: String,
}

fn cases(random: &mut Random, count: usize, hard: bool) -> Vec<Case> {
    let case = |_| {
        let types = [(); 3].map(|()| random.below(TYPES.len()));
        let values = [(); 3].map(|()| random.value());
        let depth = 1 + random.below(2);
        Case { types, values, expression: expression(random, depth, hard) }
    };
    (0..count).map(case).collect()
}

/// So many expressions are in a function: a compiler spends most of its time on functions.
const TOGETHER: usize = 50;

/// What the compiled program prints.
fn compiled(directory: &Path, cases: &[Case]) -> Vec<i64> {
    let mut text = String::from("#include <stdio.h>\n");
    let functions = cases.chunks(TOGETHER).enumerate();
    for (number, cases) in functions.clone() {
        let _ =
            writeln!(text, "static void e{number}(void) {{ long all[{}], *out = all;", cases.len());
        for case in cases {
            let _ =
                writeln!(text, "{{ {} *out++ = (long)({}); }}", declared(case), case.expression);
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
    std::fs::write(&file, text).expect("a file");
    let compiler =
        Command::new("cc").args(["-O0", "-w", "-fwrapv", "-o"]).arg(&program).arg(&file).status();
    assert!(compiler.expect("a compiler").success());
    let output = Command::new(program).output().expect("the program runs");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect()
}

fn declared(case: &Case) -> String {
    let mut text = String::new();
    for ((name, ty), value) in ["a", "b", "c"].iter().zip(case.types).zip(case.values) {
        let _ = write!(text, "{} {name} = ({})0x{value:x}ul; ", TYPES[ty].0, TYPES[ty].0);
    }
    text
}

/// The same as inputs that are assumed to have these values.
fn assumed(case: &Case) -> String {
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

fn answer(
    directory: &Path,
    cases: &[Case],
    expected: &[i64],
    variables: fn(&Case) -> String,
    last: &str,
) -> Answer {
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
    std::fs::write(&file, text).expect("a file");
    check(&Options::new(file)).expect("it is modelled").answer
}

#[test]
fn constants_are_what_the_compiler_says() {
    let directory = tempfile::TempDir::new().expect("a directory");
    let cases = cases(&mut Random(0x1234_5678_9abc_def1), 20_000, true);
    let expected = compiled(directory.path(), &cases);
    assert_eq!(expected.len(), cases.len());
    assert_eq!(answer(directory.path(), &cases, &expected, declared, ""), Answer::Safe);
}

#[test]
fn what_the_solver_computes_is_what_the_compiler_says() {
    let directory = tempfile::TempDir::new().expect("a directory");
    let mut random = Random(0x0fed_cba9_8765_4321);
    let mut all = cases(&mut random, 400, false);
    all.extend(cases(&mut random, 20, true));
    let expected = compiled(directory.path(), &all);
    assert_eq!(answer(directory.path(), &all, &expected, assumed, ""), Answer::Safe);
    let Answer::Bug(bug) = answer(directory.path(), &all, &expected, assumed, "assert(0 == 1);")
    else {
        panic!("the assumptions contradict each other");
    };
    assert_eq!(bug.message, "assertion failed: 0 == 1");
}
