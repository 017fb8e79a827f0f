//! Checks a C program and prints the report: `bounded MODEL SMA ROUNDS UNWIND BITS FILE [FLAG...]`.

use raddle_bmc::{Abstraction, BmcOptions, check};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, sma, rounds, unwind, bits, file, flags @ ..] = &arguments[..] else {
        eprintln!("usage: bounded sc|tso|pso stamps|simple|etso ROUNDS UNWIND BITS FILE [FLAG...]");
        std::process::exit(2);
    };
    let mut options = BmcOptions::new(file);
    options.model = model.parse().expect("the first argument is a memory model");
    options.abstraction = match sma.as_str() {
        "stamps" => Abstraction::Stamps,
        "simple" => Abstraction::Simple,
        _ => Abstraction::Etso,
    };
    options.rounds = rounds.parse().expect("ROUNDS is a number");
    options.unwind = unwind.parse().expect("UNWIND is a number");
    options.bits = bits.parse().ok().filter(|&bits| bits > 0);
    options.flags = flags.to_vec();
    match check(&options) {
        Ok(report) => println!("{report:#?}"),
        Err(error) => println!("error: {error}"),
    }
}
