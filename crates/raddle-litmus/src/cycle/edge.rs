//! Relaxations, in the vocabulary of diy: relations between an access of a cycle and the next one.
//!
//! | | |
//! |---|---|
//! | `Rfe`, `Fre`, `Wse` (or `Coe`) | reads-from, from-read and coherence to an access of another thread |
//! | `Rfi`, `Fri`, `Wsi` (or `Coi`) | within a thread |
//! | `PodWR`, `PosRR`, ... | program order, to a different or the same location |
//! | `MFencedWR`, `SFencedWW`, `LFencedRR` | program order with a fence; `s` instead of `d`: same location |
//! | `DpAddrdR`, `DpDatadW`, `DpCtrldW`, ... | program order with a dependency on a read |
//! | `Rmw` | from the read to the write of an atomic read-modify-write |

/// Direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum AccessDirection {
    Write,
    Read,
}

use AccessDirection::{Read, Write};

impl AccessDirection {
    pub(super) fn letter(self) -> char {
        match self {
            Read => 'R',
            Write => 'W',
        }
    }

    fn from_letter(letter: char) -> Option<Self> {
        [Read, Write].into_iter().find(|direction| direction.letter() == letter)
    }
}

/// Communication between accesses of one location, in the order of diy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Communication {
    ReadsFrom,
    FromRead,
    Coherence,
}

/// Fence between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CycleFence {
    Full,
    Store,
    Load,
}

/// Dependency of an access on an earlier read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Dependency {
    Address,
    Data,
    Control,
}

/// Kind of a relaxation. The order is diy's preference for the start of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum EdgeKind {
    Fenced(CycleFence),
    Dependent(Dependency),
    Communicates(Communication),
    Program,
    Rmw,
}

/// Relaxation: relation between an access and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CycleEdge {
    pub(super) kind: EdgeKind,
    /// Whether the next access is in another thread.
    pub(super) external: bool,
    /// Whether the next access is to another location.
    pub(super) different: bool,
    pub(super) source: AccessDirection,
    pub(super) target: AccessDirection,
}

const FENCES: [(CycleFence, &str); 3] =
    [(CycleFence::Full, "MFence"), (CycleFence::Store, "SFence"), (CycleFence::Load, "LFence")];

const DEPENDENCIES: [(Dependency, &str); 3] = [
    (Dependency::Address, "DpAddr"),
    (Dependency::Data, "DpData"),
    (Dependency::Control, "DpCtrl"),
];

/// Supported relaxations, for messages.
pub(super) const EXPECTED: &str = "Rfe, Fre, Wse, Rfi, Fri, Wsi, Rmw, or such as PodWR, PosRR, \
                                   MFencedWR, SFencedWW, LFencedRR, DpAddrdR, DpDatadW or DpCtrldW";

impl CycleEdge {
    /// Parses a relaxation.
    pub(super) fn parse(word: &str) -> Option<CycleEdge> {
        let within = |kind, source, target| CycleEdge {
            kind,
            external: false,
            different: false,
            source,
            target,
        };
        if word == "Rmw" {
            return Some(within(EdgeKind::Rmw, Read, Write));
        }
        if let Some(edge) = communication(word) {
            return Some(edge);
        }
        let prefixes = FENCES.iter().map(|&(fence, name)| (EdgeKind::Fenced(fence), name));
        let dependent = DEPENDENCIES.iter().map(|&(kind, name)| (EdgeKind::Dependent(kind), name));
        let (kind, rest) = prefixes
            .chain(dependent)
            .chain([(EdgeKind::Program, "Po")])
            .find_map(|(kind, name)| Some((kind, word.strip_prefix(name)?)))?;
        let mut letters = rest.chars();
        let different = match letters.next()? {
            'd' => true,
            's' => false,
            _ => return None,
        };
        let source = match kind {
            EdgeKind::Dependent(_) => Read,
            _ => AccessDirection::from_letter(letters.next()?)?,
        };
        let target = AccessDirection::from_letter(letters.next()?)?;
        let depends = kind != EdgeKind::Dependent(Dependency::Data) || target == Write;
        let edge = CycleEdge { different, ..within(kind, source, target) };
        (letters.next().is_none() && depends).then_some(edge)
    }

    /// Returns its part of the name of a test, for relaxations within a thread.
    pub(super) fn short_name(self) -> String {
        let same = if self.different { "" } else { "s" };
        match self.kind {
            EdgeKind::Fenced(fence) => format!("{}{same}", fence_name(fence).to_lowercase()),
            EdgeKind::Dependent(kind) => {
                format!("{}{same}", dependency_name(kind)[2..].to_lowercase())
            }
            EdgeKind::Communicates(_) => self.to_string().to_lowercase(),
            EdgeKind::Program => format!("po{same}"),
            EdgeKind::Rmw => "rmw".to_owned(),
        }
    }
}

fn fence_name(fence: CycleFence) -> &'static str {
    FENCES.iter().find(|(it, _)| *it == fence).map_or("", |(_, name)| name)
}

fn dependency_name(kind: Dependency) -> &'static str {
    DEPENDENCIES.iter().find(|(it, _)| *it == kind).map_or("", |(_, name)| name)
}

fn communication(word: &str) -> Option<CycleEdge> {
    let (name, external) = match word.strip_suffix('e') {
        Some(name) => (name, true),
        None => (word.strip_suffix('i')?, false),
    };
    let (communication, source, target) = match name {
        "Rf" => (Communication::ReadsFrom, Write, Read),
        "Fr" => (Communication::FromRead, Read, Write),
        "Ws" | "Co" => (Communication::Coherence, Write, Write),
        _ => return None,
    };
    let kind = EdgeKind::Communicates(communication);
    Some(CycleEdge { kind, external, different: false, source, target })
}

impl std::fmt::Display for CycleEdge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CycleEdge { source, target, .. } = self;
        let place = if self.different { 'd' } else { 's' };
        let end = if self.external { 'e' } else { 'i' };
        let (source, target) = (source.letter(), target.letter());
        match self.kind {
            EdgeKind::Fenced(fence) => write!(f, "{}{place}{source}{target}", fence_name(fence)),
            EdgeKind::Dependent(kind) => write!(f, "{}{place}{target}", dependency_name(kind)),
            EdgeKind::Communicates(Communication::ReadsFrom) => write!(f, "Rf{end}"),
            EdgeKind::Communicates(Communication::FromRead) => write!(f, "Fr{end}"),
            EdgeKind::Communicates(Communication::Coherence) => write!(f, "Ws{end}"),
            EdgeKind::Program => write!(f, "Po{place}{source}{target}"),
            EdgeKind::Rmw => write!(f, "Rmw"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_and_formatting_agree() {
        for word in [
            "Rfe",
            "Rfi",
            "Fre",
            "Fri",
            "Wse",
            "Wsi",
            "Rmw",
            "PodWR",
            "PosRR",
            "MFencedWR",
            "MFencesWW",
            "SFencedWW",
            "LFencedRR",
            "DpAddrdR",
            "DpAddrsW",
            "DpDatadW",
            "DpCtrldW",
        ] {
            let edge = CycleEdge::parse(word).unwrap_or_else(|| panic!("{word} is a relaxation"));
            assert_eq!(edge.to_string(), word);
        }
        assert_eq!(CycleEdge::parse("Coe"), CycleEdge::parse("Wse"));
        for none in ["", "Po", "PodW", "PodWRR", "PoWR", "Rf", "Rfx", "DpDatadR", "DpAddrdRW", "é"]
        {
            assert_eq!(CycleEdge::parse(none), None, "{none}");
        }
    }
}
