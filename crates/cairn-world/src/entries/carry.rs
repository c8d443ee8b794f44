//! Copying, moving and removing where an entry is at one end or both, worked out. Changes nothing.

use super::edit::checked;
use super::{beyond, fetched, one, refuse_channel_of_nothing, refused, there};
use crate::changes::apply;
use crate::edits::edit::{look, written};
use crate::edits::rearrange;
use crate::entries::scheme::{Entry, MAX_CHANNEL, Schemes, mime_of};
use crate::folders::roots::Roots;
use crate::folders::unread::Door;
use crate::settled::{Prepared, Refusal};
use cairn_text::mime;
use cairn_text::shown::clean;
use cairn_types::{Carry, Change, Status, Uri};
use tokio_util::sync::CancellationToken;

/// Where both kinds of ends are.
pub(crate) struct Ends<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) schemes: &'a Schemes,
    /// Ends a read that takes long.
    pub(crate) cancel: &'a CancellationToken,
}

/// What removing an entry would change.
pub(crate) fn prepare_kill(schemes: &Schemes, uri: &Uri) -> Prepared {
    let label = format!("remove {uri}");
    let gone = || {
        let (entry, scheme) = (there(schemes, uri)?, one(schemes, uri)?);
        let change = Change::between(uri.to_string(), Some(entry.state(scheme)), None);
        Ok((change, entry.content))
    };
    match gone() {
        Err(refusal) => refused(&label, refusal),
        Ok((change, content)) => Prepared {
            label: clean(&label),
            shown: format!("remove {uri}\n"),
            changes: vec![change],
            contents: vec![content],
            told: Some((Status::OK, format!("removed {uri}"))),
            ..Prepared::default()
        },
    }
}

