//! Types and declarations.

use std::rc::Rc;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator,
    EnumType, Expression, FunctionDefinition, InitDeclarator, ParameterDeclaration,
    PointerQualifier, SpecifierQualifier, StorageClassSpecifier, StructDeclaration, StructKind,
    StructType, TypeName, TypeOf, TypeQualifier, TypeSpecifier,
};
use lang_c::span::Node as Ast;

use super::{Exec, Result, Scope, Symbol};
use crate::space::{ObjectKey, spot};
use crate::types::{Field, INT, Record, Type, UINT};

/// What the words before a declarator say.
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
    fn of_declaration(words: &'a [Ast<DeclarationSpecifier>]) -> Self {
        let mut all = Specifiers::default();
        for word in words {
            match &word.node {
                DeclarationSpecifier::StorageClass(class) => match class.node {
                    StorageClassSpecifier::Typedef => all.is_typedef = true,
                    StorageClassSpecifier::Extern => all.is_extern = true,
                    StorageClassSpecifier::Static => all.is_static = true,
                    StorageClassSpecifier::ThreadLocal => all.is_thread_local = true,
                    StorageClassSpecifier::Auto | StorageClassSpecifier::Register => {}
                },
                DeclarationSpecifier::TypeSpecifier(ty) => all.types.push(ty),
                DeclarationSpecifier::TypeQualifier(word) => {
                    all.is_atomic |= word.node == TypeQualifier::Atomic;
                }
                _ => {}
            }
        }
        all
    }

    fn of_type(words: &'a [Ast<SpecifierQualifier>]) -> Self {
        let mut all = Specifiers::default();
        for word in words {
            match &word.node {
                SpecifierQualifier::TypeSpecifier(ty) => all.types.push(ty),
                SpecifierQualifier::TypeQualifier(word) => {
                    all.is_atomic |= word.node == TypeQualifier::Atomic;
                }
                SpecifierQualifier::Extension(_) => {}
            }
        }
        all
    }
}

/// A declarator's name.
pub(super) fn declared(declarator: &Declarator) -> Option<&str> {
    match &declarator.kind.node {
        DeclaratorKind::Abstract => None,
        DeclaratorKind::Identifier(name) => Some(&name.node.name),
        DeclaratorKind::Declarator(inner) => declared(&inner.node),
    }
}

/// The parameters of a function's declarator.
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

