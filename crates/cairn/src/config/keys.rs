//! Every configuration key, declared once: name, type, default, range, who may set it, what it means.

use cairn_text::near::distance;
use cairn_types::HookEvent;

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
    /// A list of rules, as the policy has them.
    Rules,
    /// A list of globs over paths.
    Globs,
    /// A list of absolute paths, or paths in the home that begin with `~/`.
    Paths,
    /// A list of hosts, each with its port.
    Hosts,
    /// Yes or no, of which yes allows less.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, each allowing more than the one before.
    Ladder(&'static [&'static str]),
    /// US dollars, above nothing: a decimal number or such a text.
    Money,
    /// US dollars per million tokens: a decimal number or such a text.
    Price,
    /// Commands that are asked at this event.
    Hooks(HookEvent),
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
    /// No.
    No,
    /// A text.
    Text(&'static str),
}

/// What a project's file may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// Nothing: it is the user's alone.
    Never,
    /// Lower it: the user's value is a ceiling.
    Lowers,
    /// Add to it: what stands there already stays.
    Adds,
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

const fn of_model(name: &'static str, kind: Kind, docs: &'static str) -> Key {
    Key { name, kind, default: Default::None, project: Project::Never, env: None, docs }
}

const fn rules(name: &'static str, project: Project, docs: &'static str) -> Key {
    Key { name, kind: Kind::Rules, default: Default::Empty, project, env: None, docs }
}

const fn globs(name: &'static str, project: Project, docs: &'static str) -> Key {
    Key { name, kind: Kind::Globs, default: Default::Empty, project, env: None, docs }
}

const fn hooks(event: HookEvent, name: &'static str, docs: &'static str) -> Key {
    let (kind, project) = (Kind::Hooks(event), Project::Never);
    Key { name, kind, default: Default::None, project, env: None, docs }
}

/// The most tokens that a model may be said to take.
const MOST_TOKENS: u64 = 1 << 40;
const DAY_MS: u64 = 86_400_000;

/// What a run may do, from least to most.
pub const MODES: &[&str] = &["read-only", "plan", "act", "accept-edits"];

