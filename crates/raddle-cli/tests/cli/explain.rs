//! `raddle verify --explain`.

use insta::assert_snapshot;

use super::{run, run_with};

#[test]
fn a_cycle_and_a_run() {
    assert_snapshot!(run("verify --explain --model sc,tso examples/store-buffering.txt"), @r"
exit 1
--- stdout
history                       sc            tso
examples/store-buffering.txt  inconsistent  consistent

examples/store-buffering.txt, sc: inconsistent
P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next:

  P0.0  W x 1
        comes before P0.1: sc keeps this program order of P0
  P0.1  R y 0 <- init
        comes before P1.0: P0.1 reads the initial value of y, which P1.0 overwrites
  P1.0  W y 1
        comes before P1.1: sc keeps this program order of P1
  P1.1  R x 0 <- init
        comes before P0.0: P1.1 reads the initial value of x, which P0.0 overwrites
  P0.0  again: a cycle

examples/store-buffering.txt, tso: consistent
A run that tso allows, with the moment when each store reaches memory:

step  P0                P1                memory
   1  .0 W x 1
   2  .1 R y 0 <- init
   3                    .0 W y 1
   4                    .1 R x 0 <- init
   5                                      x = 1 (P0.0)
   6                                      y = 1 (P1.0)
--- stderr
");
}

#[test]
fn a_run_under_pso() {
    assert_snapshot!(run("verify --explain --model pso examples/message-passing.txt"), @r"
exit 0
--- stdout
history                       pso
examples/message-passing.txt  consistent

examples/message-passing.txt, pso: consistent
A run that pso allows, with the moment when each store reaches memory:

step  P0            P1                   memory
   1  .0 W data 42
   2  .1 W flag 1
   3                                     flag = 1 (P0.1)
   4                .0 R flag 1 <- P0.1
   5                .1 R data 0 <- init
   6                                     data = 42 (P0.0)
--- stderr
");
}

#[test]
fn a_lock() {
    assert_snapshot!(run("verify --explain --model sc,tso examples/lock.txt"), @r"
exit 1
--- stdout
history            sc            tso
examples/lock.txt  inconsistent  inconsistent

examples/lock.txt, sc: inconsistent
P0.2 -> P0.3 -> P1.0 -> P1.1 -> P0.2 must each come before the next:

  P0.2  W n 1
        comes before P0.3: sc keeps this program order of P0
  P0.3  UNLOCK m
        comes before P1.0: P1.0 takes m from P0.3
  P1.0  LOCK m <- P0.3
        comes before P1.1: sc keeps this program order of P1
  P1.1  R n 0
        comes before P0.2: P1.1 reads the initial value of n, which P0.2 overwrites
  P0.2  again: a cycle

examples/lock.txt, tso: inconsistent
P0.2 -> P0.3 -> P1.0 -> P1.1 -> P0.2 must each come before the next:

  P0.2  W n 1
        reaches memory before P0.3 runs: tso keeps this program order of P0
  P0.3  UNLOCK m
        comes before P1.0: P1.0 takes m from P0.3
  P1.0  LOCK m <- P0.3
        comes before P1.1: tso keeps this program order of P1
  P1.1  R n 0
        comes before P0.2 reaches memory: P1.1 reads the initial value of n, which P0.2 overwrites
  P0.2  again: a cycle
--- stderr
");
}

#[test]
fn a_lost_update() {
    assert_snapshot!(run("verify --explain --model pso examples/lost-update.txt"), @r"
exit 1
--- stdout
history                   pso
examples/lost-update.txt  inconsistent

examples/lost-update.txt, pso: inconsistent
P0.0 and P1.0 both update counter from its initial value.

So these two must each come before the other:

  init counter  the initial value 0
                comes before P1.0: initial values are there from the start
  P1.0  RMW counter 0 1
        comes before init counter: P1.0 comes before P0.0, and P0.0 reads the initial value of
          counter: later than init counter, P1.0 would hide it
  init counter  again: a cycle

This rests on:

  P1.0 comes before P0.0: P1.0 reads the initial value of counter, which P0.0 overwrites
--- stderr
");
}

#[test]
fn reads_with_values_only() {
    assert_snapshot!(run("verify --explain --model sc examples/several-sources.txt"), @r"
exit 0
--- stdout
history                       sc
examples/several-sources.txt  consistent

examples/several-sources.txt, sc: consistent
A run that sc allows:

step  P0                P1                P2
   1  .0 W x 1
   2                                      .0 R x 1 <- P0.0
   3                    .0 W x 2
   4                                      .1 R x 2 <- P1.0
   5                    .1 W x 1
   6                    .2 R y 0 <- init
   7                    .3 R x 1 <- P1.1
   8                                      .2 R x 1 <- P1.1
   9  .1 W y 2
  10  .2 R x 1 <- P1.1
  11                                      .3 W x 1
--- stderr
");
}

#[test]
fn a_read_without_a_source() {
    let history = "P0: W x 1; W x 2; R x 1\nP1: W x 1; R x 2; R x 1; R x 2\n";
    assert_snapshot!(run_with("verify --explain --model sc -", history), @r"
exit 1
--- stdout
history  sc
-        inconsistent

-, sc: inconsistent
P0.2 reads x = 1, but each of its possible sources is ruled out:

  P0.2  R x 1
    not from P0.0: P0.1, a store of its own thread, comes after P0.0
    not from P1.0: P0.1, a store of its own thread, comes after P1.0

This rests on:

  P1.0 comes before P0.1: P1.1 reads x from P0.1 and not what its own thread stored there last
    (P1.0), so P0.1 has overwritten that
--- stderr
");
}

#[test]
fn spawn_and_join() {
    let history = "P0: SPAWN P1; W x 1; JOIN P1; R x 1\nP1: W x 2; R x 1; W x 3\n";
    assert_snapshot!(run_with("verify --explain --model pso -", history), @r"
exit 1
--- stdout
history  pso
-        inconsistent

-, pso: inconsistent
P0.3 reads x from P0.1 after P1.2 has overwritten it.

So these two must each come before the other:

  P1.2  W x 3
        reaches memory before P0.3 runs: spawn and join keep this order of P1 and P0
  P0.3  R x 1
        comes before P1.2 reaches memory: P0.3 reads x from P0.1, which P1.2 overwrites
  P1.2  again: a cycle

This rests on:

  P0.1 reaches memory before P1.1 runs: P1.1 reads x from P0.1
--- stderr
");
}

#[test]
fn a_core() {
    assert_snapshot!(run("verify --explain --no-closure --model sc examples/iriw.txt"), @r"
exit 1
--- stdout
history            sc
examples/iriw.txt  inconsistent

examples/iriw.txt, sc: inconsistent
sc allows no order of these events, as an exhaustive search found. It does allow every part of the
execution with fewer events.

P0        P1        P2                P3
.0 W x 1  .0 W y 1  .0 R x 1 <- P0.0  .0 R y 1 <- P1.0
                    .1 R y 0 <- init  .1 R x 0 <- init
--- stderr
");
}

#[test]
fn a_core_is_smaller_than_the_history() {
    let history = "P0: W x 1; R y 0; W z 1\nP1: W y 1; R x 0; R z 0\nP2: W z 5\n";
    assert_snapshot!(run_with("verify --explain --no-closure --model sc -", history), @r"
exit 1
--- stdout
history  sc
-        inconsistent

-, sc: inconsistent
sc allows no order of these events, as an exhaustive search found. It does allow every part of the
execution with fewer events.

P0        P1
.0 W x 1  .0 W y 1
.1 R y 0  .1 R x 0
--- stderr
");
}

#[test]
fn nothing_to_explain() {
    let args = "verify --explain --budget 0 --no-closure --model tso examples/iriw.txt";
    assert_snapshot!(run(args), @r"
exit 3
--- stdout
history            tso
examples/iriw.txt  unknown

examples/iriw.txt, tso: unknown
given up after 0 steps: a larger --budget may decide it
--- stderr
");
    assert_snapshot!(run_with("verify --explain --model sc -", "P0:\n"), @r"
exit 0
--- stdout
history  sc
-        consistent

-, sc: consistent
There is nothing to do: sc allows the empty run.
--- stderr
");
}