impl<'a> Exec<'a> {
    pub(super) fn scope(&mut self) -> &mut Scope {
        match self.frames.last_mut().and_then(|frame| frame.scopes.last_mut()) {
            Some(scope) => scope,
            None => &mut self.globals,
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Symbol> {
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
    pub(super) fn size(&self, ty: &Type) -> Result<u64> {
        match ty.plain() {
            Type::Void | Type::Function(_) => Ok(1),
            Type::Array(of, Some(length)) => Ok(self.size(of)? * length),
            Type::Record(number) if self.records[*number].fields.is_some() => {
                Ok(self.records[*number].size)
            }
            Type::Float => self.refuse("floating point"),
            other => match other.width() {
                Some(width) => Ok(u64::from(width / 8)),
                None => self.refuse("the size of a type that is not complete"),
            },
        }
    }

    pub(super) fn align(&self, ty: &Type) -> Result<u64> {
        match ty.plain() {
            Type::Array(of, _) => self.align(of),
            Type::Record(number) => Ok(self.records[*number].align.max(1)),
            _ => self.size(ty),
        }
    }

    fn base_type(&mut self, words: &Specifiers<'a>) -> Result<Type> {
        let (mut long, mut short, mut char_, mut unsigned) = (0, false, false, false);
        let mut given = None;
        for word in &words.types {
            match &word.node {
                TypeSpecifier::Void => given = Some(Type::Void),
                TypeSpecifier::Bool => given = Some(Type::Bool),
                TypeSpecifier::Char => char_ = true,
                TypeSpecifier::Short => short = true,
                TypeSpecifier::Int => {}
                TypeSpecifier::Long => long += 1,
                TypeSpecifier::Signed => {}
                TypeSpecifier::Unsigned => unsigned = true,
                TypeSpecifier::Float | TypeSpecifier::Double | TypeSpecifier::TS18661Float(_) => {
                    given = Some(Type::Float);
                }
                TypeSpecifier::Complex => return self.refuse("complex numbers"),
                TypeSpecifier::Atomic(name) => {
                    let ty = self.type_name(&name.node)?;
                    given = Some(Type::Atomic(Rc::new(ty)));
                }
                TypeSpecifier::Struct(record) => given = Some(self.record(&record.node)?),
                TypeSpecifier::Enum(list) => given = Some(self.enumeration(&list.node)?),
                TypeSpecifier::TypedefName(name) => match self.lookup(&name.node.name) {
                    Some(Symbol::Typedef(ty)) => given = Some(ty),
                    _ => return self.refuse(format!("unknown type {}", name.node.name)),
                },
                TypeSpecifier::TypeOf(of) => {
                    given = Some(match &of.node {
                        TypeOf::Expression(expression) => self.type_of(expression)?,
                        TypeOf::Type(name) => self.type_name(&name.node)?,
                    });
                }
            }
        }
        let width = if char_ {
            8
        } else if short {
            16
        } else if long > 0 {
            64
        } else {
            32
        };
        let ty = given.unwrap_or(Type::Int { width, signed: !unsigned });
        Ok(if words.is_atomic && !ty.is_atomic() { Type::Atomic(Rc::new(ty)) } else { ty })
    }

    fn record(&mut self, record: &'a StructType) -> Result<Type> {
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
            self.records.push(Record { name, ..Record::default() });
        }
        if let Some(name) = name {
            self.scope().tags.insert(name, number);
        }
        if let Some(declarations) = &record.declarations {
            self.fields(number, &record.kind.node, declarations)?;
        }
        Ok(Type::Record(number))
    }

    fn fields(
        &mut self,
        number: usize,
        kind: &StructKind,
        declarations: &'a [Ast<StructDeclaration>],
    ) -> Result<()> {
        let mut listed: Vec<(Option<String>, Type)> = vec![];
        for declaration in declarations {
            let StructDeclaration::Field(field) = &declaration.node else { continue };
            self.here = field.span;
            let base = self.base_type(&Specifiers::of_type(&field.node.specifiers))?;
            if field.node.declarators.is_empty() {
                listed.push((None, base.clone()));
            }
            for declarator in &field.node.declarators {
                if declarator.node.bit_width.is_some() {
                    return self.refuse("a bit-field");
                }
                let Some(declarator) = &declarator.node.declarator else { continue };
                let ty = self.derive(base.clone(), &declarator.node)?;
                listed.push((declared(&declarator.node).map(String::from), ty));
            }
        }
        let (mut fields, mut end, mut align, mut size) = (vec![], 0u64, 1, 0u64);
        for (name, ty) in listed {
            let this = self.align(&ty)?;
            let offset = if *kind == StructKind::Union { 0 } else { end.next_multiple_of(this) };
            let length = if matches!(ty, Type::Array(_, None)) { 0 } else { self.size(&ty)? };
            end = offset + length;
            size = size.max(end);
            align = align.max(this);
            fields.push(Field { name, ty, offset });
        }
        let record = &mut self.records[number];
        (record.fields, record.align) = (Some(fields), align);
        record.size = size.next_multiple_of(align);
        Ok(())
    }

    fn enumeration(&mut self, list: &'a EnumType) -> Result<Type> {
        let (mut next, mut is_signed) = (0, false);
        for item in &list.enumerators {
            if let Some(expression) = &item.node.expression {
                next = self.constant_value(expression)? as i64;
            }
            let name = item.node.identifier.node.name.clone();
            self.scope().names.insert(name, Symbol::Constant(next));
            is_signed |= next < 0;
            next += 1;
        }
        Ok(if is_signed { INT } else { UINT })
    }

    /// The value of an expression that must be constant.
    pub(super) fn constant_value(&mut self, expression: &'a Ast<Expression>) -> Result<u64> {
        let (term, ty) = self.scalar(expression)?;
        let wide = self.terms.resize(term, 64, ty.is_signed());
        match self.terms.as_const(wide) {
            Some(value) => Ok(value),
            None => self.refuse("a constant is needed here"),
        }
    }

    /// The type of an expression, which is not evaluated.
    pub(super) fn type_of(&mut self, expression: &'a Ast<Expression>) -> Result<Type> {
        let saved = self.state.clone();
        let events = self.after();
        let (checks, cuts, inputs) = (self.checks.len(), self.cuts.len(), self.inputs.len());
        let mallocs = self.mallocs;
        let only_type = std::mem::replace(&mut self.only_type, true);
        let ty = match self.lvalue_type(expression) {
            Ok(Some(ty)) => Ok(ty),
            Ok(None) => self.eval(expression).map(|(_, ty)| ty),
            Err(refusal) => Err(refusal),
        };
        (self.only_type, self.mallocs) = (only_type, mallocs);
        self.threads[self.thread].events.truncate(events);
        self.checks.truncate(checks);
        self.cuts.truncate(cuts);
        self.inputs.truncate(inputs);
        self.state = saved;
        ty
    }

    pub(super) fn type_name(&mut self, name: &'a TypeName) -> Result<Type> {
        let base = self.base_type(&Specifiers::of_type(&name.specifiers))?;
        match &name.declarator {
            Some(declarator) => self.derive(base, &declarator.node),
            None => Ok(base),
        }
    }

    /// The type that a declarator makes of a type.
    fn derive(&mut self, base: Type, declarator: &'a Declarator) -> Result<Type> {
        let mut ty = base;
        let (pointers, others): (Vec<_>, Vec<_>) = declarator
            .derived
            .iter()
            .partition(|derived| matches!(derived.node, DerivedDeclarator::Pointer(_)));
        for pointer in pointers {
            ty = Type::pointer(ty);
            if let DerivedDeclarator::Pointer(words) = &pointer.node {
                let is_atomic = |word: &Ast<PointerQualifier>| matches!(&word.node, PointerQualifier::TypeQualifier(word) if word.node == TypeQualifier::Atomic);
                if words.iter().any(is_atomic) {
                    ty = Type::Atomic(Rc::new(ty));
                }
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
                    Type::Array(Rc::new(ty), length)
                }
                DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_) => {
                    Type::Function(Rc::new(ty))
                }
                DerivedDeclarator::Pointer(_) => ty,
                DerivedDeclarator::Block(_) => return self.refuse("a block"),
            };
        }
        match &declarator.kind.node {
            DeclaratorKind::Declarator(inner) => self.derive(ty, &inner.node),
            _ => Ok(ty),
        }
    }

