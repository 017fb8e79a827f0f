//! Text that fits on a page.

/// The size limits of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The longest line, in characters.
    pub width: usize,
    /// The most lines of one list or table; the middle of a longer one is left out.
    pub lines: usize,
}

impl Default for Page {
    fn default() -> Self {
        Page { width: 100, lines: 60 }
    }
}

impl Page {
    /// How many of `total` lines to show at the beginning and at the end.
    #[must_use]
    pub fn shown(self, total: usize) -> (usize, usize) {
        if total <= self.lines {
            return (total, 0);
        }
        let tail = self.lines / 3;
        (self.lines - tail, tail)
    }

    /// Shows a list of `total` lines. `line(i)` returns line `i`; one line stands for the omitted ones.
    #[must_use]
    pub fn list(self, total: usize, what: &str, mut line: impl FnMut(usize) -> String) -> String {
        let (head, tail) = self.shown(total);
        let mut out: String = (0..head).map(&mut line).collect();
        if head + tail < total {
            out.push_str(&format!("  {}\n", left_out(total - head - tail, what)));
        }
        out.extend((total - tail..total).map(line));
        out
    }
}

/// Breaks a line at spaces so that it fits on the page. Lines after the first are indented by `indent`. Ends with a line
/// break.
#[must_use]
pub fn wrap(text: &str, indent: usize, page: Page) -> String {
    let mut out = String::new();
    let mut at = 0;
    for word in text.split_inclusive(' ') {
        let len = word.trim_end().chars().count();
        if at > indent && at + len > page.width {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        }
        out.push_str(word);
        at += word.chars().count();
    }
    out.push('\n');
    out
}

/// The line that stands for `count` omitted entries of a list.
#[must_use]
pub fn left_out(count: usize, what: &str) -> String {
    format!("... {count} more {what} ...")
}