/// All keys.
pub const KEYS: &[Key] = &[
    text(
        "model",
        Project::Never,
        Some("CAIRN_MODEL"),
        "The model, provider/name. `cairn models list --all` shows the known ones; other providers are declared under [providers.NAME].",
    ),
    text(
        "fallback_model",
        Project::Never,
        None,
        "The model that is asked when the first cannot be had, provider/name.",
    ),
    Key {
        name: "effort",
        kind: Kind::Word(&["off", "minimal", "low", "medium", "high"]),
        default: Default::None,
        project: Project::Never,
        env: None,
        docs: "How much the model shall think, where it can be told; its own measure when absent.",
    },
    text(
        "network.proxy",
        Project::Never,
        None,
        "A proxy for model APIs, such as http://proxy:3128; otherwise HTTPS_PROXY, HTTP_PROXY or ALL_PROXY. Never used for this machine.",
    ),
    text(
        "network.no_proxy",
        Project::Never,
        None,
        "Hosts that are reached without the proxy, as in NO_PROXY.",
    ),
    text(
        "network.ca_file",
        Project::Never,
        None,
        "A PEM file of certificates to trust besides the system's.",
    ),
    Key {
        name: "web.private",
        kind: Kind::Hosts,
        default: Default::Empty,
        project: Project::Never,
        env: None,
        docs: "Hosts of this machine and its networks whose pages may be read, each with its port, such as \"localhost:8080\"; all others there are refused: docs/world.md.",
    },
    Key {
        name: "tools.fold",
        kind: Kind::Word(&["no", "yes"]),
        default: Default::Text("no"),
        project: Project::Never,
        env: None,
        docs: "Whether models are given fold and open, to put results away that they no longer need: docs/tools.md.",
    },
    count(
        "max_turns",
        (1, 250, 10_000),
        Project::Lowers,
        "Turns per loop; then the loop ends with exit code 4.",
    ),
    count("max_ops", (1, 32, 1_000), Project::Lowers, "Ops per reply; the rest is not performed."),
    Key {
        name: "max_cost",
        kind: Kind::Money,
        default: Default::None,
        project: Project::Lowers,
        env: None,
        docs: "US dollars per loop, such as 0.50; then the loop ends with exit code 4. No cap when absent.",
    },
    Key {
        name: "max_minutes",
        kind: Kind::Count(1, 100_000),
        default: Default::None,
        project: Project::Lowers,
        env: None,
        docs: "Minutes of work per loop, waiting for a person left out; then the loop ends with exit code 4. No cap when absent.",
    },
    Key {
        name: "budgets.calls.*",
        kind: Kind::Count(0, 1_000_000),
        default: Default::None,
        project: Project::Lowers,
        env: None,
        docs: "Of [budgets.calls]: how often a run may call the tool of this name, such as bash = 20.",
    },
    Key {
        name: "budgets.session",
        kind: Kind::Money,
        default: Default::None,
        project: Project::Lowers,
        env: None,
        docs: "US dollars for all runs of a session together, also while several run at once; then loops end with exit code 4. No limit when absent.",
    },
    Key {
        name: "budgets.on_exceeded",
        kind: Kind::Word(&["block", "steer"]),
        default: Default::Text("block"),
        project: Project::Never,
        env: None,
        docs: "What a model is told that calls a tool more often than it may: that it may not (block), or also what it may still call (steer).",
    },
    Key {
        name: "policy.mode",
        kind: Kind::Ladder(MODES),
        default: Default::Text("act"),
        project: Project::Lowers,
        env: None,
        docs: "What runs may do: look (read-only), look and say what they would do (plan), also change what you are asked about (act), also change files unasked (accept-edits).",
    },
    Key {
        name: "policy.yolo",
        kind: Kind::Ladder(&["never", "allowed"]),
        default: Default::Text("allowed"),
        project: Project::Lowers,
        env: None,
        docs: "Whether --yolo may be given. If never, no rule and no answer for every command counts either.",
    },
    Key {
        name: "sandbox.level",
        kind: Kind::Ladder(&["strict", "workspace", "open"]),
        default: Default::Text("workspace"),
        project: Project::Lowers,
        env: Some("CAIRN_SANDBOX"),
        docs: "What commands are kept in: see programs and the project, write to places of their own, no network (strict); also caches and debuggers (workspace); nothing at all (open). docs/sandbox.md has it all.",
    },
    count(
        "sandbox.processes",
        (400, 4096, 1 << 22),
        Project::Lowers,
        "Processes and threads that a command may have at once.",
    ),
    count(
        "sandbox.memory",
        (1, 75, 100),
        Project::Lowers,
        "Percent of the machine's memory that commands may have together, where cgroups let it be bounded.",
    ),
    rules(
        "policy.allow",
        Project::Never,
        "What may be done unasked, such as \"exec cargo test *\" or \"edit src/**\": docs/policy.md.",
    ),
    rules("policy.ask", Project::Adds, "What is asked about even where it would be allowed."),
    rules("policy.deny", Project::Adds, "What must not be done, whoever says yes."),
    globs(
        "membership.add",
        Project::Never,
        "Members of the project although rules or git leave them out, as globs such as \"target/doc/**\": docs/tools.md.",
    ),
    globs(
        "membership.ignore",
        Project::Adds,
        "No members of the project, whatever else says so, as globs such as \"secrets/**\".",
    ),
    globs(
        "membership.read_only",
        Project::Adds,
        "Members that the tools for files neither change nor make, as globs such as \"vendor/**\".",
    ),
    Key {
        name: "membership.tracked",
        kind: Kind::Flag,
        default: Default::No,
        project: Project::Lowers,
        env: None,
        docs: "Whether only what git tracks is a member, where there is a repository.",
    },
    Key {
        name: "private.allow",
        kind: Kind::Paths,
        default: Default::Empty,
        project: Project::Never,
        env: None,
        docs: "Private paths that commands and file tools may see all the same, each by its name such as \"~/.npmrc\", no globs: docs/secrets.md.",
    },
    text(
        "docs.*",
        Project::Adds,
        None,
        "Of [docs]: a text file that every run begins with and reads as cairn:///NAME.md, by its whole path; of a project's own, one of its members by its path beneath the root: docs/context.md.",
    ),
    hooks(
        HookEvent::SessionStart,
        "hooks.SessionStart",
        "Commands that are asked before the first loop of a process: docs/hooks.md.",
    ),
    hooks(
        HookEvent::UserPromptSubmit,
        "hooks.UserPromptSubmit",
        "Commands that are asked before a task reaches the model.",
    ),
    hooks(
        HookEvent::TurnStart,
        "hooks.TurnStart",
        "Commands that are asked before the model is, each time.",
    ),
    hooks(
        HookEvent::UnknownTool,
        "hooks.UnknownTool",
        "Commands that are asked about calls that make no sense.",
    ),
    hooks(
        HookEvent::PreToolUse,
        "hooks.PreToolUse",
        "Commands that are asked before an op, such as [[hooks.PreToolUse]] with matcher = \"Bash\" and command = \"~/guard.sh\".",
    ),
    hooks(
        HookEvent::PermissionRequest,
        "hooks.PermissionRequest",
        "Commands that are asked before a person is asked about an op.",
    ),
    hooks(
        HookEvent::Notification,
        "hooks.Notification",
        "Commands that are told when a person is waited for.",
    ),
    hooks(
        HookEvent::Decided,
        "hooks.Decided",
        "Commands that are told how a question was decided.",
    ),
    hooks(
        HookEvent::Accepting,
        "hooks.Accepting",
        "Commands that are asked before an op that was allowed begins.",
    ),
    hooks(
        HookEvent::PostToolUse,
        "hooks.PostToolUse",
        "Commands that are asked after an op, before the model is told of it.",
    ),
    hooks(
        HookEvent::PostToolUseFailure,
        "hooks.PostToolUseFailure",
        "Commands that are asked after an op that failed, before the model is told of it.",
    ),
    hooks(
        HookEvent::TurnEnd,
        "hooks.TurnEnd",
        "Commands that are asked when all ops of a turn are settled.",
    ),
    hooks(
        HookEvent::Stop,
        "hooks.Stop",
        "Commands that are asked when the model has said its last word.",
    ),
    hooks(
        HookEvent::SessionEnd,
        "hooks.SessionEnd",
        "Commands that are told when nothing is left to do.",
    ),
    Key {
        name: "hooks.import",
        kind: Kind::List,
        default: Default::Empty,
        project: Project::Never,
        env: None,
        docs: "Files whose hooks are asked, too, such as \"~/.claude/settings.json\".",
    },
    Key {
        name: "trust.committed",
        kind: Kind::List,
        default: Default::Empty,
        project: Project::Never,
        env: None,
        docs: "Folders of projects whose .cairn/trusted is believed: their own hooks run if it names their hash.",
    },
    count(
        "policy.large_files",
        (0, 50, 1 << 32),
        Project::Lowers,
        "Removing more files than that is asked about, whatever was allowed; without those that git ignores.",
    ),
    count(
        "policy.large_mib",
        (0, 10, 1 << 20),
        Project::Lowers,
        "Removing more MiB than that is asked about, whatever was allowed; without what git ignores.",
    ),
    count(
        "approval_timeout_ms",
        (0, 0, DAY_MS),
        Project::Never,
        "How long a question waits for an answer; 0 is for ever.",
    ),
    count(
        "command_timeout_ms",
        (1, 120_000, DAY_MS),
        Project::Never,
        "When a command is ended, unless the model asks for another limit.",
    ),
    count(
        "command_timeout_max_ms",
        (1, 600_000, DAY_MS),
        Project::Never,
        "The longest limit a model may ask for.",
    ),
    text(
        "shell",
        Project::Never,
        None,
        "The shell that runs commands; bash where it exists, else sh.",
    ),
    Key {
        name: "pass_env",
        kind: Kind::List,
        default: Default::Empty,
        project: Project::Never,
        env: None,
        docs: "Names of environment variables that commands see besides the usual ones.",
    },
    count(
        "provider.connect_ms",
        (1, 10_000, DAY_MS),
        Project::Never,
        "How long connecting to a model may take.",
    ),
    count(
        "provider.first_byte_ms",
        (1, 120_000, DAY_MS),
        Project::Never,
        "How long a model may take to begin to answer.",
    ),
    count(
        "provider.idle_ms",
        (1, 60_000, DAY_MS),
        Project::Never,
        "How long a model may pause within an answer. Comments of the stream do not count.",
    ),
    count(
        "provider.deadline_ms",
        (1, 600_000, DAY_MS),
        Project::Never,
        "How long a request may go without new data of its answer, retries included. Comments and pings of a stream are not data; an answer that goes on may take longer.",
    ),
    count(
        "provider.attempts",
        (1, 25, 100),
        Project::Never,
        "How often a request is made at most before it counts as failed. Deadlines mostly come first: 30 s for broken connections, 60 s for a provider in trouble, provider.deadline_ms for one that asks to wait or loads.",
    ),
    count(
        "provider.unreached_attempts",
        (1, 100, 100),
        Project::Never,
        "How often at most a server is tried that no connection can be made to, such as one that is not running.",
    ),
    Key {
        name: "notify",
        kind: Kind::Word(&["bell", "desktop", "off"]),
        default: Default::Text("bell"),
        project: Project::Never,
        env: None,
        docs: "How a question at the terminal calls you: a bell, also a notice of the desktop where the terminal passes one on, or not at all.",
    },
    text(
        "provider.record",
        Project::Never,
        None,
        "A folder for all requests and raw responses; nothing is recorded when absent.",
    ),
    Key {
        name: "executors.*.command",
        kind: Kind::List,
        default: Default::Empty,
        project: Project::Never,
        env: None,
        docs: "Of [executors.NAME]: the program that runs code of that name, and its arguments before the code, such as [\"ruby\", \"-e\"]. sh, bash, python, node and sqlite are known.",
    },
    Key {
        name: "executors.*.effect",
        kind: Kind::Word(&["pure", "read", "host"]),
        default: Default::Text("host"),
        project: Project::Never,
        env: None,
        docs: "Of [executors.NAME]: whether code may change something (host) or nothing of what it changes is kept (read, pure).",
    },
    text(
        "providers.*.base_url",
        Project::Never,
        None,
        "An OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1.",
    ),
    text(
        "providers.*.key_env",
        Project::Never,
        None,
        "The environment variable that holds the key; no key is sent when absent.",
    ),
    Key {
        name: "providers.*.wire",
        kind: Kind::Word(&["chat", "responses", "anthropic", "gemini"]),
        default: Default::None,
        project: Project::Never,
        env: None,
        docs: "What the endpoint speaks, where it is not what the provider usually speaks; chat for your own.",
    },
    Key {
        name: "providers.*.constrain",
        kind: Kind::Word(&["json_schema", "ollama", "gbnf", "none"]),
        default: Default::Text("json_schema"),
        project: Project::Never,
        env: None,
        docs: "Of an endpoint that speaks chat: what holds answers to a form there. response_format (json_schema), Ollama's own format (ollama), a grammar for llama.cpp (gbnf), or nothing (none).",
    },
    of_model(
        "models.*.context",
        Kind::Count(1, MOST_TOKENS),
        "Of [models.\"provider/name\"]: tokens that a request and its answer may hold together.",
    ),
    of_model(
        "models.*.max_output",
        Kind::Count(1, MOST_TOKENS),
        "Of [models.\"provider/name\"]: tokens that an answer may hold; the provider is told so.",
    ),
    of_model(
        "models.*.abilities",
        Kind::List,
        "Of [models.\"provider/name\"]: all that it can do, of \"tools\", \"reasoning\", \"images\" and \"pdf\".",
    ),
    of_model(
        "models.*.surface",
        Kind::Word(&["native", "tags", "heredoc", "envelope"]),
        "Of [models.\"provider/name\"]: how it writes ops; what a probe found, or native, when absent.",
    ),
    of_model(
        "models.*.small",
        Kind::Flag,
        "Of [models.\"provider/name\"]: whether it is given six tools and a short beginning.",
    ),
    of_model(
        "models.*.input",
        Kind::Price,
        "Of [models.\"provider/name\"]: US dollars for a million tokens sent.",
    ),
    of_model(
        "models.*.output",
        Kind::Price,
        "Of [models.\"provider/name\"]: US dollars for a million tokens received.",
    ),
    of_model(
        "models.*.cache_read",
        Kind::Price,
        "Of [models.\"provider/name\"]: US dollars for a million tokens from the provider's cache; as sent when absent.",
    ),
    of_model(
        "models.*.cache_write",
        Kind::Price,
        "Of [models.\"provider/name\"]: US dollars for a million tokens into the provider's cache; as sent when absent.",
    ),
    count(
        "keep_days",
        (1, 90, 36_500),
        Project::Never,
        "How long `cairn gc` keeps the contents of runs that nobody touched.",
    ),
];

