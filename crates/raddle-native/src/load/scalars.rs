//! Names of types, and what values of scalar types stand for.

use gimli::DwAte;

use super::types::{TypeId, Types, is_qualifier, name_of, type_of};

/// What a scalar represents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// The address of an object of a type, if that is known.
    Pointer(Option<TypeId>),
    Bool,
    /// An integer of this size in bytes.
    Signed(u64),
    Unsigned,
    Character,
    /// A number of this size in bytes.
    Float(u64),
    /// The name of each value.
    Enumeration(Vec<(i128, String)>),
}

impl Types {
    /// The type that is meant by names and qualifiers, and the last name for it.
    fn unqualified(&self, of: TypeId) -> Option<(TypeId, Option<String>)> {
        let (mut at, mut alias) = (of, None);
        let unit = &self.units[of.unit];
        // Chains of names are short; damaged files may have cycles.
        for _ in 0..64 {
            let entry = unit.entry(at.offset).ok()?;
            if !is_qualifier(entry.tag()) {
                return Some((at, alias));
            }
            if entry.tag() == gimli::DW_TAG_typedef {
                alias = name_of(&self.dwarf, unit, &entry).or(alias);
            }
            at.offset = type_of(&entry)?;
        }
        None
    }

    /// The name of a type: of a class, its own one without scopes and template arguments.
    pub(crate) fn type_name(&self, of: TypeId) -> Option<String> {
        let (at, alias) = self.unqualified(of)?;
        let unit = &self.units[at.unit];
        let entry = unit.entry(at.offset).ok()?;
        if entry.tag() == gimli::DW_TAG_pointer_type {
            let name = type_of(&entry)
                .and_then(|offset| self.type_name(TypeId { offset, ..at }))
                .unwrap_or_else(|| String::from("void"));
            return Some(format!("{name}*"));
        }
        let name = name_of(&self.dwarf, unit, &entry).or(alias)?;
        Some(name.split('<').next().unwrap_or_default().to_owned())
    }

    /// What values of a type represent; `None` if it is not a scalar.
    pub(crate) fn scalar(&self, of: TypeId) -> Option<Scalar> {
        let (at, _) = self.unqualified(of)?;
        let unit = &self.units[at.unit];
        let entry = unit.entry(at.offset).ok()?;
        let size = || self.size_of(at);
        match entry.tag() {
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => {
                Some(Scalar::Pointer(type_of(&entry).map(|offset| TypeId { offset, ..at })))
            }
            gimli::DW_TAG_enumeration_type => Some(Scalar::Enumeration(self.enumerators(at)?)),
            gimli::DW_TAG_base_type => match entry.attr_value(gimli::DW_AT_encoding)? {
                gimli::AttributeValue::Encoding(encoding) => of_encoding(encoding, size()?),
                _ => None,
            },
            _ => None,
        }
    }

    fn enumerators(&self, of: TypeId) -> Option<Vec<(i128, String)>> {
        let unit = &self.units[of.unit];
        let mut tree = unit.entries_tree(Some(of.offset)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut names = vec![];
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            let value = entry.attr_value(gimli::DW_AT_const_value);
            let number = value.and_then(|value| value.sdata_value());
            let name = name_of(&self.dwarf, unit, entry);
            names.extend(number.map(i128::from).zip(name));
        }
        Some(names)
    }
}

fn of_encoding(encoding: DwAte, size: u64) -> Option<Scalar> {
    match encoding {
        gimli::DW_ATE_boolean => Some(Scalar::Bool),
        gimli::DW_ATE_signed => Some(Scalar::Signed(size)),
        gimli::DW_ATE_unsigned => Some(Scalar::Unsigned),
        gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => {
            Some(Scalar::Character)
        }
        gimli::DW_ATE_float if size == 4 || size == 8 => Some(Scalar::Float(size)),
        _ => None,
    }
}
