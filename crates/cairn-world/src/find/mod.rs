//! Finds paths by glob, and lines by literal text or regular expression. Results come in the order
//! of paths, a page at a time, whatever the threads that look for them do.

mod look;
mod order;
mod page;
mod pattern;
mod plan;
mod row;
mod search;
#[cfg(test)]
mod tests;
mod trial;

use crate::folders::workspace::Workspace;
use crate::membership::Judge;
use crate::settled::{Performed, Refusal};
use cairn_types::Status;
pub(crate) use look::{Kept, Lines};
pub(crate) use page::{Page, Unseen};
pub(crate) use pattern::Paths;
use pattern::line_matcher;
use plan::Plan;
use search::search;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The most lines told before and after a found one.
const MAX_CONTEXT: u8 = 20;

/// How long is looked. What was not searched by then is said.
const LONGEST: Duration = Duration::from_secs(30);

/// What to look for, and where.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Query<'a> {
    /// A glob over paths beneath the root; without a slash it matches at any depth.
    pub(crate) glob: Option<&'a str>,
    /// A literal within one line, or `/regex/flags`.
    pub(crate) text: Option<&'a str>,
    /// The only file or directory looked at.
    pub(crate) under: Option<&'a str>,
    /// How many lines before and after a found one are told.
    pub(crate) context: u8,
}

/// The members that a glob means; one more than `most` where there are more.
pub(crate) fn paths(
    workspace: &Workspace,
    glob: &str,
    most: usize,
) -> Result<Vec<String>, Refusal> {
    let cancel = CancellationToken::new();
    let query = Query { glob: Some(glob), ..Query::default() };
    let mut paths = searched(workspace, query, Page::of_paths(), &cancel)?.into_paths()?;
    // Where something is done to all that it means, it means no more than it says: `*.log` is in one folder.
    let whole = Paths::whole(glob.strip_prefix("./").unwrap_or(glob))?;
    paths.retain(|path| whole.matches(path.as_bytes()));
    paths.truncate(most + 1);
    Ok(paths)
}

/// Members beneath a directory, as many as are counted.
pub(crate) fn beneath(workspace: &Workspace, directory: &str) -> Result<Vec<String>, Refusal> {
    let query = Query { glob: Some("*"), under: Some(directory), ..Query::default() };
    let found = searched(workspace, query, Page::of_paths(), &CancellationToken::new())?;
    found.into_paths()
}

/// Looks, and tells one page of what it found.
pub(crate) fn perform(
    workspace: &Workspace,
    query: Query<'_>,
    (skip, limit): (u64, Option<u64>),
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    searched(workspace, query, Page::new(skip, limit), cancel)?.told()
}

/// Looks, and fills a page.
fn searched(
    workspace: &Workspace,
    query: Query<'_>,
    page: Page,
    cancel: &CancellationToken,
) -> Result<Page, Refusal> {
    searched_within(LONGEST, workspace, query, page, cancel)
}

/// The same for at most so long.
fn searched_within(
    longest: Duration,
    workspace: &Workspace,
    query: Query<'_>,
    page: Page,
    cancel: &CancellationToken,
) -> Result<Page, Refusal> {
    if query.glob.is_none() && query.text.is_none() {
        return Err(Refusal::new(Status::BAD_REQUEST, "neither a glob nor a text was given"));
    }
    let under = match query.under {
        Some(under) => {
            let opened = workspace.open_existing(under)?;
            workspace.refuse_stranger(under, &opened.path, opened.is_directory())?;
            workspace.root.inner_path(&opened.path).to_owned()
        }
        None => ".".to_owned(),
    };
    let plan = Plan {
        paths: query.glob.map(|glob| Paths::new(glob, workspace.path())).transpose()?,
        lines: query.text.map(line_matcher).transpose()?,
        under: if under == "." { Vec::new() } else { under.into_bytes() },
        judge: Judge::new(workspace),
        context: usize::from(query.context.min(MAX_CONTEXT)),
        cancel,
        until: Instant::now() + longest,
        workspace,
    };
    let root = workspace.root.open_directory(".").map_err(|e| {
        Refusal::new(Status::FAILED, format!("the workspace could not be read: {e}"))
    })?;
    let page = search(&plan, root, page);
    if cancel.is_cancelled() {
        return Err(Refusal::new(Status::CANCELLED, "cancelled"));
    }
    Ok(page)
}
