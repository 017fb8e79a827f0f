//! `raddle verify --recheck`.

use insta::assert_snapshot;

use super::run;

#[test]
fn the_summary_follows_the_reasons() {
    assert_snapshot!(run("verify --recheck examples/store-buffering.txt"), @r"
exit 1
--- stdout
history                       sc            tso         pso
examples/store-buffering.txt  inconsistent  consistent  consistent

examples/store-buffering.txt, sc: P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next

rechecked: 2 witnesses confirmed, 1 violation proved, 0 too large to recheck
--- stderr
");
}

#[test]
fn the_summary_follows_the_explanations() {
    assert_snapshot!(run("verify --recheck --explain --model sc examples/spawn-join.txt"), @r"
exit 0
--- stdout
history                  sc
examples/spawn-join.txt  consistent

examples/spawn-join.txt, sc: consistent
A run that sc allows:

step  main                  left                   right
   1  .0 W data 7
   2  .1 SPAWN left
   3  .2 SPAWN right
   4                        .0 R data 7 <- main.0
   5                                               .0 R data 7 <- main.0
   6                        .1 W a 7
   7  .3 JOIN left
   8                                               .1 W b 14
   9  .4 JOIN right
  10  .5 R a 7 <- left.1
  11  .6 R b 14 <- right.1

rechecked: 1 witness confirmed, 0 violations proved, 0 too large to recheck
--- stderr
");
}

#[test]
fn with_json_the_summary_goes_to_standard_error() {
    assert_snapshot!(run("verify --recheck --json --model sc examples/lost-update.txt"), @r#"
exit 1
--- stdout
{"version":2,"history":"examples/lost-update.txt","model":"sc","verdict":"inconsistent","violation":{"kind":"cycle","message":"P0.0 and P1.0 both update counter from its initial value","cycle":[{"from":"init counter","to":"P1.0","why":"program"},{"from":"P1.0","to":"init counter","why":"before-source","read":"P0.0"}],"derivation":[{"from":"P1.0","to":"P0.0","why":"before-overwrite","source":"init counter"},{"from":"P1.0","to":"init counter","why":"before-source","read":"P0.0"}]}}
--- stderr
rechecked: 0 witnesses confirmed, 1 violation proved, 0 too large to recheck
"#);
}

#[test]
fn a_core_is_searched_again() {
    assert_snapshot!(run("verify --recheck --no-closure --model pso examples/iriw.txt"), @r"
exit 1
--- stdout
history            pso
examples/iriw.txt  inconsistent

examples/iriw.txt, pso: pso has no order for the whole execution

rechecked: 0 witnesses confirmed, 1 violation proved, 0 too large to recheck
--- stderr
");
}

#[test]
fn nothing_to_recheck() {
    let args = "verify --recheck --budget 0 --no-closure --model sc examples/iriw.txt";
    assert_snapshot!(run(args), @r"
exit 3
--- stdout
history            sc
examples/iriw.txt  unknown

examples/iriw.txt, sc: given up after 0 steps: a larger --budget may decide it

rechecked: 0 witnesses confirmed, 0 violations proved, 0 too large to recheck
--- stderr
");
}

#[test]
fn no_history_to_recheck() {
    assert_snapshot!(run("verify --recheck examples/nowhere.txt"), @r"
exit 2
--- stdout
--- stderr
examples/nowhere.txt: cannot read: No such file or directory (os error 2)
");
}
