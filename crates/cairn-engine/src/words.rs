//! What the model is told about ops that were not performed: facts, no advice, no bookkeeping.

use cairn_types::{Coord, Status};

pub(crate) const READ_ONLY: &str = "refused: this run is read-only";
pub(crate) const PLANNING: &str = "refused: this run only plans";
pub(crate) const PLANNING_FIRST: &str =
    "refused: this run plans first; changes can be made once a plan is approved (present_plan)";
pub(crate) const NOBODY_ANSWERS: &str = "not asked: nobody is there to answer. Go by what is known, \
     and say in the end what was assumed";
pub(crate) const NO_ANSWER: &str = "the person does not answer this";
pub(crate) const APPROVED: &str = "the person approves the plan";
pub(crate) const APPROVED_ONLY: &str =
    "the person approves the plan. This run may not carry it out: answer with the plan";
pub(crate) const APPROVED_TO_ACT: &str = "the person approves the plan; changes can be made now";
pub(crate) const BEFORE_ANSWER: &str =
    "not performed: it was written before the person's answer was known";
pub(crate) const REVISE: &str =
    "the person does not approve the plan yet: revise it by what they say, and present it again";
pub(crate) const REJECTED: &str = "the person rejects the plan; it must not be carried out";
pub(crate) const WRITER: &str = "refused: only a person may do this";
pub(crate) const NO_REPO: &str = "refused: this run has no project";
pub(crate) const NO_WEB: &str = "refused: this run does not reach beyond this machine";
pub(crate) const FORBIDDEN: &str = "refused: the policy forbids it";
pub(crate) const NO_REVIEW: &str =
    "refused: it needs a review and there is none (no_review_channel)";
pub(crate) const REFUSED: &str = "refused by the person";
pub(crate) const NOBODY: &str = "refused: it needs approval and nobody is there to give it";
pub(crate) const WITHDRAWN: &str = "not performed: nobody decided in time";
pub(crate) const NOT_AS_SHOWN: &str = "not performed: it is no longer what was shown to the person";
pub(crate) const ABORTED: &str = "not performed: the person stopped the work";
pub(crate) const STEERED: &str = "not performed: the person said something meanwhile; it follows";
pub(crate) const CUT: &str =
    "not performed: the reply ran into its length limit and its calls may be cut";
pub(crate) const FOUND_DONE: &str =
    "done: the program was interrupted while writing; the file is as it was meant to be";
pub(crate) const SAID_DONE: &str =
    "the program was interrupted; the person says that it happened. Its output is not known";
pub(crate) const INDETERMINATE: &str = "the program was interrupted while this was running: it may \
     or may not have happened, in whole or in part. It was not repeated";

pub(crate) const PARTLY: &str = "the program was interrupted while this was being made: some of \
     its paths are as they were meant to be, the others as they were. It was not finished";

pub(crate) const NOT_BEGUN: &str =
    "not performed: the program was interrupted before this changed anything. It was not repeated";

/// A crash left it half made, and what is missing may no longer be made.
pub(crate) fn not_finished(why: &str) -> String {
    format!("{PARTLY}: {why}")
}

pub(crate) const INDETERMINATE_FILE: &str = "the program was interrupted while this was being \
     written: the file is now neither as it was nor as it was meant to be. It was not repeated";

pub(crate) const HOOK_UNASKED: &str =
    "a hook that is asked about it now was not asked before it began, so it was not repeated";

pub(crate) const CHANGED_TWICE: &str =
    "refused: hooks changed the call, and changed it again when it was looked at anew";

pub(crate) const UNHEARD: &str = "not shown: the work was stopped before hooks had looked at it";

/// What a model is told of a hook's refusal.
pub(crate) fn refused_by_hook(why: &str) -> String {
    format!("refused by a hook: {why}")
}

/// What a hook adds to a result or a prompt.
pub(crate) fn added_by_hook(text: &str) -> String {
    format!("a hook adds:\n{text}")
}

/// Why the model is asked again after its last word.
pub(crate) fn kept_going(why: &str) -> String {
    format!("a hook does not let the work end yet:\n{why}")
}

pub(crate) fn senseless_change(why: &str) -> String {
    format!("a hook changed the call into one that makes no sense: {why}")
}

pub(crate) fn unread(path: &str) -> String {
    format!("not done: {path} was not read in this run.")
}

pub(crate) fn stale(path: &str) -> String {
    format!("not done: {path} is not as it was when it was read.")
}

pub(crate) fn same_as(at: Coord) -> String {
    format!("unchanged: the same as log:///{at}")
}

pub(crate) fn cascade(at: Coord, status: Status) -> String {
    format!("not performed: an earlier op of this reply could not act ({at}, status {status})")
}

pub(crate) fn false_success(at: Coord, status: Status) -> String {
    format!("not taken as the end: log:///{at} of the same reply could not act (status {status})")
}

pub(crate) const UNREAD: &str = "not taken as the end: a part of the same reply could not be read";

pub(crate) fn unseen_success(at: Coord) -> String {
    format!("not taken as the end: what log:///{at} of the same reply came to was not seen yet")
}

pub(crate) fn not_given(tool: &str) -> String {
    format!("refused: this run was not given {tool}")
}

pub(crate) const AFTER_MISREAD: &str =
    "not performed: a part of the same reply before it could not be read";
pub(crate) const UNCLOSED: &str =
    "not performed: its end, or that of an op before it, was not written";
pub(crate) const GUESSED: &str = "refused: its end, or that of an op before it, was not written, and nobody is there to look at it";

pub(crate) fn turns_left(left: u32) -> String {
    match left {
        1 => "This is the last turn of this loop: the results of calls made in it are not told."
            .to_owned(),
        left => format!("{left} turns of this loop are left, this one included."),
    }
}

pub(crate) fn no_calls_left(tool: &str, most: u64) -> String {
    match most {
        1 => format!("refused: this run may call {tool} once, and has"),
        _ => format!("refused: this run may call {tool} {most} times, and has"),
    }
}

pub(crate) fn over_cap(cap: u32) -> String {
    format!("not performed: only the first {cap} calls of a reply are performed")
}

pub(crate) fn large(files: u64, bytes: u64) -> String {
    format!(
        "refused: it removes {files} files ({bytes} bytes), which a person must approve, and nobody is there"
    )
}

/// What no answer given beforehand lifts.
pub(crate) fn only_a_person(why: &str) -> String {
    format!("refused: {why}, which a person must approve, and nobody is there")
}

pub(crate) const GUARDED: &str = "it changed what says what runs next, and that was not shown before it was allowed; nothing of what it changed is kept";

/// An entry that this writer may not change.
pub(crate) fn unwritable(scheme: &str) -> String {
    format!("refused: {scheme}: entries are not written here")
}
