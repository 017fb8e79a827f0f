//! The layout of reports on this terminal.

use std::io::stdout;

use anstream::{AutoStream, ColorChoice};
use raddle_consistency::page::Page;
use raddle_explore::counterexample::Style;

/// The narrowest page. On a narrower terminal lines are broken.
const NARROWEST: usize = 40;

/// Reports as wide as the terminal, in colour if it shows colours and `NO_COLOR` is not set. Elsewhere they are 120 columns wide, or as
/// wide as `COLUMNS` says.
pub(crate) fn style(full: bool) -> Style {
    let style = Style::in_working_directory();
    let width = columns().unwrap_or(style.page.width).max(NARROWEST);
    let colour = AutoStream::choice(&stdout()) != ColorChoice::Never;
    Style { page: Page { width, ..style.page }, colour, full, ..style }
}

/// The width of the terminal, or what the environment says.
fn columns() -> Option<usize> {
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let of_terminal = rustix::termios::tcgetwinsize(stdout()).ok();
    of_terminal.map(|size| size.ws_col.into()).filter(|&width: &usize| width > 0).or_else(named)
}
