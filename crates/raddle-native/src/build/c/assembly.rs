//! The assembly that compilers write.

/// Removes calls of hooks of plain accesses: the CPU sees these accesses itself. A call that is removed leaves registers as they
/// are, which the code after it does not rely on. At `-O0` this saves four of about twelve instructions per access.
pub(super) fn without_plain_hooks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !hook(line).is_some_and(is_plain)) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The hook that a line calls, without `__tsan_`.
pub(super) fn hook(line: &str) -> Option<&str> {
    let callee = line.trim_start().strip_prefix("call")?;
    let callee = callee.strip_prefix('q').unwrap_or(callee).trim_start();
    let name = callee.strip_prefix("__tsan_")?;
    Some(name.split(['@', ' ', '\t', '#']).next().unwrap_or(name))
}

/// Returns `true` for the hook of a plain or volatile access, or of the start and end of a function.
fn is_plain(hook: &str) -> bool {
    if matches!(hook, "func_entry" | "func_exit" | "vptr_read" | "vptr_update") {
        return true;
    }
    let hook = hook.strip_prefix("unaligned_").unwrap_or(hook);
    let hook = hook.strip_prefix("volatile_").unwrap_or(hook);
    hook.starts_with("read") || hook.starts_with("write")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_hooks_of_plain_accesses_are_removed() {
        let text = "f:\n\tcall\t__tsan_read4@PLT\n\tcallq\t__tsan_unaligned_volatile_write8@PLT\n\
                    \tcall\t__tsan_atomic32_load@PLT\n\tcall\tg@PLT\n\tcall\t__tsan_func_exit@PLT\n";
        let kept = "f:\n\tcall\t__tsan_atomic32_load@PLT\n\tcall\tg@PLT\n";
        assert_eq!(without_plain_hooks(text), kept);
    }
}