    pub(super) fn parameter(
        &mut self,
        parameter: &'a ParameterDeclaration,
    ) -> Result<(Option<&'a str>, Type)> {
        let base = self.base_type(&Specifiers::of_declaration(&parameter.specifiers))?;
        let Some(declarator) = &parameter.declarator else { return Ok((None, base)) };
        let ty = match self.derive(base, &declarator.node)? {
            Type::Array(of, _) => Type::Pointer(of),
            Type::Function(of) => Type::pointer(Type::Function(of)),
            other => other,
        };
        Ok((declared(&declarator.node), ty))
    }

    pub(super) fn define_function(&mut self, function: &'a Ast<FunctionDefinition>) -> Result<()> {
        let words = Specifiers::of_declaration(&function.node.specifiers);
        let base = self.base_type(&words)?;
        let declarator = &function.node.declarator.node;
        let Some(name) = declared(declarator) else {
            return self.refuse("a function without a name");
        };
        let ty = self.derive(base, declarator)?;
        self.globals.names.insert(name.to_owned(), Symbol::Function(ty));
        self.functions.insert(name.to_owned(), &function.node);
        Ok(())
    }

    /// What a function returns.
    pub(super) fn result_type(&mut self, function: &'a FunctionDefinition) -> Result<Type> {
        let name = declared(&function.declarator.node).unwrap_or_default();
        match self.globals.names.get(name) {
            Some(Symbol::Function(Type::Function(result))) => Ok((**result).clone()),
            _ => self.refuse("a function of this type"),
        }
    }

