//! What compilers' hooks do not tell, found in another way.
//!
//! *gcc* (12, in C) compiles an atomic variable that is an operand of `[]` as a plain load; everywhere else it is an atomic one.
//! Nothing in the assembly distinguishes such a load from one of a plain variable. But if all atomic types are volatile as well,
//! the hooks of plain accesses to atomic variables have other names. So the file is compiled once more in that way, and
//! the hooks that differ are marks of atomic loads ([`ATOMIC_READ`]). Stores are left: to initialise an atomic variable is
//! a plain store.
//!
//! *clang* has the same hook for strong and weak compare-exchanges, and the code after it derives from the value that
//! it read whether it succeeded. Before clang inserts hooks, they are different instructions: weak ones become calls of hooks of our
//! own ([`WEAK`]), which also return whether they succeeded. When clang 14 inserts the hook of an atomic load, it keeps the load,
//! which is a second, plain read without optimisation. So atomic loads become calls of their hooks before that, too.
//!
//! *Rejected.* Types from debug information: they are not known of memory that pointers point to. Macros that redefine
//! the compilers' functions: their arguments may be anything.

use std::collections::BTreeSet;

use super::assembly::hook;

/// The mark before an atomic load that the compiler took for a plain one, then the number of bytes; after `__tsan_`.
pub(super) const ATOMIC_READ: &str = "sc_read";

/// The hook of a weak compare-exchange, then the number of bits; after `__tsan_`.
pub(super) const WEAK: &str = "weak_compare_exchange";

/// The flag with which atomic types are volatile.
pub(super) const ATOMICS_ARE_VOLATILE: &str = "-D_Atomic=volatile _Atomic";

/// The assembly with marks at hooks that are plain reads here and volatile in the other assembly. If the hooks of the two
/// do not correspond, nothing is changed.
pub(super) fn mark_atomic_reads(text: &str, volatile: &str) -> String {
    let (ours, theirs): (Vec<&str>, Vec<&str>) =
        (text.lines().filter_map(hook).collect(), volatile.lines().filter_map(hook).collect());
    let plain = |name: &str| name.replace("volatile_", "");
    let is_same = |(a, b): (&&str, &&str)| plain(a) == plain(b);
    if ours.len() != theirs.len() || !ours.iter().zip(&theirs).all(is_same) {
        return text.to_owned();
    }
    let mut theirs = theirs.into_iter();
    let marked = |line: &str| match hook(line).map(|ours| (ours, theirs.next())) {
        Some((ours, Some(theirs))) if ours != theirs && theirs.contains("volatile_read") => {
            let line = line.replace("__tsan_unaligned_", "__tsan_");
            line.replace("__tsan_read", &format!("__tsan_{ATOMIC_READ}"))
        }
        _ => line.to_owned(),
    };
    text.lines().map(marked).collect::<Vec<_>>().join("\n") + "\n"
}

