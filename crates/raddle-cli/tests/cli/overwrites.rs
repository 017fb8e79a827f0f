//! Output options refuse to overwrite inputs, and traces cannot choose the compiler.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::limits::{script, write};
use super::{run, scratch};

const BAD: &str = "#include <assert.h>\nint main(void) { assert(0); }\n";

fn error(message: &str) -> String {
    format!("exit 2\n--- stdout\n--- stderr\n{message}\n")
}

#[test]
fn traces_do_not_overwrite_inputs() {
    let directory = scratch("overwrites");
    let program = write(&directory, "bad.c", BAD);
    let table = write(&directory, "table", "");
    let left = write(&directory, "left", "");
    symlink(&program, directory.join("symbolic")).expect("a link");
    fs::hard_link(&program, directory.join("hard")).expect("a link");
    fs::create_dir(directory.join("below")).expect("a directory");
    let message = "--trace would overwrite one of the programs: name another file";
    for name in ["bad.c", "symbolic", "hard", "below/../bad.c"] {
        let trace = directory.join(name).display().to_string();
        assert_eq!(run(&format!("check {program} --trace {trace}")), error(message), "{name}");
    }
    let message = "--trace would overwrite the file of --resume: name another file";
    assert_eq!(run(&format!("check {program} --trace {left} --resume {left}")), error(message));
    let message = "--trace would overwrite the file of --checkpoint: name another file";
    let new = directory.join("new").display().to_string();
    assert_eq!(run(&format!("check {program} --trace {new} --checkpoint {new}")), error(message));
    let header = "file\tmodel\tquantifier\tsome_final_state_satisfies\tsome_final_state_does_not\tfinal_states\tnote\n";
    fs::write(&table, header).expect("it can be written");
    let message = "--trace would overwrite the table of --expect: name another file";
    let args = format!("check examples/store-buffering.litmus --expect {table} --trace {table}");
    assert_eq!(run(&args), error(message));
    assert_eq!(fs::read_to_string(&program).expect("it is there"), BAD);
    assert_eq!(fs::read_to_string(&table).expect("it is there"), header);
    assert!(!directory.join("new").exists());
}

#[test]
fn checkpoints_do_not_overwrite_programs() {
    let directory = scratch("overwritten-by-checkpoints");
    let program = write(&directory, "bad.c", BAD);
    symlink(&program, directory.join("link")).expect("a link");
    let message = "--checkpoint would overwrite one of the programs: name another file";
    for name in ["bad.c", "link"] {
        let left = directory.join(name).display().to_string();
        assert_eq!(run(&format!("check {program} --checkpoint {left}")), error(message), "{name}");
    }
    // The file that becomes the checkpoint has another name at first.
    fs::rename(&program, directory.join("bad.new")).expect("it is there");
    fs::hard_link(directory.join("bad.new"), &program).expect("a link");
    let left = directory.join("bad").display().to_string();
    assert_eq!(run(&format!("check {program} --checkpoint {left}")), error(message));
}

#[test]
fn other_commands_do_not_overwrite_their_input() {
    let directory = scratch("overwritten-by-others");
    let program = write(&directory, "bad.c", BAD);
    fs::hard_link(&program, directory.join("hard")).expect("a link");
    let hard = directory.join("hard").display().to_string();
    for option in ["--trace", "--emit-c", "--dimacs"] {
        let message = format!("{option} would overwrite the program: name another file");
        assert_eq!(run(&format!("bmc {program} {option} {hard}")), error(&message));
    }
    let program = write(&directory, "bad.inputs.c", BAD);
    let trace = directory.join("bad").display().to_string();
    let message = "--trace would overwrite the program: name another file";
    assert_eq!(run(&format!("bmc {program} --trace {trace}")), error(message));
    let history = directory.join("history.txt");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/store-buffering.txt");
    fs::copy(example, &history).expect("an example");
    symlink(&history, directory.join("link")).expect("a link");
    let link = directory.join("link").display().to_string();
    let text =
        run(&format!("history convert {} --format jsonl --output {link}", history.display()));
    let message = "error: --output would overwrite the history: name another file";
    assert!(text.starts_with("exit 2\n") && text.contains(message), "{text}");
}

#[test]
fn the_compiler_of_a_trace_is_not_run() {
    let directory = scratch("compiler");
    let program = write(&directory, "bad.c", BAD);
    let trace = directory.join("trace").display().to_string();
    assert!(run(&format!("check {program} --cc gcc --trace {trace}")).starts_with("exit 1\n"));
    let was_run = directory.join("was-run");
    let compiler = script(&directory, "cc", &format!("touch {}", was_run.display()));
    let text = fs::read_to_string(&trace).expect("a trace");
    let changed = text.replacen("\"gcc\"", &format!("\"{compiler}\""), 1);
    assert_ne!(changed, text);
    fs::write(&trace, changed).expect("it can be written");
    let replayed = run(&format!("replay {trace}"));
    assert!(replayed.starts_with("exit 1\n"), "{replayed}");
    assert!(replayed.contains("assertion failed: 0"), "{replayed}");
    assert!(!was_run.exists());
    let refused = run(&format!("replay {trace} --cc {compiler}"));
    assert!(refused.starts_with("exit 2\n"), "{refused}");
    assert!(was_run.exists());
    fs::write(&program, "int main(void) {}\n").expect("it can be written");
    let message = format!(
        "{trace}: the program has changed since the trace was recorded: {program} has changed. Explore it again with \
         `raddle check`"
    );
    assert_eq!(run(&format!("replay {trace}")), error(&message));
}
