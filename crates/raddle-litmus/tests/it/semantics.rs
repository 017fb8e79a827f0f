//! What single instructions and expressions do: final states that were computed by hand.

use raddle_core::trace::Ending;
use raddle_explore::plan::{Explorer, plan};
use raddle_litmus::{LitmusOptions, LitmusOutcome, LitmusTest, explore};

fn outcome(text: &str) -> (LitmusTest, LitmusOutcome) {
    let test = LitmusTest::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let model = test.language.default_model();
    let plan = plan(test.language, model, Explorer::RfPartSmc).expect("it is the default");
    let outcome = explore(&test, plan, &LitmusOptions::default());
    (test, outcome)
}

/// The only final state of a thread of x86: what these instructions make of the initial values.
fn x86(initial: &str, instructions: &str, shown: &str) -> String {
    only(&format!(
        "X86 t\n{{ {initial} }}\nP0 ;\n{instructions} ;\nlocations [{shown}]\nforall true"
    ))
}

/// The same in the syntax of AT&T.
fn att(initial: &str, instructions: &str, shown: &str) -> String {
    let head = format!("X86_64 t\n{{ {initial} }}\nP0 ;\n");
    only(&format!("{head}{instructions} ;\nlocations [{shown}]\nforall true"))
}

/// The only final state of a function of C.
fn c(initial: &str, parameters: &str, statements: &str, shown: &str) -> String {
    let head = format!("C t\n{{ {initial} }}\nP0 ({parameters}) {{ {statements} }}\n");
    only(&format!("{head}locations [{shown}]\nforall true"))
}

fn only(text: &str) -> String {
    let (test, outcome) = outcome(text);
    assert!(outcome.finals.is_complete, "{text}\n{}", outcome.outcome);
    let states: Vec<String> =
        outcome.finals.states.iter().map(|state| test.state_text(state)).collect();
    assert_eq!(states.len(), 1, "{text}\n{states:?}");
    states.concat()
}

#[test]
fn writing_half_of_a_register_clears_the_other_half() {
    let wide = "0:rax=0x500000001; 0:rbx=0x700000002";
    assert_eq!(att(wide, "xchgl %eax,%ebx", "0:rax; 0:rbx;"), "0:rax=2; 0:rbx=1;");
    assert_eq!(
        att(wide, "xchgq %rax,%rbx", "0:rax; 0:rbx;"),
        "0:rax=30064771074; 0:rbx=21474836481;"
    );
    assert_eq!(att(wide, "incl %eax", "0:rax;"), "0:rax=2;");
    assert_eq!(att(wide, "xorl %ebx,%eax", "0:rax; 0:rbx;"), "0:rax=3; 0:rbx=30064771074;");
    assert_eq!(att("0:rax=-1", "movl %eax,%eax", "0:rax;"), "0:rax=4294967295;");
}

#[test]
fn exchange_and_add() {
    assert_eq!(x86("0:EAX=3; 0:EBX=4", "XADD EAX,EBX", "0:EAX; 0:EBX;"), "0:EAX=7; 0:EBX=3;");
    assert_eq!(x86("0:EAX=3", "XADD EAX,EAX", "0:EAX;"), "0:EAX=6;");
    for lock in ["", "LOCK "] {
        let state = x86("x=-1; 0:EBX=1", &format!("{lock}XADD [x],EBX"), "0:EBX; x;");
        assert_eq!(state, "0:EBX=-1; [x]=0;");
    }
    let state = att("x=5; 0:rbx=0x100000002", "lock xaddl %ebx,(x)", "0:rbx; x;");
    assert_eq!(state, "0:rbx=5; [x]=7;");
}

#[test]
fn compare_and_exchange() {
    for lock in ["", "LOCK "] {
        let state = |eax: i32| {
            let initial = format!("x=5; 0:EAX={eax}; 0:EBX=9");
            let code = format!("{lock}CMPXCHG [x],EBX ; JE L ; MOV ECX,$1 ; L:");
            x86(&initial, &code, "0:EAX; 0:EBX; 0:ECX; x;")
        };
        assert_eq!(state(5), "0:EAX=5; 0:EBX=9; 0:ECX=0; [x]=9;");
        assert_eq!(state(4), "0:EAX=5; 0:EBX=9; 0:ECX=1; [x]=5;");
    }
    let registers = |target: &str| {
        let code = format!("CMPXCHG {target},ECX");
        x86("0:EAX=1; 0:EBX=2; 0:ECX=3", &code, "0:EAX; 0:EBX; 0:ECX;")
    };
    assert_eq!(registers("EBX"), "0:EAX=2; 0:EBX=2; 0:ECX=3;");
    assert_eq!(registers("EAX"), "0:EAX=3; 0:EBX=2; 0:ECX=3;");
    let state = att("x=7; 0:eax=6; 0:ebx=1", "lock cmpxchgl %ebx,(x)", "0:eax; x;");
    assert_eq!(state, "0:eax=7; [x]=7;");
}