impl Ends<'_> {
    /// What copying would change, as far as that is known before it is let: what is beyond this machine is not
    /// looked at.
    pub(crate) fn copy(&self, carry: &Carry) -> Prepared {
        let Carry { from, to, .. } = carry;
        match self.schemes.remote(from) {
            None => self.copy_here(carry),
            Some(uri) => {
                let shown = format!("copy {from} to {to}; it is fetched once this is allowed\n");
                beyond(self.schemes, &uri, (&format!("copy {from} → {to}"), &shown))
            }
        }
    }

    /// What copying would change. Reads what is copied, wherever it is.
    pub(crate) fn copy_here(&self, carry: &Carry) -> Prepared {
        let label = format!("copy {} → {}", carry.from, carry.to);
        match self.arriving(carry) {
            Err(refusal) => refused(&label, refusal),
            Ok(arriving) => arriving.prepared(&label, ("copy", "copied"), carry, Vec::new()),
        }
    }

    /// What moving would change.
    pub(crate) fn relocate(&self, carry: &Carry) -> Prepared {
        let label = format!("move {} → {}", carry.from, carry.to);
        let work_out = || {
            let arriving = self.arriving(carry)?;
            let leaving = match self.schemes.address(&carry.from) {
                Some(uri) => prepare_kill(self.schemes, &uri?),
                None => rearrange::prepare_kill(self.roots.of(&carry.from), &carry.from),
            };
            match leaving.settled {
                Some(settled) => Err(Refusal::new(settled.status, settled.text)),
                None => Ok((arriving, leaving.changes)),
            }
        };
        match work_out() {
            Err(refusal) => refused(&label, refusal),
            Ok((arriving, gone)) => arriving.prepared(&label, ("move", "moved"), carry, gone),
        }
    }

    /// What comes to be at the other end, which must be free.
    fn arriving(&self, carry: &Carry) -> Result<Arriving, Refusal> {
        if carry.to.trim().is_empty() {
            return Err(Refusal::new(Status::BAD_REQUEST, "no destination is given"));
        }
        let mut entry = self.source(carry)?;
        let tags = checked(&carry.tags)?;
        if !tags.is_empty() {
            entry.tags = tags;
        }
        match self.schemes.address(&carry.to) {
            Some(uri) => self.to_entry(&uri?, entry),
            None => self.to_file(&carry.to, entry),
        }
    }

    fn source(&self, carry: &Carry) -> Result<Entry, Refusal> {
        if let Some(uri) = self.schemes.address(&carry.from) {
            return fetched(self.schemes, &uri?, self.cancel);
        }
        let workspace = self.roots.of(&carry.from);
        let (real, before) = look(workspace, &carry.from)?;
        workspace.refuse_unread(Door::Carry, &carry.from, &real)?;
        let missing = || Refusal::new(Status::NOT_FOUND, format!("{real} does not exist"));
        let (content, _) = before.ok_or_else(missing)?;
        let mime = mime::of(&real, &content).name().to_owned();
        Ok(Entry { content, mime, tags: Vec::new() })
    }

    fn to_entry(&self, uri: &Uri, entry: Entry) -> Result<Arriving, Refusal> {
        let scheme = one(self.schemes, uri)?;
        if entry.content.len() as u64 > MAX_CHANNEL {
            let text = format!("{uri} would be more than {MAX_CHANNEL} bytes");
            return Err(Refusal::new(Status::TOO_LARGE, text));
        }
        let mime = mime_of(scheme.manifest(), uri);
        refuse_other_type(&uri.to_string(), &entry.mime, &mime)?;
        let entry = Entry { mime, ..entry };
        match scheme.get(uri)? {
            Some(old) if old.content == entry.content && old.tags == entry.tags => {
                Err(Refusal::new(Status::UNCHANGED, format!("{uri} is the same already")))
            }
            Some(_) => Err(taken(&uri.to_string())),
            None => {
                refuse_channel_of_nothing(scheme, uri)?;
                let change = Change::between(uri.to_string(), None, Some(entry.state(scheme)));
                Ok(Arriving { changes: vec![change], content: entry.content })
            }
        }
    }

    fn to_file(&self, to: &str, entry: Entry) -> Result<Arriving, Refusal> {
        let workspace = self.roots.of(to);
        let (real, before) = look(workspace, to)?;
        if let Some(mime) = mime::of_path(&real) {
            refuse_other_type(&real, &entry.mime, mime)?;
        }
        match before {
            Some((content, _)) if content == entry.content => {
                return Err(Refusal::new(Status::UNCHANGED, format!("{real} is the same already")));
            }
            Some(_) => return Err(taken(&real)),
            None => {}
        }
        let mut changes = apply::missing_directories(&workspace.root, &real);
        let state = written(&workspace.root, None, &entry.content);
        changes.push(Change::between(real, None, Some(state)));
        Ok(Arriving { changes, content: entry.content })
    }
}

fn taken(address: &str) -> Refusal {
    Refusal::new(Status::CONFLICT, format!("{address} is there already"))
}

/// A content is never made into another type by being carried.
fn refuse_other_type(address: &str, is: &str, wanted: &str) -> Result<(), Refusal> {
    let both_lines = mime::is_line_navigable(is) && mime::is_line_navigable(wanted);
    match is == wanted || both_lines {
        true => Ok(()),
        false => {
            let text = format!("{address} would be {wanted}, and what is carried is {is}");
            Err(Refusal::new(Status::NOT_TEXT, text))
        }
    }
}

/// What comes to be somewhere.
struct Arriving {
    changes: Vec<Change>,
    content: Vec<u8>,
}

impl Arriving {
    fn prepared(
        self,
        label: &str,
        (doing, done): (&str, &str),
        carry: &Carry,
        gone: Vec<Change>,
    ) -> Prepared {
        let Carry { from, to, .. } = carry;
        let bytes = self.content.len();
        let changes = self.changes.into_iter().chain(gone).collect();
        Prepared {
            label: clean(label),
            shown: format!("{doing} {from} to {to}, {bytes} bytes\n"),
            changes,
            contents: vec![self.content],
            told: Some((Status::CREATED, format!("{done} {from} to {to}"))),
            ..Prepared::default()
        }
    }
}
