//! The command line.

use std::ffi::OsString;

use raddle_cli::{Ignored, Selection};

/// Options of `raddle check`, and whether they have a value.
const OWN: [(&str, bool); 19] = [
    ("--model", true),
    ("--timeout", true),
    ("--jobs", true),
    ("--max-executions", true),
    ("--max-events", true),
    ("--max-memory", true),
    ("--unroll", true),
    ("--explorer", true),
    ("--by", true),
    ("--iterations", true),
    ("--seed", true),
    ("--depth", true),
    ("--leaks", false),
    ("--spurious", false),
    ("--keep-going", false),
    ("--no-livelock", false),
    ("--no-races", false),
    ("--json", false),
    ("--classes", false),
];

/// Options of `cargo test` that have a value in the next argument.
const CARGO_VALUES: [&str; 20] = [
    "-p",
    "--package",
    "--exclude",
    "--bin",
    "--example",
    "--test",
    "--bench",
    "-F",
    "--features",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--profile",
    "-Z",
    "--config",
    "--color",
    "-j",
    "--lockfile-path",
    "-C",
    "--message-format",
];

/// Options of `cargo test` that contradict what is done with them here.
const REFUSED: [(&str, &str); 4] = [
    ("--doc", "documentation tests cannot be explored"),
    ("--bench", "benchmarks cannot be explored"),
    ("--benches", "benchmarks cannot be explored"),
    ("--message-format", "use --json for the results of tests"),
];

/// What the command line asks for.
pub(crate) enum Request {
    Help,
    Version,
    Test(Arguments),
}

/// The arguments of `cargo raddle test`.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Those for `cargo test`.
    pub(crate) cargo: Vec<OsString>,
    /// Those for `raddle check`.
    pub(crate) options: Vec<OsString>,
    pub(crate) selection: Selection,
    /// The directory for compiled files, if it is given.
    pub(crate) target_directory: Option<OsString>,
    /// The target, if it is given.
    pub(crate) target: Option<String>,
    /// Tests are compiled and not explored.
    pub(crate) is_no_run: bool,
}

impl Arguments {
    pub(crate) fn parse(args: Vec<OsString>) -> Result<Request, String> {
        let mut args = args.into_iter();
        match args.next().as_ref().and_then(|command| command.to_str()) {
            Some("test" | "t") => {}
            Some("--version" | "-V") => return Ok(Request::Version),
            None | Some("--help" | "-h" | "help") => return Ok(Request::Help),
            Some(other) => {
                return Err(format!("unknown command {other:?}: expected `cargo raddle test`"));
            }
        }
        let mut parsed = Arguments::default();
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy().into_owned();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (text.as_str(), None),
            };
            if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
                return Err(format!("{name}: {reason}"));
            }
            match name {
                "--help" | "-h" => return Ok(Request::Help),
                "--" => {
                    parsed.harness(&mut args)?;
                    break;
                }
                "--no-run" => parsed.is_no_run = true,
                "--target" => parsed.target = Some(required(name, value, &mut args)?),
                "--target-dir" => {
                    parsed.target_directory = Some(required(name, value, &mut args)?.into());
                }
                "--classes" => parsed.options.push("--exact".into()),
                _ => match OWN.iter().find(|(own, _)| *own == name) {
                    Some((_, has_value)) => {
                        parsed.options.push(name.into());
                        if *has_value {
                            parsed.options.push(required(name, value, &mut args)?.into());
                        }
                    }
                    None => parsed.cargo_argument(arg, value.is_some(), &mut args)?,
                },
            }
        }
        Ok(Request::Test(parsed))
    }

    /// An argument of `cargo test`: an option, or the name of a test.
    fn cargo_argument(
        &mut self,
        arg: OsString,
        has_value: bool,
        args: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), String> {
        let text = arg.to_string_lossy();
        if !text.starts_with('-') {
            self.selection.filters.push(text.into_owned());
            return Ok(());
        }
        let needs_value = !has_value && CARGO_VALUES.contains(&&*text);
        let value = match needs_value {
            true => Some(args.next().ok_or_else(|| format!("{text} needs a value"))?),
            false => None,
        };
        self.cargo.push(arg);
        self.cargo.extend(value);
        Ok(())
    }

    /// The arguments after `--`, which `cargo test` passes to the harness.
    fn harness(&mut self, args: &mut impl Iterator<Item = OsString>) -> Result<(), String> {
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy().into_owned();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (text.as_str(), None),
            };
            let selection = &mut self.selection;
            match name {
                "--exact" => selection.is_exact = true,
                "--ignored" => selection.ignored = Ignored::Only,
                "--include-ignored" => selection.ignored = Ignored::Include,
                "--list" => selection.is_list = true,
                "--skip" => selection.skip.push(required(name, value, args)?),
                "--nocapture" | "--no-capture" | "--show-output" | "-q" | "--quiet" => {}
                "--test-threads" | "--color" | "--format" => {
                    required(name, value, args)?;
                }
                _ if name.starts_with('-') => {
                    return Err(format!("{name} is not known: tests do not run in their harness"));
                }
                _ => selection.filters.push(text),
            }
        }
        Ok(())
    }
}

/// The value of an option, which may be the next argument.
fn required(
    name: &str,
    value: Option<String>,
    args: &mut impl Iterator<Item = OsString>,
) -> Result<String, String> {
    let next = || args.next().map(|next| next.to_string_lossy().into_owned());
    value.or_else(next).ok_or_else(|| format!("{name} needs a value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &str) -> Result<Arguments, String> {
        let args = args.split_whitespace().map(OsString::from).collect();
        match Arguments::parse(args)? {
            Request::Test(arguments) => Ok(arguments),
            _ => Err(String::from("no test")),
        }
    }

    #[test]
    fn options_are_cargos_the_harnesses_or_ours() {
        let it = parse(
            "test --release --model sc,tso -p mine --timeout=5 name --classes -- other --skip a --ignored",
        );
        let it = it.expect("the arguments are valid");
        assert_eq!(it.cargo, ["--release", "-p", "mine"]);
        assert_eq!(it.options, ["--model", "sc,tso", "--timeout", "5", "--exact"]);
        assert_eq!(it.selection.filters, ["name", "other"]);
        assert_eq!(it.selection.skip, ["a"]);
        assert_eq!(it.selection.ignored, Ignored::Only);
    }

    #[test]
    fn invalid_arguments_are_refused_with_the_reason() {
        let error = |args: &str| parse(args).map(|_| ()).unwrap_err();
        assert_eq!(error("tset"), "unknown command \"tset\": expected `cargo raddle test`");
        assert_eq!(error("test --model"), "--model needs a value");
        assert_eq!(error("test --doc"), "--doc: documentation tests cannot be explored");
        assert_eq!(
            error("test -- --bench"),
            "--bench is not known: tests do not run in their harness"
        );
    }
}
