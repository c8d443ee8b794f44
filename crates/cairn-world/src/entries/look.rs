//! Looking at entries: reading one, listing and finding some. Changes nothing.

use super::{fetched, one, text};
use crate::entries::scheme::{Listed, Schemes};
use crate::find::{Kept, Lines, Page, Paths, Unseen};
use crate::look::read::picture_of;
use crate::settled::{Performed, Refusal};
use cairn_text::matcher::{Hit, Matched, Matcher};
use cairn_text::mime;
use cairn_types::{Find, Hash, Read, Seen, Status, Uri};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Reads an entry's channel. One whose scheme can list has what is beneath it, where it is none itself.
pub(crate) fn read(
    schemes: &Schemes,
    uri: &Uri,
    read: &Read,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    if uri.path.is_empty() && uri.host.is_empty() {
        return list(schemes, uri);
    }
    if read.scope.is_none() && read.matcher.is_none() {
        // What may be too long to be held never changes, so it is not noted as seen.
        if let Some(lines) = one(schemes, uri)?.lines(uri, read)? {
            return Ok(lines);
        }
    }
    let entry = match fetched(schemes, uri, cancel) {
        Err(refusal) if refusal.status == Status::NOT_FOUND && uri.channel.is_none() => {
            return list(schemes, uri).or(Err(refusal));
        }
        entry => entry?,
    };
    let name = uri.to_string();
    if schemes.remote(&name).is_some() && mime::is_binary(&entry.mime) {
        if let Some(shown) = picture_of(&name, &entry.content)? {
            return Ok(shown);
        }
        let text = format!("{uri} is {}, {} bytes, and not text", entry.mime, entry.content.len());
        return Err(Refusal::new(Status::NOT_TEXT, text));
    }
    let content = super::edit::text_of(uri, &entry)?;
    let mut performed = text::read(&name, content, &entry.mime, read)?;
    if !entry.tags.is_empty() && read.matcher.is_none() {
        performed.text = format!("{}\ntags: {}", performed.text, entry.tags.join(", "));
    }
    let hash = Hash::of(&entry.content);
    let part = read.scope.is_some() || read.matcher.is_some();
    performed.seen.push(Seen { path: name, hash, part });
    Ok(performed)
}

/// Lists the entries beneath an address.
pub(crate) fn list(schemes: &Schemes, uri: &Uri) -> Result<Performed, Refusal> {
    let listed = beneath(schemes, uri)?;
    if listed.is_empty() && !uri.path.is_empty() {
        return Err(Refusal::new(Status::NOT_FOUND, format!("{uri} does not exist")));
    }
    let mut page = Page::new(0, None);
    listed.iter().for_each(|one| page.add_path(row(one).as_bytes()));
    page.told()
}

/// An entry in a list: its address, how long it is and what it is tagged with.
fn row(listed: &Listed) -> String {
    let mut row = listed.uri.to_string();
    if let Some(bytes) = listed.bytes {
        row.push_str(&format!("  {bytes} bytes"));
    }
    if !listed.tags.is_empty() {
        row.push_str(&format!("  [{}]", listed.tags.join(", ")));
    }
    row
}

/// The entries at an address and beneath it. What merely begins with the same letters is not.
pub(crate) fn beneath(schemes: &Schemes, uri: &Uri) -> Result<Vec<Listed>, Refusal> {
    let mut listed = schemes.of(uri)?.list(uri)?;
    let inside = format!("{}/", uri.path);
    listed.retain(|one| {
        uri.path.is_empty() || one.uri.path == uri.path || one.uri.path.starts_with(&inside)
    });
    Ok(listed)
}

/// The addresses that a pattern means.
pub(crate) fn matching(schemes: &Schemes, pattern: Uri) -> Result<Vec<String>, Refusal> {
    let (uri, inner) = glob_in(pattern);
    let glob = inner.as_deref().map(Paths::whole).transpose()?;
    let is_meant =
        |one: &Listed| glob.as_ref().is_none_or(|glob| glob.matches(one.uri.path.as_bytes()));
    let listed = beneath(schemes, &uri)?;
    Ok(listed.iter().filter(|one| is_meant(one)).map(|one| one.uri.to_string()).collect())
}

/// Finds entries by address, tags and content.
pub(crate) fn find(
    schemes: &Schemes,
    find: &Find,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    let under = find.under.as_deref().unwrap_or_default();
    let uri = match schemes.address(under) {
        Some(uri) => uri?,
        None => return Err(Refusal::new(Status::FAILED, format!("{under} is no address"))),
    };
    let (uri, inner) = glob_in(uri);
    let given = find.glob.as_deref().map(|glob| Paths::new(glob, Path::new("/")));
    let globs = given.into_iter().chain(inner.as_deref().map(Paths::whole));
    let globs = globs.collect::<Result<Vec<_>, _>>()?;
    let bad = |why: cairn_text::matcher::BadMatcher| text::bad_matcher(&why);
    let matcher = find.text.as_deref().map(Matcher::parse).transpose().map_err(bad)?;
    let mut page = Page::new(find.skip, find.limit);
    for listed in beneath(schemes, &uri)? {
        if cancel.is_cancelled() {
            return Err(Refusal::new(Status::CANCELLED, "cancelled"));
        }
        let is_named = globs.iter().all(|glob| glob.matches(listed.uri.path.as_bytes()));
        if !is_named || !find.tags.iter().all(|tag| listed.tags.contains(tag)) {
            continue;
        }
        match &matcher {
            None => page.add_path(listed.uri.to_string().as_bytes()),
            Some(matcher) => {
                let uri = Uri { channel: uri.channel.clone(), ..listed.uri };
                look_into(schemes, &uri, matcher, &mut page)?;
            }
        }
        if page.is_over() {
            break;
        }
    }
    page.told()
}

/// Looks into one entry; one that is no text, or is gone by now, has nothing to find.
fn look_into(
    schemes: &Schemes,
    uri: &Uri,
    matcher: &Matcher,
    page: &mut Page,
) -> Result<(), Refusal> {
    let entry = match one(schemes, uri)?.get(uri) {
        Ok(entry) => entry,
        Err(refusal) => {
            page.pass_over(match refusal.status {
                Status::REFUSED => Unseen::Kept,
                Status::NOT_TEXT => Unseen::Binary,
                _ => return Err(refusal),
            });
            return Ok(());
        }
    };
    let Some(entry) = entry else { return Ok(()) };
    let Ok(content) = super::edit::text_of(uri, &entry) else { return Ok(()) };
    let hits = match matcher.over(content, &entry.mime) {
        Matched::Hits(hits) => hits,
        Matched::None | Matched::Unreadable { .. } => Vec::new(),
        Matched::TooMuch { .. } => {
            page.pass_over(Unseen::Long);
            return Ok(());
        }
    };
    let kept = |hit: &Hit| Kept { text: hit.to_string(), rows: 1 };
    let (count, kept) = (hits.len() as u64, hits.iter().map(kept).collect());
    page.add_lines(uri.to_string().as_bytes(), &Lines { count, from: 0, kept });
    Ok(())
}

/// An address whose path is a glob is the address before it and the glob.
fn glob_in(uri: Uri) -> (Uri, Option<String>) {
    let is_glob = |part: &str| part.contains(['*', '?', '[', '{']);
    if !uri.path.split('/').any(is_glob) {
        return (uri, None);
    }
    let lead: Vec<&str> = uri.path.split('/').take_while(|part| !is_glob(part)).collect();
    (Uri { path: lead.join("/"), ..uri.clone() }, Some(uri.path))
}
