//! What a scheme is to the world: something that has entries under one prefix. A scheme is one file
//! with this trait in it and one line where it is registered; ops are the world's, over these few
//! primitives.

use crate::caught::Caught;
use crate::settled::{Performed, Refusal};
use cairn_types::{Effect, EntryState, FileState, Manifest, Place, Read, Scope, Status, Uri};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The most that one channel holds.
pub(crate) const MAX_CHANNEL: u64 = 100 << 20;

/// One channel of an entry, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its content.
    pub content: Vec<u8>,
    /// Its type.
    pub mime: String,
    /// What the entry is tagged with, in order and each once.
    pub tags: Vec<String>,
}

/// An entry in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its address, without a channel.
    pub uri: Uri,
    /// How many bytes its usual channel has, where that is known without reading it.
    pub bytes: Option<u64>,
    /// What it is tagged with.
    pub tags: Vec<String>,
}

/// A scheme. Its functions may block: ops call them beside the threads that must not. What panics or
/// fails in them becomes the row of the op that asked.
pub trait Scheme: Debug + Send + Sync {
    /// What it declares of itself.
    fn manifest(&self) -> &Manifest;

    /// An entry's channel; none where there is no such entry, or it has nothing there.
    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal>;

    /// Why an entry cannot be read, as far as that is known without looking at it: asked before anybody is asked
    /// whether it may be.
    fn admit(&self, uri: &Uri) -> Result<(), Refusal> {
        let _ = uri;
        Ok(())
    }

    /// An entry's channel, for an op that was let read it: only this reaches beyond this machine. It may take long,
    /// and ends when it is cancelled.
    fn fetch(&self, uri: &Uri, cancel: &CancellationToken) -> Result<Option<Entry>, Refusal> {
        let _ = cancel;
        self.get(uri)
    }

    /// The lines asked for of an entry that may be too long to be held, as they are told; nothing where it is
    /// got like any. Only asked for lines as they stand, without a scope and a matcher.
    fn lines(&self, uri: &Uri, read: &Read) -> Result<Option<Performed>, Refusal> {
        let _ = (uri, read);
        Ok(None)
    }

    /// The entries whose path begins with that of `under`, in order of address.
    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        Err(cannot(self.manifest(), "list", under))
    }

    /// Whether the store keeps what is written, together with the row that wrote it. Otherwise `put` and
    /// `delete` do it, and the row names what they did.
    fn is_stored(&self) -> bool {
        false
    }

    /// Writes an entry's channel.
    fn put(&self, uri: &Uri, entry: &Entry) -> Result<(), Refusal> {
        let _ = entry;
        Err(cannot(self.manifest(), "edit", uri))
    }

    /// Removes an entry, or the channel that the address names.
    fn delete(&self, uri: &Uri) -> Result<(), Refusal> {
        Err(cannot(self.manifest(), "kill", uri))
    }
}

/// That a scheme does not know an op.
fn cannot(manifest: &Manifest, op: &str, uri: &Uri) -> Refusal {
    let text = format!("{op} is not for {}: addresses ({uri})", manifest.name);
    Refusal::new(Status::NOT_IMPLEMENTED, text)
}

impl Entry {
    /// Its state, as a change of it says.
    #[must_use]
    pub(crate) fn state(&self, scheme: &dyn Scheme) -> FileState {
        let entry = EntryState {
            mime: self.mime.clone(),
            tags: self.tags.clone(),
            agent: scheme.manifest().scope == Scope::Agent,
            own: !scheme.is_stored(),
        };
        FileState::of_entry(cairn_types::ContentRef::of(&self.content), entry)
    }
}

/// The schemes of a world, by name.
#[derive(Debug, Clone, Default)]
pub struct Schemes(BTreeMap<String, Arc<dyn Scheme>>);

impl Schemes {
    /// Adds a scheme; one of the same name is replaced.
    pub fn register(&mut self, scheme: Arc<dyn Scheme>) {
        let caught = Caught::new(scheme);
        self.0.insert(caught.manifest().name.clone(), Arc::new(caught));
    }

    /// These, and the others where these have none of the same name.
    pub(crate) fn or(self, others: &Schemes) -> Schemes {
        Schemes(others.0.clone().into_iter().chain(self.0).collect())
    }

    /// What they declare, in order of name.
    pub fn manifests(&self) -> impl Iterator<Item = &Manifest> {
        self.0.values().map(|scheme| scheme.manifest())
    }

    /// The address that a target is, if it is one; by its usual channel where it names that.
    pub(crate) fn address(&self, target: &str) -> Option<Result<Uri, Refusal>> {
        let mut uri = match Place::of(target) {
            Ok(Place::Path(_)) => return None,
            Ok(Place::Entry(uri)) => uri,
            Err(why) => return Some(Err(Refusal::new(Status::BAD_REQUEST, why.to_string()))),
        };
        let usual = self.0.get(&uri.scheme).and_then(|scheme| scheme.manifest().channel(None));
        if usual.is_some_and(|usual| uri.channel.as_deref() == Some(usual.name.as_str())) {
            uri.channel = None;
        }
        Some(Ok(uri))
    }

    /// The address that a target is, if reading it reaches beyond this machine.
    pub(crate) fn remote(&self, target: &str) -> Option<Uri> {
        let uri = self.address(target)?.ok()?;
        let manifest = self.0.get(&uri.scheme)?.manifest();
        (manifest.reads == Effect::Network).then_some(uri)
    }

    /// The scheme of an address.
    pub(crate) fn of(&self, uri: &Uri) -> Result<&dyn Scheme, Refusal> {
        let scheme = self.0.get(&uri.scheme).map(AsRef::as_ref);
        scheme.ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let there = match known.as_slice() {
                [] => "there is none here".to_owned(),
                known => format!("there are {}", known.join(", ")),
            };
            let text = format!("there is no scheme {}; {there}", uri.scheme);
            Refusal::new(Status::NOT_IMPLEMENTED, text)
        })
    }

    /// The scheme of an address, if it has the channel that the address names.
    pub(crate) fn with_channel(&self, uri: &Uri) -> Result<&dyn Scheme, Refusal> {
        let scheme = self.of(uri)?;
        let manifest = scheme.manifest();
        if manifest.channel(uri.channel.as_deref()).is_some() {
            return Ok(scheme);
        }
        let known: Vec<&str> = manifest.channels.iter().map(|one| one.name.as_str()).collect();
        let named = uri.channel.as_deref().unwrap_or_default();
        let text = format!(
            "{}: entries have no #{named}; there are #{}",
            manifest.name,
            known.join(", #")
        );
        Err(Refusal::new(Status::BAD_REQUEST, text))
    }
}

/// The type of an entry's channel: what the name's extension says, else what the channel declares.
pub(crate) fn mime_of(manifest: &Manifest, uri: &Uri) -> String {
    let declared = manifest.channel(uri.channel.as_deref());
    let declared = declared.map_or("text/markdown", |channel| channel.mime.as_str());
    let is_usual = manifest.channel(None).map(|c| c.name.as_str());
    match uri.channel.as_deref().is_none_or(|named| Some(named) == is_usual) {
        true => cairn_text::mime::of_path(&uri.path).unwrap_or(declared).to_owned(),
        false => declared.to_owned(),
    }
}
