//! Text in columns.

/// A row of a [`Grid`].
pub(super) enum GridRow {
    /// Cells by column; a column without a cell stays empty.
    Cells(Vec<(usize, String)>),
    /// A line across all columns.
    Line(String),
}

/// A table with a head for each column.
pub(super) struct Grid {
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<GridRow>,
}

/// The spaces between two columns.
const GAP: usize = 2;

impl Grid {
    /// The table as text, or nothing if it is wider than `width` characters.
    pub(super) fn render(&self, width: usize) -> Option<String> {
        let widths = self.widths();
        let total = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        if total > width {
            return None;
        }
        let heads: Vec<_> = self.heads.iter().cloned().enumerate().collect();
        let mut out = line(&widths, &heads);
        for row in &self.rows {
            match row {
                GridRow::Cells(cells) => out.push_str(&line(&widths, cells)),
                GridRow::Line(text) => out.extend([text, "\n"]),
            }
        }
        Some(out)
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.heads.iter().map(|head| head.chars().count()).collect();
        for row in &self.rows {
            let GridRow::Cells(cells) = row else { continue };
            for (column, text) in cells {
                widths[*column] = widths[*column].max(text.chars().count());
            }
        }
        widths
    }
}

/// One line of cells, sorted by column, without spaces at its end.
fn line(widths: &[usize], cells: &[(usize, String)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    let starts: Vec<usize> = widths
        .iter()
        .scan(0, |next, width| {
            let start = *next;
            *next += width + GAP;
            Some(start)
        })
        .collect();
    for (column, text) in cells {
        out.extend(std::iter::repeat_n(' ', starts[*column] - at));
        out.push_str(text);
        at = starts[*column] + text.chars().count();
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let heads = vec!["a".to_owned(), "long head".to_owned(), "c".to_owned()];
        let cell = |column, text: &str| (column, text.to_owned());
        let rows = vec![
            GridRow::Cells(vec![cell(0, "wide"), cell(2, "x")]),
            GridRow::Line("...".to_owned()),
            GridRow::Cells(vec![cell(1, "y")]),
        ];
        Grid { heads, rows }
    }

    #[test]
    fn columns_are_aligned_and_lines_end_without_spaces() {
        let text = grid().render(80).expect("it fits");
        assert_eq!(text, "a     long head  c\nwide             x\n...\n      y\n");
    }

    #[test]
    fn a_grid_that_is_too_wide_is_refused() {
        assert!(grid().render(18).is_some());
        assert!(grid().render(17).is_none());
    }
}