    pub(super) fn declare_global(&mut self, declaration: &'a Ast<Declaration>) -> Result<()> {
        let words = Specifiers::of_declaration(&declaration.node.specifiers);
        let base = self.base_type(&words)?;
        for item in &declaration.node.declarators {
            let ty = self.derive(base.clone(), &item.node.declarator.node)?;
            let Some(name) = declared(&item.node.declarator.node).map(String::from) else {
                continue;
            };
            if words.is_typedef {
                self.globals.names.insert(name, Symbol::Typedef(ty));
            } else if matches!(ty, Type::Function(_)) {
                self.globals.names.insert(name, Symbol::Function(ty));
            } else if words.is_thread_local {
                let initializer = item.node.initializer.as_ref().map(|init| &init.node);
                self.locals.insert(name.clone(), (ty.clone(), initializer));
                self.globals.names.insert(name, Symbol::ThreadLocal(ty));
            } else {
                self.global_variable(&name, ty, &words, &item.node)?;
            }
        }
        Ok(())
    }

    fn global_variable(
        &mut self,
        name: &str,
        ty: Type,
        words: &Specifiers<'a>,
        item: &'a InitDeclarator,
    ) -> Result<()> {
        let initializer = item.initializer.as_ref().map(|initializer| &initializer.node);
        let ty = self.complete(ty, initializer)?;
        if words.is_extern && initializer.is_none() && self.size(&ty).is_err() {
            return Ok(());
        }
        let size = self.size(&ty)?;
        let key = ObjectKey::Global(name.to_owned());
        let object = self.space.object(key, name, size, true);
        self.globals.names.insert(name.to_owned(), Symbol::Variable(object, ty.clone()));
        if let Some(initializer) = initializer {
            let at = self.address(object);
            self.initialise(at, &ty, initializer)?;
        }
        Ok(())
    }

    pub(super) fn declare_local(&mut self, declaration: &'a Ast<Declaration>) -> Result<()> {
        self.here = declaration.span;
        let words = Specifiers::of_declaration(&declaration.node.specifiers);
        let base = self.base_type(&words)?;
        for item in &declaration.node.declarators {
            self.here = item.span;
            let ty = self.derive(base.clone(), &item.node.declarator.node)?;
            let Some(name) = declared(&item.node.declarator.node).map(String::from) else {
                continue;
            };
            if words.is_typedef {
                self.scope().names.insert(name, Symbol::Typedef(ty));
            } else if matches!(ty, Type::Function(_)) {
                self.scope().names.insert(name, Symbol::Function(ty));
            } else if words.is_extern {
                let Some(symbol) = self.globals.names.get(&name).cloned() else {
                    return self.refuse(format!("{name} is not defined"));
                };
                self.scope().names.insert(name, symbol);
            } else {
                self.local_variable(&name, ty, &words, item)?;
            }
        }
        Ok(())
    }

    fn local_variable(
        &mut self,
        name: &str,
        ty: Type,
        words: &Specifiers<'a>,
        item: &'a Ast<InitDeclarator>,
    ) -> Result<()> {
        let initializer = item.node.initializer.as_ref().map(|initializer| &initializer.node);
        let ty = self.complete(ty, initializer)?;
        let size = self.size(&ty)?;
        if words.is_static || words.is_thread_local {
            let key = match words.is_thread_local {
                true => ObjectKey::Local(self.thread, format!("{name}@{}", spot(item.span))),
                false => ObjectKey::Static(spot(item.span)),
            };
            let object = self.space.object(key, name, size, true);
            self.scope().names.insert(name.to_owned(), Symbol::Variable(object, ty.clone()));
            return self.initialise_static(object, &ty, initializer);
        }
        let before = self.frame().declared.get(&spot(item.span)).copied();
        let object = match before {
            Some(object) if self.is_dead() => {
                self.gone.remove(&object);
                object
            }
            _ => self.make(name, size, false),
        };
        self.frame().declared.insert(spot(item.span), object);
        let scope = self.scope();
        scope.names.insert(name.to_owned(), Symbol::Variable(object, ty.clone()));
        scope.objects.push(object);
        // It begins anew every time its declaration is passed.
        let env = Rc::make_mut(&mut self.state.env);
        env.retain(|cell, _| cell.0 != object);
        if let (Some(initializer), false) = (initializer, self.is_dead()) {
            let at = self.address(object);
            self.initialise(at, &ty, initializer)?;
        }
        Ok(())
    }
}
