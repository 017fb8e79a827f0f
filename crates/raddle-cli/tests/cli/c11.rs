//! `raddle verify` under the C11 models.

use insta::assert_snapshot;

use super::{raddle, run, scratch};

/// Histories with memory orders.
const EXAMPLES: &str = "examples/race.txt examples/relaxed-flag.txt examples/release-acquire.txt \
    examples/store-buffering-sc.txt";

#[test]
fn histories_with_memory_orders_under_all_models() {
    assert_snapshot!(run(&format!("verify --model all --recheck {EXAMPLES}")), @r"
exit 1
--- stdout
history                          sc   tso  pso  sra  ra   wra  rc20  relaxed  rc11  c20
examples/race.txt                yes  yes  yes  yes  yes  yes  race  race     race  race
examples/relaxed-flag.txt        no   no   yes  no   no   no   yes   yes      yes   yes
examples/release-acquire.txt     yes  yes  yes  yes  yes  yes  yes   race     yes   yes
examples/store-buffering-sc.txt  no   no   no   yes  yes  yes  yes   yes      no    no
yes: consistent, no: inconsistent, race: undefined because of a data race, ?: unknown

examples/race.txt, rc20, relaxed, rc11, c20: P0.0 and P1.1 race on data: W data 42 and R data 42 are not ordered by happens-before, and neither is atomic
examples/relaxed-flag.txt, sc, tso: P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
examples/relaxed-flag.txt, sra, ra: read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before the read
examples/relaxed-flag.txt, wra: weak-read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before the read
examples/release-acquire.txt, relaxed: P0.0 and P1.1 race on data: W data 42 and R data 42 are not ordered by happens-before, and neither is atomic
examples/store-buffering-sc.txt, sc, tso, pso: P0.0 -> P0.1 -> P1.0 -> P1.1 -> P0.0 must each come before the next
examples/store-buffering-sc.txt, rc11, c20: seq-cst: a cycle P0.0 -po-> P0.1 -fr-> P1.0 -po-> P1.1 -fr-> P0.0

rechecked: 25 witnesses confirmed, 15 violations proved, 0 too large to recheck
--- stderr
");
}

#[test]
fn plain_histories_race_unless_something_orders_them() {
    let files = "examples/message-passing.jsonl examples/spawn-join.txt examples/lock.txt";
    assert_snapshot!(run(&format!("verify --model ra,c20 --recheck {files}")), @r"
exit 1
--- stdout
history                         ra            c20
examples/message-passing.jsonl  race          race
examples/spawn-join.txt         consistent    consistent
examples/lock.txt               inconsistent  inconsistent

examples/message-passing.jsonl, ra, c20: P0.0 and P1.1 race on data: W data 42 and R data 42 are not ordered by happens-before, and neither is atomic
examples/lock.txt, ra, c20: read-coherence: P1.1 reads n = 0 from init n, but P0.2 overwrites it and happens before the read

rechecked: 2 witnesses confirmed, 4 violations proved, 0 too large to recheck
--- stderr
");
}

#[test]
fn a_cycle_explained() {
    assert_snapshot!(run("verify --model wra --explain examples/relaxed-flag.txt"), @r"
exit 1
--- stdout
history                    wra
examples/relaxed-flag.txt  inconsistent

examples/relaxed-flag.txt, wra: inconsistent
weak-read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before
  the read.

wra demands weak-read-coherence: no read observes a write if another write of the location happens
  after that one and before the read. Under wra, every atomic read acquires and every atomic write
  releases.

  init data  the initial value 0
             -hb-> P0.0: initial values are there from the start
  P0.0  W.rlx data 42
        -hb-> P1.1: it happens before, by P0.0 -po-> P0.1 -sw-> P1.0 -po-> P1.1
          P0.1 synchronizes with P1.0: it releases flag, and P1.0 reads that and acquires
  P1.1  R.rlx data 0 <- init
        -rf⁻¹-> init data: P1.1 reads the initial value of data
  init data  again: a cycle
--- stderr
");
}

#[test]
fn modification_orders_explained() {
    assert_snapshot!(run("verify --model c20 --explain examples/release-acquire.txt"), @r"
exit 0
--- stdout
history                       c20
examples/release-acquire.txt  consistent

examples/release-acquire.txt, c20: consistent
c20 allows these reads with the modification orders below:

P0               P1
.0 W data 42     .0 R.acq flag 1 <- P0.1
.1 W.rel flag 1  .1 R data 42 <- P0.0

The modification orders, in which all threads see the writes of a location:

  data: init data (0) -> P0.0 (42)
  flag: init flag (0) -> P0.1 (1)
--- stderr
");
}

#[test]
fn evidence_in_json() {
    assert_snapshot!(run(&format!("verify --model c20 --json {EXAMPLES}")), @r#"
exit 1
--- stdout
{"version":2,"history":"examples/race.txt","model":"c20","verdict":"inconsistent","violation":{"kind":"race","message":"P0.0 and P1.1 race on data: W data 42 and R data 42 are not ordered by happens-before, and neither is atomic","first":"P0.0","second":"P1.1","location":"data"}}
{"version":2,"history":"examples/relaxed-flag.txt","model":"c20","verdict":"consistent","witness":{"rf":{"P1.0":"P0.1","P1.1":"init data"},"mo":{"data":["init data","P0.0"],"flag":["init flag","P0.1"]}}}
{"version":2,"history":"examples/release-acquire.txt","model":"c20","verdict":"consistent","witness":{"rf":{"P1.0":"P0.1","P1.1":"P0.0"},"mo":{"data":["init data","P0.0"],"flag":["init flag","P0.1"]}}}
{"version":2,"history":"examples/store-buffering-sc.txt","model":"c20","verdict":"inconsistent","violation":{"kind":"axiom","message":"seq-cst: a cycle P0.0 -po-> P0.1 -fr-> P1.0 -po-> P1.1 -fr-> P0.0","axiom":"seq-cst","cycle":[{"from":"P0.0","to":"P0.1","relation":"po"},{"from":"P0.1","to":"P1.0","relation":"fr"},{"from":"P1.0","to":"P1.1","relation":"po"},{"from":"P1.1","to":"P0.0","relation":"fr"}],"derivation":[{"from":"init y","to":"P1.0","why":"happens-before"},{"from":"init x","to":"P0.0","why":"happens-before"}]}}
--- stderr
"#);
    assert_snapshot!(run("verify --model ra,wra --json examples/relaxed-flag.txt"), @r#"
exit 1
--- stdout
{"version":2,"history":"examples/relaxed-flag.txt","model":"ra","verdict":"inconsistent","violation":{"kind":"axiom","message":"read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before the read","axiom":"read-coherence","cycle":[{"from":"P1.1","to":"P0.0","relation":"fr"},{"from":"P0.0","to":"P1.1","relation":"hb"}],"derivation":[{"from":"init data","to":"P0.0","why":"happens-before"}]}}
{"version":2,"history":"examples/relaxed-flag.txt","model":"wra","verdict":"inconsistent","violation":{"kind":"axiom","message":"weak-read-coherence: P1.1 reads data = 0 from init data, but P0.0 overwrites it and happens before the read","axiom":"weak-read-coherence","cycle":[{"from":"init data","to":"P0.0","relation":"hb"},{"from":"P0.0","to":"P1.1","relation":"hb"},{"from":"P1.1","to":"init data","relation":"rf⁻¹"}],"derivation":[]}}
--- stderr
"#);
}

#[test]
fn verdicts_on_random_histories_pass_the_recheck() {
    let shapes = [
        "--orders 1 --values distinct --named-sources 1",
        "--orders 1 --values 2 --named-sources 0.5 --locks 0",
        "--orders 0.9 --rmw 0.3 --cas 0.2 --locks 0",
        "--orders 1 --fences 0.3 --store-fences 0.1",
        "--orders 1 --spawn-join --threads 4",
        "--lock-share 0.4 --locks 2",
    ];
    let mut inconsistent = 0;
    for shape in shapes {
        let directory = scratch("c11-random");
        let generate =
            format!("history generate --model pso --count 12 --perturb 1 {shape} --output");
        assert!(raddle(&generate).arg(&directory).status().expect("raddle runs").success());
        let files = std::fs::read_dir(&directory).expect("a directory");
        let files = files.map(|file| file.expect("a file").path());
        let verify = "verify --model all --recheck";
        let output = raddle(verify).args(files).output().expect("raddle runs");
        let status = output.status.code().expect("an exit status");
        assert!(status == 0 || status == 1, "{shape}: {output:?}");
        assert!(output.stderr.is_empty(), "{shape}: {output:?}");
        inconsistent += usize::from(status == 1);
    }
    assert_eq!(inconsistent, shapes.len(), "something is wrong in each");
}
