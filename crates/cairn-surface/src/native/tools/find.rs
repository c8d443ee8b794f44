//! `find` finds files by name and text in files.

use super::{BuiltInTool, MANIFEST};
use crate::json::short;
use crate::native::declare::{Way, fields};
use crate::skin::{Body, Example, Fits, Ranged, Skin};
use cairn_types::{Action, Effect, Find, scheme_of};

fields! {
    /// Find files by name, text in files, or both. What git ignores is left out.
    FindIn {
        /// Glob over paths, such as src/**/*.rs; without a slash it matches at any depth.
        glob: Option<String>, or "include" "file_pattern";
        /// Text to look for: literal, or a regular expression written /…/ or /…/i.
        text: Option<String>, or "query" "regex" "search" "pattern";
        /// Directory, or address of entries such as known:///, to look in. Default the project root.
        under: Option<String>, or "path" "dir" "directory";
        /// Only entries with all of these tags.
        tags: Vec<String>, or "labels";
        /// Lines to show around each match. Default 0.
        context: Option<u64>, or "context_lines";
        /// How many results to skip. Default 0.
        skip: Option<u64>, or "offset";
        /// How many results at most. Default as many as fit.
        limit: Option<u64>, or "max_results" "head_limit";
    }
}

impl BuiltInTool for FindIn {
    const NAME: &'static str = "find";
    const ALIASES: &'static [&'static str] =
        &["grep", "search", "glob", "search_files", "find_files"];
    const EFFECT: Effect = Effect::Read;
    const STATEMENT_PLACE: u32 = 20;
    const TARGETS: &'static [&'static str] = &["glob", "under"];
    const WAYS: &'static [Way] = &[
        Way { needs: &["glob"], leaves: &[] },
        Way { needs: &["text"], leaves: &[] },
        Way { needs: &["tags"], leaves: &[] },
    ];
    const EXAMPLE: &'static str = r#"{"glob":"src/**/*.rs","text":"fn main"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["get", "set", "rm", "mv", "cp"],
            words: &["FIND", "READ"],
            target: &[("glob", Fits::Glob), ("under", Fits::Any)],
            signal: Some("tags"),
            scope: Some(Ranged::Results("skip", "limit")),
            body: Some(("text", Body::Matcher)),
            choosing: &[MANIFEST, "to"],
            meant: |said| {
                let is_looked_for = said.is_glob() || said.signal.is_some() || said.has("tags");
                let is_looked_for = is_looked_for || said.has("text") || said.has("under");
                let looks = matches!(said.name, "get" | "READ") && is_looked_for;
                said.name == "FIND" || said.has(MANIFEST) || looks
            },
            examples: &[
                Example {
                    tag: r#"<get path="src/**/*.rs">fn main</get>"#,
                    heredoc: "<<FIND(src/**/*.rs):fn main:FIND",
                    why: "A pattern for paths, a text for what is in them.",
                },
                Example {
                    tag: r#"<rm path="known:///draft_*" manifest/>"#,
                    heredoc: "<<FIND(known:///draft_*)::FIND",
                    why: "What a pattern means can be seen before anything is done to it.",
                },
            ],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let FindIn { glob, text, under, tags, context, skip, limit } = self;
        let is_address = under.as_deref().is_some_and(|under| scheme_of(under).is_some());
        if glob.is_none() && text.is_none() && tags.is_empty() && !is_address {
            return Err(match under {
                None => "neither glob nor text nor tags are given".to_owned(),
                Some(under) => format!(
                    "{:?} says only where to look; neither glob nor text nor tags are given",
                    short(&under)
                ),
            });
        }
        let (context, skip) = (context.unwrap_or(0), skip.unwrap_or(0));
        let limit = limit.filter(|n| *n > 0);
        Ok(Action::Find(Find { glob, text, under, context, skip, limit, tags }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Find(find) = action else { return None };
        let Find { glob, text, under, context, skip, limit, tags } = find.clone();
        let (context, skip) = ((context > 0).then_some(context), (skip > 0).then_some(skip));
        Some(FindIn { glob, text, under, tags, context, skip, limit })
    }
}
