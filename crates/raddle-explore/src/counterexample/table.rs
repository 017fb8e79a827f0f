//! Tables with one column for each thread.
//!
//! Every row has the text of at most one thread, so the text may extend below the heads of the columns to the
//! right. Columns are as wide as their texts if the page is wide enough, otherwise at least as wide as their
//! heads. If even that is too wide, the table is a list: every row starts with the name of its thread, and texts that are too
//! long go on in the next line.

use raddle_consistency::page::{Page, left_out, wrap};

use super::style::{Paint, Weight};

/// A row: what a thread did, how memory changed, and the place in the source.
#[derive(Default)]
pub(super) struct Line {
    /// The number of the event, or those of a run.
    pub(super) step: String,
    /// The column of the thread.
    pub(super) column: Option<usize>,
    pub(super) text: String,
    pub(super) memory: String,
    pub(super) place: String,
    pub(super) weight: Weight,
}

/// A table with a column for each thread.
pub(super) struct Table {
    pub(super) heads: Vec<String>,
    /// Whether there is a column for changes of memory.
    pub(super) has_memory: bool,
    pub(super) lines: Vec<Line>,
}

/// The number of spaces between two columns.
const GAP: usize = 2;

/// The offsets at which columns start.
struct Starts {
    threads: Vec<usize>,
    memory: usize,
    place: usize,
    end: usize,
}

fn width(text: &str) -> usize {
    text.chars().count()
}

impl Table {
    /// Returns `true` if a text contains a name that ends with a number.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let is_mentioned = |text: &str| {
            let ends = text.match_indices(name).map(|(at, _)| at + name.len());
            let goes_on = |at: usize| text[at..].starts_with(|next: char| next.is_ascii_digit());
            ends.into_iter().any(|at| !goes_on(at))
        };
        self.lines.iter().any(|line| is_mentioned(&line.text) || is_mentioned(&line.memory))
    }

    /// The table as text, with the colours of `paint`.
    pub(super) fn render(&self, page: Page, paint: Paint) -> String {
        let layouts = [self.wide(), self.balanced(page), self.narrow()];
        let layouts = layouts.map(|widths| self.starts(&widths));
        match layouts.iter().find(|starts| starts.end <= page.width) {
            Some(starts) => {
                let heads = paint.head(&self.head(starts));
                heads + &self.body(page, |line| paint.line(line.weight, &self.row(starts, line)))
            }
            None => {
                let head = self.list_head();
                self.body(page, |line| paint.line(line.weight, &self.named(&head, line, page)))
            }
        }
    }

    /// The width of the numbers of rows.
    fn number(&self) -> usize {
        self.lines.iter().map(|line| width(&line.step)).max().unwrap_or(0)
    }

    /// Columns as wide as their texts.
    fn wide(&self) -> Vec<usize> {
        let mut widths = self.narrow();
        for line in &self.lines {
            if let Some(column) = line.column {
                widths[column] = widths[column].max(width(&line.text));
            }
        }
        widths
    }

    /// Columns as wide as their heads, plus an equal share of the remaining width as far as they need it.
    fn balanced(&self, page: Page) -> Vec<usize> {
        let spare = page.width.saturating_sub(self.starts(&self.narrow()).end);
        let share = spare / self.heads.len().max(1);
        let widths = self.narrow().into_iter().zip(self.wide());
        widths.map(|(narrow, wide)| wide.min(narrow + share)).collect()
    }

    /// Columns as wide as their heads.
    fn narrow(&self) -> Vec<usize> {
        self.heads.iter().map(|head| width(head)).collect()
    }

    fn starts(&self, widths: &[usize]) -> Starts {
        let mut threads = vec![self.number() + GAP];
        for own in widths {
            threads.push(threads[threads.len() - 1] + own + GAP);
        }
        let texts = self.lines.iter().filter_map(|line| {
            let column = line.column?;
            Some(threads[column] + width(&line.text) + GAP)
        });
        let memory = texts.chain(threads.last().copied()).max().unwrap_or(0);
        let widest = |text: fn(&Line) -> &String, head: &str| {
            let widths = self.lines.iter().map(|line| width(text(line)));
            widths.chain([width(head)]).max().unwrap_or(0)
        };
        let place = match self.has_memory {
            true => memory + widest(|line| &line.memory, MEMORY) + GAP,
            false => memory,
        };
        Starts { threads, memory, place, end: place + widest(|line| &line.place, "") }
    }

    fn head(&self, starts: &Starts) -> String {
        let mut out = String::new();
        for (head, &start) in self.heads.iter().zip(&starts.threads) {
            put(&mut out, start, head);
        }
        if self.has_memory {
            put(&mut out, starts.memory, MEMORY);
        }
        out + "\n"
    }

    fn row(&self, starts: &Starts, line: &Line) -> String {
        let mut out = format!("{:>1$}", line.step, self.number());
        if let Some(column) = line.column {
            put(&mut out, starts.threads[column], &line.text);
        }
        put(&mut out, starts.memory, &line.memory);
        put(&mut out, starts.place, &line.place);
        out.truncate(out.trim_end().len());
        out + "\n"
    }

    /// The widths of the numbers and of the names of threads in a list.
    fn list_head(&self) -> [usize; 2] {
        [self.number(), self.heads.iter().map(|head| width(head)).max().unwrap_or(0)]
    }

    /// A row of a list: it starts with the name of its thread.
    fn named(&self, &[number, name]: &[usize; 2], line: &Line, page: Page) -> String {
        let head = line.column.map_or(MEMORY, |column| &self.heads[column]);
        let mut out = format!("{:>number$}  {head:<name$}  ", line.step);
        let indent = width(&out) + GAP;
        out += &line.text;
        if !line.memory.is_empty() {
            out += if line.text.is_empty() { "" } else { "; memory: " };
            out += &line.memory;
        }
        if !line.place.is_empty() {
            out += "  ";
            out += &line.place;
        }
        wrap(&out, indent.min(page.width / 2), page)
    }

    /// All lines, or the first and the last ones if there are too many for the page.
    fn body(&self, page: Page, render: impl Fn(&Line) -> String) -> String {
        let total = self.lines.len();
        let (head, tail) = page.shown(total);
        let mut out: String = self.lines[..head].iter().map(&render).collect();
        if head + tail < total {
            out += &format!("{}\n", left_out(total - head - tail, "rows"));
        }
        out.extend(self.lines[total - tail..].iter().map(render));
        out
    }
}

/// The head of the column for memory.
const MEMORY: &str = "memory";

/// Appends text to a line at an offset.
fn put(line: &mut String, start: usize, text: &str) {
    if !text.is_empty() {
        line.extend(std::iter::repeat_n(' ', start.saturating_sub(width(line))));
        line.push_str(text);
    }
}
