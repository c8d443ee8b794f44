//! Whether a model's call may be performed as it was written. The model is shown markers, never
//! secrets, so a call that holds a secret, or would write a marker where a secret stood, is refused.

use cairn_engine::Marks;
use cairn_provider::{CallText, Thought};
use cairn_surface::native;
use cairn_text::scrub::{Find, Scrubber};
use cairn_types::{Action, Post, scheme_of};
use std::borrow::Cow;

/// A call's arguments as they are recorded, and why it is not performed, if it is not.
pub(crate) struct Taken<'a> {
    pub(crate) args: Cow<'a, str>,
    refused: Option<String>,
}

impl Taken<'_> {
    /// The same, refused if the arguments hold a character that may stand for bytes that were lost.
    pub(crate) fn unless_replaced(mut self, is_replaced: bool) -> Self {
        if is_replaced && self.args.contains(char::REPLACEMENT_CHARACTER) {
            let why = "not done: bytes of the call were lost on their way, as they are not UTF-8; write it again";
            self.refused.get_or_insert_with(|| why.to_owned());
        }
        self
    }

    /// Its arguments as they are recorded, and how it was written, with why it is refused.
    pub(crate) fn marked(&self, marks: Marks) -> (&str, Marks) {
        (&self.args, Marks { refused: self.refused.clone(), ..marks })
    }
}

/// Looks at a call.
pub(crate) fn taken<'a>(scrubber: &Scrubber, call: &'a CallText) -> Taken<'a> {
    let refused = refusal(scrubber, &call.name, &call.args);
    let args = match refused {
        None => Cow::Borrowed(&*call.args),
        Some(_) => scrubber.text(&call.args),
    };
    Taken { args, refused }
}

/// Why a call of this tool with these arguments is not performed, if it is not.
pub(crate) fn refusal(scrubber: &Scrubber, tool: &str, args: &str) -> Option<String> {
    let finds = scrubber.finds(args);
    if finds.is_empty() {
        return None;
    }
    let action = native::parse(tool, args).action.ok();
    finds.iter().find_map(|find| why_not(find, action.as_ref()))
}

/// Why a call that holds this is not performed. What a model writes into a file is that file's
/// content and stays exact, whatever it looks like, unless it is known to be a secret of this machine;
/// passwords in URLs are too often part of an example or of a local set-up to tell.
fn why_not(find: &Find, action: Option<&Action>) -> Option<String> {
    let is_edit = matches!(action, Some(Action::Edit(_)));
    // Another run is told of a marker as it stands.
    let is_command = match action {
        Some(Action::Send(Post { to: Some(to), .. })) => scheme_of(to) != Some("run"),
        action => matches!(action, Some(Action::Exec(_))),
    };
    match find {
        Find::Known(name) => Some(format!(
            "not done: the call holds the secret {name} itself. It is kept out of conversations; a \
             command can use it where a variable or a file holds it"
        )),
        Find::Key(kind) if !is_edit => Some(format!(
            "not done: the call holds a key ({kind}). Keys are kept out of conversations; a command \
             can use one where a variable or a file holds it"
        )),
        Find::Marker if is_edit || is_command => Some(
            "not done: the call holds a marker, which stands for a secret that was not shown and \
             would take its place. Text around it can be changed without it"
                .to_owned(),
        ),
        Find::Key(_) | Find::Marker | Find::Password => None,
    }
}

/// Thoughts to send back. What a provider made of one cannot be changed, so a thought whose own block
/// holds a secret is left out.
pub(crate) fn thoughts(scrubber: &Scrubber, mut thoughts: Vec<Thought>) -> Vec<Thought> {
    let is_secret = |find: &Find| matches!(find, Find::Known(_) | Find::Key(_));
    let holds = |block: &str| scrubber.finds(block).iter().any(is_secret);
    thoughts.retain(|thought| !thought.sealed.as_deref().is_some_and(holds));
    for thought in &mut thoughts {
        if let Cow::Owned(without) = scrubber.text(&thought.text) {
            thought.text = without;
        }
    }
    thoughts
}
