//! Types, declarations and definitions.

use std::rc::Rc;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator,
    EnumType, Expression, FunctionDefinition, InitDeclarator, ParameterDeclaration,
    PointerQualifier, SpecifierQualifier, StorageClassSpecifier, StructDeclaration, StructKind,
    StructType, TypeName, TypeOf, TypeQualifier, TypeSpecifier,
};
use lang_c::span::Node as Ast;

use super::{BlockScope, CSymbol, FLOATING_POINT, Result, SymbolicExecutor};
use crate::abi_type::{AbiType, FieldLayout, INT, RecordLayout, UINT};
use crate::address_space::{ObjectKey, span_key};

/// The declaration specifiers before a declarator.
#[derive(Default)]
struct Specifiers<'a> {
    types: Vec<&'a Ast<TypeSpecifier>>,
    is_atomic: bool,
    is_typedef: bool,
    is_extern: bool,
    is_static: bool,
    is_thread_local: bool,
}

impl<'a> Specifiers<'a> {
    fn of_declaration(list: &'a [Ast<DeclarationSpecifier>]) -> Self {
        let mut all = Specifiers::default();
        for specifier in list {
            match &specifier.node {
                DeclarationSpecifier::StorageClass(class) => match class.node {
                    StorageClassSpecifier::Typedef => all.is_typedef = true,
                    StorageClassSpecifier::Extern => all.is_extern = true,
                    StorageClassSpecifier::Static => all.is_static = true,
                    StorageClassSpecifier::ThreadLocal => all.is_thread_local = true,
                    StorageClassSpecifier::Auto | StorageClassSpecifier::Register => {}
                },
                DeclarationSpecifier::TypeSpecifier(ty) => all.types.push(ty),
                DeclarationSpecifier::TypeQualifier(qualifier) => {
                    all.is_atomic |= qualifier.node == TypeQualifier::Atomic;
                }
                _ => {}
            }
        }
        all
    }

    fn of_type(list: &'a [Ast<SpecifierQualifier>]) -> Self {
        let mut all = Specifiers::default();
        for specifier in list {
            match &specifier.node {
                SpecifierQualifier::TypeSpecifier(ty) => all.types.push(ty),
                SpecifierQualifier::TypeQualifier(qualifier) => {
                    all.is_atomic |= qualifier.node == TypeQualifier::Atomic;
                }
                SpecifierQualifier::Extension(_) => {}
            }
        }
        all
    }
}

/// The name that a declarator declares. `None` for an abstract declarator.
pub(super) fn declared_name(declarator: &Declarator) -> Option<&str> {
    match &declarator.kind.node {
        DeclaratorKind::Abstract => None,
        DeclaratorKind::Identifier(name) => Some(&name.node.name),
        DeclaratorKind::Declarator(inner) => declared_name(&inner.node),
    }
}

/// The parameters of a function declarator.
pub(super) fn parameters(declarator: &Declarator) -> &[Ast<ParameterDeclaration>] {
    for derived in &declarator.derived {
        if let DerivedDeclarator::Function(function) = &derived.node {
            return &function.node.parameters;
        }
    }
    match &declarator.kind.node {
        DeclaratorKind::Declarator(inner) => parameters(&inner.node),
        _ => &[],
    }
}

impl<'a> SymbolicExecutor<'a> {
    /// The innermost scope.
    pub(super) fn scope(&mut self) -> &mut BlockScope {
        match self.frames.last_mut().and_then(|frame| frame.scopes.last_mut()) {
            Some(scope) => scope,
            None => &mut self.globals,
        }
    }

    /// The meaning of an identifier in the current scope.
    pub(super) fn lookup(&self, name: &str) -> Option<CSymbol> {
        let scopes = self.frames.last().map_or(&[][..], |frame| &frame.scopes);
        let mut scopes = scopes.iter().rev().chain([&self.globals]);
        scopes.find_map(|scope| scope.names.get(name).cloned())
    }

    fn lookup_tag(&self, name: &str) -> Option<usize> {
        let scopes = self.frames.last().map_or(&[][..], |frame| &frame.scopes);
        let mut scopes = scopes.iter().rev().chain([&self.globals]);
        scopes.find_map(|scope| scope.tags.get(name).copied())
    }

