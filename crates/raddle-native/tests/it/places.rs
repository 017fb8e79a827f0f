//! Faults are reported with function and source line.

use crate::harness::{BUDGET, build_c, start};
use raddle_cpu::memory::{FaultKind, Thread};
use raddle_native::load::Place;
use raddle_native::process::{Ending, Event, Options};

const CODE: &str = r#"
int counter;
static void __attribute__((noinline)) fails(volatile int *p) {
    *p = 5;
}
int main(int argc, char **argv) {
    fails(argc == 1 ? (int *)16 : &counter);
}
"#;

fn fault(flags: &[&str]) -> (Place, FaultKind) {
    let program = build_c(CODE, flags);
    let mut process = start(&program.path, &Options::default());
    match process.run_alone(BUDGET) {
        Ending::Stopped(event) => match *event {
            Event::Fault(place, fault) => (place, fault.kind),
            event => panic!("{event}"),
        },
        ending => panic!("{ending:?}"),
    }
}

#[test]
fn a_fault_has_its_function_and_line() {
    let (place, kind) = fault(&["-O0", "-g"]);
    assert_eq!(kind.to_string(), "access to unmapped memory");
    assert_eq!(place.symbol.expect("a symbol").0.as_ref(), "fails");
    let line = place.line.expect("a line");
    assert_eq!((line.line, line.file.ends_with("program.c")), (4, true));
}

const STACK: &str = r#"
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) {
    return (int)strlen(*(const char **)a) - (int)strlen(*(const char **)b);
}
int main(void) {
    const char *words[] = { "first", NULL };
    qsort(words, 2, sizeof *words, compare);
}
"#;

#[test]
fn a_call_stack_goes_through_libraries() {
    for flags in [["-O2", "-g", "-fno-builtin"], ["-O0", "-g", "-static"]] {
        let program = build_c(STACK, &flags);
        let mut process = start(&program.path, &Options::default());
        let Ending::Stopped(event) = process.run_alone(BUDGET) else { panic!("strlen(NULL)") };
        assert!(matches!(*event, Event::Fault(..)), "{event}");
        let stack = process.backtrace(Thread::MAIN);
        let name = |place: &Place| place.symbol.as_ref().map(|symbol| symbol.0.to_string());
        let names: Vec<_> = stack.iter().filter_map(name).collect();
        assert_eq!(&names[..2], ["strlen", "compare"]);
        assert!(names.contains(&String::from("main")), "{names:?}");
        assert_eq!(names.last().map(String::as_str), Some("_start"));
        let line = process.place_in_program(Thread::MAIN).and_then(|place| place.line);
        assert_eq!(line.map(|line| line.line), Some(5));
    }
}

#[test]
fn a_stripped_program_has_addresses_in_its_module() {
    let (place, _) = fault(&["-O0", "-s"]);
    assert_eq!(place.line, None);
    assert_eq!(place.module.expect("a module").0.as_ref(), "program");
}

#[test]
fn default_versions_are_found_by_name_and_all_versions_by_address() {
    let program = build_c("int main(void) { return 0; }", &["-O2"]);
    let process = start(&program.path, &Options::default());
    let libc = process.modules().iter().find(|module| module.short_name() == "libc.so.6");
    let libc = libc.expect("a dynamic program has libc");
    let symbols = libc.symbols();
    let versions: Vec<_> = symbols.iter().filter(|symbol| &*symbol.name == "memcpy").collect();
    assert_eq!(versions.len(), 2, "memcpy@GLIBC_2.2.5 and memcpy@@GLIBC_2.14");
    let default = symbols.by_name("memcpy").expect("defined");
    // The old version is an alias of memmove.
    let memmove = symbols.by_name("memmove").expect("defined");
    assert_ne!(default.address, memmove.address);
    let malloc = process.address_of("malloc").expect("defined");
    let symbol = process.place(malloc + 3).symbol.expect("a symbol");
    assert_eq!((symbol.0.contains("malloc"), symbol.1), (true, 3));
}
