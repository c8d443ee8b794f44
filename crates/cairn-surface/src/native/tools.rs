//! The native tools: each a type whose doc comments are its description, each one op.

use super::actions::Declared;
use super::args::Args;
use super::declare::{Argument, Kind, Param, Way, fields, schema, told};
use cairn_types::{Action, Effect, TodoState};
use serde_json::{Map, Value, json};

/// A native tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name on the wire.
    pub name: &'static str,
    /// Names models also call it by; reading one is reported.
    pub aliases: &'static [&'static str],
    /// What it may change.
    pub effect: Effect,
    /// Whether doing it twice is the same as doing it once.
    pub repeatable: bool,
    /// Its arguments, in the order they are told.
    pub params: &'static [Param],
    /// Its doc comment, line by line.
    pub doc: &'static [&'static str],
    /// The arguments that say what it works on, and where.
    pub targets: &'static [&'static str],
    /// The ways to give its arguments, where not any that are required will do; empty for the one way.
    pub ways: &'static [Way],
    /// Arguments as a model is shown them, a JSON object.
    pub example: &'static str,
    pub(super) build: fn(&mut Args) -> Result<Action, String>,
    /// The arguments that ask for an action, where it is one that this tool is for.
    pub(super) unbuild: fn(&Action) -> Option<Map<String, Value>>,
}

fields! {
    /// Read a text file with line numbers, or an entry. An image is shown, a notebook's cells are listed, a web page
    /// is fetched by its URL and told as Markdown.
    ReadFile {
        /// Path relative to the project root, or an address such as log:///1/2/3#output or known:///topic.
        path: String, or "file_path" "filename" "file" "target_file" "url" "uri";
        /// First line to show, from 1. Default 1.
        first: Option<u64>, or "offset" "start_line" "line";
        /// How many lines at most. Default 2000.
        limit: Option<u64>, or "lines" "num_lines";
        /// Put a short hash before each line. Default false.
        hashes: bool, or "line_hashes";
        /// Lines such as 3-7, -5--1 or 2,1,2,9 with columns; of JSON items. Instead of first and limit.
        scope: Option<String>, or "range";
        /// Show only what matches: text, /regex/, or of JSON, YAML, TOML and CSV a JSONPath such as $.a[*].
        matching: Option<String>, or "match" "query" "pattern";
    }
}

fields! {
    /// Create a file, or replace the whole content of one that was read before. Missing directories
    /// are made. An address such as known:///topic writes an entry that all runs here share.
    Write {
        /// Path relative to the project root, or an entry's address.
        path: String, or "file_path" "filename" "file" "target_file";
        /// The whole content, or that of the scope.
        content: String, or "contents" "text" "file_text";
        /// Write only these lines, or items of JSON: 3-7, 0 before the first, -1 after the last.
        scope: Option<String>, or "range";
        /// Tags for an entry.
        tags: Vec<String>, or "labels";
    }
}

fields! {
    /// Change a file that was read before: replace old by new, where old must occur exactly once
    /// unless all is true; or give a patch instead: SEARCH/REPLACE blocks, s/a/b/ lines, a unified
    /// diff or *** Begin Patch, of which the last two may name several files without path. The
    /// result shows the lines as they now are.
    Edit {
        /// Path relative to the project root.
        path: Option<String>, or "file_path" "filename" "file" "target_file";
        /// The text that stands there now, exactly.
        old: Option<String>, or "old_string" "old_text" "old_str" "search";
        /// The text that shall stand there.
        new: Option<String>, or "new_string" "new_text" "new_str" "replace";
        /// Replace every occurrence. Default false.
        all: bool, or "replace_all";
        /// A patch, instead of old and new.
        patch: Option<String>, or "diff" "input";
    }
}

fields! {
    /// Make several replacements in one file, in order: all of them or none.
    MultiEdit {
        /// Path relative to the project root.
        path: String, or "file_path" "filename" "file" "target_file";
        /// The replacements.
        edits: Vec<OneEdit>, or "changes" "replacements";
    }
}

fields! {
    /// One replacement.
    OneEdit {
        /// The text that stands there now, exactly.
        old: String, or "old_string" "old_text" "old_str" "search";
        /// The text that shall stand there.
        new: String, or "new_string" "new_text" "new_str" "replace";
        /// Replace every occurrence. Default false.
        all: bool, or "replace_all";
    }
}

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

fields! {
    /// List a directory. What git ignores is left out.
    List {
        /// Directory relative to the project root. Default the root.
        path: Option<String>, or "dir" "directory";
        /// How many levels. Default 1.
        depth: Option<u64>, or "levels";
    }
}

fields! {
    /// Remove a file, a link, an entry, or a directory with everything in it, which can be undone; or
    /// end a command in the background.
    Remove {
        /// Path relative to the project root, or the address of an entry or of the command's row.
        path: String, or "file_path" "file" "target";
    }
}