    /// The size of a type in bytes.
    pub(super) fn size(&self, ty: &AbiType) -> Result<u64> {
        match ty.unqualified() {
            AbiType::Void | AbiType::Function(_) => Ok(1),
            AbiType::Array(of, Some(length)) => Ok(self.size(of)? * length),
            AbiType::Record(number) if self.records[*number].fields.is_some() => {
                Ok(self.records[*number].size)
            }
            AbiType::Float => self.unsupported(FLOATING_POINT),
            other => match other.width() {
                Some(width) => Ok(u64::from(width / 8)),
                None => self.unsupported("the size of an incomplete type is needed"),
            },
        }
    }

    /// The alignment of a type in bytes.
    pub(super) fn align(&self, ty: &AbiType) -> Result<u64> {
        match ty.unqualified() {
            AbiType::Array(of, _) => self.align(of),
            AbiType::Record(number) => Ok(self.records[*number].align.max(1)),
            _ => self.size(ty),
        }
    }

    /// The type that the specifiers denote, before declarators are applied.
    fn base_type(&mut self, specifiers: &Specifiers<'a>) -> Result<AbiType> {
        let (mut is_long, mut is_short, mut is_char, mut is_unsigned) =
            (false, false, false, false);
        let mut given = None;
        for specifier in &specifiers.types {
            match &specifier.node {
                TypeSpecifier::Void => given = Some(AbiType::Void),
                TypeSpecifier::Bool => given = Some(AbiType::Bool),
                TypeSpecifier::Char => is_char = true,
                TypeSpecifier::Short => is_short = true,
                TypeSpecifier::Long => is_long = true,
                TypeSpecifier::Unsigned => is_unsigned = true,
                TypeSpecifier::Int | TypeSpecifier::Signed => {}
                TypeSpecifier::Float | TypeSpecifier::Double | TypeSpecifier::TS18661Float(_) => {
                    given = Some(AbiType::Float);
                }
                TypeSpecifier::Complex => {
                    return self.unsupported("complex numbers are not supported");
                }
                TypeSpecifier::Atomic(name) => {
                    let ty = self.type_name(&name.node)?;
                    given = Some(AbiType::Atomic(Rc::new(ty)));
                }
                TypeSpecifier::Struct(record) => given = Some(self.record_type(&record.node)?),
                TypeSpecifier::Enum(list) => given = Some(self.enum_type(&list.node)?),
                TypeSpecifier::TypedefName(name) => match self.lookup(&name.node.name) {
                    Some(CSymbol::Typedef(ty)) => given = Some(ty),
                    _ => {
                        let name = &name.node.name;
                        return self.unsupported(format!("the type `{name}` is not defined"));
                    }
                },
                TypeSpecifier::TypeOf(of) => {
                    given = Some(match &of.node {
                        TypeOf::Expression(expression) => self.type_of(expression)?,
                        TypeOf::Type(name) => self.type_name(&name.node)?,
                    });
                }
            }
        }
        let width = match () {
            () if is_char => 8,
            () if is_short => 16,
            () if is_long => 64,
            () => 32,
        };
        let ty = given.unwrap_or(AbiType::Int { width, signed: !is_unsigned });
        Ok(if specifiers.is_atomic && !ty.is_atomic() { AbiType::Atomic(Rc::new(ty)) } else { ty })
    }

    /// A structure or union type, which may be defined here, declared or referred to by its tag.
    fn record_type(&mut self, record: &'a StructType) -> Result<AbiType> {
        let name = record.identifier.as_ref().map(|name| name.node.name.clone());
        let declared = name.as_deref().and_then(|name| self.scope().tags.get(name).copied());
        let known = if record.declarations.is_some() {
            declared.filter(|&number| self.records[number].fields.is_none())
        } else {
            declared.or_else(|| name.as_deref().and_then(|name| self.lookup_tag(name)))
        };
        let number = known.unwrap_or(self.records.len());
        if known.is_none() {
            let name = name.clone().unwrap_or_default();
            self.records.push(RecordLayout { name, ..RecordLayout::default() });
        }
        if let Some(name) = name {
            self.scope().tags.insert(name, number);
        }
        if let Some(declarations) = &record.declarations {
            self.layout_fields(number, &record.kind.node, declarations)?;
        }
        Ok(AbiType::Record(number))
    }

