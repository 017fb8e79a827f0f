//! Random tests in C.

use std::fmt::Write as _;

use raddle_core::random::Random;

const LOCATIONS: [&str; 2] = ["x", "y"];

/// Returns a random test whose final state has all registers and all locations.
pub(crate) fn test(random: &mut Random) -> String {
    let mut text = String::from("C random\n{ y=5; }\n");
    let threads = 2 + random.below(2);
    let mut shown = String::new();
    for thread in 0..threads {
        let _ = writeln!(text, "P{thread} (atomic_int* x, atomic_int* y) {{");
        for register in 0..1 + random.below(if threads == 2 { 3 } else { 2 }) {
            let _ = writeln!(text, "  int r{register} = 7;\n  {}", statement(random, register));
            let _ = write!(shown, "{thread}:r{register}; ");
        }
        text += "}\n";
    }
    shown += "x; y;";
    let _ = writeln!(text, "locations [{shown}]\nexists (true)");
    text
}

fn statement(random: &mut Random, register: usize) -> String {
    let at = LOCATIONS[random.below(2)];
    let value = 1 + random.below(2);
    let load = ["relaxed", "acquire", "seq_cst"][random.below(3)];
    let store = ["relaxed", "release", "seq_cst"][random.below(3)];
    let update = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"][random.below(5)];
    let simple = match random.below(12) {
        0..3 => format!("atomic_store_explicit({at}, {value}, memory_order_{store});"),
        3 | 4 => format!("r{register} = atomic_load_explicit({at}, memory_order_{load});"),
        5 => format!("r{register} = {at}->fetch_add({value}, memory_order_{update});"),
        6 => {
            format!("r{register} = atomic_exchange_explicit({at}, {value}, memory_order_{update});")
        }
        7 | 8 => format!("atomic_thread_fence(memory_order_{update});"),
        9 => format!("*{at} = {value};"),
        10 => format!("r{register} = *{at};"),
        _ => {
            let weak = ["weak", "strong"][random.below(2)];
            format!(
                "r{register} = {}; atomic_compare_exchange_{weak}_explicit({at}, &r{register}, {value}, \
                 memory_order_{update}, memory_order_relaxed);",
                random.below(2)
            )
        }
    };
    match register.checked_sub(1) {
        Some(before) if random.chance(0.25) => format!("if (r{before} != 0) {{ {simple} }}"),
        _ => simple,
    }
}
