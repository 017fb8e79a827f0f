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
}

impl Default for Style {
    fn default() -> Self {
        Style { page: Page { width: 120, lines: 200 }, directory: String::new() }
    }
}

/// The maximal length of a place in a report, in characters.
const PLACE: usize = 40;

impl Style {
    /// The default layout, with places relative to the working directory.
    #[must_use]
    pub fn in_working_directory() -> Self {
        let directory = std::env::current_dir().ok();
        let directory = directory.map_or(String::new(), |path| path.to_string_lossy().into_owned());
        Style { directory, ..Style::default() }
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
fn cut_place(place: &str, length: usize) -> String {
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