    /// Computes the layout of a structure or union.
    fn layout_fields(
        &mut self,
        number: usize,
        kind: &StructKind,
        declarations: &'a [Ast<StructDeclaration>],
    ) -> Result<()> {
        let mut listed: Vec<(Option<String>, AbiType)> = vec![];
        for declaration in declarations {
            let StructDeclaration::Field(field) = &declaration.node else { continue };
            self.here = field.span;
            let base = self.base_type(&Specifiers::of_type(&field.node.specifiers))?;
            if field.node.declarators.is_empty() {
                listed.push((None, base.clone()));
            }
            for declarator in &field.node.declarators {
                if declarator.node.bit_width.is_some() {
                    return self.unsupported("bit-fields are not supported");
                }
                let Some(declarator) = &declarator.node.declarator else { continue };
                let ty = self.apply_declarator(base.clone(), &declarator.node)?;
                listed.push((declared_name(&declarator.node).map(String::from), ty));
            }
        }
        let (mut fields, mut end, mut align, mut size) = (vec![], 0u64, 1, 0u64);
        for (name, ty) in listed {
            let field_align = self.align(&ty)?;
            let is_union = *kind == StructKind::Union;
            let offset = if is_union { 0 } else { end.next_multiple_of(field_align) };
            let length = if matches!(ty, AbiType::Array(_, None)) { 0 } else { self.size(&ty)? };
            end = offset + length;
            size = size.max(end);
            align = align.max(field_align);
            fields.push(FieldLayout { name, ty, offset });
        }
        let record = &mut self.records[number];
        (record.fields, record.align) = (Some(fields), align);
        record.size = size.next_multiple_of(align);
        Ok(())
    }

    /// An enumeration type. Defines its enumerators.
    fn enum_type(&mut self, list: &'a EnumType) -> Result<AbiType> {
        let (mut next, mut is_signed) = (0, false);
        for item in &list.enumerators {
            if let Some(expression) = &item.node.expression {
                next = self.constant_value(expression)? as i64;
            }
            let name = item.node.identifier.node.name.clone();
            self.scope().names.insert(name, CSymbol::Constant(next));
            is_signed |= next < 0;
            next += 1;
        }
        Ok(if is_signed { INT } else { UINT })
    }

    /// The value of a constant expression.
    pub(super) fn constant_value(&mut self, expression: &'a Ast<Expression>) -> Result<u64> {
        let (term, ty) = self.scalar(expression)?;
        let wide = self.terms.resize(term, 64, ty.is_signed());
        match self.terms.as_const(wide) {
            Some(value) => Ok(value),
            None => self.unsupported("this expression must be constant"),
        }
    }

    /// The type of an expression, without effects of its evaluation.
    pub(super) fn type_of(&mut self, expression: &'a Ast<Expression>) -> Result<AbiType> {
        let saved = self.state.clone();
        let statements = self.statement_count();
        let blocked_forever = self.threads[self.thread].blocked_forever.len();
        let (checks, cuts, inputs) = (self.checks.len(), self.cuts.len(), self.inputs.len());
        let mallocs = self.mallocs;
        let only_type = std::mem::replace(&mut self.type_only, true);
        let ty = match self.lvalue_type(expression) {
            Ok(Some(ty)) => Ok(ty),
            Ok(None) => self.eval(expression).map(|(_, ty)| ty),
            Err(error) => Err(error),
        };
        (self.type_only, self.mallocs) = (only_type, mallocs);
        self.threads[self.thread].statements.truncate(statements);
        self.threads[self.thread].blocked_forever.truncate(blocked_forever);
        self.checks.truncate(checks);
        self.cuts.truncate(cuts);
        self.inputs.truncate(inputs);
        self.state = saved;
        ty
    }

    /// The type that a type name denotes.
    pub(super) fn type_name(&mut self, name: &'a TypeName) -> Result<AbiType> {
        let base = self.base_type(&Specifiers::of_type(&name.specifiers))?;
        match &name.declarator {
            Some(declarator) => self.apply_declarator(base, &declarator.node),
            None => Ok(base),
        }
    }

