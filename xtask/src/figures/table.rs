//! The figures as plain text.

use super::Figures;
use super::functions::Function;
use super::statistics::{occurrences, percentile, share};

const HEADER: [&str; 15] = [
    "crate",
    "fns",
    "lines p50",
    "p90",
    "p99",
    "max",
    "types",
    "names",
    "reuse",
    "doc pub %",
    "doc all %",
    "cyc",
    "mod",
    "file",
    "settle",
];

/// How many of the most reused names are listed.
const LISTED_NAMES: usize = 10;

/// Returns a table with a row for each element, then the most reused type names of each.
pub(super) fn print(rows: &[Figures]) -> String {
    let mut cells = vec![HEADER.map(str::to_owned)];
    cells.extend(rows.iter().map(row));
    let mut text = align(&cells);
    text.push_str("\nMost reused type names\n");
    for figures in rows {
        text.push_str(&format!("{}: {}\n", figures.label, reused_names(&figures.type_names)));
    }
    text
}

fn row(figures: &Figures) -> [String; 15] {
    let functions = &figures.functions;
    let mut lines: Vec<usize> = functions.iter().filter_map(|f| f.lines).collect();
    lines.sort_unstable();
    let public: Vec<&Function> = functions.iter().filter(|f| f.is_public).collect();
    let names = occurrences(&figures.type_names).len();
    [
        figures.label.clone(),
        functions.len().to_string(),
        optional(percentile(&lines, 50)),
        optional(percentile(&lines, 90)),
        optional(percentile(&lines, 99)),
        optional(lines.last().copied()),
        figures.type_names.len().to_string(),
        names.to_string(),
        ratio(figures.type_names.len(), names),
        optional(share(&public, |f| f.is_documented)),
        optional(share(functions, |f| f.is_documented)),
        figures.cycles.len().to_string(),
        figures.cycles.iter().max().copied().unwrap_or(0).to_string(),
        figures.largest_file_cycle.to_string(),
        functions.iter().filter(|f| f.name == "settle").count().to_string(),
    ]
}

fn optional(value: Option<usize>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

fn ratio(types: usize, names: usize) -> String {
    if names == 0 { "-".to_owned() } else { format!("{:.2}", types as f64 / names as f64) }
}

/// Aligns the first column to the left and the others to the right.
fn align(rows: &[[String; 15]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        text.push_str(&format!("{:width$}", row[0], width = width(0)));
        for (column, cell) in row.iter().enumerate().skip(1) {
            text.push_str(&format!("  {cell:>width$}", width = width(column)));
        }
        text.push('\n');
    }
    text
}

fn reused_names(names: &[String]) -> String {
    let occurrences = occurrences(names);
    let reused = occurrences.iter().filter(|(_, count)| *count > 1).take(LISTED_NAMES);
    let shown: Vec<String> = reused.map(|(name, count)| format!("{name} {count}")).collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}