fields! {
    /// Give a file, directory or entry another path or address. Nothing may be there.
    Move {
        /// What to move.
        from: String, or "source" "src" "old_path";
        /// Where to.
        to: String, or "destination" "dest" "dst" "new_path";
        /// Tags for the entry there, instead of those it has.
        tags: Vec<String>, or "labels";
    }
}

fields! {
    /// Copy a file, directory or entry. Nothing may be at the new path or address.
    Copy {
        /// What to copy.
        from: String, or "source" "src";
        /// Where to.
        to: String, or "destination" "dest" "dst";
        /// Tags for the entry there, instead of those it has.
        tags: Vec<String>, or "labels";
    }
}

fields! {
    /// Show rows of your own log again that were folded.
    Open {
        /// A row such as log:///1/2/3, the rows of a turn such as log:///1/2, or a glob such as log:///1/**.
        path: String, or "row" "rows" "target";
    }
}

fields! {
    /// Put away results that are no longer needed: of each only its address is shown. They can be opened
    /// again, and read by that address.
    Fold {
        /// A row such as log:///1/2/3, the rows of a turn such as log:///1/2, or a glob such as log:///1/**.
        path: String, or "row" "rows" "target";
    }
}

fields! {
    /// Say something to a person while you go on; or, by its address, to a command in the background (its
    /// input), to an open socket, or to another run.
    Send {
        /// The address, such as exec:///1/2/3 or run:///NAME. Default the person.
        to: Option<String>, or "recipient" "target" "path";
        /// To an address: 200 writes the text (the default), 499 cancels a stream, 410 removes an entry.
        status: Option<u64>, or "code" "signal";
        /// The text.
        text: Option<String>, or "message" "body" "content" "input" "chars";
    }
}

fields! {
    /// Run a shell command and wait for it. Everything it started ends with it. The result is its
    /// output and its exit code. In the background it runs until it ends, is removed by its row, or
    /// the work is over; reading its row's #output shows what it printed, send writes to its input, and
    /// you are told when it ended.
    Bash {
        /// The command, one string for the shell, or code for another runtime.
        command: String, or "cmd" "script" "code";
        /// What runs it, such as bash, python, node or sqlite. Default the shell.
        runtime: Option<String>, or "language" "interpreter";
        /// Directory relative to the project root. Default the root.
        cwd: Option<String>, or "workdir" "working_directory" "dir";
        /// When to end it, in milliseconds.
        timeout_ms: Option<u64>, or "timeout";
        /// Do not wait for it, as for a server. Default false.
        background: bool, or "run_in_background" "is_background";
        /// In the background: go on with the work when it ends, even if it was over. Default false.
        wake: bool, or "notify";
    }
}

fields! {
    /// Run a shell command only to see what it prints: nothing of what it changes is kept.
    Env {
        /// The command, one string for the shell, or code for another runtime.
        command: String, or "cmd" "script" "code";
        /// What runs it, such as bash, python, node or sqlite. Default the shell.
        runtime: Option<String>, or "language" "interpreter";
        /// Directory relative to the project root. Default the root.
        cwd: Option<String>, or "workdir" "working_directory" "dir";
        /// When to end it, in milliseconds.
        timeout_ms: Option<u64>, or "timeout";
    }
}

fields! {
    /// Keep the list of what is to be done. Each call gives the whole list.
    Todo {
        /// The list.
        items: Vec<Item>, or "todos" "plan" "tasks";
    }
}

fields! {
    /// One thing to be done.
    Item {
        /// What, in one line.
        text: String, or "content" "step" "task" "title";
        /// How far it has come.
        state: TodoState, or "status";
    }
}

fields! {
    /// Ask the person a question and wait for the answer. Only for what they alone can decide and
    /// nothing here tells.
    AskUser {
        /// The question, whole: they may see nothing else.
        question: String, or "text" "prompt" "message";
        /// Answers to choose from, the best first. They may always answer in their own words.
        options: Vec<String>, or "choices" "answers" "follow_up";
    }
}

fields! {
    /// Put a plan to the person before carrying it out: what would be changed, where, and how it would
    /// be checked. They approve it, want it revised, or reject it.
    PresentPlan {
        /// The plan, in Markdown.
        plan: String, or "text" "content" "steps";
    }
}

fields! {
    /// Search the web.
    WebSearch {
        /// What for.
        query: String, or "path" "text";
        /// How many results at most.
        results: Option<u64>, or "limit";
    }
}

fields! {
    /// Take up a skill.
    UseSkill {
        /// Which one.
        name: String, or "path" "skill";
    }
}

const STATES: [(&str, TodoState); 3] =
    [("pending", TodoState::Pending), ("active", TodoState::Active), ("done", TodoState::Done)];

