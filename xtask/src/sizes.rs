//! No type with behaviour holds too much: its methods over all impl blocks, the free functions that take it first,
//! and its fields are counted. A type has behaviour if something changes it after it was made.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::{FnArg, ImplItem, Item, Signature, Type};

const MOST_METHODS: usize = 60;
const MOST_FIELDS: usize = 16;

/// A type, by its crate, its name and the file that defines it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TypeName {
    krate: String,
    name: String,
    file: PathBuf,
}

#[derive(Debug, Default)]
struct Size {
    methods: usize,
    fields: usize,
    changes_itself: bool,
}

/// A function that belongs to a type.
struct Member {
    krate: String,
    of: String,
    file: PathBuf,
    changes_it: bool,
}

/// Types that hold too much.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut sizes: BTreeMap<TypeName, Size> = BTreeMap::new();
    let mut members = Vec::new();
    for path in crate::files(root, &["crates"], ".rs")? {
        let file = path.strip_prefix(root).unwrap_or(&path);
        let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let [_, krate, src, ..] = &parts[..] else { continue };
        if src != "src" || parts.iter().any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        let parsed = syn::parse_file(&text).with_context(|| format!("{}", file.display()))?;
        collect(&parsed.items, krate, file, &mut sizes, &mut members);
    }
    for member in members {
        if let Some(size) = definition_of(&member, &sizes).and_then(|name| sizes.get_mut(&name)) {
            size.methods += 1;
            size.changes_itself |= member.changes_it;
        }
    }
    Ok(sizes.iter().filter_map(|(name, size)| problem(name, size)).collect())
}

fn problem(name: &TypeName, size: &Size) -> Option<String> {
    let (methods, fields) = (size.methods, size.fields);
    let (most_methods, most_fields) = (MOST_METHODS, MOST_FIELDS);
    let is_too_much = methods > most_methods || fields > most_fields;
    (size.changes_itself && is_too_much).then(|| {
        format!(
            "{}: {} has {methods} methods (at most {most_methods}) and {fields} fields (at most \
             {most_fields}); split it by concept",
            name.file.display(),
            name.name
        )
    })
}

/// The definition that a member means: in a crate that has several of this name, the one nearest to its file.
fn definition_of(member: &Member, sizes: &BTreeMap<TypeName, Size>) -> Option<TypeName> {
    let is_it = |name: &&TypeName| name.krate == member.krate && name.name == member.of;
    let shared = |name: &&TypeName| {
        name.file.iter().zip(&member.file).take_while(|(one, other)| one == other).count()
    };
    sizes.keys().filter(is_it).max_by_key(shared).cloned()
}

fn collect(
    items: &[Item],
    krate: &str,
    file: &Path,
    sizes: &mut BTreeMap<TypeName, Size>,
    members: &mut Vec<Member>,
) {
    let member = |of: String, signature: &Signature| Member {
        krate: krate.to_owned(),
        of,
        file: file.to_owned(),
        changes_it: takes_mutably(signature),
    };
    let define = |name: &syn::Ident| TypeName {
        krate: krate.to_owned(),
        name: name.to_string(),
        file: file.to_owned(),
    };
    for item in items {
        match item {
            Item::Struct(of) => {
                sizes.entry(define(&of.ident)).or_default().fields = of.fields.len();
            }
            Item::Enum(of) => {
                sizes.entry(define(&of.ident)).or_default();
            }
            Item::Impl(block) => {
                let Some(name) = last_name(&block.self_ty) else { continue };
                let functions = block.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(function) => Some(member(name.clone(), &function.sig)),
                    _ => None,
                });
                members.extend(functions);
            }
            Item::Fn(function) => {
                if let Some(FnArg::Typed(first)) = function.sig.inputs.first()
                    && let Some(name) = last_name(&first.ty)
                {
                    members.push(member(name, &function.sig));
                }
            }
            Item::Mod(module) if !is_for_tests(&module.attrs) => {
                let items = module.content.as_ref().map(|(_, items)| items.as_slice());
                collect(items.unwrap_or_default(), krate, file, sizes, members);
            }
            _ => {}
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
    })
}

/// The name of a type, without references and parameters.
fn last_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(reference) => last_name(&reference.elem),
        _ => None,
    }
}

/// Whether a function may change what it takes first.
fn takes_mutably(signature: &Signature) -> bool {
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) => {
            receiver.reference.is_some() && receiver.mutability.is_some()
        }
        Some(FnArg::Typed(first)) => {
            matches!(&*first.ty, Type::Reference(reference) if reference.mutability.is_some())
        }
        None => false,
    }
}
