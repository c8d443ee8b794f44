//! An edit of an entry, worked out. Changes nothing.

use super::{one, refuse_channel_of_nothing, refused};
use crate::edits::earlier::{EarlierInReply, SeenText, misplaced, names_lines};
use crate::edits::edit::{SCOPE_OF_CONTENT, Worked, status_of, together};
use crate::entries::scheme::{Entry, MAX_CHANNEL, Scheme, Schemes, mime_of};
use crate::settled::{Prepared, Refusal};
use cairn_text::edit::Edited;
use cairn_text::mime;
use cairn_text::patch::{self, Patched};
use cairn_types::{Change, Edit, EditBody, Status, Uri};

/// The longest tag, in bytes.
const MAX_TAG: usize = 64;
/// The most tags of an entry.
const MAX_TAGS: usize = 32;

/// What an edit of an entry would change.
pub(crate) fn prepare(
    schemes: &Schemes,
    uri: &Uri,
    edit: &Edit,
    earlier: &EarlierInReply,
) -> Prepared {
    match work_out(schemes, uri, edit, earlier) {
        Err(refusal) => refused(&format!("edit {uri}"), refusal),
        Ok(worked) => Prepared { fresh: Vec::new(), parts: Vec::new(), ..together(vec![worked]) },
    }
}

fn work_out(
    schemes: &Schemes,
    uri: &Uri,
    edit: &Edit,
    earlier: &EarlierInReply,
) -> Result<Worked, Refusal> {
    let scheme = one(schemes, uri)?;
    let before = scheme.get(uri)?;
    if before.is_none() {
        refuse_channel_of_nothing(scheme, uri)?;
    }
    let mime = mime_of(scheme.manifest(), uri);
    let old = before.as_ref().map(|entry| text_of(uri, entry)).transpose()?;
    let seen = match old {
        Some(old) if names_lines(edit) => {
            let redo = |edit: &Edit, old: &[u8], seen: Option<&SeenText>| {
                let old = std::str::from_utf8(old).map_err(|_| not_text(uri, &mime, old.len()))?;
                edited(uri, Some(old), edit, &mime, seen)
            };
            earlier.seen_text(&uri.to_string(), old.as_bytes(), redo)?
        }
        _ => None,
    };
    let edited = edited(uri, old, edit, &mime, seen.as_ref())?;
    let tags = tagged(before.as_ref(), &edit.tags)?;
    let after = Entry { content: edited.content.clone().into_bytes(), mime, tags };
    worked(scheme, (uri, before, after), edited)
}

/// The change of an entry to what it shall be.
fn worked(
    scheme: &dyn Scheme,
    (uri, before, after): (&Uri, Option<Entry>, Entry),
    edited: Edited,
) -> Result<Worked, Refusal> {
    let (address, bytes) = (uri.to_string(), after.content.len() as u64);
    if bytes > MAX_CHANNEL {
        let text = format!("{address} would be {bytes} bytes, more than {MAX_CHANNEL}");
        return Err(Refusal::new(Status::TOO_LARGE, text));
    }
    if before.as_ref().is_some_and(|old| old.content == after.content && old.tags == after.tags) {
        return Err(Refusal::new(Status::UNCHANGED, format!("{address} is unchanged")));
    }
    let was = before.as_ref().map(|entry| entry.state(scheme));
    let change = Change::between(address, was, Some(after.state(scheme)));
    let Edited { content, spans, mut notes, .. } = edited;
    if before.as_ref().is_none_or(|old| old.tags != after.tags) && !after.tags.is_empty() {
        notes.push(format!("tagged {}", after.tags.join(", ")));
    }
    let before = before.map(|entry| entry.content);
    Ok(Worked { change, before, after: Some(content), spans, notes, from: None })
}

