//! Functions of the C++ library that may be called as they are.
//!
//! The library is there in compiled form, so its functions have no hooks. Those that only threads, locks,
//! memory and exceptions are made of end in functions that are modelled, or touch what belongs to one thread;
//! what containers are made of is compiled again (`stub/runtime.cpp`). Everything else (streams, locales,
//! futures) keeps memory that threads share without our knowing: it is refused where it is called.
//!
//! Not seen: an exception of the library that one thread makes and another one looks at.

use std::process::{Command, Stdio};

/// The names of what may be called begin so.
const KNOWN: &[&str] = &[
    // The language.
    "__cxa_",
    "__dynamic_cast",
    "__gxx_",
    "_Unwind_",
    "_ZGV",
    "_ZT",
    "_Zd",
    "_Zn",
    "_ZNKSt9type_info",
    "_ZNSt9type_info",
    "_ZSt18uncaught_exceptionv",
    "_ZSt19uncaught_exceptionsv",
    "_ZSt21__glibcxx_assert_fail",
    "_ZSt9terminatev",
    // Threads and what they wait for.
    "__once_proxy",
    "_ZNSt10_Sp_locker",
    "_ZNSt11this_thread",
    "_ZNSt18condition_variable",
    "_ZNSt6chrono3_V2",
    "_ZNSt6thread",
    // Memory and containers.
    "_ZNKSt8__detail20_Prime_rehash_policy",
    "_ZNSaI",
    "_ZNSt19_Sp_make_shared_tag",
    "_ZNSt8__detail15_List_node_base",
    "_ZSt18_Rb_tree_",
    "_ZSt28_Rb_tree_",
    "_ZSt29_Rb_tree_",
];

/// The same, of exceptions.
const EXCEPTIONS: &[&str] = &[
    "_ZNKSt11logic_error",
    "_ZNKSt13runtime_error",
    "_ZNKSt9bad_alloc",
    "_ZNKSt9exception",
    "_ZNSt11logic_error",
    "_ZNSt11range_error",
    "_ZNSt12domain_error",
    "_ZNSt12length_error",
    "_ZNSt12out_of_range",
    "_ZNSt12system_error",
    "_ZNSt13runtime_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNSt16invalid_argument",
    "_ZNSt8bad_cast",
    "_ZNSt9bad_alloc",
    "_ZNSt9exception",
];

/// What the static objects of `<iostream>` do in the beginning and in the end: nothing, as streams are
/// refused.
pub(crate) const STREAMS: [&str; 2] = ["_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitD1Ev"];

/// Whether it may be used as it is.
pub(crate) fn is_harmless(name: &str) -> bool {
    KNOWN.iter().chain(EXCEPTIONS).any(|known| name.starts_with(known))
        || STREAMS.contains(&name)
        || name.starts_with("_Z") && (is_data(name) || throws(name))
}

/// Whether threads of a program that uses it may have memory of the library's: exceptions, and what is in them.
pub(crate) fn keeps_memory(name: &str) -> bool {
    matches!(name, "__cxa_allocate_exception" | "__cxa_begin_catch")
        || name.contains("exception_ptr")
        || EXCEPTIONS.iter().any(|known| name.starts_with(known))
}

/// Whether the name is that of a variable: no types of arguments follow.
fn is_data(name: &str) -> bool {
    let nested = name.starts_with("_ZN") && name.ends_with('E');
    nested || of_std(name).is_some_and(|(name, arguments)| !name.is_empty() && arguments.is_empty())
}

/// Whether it is one of the functions that only throw.
fn throws(name: &str) -> bool {
    of_std(name).is_some_and(|(name, _)| name.starts_with("__throw_"))
}

/// The name of something in `std`, and what follows it.
fn of_std(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("_ZSt")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let length = rest[..digits].parse().ok()?;
    rest[digits..].split_at_checked(length)
}

/// The names as people write them, if there is somebody who knows.
pub(crate) fn readable(names: Vec<String>) -> Vec<String> {
    if !names.iter().any(|name| name.starts_with("_Z")) {
        return names;
    }
    let told = Command::new("c++filt").args(&names).stdin(Stdio::null()).output();
    let told = told.ok().filter(|told| told.status.success());
    let lines = told.and_then(|told| String::from_utf8(told.stdout).ok());
    let readable: Vec<String> = lines.iter().flat_map(|it| it.lines()).map(String::from).collect();
    if readable.len() == names.len() { readable } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_refused_and_variables_are_not() {
        let refused = ["_ZNSolsEi", "_ZNSt6localeC1Ev", "_ZSt11_Hash_bytesPKvmm", "_ZSt4endlv"];
        assert!(!refused.into_iter().any(is_harmless));
        let harmless = ["_ZSt4cout", "_ZNSt6locale7_S_onceE", "_ZSt20__throw_system_errori"];
        assert!(harmless.into_iter().all(is_harmless));
        let language = ["_Znwm", "_ZdlPvm", "_ZTISt9exception", "__cxa_throw"];
        assert!(language.into_iter().all(is_harmless));
    }
}