impl Argument for TodoState {
    const KIND: Kind = Kind::Word(&[STATES[0].0, STATES[1].0, STATES[2].0]);
    fn read(value: Option<Value>) -> Result<Self, String> {
        let word = value.as_ref().and_then(Value::as_str).unwrap_or_default();
        let state = STATES.iter().find(|(name, _)| *name == word).map(|(_, state)| *state);
        state.ok_or_else(|| "is missing".to_owned())
    }
    fn write(self) -> Option<Value> {
        STATES.iter().find(|(_, state)| *state == self).map(|(name, _)| Value::from(*name))
    }
}

const fn tool<T: Declared>(
    name: &'static str,
    aliases: &'static [&'static str],
    effect: Effect,
) -> Tool {
    Tool {
        name,
        aliases,
        effect,
        repeatable: matches!(effect, Effect::Pure | Effect::Read),
        params: T::PARAMS,
        doc: T::DOC,
        targets: T::TARGETS,
        ways: T::WAYS,
        example: T::EXAMPLE,
        build: |args| T::read(args).and_then(T::action),
        unbuild: |action| T::of(action).map(T::write),
    }
}

static TOOLS: [Tool; 17] = [
    tool::<ReadFile>(
        "read",
        &["read_file", "view", "view_file", "open_file", "cat", "web_fetch", "webfetch", "fetch"],
        Effect::Read,
    ),
    tool::<Write>("write", &["write_file", "create_file", "create"], Effect::World),
    tool::<Edit>(
        "edit",
        &["edit_file", "str_replace", "str_replace_editor", "apply_patch"],
        Effect::World,
    ),
    tool::<MultiEdit>("multi_edit", &["multiedit"], Effect::World),
    tool::<FindIn>("find", &["grep", "search", "glob", "search_files", "find_files"], Effect::Read),
    tool::<List>("list", &["ls", "list_dir", "list_directory", "list_files"], Effect::Read),
    tool::<Remove>("remove", &["rm", "delete", "delete_file", "remove_file"], Effect::World),
    tool::<Move>("move", &["mv", "rename", "move_file", "rename_file"], Effect::World),
    tool::<Copy>("copy", &["cp", "copy_file"], Effect::World),
    tool::<Open>("open", &["unfold", "show"], Effect::Read),
    tool::<Fold>("fold", &["hide", "close"], Effect::Read),
    Tool {
        repeatable: false,
        ..tool::<Send>("send", &["send_message", "write_stdin", "send_input"], Effect::Read)
    },
    tool::<Bash>(
        "bash",
        &["shell", "sh", "exec", "run_command", "run_shell_command", "execute_command", "terminal"],
        Effect::Host,
    ),
    tool::<Env>(ENV, &["try_command", "dry_run"], Effect::Read),
    tool::<Todo>("todo", &["todo_write", "todowrite", "update_plan", "todos"], Effect::Pure),
    tool::<AskUser>(
        ASK_USER,
        &["ask", "question", "ask_followup_question", "ask_user_question", "request_user_input"],
        Effect::Pure,
    ),
    tool::<PresentPlan>(PRESENT_PLAN, &["exit_plan_mode", "propose_plan"], Effect::Pure),
];

/// Tools that models ask for and that do nothing here yet: nobody is offered them, and a call says so.
pub(super) static MISSING: [Tool; 2] = [
    tool::<WebSearch>("web_search", &[], Effect::Network),
    tool::<UseSkill>("use_skill", &[], Effect::Read),
];

/// The tool of exactly this name.
pub(super) fn tool_of(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tool that runs a command over an overlay that is thrown away.
pub const ENV: &str = "env";
/// The tool that says something.
pub const SEND: &str = "send";
/// The tool that asks a person.
pub const ASK_USER: &str = "ask_user";
/// The tool that puts a plan to a person.
pub const PRESENT_PLAN: &str = "present_plan";

/// The tools there are.
#[must_use]
pub fn tools() -> &'static [Tool] {
    &TOOLS
}

/// Those that a model is given only where somebody wants it to have them.
pub const ON_REQUEST: [&str; 2] = ["open", "fold"];

/// The tools a model is given. Where nobody can be asked, none offers it; `more` are those of `ON_REQUEST` that are
/// wanted; where `only` names any, no others are given.
#[must_use]
pub fn given(someone: bool, more: &[String], only: &[String]) -> Vec<&'static Tool> {
    let is_in = |names: &[String], name: &str| names.iter().any(|named| named == name);
    let is_given = |tool: &&Tool| match tool.name {
        _ if !only.is_empty() => is_in(only, tool.name),
        ASK_USER | PRESENT_PLAN => someone,
        name => !ON_REQUEST.contains(&name) || is_in(more, name),
    };
    TOOLS.iter().filter(is_given).collect()
}

/// Their schemas, a JSON array of `{name, description, parameters}`.
#[must_use]
pub fn schemas(given: &[&Tool]) -> String {
    Value::Array(given.iter().map(|tool| tool.schema()).collect()).to_string()
}

impl Tool {
    fn schema(&self) -> Value {
        json!({
            "name": self.name,
            "description": told(self.doc),
            "parameters": schema(self.params),
        })
    }
}
