//! Explores C or C++ files: `cargo run -p raddle-c --example explore -- MODEL FILE... [-- FLAG...]`.

use std::path::Path;

use raddle_c::{Request, check};
use raddle_explore::counterexample::{self, Style};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut halves = arguments.split(|argument| argument == "--");
    let (Some([model, files @ ..]), flags) = (halves.next(), halves.next()) else {
        println!("expected a model and a file");
        return;
    };
    let Ok(model) = model.parse() else {
        println!("{model} is no model");
        return;
    };
    let files: Vec<&Path> = files.iter().map(Path::new).collect();
    let mut request = Request { model, ..Request::new(&files) };
    request.source.flags = flags.unwrap_or_default().to_vec();
    match check(&request) {
        Ok(outcome) => {
            for finding in &outcome.findings {
                print!("{}", counterexample::report(finding, &Style::in_working_directory()));
            }
            println!("{:?}: {}", outcome.verdict, outcome.counts_text());
            println!("start-up: {:.3} s", outcome.counts.start_up);
        }
        Err(error) => println!("{error}"),
    }
}