/// The key of this name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| fits(key.name, name))
}

/// Whether the name is one of the pattern's. What stands for `*` may have dots in it: models do.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => middle(before, after, name).is_some(),
    }
}

/// What stands for `*` in a name that fits.
fn middle<'a>(before: &str, after: &str, name: &'a str) -> Option<&'a str> {
    let inner = name.strip_prefix(before)?.strip_suffix(after)?;
    (!inner.is_empty()).then_some(inner)
}

/// What stands for the star of this pattern in a name; `None` when the name is not of its kind.
pub fn starred<'a>(pattern: &str, name: &'a str) -> Option<&'a str> {
    let (before, after) = pattern.split_once('*')?;
    middle(before, after, name)
}

/// The known name nearest to an unknown one, with `*` filled from it.
pub fn nearest(name: &str) -> Option<String> {
    let fill = |pattern: &str| match pattern.split_once('*') {
        None => pattern.to_owned(),
        Some((before, after)) => {
            let given = name.split_once('.').and_then(|(_, rest)| rest.rsplit_once('.'));
            format!("{before}{}{after}", given.map_or("*", |(inner, _)| inner))
        }
    };
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let wanted = last(name);
    // Half a word is nearer than another word of the same length.
    let far = |known: &str| match wanted.len() >= 3 && last(known).contains(&wanted) {
        true => 1,
        false => distance(known, name),
    };
    KEYS.iter()
        .map(|key| fill(key.name))
        .map(|known| (far(&known), known))
        .filter(|(far, known)| *far <= known.len().max(4) / 2)
        .min()
        .map(|(_, known)| known)
}
