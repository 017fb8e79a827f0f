//! `raddle check --estimate`.

use serde_json::Value;

use super::{raddle, run, scratch};

/// A writer and N readers: 2^N classes.
const READERS: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *reader(void *unused) {
    (void)unused;
    atomic_load(&x);
    return 0;
}
int main(void) {
    pthread_t readers[N];
    for (int i = 0; i < N; i++)
        pthread_create(&readers[i], 0, reader, 0);
    atomic_store(&x, 1);
    for (int i = 0; i < N; i++)
        pthread_join(readers[i], 0);
}
";

#[test]
fn an_estimate_is_no_verdict() {
    let program = scratch("estimate").join("readers.c");
    std::fs::write(&program, READERS).expect("it can be written");
    let answer = |n: u32, options: &str| -> Value {
        let options = format!("{options} --cc gcc --json --model sc --estimate");
        let args = format!("check {} {options} -- -DN={n}", program.display());
        let output = raddle(&args).output().expect("raddle runs");
        serde_json::from_slice(&output.stdout).expect("a line of JSON")
    };
    let line = answer(24, "--exact");
    assert_eq!(line["verdict"], "incomplete", "{line}");
    let classes = line["estimate"]["classes"].as_f64().expect("a number");
    assert!((0.5..2.0).contains(&(classes / f64::from(1 << 24))), "{line}");
    // A complete exploration needs no estimate.
    let line = answer(4, "");
    assert_eq!((&line["verdict"], &line["classes"]), (&"clean".into(), &5.into()));
    let symmetry = &line["symmetry"];
    assert_eq!((&symmetry["classes"], &symmetry["blocked"]), (&16.into(), &0.into()));
    assert_eq!(symmetry["threads"][0].as_array().map(Vec::len), Some(4));
}

#[test]
fn litmus_tests_are_not_estimated() {
    let text = run("check examples/store-buffering.litmus --estimate");
    assert!(text.starts_with("exit 2\n"), "{text}");
    assert!(text.contains("litmus tests do not support --estimate"), "{text}");
}
