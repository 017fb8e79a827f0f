//! Panics of the program: findings, not noise.
//!
//! A panic on a fiber is reported by the explorer, with the execution that leads to it. So the hook
//! that prints panics keeps quiet there, and remembers where the panic was.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use crate::state::{self, Mode};

thread_local! {
    /// Where the last panic of the program was: file, line, column.
    static LAST: RefCell<Option<(String, u32, u32)>> = const { RefCell::new(None) };
}

/// Puts our hook before the one that is there, once for the process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if state::mode() == Mode::Outside {
                before(info);
            } else {
                remember(info);
            }
        }));
    });
}

fn remember(info: &PanicHookInfo<'_>) {
    let _quiet = crate::heap::quiet();
    state::note_panic();
    let at = info.location().map(|at| (at.file().to_owned(), at.line(), at.column()));
    LAST.set(at);
}

/// Where the last panic was.
pub(crate) fn take_last() -> Option<(String, u32, u32)> {
    LAST.take()
}

/// What a panic says.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        String::from("a panic without a message")
    }
}
