//! The native tools: each a type whose doc comments are its description, each one op.

use super::args::Args;
use super::declare::{Argument, Fields, Kind, Param, fields, schema, told};
use cairn_types::{
    Action, Carry, Consult, EditBody, Effect, Exchange, Exec, Find, Post, Read, Status, TodoItem,
    TodoState,
};
use serde_json::{Value, json};

/// A native tool.
pub struct Tool {
    /// Its name on the wire.
    pub name: &'static str,
    /// Names models also call it by; reading one is reported.
    pub aliases: &'static [&'static str],
    /// What it may change.
    pub effect: Effect,
    /// Whether doing it twice is the same as doing it once.
    pub repeatable: bool,
    pub(super) params: &'static [Param],
    doc: &'static [&'static str],
    pub(super) build: fn(&mut Args) -> Result<Action, String>,
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
    /// unless all is true; or give a patch instead: SEARCH/REPLACE blocks, sed commands, a unified
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

const STATES: [(&str, TodoState); 3] =
    [("pending", TodoState::Pending), ("active", TodoState::Active), ("done", TodoState::Done)];

impl Argument for TodoState {
    const KIND: Kind = Kind::Word(&[STATES[0].0, STATES[1].0, STATES[2].0]);
    fn read(value: Option<Value>) -> Result<Self, String> {
        let word = value.as_ref().and_then(Value::as_str).unwrap_or_default();
        let state = STATES.iter().find(|(name, _)| *name == word).map(|(_, state)| *state);
        state.ok_or_else(|| "is missing".to_owned())
    }
}

/// A text that says something.
fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// A tool before it is in the table: what turns its arguments into an op.
trait Declared: Fields {
    fn action(self) -> Result<Action, String>;
}

impl Declared for ReadFile {
    fn action(self) -> Result<Action, String> {
        Ok(Action::Read(Read {
            path: self.path,
            first: self.first.unwrap_or(1).max(1),
            limit: self.limit.filter(|n| *n > 0).unwrap_or(2000),
            hashes: self.hashes,
            scope: given(self.scope),
            matcher: given(self.matching),
        }))
    }
}

impl Declared for Write {
    fn action(self) -> Result<Action, String> {
        let Write { path, content, scope, tags } = self;
        let (path, body) = (Some(path), EditBody::Whole { content });
        Ok(Action::Edit(cairn_types::Edit { path, body, scope: given(scope), tags }))
    }
}

impl Declared for Edit {
    fn action(self) -> Result<Action, String> {
        let Edit { path, old, new, all, patch } = self;
        let body = match (old, new, patch) {
            (None, None, Some(patch)) => {
                return Ok(Action::Edit(cairn_types::Edit::of(path, EditBody::Patch(patch))));
            }
            (Some(old), Some(new), None) => EditBody::Replace(vec![Exchange { old, new, all }]),
            (Some(_), None, None) => return Err("new is missing".to_owned()),
            (None, Some(_), None) => return Err("old is missing".to_owned()),
            (_, _, Some(_)) => return Err("old and new, or patch, but not both".to_owned()),
            (None, None, None) => return Err("neither old and new nor patch is given".to_owned()),
        };
        match path {
            Some(path) => Ok(Action::Edit(cairn_types::Edit::of(Some(path), body))),
            None => Err("path is missing".to_owned()),
        }
    }
}

impl Declared for MultiEdit {
    fn action(self) -> Result<Action, String> {
        if self.edits.is_empty() {
            return Err("edits is empty".to_owned());
        }
        let exchange = |OneEdit { old, new, all }| Exchange { old, new, all };
        let body = EditBody::Replace(self.edits.into_iter().map(exchange).collect());
        Ok(Action::Edit(cairn_types::Edit::of(Some(self.path), body)))
    }
}

impl Declared for FindIn {
    fn action(self) -> Result<Action, String> {
        let FindIn { glob, text, under, tags, context, skip } = self;
        if glob.is_none() && text.is_none() && tags.is_empty() {
            return Err("neither glob nor text nor tags are given".to_owned());
        }
        let (context, skip) = (context.unwrap_or(0), skip.unwrap_or(0));
        Ok(Action::Find(Find { glob, text, under, context, skip, tags }))
    }
}

impl Declared for List {
    fn action(self) -> Result<Action, String> {
        let path = self.path.unwrap_or_else(|| ".".to_owned());
        Ok(Action::List { path, depth: self.depth.unwrap_or(1).max(1) })
    }
}

