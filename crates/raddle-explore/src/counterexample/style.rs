//! The layout of reports.

use raddle_consistency::page::Page;
use raddle_core::program::{Naming, PlaceId};

/// The layout of a report.
#[derive(Clone, Debug)]
pub struct Style {
    /// The maximal size of tables and lines.
    pub page: Page,
    /// Places below this directory are shown relative to it.
    pub directory: String,
    /// Whether to mark what matters by colours, as escape sequences.
    pub colour: bool,
    /// Show all events, rows and call stacks, also those without influence on the error.
    pub full: bool,
}

impl Default for Style {
    fn default() -> Self {
        let page = Page { width: 120, lines: 200 };
        Style { page, directory: String::new(), colour: false, full: false }
    }
}

/// How much a row matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Weight {
    /// It led to the error.
    #[default]
    Normal,
    /// It is the error.
    Error,
    /// It stands for several events that nobody else observes.
    Minor,
}

/// Marks parts of a report by colours, or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    is_on: bool,
}

impl Paint {
    /// The names of threads.
    pub(super) fn head(self, line: &str) -> String {
        self.paint(anstyle::Style::new().bold(), line)
    }

    /// A row of a table.
    pub(super) fn line(self, weight: Weight, line: &str) -> String {
        match weight {
            Weight::Normal => line.to_owned(),
            Weight::Error => {
                let red = anstyle::AnsiColor::BrightRed.on_default();
                self.paint(red.bold(), line)
            }
            Weight::Minor => self.paint(anstyle::Style::new().dimmed(), line),
        }
    }

    /// Puts a style around a text that ends with a line break.
    fn paint(self, style: anstyle::Style, line: &str) -> String {
        match (self.is_on, line.trim_end_matches('\n')) {
            (false, _) | (_, "") => line.to_owned(),
            (true, text) => format!("{style}{text}{style:#}{}", &line[text.len()..]),
        }
    }
}

/// The maximal length of a place in a report, in characters.
pub(super) const PLACE: usize = 40;

impl Style {
    /// The default layout, with places relative to the working directory.
    #[must_use]
    pub fn in_working_directory() -> Self {
        let directory = std::env::current_dir().ok();
        let directory = directory.map_or(String::new(), |path| path.to_string_lossy().into_owned());
        Style { directory, ..Style::default() }
    }

    /// The size of tables. All lines of a full report are shown.
    pub(super) fn page(&self) -> Page {
        let lines = if self.full { usize::MAX } else { self.page.lines };
        Page { lines, ..self.page }
    }

    pub(super) fn paint(&self) -> Paint {
        Paint { is_on: self.colour }
    }

    /// A place relative to the directory, shortened if it is long.
    pub(super) fn place(&self, names: &dyn Naming, place: PlaceId) -> String {
        cut_place(self.relative(&names.place(place)), PLACE)
    }

    /// The text of a place, relative to the directory.
    #[must_use]
    pub fn relative<'a>(&self, place: &'a str) -> &'a str {
        let directory = self.directory.trim_end_matches('/');
        let below = place.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
        below.filter(|_| !directory.is_empty()).unwrap_or(place)
    }
}

/// Removes leading directories of a path that is too long, or cuts off the end if that does not suffice.
pub(super) fn cut_place(place: &str, length: usize) -> String {
    if place.chars().count() <= length {
        return place.to_owned();
    }
    let fits = |at: &usize| place[*at..].chars().count() + "...".len() <= length;
    match place.match_indices('/').map(|(at, _)| at).find(fits) {
        Some(at) => format!("...{}", &place[at..]),
        None => cut_end(place, length),
    }
}

/// Replaces the end of a text that is too long by an ellipsis.
pub(super) fn cut_end(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let start: String = text.chars().take(length - "...".len()).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_lose_their_first_directories() {
        assert_eq!(cut_place("src/lib.rs:7", 12), "src/lib.rs:7");
        assert_eq!(cut_place("crates/raddle/src/lib.rs:7", 16), ".../src/lib.rs:7");
        assert_eq!(cut_place("crates/raddle/src/lib.rs:7", 15), ".../lib.rs:7");
    }

    #[test]
    fn other_long_texts_lose_their_end() {
        assert_eq!(cut_place("a.0: r = load x", 10), "a.0: r ...");
        assert_eq!(cut_place("a/a_file_with_a_long_name.rs:7", 10), "a/a_fil...");
    }

    #[test]
    fn only_places_below_the_directory_are_relative() {
        let style = Style { directory: String::from("/home/user/"), ..Style::default() };
        assert_eq!(style.relative("/home/user/a.c:1"), "a.c:1");
        assert_eq!(style.relative("/home/username/a.c:1"), "/home/username/a.c:1");
        assert_eq!(Style::default().relative("/a.c:1"), "/a.c:1");
    }
}
