//! Former spellings of commands.
//!
//! `raddle verify --generate`, `--convert FORMAT` and `--stats` are now `raddle history generate`,
//! `convert --format FORMAT` and `stats`. Command lines in the former spelling are translated before they are parsed, so
//! that help texts show only the current one.

use std::ffi::{OsStr, OsString};

/// Translates a command line, with the name of the program in front, to the current spelling.
pub(super) fn translate(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let arguments: Vec<OsString> = arguments.collect();
    let is_verify = arguments.get(1).is_some_and(|command| command == "verify");
    let options = arguments.iter().skip(2).take_while(|argument| *argument != "--");
    let command = options.filter_map(|option| command(option)).next();
    let Some(command) = command.filter(|_| is_verify) else { return arguments };
    let mut rest = arguments.into_iter();
    let mut translated: Vec<OsString> = rest.by_ref().take(1).collect();
    translated.extend(["history", command].map(OsString::from));
    for argument in rest.skip(1) {
        translated.extend(option(argument, command));
    }
    translated
}

/// The command that an option of `raddle verify` used to stand for.
fn command(option: &OsStr) -> Option<&'static str> {
    match option.to_str()? {
        "--generate" => Some("generate"),
        "--stats" => Some("stats"),
        option if option == "--convert" || option.starts_with("--convert=") => Some("convert"),
        _ => None,
    }
}

/// An option of a translated command. The one that stood for the command disappears, or becomes `--format`.
fn option(argument: OsString, command: &str) -> Option<OsString> {
    match (argument.to_str(), command) {
        (Some("--generate"), "generate") | (Some("--stats"), "stats") => None,
        (Some(text), "convert") => match text.strip_prefix("--convert") {
            Some(format) if format.is_empty() || format.starts_with('=') => {
                Some(format!("--format{format}").into())
            }
            _ => Some(argument),
        },
        _ => Some(argument),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> String {
        let words = translate(line.split(' ').map(OsString::from));
        let words: Vec<_> = words.iter().map(|word| word.to_str().expect("UTF-8")).collect();
        words.join(" ")
    }

    #[test]
    fn former_spellings_are_translated() {
        let pairs = [
            ("raddle verify --generate --seed 3", "raddle history generate --seed 3"),
            ("raddle verify --seed 3 --generate", "raddle history generate --seed 3"),
            ("raddle verify --convert text a", "raddle history convert --format text a"),
            ("raddle verify a --convert=text", "raddle history convert a --format=text"),
            ("raddle verify --stats a b", "raddle history stats a b"),
        ];
        for (former, current) in pairs {
            assert_eq!(translated(former), current);
            assert_eq!(translated(current), current);
        }
    }

    #[test]
    fn other_command_lines_are_unchanged() {
        for line in
            ["raddle", "raddle verify a", "raddle verify -- --stats", "raddle check --stats"]
        {
            assert_eq!(translated(line), line);
        }
    }
}