    /// The type that a declarator derives from the base type.
    fn apply_declarator(&mut self, base: AbiType, declarator: &'a Declarator) -> Result<AbiType> {
        let mut ty = base;
        let (pointers, others): (Vec<_>, Vec<_>) = declarator
            .derived
            .iter()
            .partition(|derived| matches!(derived.node, DerivedDeclarator::Pointer(_)));
        for pointer in pointers {
            ty = AbiType::pointer_to(ty);
            if let DerivedDeclarator::Pointer(qualifiers) = &pointer.node
                && qualifiers.iter().any(is_atomic)
            {
                ty = AbiType::Atomic(Rc::new(ty));
            }
        }
        for derived in others.into_iter().rev() {
            ty = match &derived.node {
                DerivedDeclarator::Array(array) => {
                    let length = match &array.node.size {
                        ArraySize::Unknown | ArraySize::VariableUnknown => None,
                        ArraySize::VariableExpression(length)
                        | ArraySize::StaticExpression(length) => Some(self.constant_value(length)?),
                    };
                    AbiType::Array(Rc::new(ty), length)
                }
                DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_) => {
                    AbiType::Function(Rc::new(ty))
                }
                DerivedDeclarator::Pointer(_) => ty,
                DerivedDeclarator::Block(_) => {
                    return self.unsupported("blocks (`^`) are not supported");
                }
            };
        }
        match &declarator.kind.node {
            DeclaratorKind::Declarator(inner) => self.apply_declarator(ty, &inner.node),
            _ => Ok(ty),
        }
    }

    /// Name and type of a parameter. Arrays and functions become pointers.
    pub(super) fn parameter(
        &mut self,
        parameter: &'a ParameterDeclaration,
    ) -> Result<(Option<&'a str>, AbiType)> {
        let base = self.base_type(&Specifiers::of_declaration(&parameter.specifiers))?;
        let Some(declarator) = &parameter.declarator else { return Ok((None, base)) };
        let ty = match self.apply_declarator(base, &declarator.node)? {
            AbiType::Array(of, _) => AbiType::Pointer(of),
            AbiType::Function(of) => AbiType::pointer_to(AbiType::Function(of)),
            other => other,
        };
        Ok((declared_name(&declarator.node), ty))
    }

    pub(super) fn define_function(&mut self, function: &'a Ast<FunctionDefinition>) -> Result<()> {
        let specifiers = Specifiers::of_declaration(&function.node.specifiers);
        let base = self.base_type(&specifiers)?;
        let declarator = &function.node.declarator.node;
        let Some(name) = declared_name(declarator) else {
            return self.unsupported("this function has no name");
        };
        let ty = self.apply_declarator(base, declarator)?;
        self.globals.names.insert(name.to_owned(), CSymbol::Function(ty));
        self.functions.insert(name.to_owned(), &function.node);
        Ok(())
    }

    /// The result type of a function.
    pub(super) fn result_type(&mut self, function: &'a FunctionDefinition) -> Result<AbiType> {
        let name = declared_name(&function.declarator.node).unwrap_or_default();
        match self.globals.names.get(name) {
            Some(CSymbol::Function(AbiType::Function(result))) => Ok((**result).clone()),
            _ => self.unsupported(format!("the function `{name}` has an unsupported type")),
        }
    }

    pub(super) fn declare_global(&mut self, declaration: &'a Ast<Declaration>) -> Result<()> {
        let specifiers = Specifiers::of_declaration(&declaration.node.specifiers);
        let base = self.base_type(&specifiers)?;
        for item in &declaration.node.declarators {
            let ty = self.apply_declarator(base.clone(), &item.node.declarator.node)?;
            let Some(name) = declared_name(&item.node.declarator.node).map(String::from) else {
                continue;
            };
            if specifiers.is_typedef {
                self.globals.names.insert(name, CSymbol::Typedef(ty));
            } else if matches!(ty, AbiType::Function(_)) {
                self.globals.names.insert(name, CSymbol::Function(ty));
            } else if specifiers.is_thread_local {
                let initializer = item.node.initializer.as_ref().map(|init| &init.node);
                self.thread_locals.insert(name.clone(), (ty.clone(), initializer));
                self.globals.names.insert(name, CSymbol::ThreadLocal(ty));
            } else {
                self.global_variable(&name, ty, &specifiers, &item.node)?;
            }
        }
        Ok(())
    }

    fn global_variable(
        &mut self,
        name: &str,
        ty: AbiType,
        specifiers: &Specifiers<'a>,
        item: &'a InitDeclarator,
    ) -> Result<()> {
        let initializer = item.initializer.as_ref().map(|initializer| &initializer.node);
        let ty = self.complete_array_type(ty, initializer)?;
        if specifiers.is_extern && initializer.is_none() && self.size(&ty).is_err() {
            return Ok(());
        }
        let size = self.size(&ty)?;
        let key = ObjectKey::Global(name.to_owned());
        let object = self.space.object(key, name, size, true);
        self.globals.names.insert(name.to_owned(), CSymbol::Variable(object, ty.clone()));
        if let Some(initializer) = initializer {
            let at = self.address(object);
            self.initialise(at, &ty, initializer)?;
        }
        Ok(())
    }

    pub(super) fn declare_local(&mut self, declaration: &'a Ast<Declaration>) -> Result<()> {
        self.here = declaration.span;
        let specifiers = Specifiers::of_declaration(&declaration.node.specifiers);
        let base = self.base_type(&specifiers)?;
        for item in &declaration.node.declarators {
            self.here = item.span;
            let ty = self.apply_declarator(base.clone(), &item.node.declarator.node)?;
            let Some(name) = declared_name(&item.node.declarator.node).map(String::from) else {
                continue;
            };
            if specifiers.is_typedef {
                self.scope().names.insert(name, CSymbol::Typedef(ty));
            } else if matches!(ty, AbiType::Function(_)) {
                self.scope().names.insert(name, CSymbol::Function(ty));
            } else if specifiers.is_extern {
                let Some(symbol) = self.globals.names.get(&name).cloned() else {
                    return self.unsupported(format!("the variable `{name}` is not defined"));
                };
                self.scope().names.insert(name, symbol);
            } else {
                self.local_variable(&name, ty, &specifiers, item)?;
            }
        }
        Ok(())
    }

    fn local_variable(
        &mut self,
        name: &str,
        ty: AbiType,
        specifiers: &Specifiers<'a>,
        item: &'a Ast<InitDeclarator>,
    ) -> Result<()> {
        let initializer = item.node.initializer.as_ref().map(|initializer| &initializer.node);
        let ty = self.complete_array_type(ty, initializer)?;
        let size = self.size(&ty)?;
        if specifiers.is_static || specifiers.is_thread_local {
            let key = match specifiers.is_thread_local {
                true => {
                    ObjectKey::ThreadLocal(self.thread, format!("{name}@{}", span_key(item.span)))
                }
                false => ObjectKey::Static(span_key(item.span)),
            };
            let object = self.space.object(key, name, size, true);
            self.scope().names.insert(name.to_owned(), CSymbol::Variable(object, ty.clone()));
            return self.initialise_static(object, &ty, initializer);
        }
        // A jump past the declaration enters the scope of the last object.
        let last = self.frame().last_objects.get(&span_key(item.span)).copied();
        let object = match last {
            Some(object) if self.is_dead() => {
                self.ended_objects.remove(&object);
                object
            }
            _ => self.new_object(name, size, false),
        };
        self.frame().last_objects.insert(span_key(item.span), object);
        let scope = self.scope();
        scope.names.insert(name.to_owned(), CSymbol::Variable(object, ty.clone()));
        scope.objects.push(object);
        // The object is new every time its declaration is executed.
        let env = Rc::make_mut(&mut self.state.env);
        env.retain(|cell, _| cell.0 != object);
        if let (Some(initializer), false) = (initializer, self.is_dead()) {
            let at = self.address(object);
            self.initialise(at, &ty, initializer)?;
        }
        Ok(())
    }
}

fn is_atomic(qualifier: &Ast<PointerQualifier>) -> bool {
    matches!(&qualifier.node, PointerQualifier::TypeQualifier(word) if word.node == TypeQualifier::Atomic)
}
