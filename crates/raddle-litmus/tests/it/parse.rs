//! Accepted and rejected texts, with the exact messages.

use raddle_litmus::{LitmusTest, Quantifier};

fn error(text: &str) -> String {
    match LitmusTest::parse(text.as_bytes()) {
        Ok(test) => panic!("{} is accepted", test.name),
        Err(error) => error.to_string(),
    }
}

/// Returns an x86 test with one thread.
fn x86(instruction: &str) -> String {
    format!("X86 t\n{{}}\n P0 ;\n {instruction} ;\nexists (x=0)")
}

/// Returns a C test with one thread.
fn c(statements: &str) -> String {
    format!("C t\n{{}}\nP0 (atomic_int* x, int* y) {{\n{statements}\n}}\nexists (x=0)")
}

#[test]
fn errors_in_heads() {
    assert_eq!(error(""), "1:1: the test ends here: expected X86, X86_64 or C");
    assert_eq!(error("\n (* *) PPC t"), "2:8: found 'PPC': expected X86, X86_64 or C");
    assert_eq!(error("X86\n{}"), "1:4: the line ends here: expected the name of the test");
    assert_eq!(error("X86 {}"), "1:5: found '{}': expected the name of the test");
    assert_eq!(
        error("X86 t \"{\""),
        "1:10: the test ends here: expected '{' and the initial state"
    );
    assert_eq!(error("X86 t\n{ x=0;"), "2:7: the test ends here: expected '}'");
    assert_eq!(error("X86 t\n(* {"), "2:1: unterminated comment: expected '*)'");
    let bytes = LitmusTest::parse(b"X86 t\n\xff{").unwrap_err().to_string();
    assert_eq!(bytes, "2:1: the byte 0xff is not UTF-8: expected UTF-8 text");
}

#[test]
fn errors_in_initial_states() {
    let error = |state: &str| error(&format!("X86 t\n{{ {state} }}\n P0 ;\nexists (x=0)"));
    assert_eq!(error("x=0 y=0"), "2:7: found 'y': expected ';' or '}' after an initial value");
    assert_eq!(error("x="), "2:6: found '}': expected a number or the name of a location");
    assert_eq!(error("x=1; x=2"), "2:8: the location 'x' has two initial values: expected one");
    assert_eq!(
        error("0:EAX=1; 0:EAX=2"),
        "2:12: the register 'EAX' has two initial values: expected one"
    );
    assert_eq!(
        error("0:EAX=1; 0:eax=2"),
        "2:12: the register 'eax' has two initial values: expected one"
    );
    assert_eq!(
        error("x=1; y=4294967296"),
        "2:10: 4294967296 is too large: expected a number of 32 bits"
    );
    assert_eq!(error("bool y=2"), "2:10: 2 is not a truth value: expected 0 or 1");
    assert_eq!(error("3:EAX=1"), "2:3: there is no thread 3: expected 0 to 0");
    let arrays = "2:8: found '[': expected a location with one value; arrays are not supported";
    assert_eq!(error("int x[2]"), arrays);
    assert!(error("0:r0=1").starts_with("2:3: thread 0 has no register 'r0': expected EAX, EBX, "));
    let what = "an initial value, such as 'x=0' or '0:EAX=1'";
    assert_eq!(error("=1"), format!("2:3: found '=': expected {what}"));
    let number = "2:5: found '99999999999999999999': expected a number of 64 bits";
    assert_eq!(error("x=99999999999999999999"), number);
}