/// Which of the conditional jumps are taken after these instructions.
fn taken(initial: &str, instructions: &str) -> Vec<&'static str> {
    let all = ["JE", "JL", "JLE", "JB", "JBE", "JS", "JO"];
    let negated = ["JNE", "JGE", "JG", "JAE", "JA", "JNS", "JNO"];
    let is_taken = |jump: &str| {
        let code = format!("{instructions} ; {jump} L ; MOV ESI,$1 ; L: NOP");
        x86(initial, &code, "0:ESI;") == "0:ESI=0;"
    };
    for (one, other) in all.into_iter().zip(negated) {
        assert_ne!(is_taken(one), is_taken(other), "{instructions}: {one}, {other}");
    }
    all.into_iter().filter(|jump| is_taken(jump)).collect()
}

#[test]
fn flags() {
    assert_eq!(taken("0:EAX=1", "CMP EAX,$1"), ["JE", "JLE", "JBE"]);
    assert_eq!(taken("0:EAX=1", "CMP EAX,$2"), ["JL", "JLE", "JB", "JBE", "JS"]);
    assert_eq!(taken("0:EAX=1", "CMP EAX,$-1"), ["JB", "JBE"]);
    assert_eq!(taken("0:EAX=-2147483648", "CMP EAX,$1"), ["JL", "JLE", "JO"]);
    assert_eq!(taken("0:EAX=2147483647", "ADD EAX,$1"), ["JS", "JO"]);
    assert_eq!(taken("0:EAX=-1", "ADD EAX,$1"), ["JE", "JLE", "JB", "JBE"]);
    assert_eq!(taken("0:EAX=-1", "INC EAX"), ["JE", "JLE", "JBE"], "INC leaves the carry");
    let carry = "CMP EBX,$1 ; INC EAX";
    assert_eq!(taken("0:EAX=1", carry), ["JB", "JBE"], "INC keeps a carry");
    assert_eq!(taken("x=0", "LOCK DEC [x]"), ["JL", "JLE", "JS"]);
    assert_eq!(taken("x=0", "DEC [x]"), ["JL", "JLE", "JS"]);
    assert_eq!(taken("x=0; 0:EBX=1", "LOCK SUB [x],EBX"), ["JL", "JLE", "JB", "JBE", "JS"]);
    assert_eq!(taken("x=6", "LOCK AND [x],$1"), ["JE", "JLE", "JBE"]);
    assert_eq!(taken("0:EAX=-1", "TEST EAX,EAX"), ["JL", "JLE", "JS"]);
    assert_eq!(
        taken("0:EAX=3; x=4; 0:EBX=1", "LOCK CMPXCHG [x],EBX"),
        ["JL", "JLE", "JB", "JBE", "JS"]
    );
    assert_eq!(taken("0:EAX=3", "MOV EBX,$3 ; SUB EAX,EBX ; MOV EAX,$7"), ["JE", "JLE", "JBE"]);
}

#[test]
fn jumps_back() {
    let sum = "MOV ECX,$4 ; L: ADD EAX,ECX ; DEC ECX ; JNE L";
    assert_eq!(x86("", sum, "0:EAX; 0:ECX;"), "0:EAX=10; 0:ECX=0;");
    assert_eq!(att("", "movl $3,%ecx ; L: addl $2,(x) ; decl %ecx ; jnz L", "x;"), "[x]=6;");
    let state =
        att("0:eax=5", "cmpl $4,%eax ; jg L ; movl $1,%ebx ; L: subl $7,%eax", "0:eax; 0:ebx;");
    assert_eq!(state, "0:eax=-2; 0:ebx=0;");
}

