//! Options that apply only to litmus tests, or only to C and C++ programs.

use std::path::PathBuf;

use super::native;
use crate::args::{CheckArgs, Format, VolatileKind};

/// Why an option that was given has no effect on any of these files, if there is such an option.
pub(super) fn refusal(args: &CheckArgs, files: &[PathBuf]) -> Option<String> {
    let has_native = files.iter().any(|file| native::is_source(file));
    let has_litmus = files.iter().any(|file| !native::is_source(file));
    let given = |options: Vec<(&'static str, bool)>| {
        options.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    };
    let (flags, arguments) = args.halves();
    let for_native = || {
        given(vec![
            ("--leaks", args.leaks),
            ("--property", args.property.is_some()),
            ("--keep-going", args.keep_going),
            ("--no-livelock", args.no_livelock),
            ("--no-races", args.no_races),
            ("--races", args.races),
            ("--require-join", args.require_join),
            ("--malloc-may-fail", args.malloc_may_fail),
            ("--spurious", args.spurious),
            ("--store-forwarding", args.store_forwarding.is_some()),
            ("--nondet", args.nondet.is_some()),
            ("--allow-read", !args.allow_read.is_empty()),
            ("--volatile", args.volatile != VolatileKind::Plain),
            ("--cc", args.cc.is_some()),
            ("--max-memory", args.max_memory.is_some()),
            ("-- FLAGS", !flags.is_empty() || !arguments.is_empty()),
        ])
    };
    let for_litmus =
        || given(vec![("--explain", args.explain), ("--herd", args.format() == Format::Herd)]);
    if args.is_every_given() && args.checkpoint.is_none() {
        let remedy = "name a file with --checkpoint FILE, or omit --every";
        return Some(format!("--every has no effect without --checkpoint: {remedy}"));
    }
    if args.keep_going && args.explorer().is_ok_and(|explorer| explorer.sampling().is_some()) {
        return Some(String::from(
            "--keep-going requires an explorer that finds everything: omit --explorer",
        ));
    }
    if let Some(option) = for_native().filter(|_| !has_native) {
        return Some(format!(
            "litmus tests do not support {option}: use it with C or C++ programs"
        ));
    }
    let option = for_litmus().filter(|_| !has_litmus)?;
    Some(format!("C and C++ programs do not support {option}: use it with litmus tests"))
}