#[test]
fn errors_in_intel_instructions() {
    let error = |instruction: &str| error(&x86(instruction));
    assert!(error("MOVE EAX,[x]").starts_with("4:2: found 'MOVE': expected MOV, XCHG, XADD, "));
    assert!(error("CLFLUSH [x]").starts_with("4:2: found 'CLFLUSH': expected MOV, "));
    assert_eq!(error("MOV EAX [x]"), "4:10: found '[': expected ','");
    let operand = "expected a register, a number such as $1, or memory such as [x]";
    assert_eq!(error("MOV EAX,foo"), format!("4:10: found 'foo': {operand}"));
    assert_eq!(error("MOV EAX,]"), format!("4:10: found ']': {operand}"));
    let narrow = "4:6: found 'AL': expected a register of 32 or 64 bits; others are not supported";
    assert_eq!(error("MOV AL,[x]"), narrow);
    assert_eq!(
        error("MOVB [x],$1"),
        "4:2: found 'MOVB': expected 32 or 64 bits; others are not supported"
    );
    assert_eq!(
        error("MOV RAX,EBX"),
        "4:2: operands of 64 and 32 bits: expected one width; accesses to parts of a location are not \
         supported"
    );
    let lock = "found LOCK before an instruction that does not update memory: expected a read-modify-write of \
         memory";
    assert_eq!(error("LOCK MOV [x],$1"), format!("4:7: {lock}"));
    assert_eq!(error("LOCK ADD EAX,$1"), format!("4:7: {lock}"));
    assert_eq!(error("LOCK CMP [x],EAX"), format!("4:7: {lock}"));
    assert_eq!(
        error("MOV [x],[y]"),
        "4:2: both operands are in memory: expected a register or a number"
    );
    let target = "4:2: the target is a number: expected a register or memory";
    assert_eq!(error("MOV $1,EAX"), target);
    assert_eq!(
        error("MOV [x],EAX ; MOV RBX,[x]"),
        "4:16: operands of 64 and 32 bits: expected one width; accesses to parts of a location are not \
         supported"
    );
    assert_eq!(
        error("MOV EAX,$0x100000000"),
        "4:2: 4294967296 is too large: expected a number of 32 bits"
    );
    assert_eq!(error("JMP L"), "4:6: there is no label 'L': expected none");
    assert_eq!(error("L: JMP M"), "4:9: there is no label 'M': expected L");
    assert_eq!(error("L: ; L: "), "4:7: the label 'L' is defined twice: expected different labels");
    assert_eq!(error("NOP NOP"), "4:6: found 'NOP': expected '|' or ';' after an instruction");
    assert_eq!(error("NOP | NOP"), "4:8: found 'NOP': expected ';' after the instruction of P0");
    assert_eq!(
        error("MOV EAX,[x+y+z+a+b]"),
        "4:19: found 'b': expected at most 4 parts of an address"
    );
}

#[test]
fn errors_in_att_instructions() {
    let error = |instruction: &str| error(&x86(instruction).replacen("X86", "X86_64", 1));
    assert_eq!(error("movl 1,%eax"), "4:7: found '1': expected '$' before a number");
    assert_eq!(
        error("movl x,%eax"),
        "4:7: found 'x': expected a register, a number such as $1, or memory such as [x]"
    );
    assert_eq!(
        error("movw $1,(x)"),
        "4:2: found 'MOVW': expected 32 or 64 bits; others are not supported"
    );
    assert_eq!(
        error("movq %eax,(x)"),
        "4:2: operands of 64 and 32 bits: expected one width; accesses to parts of a location are not \
         supported"
    );
}

#[test]
fn errors_in_functions() {
    let error = |statements: &str| error(&c(statements));
    assert_eq!(error("int r0 = 1"), "5:1: found '}': expected ';'");
    assert_eq!(error("r0 = 1;"), "4:1: found 'r0': expected a local variable before an assignment");
    assert_eq!(
        error("int r0 = z;"),
        "4:10: 'z' is not declared: expected a parameter, a local variable or an atomic operation"
    );
    assert!(error("smp_mb();").starts_with("4:1: found 'smp_mb': expected atomic_load, "));
    assert!(error("atomic_signal_fence(memory_order_seq_cst);").contains("'atomic_signal_fence'"));
    assert_eq!(
        error("atomic_store_explicit(x, 1, memory_order_acquire);"),
        "4:29: found 'memory_order_acquire': expected relaxed, release or seq_cst here"
    );
    assert_eq!(
        error("int r = atomic_load_explicit(x, memory_order_acq_rel);"),
        "4:33: found 'memory_order_acq_rel': expected relaxed, acquire or seq_cst here"
    );
    assert_eq!(
        error("int r = atomic_load_explicit(x, fast);"),
        "4:33: found 'fast': expected a memory order, such as memory_order_relaxed"
    );
    assert_eq!(error("atomic_store(x);"), "4:15: found ')': expected ',' and another value");
    assert_eq!(error("break;"), "4:1: found 'break': expected no 'break' outside of a loop");
    assert_eq!(error("int r; long r;"), "4:13: 'r' is declared twice: expected another name");
    assert_eq!(
        error("int r; { int r = 1; }"),
        "4:14: 'r' is declared twice: expected another name"
    );
    assert_eq!(
        error("{ int r; } { long r; }"),
        "4:19: 'r' is declared with another type in another block: expected the same type"
    );
    assert_eq!(
        error("for (int i = 0; i < 1; i++) { } i = 1;"),
        "4:33: found 'i': expected a local variable before an assignment"
    );
    assert_eq!(
        error("int r = 010;"),
        "4:9: found '010': expected a number that does not start with 0"
    );
    assert!(
        error("__atomic_store(x, y, __ATOMIC_RELAXED);")
            .starts_with("4:1: found '__atomic_store': ")
    );
    assert_eq!(error("if (1) { "), "6:13: the test ends here: expected '}'");
    assert_eq!(
        error("atomic_compare_exchange_strong(x, 0, 1);"),
        "4:35: the expected value is not a pointer: expected '&' and a local variable, or a pointer to a \
         location"
    );
    assert_eq!(error("int r = &r;"), "4:10: 'r' has no address: expected a parameter");
    let deep = format!("int r = {}1;", "(".repeat(1000));
    assert_eq!(error(&deep), "4:58: this is nested too deeply: expected at most 100 levels");
    let long = format!("int r = 1{};", " + 1".repeat(501));
    assert_eq!(error(&long), "4:2011: found '+': expected at most 500 operators");
}

