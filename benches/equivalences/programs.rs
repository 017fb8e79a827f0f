//! The programs: those of the explorers, and some in which values repeat.

use crate::shared::{self, Program, array, program};

/// Every thread writes what all write, after reading.
fn same_inc(threads: usize) -> Program {
    let name = format!("same_inc({threads})");
    program(name, "x = 0", vec!["r = load x; store x 1".into(); threads])
}

/// Figure 1 of Agarwal et al., CAV 2021, with more threads that read.
fn figure1(threads: usize) -> Program {
    let body = |thread: usize| {
        let read = ["", "r = load x", "r = load y"][if thread == 0 { 0 } else { 1 + thread % 2 }];
        format!("store x 1; store y 1; {read}")
    };
    program(format!("figure1({threads})"), "x = 0; y = 0", (0..threads).map(body))
}

/// A thread makes an object, then many write to it, all but one the same.
fn singleton(threads: usize) -> Program {
    let write = |thread| format!("r = load o; store a[r] {}", if thread == 0 { 1 } else { 2 });
    let names: Vec<String> = (0..threads).map(|thread| format!("t{thread}")).collect();
    let bodies =
        names.iter().enumerate().map(|(at, name)| format!("thread {name} {{ {} }}", write(at)));
    let (spawn, join) = (names.join("; spawn "), names.join("; join "));
    let main =
        format!("spawn maker; join maker; spawn {spawn}; join {join}; r = load o; s = load a[r]");
    let text = format!(
        "o = 5; a = [0]\nthread main {{ {main} }}\nthread maker {{ store o 0 }}\n{}\n",
        bodies.collect::<Vec<_>>().join("\n")
    );
    Program::parse(format!("singleton({threads})"), text)
}

/// Many threads set two variables; one checks that both are set or none.
fn reorder_5(threads: usize) -> Program {
    let check = "r = load a; if r == 0 { s = load b; if s == 0 { break } }; \
                 t = load a; if t == 1 { u = load b }";
    let threads_text = (0..threads).map(|_| "store a 1; store b 0 - 1".to_owned());
    let all = threads_text.chain(std::iter::once(check.to_owned()));
    program(format!("reorder_5({threads})"), "a = 0; b = 0", all)
}

/// Every thread writes a variable and reads it.
fn monabsex1(threads: usize) -> Program {
    let name = format!("monabsex1({threads})");
    program(name, "x = 0", vec!["store x 4; r = load x".into(); threads])
}

/// Every thread counts once by compare-exchange, and tries again with what it has seen.
fn cas_counter(threads: usize) -> Program {
    let retry = format!(
        "old = load x; repeat {threads} {{ now, ok = cas x old old + 1; if ok == 1 {{ break }}; old = now }}"
    );
    program(format!("cas_counter({threads})"), "x = 0", vec![retry; threads])
}

/// Threads write cells of an array with the same value, and one sums them up.
fn flags(threads: usize) -> Program {
    let set = (0..threads).map(|thread| format!("store a[{}] 1", thread / 2));
    let sum = (0..threads.div_ceil(2)).map(|cell| format!("r = load a[{cell}]; s = s + r"));
    let sum: Vec<String> = sum.collect();
    let name = format!("flags({threads})");
    program(name, &array("a", threads.div_ceil(2)), set.chain(std::iter::once(sum.join("; "))))
}

/// All programs.
pub(crate) fn all() -> Vec<Program> {
    let mut all = vec![figure1(3), figure1(6), singleton(20), singleton(30)];
    all.extend([reorder_5(9), reorder_5(30), monabsex1(5), monabsex1(7), monabsex1(8), flags(12)]);
    all.extend([same_inc(4), same_inc(6), same_inc(7), shared::inc(5), shared::inc(6)]);
    all.extend([shared::readers(13), shared::lastzero(10), shared::lastzero(12), shared::faa(7)]);
    all.extend([cas_counter(4), shared::locks(4, 2), shared::casloop(4, 2), shared::ring(3, 3)]);
    all.extend([shared::peterson(2, true), shared::peterson(3, true), shared::wr2(4, 4)]);
    all.extend([shared::fib_bench(4), shared::two50(2, 4)]);
    all.extend([shared::random(2, 24, 3, 0, 1), shared::random(3, 16, 4, 0, 2)]);
    all.extend([shared::random(4, 12, 4, 0, 3), shared::random(4, 12, 4, 2, 4)]);
    all.extend([shared::random(8, 6, 4, 1, 5), shared::random(6, 9, 8, 1, 7)]);
    all
}
