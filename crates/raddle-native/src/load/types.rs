//! Names of parts of variables, from DWARF: `queue.slots[1].head` instead of an offset.

use std::collections::BTreeMap;

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Reader as _, Unit, UnitOffset};

use super::lines::{Reader, dwarf};

/// A type that a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeId {
    pub(super) unit: usize,
    pub(super) offset: UnitOffset,
}

/// The types of the variables of a file.
#[derive(Debug)]
pub(crate) struct Types {
    pub(super) dwarf: Dwarf<Reader>,
    pub(super) units: Vec<Unit<Reader>>,
    /// The type of each variable, by address relative to the base.
    variables: BTreeMap<u64, TypeId>,
    /// Name of each variable, by address.
    names: BTreeMap<u64, String>,
}

/// The deepest nesting of types that is followed.
pub(super) const DEPTH: usize = 16;

impl Types {
    /// Reads the debug information of a file. What cannot be read is left out.
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        let dwarf = dwarf(data)?;
        let (variables, names) = (BTreeMap::new(), BTreeMap::new());
        let mut types = Types { dwarf, units: vec![], variables, names };
        let mut headers = types.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            if let Ok(unit) = types.dwarf.unit(header) {
                types.units.push(unit);
            }
        }
        for index in 0..types.units.len() {
            let _ = types.read_variables(index);
        }
        Some(types)
    }

    fn read_variables(&mut self, index: usize) -> gimli::Result<()> {
        let unit = &self.units[index];
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() != gimli::DW_TAG_variable {
                continue;
            }
            let Some(location) = entry.attr_value(gimli::DW_AT_location) else { continue };
            let Some(expression) = location.exprloc_value() else { continue };
            let address = match expression.operations(unit.encoding()).next() {
                Ok(Some(gimli::Operation::Address { address })) => address,
                Ok(Some(gimli::Operation::AddressIndex { index })) => {
                    self.dwarf.address(unit, index)?
                }
                _ => continue,
            };
            let declared = declaration_of(entry).and_then(|at| unit.entry(at).ok());
            let declared = declared.as_ref();
            if let Some(offset) = type_of(entry).or(declared.and_then(type_of)) {
                self.variables.insert(address, TypeId { unit: index, offset });
            }
            let name = name_of(&self.dwarf, unit, entry);
            let name = name.or_else(|| name_of(&self.dwarf, unit, declared?));
            self.names.extend(name.map(|name| (address, name)));
        }
        Ok(())
    }

    /// The name of the variable at an address.
    pub(super) fn name(&self, variable: u64) -> Option<&str> {
        self.names.get(&variable).map(String::as_str)
    }

    /// The type of the variable at an address.
    pub(crate) fn variable(&self, address: u64) -> Option<TypeId> {
        self.variables.get(&address).copied()
    }

    /// The part at an offset in an object, as `[1].head`, and its type, which is not an array or a class.
    pub(crate) fn part(&self, of: TypeId, offset: u64) -> Option<(String, TypeId)> {
        let mut path = String::new();
        let leaf = self.descend(&self.units[of.unit], of.offset, offset, &mut path, DEPTH)?;
        Some((path, TypeId { unit: of.unit, offset: leaf }))
    }

    /// The size of an object in bytes.
    pub(crate) fn size_of(&self, of: TypeId) -> Option<u64> {
        self.size(&self.units[of.unit], of.offset, DEPTH)
    }

    /// Appends to `path` the way to the part of an object at an offset. Returns the type of the part.
    fn descend(
        &self,
        unit: &Unit<Reader>,
        of: UnitOffset,
        offset: u64,
        path: &mut String,
        depth: usize,
    ) -> Option<UnitOffset> {
        let depth = depth.checked_sub(1)?;
        let entry = unit.entry(of).ok()?;
        match entry.tag() {
            gimli::DW_TAG_array_type => {
                let (element, mut rest) = (type_of(&entry)?, offset);
                let bounds = self.bounds(unit, of)?;
                let mut stride = self.size(unit, element, depth)?;
                stride *= bounds.iter().skip(1).product::<u64>();
                for (at, _) in bounds.iter().enumerate() {
                    path.push_str(&format!("[{}]", rest.checked_div(stride)?));
                    rest = rest.checked_rem(stride)?;
                    stride /= bounds.get(at + 1).copied().unwrap_or(1).max(1);
                }
                self.descend(unit, element, rest, path, depth)
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                // An empty base class and a member may be at the same place.
                let length = path.len();
                self.members(unit, of, offset, depth).into_iter().find_map(|member| {
                    path.truncate(length);
                    if let Some(name) = member.name {
                        path.push_str(&format!(".{name}"));
                    }
                    self.descend(unit, member.of, offset - member.start, path, depth)
                })
            }
            tag if is_qualifier(tag) => self.descend(unit, type_of(&entry)?, offset, path, depth),
            _ => (offset == 0).then_some(of),
        }
    }

    /// The members and base classes that cover an offset.
    fn members(
        &self,
        unit: &Unit<Reader>,
        of: UnitOffset,
        offset: u64,
        depth: usize,
    ) -> Vec<Member> {
        let mut members = vec![];
        let Ok(mut tree) = unit.entries_tree(Some(of)) else { return members };
        let Ok(root) = tree.root() else { return members };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if !matches!(entry.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) {
                continue;
            }
            let start = entry.attr_value(gimli::DW_AT_data_member_location);
            let start = start.and_then(|start| start.udata_value()).unwrap_or(0);
            let Some(of) = type_of(entry) else { continue };
            let size = self.size(unit, of, depth).unwrap_or(0);
            if (start..start + size).contains(&offset) {
                members.push(Member { name: name_of(&self.dwarf, unit, entry), start, of });
            }
        }
        members
    }

    /// The number of elements of an array in each dimension.
    fn bounds(&self, unit: &Unit<Reader>, of: UnitOffset) -> Option<Vec<u64>> {
        let mut tree = unit.entries_tree(Some(of)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut bounds = vec![];
        while let Ok(Some(child)) = children.next() {
            let number = |name| child.entry().attr_value(name).and_then(|it| it.udata_value());
            let last = number(gimli::DW_AT_upper_bound);
            bounds.push(number(gimli::DW_AT_count).or(last.map(|last| last + 1))?);
        }
        Some(bounds)
    }

    /// The size of a type in bytes.
    pub(super) fn size(&self, unit: &Unit<Reader>, of: UnitOffset, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let entry = unit.entry(of).ok()?;
        let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|size| size.udata_value());
        match entry.tag() {
            gimli::DW_TAG_array_type => {
                let elements: u64 = self.bounds(unit, of)?.iter().product();
                Some(elements * self.size(unit, type_of(&entry)?, depth)?)
            }
            tag if is_qualifier(tag) => self.size(unit, type_of(&entry)?, depth),
            gimli::DW_TAG_pointer_type => Some(size.unwrap_or(8)),
            _ => size,
        }
    }
}

/// A member or a base class, which has no name.
struct Member {
    name: Option<String>,
    /// Its offset.
    start: u64,
    of: UnitOffset,
}

/// Returns `true` if a type is another one with a name or a qualifier.
pub(super) fn is_qualifier(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
    )
}

/// The declaration of what an entry defines.
pub(super) fn declaration_of(entry: &DebuggingInformationEntry<Reader>) -> Option<UnitOffset> {
    match entry.attr_value(gimli::DW_AT_specification)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

pub(super) fn name_of(
    dwarf: &Dwarf<Reader>,
    unit: &Unit<Reader>,
    entry: &DebuggingInformationEntry<Reader>,
) -> Option<String> {
    let name = dwarf.attr_string(unit, entry.attr_value(gimli::DW_AT_name)?).ok()?;
    Some(name.to_string().ok()?.into_owned())
}

pub(super) fn type_of(entry: &DebuggingInformationEntry<Reader>) -> Option<UnitOffset> {
    match entry.attr_value(gimli::DW_AT_type)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}
