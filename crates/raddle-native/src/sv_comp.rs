//! Properties and task definitions of the competition on software verification (SV-COMP).
//!
//! A property says which kinds of findings are errors. All others end an execution. A task definition is a YAML file that
//! names the files of a program, the files of properties, and the data model. Only the part of YAML is read that task definitions
//! use.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use raddle_core::outcome::{FindingKind, KindSet};

/// A property of SV-COMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// No error function is called, and no assertion fails.
    UnreachCall,
    /// No two conflicting accesses are unordered.
    NoDataRace,
    /// Every access is within an object that is live, and no memory leaks.
    ValidMemsafety,
    /// Threads do not wait for each other forever.
    NoDeadlock,
}

/// The names of all properties.
const NAMES: [(&str, Property); 4] = [
    ("unreach-call", Property::UnreachCall),
    ("no-data-race", Property::NoDataRace),
    ("valid-memsafety", Property::ValidMemsafety),
    ("no-deadlock", Property::NoDeadlock),
];

impl FromStr for Property {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(known, _)| *known == name).map(|(_, property)| *property);
        known.ok_or_else(|| {
            let names = NAMES.map(|(name, _)| name).join(", ");
            format!("property {name} is not supported: expected {names}, or a .prp file with one of them")
        })
    }
}

impl Property {
    /// The name in SV-COMP.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, property)| *property == self).map_or("", |(name, _)| name)
    }

    /// The property of this name, or in this `.prp` file.
    ///
    /// # Errors
    /// If there is no such property, or the file cannot be read or contains something else.
    pub fn read(text: &str) -> Result<Property, String> {
        if !text.ends_with(".prp") {
            return text.parse();
        }
        let contents =
            fs::read_to_string(text).map_err(|why| format!("{text}: cannot read: {why}"))?;
        Property::of_specification(&contents).map_err(|why| format!("{text}: {why}"))
    }

    /// The property that the text of a `.prp` file states.
    fn of_specification(text: &str) -> Result<Property, String> {
        let mut properties = vec![];
        for line in
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let words: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
            let formula = words
                .strip_prefix("CHECK(init(main()),LTL(")
                .and_then(|rest| rest.strip_suffix("))"));
            properties.push(match formula {
                Some("G!call(reach_error())" | "G!call(__VERIFIER_error())") => {
                    Property::UnreachCall
                }
                Some("G!data-race") => Property::NoDataRace,
                Some("Gvalid-free" | "Gvalid-deref" | "Gvalid-memtrack") => {
                    Property::ValidMemsafety
                }
                Some("G!deadlock") => Property::NoDeadlock,
                _ => return Err(format!("property '{line}' is not supported")),
            });
        }
        match properties[..] {
            [first, ..] if properties.iter().all(|property| *property == first) => Ok(first),
            [] => Err(String::from("the file states no property")),
            _ => Err(String::from("the file states several properties: pass a file with one")),
        }
    }

    /// The kinds of findings that are errors.
    fn errors(self) -> &'static [FindingKind] {
        use FindingKind as K;
        match self {
            Property::UnreachCall => &[K::Assertion],
            Property::NoDataRace => &[K::Race],
            Property::ValidMemsafety => &[
                K::Crash,
                K::StackOverflow,
                K::UseAfterFree,
                K::UseAfterReturn,
                K::DoubleFree,
                K::Leak,
                K::HeapOverflow,
            ],
            Property::NoDeadlock => &[K::Deadlock],
        }
    }

    /// The kinds of findings that are no errors. What Raddle does not model is always reported.
    #[must_use]
    pub fn ignored(self) -> KindSet {
        let always = [FindingKind::Unsupported, FindingKind::Nondeterminism];
        let reported: KindSet = self.errors().iter().copied().chain(always).collect();
        reported.complement()
    }
}

/// A task definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskDefinition {
    /// The files of the program.
    pub input_files: Vec<PathBuf>,
    /// The files of the properties.
    pub property_files: Vec<PathBuf>,
    /// Pointers and `long` have 32 bits.
    pub is_ilp32: bool,
}

