//! Every configuration key, declared once: name, type, default, range, who may set it, what it means.

/// A key.
pub struct Key {
    /// Its dotted name; `*` stands for any one name.
    pub name: &'static str,
    /// Its type and range.
    pub kind: Kind,
    /// Its value when nobody set it.
    pub default: Default,
    /// What a project's file may do with it.
    pub project: Project,
    /// The environment variable that sets it.
    pub env: Option<&'static str>,
    /// What it means.
    pub docs: &'static str,
}

/// Types of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number within a range.
    Count(u64, u64),
    /// A list of texts.
    List,
}

/// Defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// Not set.
    None,
    /// A number.
    Count(u64),
    /// An empty list.
    Empty,
}

/// What a project's file may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// Nothing: it is the user's alone.
    MayNot,
    /// Lower it: the user's value is a ceiling.
    MayLower,
}

const fn text(
    name: &'static str,
    project: Project,
    env: Option<&'static str>,
    docs: &'static str,
) -> Key {
    Key { name, kind: Kind::Text, default: Default::None, project, env, docs }
}

const fn count(
    name: &'static str,
    (low, default, high): (u64, u64, u64),
    project: Project,
    docs: &'static str,
) -> Key {
    Key {
        name,
        kind: Kind::Count(low, high),
        default: Default::Count(default),
        project,
        env: None,
        docs,
    }
}

const DAY_MS: u64 = 86_400_000;

/// All keys.
pub const KEYS: &[Key] = &[
    text(
        "model",
        Project::MayNot,
        Some("CAIRN_MODEL"),
        "The model, provider/name. The providers openai, ollama, lmstudio, llamacpp and vllm are known; others are declared under [providers.NAME].",
    ),
    count(
        "max_turns",
        (1, 250, 10_000),
        Project::MayLower,
        "Turns per loop; then the loop ends with exit code 4.",
    ),
    count(
        "max_ops",
        (1, 32, 1_000),
        Project::MayLower,
        "Ops per reply; the rest is not performed.",
    ),
    count(
        "approval_timeout_ms",
        (0, 0, DAY_MS),
        Project::MayNot,
        "How long a question waits for an answer; 0 is for ever.",
    ),
    count(
        "command_timeout_ms",
        (1, 120_000, DAY_MS),
        Project::MayNot,
        "When a command is ended, unless the model asks for another limit.",
    ),
    count(
        "command_timeout_max_ms",
        (1, 600_000, DAY_MS),
        Project::MayNot,
        "The longest limit a model may ask for.",
    ),
    text(
        "shell",
        Project::MayNot,
        None,
        "The shell that runs commands; bash where it exists, else sh.",
    ),
    Key {
        name: "pass_env",
        kind: Kind::List,
        default: Default::Empty,
        project: Project::MayNot,
        env: None,
        docs: "Names of environment variables that commands see besides the usual ones.",
    },
    count(
        "provider.connect_ms",
        (1, 10_000, DAY_MS),
        Project::MayNot,
        "How long connecting to a model may take.",
    ),
    count(
        "provider.first_byte_ms",
        (1, 120_000, DAY_MS),
        Project::MayNot,
        "How long a model may take to begin to answer.",
    ),
    count(
        "provider.idle_ms",
        (1, 60_000, DAY_MS),
        Project::MayNot,
        "How long a model may pause within an answer.",
    ),
    count(
        "provider.deadline_ms",
        (1, 600_000, DAY_MS),
        Project::MayNot,
        "How long one answer may take in all, retries included.",
    ),
    count(
        "provider.attempts",
        (1, 5, 100),
        Project::MayNot,
        "How often a request is made before it counts as failed.",
    ),
    text(
        "provider.record",
        Project::MayNot,
        None,
        "A folder for all requests and raw responses; nothing is recorded when absent.",
    ),
    text(
        "providers.*.base_url",
        Project::MayNot,
        None,
        "An OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1.",
    ),
    text(
        "providers.*.key_env",
        Project::MayNot,
        None,
        "The environment variable that holds the key; no key is sent when absent.",
    ),
    Key {
        name: "providers.*.input_price",
        kind: Kind::Count(0, u64::MAX >> 24),
        default: Default::None,
        project: Project::MayNot,
        env: None,
        docs: "Price of a million input tokens in millionths of a US dollar.",
    },
    Key {
        name: "providers.*.output_price",
        kind: Kind::Count(0, u64::MAX >> 24),
        default: Default::None,
        project: Project::MayNot,
        env: None,
        docs: "Price of a million output tokens in millionths of a US dollar.",
    },
    count(
        "keep_days",
        (1, 90, 36_500),
        Project::MayNot,
        "How long `cairn gc` keeps the contents of runs that nobody touched.",
    ),
];

/// The key of this name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| fits(key.name, name))
}

fn fits(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.split('.'), name.split('.'));
    loop {
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some("*"), Some(part)) if !part.is_empty() => {}
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}

/// The known name nearest to an unknown one, with `*` filled from it.
pub fn nearest(name: &str) -> Option<String> {
    let fill = |pattern: &str| -> String {
        let given: Vec<&str> = name.split('.').collect();
        let parts = pattern.split('.').enumerate();
        parts
            .map(|(i, p)| if p == "*" { given.get(i).copied().unwrap_or("*") } else { p })
            .collect::<Vec<_>>()
            .join(".")
    };
    KEYS.iter()
        .map(|key| fill(key.name))
        .map(|known| (distance(&known, name), known))
        .filter(|(far, known)| *far <= known.len().max(4) / 2)
        .min()
        .map(|(_, known)| known)
}

/// How many letters must be added, dropped or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
