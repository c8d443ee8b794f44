//! The skins of the native tools: tags and words that mean them, the places of their arguments, and the examples
//! that teach them. In the order in which models are taught: gather, reason, act, communicate.

use super::tools::{MISSING, Tool, tool_of};
use crate::skin::{Body, Example, Fits, Ranged, Skin, Statement};
use cairn_text::near::distance;
use cairn_text::patch::{self, BodyForm};
use std::sync::LazyLock;

/// Attributes that say how rows are shown.
const VISIBILITY: &str = "visibility";
/// The attribute that asks what would be meant, and does nothing.
const MANIFEST: &str = "manifest";

/// The skins there are. Of several with the same tag or word the first that is meant counts.
#[must_use]
pub fn skins() -> &'static [Skin] {
    static ALL: LazyLock<Vec<Skin>> = LazyLock::new(all);
    &ALL
}

/// The skin that a statement called by this tag means.
#[must_use]
pub fn by_tag(statement: &Statement<'_>) -> Option<&'static Skin> {
    let is_named = |skin: &&Skin| skin.tags.contains(&statement.name);
    let own = || skins().iter().find(|skin| skin.tool.name == statement.name);
    skins().iter().filter(is_named).find(|skin| (skin.meant)(statement)).or_else(own)
}

/// The skin that a statement called by this word means.
#[must_use]
pub fn by_word(statement: &Statement<'_>) -> Option<&'static Skin> {
    let is_named = |skin: &&Skin| skin.words.contains(&statement.name);
    skins().iter().filter(is_named).find(|skin| (skin.meant)(statement))
}

/// Whether a tag means anything.
#[must_use]
pub fn is_tag(name: &str) -> bool {
    skins().iter().any(|skin| skin.tags.contains(&name) || skin.tool.name == name)
}

/// Whether a word means anything.
#[must_use]
pub fn is_word(name: &str) -> bool {
    skins().iter().any(|skin| skin.words.contains(&name))
}

/// The word that a name which is none is most like: by what its tool is also called, or by its letters.
#[must_use]
pub fn nearest_word(name: &str) -> Option<&'static str> {
    let shouted = name.to_ascii_uppercase();
    let mut words = skins().iter().flat_map(|skin| skin.words.iter().copied());
    if let Some(word) = words.find(|word| *word == shouted) {
        return Some(word);
    }
    let taught = |skin: &'static Skin| skin.words.first().copied();
    let by_tool = |tool: &Tool| {
        skins().iter().find(|skin| skin.tool.name == tool.name && !skin.words.is_empty())
    };
    if let Some(word) = super::tool(name).and_then(by_tool).and_then(taught) {
        return Some(word);
    }
    let words = skins().iter().flat_map(|skin| skin.words.iter().copied());
    let scored = words.map(|word| (distance(&shouted, word), word));
    scored.filter(|(score, _)| *score <= name.len().max(3) / 3).min().map(|(_, word)| word)
}

/// Whether it only changes how rows are shown.
fn only_shows(statement: &Statement<'_>, words: &[&str]) -> bool {
    !statement.says_something()
        && statement.word(VISIBILITY).is_some_and(|word| words.contains(&word))
}

/// Whether a statement's body is an edit of what stands at its target, and not the content for it.
fn is_edit(said: &Statement<'_>) -> bool {
    let is_kept = said.target.is_some_and(patch::is_kept_in);
    let is_edit = |body| patch::body_form(body) == BodyForm::Edit;
    !is_kept && said.body.is_some_and(is_edit)
}

/// A skin by its tool's name, without slots.
fn skin(tool: &str) -> Option<Skin> {
    let tool = tool_of(tool).or_else(|| MISSING.iter().find(|missing| missing.name == tool))?;
    Some(Skin {
        tool,
        tags: &[],
        words: &[],
        target: &[],
        signal: None,
        scope: None,
        body: None,
        bare: None,
        choosing: &[],
        meant: |_| true,
        examples: &[],
    })
}

fn all() -> Vec<Skin> {
    let groups = [shows(), looks(), edits(), carries(), commands(), people()];
    groups.into_iter().flatten().flatten().collect()
}

/// How rows are shown.
fn shows() -> Vec<Option<Skin>> {
    vec![
        skin("fold").map(|skin| Skin {
            tags: &["set", "mv", "cp"],
            words: &["FOLD"],
            target: &[("path", Fits::Any)],
            choosing: &[VISIBILITY],
            meant: |said| said.name == "FOLD" || only_shows(said, &["archived", "summarized"]),
            examples: &[Example {
                tag: r#"<set path="log:///1/2/*" visibility="archived"/>"#,
                heredoc: "<<FOLD(log:///1/2/*)::FOLD",
                why: "Putting rows away is one statement, over a pattern.",
            }],
            ..skin
        }),
        skin("open").map(|skin| Skin {
            tags: &["set", "mv", "cp"],
            words: &["OPEN"],
            target: &[("path", Fits::Any)],
            choosing: &[VISIBILITY],
            meant: |said| said.name == "OPEN" || only_shows(said, &["visible"]),
            examples: &[Example {
                tag: r#"<set path="log:///1/2/3" visibility="visible"/>"#,
                heredoc: "<<OPEN(log:///1/2/3)::OPEN",
                why: "What was put away comes back whole.",
            }],
            ..skin
        }),
    ]
}

/// Looking for things, and at them.
fn looks() -> Vec<Option<Skin>> {
    vec![
        skin("find").map(|skin| Skin {
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
        }),
        skin("read").map(|skin| Skin {
            tags: &["get"],
            words: &["READ"],
            target: &[("path", Fits::Any)],
            scope: Some(Ranged::Argument("scope")),
            body: Some(("matching", Body::Matcher)),
            bare: Some("path"),
            examples: &[
                Example {
                    tag: r#"<get path="notes.md"/>"#,
                    heredoc: "<<READ(notes.md)::READ",
                    why: "The simplest statement there is.",
                },
                Example {
                    tag: r#"<get path="src/main.rs" scope="10-20"/>"#,
                    heredoc: "<<READ(src/main.rs)<10-20>::READ",
                    why: "A part of a long file.",
                },
            ],
            ..skin
        }),
        skin("list").map(|skin| Skin {
            tags: &["list"],
            words: &["LIST"],
            target: &[("path", Fits::Any)],
            bare: Some("path"),
            examples: &[Example {
                tag: r#"<list path="src"/>"#,
                heredoc: "<<LIST(src)::LIST",
                why: "Where to begin in a project that is not known.",
            }],
            ..skin
        }),
    ]
}

/// Making and changing things.
fn edits() -> Vec<Option<Skin>> {
    vec![
        skin("edit").map(|skin| Skin {
            tags: &["set"],
            words: &["PATCH"],
            target: &[("path", Fits::Any)],
            body: Some(("patch", Body::Exact)),
            meant: |said| {
                let is_given = ["old", "new", "patch"].iter().any(|name| said.has(name));
                said.name == "PATCH" || is_given || is_edit(said)
            },
            examples: &[Example {
                tag: "<set path=\"src/main.rs\"><<SEARCH\nold line\nSEARCH\n<<REPLACE\nnew line\nREPLACE\n</set>",
                heredoc: "<<PATCH(src/main.rs):<<SEARCH\nold line\nSEARCH\n<<REPLACE\nnew line\nREPLACE\n:PATCH",
                why: "A change names what stands there now, so that nothing else is hit.",
            }],
            ..skin
        }),
        skin("write").map(|skin| Skin {
            tags: &["set"],
            words: &["EDIT"],
            target: &[("path", Fits::Any)],
            signal: Some("tags"),
            scope: Some(Ranged::Argument("scope")),
            body: Some(("content", Body::Exact)),
            examples: &[
                Example {
                    tag: "<set path=\"notes.md\">\n# Notes\n</set>",
                    heredoc: "<<EDIT(notes.md):# Notes\n:EDIT",
                    why: "A file made or replaced whole.",
                },
                Example {
                    tag: "<set path=\"notes.md\" scope=\"3-4\">\nnew lines\n</set>",
                    heredoc: "<<EDIT(notes.md)<3-4>:new lines\n:EDIT",
                    why: "Lines of a file by their numbers.",
                },
            ],
            ..skin
        }),
        skin("multi_edit").map(|skin| Skin { target: &[("path", Fits::Any)], ..skin }),
    ]
}

/// Things as a whole.
fn carries() -> Vec<Option<Skin>> {
    vec![
        skin("remove").map(|skin| Skin {
            tags: &["rm"],
            words: &["KILL"],
            target: &[("path", Fits::Any)],
            bare: Some("path"),
            examples: &[Example {
                tag: r#"<rm path="old.txt"/>"#,
                heredoc: "<<KILL(old.txt)::KILL",
                why: "There is a statement for it, so that no command is used.",
            }],
            ..skin
        }),
        skin("move").map(|skin| Skin {
            tags: &["mv"],
            words: &["MOVE"],
            target: &[("from", Fits::Any)],
            signal: Some("tags"),
            body: Some(("to", Body::Target)),
            examples: &[Example {
                tag: r#"<mv path="a.txt" to="b.txt"/>"#,
                heredoc: "<<MOVE(a.txt):b.txt:MOVE",
                why: "Where from and where to.",
            }],
            ..skin
        }),
        skin("copy").map(|skin| Skin {
            tags: &["cp"],
            words: &["COPY"],
            target: &[("from", Fits::Any)],
            signal: Some("tags"),
            body: Some(("to", Body::Target)),
            examples: &[Example {
                tag: r#"<cp path="a.txt" to="b.txt"/>"#,
                heredoc: "<<COPY(a.txt):b.txt:COPY",
                why: "As moving, and the first stays.",
            }],
            ..skin
        }),
    ]
}

/// Doing, and having done.
fn commands() -> Vec<Option<Skin>> {
    vec![
        skin("bash").map(|skin| Skin {
            tags: &["sh"],
            words: &["EXEC"],
            target: &[("cwd", Fits::Any)],
            signal: Some("runtime"),
            scope: Some(Ranged::Seconds("timeout_ms")),
            body: Some(("command", Body::Trimmed)),
            examples: &[Example {
                tag: "<sh>cargo test</sh>",
                heredoc: "<<EXEC:cargo test:EXEC",
                why: "A command, and nothing around it.",
            }],
            ..skin
        }),
        skin("env").map(|skin| Skin {
            tags: &["env"],
            words: &["ENV"],
            target: &[("cwd", Fits::Any)],
            signal: Some("runtime"),
            scope: Some(Ranged::Seconds("timeout_ms")),
            body: Some(("command", Body::Trimmed)),
            examples: &[Example {
                tag: "<env>git log -3</env>",
                heredoc: "<<ENV:git log -3:ENV",
                why: "For looking, when the other is for doing.",
            }],
            ..skin
        }),
        skin("web_search").map(|skin| Skin {
            tags: &["search"],
            target: &[("query", Fits::Any)],
            bare: Some("query"),
            ..skin
        }),
        skin("use_skill").map(|skin| Skin {
            tags: &["skill"],
            target: &[("name", Fits::Any)],
            bare: Some("name"),
            ..skin
        }),
    ]
}

/// What people are told and asked.
fn people() -> Vec<Option<Skin>> {
    vec![
        skin("todo").map(|skin| Skin {
            tags: &["todo"],
            words: &["TASKS"],
            body: Some(("items", Body::Trimmed)),
            examples: &[Example {
                tag: r#"<todo>[{"text": "find the bug", "state": "active"}]</todo>"#,
                heredoc: r#"<<TASKS:[{"text": "find the bug", "state": "active"}]:TASKS"#,
                why: "The whole list each time; a list of objects is JSON.",
            }],
            ..skin
        }),
        skin("ask_user").map(|skin| Skin {
            tags: &["ask_user"],
            words: &["ASK"],
            body: Some(("options", Body::Trimmed)),
            bare: Some("question"),
            meant: |_| true,
            examples: &[Example {
                tag: r#"<ask_user question="Which database?" options="SQLite; PostgreSQL"/>"#,
                heredoc: "<<ASK:Which database?:ASK",
                why: "Only people know what they want.",
            }],
            ..skin
        }),
        skin("present_plan").map(|skin| Skin {
            tags: &["plan"],
            words: &["PLAN"],
            body: Some(("plan", Body::Exact)),
            examples: &[Example {
                tag: "<plan>1. read the tests 2. mend parse() 3. run them</plan>",
                heredoc: "<<PLAN:1. read the tests 2. mend parse() 3. run them:PLAN",
                why: "What would be done, where, and how it would be checked.",
            }],
            ..skin
        }),
        skin("send").map(|skin| Skin {
            tags: &["update", "send"],
            words: &["SEND"],
            target: &[("to", Fits::Any)],
            signal: Some("status"),
            body: Some(("text", Body::Exact)),
            examples: &[
                Example {
                    tag: r#"<update status="102">reading the tests</update>"#,
                    heredoc: "<<SEND[102]:reading the tests:SEND",
                    why: "How it stands, while it goes on.",
                },
                Example {
                    tag: r#"<update status="200">The bug was in parse(); it is mended and tested.</update>"#,
                    heredoc: "<<SEND[200]:The bug was in parse(); it is mended and tested.:SEND",
                    why: "The only way to be done, with the answer in it.",
                },
            ],
            ..skin
        }),
    ]
}