impl TaskDefinition {
    /// Reads a task definition. Paths are relative to it.
    ///
    /// # Errors
    /// If it cannot be read, is no task definition, or is not about a C program.
    pub fn read(path: &Path) -> Result<TaskDefinition, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read: {error}"))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        TaskDefinition::parse(&text, directory)
    }

    fn parse(text: &str, directory: &Path) -> Result<TaskDefinition, String> {
        let mut task = TaskDefinition::default();
        let mut key = String::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.split(" #").next().unwrap_or(line).trim_end();
            let (indentation, content) = (line.len() - line.trim_start().len(), line.trim_start());
            if content.is_empty() || content.starts_with('#') || content == "---" {
                continue;
            }
            let item = content.strip_prefix("- ").map(str::trim);
            let (name, value) = match item.unwrap_or(content).split_once(':') {
                Some((name, value)) if value.is_empty() || value.starts_with(' ') => {
                    (name, value.trim())
                }
                _ if item.is_some() => ("", item.unwrap_or_default()),
                _ => return Err(format!("{number}: expected 'key: value' of a task definition")),
            };
            if indentation == 0 && item.is_none() {
                name.clone_into(&mut key);
            }
            let paths = || unquoted_list(value).into_iter().map(|file| directory.join(file));
            match (key.as_str(), name) {
                ("input_files", "input_files" | "") => task.input_files.extend(paths()),
                ("properties", "property_file") => task.property_files.extend(paths()),
                ("options", "language") if unquoted(value) != "C" => {
                    return Err(format!("{number}: language {value} is not supported: expected C"));
                }
                ("options", "data_model") => task.is_ilp32 = unquoted(value) == "ILP32",
                _ => {}
            }
        }
        if task.input_files.is_empty() {
            return Err(String::from("no task definition of SV-COMP: it has no input_files"));
        }
        Ok(task)
    }

    /// The properties of the task that are supported.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn properties(&self) -> Result<Vec<Property>, String> {
        let mut properties = vec![];
        for file in &self.property_files {
            let text = fs::read_to_string(file)
                .map_err(|error| format!("{}: cannot read: {error}", file.display()))?;
            properties.extend(Property::of_specification(&text).ok());
        }
        Ok(properties)
    }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

/// The words of a list in brackets, or a single one.
fn unquoted_list(text: &str) -> Vec<&str> {
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let words = list.map_or_else(|| vec![text], |list| list.split(',').collect());
    words.into_iter().map(unquoted).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_state_properties() {
        let of = Property::of_specification;
        let reach = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n\n";
        assert_eq!(of(reach), Ok(Property::UnreachCall));
        assert_eq!(of("CHECK( init(main()), LTL(G ! data-race) )"), Ok(Property::NoDataRace));
        let safety = "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n\
                      CHECK( init(main()), LTL(G valid-memtrack) )\n";
        assert_eq!(of(safety), Ok(Property::ValidMemsafety));
        let overflow = "CHECK( init(main()), LTL(G ! overflow) )";
        assert_eq!(of(overflow), Err(format!("property '{overflow}' is not supported")));
        let both = format!("{reach}CHECK( init(main()), LTL(G ! data-race) )");
        assert!(of(&both).unwrap_err().contains("several properties"));
        assert_eq!(
            "termination".parse::<Property>().unwrap_err(),
            "property termination is not supported: expected unreach-call, no-data-race, valid-memsafety, no-deadlock, \
             or a .prp file with one of them"
        );
    }

    #[test]
    fn a_property_ignores_all_other_kinds() {
        let ignored = Property::UnreachCall.ignored();
        assert!(ignored.contains(FindingKind::Abort) && ignored.contains(FindingKind::Race));
        assert!(!ignored.contains(FindingKind::Assertion));
        assert!(!ignored.contains(FindingKind::Unsupported));
    }

    #[test]
    fn task_definitions_are_read() {
        let text = "format_version: '2.0'\n\n# old file name\ninput_files: 'a.i'\n\nproperties:\n  - property_file: ../p/u.prp\n    \
                    expected_verdict: true\n  - property_file: \"../p/r.prp\"\n\noptions:\n  language: C\n  data_model: ILP32\n";
        let task = TaskDefinition::parse(text, Path::new("d")).expect("a task");
        assert_eq!(task.input_files, [Path::new("d/a.i")]);
        assert_eq!(task.property_files, [Path::new("d/../p/u.prp"), Path::new("d/../p/r.prp")]);
        assert!(task.is_ilp32);
        let list = "input_files:\n  - \"a.c\"\n  - b.c\noptions:\n  data_model: LP64\n";
        let task = TaskDefinition::parse(list, Path::new("")).expect("a task");
        assert_eq!(task.input_files, [Path::new("a.c"), Path::new("b.c")]);
        let inline =
            TaskDefinition::parse("input_files: [a.c, 'b.c']", Path::new("")).expect("a task");
        assert_eq!((inline.input_files.len(), inline.is_ilp32), (2, false));
        let error =
            TaskDefinition::parse("input_files: a\noptions:\n  language: Java", Path::new(""));
        assert_eq!(error.unwrap_err(), "3: language Java is not supported: expected C");
        assert!(TaskDefinition::parse("x: y", Path::new("")).unwrap_err().contains("input_files"));
        assert_eq!(
            TaskDefinition::parse("input_files: a\nb", Path::new("")).unwrap_err(),
            "2: expected 'key: value' of a task definition"
        );
    }
}
