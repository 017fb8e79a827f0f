//! Tables of texts and numbers.

use serde_json::{Value, json};

/// What a table holds: a text for people, and its value.
#[derive(Clone)]
pub(crate) struct Cell {
    text: String,
    value: Value,
}

impl Cell {
    /// A number that is shown in some way.
    pub(crate) fn number(text: String, value: f64) -> Cell {
        Cell { text, value: json!(value) }
    }
}

impl<T: ToString + Into<Value>> From<T> for Cell {
    fn from(value: T) -> Cell {
        Cell { text: value.to_string(), value: value.into() }
    }
}

/// A row of cells of any kind.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::table::Cell::from($cell)),*] };
}
pub(crate) use row;

/// A table whose columns are as wide as they must be.
pub(crate) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(header: &[&'static str]) -> Self {
        Table { header: header.to_vec(), rows: vec![] }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The values of each row with the heads of their columns.
    pub(crate) fn values(&self) -> impl Iterator<Item = Vec<(String, Value)>> + '_ {
        self.rows.iter().map(|row| {
            let values = self.header.iter().zip(row);
            values.map(|(head, cell)| (head.replace([' ', '/'], "_"), cell.value.clone())).collect()
        })
    }

    pub(crate) fn print(&self) {
        let width = |(column, head): (usize, &&str)| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0);
            widest.max(head.chars().count())
        };
        let widths: Vec<usize> = self.header.iter().enumerate().map(width).collect();
        let print = |texts: Vec<&str>| {
            let cells = texts.iter().zip(&widths).map(|(text, &width)| format!("{text:>width$}"));
            println!("  {}", cells.collect::<Vec<_>>().join("  "));
        };
        print(self.header.clone());
        for row in &self.rows {
            print(row.iter().map(|cell| cell.text.as_str()).collect());
        }
        println!();
    }
}

/// A time for reading.
pub(crate) fn seconds(seconds: f64) -> Cell {
    let text = match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    };
    Cell::number(text, seconds)
}

/// A ratio in words.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        r if r < 10.0 => format!("{r:.2}x"),
        r if r < 1000.0 => format!("{r:.0}x"),
        r => format!("{r:.1e}x"),
    }
}

/// A ratio for reading.
pub(crate) fn ratio(ratio: f64) -> Cell {
    Cell::number(times(ratio), ratio)
}

/// A cell that may be empty.
pub(crate) fn or_dash(value: Option<f64>, show: impl Fn(f64) -> Cell) -> Cell {
    value.map_or_else(|| Cell { text: "-".to_owned(), value: Value::Null }, show)
}
