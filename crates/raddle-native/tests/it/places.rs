//! Faults are reported with function and source line.

use crate::harness::{BUDGET, build_c, start};
use raddle_cpu::memory::FaultKind;
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

fn fault(flags: &[&str]) -> (raddle_native::load::Place, FaultKind) {
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
