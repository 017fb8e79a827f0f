//! Results of commands as text for people and in formats for programs.
//!
//! Text, JSON and herd's format have a renderer for each command. SARIF, JUnit, DOT and HTML are rendered from one form of all
//! results ([`reported`]).

pub(crate) mod dot;
pub(crate) mod execution;
pub(crate) mod herd;
pub(crate) mod history_data;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod reported;
pub(crate) mod sarif;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;

use reported::Reported;

use crate::args::Format;

/// Results in a format that is the same for all commands; `None` for the others.
pub(crate) fn common<'a>(format: Format, all: &dyn Fn() -> Vec<Reported<'a>>) -> Option<String> {
    match format {
        Format::Text | Format::Json | Format::Herd => None,
        Format::Sarif => Some(sarif::text(&all())),
        Format::Junit => Some(junit::text(&all())),
        Format::Dot => Some(dot::text(&all())),
        Format::Html => Some(html::text(&all())),
    }
}
