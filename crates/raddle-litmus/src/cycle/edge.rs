//! The vocabulary of diy: what one access of a cycle has to do with the next.
//!
//! | | |
//! |---|---|
//! | `Rfe`, `Fre`, `Wse` (or `Coe`) | the next access, of another thread, reads, overwrites what was read, or overwrites |
//! | `Rfi`, `Fri`, `Wsi` (or `Coi`) | the same within a thread |
//! | `PodWR`, `PosRR`, ... | program order, to a different or the same location |
//! | `MFencedWR`, `SFencedWW`, `LFencedRR` | the same with a fence between; `s` instead of `d`: the same location |
//! | `DpAddrdR`, `DpDatadW`, `DpCtrldW`, ... | the same with a dependency on a read |
//! | `Rmw` | the write of an atomic update of what was read |

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Direction {
    Write,
    Read,
}

use Direction::{Read, Write};

impl Direction {
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

/// How accesses of one location communicate. In the order of diy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Communication {
    ReadsFrom,
    FromRead,
    Coherence,
}

/// Fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fence {
    Full,
    Store,
    Load,
}

/// Dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Dependency {
    Address,
    Data,
    Control,
}

/// What kind of relaxation it is. The order is the one in which diy prefers to start a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Fenced(Fence),
    Dependent(Dependency),
    Communicates(Communication),
    Program,
    Rmw,
}

/// A relaxation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Edge {
    pub(super) kind: Kind,
    /// Whether it leads to another thread.
    pub(super) external: bool,
    /// Whether it leads to another location.
    pub(super) different: bool,
    pub(super) source: Direction,
    pub(super) target: Direction,
}

const FENCES: [(Fence, &str); 3] =
    [(Fence::Full, "MFence"), (Fence::Store, "SFence"), (Fence::Load, "LFence")];

const DEPENDENCIES: [(Dependency, &str); 3] = [
    (Dependency::Address, "DpAddr"),
    (Dependency::Data, "DpData"),
    (Dependency::Control, "DpCtrl"),
];

/// What can be written, for messages.
pub(super) const EXPECTED: &str = "Rfe, Fre, Wse, Rfi, Fri, Wsi, Rmw, or such as PodWR, PosRR, \
                                   MFencedWR, SFencedWW, LFencedRR, DpAddrdR, DpDatadW or DpCtrldW";

impl Edge {
    /// Reads a relaxation.
    pub(super) fn parse(word: &str) -> Option<Edge> {
        let within =
            |kind, source, target| Edge { kind, external: false, different: false, source, target };
        if word == "Rmw" {
            return Some(within(Kind::Rmw, Read, Write));
        }
        if let Some(edge) = communication(word) {
            return Some(edge);
        }
        let prefixes = FENCES.iter().map(|&(fence, name)| (Kind::Fenced(fence), name));
        let dependent = DEPENDENCIES.iter().map(|&(kind, name)| (Kind::Dependent(kind), name));
        let (kind, rest) = prefixes
            .chain(dependent)
            .chain([(Kind::Program, "Po")])
            .find_map(|(kind, name)| Some((kind, word.strip_prefix(name)?)))?;
        let mut letters = rest.chars();
        let different = match letters.next()? {
            'd' => true,
            's' => false,
            _ => return None,
        };
        let source = match kind {
            Kind::Dependent(_) => Read,
            _ => Direction::from_letter(letters.next()?)?,
        };
        let target = Direction::from_letter(letters.next()?)?;
        let depends = kind != Kind::Dependent(Dependency::Data) || target == Write;
        let edge = Edge { different, ..within(kind, source, target) };
        (letters.next().is_none() && depends).then_some(edge)
    }

    /// How it is called in the name of a test, if it is within a thread.
    pub(super) fn short_name(self) -> String {
        let same = if self.different { "" } else { "s" };
        match self.kind {
            Kind::Fenced(fence) => format!("{}{same}", fence_name(fence).to_lowercase()),
            Kind::Dependent(kind) => {
                format!("{}{same}", dependency_name(kind)[2..].to_lowercase())
            }
            Kind::Communicates(_) => self.to_string().to_lowercase(),
            Kind::Program => format!("po{same}"),
            Kind::Rmw => "rmw".to_owned(),
        }
    }
}

fn fence_name(fence: Fence) -> &'static str {
    FENCES.iter().find(|(it, _)| *it == fence).map_or("", |(_, name)| name)
}

fn dependency_name(kind: Dependency) -> &'static str {
    DEPENDENCIES.iter().find(|(it, _)| *it == kind).map_or("", |(_, name)| name)
}

fn communication(word: &str) -> Option<Edge> {
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
    let kind = Kind::Communicates(communication);
    Some(Edge { kind, external, different: false, source, target })
}

impl std::fmt::Display for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Edge { source, target, .. } = self;
        let place = if self.different { 'd' } else { 's' };
        let end = if self.external { 'e' } else { 'i' };
        let (source, target) = (source.letter(), target.letter());
        match self.kind {
            Kind::Fenced(fence) => write!(f, "{}{place}{source}{target}", fence_name(fence)),
            Kind::Dependent(kind) => write!(f, "{}{place}{target}", dependency_name(kind)),
            Kind::Communicates(Communication::ReadsFrom) => write!(f, "Rf{end}"),
            Kind::Communicates(Communication::FromRead) => write!(f, "Fr{end}"),
            Kind::Communicates(Communication::Coherence) => write!(f, "Ws{end}"),
            Kind::Program => write!(f, "Po{place}{source}{target}"),
            Kind::Rmw => write!(f, "Rmw"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relaxations_are_written_as_they_are_read() {
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
            let edge = Edge::parse(word).unwrap_or_else(|| panic!("{word} is a relaxation"));
            assert_eq!(edge.to_string(), word);
        }
        assert_eq!(Edge::parse("Coe"), Edge::parse("Wse"));
        for none in ["", "Po", "PodW", "PodWRR", "PoWR", "Rf", "Rfx", "DpDatadR", "DpAddrdRW", "é"]
        {
            assert_eq!(Edge::parse(none), None, "{none}");
        }
    }
}