#[test]
fn numbers_have_the_types_of_c() {
    let c = |statements, shown| c("", "", statements, shown);
    assert_eq!(c("int r = -1 == 0xFFFFFFFF;", "0:r;"), "0:r=1;");
    assert_eq!(c("int r = -1 == 4294967295;", "0:r;"), "0:r=0;");
    assert_eq!(c("int r = 0u - 1 > 0; int s = 0 - 1 > 0;", "0:r; 0:s;"), "0:r=1; 0:s=0;");
    assert_eq!(
        c("long r = 1L << 40; long s = 1 << 31;", "0:r; 0:s;"),
        "0:r=1099511627776; 0:s=-2147483648;"
    );
    assert_eq!(c("int r = 1 / 2 * 2 + 7 % 4 - -3;", "0:r;"), "0:r=6;");
}

#[test]
fn integers_wrap_around_at_their_widths() {
    let update = |ty: &str, value: &str, call: &str| {
        c(
            &format!("atomic_{ty} x={value}"),
            &format!("atomic_{ty}* x"),
            &format!("long r = {call};"),
            "0:r; x;",
        )
    };
    assert_eq!(update("char", "127", "atomic_fetch_add(x, 1)"), "0:r=127; [x]=-128;");
    assert_eq!(update("uchar", "255", "x->fetch_add(2)"), "0:r=255; [x]=1;");
    assert_eq!(update("short", "-32768", "atomic_fetch_sub(x, 1)"), "0:r=-32768; [x]=32767;");
    assert_eq!(
        update("uint", "0", "__atomic_fetch_sub(x, 1, __ATOMIC_RELAXED)"),
        "0:r=0; [x]=4294967295;"
    );
    assert_eq!(update("int", "6", "atomic_fetch_xor(x, 3)"), "0:r=6; [x]=5;");
    assert_eq!(update("long", "-1", "atomic_fetch_add(x, 1)"), "0:r=-1; [x]=0;");
    assert_eq!(update("bool", "0", "atomic_exchange(x, 256)"), "0:r=0; [x]=1;");
    // The location gets its type after its value.
    assert_eq!(c("x=0x1FFFFFFFF", "atomic_long* x", "long r = *x;", "0:r;"), "0:r=8589934591;");
    assert_eq!(c("", "", "long r = (1L << 40) * (1L << 40) + (1L << 40 << 40);", "0:r;"), "0:r=0;");
}

#[test]
fn control_flow() {
    let c = |statements, shown| c("x=3", "atomic_int* x, volatile int* y", statements, shown);
    let nested = "int r = 0; if (*x) if (*x == 2) r = 1; else if (*x == 3) { r = 2; } else r = 3;";
    assert_eq!(c(nested, "0:r;"), "0:r=2;");
    let whiles =
        "int r = 0; int i = 0; while (i < 3) { int j = 0; while (j < i) { r += 1; j++; } i++; }";
    assert_eq!(c(whiles, "0:r;"), "0:r=3;");
    assert_eq!(c("*y = 4; *y = *y * 2; int r = *y;", "0:r; y;"), "0:r=8; [y]=8;");
    assert_eq!(c("if (*x) { int r = 1; } else { int r = 2; }", "0:r;"), "0:r=1;");
    let cas = "int e = 5; int r = atomic_compare_exchange_strong_explicit(x, &e, 9, memory_order_release, \
               memory_order_acquire);";
    assert_eq!(c(cas, "0:e; 0:r; x;"), "0:e=3; 0:r=0; [x]=3;");
    assert_eq!(c(&cas.replace('5', "3"), "0:e; 0:r; x;"), "0:e=3; 0:r=1; [x]=9;");
}

/// Message for arithmetic on addresses.
const ADDRESS: &str = "arithmetic on the address of a location, which is not supported";

/// Returns the message of the failure of a C test with a pointer.
fn misuse(statements: &str) -> String {
    let head = "C t\n{ long p=x; int x=1; }\nP0 (long* p, int* x)";
    let (_, outcome) = outcome(&format!("{head} {{ {statements} }}\nforall true"));
    let trace = outcome.failure().expect("a failure").trace.clone();
    let Some(Ending::Failed(_, failure)) = trace.map(|trace| trace.ending) else {
        panic!("the execution has failed")
    };
    failure.message
}

#[test]
fn operations_without_a_meaning_fail() {
    assert_eq!(misuse("atomic_fetch_add(p, 1);"), ADDRESS);
    assert_eq!(misuse("long r = *p + 1;"), ADDRESS);
    let narrow = "an access that is narrower or wider than its location, which is not supported";
    assert_eq!(misuse("long* r = *p; *r = 1;"), narrow);
    assert_eq!(misuse("long r = *(long*) x;"), narrow);
    assert_eq!(misuse("int r = 1 / (*x - 1);"), "division by zero");
}