#[test]
fn errors_in_parameters() {
    let error =
        |parameters: &str| error(&format!("C t\n{{}}\nP0 ({parameters}) {{ }}\nexists (x=0)"));
    let ty = "the type of a parameter, such as 'atomic_int*'";
    assert_eq!(error("x"), format!("3:5: found 'x': expected {ty}"));
    assert_eq!(
        error("int x"),
        "3:9: the parameter 'x' is not a pointer: expected a pointer to a location"
    );
    assert_eq!(
        error("int* x, int* x"),
        "3:18: the parameter 'x' is declared twice: expected different names"
    );
    let two = "C t\n{}\nP0 (int* x) {}\nP1 (long* x) {}\nexists (x=0)";
    let expected = "4:11: 'x' has 64 bits here and 32 elsewhere: expected the same; accesses to parts of \
                    a location are not supported";
    assert_eq!(self::error(two), expected);
    assert_eq!(
        self::error("C t\n{}\nP1 () {}"),
        "3:1: found 'P1': expected 'P0' and its parameters"
    );
}

#[test]
fn errors_in_conditions() {
    let error = |end: &str| error(&format!("C t\n{{}}\nP0 (int* x) {{ int r0; int r1; }}\n{end}"));
    let start = "'exists', '~exists', 'forall', 'locations' or 'filter'";
    assert_eq!(error(""), format!("4:1: the test ends here: expected {start}"));
    assert_eq!(error("exist (x=0)"), format!("4:1: found 'exist': expected {start}"));
    assert_eq!(error("~forall (x=0)"), "4:2: found 'forall': expected 'exists'");
    assert_eq!(error("exists (x)"), "4:10: found ')': expected '=' or '!='");
    assert_eq!(error("exists (x=0"), "4:12: the test ends here: expected ')'");
    let end = "expected '/\\', '\\/' or the end of the test";
    assert_eq!(error("exists (x=0) y=0"), format!("4:14: found 'y': {end}"));
    assert_eq!(error("exists (0:r2=0)"), "4:9: thread 0 has no register 'r2': expected r0, r1");
    assert_eq!(error("exists (1:r0=0)"), "4:9: there is no thread 1: expected 0 to 0");
    let what = "a condition, such as '0:EAX=1' or 'x=1'";
    assert_eq!(error("exists ()"), format!("4:9: found ')': expected {what}"));
    assert_eq!(
        error("exists (x=4294967296)"),
        "4:11: 4294967296 is too large: expected a number of 32 bits"
    );
    assert_eq!(error("locations [x,]"), "4:13: found ',': expected ';' or ']'");
    let deep = format!("exists {}", "~".repeat(1000));
    assert_eq!(error(&deep), "4:108: this is nested too deeply: expected at most 100 levels");
}

#[test]
fn conditions_have_several_forms() {
    let parse = |end: &str| {
        let text = format!("X86 t\n{{}}\n P0 ;\n MOV EAX,[x] ;\n{end}");
        LitmusTest::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{end}: {error}"))
    };
    let test = parse(
        "final (P0:EAX = 0 /\\ [x]=0);\nwith\ntso: ~exists;\ndefault: exists;\n<<\nshow \\ 3\n>>",
    );
    assert_eq!(test.quantifier, Quantifier::Exists);
    assert_eq!(test.condition_text(), "exists (0:EAX=0 /\\ [x]=0)");
    let test =
        parse("locations [y; 0:EBX;]\nfilter x=0\n~ exists 0:eax=1 => x != 2 \\/ true (* end *)");
    assert_eq!(test.condition_text(), "~exists (not (0:EAX=1) \\/ not ([x]=2) \\/ true)");
    assert_eq!(test.names().collect::<Vec<_>>(), ["0:EAX", "0:EBX", "[x]", "[y]"]);
    assert_eq!(parse("forall (x=y)").condition_text(), "forall ([x]=y)");
}