/// The code of LLVM with a request for hooks in each function.
pub(super) fn request_hooks(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("attributes #") {
        Some(_) => line.replacen("= { ", "= { sanitize_thread ", 1),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// The code of LLVM with hooks for weak compare-exchanges and atomic loads.
pub(super) fn mark_operations(text: &str) -> String {
    let (mut out, mut declared) = (String::with_capacity(text.len()), BTreeSet::new());
    for line in text.lines() {
        match weak(line).or_else(|| load(line)) {
            Some((call, declaration)) => {
                out += &call;
                declared.insert(declaration);
            }
            None => out += line,
        }
        out.push('\n');
    }
    declared.iter().for_each(|declaration| out += declaration);
    out
}

/// The call in place of a weak compare-exchange, and the declaration of what is called.
fn weak(line: &str) -> Option<(String, String)> {
    let (result, rest) = line.split_once("= cmpxchg weak ")?;
    let rest = rest.strip_prefix("volatile ").unwrap_or(rest);
    let parts = split(rest);
    let [pointer, expected, last, ..] = parts[..] else { return None };
    let (kind, _) = expected.split_once(' ')?;
    if !matches!(kind, "i8" | "i16" | "i32" | "i64") {
        return None;
    }
    let mut words = last.rsplitn(3, ' ');
    let (failure, success, desired) = (words.next()?, words.next()?, words.next()?);
    let (success, failure) = (order(success)?, order(failure)?);
    let name = format!("@__tsan_{WEAK}{}", &kind[1..]);
    let debug = parts.iter().find(|part| part.starts_with("!dbg"));
    let debug = debug.map_or(String::new(), |debug| format!(", {debug}"));
    let call = format!(
        "{result}= call {{ {kind}, i1 }} {name}({pointer}, {expected}, {desired}, i32 {success}, \
         i32 {failure}){debug}"
    );
    let (pointer, _) = pointer.split_once(' ')?;
    let declared =
        format!("declare {{ {kind}, i1 }} {name}({pointer}, {kind}, {kind}, i32, i32)\n");
    Some((call, declared))
}

/// The call in place of an atomic load, and the declaration of what is called.
fn load(line: &str) -> Option<(String, String)> {
    let (result, rest) = line.split_once("= load atomic ")?;
    let rest = rest.strip_prefix("volatile ").unwrap_or(rest);
    let parts = split(rest);
    let [kind, last, ..] = parts[..] else { return None };
    if !matches!(kind, "i8" | "i16" | "i32" | "i64" | "i128") {
        return None;
    }
    let (pointer, name) = last.rsplit_once(' ')?;
    let order = order(name)?;
    let name = format!("@__tsan_atomic{}_load", &kind[1..]);
    let debug = parts.iter().find(|part| part.starts_with("!dbg"));
    let debug = debug.map_or(String::new(), |debug| format!(", {debug}"));
    let call = format!("{result}= call {kind} {name}({pointer}, i32 {order}){debug}");
    let (pointer, _) = pointer.split_once(' ')?;
    Some((call, format!("declare {kind} {name}({pointer}, i32)\n")))
}

/// Splits at commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = text.split(|letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

/// The number of a memory order, as in the compiler's hooks.
fn order(name: &str) -> Option<u32> {
    let names = ["monotonic", "consume", "acquire", "release", "acq_rel", "seq_cst"];
    names.iter().position(|&known| known == name).map(|at| at as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_is_volatile_in_the_other_assembly_is_marked() {
        let text = "\tcall\t__tsan_read4@PLT\n\tcall\t__tsan_volatile_read4@PLT\n\tcall\tf\n";
        let other = text.replace("__tsan_read4", "__tsan_volatile_read4");
        let marked = text.replace("__tsan_read4", "__tsan_sc_read4");
        assert_eq!(mark_atomic_reads(text, &other), marked);
        assert_eq!(mark_atomic_reads(text, text), text);
        assert_eq!(mark_atomic_reads(text, &format!("{other}{other}")), text);
    }

    #[test]
    fn a_weak_exchange_becomes_a_hook_that_tells_whether_it_succeeded() {
        let weak =
            "  %1 = cmpxchg weak i32* %p, i32 0, i32 %2 acq_rel monotonic, align 4, !dbg !7\n";
        let hook = "  %1 = call { i32, i1 } @__tsan_weak_compare_exchange32(i32* %p, i32 0, i32 %2, i32 4, i32 0), !dbg !7\n";
        let declared =
            "declare { i32, i1 } @__tsan_weak_compare_exchange32(i32*, i32, i32, i32, i32)\n";
        assert_eq!(mark_operations(weak), format!("{hook}{declared}"));
        let member = weak.replace("%p", "getelementptr (%s, %s* @g, i32 0)");
        let hook = hook.replace("%p", "getelementptr (%s, %s* @g, i32 0)");
        assert_eq!(mark_operations(&member), format!("{hook}{declared}"));
        let strong = weak.replace(" weak", "");
        assert_eq!(mark_operations(&strong), strong);
    }

    #[test]
    fn an_atomic_load_becomes_a_hook() {
        let load = "  %1 = load atomic volatile i64, i64* getelementptr (%s, %s* @g, i32 0) acquire, align 8, !dbg !7\n";
        let hook = "  %1 = call i64 @__tsan_atomic64_load(i64* getelementptr (%s, %s* @g, i32 0), i32 2), !dbg !7\n";
        let declared = "declare i64 @__tsan_atomic64_load(i64*, i32)\n";
        assert_eq!(mark_operations(load), format!("{hook}{declared}"));
        let plain = "  %1 = load i64, i64* %p, align 8\n";
        assert_eq!(mark_operations(plain), plain);
        let pointer = load.replace("i64,", "i8*,");
        assert_eq!(mark_operations(&pointer), pointer);
    }

    #[test]
    fn every_function_gets_a_request_for_hooks() {
        let text = "define i32 @main() #0 {\nattributes #0 = { noinline }\n";
        let requested = "define i32 @main() #0 {\nattributes #0 = { sanitize_thread noinline }\n";
        assert_eq!(request_hooks(text), requested);
    }
}
