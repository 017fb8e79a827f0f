//! Small programs with loops that an explorer gets wrong that leaves out rounds carelessly.
//!
//! A round without effect can be left out if the rest of the execution does not depend on it. Each program here depends on
//! one part of that argument. The expected outcomes are in the words of [`describe`](super::outcomes::describe), or name a
//! race.

use raddle_core::model::Model;

/// A program, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Trap {
    /// What is easily forgotten.
    pub name: &'static str,
    /// The script.
    pub text: &'static str,
    /// The model.
    pub model: Model,
    /// Whether rounds store or take locks. Executions do not end then, unless such rounds are left out.
    pub rounds_change_memory: bool,
    /// All outcomes, or all races.
    pub expected: &'static [&'static str],
}

/// All traps.
pub const TRAPS: &[Trap] = &[
    Trap {
        name: "others are tried if a source was left out",
        text: "y = 0; z = 0
            thread a { r = add z 1 }
            thread b { loop { s = load y; if s == 1 { break } } }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0, b spins at b.0: s = load y"],
    },
    Trap {
        name: "a thread spins though another one can still read",
        text: "y = 0; x = 0
            thread a { r = load y acq; fence rel; s = load x }
            thread b { loop { swap x 1 rel; t = load y acq; if t == 1 { break } } }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 s=0, b spins at b.0: swap x 1 rel", "a r=0 s=1, b spins at b.0: swap x 1 rel"],
    },
    Trap {
        name: "livelocks are looked for at dead ends",
        text: "x = 0
            thread a { loop { r = cas x 0 1; if r == 1 { break } } }
            thread b { s = add x 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=1, b s=0", "a r=1, b s=1", "a spins at a.0: r = cas x 0 1, b s=1"],
    },
    Trap {
        name: "an acquiring read does not stand for a relaxed one",
        text: "x = 0; y = 0
            thread a { store y 1; store x 1 rel }
            thread b { r = load x acq; if r == 0 { r = load x }; s = load y }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["b r=0 s=0", "b r=0 s=1", "b r=1 s=0", "b r=1 s=1"],
    },
    Trap {
        name: "a relaxed read in a round with an acquiring one",
        text: "x = 0; y = 0
            thread a { store y 1; store x 1 rel }
            thread b { loop { r = load x; if r == 1 { break }; r = load x acq; if r == 1 { break } }; s = load y }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["b s=0 r=1", "b s=1 r=1"],
    },
    Trap {
        name: "states differ in a value that is read late",
        text: "x = 0; y = 0
            thread a { store x 1; store y 2 }
            thread b { loop { s = load y; if s == 2 { t = r; break }; if s == 1 { break }; r = load x } }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["b s=2 r=0 t=0", "b s=2 r=1 t=1"],
    },
    Trap {
        name: "states differ in a register that is a result",
        text: "x = 0
            thread a { store x 1 }
            thread b { loop { r = load x; if r != 0 { break }; s = load x } }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["b r=1 s=0", "b r=1 s=1"],
    },
    Trap {
        name: "pending plain reads race",
        text: "z = 0
            thread a { loop { r = load z na; if r == 2 { break } } }
            thread b { store z 1 }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["race of a.0: r = load z na with b.0: store z 1"],
    },
    Trap {
        name: "updates that were left out race",
        text: "z = 0
            thread a { loop { r = cas z 0 0; if r == 1 { break } } }
            thread b { s = load z na }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["race of a.0: r = cas z 0 0 with b.0: s = load z na"],
    },
    Trap {
        name: "nobody is skipped after a cut",
        text: "x = 0; y = 0
            thread a { t = load y; loop { s = load x; if t != 0 { break }; r = load y; if r == 1 { break } } }
            thread b { r = cas x 1 0 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a spins at a.1: s = load x, b r=0"],
    },
    Trap {
        name: "nobody is skipped after a cut of same-value updates",
        text: "y = 0; z = 0
            thread a { loop { r = load z; cas z r 2 } }
            thread b { r = add y 1; s = cas z 1 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a spins at a.0: r = load z, b r=0 s=0", "a spins at a.0: r = load z, b r=0 s=2"],
    },
    Trap {
        name: "a question that may repeat itself is not cut",
        text: "x = 0; y = 0
            thread a { r = load y; s = load x; if s == 0 { loop { t = load x; if t == 2 { break } } } }
            thread b { r = cas x 0 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 s=1 t=0, b r=0", "a spins at a.3: t = load x, b r=0"],
    },
    Trap {
        name: "a value that is only read in what was cut",
        text: "x = 0; y = 0
            thread a { loop { r = load x; if r == 0 { break }; s = load y; if s == r { break } } ; t = load y }
            thread b { store x 1; store y 1; store x 2 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a spins at a.0: r = load x", "a t=0 r=0 s=0", "a t=1 r=0 s=0", "a t=1 r=1 s=1"],
    },
    Trap {
        name: "a failed compare-exchange empties the buffer",
        text: "x = 0; y = 0; z = 0
            thread a { store x 1; cas z 1 2; r = load y }
            thread b { store y 1; cas z 1 2; r = load x }",
        model: Model::Tso,
        rounds_change_memory: false,
        expected: &["a r=0, b r=1", "a r=1, b r=0", "a r=1, b r=1"],
    },
    Trap {
        name: "a failed compare-exchange in a round empties the buffer",
        text: "x = 0; y = 0; z = 0
            thread a { store x 1; loop { _, ok = cas z 1 2; if ok == 0 { break } }; r = load y }
            thread b { store y 1; fence; r = load x }",
        model: Model::Pso,
        rounds_change_memory: false,
        expected: &["a r=0 ok=0, b r=1", "a r=1 ok=0, b r=0", "a r=1 ok=0, b r=1"],
    },
    Trap {
        name: "readers of a same-value update read its source",
        text: "x = 0; y = 0
            thread a { loop { r = add x 0 ar; if r == 1 { break } } }
            thread b { store y 1; store x 1 rel }
            thread c { r = load x acq; s = load y }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["a r=1, c r=0 s=0", "a r=1, c r=0 s=1", "a r=1, c r=1 s=1"],
    },
    Trap {
        name: "a counter of rounds is an effect",
        text: "x = 0
            thread a { loop { r = load x; n = n + 1; if r == 1 || n == 2 { break } } }
            thread b { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 n=2", "a r=1 n=1", "a r=1 n=2"],
    },
    Trap {
        name: "rounds with a failing assertion",
        text: "x = 0
            thread a { loop { r = load x; assert r != 2; if r == 1 { break } } }
            thread b { store x 2; store x 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a fails at a.1: assert r != 2", "a r=1"],
    },
    Trap {
        name: "fences in rounds",
        text: "x = 0; y = 0
            thread a { loop { r = load x; fence acq; if r == 1 { break } }; s = load y }
            thread b { store y 1; fence rel; store x 1 }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["a s=1 r=1"],
    },
    Trap {
        name: "threads that spin on each other",
        text: "x = 0; y = 0
            thread a { loop { r = load y; if r == 1 { break } }; store x 1 }
            thread b { loop { r = load x; if r == 1 { break } }; store y 1 }
            thread c { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=1, b r=1"],
    },
    Trap {
        name: "weak compare-exchanges do not fail forever",
        text: "x = 0
            thread a { loop { _, ok = casw x 0 1; if ok == 1 { break } } }
            thread b { store x 2 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a ok=1", "a spins at a.0: _, ok = casw x 0 1"],
    },
    Trap {
        name: "choices do not go on forever",
        text: "x = 0
            thread a { loop { c = choose 2; if c == 1 { break }; r = load x } }
            thread b { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a c=1 r=0", "a c=1 r=1"],
    },
    Trap {
        name: "a store buffer is emptied while its thread spins",
        text: "x = 0; y = 0
            thread a { store x 1; loop { r = load y; if r == 1 { break } } }
            thread b { store y 1; loop { r = load x; if r == 1 { break } } }",
        model: Model::Tso,
        rounds_change_memory: false,
        expected: &["a r=1, b r=1"],
    },
    Trap {
        name: "a thread waits for a lock whose holder spins",
        text: "x = 0; lock m
            thread a { lock m; loop { r = load x; if r == 1 { break } }; unlock m }
            thread b { lock m; store x 1; unlock m }",
        model: Model::Rc11,
        rounds_change_memory: false,
        expected: &["a r=1", "a spins at a.1: r = load x, b waits at b.0: lock m"],
    },
    Trap {
        name: "a node of the thread's own that somebody reads",
        text: "p = 0; x = 0
            thread a { loop { r = load x; store p r + 1 rel; _, ok = cas x r 2; if ok == 1 { break } } }
            thread b { s = load p acq; store x 1 }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["a r=0 ok=1, b s=0", "a r=0 ok=1, b s=1", "a r=1 ok=1, b s=0", "a r=1 ok=1, b s=1"],
    },
    Trap {
        name: "a round stores another value than it found",
        text: "x = 0; own = 0
            thread a { store own 0; loop { r = load x; if r == 1 { break }; store own 1 }; s = load own }
            thread b { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a s=0 r=1", "a s=1 r=1"],
    },
    Trap {
        name: "another thread has stored the location since",
        text: "x = 0; f = 0; own = 0
            thread a { store own 5; store f 1 rel; loop { r = load x acq; if r != 0 { break } }; if r == 1 { store own 5; r = load x acq }; s = load own }
            thread b { loop { t = load f acq; if t == 1 { break } }; store own 7; store x 1 rel; store x 2 rel }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["a r=1 s=5, b t=1", "a r=2 s=5, b t=1", "a r=2 s=7, b t=1"],
    },
    Trap {
        name: "a thread polls in a critical section",
        text: "x = 0; lock m
            thread a { loop { lock m; r = load x; unlock m; if r == 1 { break } } }
            thread b { lock m; store x 1; unlock m }",
        model: Model::Rc11,
        rounds_change_memory: true,
        expected: &["a r=1"],
    },
    Trap {
        name: "a round that keeps its lock is no round",
        text: "x = 0; lock m
            thread a { loop { lock m; r = load x; if r == 1 { unlock m; break }; store x 1; unlock m } }
            thread b { lock m; s = load x; unlock m }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a r=1, b s=0", "a r=1, b s=1"],
    },
    Trap {
        name: "two reads that are left out race",
        text: "x = 0
            thread a { loop { r = load x na } }
            thread b { loop { r = or x 0 } }",
        model: Model::Sra,
        rounds_change_memory: false,
        expected: &["race of a.0: r = load x na with b.0: r = or x 0"],
    },
    Trap {
        name: "an acquire fence tells in which order counters were updated",
        text: "x = 0; d = 0; e = 0
            thread a { store d 1; add x 1 rel; fence acq; s = load e }
            thread b { store e 1; add x 1 rel; fence acq; r = load d }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["a s=0, b r=1", "a s=1, b r=0", "a s=1, b r=1"],
    },
    Trap {
        name: "an acquiring update tells in which order counters were updated",
        text: "x = 0; d = 0; e = 0
            thread a { store d 1; add x 1 ar; s = load e }
            thread b { store e 1; add x 1 ar; r = load d }",
        model: Model::C20,
        rounds_change_memory: false,
        expected: &["a s=0, b r=1", "a s=1, b r=0", "a s=1, b r=1"],
    },
    Trap {
        name: "every update acquires under ra",
        text: "x = 0; d = 0; e = 0
            thread a { store d 1; add x 1; s = load e }
            thread b { store e 1; add x 1; r = load d }",
        model: Model::Ra,
        rounds_change_memory: false,
        expected: &["a s=0, b r=1", "a s=1, b r=0", "a s=1, b r=1"],
    },
    Trap {
        name: "an update of a counter empties the store buffer",
        text: "x = 0; d = 0; e = 0
            thread a { store d 1; add x 1; s = load e }
            thread b { store e 1; add x 1; r = load d }",
        model: Model::Pso,
        rounds_change_memory: false,
        expected: &["a s=0, b r=1", "a s=1, b r=0", "a s=1, b r=1"],
    },
    Trap {
        name: "a read among updates of a counter",
        text: "x = 0
            thread a { add x 1 }
            thread b { add x 2 }
            thread c { r = load x }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["c r=0", "c r=1", "c r=2", "c r=3"],
    },
    Trap {
        name: "updates of a counter that do not commute",
        text: "x = 1
            thread main { spawn a; spawn b; join a; join b; r = load x }
            thread a { add x 1 }
            thread b { and x 1 }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["main r=0", "main r=2"],
    },
    Trap {
        name: "a read before the thread's own update of a counter",
        text: "x = 0
            thread a { r = load x; add x 1 }
            thread b { add x 1 }",
        model: Model::Tso,
        rounds_change_memory: false,
        expected: &["a r=0", "a r=1"],
    },
    Trap {
        name: "a read after some updates of a counter, and an update after the read",
        text: "x = 0; y = 0
            thread main { spawn c; spawn b; spawn a; join a; r = load x; store y 2 }
            thread a { add x 1 }
            thread b { s = load y; add x 1 }
            thread c { store y 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["main r=1, b s=0", "main r=1, b s=1", "main r=1, b s=2", "main r=2, b s=0", "main r=2, b s=1"],
    },
    Trap {
        name: "a round that stores what others read is no round",
        text: "x = 1; lock m
            thread a { loop { lock m; r = load x; if r == 0 { unlock m; break }; store x 0; r = load x; unlock m } }
            thread b { lock m; unlock m; s = load x }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a r=0, b s=0", "a r=0, b s=1"],
    },
    Trap {
        name: "a round that updates what others read is no round",
        text: "x = 2; lock m
            thread a { loop { lock m; r = sub x 1; unlock m; if r == 1 { break } } }
            thread b { lock m; unlock m; s = load x }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a r=1, b s=0", "a r=1, b s=1", "a r=1, b s=2"],
    },
    Trap {
        name: "a thread that keeps its lock waits for itself",
        text: "x = 0; lock m
            thread a { loop { lock m; r = load x; if r == 1 { break } } }
            thread b { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a r=1", "a waits at a.0: lock m"],
    },
    Trap {
        name: "a counter of rounds that store private memory",
        text: "x = 0; own = 0
            thread a { loop { store own 1; r = load x; n = n + 1; if r == 1 || n == 2 { break } } }
            thread b { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 n=2", "a r=1 n=1", "a r=1 n=2"],
    },
    Trap {
        name: "a thread polls in a critical section forever",
        text: "x = 0; lock m
            thread a { loop { lock m; r = load x; unlock m; if r == 1 { break } } }
            thread b { lock m; s = load x; unlock m }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a spins at a.0: lock m, b s=0"],
    },
    Trap {
        name: "a thread waits for a lock that is free if its round is left out",
        text: "x = 0; lock m
            thread a { loop { r = load x; if r == 1 { break }; lock m; unlock m } }
            thread b { lock m; unlock m; store x 1 }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a r=1"],
    },
    Trap {
        name: "two ways to the same state store different values",
        text: "x = 0; z = 0
            thread a { r = load x; if r == 1 { store z 1 } else { r = load x; if r == 1 { store z 2 } }; s = load x }
            thread b { store x 1 }
            thread c { t = load z }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 s=0, c t=0", "a r=0 s=1, c t=0", "a r=1 s=1, c t=0", "a r=1 s=1, c t=1", "a r=1 s=1, c t=2"],
    },
    Trap {
        name: "two ways to the same state store different values besides private ones",
        text: "x = 0; z = 0; own = 0
            thread a { store own 5; r = load x; if r == 1 { store z 1 } else { store own 5; r = load x; if r == 1 { store z 2 } }; s = load x }
            thread b { store x 1 }
            thread c { t = load z }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 s=0, c t=0", "a r=0 s=1, c t=0", "a r=1 s=1, c t=0", "a r=1 s=1, c t=1", "a r=1 s=1, c t=2"],
    },
    Trap {
        name: "two ways with the same private stores lead to different states",
        text: "x = 0; own = 0
            thread a { store own 5; r = load x; if r == 1 { k = 1 } else { store own 5; r = load x; if r == 1 { k = 2 } }; s = load x }
            thread b { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 s=0 k=0", "a r=0 s=1 k=0", "a r=1 s=1 k=1", "a r=1 s=1 k=2"],
    },
    Trap {
        name: "a confirmed read left another private value",
        text: "x = 1; own = 0
            thread a { store own 5; r = load x; if r == 1 { store own 1; r = load x }; r = swap x 6; u = load own }
            thread b { store x 0 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 u=1", "a r=0 u=5", "a r=1 u=1"],
    },
    Trap {
        name: "a confirmed read with private stores led to another state",
        text: "x = 1; own = 0
            thread a { store own 5; r = load x; k = r; if r == 1 { store own 5; r = load x }; r = swap x 6 }
            thread b { store x 0 }",
        model: Model::Sc,
        rounds_change_memory: false,
        expected: &["a r=0 k=0", "a r=0 k=1", "a r=1 k=1"],
    },
    Trap {
        name: "an update leaves another value than it reads",
        text: "x = 0; own = 0
            thread a { r = add own 1; loop { r = load x; if r == 1 { break }; store own 0 }; s = load own }
            thread b { store x 1 }",
        model: Model::Sc,
        rounds_change_memory: true,
        expected: &["a r=1 s=0", "a r=1 s=1"],
    },
    Trap {
        name: "a round that is left out races with what another thread does later",
        text: "x = 0; d = 0; z = 0
            thread c { store z 1 }
            thread e { store x 2 }
            thread a { loop { r = load x acq; if r == 1 { break }; t = load d na }; t = 0 }
            thread b { q = load z; store d 1 na; store x 1 rel }",
        model: Model::Rc20,
        rounds_change_memory: false,
        expected: &["race of a.4: t = load d na with b.1: store d 1 na"],
    },
    Trap {
        name: "a private store that empties the store buffer",
        text: "x = 0; y = 0; z = 0; own = 0
            thread a { store own 5; store y 1; r = load x; if r == 1 { store own 5 rel } else { r = load x; if r == 1 { store own 5 } }; s = load x; store z 1 }
            thread b { store x 1 }
            thread c { t = load z; u = load y }",
        model: Model::Pso,
        rounds_change_memory: false,
        expected: &["a r=0 s=0, c t=0 u=0", "a r=0 s=0, c t=0 u=1", "a r=0 s=0, c t=1 u=0", "a r=0 s=0, c t=1 u=1", "a r=0 s=1, c t=0 u=0", "a r=0 s=1, c t=0 u=1", "a r=0 s=1, c t=1 u=0", "a r=0 s=1, c t=1 u=1", "a r=1 s=1, c t=0 u=0", "a r=1 s=1, c t=0 u=1", "a r=1 s=1, c t=1 u=0", "a r=1 s=1, c t=1 u=1"],
    },
    Trap {
        name: "a private store separates accesses of one location",
        text: "x = 0; z = 0; w = 0; own = 0
            thread a { store own 5; r = load x; if r == 1 { k = 1 } else { r = load x }
                if r == 1 { if k == 0 { store own 5 }; store z 1 sc; if k == 1 { store own 5 }; store z 2 rel; k = 0 } }
            thread b { store x 1 }
            thread c { t = load z acq; if t == 2 { u = load w sc } }
            thread d { store w 1 sc; v = load z sc }",
        model: Model::C20,
        rounds_change_memory: false,
        expected: &["a r=0 k=0, c t=0 u=0, d v=0", "a r=1 k=0, c t=0 u=0, d v=0", "a r=1 k=0, c t=0 u=0, d v=1", "a r=1 k=0, c t=0 u=0, d v=2", "a r=1 k=0, c t=1 u=0, d v=0", "a r=1 k=0, c t=1 u=0, d v=1", "a r=1 k=0, c t=1 u=0, d v=2", "a r=1 k=0, c t=2 u=0, d v=0", "a r=1 k=0, c t=2 u=0, d v=1", "a r=1 k=0, c t=2 u=0, d v=2", "a r=1 k=0, c t=2 u=1, d v=0", "a r=1 k=0, c t=2 u=1, d v=1", "a r=1 k=0, c t=2 u=1, d v=2"],
    },
];
