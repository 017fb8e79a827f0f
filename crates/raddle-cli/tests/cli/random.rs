//! `raddle verify --recheck` on random histories.

use std::process::Output;

use super::{raddle, scratch};

/// Number of histories of each shape.
const SEEDS: usize = 12;

const SHAPES: [&str; 8] = [
    "",
    "--threads 2 --events 12 --values distinct --named-sources 1",
    "--threads 4 --events 6 --locations 3 --values 2 --named-sources 0",
    "--locks 2 --lock-share 0.4 --events 8",
    "--rmw 0.3 --cas 0.2 --values 2",
    "--threads 4 --spawn-join --events 6",
    "--store-fences 0.3 --fences 0.1 --flushes 0.05 --events 8",
    "--orders 0.6 --fences 0.1 --flushes 0.05 --events 8",
];

/// Each model with the models that allow all its executions.
const MODELS: [(&str, &str); 3] = [("sc", "sc,tso,pso"), ("tso", "tso,pso"), ("pso", "pso")];

/// Generates histories of one shape for a model and checks them under `models`.
fn verify(name: &str, generate: &str, models: &str) -> Output {
    let directory = scratch(name);
    let generate = format!("history generate --count {SEEDS} {generate} --output");
    assert!(raddle(&generate).arg(&directory).status().expect("raddle runs").success());
    let files = std::fs::read_dir(&directory).expect("a directory").map(|file| {
        let path = file.expect("a file").path();
        assert!(path.is_file());
        path
    });
    let args = format!("verify --recheck --model {models}");
    raddle(&args).args(files).output().expect("raddle runs")
}

#[test]
fn a_model_allows_histories_generated_for_it_or_a_stronger_model() {
    for shape in SHAPES {
        for (model, weaker) in MODELS {
            let output = verify("random-allowed", &format!("--model {model} {shape}"), weaker);
            assert!(output.status.success(), "{model} {shape}: {output:?}");
            let witnesses = SEEDS * weaker.split(',').count();
            let summary = format!(
                "\nrechecked: {witnesses} witnesses confirmed, 0 violations proved, 0 too large to \
                 recheck\n"
            );
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.ends_with(&summary), "{model} {shape}: {text}");
        }
    }
}

#[test]
fn verdicts_on_perturbed_histories_pass_the_recheck() {
    let mut inconsistent = 0;
    for shape in SHAPES {
        for (model, _) in MODELS {
            let generate = format!("--model {model} --perturb 2 {shape}");
            let output = verify("random-perturbed", &generate, "sc,tso,pso");
            let status = output.status.code().expect("an exit status");
            assert!(status == 0 || status == 1, "{model} {shape}: {output:?}");
            assert!(output.stderr.is_empty(), "{model} {shape}: {output:?}");
            inconsistent += usize::from(status == 1);
        }
    }
    assert!(inconsistent > SHAPES.len(), "perturbing breaks most of them");
}
