//! Replays: one execution, the recorded one.

use raddle_core::outcome::{Finding, Outcome, Verdict};
use raddle_native::{Object, Recording, Request, check_built, replay_built};

use crate::corpus::{built, compiler, directory, rows};

/// The recording of a finding.
fn recording(finding: &Finding) -> Option<Recording> {
    let (schedule, learned) = (finding.schedule.clone()?, finding.learned.clone()?);
    Some(Recording { kind: finding.kind, schedule, learned })
}

/// What is different when the finding of an exploration is replayed.
fn difference(object: &Object, request: &Request, outcome: &Outcome) -> Option<String> {
    let found = outcome.finding()?;
    let Some(recording) = recording(found) else { return Some(String::from("no recording")) };
    let again = match replay_built(object, request, &recording) {
        Ok(again) => again,
        Err(error) => return Some(error.to_string()),
    };
    let Some(finding) = again.finding() else { return Some(again.to_string()) };
    let (trace, other) = (found.trace.as_ref()?, finding.trace.as_ref()?);
    let threads = trace.trace.ends.len() as u64;
    if again.counts.executions != threads {
        return Some(format!("{} runs of {threads} threads", again.counts.executions));
    }
    let same = (finding.kind, &finding.message, &finding.place, &finding.related)
        == (found.kind, &found.message, &found.place, &found.related);
    if !same {
        return Some(format!("{finding} instead of {found}"));
    }
    (trace.trace.class() != other.trace.class()
        || trace.trace.events.len() != other.trace.events.len())
    .then(|| format!("other events: {:#?}\n{:#?}", trace.trace.events, other.trace.events))
}

/// Every finding of the corpus is replayed with the same events: every twentieth one, or all with `RADDLE_LONG=1`.
#[test]
fn findings_of_the_corpus_are_replayed() {
    let all = std::env::var_os("RADDLE_LONG").is_some();
    let chosen = std::env::var("RADDLE_CORPUS").unwrap_or_default();
    let bugs = rows().into_iter().filter(|row| row.is_bug() && row.program.contains(&chosen));
    let pairs =
        bugs.flat_map(|row| row.models.clone().into_iter().map(move |model| (row.clone(), model)));
    let (mut replayed, mut wrong) = (0, vec![]);
    for (row, model) in
        pairs.enumerate().filter(|(at, _)| all || at % 20 == 0).map(|(_, pair)| pair)
    {
        let object = built(&row.program, &row.flags, compiler(&row.program));
        let request = Request { model, ..Request::new(&[&directory().join(&row.program)]) };
        let outcome = check_built(&object, &request).expect("it can be loaded");
        assert_eq!(outcome.verdict, Verdict::Bug, "{} {model}", row.program);
        replayed += 1;
        if let Some(difference) = difference(&object, &request, &outcome) {
            wrong.push(format!("{} {:?} {model}: {difference}", row.program, row.flags));
        }
    }
    assert!(wrong.is_empty(), "{} of {replayed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(replayed >= 10 || !chosen.is_empty(), "{replayed}");
}
