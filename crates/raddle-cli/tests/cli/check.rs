//! `raddle check` and `raddle litmus`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::{raddle, run, scratch, stdout};

#[test]
fn results_have_the_format_of_herd() {
    assert_snapshot!(run("check examples/store-buffering.litmus"), @r"
exit 0
--- stdout
Test SB Allowed
States 4
0:EAX=0; 1:EAX=0;
0:EAX=0; 1:EAX=1;
0:EAX=1; 1:EAX=0;
0:EAX=1; 1:EAX=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:EAX=0 /\ 1:EAX=0)
Observation SB Sometimes 1 3

--- stderr
");
}

#[test]
fn an_execution_is_shown() {
    assert_snapshot!(run("check examples/message-passing.litmus --explain"), @r#"
    exit 1
    --- stdout
    Test MP Forbidden
    States 4
    1:r0=0; 1:r1=0;
    1:r0=0; 1:r1=1;
    1:r0=1; 1:r1=0;
    1:r0=1; 1:r1=1;
    No
    Witnesses
    Positive: 3 Negative: 1
    Condition ~exists (1:r0=1 /\ 1:r1=0)
    Observation MP Sometimes 1 3

    c20 allows an execution that satisfies the condition.

    The execution, which c20 allows but sc does not; `not step 1`: the read does not observe that step, although it is
    above:

       main      P0                    P1
    1  spawn P0                                                                   the start
    2  spawn P1                                                                   the start
    3            store data (rlx) = 1                                             line 5: atomic_store_explicit(data, 1...
    4            store flag (rlx) = 1                                             line 6: atomic_store_explicit(flag, 1...
    5  join P0                                                                    the end
    6                                  load flag (rlx) = 1 (step 4)               line 10: atomic_load_explicit(flag, m...
    7                                  load data (rlx) = 0 (initial, not step 3)  line 11: atomic_load_explicit(data, m...
    8  join P1                                                                    the end

    --- stderr
    "#);
}

#[test]
fn races_are_bugs() {
    assert_snapshot!(run("check corpus/litmus/C/mp-race.litmus --model rc11 --explain"), @r#"
    exit 1
    --- stdout
    Test mp-race Allowed
    States 3
    1:r0=0; 1:r1=1;
    1:r0=1; 1:r1=0;
    1:r0=1; 1:r1=1;
    Ok
    Witnesses
    Positive: 1 Negative: 2
    Flag Data-Race
    Condition exists (1:r0=1 /\ 1:r1=0)
    Observation mp-race Sometimes 1 2

    data race on data between P0 (line 5: *data = 1) and P1 (line 12: *data)

    The execution, which rc11 allows but sc does not; `not step 1`: the read does not observe that step, although it is
    above:

       main   P0   P1
    1  spawn P0                                                                   the start
    2  spawn P1                                                                   the start
    3         store data (na) = 1 <- races with step 6                            line 5: *data = 1
    4         store flag (rlx) = 1                                                line 6: atomic_store_explicit(flag, 1...
    5              load flag (rlx) = 1 (step 4)                                   line 10: atomic_load_explicit(flag, m...
    6              load data (na) = 0 (initial, not step 3) <- races with step 3  line 12: *data

    2 events without influence on the error are omitted.

    --- stderr
    "#);
}

#[test]
fn a_bounded_loop_is_incomplete() {
    assert_snapshot!(run("check examples/spin.litmus --unroll 2"), @r"
exit 3
--- stdout
Test spin Required
States 1
1:r0=1;
Loop Ok
Witnesses
Positive: 3 Negative: 0
Condition forall (1:r0=1)
Observation spin Always 3 0

--- stderr
examples/spin.litmus, c20: incomplete: a loop has more iterations than its limit: raise it with --unroll
");
}

#[test]
fn several_models_make_a_table() {
    assert_snapshot!(run("check examples/store-buffering.litmus corpus/litmus/C/sb-relacq.litmus --model sc,tso,pso,rc11"), @r"
exit 0
--- stdout
program                           sc     tso        pso        rc11
examples/store-buffering.litmus   Never  Sometimes  Sometimes  -
corpus/litmus/C/sb-relacq.litmus  Never  Sometimes  Sometimes  Sometimes

-: x86 instructions have no memory orders, which rc11 requires: use sc, tso or pso
--- stderr
");
}

#[test]
fn limits_are_reported() {
    assert_snapshot!(run("check examples/store-buffering.litmus --model sc,tso --max-executions 2"), @r"
exit 3
--- stdout
program                          sc      tso
examples/store-buffering.litmus  Never?  Sometimes

examples/store-buffering.litmus, sc: incomplete: the limit on executions was reached: raise it with --max-executions
examples/store-buffering.litmus, tso: incomplete: the limit on executions was reached: raise it with --max-executions
--- stderr
");
}

#[test]
fn unsupported_programs_are_rejected() {
    assert_snapshot!(run("check examples/lock.txt"), @r"
exit 2
--- stdout
--- stderr
examples/lock.txt: unknown kind of program: expected a .c, .cc, .cpp, .o or .litmus file, an executable, or a directory of litmus tests
");
    assert_snapshot!(run("check program.c"), @r"
exit 2
--- stdout
--- stderr
program.c: cannot read: No such file or directory (os error 2)
");
    assert_snapshot!(run("check nothing.litmus"), @r"
exit 2
--- stdout
--- stderr
nothing.litmus: cannot read: No such file or directory (os error 2)
");
    assert_snapshot!(run("check crates/raddle-cli/src"), @r"
exit 2
--- stdout
--- stderr
crates/raddle-cli/src: the directory contains no litmus tests (*.litmus)
");
    assert_snapshot!(run("check corpus/litmus/X86/sb-xchg.litmus --model rc11"), @r"
exit 2
--- stdout
--- stderr
corpus/litmus/X86/sb-xchg.litmus: x86 instructions have no memory orders, which rc11 requires: use sc, tso or pso
");
    assert_snapshot!(run("check corpus/litmus/X86/cycles --model rc11,c20"), @r"
exit 2
--- stdout
--- stderr
corpus/litmus/X86/cycles/2+2W+sfence+po.litmus and 38 others: x86 instructions have no memory orders, which rc11 requires: use sc, tso or pso; x86 instructions have no memory orders, which c20 requires: use sc, tso or pso
");
}

#[test]
fn errors_name_the_alternatives() {
    assert_snapshot!(run("check --by values examples"), @r"
exit 2
--- stdout
--- stderr
error: invalid value 'values' for '--by <EQUIVALENCE>': unknown equivalence 'values': expected rf, trace or rvf

For more information, try '--help'.
");
    assert_snapshot!(run("check --explorer dfs examples"), @r"
exit 2
--- stdout
--- stderr
error: invalid value 'dfs' for '--explorer <NAME>': unknown explorer 'dfs': expected rf-part-smc, rf-smc, source-dpor, optimal-dpor, rvf-smc, rvf-open, random or pct

For more information, try '--help'.
");
    assert_snapshot!(run("check --by rvf --explorer rf-part-smc examples"), @r"
exit 2
--- stdout
--- stderr
rf-part-smc explores by rf, not by rvf: use --by rf or --explorer rvf-smc
");
    assert_snapshot!(run("check --by rvf --model c20 corpus/litmus/C/sb-sc.litmus"), @r"
exit 2
--- stdout
--- stderr
corpus/litmus/C/sb-sc.litmus: rvf-smc, which explores by rvf, does not support c20: use sc, tso or pso
");
    assert_snapshot!(run("check --timeout -1 examples"), @r"
exit 2
--- stdout
--- stderr
error: unexpected argument '-1' found

  tip: to pass '-1' as a value, use '-- -1'

Usage: raddle check [OPTIONS] <PROGRAM>... [-- <FLAG>...]

For more information, try '--help'.
");
    assert_snapshot!(run("check"), @r"
exit 2
--- stdout
--- stderr
error: the following required arguments were not provided:
  <PROGRAM>...

Usage: raddle check <PROGRAM>... [-- <FLAG>...]

For more information, try '--help'.
");
    assert_snapshot!(run("check examples --expect nothing.tsv"), @r"
exit 2
--- stdout
--- stderr
nothing.tsv: cannot read: No such file or directory (os error 2)
");
    assert_snapshot!(run("check examples --expect examples/lock.txt"), @r"
exit 2
--- stdout
--- stderr
examples/lock.txt:1:1: expected the columns file, model, quantifier, some_final_state_satisfies, some_final_state_does_not, final_states, note
");
}

#[test]
fn tests_are_generated_from_cycles() {
    assert_snapshot!(run("litmus PodWR Fre MFencedWR Fre"), @r#"
exit 0
--- stdout
X86 SB+mfence+po
"MFencedWR Fre PodWR Fre"
{
}
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MFENCE      | MOV EAX,[x] ;
 MOV EAX,[y] |             ;
exists
(0:EAX=0 /\ 1:EAX=0)
--- stderr
"#);
    assert_snapshot!(run("litmus --arch C SFencedWW Rfe DpAddrdR Fre"), @r#"
exit 0
--- stdout
C MP+sfence+addr
"SFencedWW Rfe DpAddrdR Fre"
{
}

P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}

P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  int r1 = atomic_load_explicit(x + (r0 ^ r0), memory_order_relaxed);
}

exists
(1:r0=1 /\ 1:r1=0)
--- stderr
"#);
    assert_snapshot!(run("litmus PodWR Fre"), @r"
exit 2
--- stdout
--- stderr
the cycle has fewer than two threads: expected at least two of Rfe, Fre and Wse
");
    assert_snapshot!(run("litmus --arch PPC PodWR Fre"), @r"
exit 2
--- stdout
--- stderr
error: invalid value 'PPC' for '--arch <ARCH>': unknown architecture 'PPC': expected X86 or C

For more information, try '--help'.
");
}

#[test]
fn help_of_check() {
    assert_snapshot!(run("check -h"), @r"
exit 0
--- stdout
Explore all behaviours of programs that memory models allow

Usage: raddle check [OPTIONS] <PROGRAM>... [-- <FLAG>...]

Arguments:
  <PROGRAM>...  Programs to explore: a C or C++ program (.c, .i, .cc, .cpp, .cxx, .o; several files are linked together), an executable, a task definition of SV-COMP (.yml), litmus tests (.litmus), or directories of litmus tests
  [FLAG]...     Flags for the compiler of a C or C++ program and, after another `--`, the arguments of the program

Options:
      --model <MODELS>          Memory models, separated by commas (see `raddle models`), or all [default: tso for x86, c20 for C]
      --by <EQUIVALENCE>        When two executions are equivalent: rf, if every read observes the same write; trace, if in addition the writes of every location reach memory in the same order; rvf, if every read returns the same value and the causal orders of the reads agree. Only sc, tso and pso support trace and rvf [default: rf]
      --explorer <NAME>         The exploration algorithm: rf-part-smc or rf-smc by rf, optimal-dpor or source-dpor by trace, rvf-smc by rvf; or random or pct, which test randomly and prove nothing [default: rf-part-smc by rf, optimal-dpor by trace, rvf-smc by rvf]
      --open                    With --by rvf: let a read also observe later writes of the same value. Explores fewer classes, and checks only assertions about values that threads read. Experimental (see SOUNDNESS.md)
      --iterations <N>          With random and pct: the maximum number of runs [default: 10000]
      --seed <S>                With random and pct: the seed of the first run, from which the other seeds are derived [default: 0]
      --depth <D>               With pct: the maximum bug depth, that is, the number of ordering constraints that a bug requires [default: 3]
      --robust                  Under tso or pso, search for an execution that sc does not allow, and for fences that exclude it
      --jobs <N>                Number of workers, for several programs and models or for the exploration of one C or C++ program [default: the number of processors]
      --exact                   Count all classes of a C or C++ program, as the literature does. Otherwise reads and orders without effect are left out, such as rounds of a waiting loop, and classes that differ only in the names of threads that do the same; every outcome, up to such names, and every bug is found nevertheless
      --max-executions <N>      Stop each exploration after this many executions
      --max-events <N>          Stop threads where an execution has more than this many events [default: 1000; up to 1000000 if some execution needs more and seems to end]
      --timeout <S>             Stop each exploration after this many seconds, of which compiling the program is a part [alias: --time]
      --max-memory <MB>         Stop the exploration of a C or C++ program that needs more than this many megabytes, and its compiler [default: three quarters of the machine, divided by the number of explorations at the same time]
      --checkpoint <FILE>       Save the remaining work of the exploration of a C or C++ program to this file
      --every <S>               Seconds between two checkpoints [default: 5]
      --resume <FILE>           Continue the exploration from a file that --checkpoint has written
      --estimate                Estimate within two seconds the number of classes of a C or C++ program and the time to explore them
      --unroll <N>              Maximum number of rounds of a loop: a thread that would begin another one is stopped, and the result is incomplete [default: 8 in a litmus test, none in a C or C++ program]
      --format <FORMAT>         The format of the output [possible values: text, json, sarif, junit, dot, html, herd]
      --output <FILE>           Write the output to this file instead of standard output
      --suggest                 Under any model, search for a minimal set of stronger memory orders and fences that prevents the error of a C or C++ program, by exploring it with them; at most 60 seconds, or until --timeout
      --full                    Show everything in reports: events of libraries, on private memory and without influence on the error, and call stacks with the frames of libraries
  -q, --quiet                   Print nothing but errors that were found, and no progress
      --json                    The same as --format json: one JSON object per line for each program and model
      --explain                 Show an execution of a litmus test: one with a race, or one that satisfies the condition (for 'forall': that violates it)
      --herd                    The same as --format herd: the result of every litmus test in herd's format, instead of a table
      --trace <FILE>            Write an execution to this file: one with the bug, or for a litmus test one that reaches the state asked for
      --cc <COMPILER>           The compiler for C and C++ programs [default: gcc if it is installed, otherwise clang]
      --property <PROPERTY>     Check this property of SV-COMP (unreach-call, no-data-race, valid-memsafety, no-deadlock, or a .prp file): other errors, such as abort() for unreach-call, end an execution silently. The default model is sc, for no-data-race c20
      --keep-going              Report all distinct errors of a C or C++ program instead of the most important one
      --no-livelock             Do not report threads of a C or C++ program that repeat loops forever
      --no-races                Do not report data races of a C or C++ program: plain accesses are relaxed atomic ones
      --races                   Report data races of a C or C++ program under sc, tso and pso, too: plain accesses that atomic accesses, locks and joins do not order
      --require-join            Report threads of a C or C++ program that were not joined when main returns
      --malloc-may-fail         Let malloc and its like fail in a C or C++ program, each call by choice
      --spurious                Let threads of a C or C++ program wake up spuriously from condition variables and futexes: once at each call, until they are woken there
      --store-forwarding <HOW>  What a load observes under tso and pso if a store in the buffer of its thread has only a part of its bytes: combine (these bytes, and the others from memory) or wait (until that store is in memory) [default: combine]
      --nondet <FIRST..LAST>    The values of __VERIFIER_nondet_int and its like in a C or C++ program, as in 0..7 [default: -1..3]
      --allow-read <PATH>       Let a C or C++ program read this file. Others are refused. What it writes to files goes nowhere and is shown with an error
      --volatile <KIND>         What volatile accesses of a C or C++ program are: plain ones, or relaxed atomic ones [default: plain] [possible values: plain, relaxed]
      --leaks                   Report memory of a C or C++ program that is not freed and unreachable at the end
      --expect <FILE>           Compare the verdicts of litmus tests with this table (columns: file, model, quantifier, ...)
  -h, --help                    Print help (see more with '--help')

Exit status: 0 if the exploration is complete and no bug was found, 1 for a bug (for example a race, a
state that '~exists' or 'forall' excludes, or with --expect an unexpected verdict), 2 for invalid input or
usage, 3 if a bound was reached. If several apply, the first of 2, 1, 3, 0 counts.

Machine code (.o files, or an executable) has no memory orders, so it is explored under sc, tso or pso. Object
files that were compiled with -fsanitize=thread have them and are explored under all models.

Examples:
  raddle check examples/peterson.c --model tso
  raddle check queue.cpp main.cpp --model c20 --cc g++ -- -std=c++20 -DN=2 -- argument
  raddle check examples/store-buffering.litmus
  raddle check examples/*.litmus --model sc,tso,pso,rc11
  raddle check examples/peterson.c --robust --model tso
  raddle check corpus/litmus --model sc,tso,rc11 --expect corpus/litmus/oracle.tsv
--- stderr
");
}

#[test]
fn help_of_litmus() {
    assert_snapshot!(run("litmus -h"), @r"
exit 0
--- stdout
Generate litmus tests from cycles of relaxations, like diy

Usage: raddle litmus [OPTIONS] <CYCLE>...

Arguments:
  <CYCLE>...  The relaxations of one cycle, or several cycles, each in quotes

Options:
      --arch <ARCH>   The language of the tests: X86 or C [default: X86]
      --all <N>       Generate all cycles of length N from the relaxations
      --output <DIR>  Write each test to its own file in this directory
  -h, --help          Print help

Relaxations: Rfe, Fre, Wse (between threads), Rfi, Fri, Wsi (within a thread), PodWR, PosRR and similar
(program order, different or same location), MFencedWR, SFencedWW, LFencedRR, DpAddrdR, DpDatadW,
DpCtrldW, Rmw.

Examples:
  raddle litmus PodWR Fre PodWR Fre
  raddle litmus 'PodWW Rfe PodRR Fre' 'MFencedWR Fre PodWR Fre' --arch C
  raddle litmus --all 4 PodWR PodWW PodRR Fre Rfe Wse --output tests
--- stderr
");
}

/// The JSON objects that a run prints, and its exit status.
fn objects(args: &str) -> (Vec<Value>, Option<i32>) {
    let output = raddle(args).output().expect("raddle runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let object = |line: &str| serde_json::from_str(line).expect("an object");
    (text.lines().map(object).collect(), output.status.code())
}

#[test]
fn executions_by_trace() {
    for (explorer, options) in
        [("optimal-dpor", "--by trace"), ("source-dpor", "--explorer source-dpor")]
    {
        let options = format!("{options} --model sc,tso,pso --json");
        let (objects, status) =
            objects(&format!("check examples/store-buffering.litmus {options}"));
        assert_eq!(status, Some(0));
        let classes: Vec<_> = objects.iter().map(|object| object["classes"].as_u64()).collect();
        assert_eq!(classes, [Some(3), Some(4), Some(4)]);
        for object in &objects {
            assert_eq!((&object["by"], &object["explorer"]), (&"trace".into(), &explorer.into()));
        }
    }
}

#[test]
fn traces_require_a_store_buffer_model() {
    assert_snapshot!(run("check examples/peterson.c --by trace"), @r"
exit 2
--- stdout
--- stderr
examples/peterson.c: optimal-dpor, which explores by trace, does not support c20: use sc, tso or pso
");
    assert_snapshot!(run("check examples/peterson.c --by rf --explorer optimal-dpor"), @r"
exit 2
--- stdout
--- stderr
optimal-dpor explores by trace, not by rf: use --by trace or --explorer rf-part-smc
");
    assert_snapshot!(run("check examples/peterson.c --by rf --open"), @r"
exit 2
--- stdout
--- stderr
rvf-open explores by rvf, not by rf: use --by rvf or --explorer rf-part-smc
");
}

#[test]
fn json_keys_are_stable() {
    let (objects, status) = objects("check corpus/litmus/C/mp-race.litmus --model rc11 --json");
    let [object] = &objects[..] else { panic!("one object: {objects:?}") };
    assert_eq!(status, Some(1));
    let keys: Vec<&String> = object.as_object().expect("an object").keys().collect();
    let expected = "blocked bug by classes command executions explorer litmus model program seconds \
                    verdict version";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
    assert_eq!(object["command"], "check");
    assert_eq!(object["by"], "rf");
    assert_eq!(object["explorer"], "rf-part-smc");
    assert_eq!(object["verdict"], "bug");
    assert_eq!(object["classes"], 3);
    assert_eq!(object["bug"]["kind"], "race");
    assert_eq!(object["bug"]["place"], "line 12: *data");
    assert_eq!(object["litmus"]["states"].as_array().map(Vec::len), Some(3));
    assert_eq!(object["litmus"]["observation"], "Sometimes");
}

#[test]
fn json_has_errors_and_bounds() {
    let (objects, status) = objects("check examples/spin.litmus nothing.litmus --json --unroll 1");
    assert_eq!(status, Some(2));
    assert_eq!(objects[0]["verdict"], "incomplete");
    let bound = "a loop has more iterations than its limit";
    assert_eq!(objects[0]["bound"], bound);
    assert_eq!(objects[1]["program"], "nothing.litmus");
    assert_eq!(
        objects[1]["error"]["message"],
        "cannot read: No such file or directory (os error 2)"
    );
    let (objects, _) =
        self::objects("check examples/store-buffering.litmus --model tso,rc11 --json");
    assert_eq!((&objects[0]["model"], &objects[1]["model"]), (&"tso".into(), &"rc11".into()));
    assert!(objects[1]["error"]["message"].as_str().is_some_and(|it| it.contains("rc11 requires")));
}

/// Both reads-from explorers find the same number of classes in every test of the corpus.
#[test]
fn explorers_agree_on_the_corpus() {
    let classes = |explorer: &str| -> Vec<(String, Value)> {
        let args =
            format!("check corpus/litmus --model sc,tso,pso,rc11,c20 --json --explorer {explorer}");
        let counted = |object: &Value| {
            Some((object["program"].as_str()?.to_owned(), object.get("classes")?.clone()))
        };
        objects(&args).0.iter().filter_map(counted).collect()
    };
    let rf_part_smc = classes("rf-part-smc");
    assert_eq!(rf_part_smc.len(), 293);
    assert_eq!(rf_part_smc, classes("rf-smc"));
}

/// RVF-SMC finds the same verdict and the same number of final states in every test.
#[test]
fn rvf_smc_has_the_verdicts_of_the_table() {
    let output = stdout(
        "check corpus/litmus/X86 --by rvf --model sc,tso,pso --expect corpus/litmus/oracle.tsv",
    );
    assert!(output.ends_with("\n153 as expected, 0 not\n"), "{output}");
    let (objects, _) = objects("check examples/store-buffering.litmus --by rvf --json");
    assert_eq!((&objects[0]["by"], &objects[0]["classes"]), (&"rvf".into(), &4.into()));
    assert_eq!(objects[0]["explorer"], "rvf-smc");
}

#[test]
fn verdicts_are_compared_with_a_table() {
    let output =
        stdout("check corpus/litmus/X86 --model sc,tso,pso --expect corpus/litmus/oracle.tsv");
    assert!(output.ends_with("\n153 as expected, 0 not\n"), "{output}");
    let directory = scratch("expect");
    let table = fs::read_to_string("../../corpus/litmus/oracle.tsv").expect("the table");
    let changed = table.replace(
        "C/sb-sc.litmus\tsc\t~exists\tno\tyes\t3",
        "C/sb-sc.litmus\tsc\t~exists\tyes\tyes\t3",
    );
    let changed = changed.replace("C/sb-sc.litmus\ttso\t~exists\tno\tyes\t3\t\n", "");
    let file = directory.join("oracle.tsv");
    fs::write(&file, changed).expect("a file");
    fs::create_dir(directory.join("C")).expect("a directory");
    fs::copy("../../corpus/litmus/C/sb-sc.litmus", directory.join("C/sb-sc.litmus"))
        .expect("a copy");
    let (test, table) = (directory.join("C/sb-sc.litmus"), file.display());
    let told = run(&format!("check {} --model sc,tso,rc11 --expect {table}", test.display()));
    assert!(told.starts_with("exit 2"), "{told}");
    assert!(told.contains("sc: some final state satisfies: no, expected yes\n"), "{told}");
    assert!(
        told.contains("tso: the table has no row for 'C/sb-sc.litmus' and this model\n"),
        "{told}"
    );
    assert!(told.contains("\n1 as expected, 2 not\n"), "{told}");
}

#[test]
fn a_trace_is_a_history_that_verify_reads() {
    let file = scratch("check-trace").join("trace.txt");
    let file = file.display();
    stdout(&format!("check examples/store-buffering.litmus --trace {file}"));
    assert!(run(&format!("verify {file} --model tso")).starts_with("exit 0"));
    assert!(run(&format!("verify {file} --model sc")).starts_with("exit 1"));
    stdout(&format!("check corpus/litmus/X86/pointer.litmus --model pso --trace {file}"));
    assert!(run(&format!("verify {file} --model pso")).starts_with("exit 0"));
    assert!(run(&format!("verify {file} --model tso")).starts_with("exit 1"));
    let told = run("check examples/spin.litmus --trace examples/spin.litmus");
    assert!(
        told.contains("--trace would overwrite one of the programs: name another file"),
        "{told}"
    );
}

#[test]
fn families_are_written_to_files() {
    let directory = scratch("cycles");
    let path = directory.display();
    stdout(&format!("litmus --all 4 PodWR PodWW PodRR PodRW Fre Rfe Wse --output {path}"));
    let table = stdout(&format!("check {path} --model sc,tso,pso"));
    let row =
        |name: &str| table.lines().find(|line| line.contains(name)).expect("a row").to_owned();
    assert!(row("/MP.litmus").ends_with("Never  Never      Sometimes"), "{table}");
    assert!(row("/SB.litmus").ends_with("Never  Sometimes  Sometimes"), "{table}");
    assert!(row("/W+RR+po-po001.litmus").ends_with("Never  Never      Never"), "{table}");
    let numbered = fs::read_to_string(directory.join("W+RR+po-po001.litmus")).expect("a test");
    assert!(numbered.starts_with("X86 W+RR+po-po001\n"), "{numbered}");
}

/// A directory with a C test and a table with this row for it.
fn with_table(name: &str, statements: &str, row: &str) -> (String, String) {
    let directory = scratch(name);
    let test = format!("C t\n{{}}\nP0 (atomic_int* x) {{ {statements} }}\nexists (x=1)\n");
    fs::write(directory.join("t.litmus"), test).expect("a file");
    let columns = "file\tmodel\tquantifier\tsome_final_state_satisfies\tsome_final_state_does_not\t\
                   final_states\tnote";
    fs::write(directory.join("t.tsv"), format!("{columns}\nt.litmus\tc20\t{row}\n"))
        .expect("a file");
    let path = |name: &str| directory.join(name).display().to_string();
    (path("t.litmus"), path("t.tsv"))
}

#[test]
fn misuse_is_reported_and_never_as_expected() {
    let (test, table) = with_table("misuse", "int r = 1 / *x;", "exists\tno\tno\t0\t");
    let told = run(&format!("check {test}"));
    assert!(told.starts_with("exit 1\n"), "{told}");
    let message = format!("{test}, c20: thread P0: division by zero, line 3: r = 1 / *x\n");
    assert!(told.ends_with(&format!("--- stderr\n{message}")), "{told}");
    let told = run(&format!("check {test} --expect {table}"));
    assert!(told.starts_with("exit 1\n"), "{told}");
    assert!(told.contains(&format!("{test}, c20: thread P0: division by zero\n0 as")), "{told}");
}

#[test]
fn incomplete_results_are_not_compared() {
    let statements = "*x = 1; while (1) {}";
    let (test, table) = with_table("incomplete", statements, "exists\tno\tno\t0\t");
    let told = run(&format!("check {test} --expect {table}"));
    assert!(told.starts_with("exit 3\n"), "{told}");
    assert!(told.contains("c20: incomplete: a loop has more iterations than its limit"), "{told}");
    assert!(told.contains("\n0 as expected, 1 not\n"), "{told}");
}

#[test]
fn missing_files_are_reported_for_any_extension() {
    assert_snapshot!(run("check nothing"), @r"
exit 2
--- stdout
--- stderr
nothing: the file does not exist
");
}

#[test]
fn a_family_without_cycles_is_an_error() {
    assert_snapshot!(run("litmus --all 4 PodWR"), @r"
exit 2
--- stdout
--- stderr
the relaxations form no cycle of this length: use other relaxations, or another --all
");
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let (test, program) = ("examples/spin.litmus", "examples/peterson.c");
    let refused = |args: &str, expected: &str| {
        let printed = run(&format!("check {args}"));
        assert_eq!(printed, format!("exit 2\n--- stdout\n--- stderr\n{expected}\n"), "{args}");
    };
    for (option, name) in [
        ("--leaks", "--leaks"),
        ("--cc gcc", "--cc"),
        ("-- -DN=1", "-- FLAGS"),
        ("-- -- argument", "-- FLAGS"),
    ] {
        let expected = format!("litmus tests do not support {name}: use it with C or C++ programs");
        refused(&format!("{test} {option}"), &expected);
    }
    for option in ["--explain", "--herd"] {
        let expected =
            format!("C and C++ programs do not support {option}: use it with litmus tests");
        refused(&format!("{program} {option}"), &expected);
    }
    refused(
        &format!("{program} --every 1"),
        "--every has no effect without --checkpoint: name a file with --checkpoint FILE, or omit --every",
    );
}

#[test]
fn at_least_one_execution_is_explored() {
    let printed = run("check examples/spin.litmus --max-executions 0");
    let expected = "error: invalid value '0' for '--max-executions <N>': expected at least 1\n";
    assert!(printed.starts_with("exit 2\n"), "{printed}");
    assert!(printed.contains(expected), "{printed}");
}