/// The new content, the lines that are new in it, and what was tolerated.
fn edited(
    uri: &Uri,
    old: Option<&str>,
    edit: &Edit,
    mime: &str,
    seen: Option<&SeenText>,
) -> Result<Edited, Refusal> {
    let missing = || Refusal::new(Status::NOT_FOUND, format!("{uri} does not exist"));
    let edited = match (&edit.body, &edit.scope, old) {
        // A scope is a place in what is there; where nothing is, the body is all there will be.
        (EditBody::Whole { content }, Some(scope), Some(old)) => {
            let name = uri.to_string();
            let scope = match seen {
                Some(seen) => seen.scope_now(&name, scope, old, mime::is_json(mime))?,
                None => scope.clone(),
            };
            super::text::spliced(&name, old, (&scope, content), mime)?
        }
        (EditBody::Whole { content }, _, old) => Edited::rewritten(old, content.clone()),
        (_, Some(_), _) => {
            return Err(Refusal::new(Status::BAD_REQUEST, SCOPE_OF_CONTENT));
        }
        (EditBody::Replace(exchanges), None, old) => {
            cairn_text::edit::replace_each(old.ok_or_else(missing)?, exchanges).map_err(
                |(_, problem)| Refusal::new(status_of(&problem), format!("{uri}: {problem}")),
            )?
        }
        (EditBody::Patch(text), None, old) => patched(uri, old, text, seen)?,
    };
    if mime::is_json(mime) && !edited.content.trim().is_empty() {
        super::text::check_json(&uri.to_string(), &edited.content)?;
    }
    Ok(edited)
}

fn patched(
    uri: &Uri,
    old: Option<&str>,
    text: &str,
    seen: Option<&SeenText>,
) -> Result<Edited, Refusal> {
    let bad = |problem: &dyn std::fmt::Display| {
        Refusal::new(Status::CONFLICT, format!("{uri}: {problem}"))
    };
    let patches = patch::parse(text).map_err(|problem| bad(&problem))?;
    let [patch] = &patches[..] else {
        let text = format!("the patch speaks of {} files, and {uri} is one entry", patches.len());
        return Err(Refusal::new(Status::BAD_REQUEST, text));
    };
    let moved = match (seen, old) {
        (Some(seen), Some(now)) => patch.clone().after_moves(&seen.moves, &seen.text, now),
        _ => Ok(patch.clone()),
    };
    let patch = moved.map_err(|problem| misplaced(&uri.to_string(), &problem))?;
    match patch.apply(old).map_err(|problem| bad(&problem))? {
        Patched::Edited(edited) if patch.moved_to.is_none() => Ok(edited),
        _ => {
            let text = "a patch of an entry neither moves nor removes it";
            Err(Refusal::new(Status::BAD_REQUEST, text))
        }
    }
}

/// An entry's content as text.
pub(crate) fn text_of<'a>(uri: &Uri, entry: &'a Entry) -> Result<&'a str, Refusal> {
    let text = std::str::from_utf8(&entry.content).ok();
    text.filter(|_| memchr::memchr(0, &entry.content).is_none())
        .ok_or_else(|| not_text(uri, &entry.mime, entry.content.len()))
}

fn not_text(uri: &Uri, mime: &str, bytes: usize) -> Refusal {
    Refusal::new(Status::NOT_TEXT, format!("{uri} is {mime}, {bytes} bytes, and not text"))
}

/// What an entry is tagged with when these are added.
fn tagged(before: Option<&Entry>, more: &[String]) -> Result<Vec<String>, Refusal> {
    let mut tags = before.map(|entry| entry.tags.clone()).unwrap_or_default();
    tags.extend(checked(more)?);
    tags.sort_unstable();
    tags.dedup();
    match tags.len() > MAX_TAGS {
        true => Err(Refusal::new(Status::BAD_REQUEST, format!("more than {MAX_TAGS} tags"))),
        false => Ok(tags),
    }
}

/// These tags as they are kept: in order, each once.
pub(crate) fn checked(tags: &[String]) -> Result<Vec<String>, Refusal> {
    let mut kept: Vec<String> =
        tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
    kept.sort_unstable();
    kept.dedup();
    let is_bad =
        |tag: &&String| tag.len() > MAX_TAG || tag.contains(|c: char| c == ',' || c.is_control());
    match kept.iter().find(is_bad) {
        None => Ok(kept),
        Some(tag) => {
            let text = format!(
                "{:?} is no tag: it has at most {MAX_TAG} bytes, no comma and one line",
                tag.chars().take(MAX_TAG).collect::<String>()
            );
            Err(Refusal::new(Status::BAD_REQUEST, text))
        }
    }
}
