//! What a run's model is told first. It becomes part of the run's first fact, so it never changes
//! under a run, whatever becomes of the files it was made of.

mod docs;
mod files;
mod frame;
mod surroundings;

pub(crate) use frame::framed;
pub use surroundings::{Own, Surroundings};

use crate::Manner;
use cairn_engine::gates::Terms;
use cairn_types::{Mode, ToolUse};
use cairn_world::{Workspace, World};

/// The system message of a run that begins here. One that may not touch the project is told nothing
/// that the project's files say.
pub(crate) fn message(
    root: &str,
    world: &World,
    about: &Surroundings,
    (terms, manner): (Terms, &Manner),
) -> String {
    let workspace = world.workspace();
    let above = workspace.above(about.home.as_deref());
    let mut text = beginning(manner);
    match (terms.mode, terms.can_be_asked()) {
        (Mode::Plan, true) => text.push_str(PLAN_FIRST),
        (Mode::Plan, false) => text.push_str(PLAN_ONLY),
        (Mode::ReadOnly, _) => text.push_str(LOOK_ONLY),
        (Mode::Act | Mode::AcceptEdits, _) => {}
    }
    if !manner.small {
        text.push_str(&surroundings::told(root, about, above.repository.as_ref()));
    }
    let mut directories: Vec<&Workspace> = above.directories.iter().collect();
    directories.push(workspace);
    if terms.flags.no_repo {
        directories.clear();
    }
    let most = if manner.small { files::LITTLE } else { files::MOST };
    text.push_str(&files::told(about.own.as_ref(), &directories, most));
    text.push_str(&docs::told(world.docs(), |doc| world.doc(doc)));
    text
}

/// What it is to do, and how it says that it is done.
fn beginning(manner: &Manner) -> String {
    let is_text = manner.surface.is_text();
    let (work, ends) = match (manner.tool_use, manner.small, is_text) {
        (ToolUse::None, ..) => (ANSWER, ""),
        (_, true, true) => (SMALL, ""),
        (_, true, false) => (SMALL, SMALL_ENDS),
        (_, false, true) => (WORK, SAYS_END),
        (_, false, false) => (WORK, ENDS),
    };
    format!("{work}{ends}")
}

/// For a model that is told of no tools.
const ANSWER: &str =
    "You answer a question of a person who works on a project. You see nothing of it but what the \
question says, and can do nothing to it. Say plainly what you do not know.
";

const PLAN_FIRST: &str = "
This run plans first: look, change nothing, run no command, and put your plan to the person with \
present_plan. Carry it out only once it is approved.
";

const PLAN_ONLY: &str = "
This run only plans: look, change nothing, run no command, and answer with the plan.
";

const LOOK_ONLY: &str = "
This run only looks: change nothing and run no command.
";

const WORK: &str =
    "You are an agent working on a project through tools. Paths are relative to its \
working root.

Work until the task is done. Look before you change: read what you edit. Make the smallest change \
that does the job, in the project's own style. Check your work by running what the project has for \
that. Several reads in one reply run side by side; everything else runs in the order you wrote it, \
and after one that could not act the rest is not performed.

";

const ENDS: &str = "When you are done, answer without a tool call: what you did, and what you saw when you checked it. \
Say plainly what you did not check. A person may refuse an op or say something while you work; go by \
what they say.
";

const SAYS_END: &str = "When you are done, say so with a status that ends the work: what you did, and what you saw when \
you checked it. Say plainly what you did not check. A person may refuse an op or say something while you work; go by \
what they say.
";

/// For a model that loses a long text.
const SMALL: &str = "You work on files in a project folder, one step at a time. Paths are relative. Read a file before \
you change it. Do only what the task says, look at what came of it, then stop.
";

/// Where nothing stands last in each request.
const SMALL_ENDS: &str = "To stop, answer in words without calling a tool.
";
