//! Schemes and their entries, and the ops on them: the same ten over every scheme, worked out from what a scheme
//! gives. Files are ends of a copy or move here, and otherwise not.

mod beyond;
pub(crate) mod carry;
pub(crate) mod docs;
pub(crate) mod edit;
pub(crate) mod look;
pub(crate) mod misspelled;
pub(crate) mod scheme;
pub(crate) mod stored;
pub(crate) mod text;

use crate::entries::scheme::{Entry, Scheme, Schemes};
use crate::settled::{Prepared, Probe, Refusal};
use cairn_text::shown::clean;
use cairn_types::{Change, FileState, Status, Uri, UriError};
use tokio_util::sync::CancellationToken;

fn bad(why: &UriError) -> Refusal {
    Refusal::new(Status::BAD_REQUEST, why.to_string())
}

/// An op that cannot be done, under the line it would have had.
pub(crate) fn refused(label: &str, refusal: Refusal) -> Prepared {
    let settled = Some(refusal.into());
    Prepared { label: clean(label), settled, ..Prepared::default() }
}

/// The scheme of an address that names one entry.
pub(crate) fn one<'a>(schemes: &'a Schemes, uri: &Uri) -> Result<&'a dyn Scheme, Refusal> {
    let scheme = schemes.with_channel(uri)?;
    match uri.path.is_empty() && uri.host.is_empty() {
        true => Err(Refusal::new(Status::BAD_REQUEST, format!("{uri} names no entry"))),
        false => Ok(scheme),
    }
}

/// Refuses a channel beside the usual one of an entry that does not exist.
fn refuse_channel_of_nothing(scheme: &dyn Scheme, uri: &Uri) -> Result<(), Refusal> {
    match uri.channel.is_some() && scheme.get(&uri.entry())?.is_none() {
        true => {
            let text = format!("{} does not exist, so it has no other channels", uri.entry());
            Err(Refusal::new(Status::NOT_FOUND, text))
        }
        false => Ok(()),
    }
}

/// An entry's channel as it stands, and that there is none.
pub(crate) fn there(schemes: &Schemes, uri: &Uri) -> Result<Entry, Refusal> {
    let missing = || Refusal::new(Status::NOT_FOUND, format!("{uri} does not exist"));
    one(schemes, uri)?.get(uri)?.ok_or_else(missing)
}

/// An entry's channel, for an op that was let read it, and that there is none.
pub(crate) fn fetched(
    schemes: &Schemes,
    uri: &Uri,
    cancel: &CancellationToken,
) -> Result<Entry, Refusal> {
    let missing = || Refusal::new(Status::NOT_FOUND, format!("{uri} does not exist"));
    one(schemes, uri)?.fetch(uri, cancel)?.ok_or_else(missing)
}

/// What is known of reading an entry beyond this machine before anybody let it: what would be reached, or why
/// it cannot be.
pub(crate) fn beyond(schemes: &Schemes, uri: &Uri, (label, shown): (&str, &str)) -> Prepared {
    match one(schemes, uri).and_then(|scheme| scheme.admit(uri)) {
        Err(refusal) => refused(label, refusal),
        Ok(()) => Prepared { label: clean(label), shown: shown.to_owned(), ..Prepared::default() },
    }
}

/// What stands at the address of a change.
pub(crate) fn state(schemes: &Schemes, address: &str) -> Result<Option<FileState>, Refusal> {
    let uri: Uri = address.parse().map_err(|why| bad(&why))?;
    let scheme = one(schemes, &uri)?;
    Ok(scheme.get(&uri)?.map(|entry| entry.state(scheme)))
}

/// Whether the entries of these changes are as they were before; what the first is that is not.
pub(crate) fn stale<'a>(schemes: &Schemes, changes: &'a [Change]) -> Option<&'a str> {
    let mut entries = changes.iter().filter(|change| change.entry().is_some());
    entries
        .find(|change| state(schemes, &change.path) != Ok(change.before.clone()))
        .map(|change| change.path.as_str())
}

/// How far the changes of entries came, by what stands there now.
pub(crate) fn probe(schemes: &Schemes, changes: &[Change]) -> Option<Probe> {
    let entries = changes.iter().filter(|change| change.entry().is_some());
    let found = entries.map(|change| match state(schemes, &change.path) {
        // What the store keeps is made true with the outcome, which there is none of: whatever else
        // stands there is somebody else's.
        Ok(now) if change.is_stored() && now == change.before => Probe::NotDone,
        Ok(now) if !change.is_stored() && now == change.after => Probe::Done,
        Ok(now) if now == change.before => Probe::NotDone,
        _ => Probe::Neither,
    });
    found.reduce(together)
}

/// Two parts of one op.
pub(crate) fn together(one: Probe, other: Probe) -> Probe {
    match (one, other) {
        (one, other) if one == other => one,
        (Probe::Neither, _) | (_, Probe::Neither) => Probe::Neither,
        _ => Probe::Partly,
    }
}

/// Makes the changes true whose schemes keep their entries themselves; those of the store are made true
/// with the outcome. Where one cannot be made, those before it are taken back.
pub(crate) fn apply(
    schemes: &Schemes,
    changes: &[Change],
    contents: &crate::Contents<'_>,
) -> Result<(), Refusal> {
    let own: Vec<&Change> = changes.iter().filter(|change| crate::is_own(change)).collect();
    for (done, change) in own.iter().enumerate() {
        if let Err(refusal) = make(schemes, change, contents) {
            let begun = own[..=done].iter().rev().map(|change| crate::inverse(change));
            let left: Vec<String> = begun
                .filter(|back| make(schemes, back, contents).is_err())
                .map(|back| back.path)
                .collect();
            return Err(match left.as_slice() {
                [] => refusal,
                left => {
                    let text = format!("{}; not as before: {}", refusal.text, left.join(", "));
                    Refusal { text, ..refusal }
                }
            });
        }
    }
    Ok(())
}

/// Makes one of them true; leaves it where it is.
fn make(schemes: &Schemes, change: &Change, contents: &crate::Contents<'_>) -> Result<(), Refusal> {
    let uri: Uri = change.path.parse().map_err(|why| bad(&why))?;
    let scheme = one(schemes, &uri)?;
    if scheme.get(&uri)?.map(|entry| entry.state(scheme)) == change.after {
        return Ok(());
    }
    let after = change.after.as_ref().and_then(|state| Some((state.hash?, state.entry.clone()?)));
    match after {
        None => scheme.delete(&uri),
        Some((hash, entry)) => {
            let gone = || Refusal::new(Status::GONE, format!("what {uri} held is freed"));
            let content = contents(&hash).ok_or_else(gone)?;
            scheme.put(&uri, &Entry { content, mime: entry.mime, tags: entry.tags })
        }
    }
}
