//! Inline assembly: nobody puts hooks there.
//!
//! Fences are recognised, and what does nothing to memory. Everything else is refused.

use crate::error::Error;

/// What a piece of inline assembly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inline {
    /// It does nothing to memory.
    Nothing,
    /// A full fence.
    Fence,
    /// A fence between stores.
    StoreFence,
}

/// What one instruction of inline assembly is; `None` if that is not known.
fn instruction(text: &str) -> Option<Inline> {
    let text = text.split('#').next().unwrap_or_default().replace(", ", ",");
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(match words.as_slice() {
        [] | ["nop" | "pause" | "lfence" | "rep" | "lock"] => Inline::Nothing,
        ["rep", "nop"] => Inline::Nothing,
        ["mfence"] => Inline::Fence,
        ["sfence"] => Inline::StoreFence,
        [prefix @ .., name, operands]
            if matches!(prefix, [] | ["lock"])
                && matches!(*name, "addl" | "orl" | "addq" | "orq")
                && operands.starts_with("$0,")
                && (operands.ends_with("(%rsp)") || operands.ends_with("(%esp)")) =>
        {
            Inline::Fence
        }
        _ => return None,
    })
}

/// What a piece of inline assembly is, at this place unless the lines say where it comes from.
pub(super) fn recognise(lines: &[&str], place: String) -> Result<Inline, Error> {
    let mut place = place;
    let mut all = Inline::Nothing;
    for line in lines {
        if let Some(mark) = line.trim().strip_prefix("# ") {
            let mut words = mark.split_whitespace();
            if let (Some(number), Some(file)) = (words.next(), words.next())
                && number != "0"
            {
                place = format!("{}:{number}", file.trim_matches('"'));
            }
            continue;
        }
        if line.trim().starts_with(".loc ") {
            continue;
        }
        for text in line.split([';', '\n']) {
            match instruction(text) {
                Some(Inline::Nothing) => {}
                Some(fence) => all = fence,
                None => {
                    let what = format!(
                        "inline assembly that Raddle does not model: `{}` (use C11 atomics)",
                        text.trim()
                    );
                    return Err(Error::Refused { place, what });
                }
            }
        }
    }
    Ok(all)
}
