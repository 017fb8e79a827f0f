//! Builds and checks a program: `check MODEL FILE.. [-- FLAG.. [-- ARGUMENT..]]`. Prints the verdict, the numbers of classes, and times.

use raddle_native::{Request, build, check_built};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (files, flags) = match args.iter().position(|arg| arg == "--") {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => (&args[..], &[][..]),
    };
    let [model, files @ ..] = files else {
        eprintln!("usage: check MODEL FILE.. [-- FLAG.. [-- ARGUMENT..]]");
        return ExitCode::from(2);
    };
    let Ok(model) = model.parse() else { return ExitCode::from(2) };
    let files: Vec<&Path> = files.iter().map(Path::new).collect();
    let mut request = Request { model, ..Request::new(&files) };
    let mut halves = flags.splitn(2, |flag| flag == "--");
    request.source.flags = halves.next().unwrap_or_default().to_vec();
    request.arguments = halves.next().unwrap_or_default().to_vec();
    let start = Instant::now();
    let outcome = build(&request.source).and_then(|object| {
        eprintln!("built in {:?}", start.elapsed());
        check_built(&object, &request)
    });
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!("{:?} {:?}", outcome.verdict, outcome.bound);
    for finding in &outcome.findings {
        println!("{:?}: {} ({:?})", finding.kind, finding.message, finding.place);
        if let Some(trace) = &finding.trace {
            println!("{}", trace.printed);
        }
    }
    println!("{} + {} classes", outcome.counts.classes, outcome.counts.blocked);
    eprintln!("start {:.4} s, all {:.4} s", outcome.counts.start_up, outcome.counts.seconds);
    ExitCode::SUCCESS
}
