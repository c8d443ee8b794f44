//! Names of a list that later versions may extend: known ones are variants, any other is kept as it was written.

/// Declares an enum whose variants are written as these names. A name of a later version is kept in `Other`.
macro_rules! open_names {
    ($(#[doc = $doc:literal])* $type:ident { $($(#[doc = $about:literal])* $variant:ident = $name:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $type {
            $($(#[doc = $about])* $variant,)*
            /// A name that this version does not know.
            Other(String),
        }

        impl $type {
            /// The name, as it is written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $($type::$variant => $name,)*
                    $type::Other(name) => name,
                }
            }
        }

        impl From<String> for $type {
            fn from(name: String) -> $type {
                match name.as_str() {
                    $($name => $type::$variant,)*
                    _ => $type::Other(name),
                }
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.as_str().to_owned()
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use open_names;
