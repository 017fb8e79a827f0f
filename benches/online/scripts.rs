//! The programs as scripts: their threads go on for long, and the run is cut.

/// What a program is called, and what it is.
pub(super) const PROGRAMS: [(&str, &str); 3] = [
    (
        "dekker",
        "x = 0; y = 0; c = 0
         thread a { repeat 10000 { repeat 10000 {
             store x 1 sc; r = load y sc
             if r == 0 { s = load c rlx; store c s + 1 rlx }
             store x 0 rel } } }
         thread b { repeat 10000 { repeat 10000 {
             store y 1 sc; r = load x sc
             if r == 0 { s = load c rlx; store c s + 1 rlx }
             store y 0 rel } } }",
    ),
    (
        "lamport",
        "x = 0; y = 0; b = [0, 0, 0]
         thread t0 { repeat 10000 { repeat 10000 {
             store b[0] 1 rel; store x 1 rel; fence sc; r = load y acq
             if r == 0 { store y 1 rel; fence sc; s = load x acq
                 if s == 1 { store y 0 rel } }
             store b[0] 0 rel } } }
         thread t1 { repeat 10000 { repeat 10000 {
             store b[1] 1 rel; store x 2 rel; fence sc; r = load y acq
             if r == 0 { store y 2 rel; fence sc; s = load x acq
                 if s == 2 { store y 0 rel } }
             store b[1] 0 rel } } }
         thread t2 { repeat 10000 { repeat 10000 {
             store b[2] 1 rel; store x 3 rel; fence sc; r = load y acq
             if r == 0 { store y 3 rel; fence sc; s = load x acq
                 if s == 3 { store y 0 rel } }
             store b[2] 0 rel } } }",
    ),
    (
        "mutex",
        "l = 0; c = 0
         thread a { repeat 10000 { repeat 10000 {
             r, ok = cas l 0 1 acq rlx
             if ok == 1 { s = load c rlx; store c s + 1 rlx; store l 0 rel } } } }
         thread b { repeat 10000 { repeat 10000 {
             r, ok = cas l 0 1 acq rlx
             if ok == 1 { s = load c rlx; store c s + 1 rlx; store l 0 rel } } } }",
    ),
];
