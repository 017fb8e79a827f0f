//! The kinds of errors that front ends report.

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

macro_rules! finding_kinds {
    ($($(#[doc = $doc:literal])* $kind:ident => $name:literal,)*) => {
        /// The kind of a [`Finding`](crate::outcome::Finding), for all front ends.
        ///
        /// A kind is set where the error is detected; it is never derived from a message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        pub enum FindingKind {
            $($(#[doc = $doc])* #[cfg_attr(feature = "serde", serde(rename = $name))] $kind,)*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[FindingKind] = &[$(FindingKind::$kind,)*];

            /// The name in JSON and in recorded traces, such as `use-after-free`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(FindingKind::$kind => $name,)*
                }
            }

            /// What an error of this kind is, in a sentence.
            #[must_use]
            pub fn summary(self) -> &'static str {
                let text = match self {
                    $(FindingKind::$kind => concat!($($doc),*),)*
                };
                text.trim()
            }
        }
    };
}

finding_kinds! {
    /// An assertion failed.
    Assertion => "assertion",
    /// A Rust thread panicked; this includes failed assertions.
    Panic => "panic",
    /// The program called `abort` or one of its variants.
    Abort => "abort",
    /// The operating system would have killed the program, e.g. for an invalid address.
    Crash => "crash",
    /// A division by zero, or a division whose result overflows.
    Division => "division",
    /// A thread could not continue for a reason that no other kind covers.
    Failure => "failure",
    /// A stack overflowed.
    StackOverflow => "stack-overflow",
    /// A heap block was accessed after it had been freed.
    UseAfterFree => "use-after-free",
    /// An object was used after it had been dropped.
    UseAfterDrop => "use-after-drop",
    /// A local variable was accessed after its function had returned.
    UseAfterReturn => "use-after-return",
    /// A heap block was freed twice, or the freed pointer is not the start of a block.
    DoubleFree => "double-free",
    /// A heap block is unreachable, or a shared object still has owners, when all threads have finished.
    Leak => "leak",
    /// A heap access outside of every block.
    HeapOverflow => "heap-overflow",
    /// A lock, thread or other object was used against its rules.
    Misuse => "misuse",
    /// Threads wait for each other forever.
    Deadlock => "deadlock",
    /// Threads spin forever.
    Livelock => "livelock",
    /// Two conflicting accesses are not ordered by happens-before.
    Race => "race",
    /// A loop without memory accesses does not terminate.
    EndlessLoop => "endless-loop",
    /// The final states contradict the condition of a litmus test.
    Condition => "condition",
    /// The model allows an execution that sequential consistency forbids.
    NotRobust => "not-robust",
    /// The program's behaviour depends on more than what its threads read.
    Nondeterminism => "nondeterminism",
    /// The program does something that the front end does not model. Not an error of the program: the
    /// verdict is [`Incomplete`](crate::outcome::Verdict::Incomplete).
    Unsupported => "unsupported",
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct KindSet(u32);

impl KindSet {
    /// Returns `true` if the kind is in the set.
    #[must_use]
    pub fn contains(self, kind: FindingKind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }

    /// The kinds that are in one of the two sets.
    #[must_use]
    pub fn union(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    /// The kinds that are not in the set.
    #[must_use]
    pub fn complement(self) -> KindSet {
        FindingKind::ALL.iter().copied().filter(|kind| !self.contains(*kind)).collect()
    }
}

impl FromIterator<FindingKind> for KindSet {
    fn from_iter<I: IntoIterator<Item = FindingKind>>(kinds: I) -> KindSet {
        KindSet(kinds.into_iter().fold(0, |set, kind| set | 1 << kind as u32))
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that is not the name of a [`FindingKind`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFindingKind(String);

impl fmt::Display for UnknownFindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "unknown kind of finding '{}': expected one of {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownFindingKind {}

impl FromStr for FindingKind {
    type Err = UnknownFindingKind;

    fn from_str(name: &str) -> Result<Self, UnknownFindingKind> {
        let found = FindingKind::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| UnknownFindingKind(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_kinds_have_complements() {
        let set: KindSet = [FindingKind::Race, FindingKind::Assertion].into_iter().collect();
        assert!(set.contains(FindingKind::Race) && !set.contains(FindingKind::Unsupported));
        let rest = set.complement();
        assert!(rest.contains(FindingKind::Unsupported) && !rest.contains(FindingKind::Race));
        assert_eq!(rest.complement(), set);
        assert_eq!(set.union(rest), KindSet::default().complement());
    }

    #[test]
    fn every_name_parses_to_its_kind() {
        for &kind in FindingKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "segfault".parse::<FindingKind>().unwrap_err().to_string();
        assert!(
            error.starts_with("unknown kind of finding 'segfault': expected one of assertion,")
        );
    }
}