impl Declared for Remove {
    fn action(self) -> Result<Action, String> {
        Ok(Action::Kill { path: self.path })
    }
}

impl Declared for Move {
    fn action(self) -> Result<Action, String> {
        Ok(Action::Move(Carry { from: self.from, to: self.to, tags: self.tags }))
    }
}

impl Declared for Copy {
    fn action(self) -> Result<Action, String> {
        Ok(Action::Copy(Carry { from: self.from, to: self.to, tags: self.tags }))
    }
}

impl Declared for Open {
    fn action(self) -> Result<Action, String> {
        Ok(Action::Open { path: self.path })
    }
}

impl Declared for Fold {
    fn action(self) -> Result<Action, String> {
        Ok(Action::Fold { path: self.path })
    }
}

impl Declared for Send {
    fn action(self) -> Result<Action, String> {
        let to = given(self.to);
        let usual = if to.is_some() { Status::OK } else { Status::RUNNING };
        let status = match self.status.map(u16::try_from) {
            None => usual.0,
            Some(Ok(status)) if (100..600).contains(&status) => status,
            Some(_) => return Err("status must be a number from 100 to 599".to_owned()),
        };
        match (to, self.text) {
            (Some(path), _) if status == Status::GONE.0 => Ok(Action::Kill { path }),
            (None, text) if given(text.clone()).is_none() => Err("text is missing".to_owned()),
            (to, text) => Ok(Action::Send(Post { to, status, text: text.unwrap_or_default() })),
        }
    }
}

impl Declared for Bash {
    fn action(self) -> Result<Action, String> {
        let timeout_ms = self.timeout_ms.filter(|n| *n > 0);
        let Bash { command, runtime, cwd, background, wake, .. } = self;
        if wake && !background {
            return Err("wake is for a command in the background".to_owned());
        }
        let (wakes, discard) = (wake, false);
        Ok(Action::Exec(Exec { command, runtime, cwd, timeout_ms, background, wakes, discard }))
    }
}

impl Declared for Env {
    fn action(self) -> Result<Action, String> {
        let timeout_ms = self.timeout_ms.filter(|n| *n > 0);
        let Env { command, runtime, cwd, .. } = self;
        let discard = true;
        Ok(Action::Exec(Exec { command, runtime, cwd, timeout_ms, discard, ..Exec::default() }))
    }
}

impl Declared for Todo {
    fn action(self) -> Result<Action, String> {
        let item = |Item { text, state }| TodoItem { text, state };
        Ok(Action::Todo { items: self.items.into_iter().map(item).collect() })
    }
}

impl Declared for AskUser {
    fn action(self) -> Result<Action, String> {
        let AskUser { question, options } = self;
        if question.trim().is_empty() {
            return Err("question is empty".to_owned());
        }
        let options: Vec<String> = options.into_iter().filter(|o| !o.trim().is_empty()).collect();
        if options.len() > MOST_OPTIONS {
            return Err(format!("there are more than {MOST_OPTIONS} options"));
        }
        Ok(Action::Consult(Consult::Question { text: question, options }))
    }
}

impl Declared for PresentPlan {
    fn action(self) -> Result<Action, String> {
        match self.plan.trim().is_empty() {
            true => Err("plan is empty".to_owned()),
            false => Ok(Action::Consult(Consult::Plan { text: self.plan })),
        }
    }
}

/// A person chooses among no more answers than this.
const MOST_OPTIONS: usize = 20;

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
        build: |args| T::read(args).and_then(T::action),
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
    tool::<Fold>("fold", &["hide"], Effect::Read),
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

/// The tool that runs a command over an overlay that is thrown away.
pub const ENV: &str = "env";
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

/// The schemas of those a model is given, a JSON array of `{name, description, parameters}`. Where
/// nobody can be asked, none offers it; `more` are those of `ON_REQUEST` that are wanted.
#[must_use]
pub fn schemas(someone: bool, more: &[String]) -> String {
    let given = TOOLS.iter().filter(|tool| match tool.name {
        ASK_USER | PRESENT_PLAN => someone,
        name => !ON_REQUEST.contains(&name) || more.iter().any(|wanted| wanted == name),
    });
    Value::Array(given.map(Tool::schema).collect()).to_string()
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
