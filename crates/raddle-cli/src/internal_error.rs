//! Reports of bugs in Raddle itself.

use std::panic;
use std::process;

use crate::output::print_error;

/// Prints a request to report a bug in Raddle, with its version and the command line.
pub(crate) fn report(what: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let command: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    print_error(format_args!(
        "raddle: {what}\n\
         This is a bug in Raddle {version}. Please report it with the input files and this \
         command line:\n  {}",
        command.join(" ")
    ));
}

/// Makes a panic print such a report and exit with status 2.
pub(crate) fn install_panic_hook() {
    set_panic_reporter(|what| report(&format!("internal error{what}")));
}

/// Makes a panic call `reporter` with its place and its message, and exit with status 2.
pub(crate) fn set_panic_reporter(reporter: impl Fn(&str) + Send + Sync + 'static) {
    panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let message = text.or(payload.downcast_ref::<String>().map(String::as_str));
        let message = message.unwrap_or("no message");
        let place = info.location().map_or_else(String::new, |place| format!(" at {place}"));
        reporter(&format!("{place}: {message}"));
        process::exit(2);
    }));
}
