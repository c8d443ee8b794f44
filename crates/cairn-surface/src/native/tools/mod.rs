//! The built-in tools, each in a file of its own: what the model is told of it, its arguments, the op that it asks for,
//! how the text surfaces write it, and an example. A new one is a file here and a line in `built_in_tools!`.

use super::args::Args;
use super::declare::{Fields, Param, Way, schema, told};
use crate::skin::{Skin, Statement};
use cairn_text::patch::{self, BodyForm};
use cairn_types::{Action, Effect};
use serde_json::{Map, Value, json};

/// Lists the built-in tools in the order in which models are told of them: a file here, and its type.
macro_rules! built_in_tools {
    (there: { $($module:ident: $tool:ident;)+ } missing: { $($missing:ident: $named:ident;)+ }) => {
        $(mod $module;)+
        $(mod $missing;)+

        static TOOLS: &[Tool] = &[$(Tool::of::<$module::$tool>()),+];

        /// Tools that models ask for and that do nothing here yet: nobody is offered them, and a call says so.
        static MISSING: &[Tool] = &[$(Tool::of::<$missing::$named>()),+];
    };
}

built_in_tools! {
    there: {
        read: ReadFile;
        write: Write;
        edit: Edit;
        multi_edit: MultiEdit;
        find: FindIn;
        list: List;
        remove: Remove;
        r#move: Move;
        copy: Copy;
        open: Open;
        fold: Fold;
        send: Send;
        bash: Bash;
        env: Env;
        todo: Todo;
        ask_user: AskUser;
        present_plan: PresentPlan;
    }
    missing: {
        web_search: WebSearch;
        use_skill: UseSkill;
    }
}

/// The tool that says something.
pub const SEND: &str = send::Send::NAME;
/// The tool that asks a person.
pub const ASK_USER: &str = ask_user::AskUser::NAME;
/// The tool that puts a plan to a person.
pub const PRESENT_PLAN: &str = present_plan::PresentPlan::NAME;
/// Those that a model is given only where somebody wants it to have them.
pub const ON_REQUEST: [&str; 2] = [open::Open::NAME, fold::Fold::NAME];

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
    /// Fills in how the text surfaces write it.
    pub(super) skin: fn(Skin) -> Skin,
    /// Where its statement stands among those of the text surfaces.
    pub(super) statement_place: u32,
}

/// A built-in tool, as its file declares it.
trait BuiltInTool: Fields {
    const NAME: &'static str;
    /// Names models also call it by; reading one is reported.
    const ALIASES: &'static [&'static str];
    /// What it may change.
    const EFFECT: Effect;
    /// Whether doing it twice is the same as doing it once.
    const REPEATABLE: bool = matches!(Self::EFFECT, Effect::Pure | Effect::Read);
    /// The arguments that say what it works on, and where.
    const TARGETS: &'static [&'static str] = &[];
    /// The ways to give its arguments, where not any that are required will do.
    const WAYS: &'static [Way] = &[];
    /// Arguments as a model is shown them, a JSON object.
    const EXAMPLE: &'static str;
    /// Where its statement stands on the text surfaces: models are taught in this order, and of several statements that
    /// a tag or word may mean the first is tried first.
    const STATEMENT_PLACE: u32;

    /// How the text surfaces write it, filled into an empty skin.
    fn skin(skin: Skin) -> Skin;

    /// The op that it asks for, or why its arguments make no sense.
    fn into_action(self) -> Result<Action, String>;

    /// The arguments that ask for this, if it is what the tool is for.
    fn from_action(action: &Action) -> Option<Self>;
}

impl Tool {
    const fn of<T: BuiltInTool>() -> Tool {
        Tool {
            name: T::NAME,
            aliases: T::ALIASES,
            effect: T::EFFECT,
            repeatable: T::REPEATABLE,
            params: T::PARAMS,
            doc: T::DOC,
            targets: T::TARGETS,
            ways: T::WAYS,
            example: T::EXAMPLE,
            build: |args| T::read(args).and_then(T::into_action),
            unbuild: |action| T::from_action(action).map(T::write),
            skin: T::skin,
            statement_place: T::STATEMENT_PLACE,
        }
    }

    fn schema(&self) -> Value {
        json!({
            "name": self.name,
            "description": told(self.doc),
            "parameters": schema(self.params),
        })
    }
}

/// The tools there are.
#[must_use]
pub fn tools() -> &'static [Tool] {
    TOOLS
}

/// All tools that a statement may mean, also those that are not there yet.
pub(super) fn tools_and_missing() -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().chain(MISSING)
}

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

/// A text that says something.
fn non_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// The attribute of a statement that says how rows are shown.
const VISIBILITY: &str = "visibility";
/// The attribute that asks what would be meant, and does nothing.
const MANIFEST: &str = "manifest";

/// Whether a statement only changes how rows are shown.
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
