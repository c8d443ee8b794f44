//! How a tool is declared: a struct whose doc comments are what the model is told, whose fields are
//! its arguments, and whose types are their schema. The declaration is the only place where any of
//! this stands.

use super::args::Args;
use serde_json::{Map, Value, json};

/// One argument.
#[derive(Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Names models also use for it; reading one is reported.
    pub aliases: &'static [&'static str],
    /// Its type.
    pub kind: Kind,
    /// Whether a call without it makes no sense.
    pub required: bool,
    /// Its doc comment, line by line.
    pub doc: &'static [&'static str],
}

/// Types of arguments.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number from 0.
    Count,
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of objects with these fields.
    List(&'static [Param]),
}

/// One way to give a tool's arguments, where it has several: a list that is needed is not empty, and a flag is set.
#[derive(Debug)]
pub struct Way {
    /// What must be given, besides what always must.
    pub needs: &'static [&'static str],
    /// What is not given.
    pub leaves: &'static [&'static str],
}

/// A group of arguments that can be declared and read.
pub trait Fields: Sized {
    /// The arguments, in the order they are told.
    const PARAMS: &'static [Param];
    /// The doc comment, line by line.
    const DOC: &'static [&'static str];
    /// Reads them; they are known to fit `PARAMS`.
    fn read(args: &mut Args) -> Result<Self, String>;
    /// Writes them as they would be read.
    fn write(self) -> Map<String, Value>;
}

/// A type that an argument can have.
pub trait Argument: Sized {
    /// Its type on the wire.
    const KIND: Kind;
    /// Whether it must be given.
    const REQUIRED: bool = true;
    /// Reads it; its value, if given, is known to be of the kind.
    fn read(value: Option<Value>) -> Result<Self, String>;
    /// Writes it as it would be read; nothing where not giving it says the same.
    fn write(self) -> Option<Value>;
}

fn unfit<T>() -> Result<T, String> {
    Err("is missing".to_owned())
}

impl Argument for String {
    const KIND: Kind = Kind::Text;
    fn read(value: Option<Value>) -> Result<Self, String> {
        match value {
            Some(Value::String(text)) => Ok(text),
            _ => unfit(),
        }
    }
    fn write(self) -> Option<Value> {
        Some(Value::String(self))
    }
}

impl Argument for u64 {
    const KIND: Kind = Kind::Count;
    fn read(value: Option<Value>) -> Result<Self, String> {
        value.as_ref().and_then(Value::as_u64).map_or_else(unfit, Ok)
    }
    fn write(self) -> Option<Value> {
        Some(self.into())
    }
}

/// A flag that is not given is not set.
impl Argument for bool {
    const KIND: Kind = Kind::Flag;
    const REQUIRED: bool = false;
    fn read(value: Option<Value>) -> Result<Self, String> {
        Ok(value.as_ref().and_then(Value::as_bool).unwrap_or(false))
    }
    fn write(self) -> Option<Value> {
        self.then_some(Value::Bool(true))
    }
}

impl<T: Argument> Argument for Option<T> {
    const KIND: Kind = T::KIND;
    const REQUIRED: bool = false;
    fn read(value: Option<Value>) -> Result<Self, String> {
        value.map(|value| T::read(Some(value))).transpose()
    }
    fn write(self) -> Option<Value> {
        self.and_then(T::write)
    }
}

impl<T: Fields> Argument for Vec<T> {
    const KIND: Kind = Kind::List(T::PARAMS);
    fn read(value: Option<Value>) -> Result<Self, String> {
        let Some(Value::Array(items)) = value else { return unfit() };
        let fields = |item| match item {
            Value::Object(fields) => T::read(&mut Args::fitting(fields)),
            _ => unfit(),
        };
        items.into_iter().map(fields).collect()
    }
    fn write(self) -> Option<Value> {
        Some(Value::Array(self.into_iter().map(|item| Value::Object(item.write())).collect()))
    }
}

/// No texts are as good as none given.
impl Argument for Vec<String> {
    const KIND: Kind = Kind::Texts;
    const REQUIRED: bool = false;
    fn read(value: Option<Value>) -> Result<Self, String> {
        let Some(Value::Array(items)) = value else { return Ok(Vec::new()) };
        items.into_iter().map(|item| String::read(Some(item))).collect()
    }
    fn write(self) -> Option<Value> {
        (!self.is_empty()).then(|| self.into())
    }
}

/// Doc lines as one text.
pub(crate) fn told(doc: &[&str]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// What is told of an argument; of a list of objects also what is in them.
pub(crate) fn about(param: &Param) -> String {
    match param.kind {
        Kind::List(fields) => {
            let fields: Vec<String> = fields.iter().map(in_passing).collect();
            format!("{} A JSON list of objects with {}.", told(param.doc), fields.join(", "))
        }
        Kind::Word(words) => format!("{} One of {}.", told(param.doc), words.join(", ")),
        _ => told(param.doc),
    }
}

/// An argument in the middle of a sentence.
pub(crate) fn in_passing(param: &Param) -> String {
    format!("{} ({})", param.name, about(param).trim_end_matches('.'))
}

/// The JSON Schema of an object with these fields.
pub(crate) fn schema(params: &[Param]) -> Value {
    let properties: Map<String, Value> = params
        .iter()
        .map(|param| {
            let mut schema = param.kind.schema();
            schema["description"] = told(param.doc).into();
            (param.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = params.iter().filter(|p| p.required).map(|p| p.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Kind::Text => json!({"type": "string"}),
            Kind::Count => json!({"type": "integer", "minimum": 0}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Word(words) => json!({"type": "string", "enum": words}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::List(params) => json!({"type": "array", "items": schema(params)}),
        }
    }
}

/// Declares a group of arguments: doc comments for the model, fields with types, and in brackets
/// the other names that models give them.
macro_rules! fields {
    (
        $(#[doc = $doc:literal])+
        $name:ident {
            $($(#[doc = $about:literal])+ $param:ident: $type:ty $(, or $($alias:literal)+)?;)+
        }
    ) => {
        $(#[doc = $doc])+
        pub(super) struct $name {
            $($(#[doc = $about])+ pub(super) $param: $type,)+
        }

        impl $crate::native::declare::Fields for $name {
            const PARAMS: &'static [$crate::native::declare::Param] = &[$(
                $crate::native::declare::Param {
                    name: stringify!($param),
                    aliases: &[$($($alias),+)?],
                    kind: <$type as $crate::native::declare::Argument>::KIND,
                    required: <$type as $crate::native::declare::Argument>::REQUIRED,
                    doc: &[$($about),+],
                },
            )+];
            const DOC: &'static [&'static str] = &[$($doc),+];
            fn read(args: &mut $crate::native::args::Args) -> Result<Self, String> {
                Ok(Self { $($param: args.take(stringify!($param))?,)+ })
            }
            fn write(self) -> serde_json::Map<String, serde_json::Value> {
                let mut args = serde_json::Map::new();
                $(if let Some(value) = $crate::native::declare::Argument::write(self.$param) {
                    args.insert(stringify!($param).to_owned(), value);
                })+
                args
            }
        }
    };
}
pub(super) use fields;
