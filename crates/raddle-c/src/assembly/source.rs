//! Where in the source a line of assembly comes from, by its directives.

use std::collections::BTreeMap;

/// The files, and the last line that was named.
#[derive(Debug, Default)]
pub(super) struct Source<'a> {
    files: BTreeMap<&'a str, String>,
    last: Option<(&'a str, &'a str)>,
}

impl<'a> Source<'a> {
    /// Notes what a directive says.
    pub(super) fn follow(&mut self, line: &'a str) {
        if let Some(rest) = line.trim().strip_prefix(".loc") {
            let mut words = rest.split_whitespace();
            self.last = words.next().zip(words.next());
        } else if let Some(rest) = line.trim().strip_prefix(".file") {
            let Some((number, names)) = rest.trim().split_once(char::is_whitespace) else { return };
            let names: Vec<&str> = names.split('"').skip(1).step_by(2).collect();
            let name = match names[..] {
                [directory, name, ..] if !name.starts_with('/') => format!("{directory}/{name}"),
                [.., name] => name.to_owned(),
                [] => return,
            };
            self.files.insert(number, name);
        }
    }

    /// The last line that was named: file and number.
    pub(super) fn place(&self) -> Option<String> {
        let (file, line) = self.last?;
        Some(format!("{}:{line}", self.files.get(file)?))
    }
}
