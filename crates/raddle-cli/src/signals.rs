//! SIGINT and SIGTERM.
//!
//! After the first signal commands end what they do and print how far they got. A second one ends the process at once.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The number of the signal that arrived; 0 if none did.
static RECEIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Lets [`received`] notice signals from now on.
///
/// # Errors
/// If the operating system does not permit that.
pub(crate) fn catch() -> io::Result<()> {
    let received = RECEIVED.get_or_init(Arc::default);
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&is_second))?;
        flag::register(signal, Arc::clone(&is_second))?;
        flag::register_usize(signal, Arc::clone(received), signal.unsigned_abs() as usize)?;
    }
    Ok(())
}

/// The signal that arrived after [`catch`], if one did.
pub(crate) fn received() -> Option<u8> {
    let signal = RECEIVED.get()?.load(Ordering::Relaxed);
    u8::try_from(signal).ok().filter(|&signal| signal != 0)
}
