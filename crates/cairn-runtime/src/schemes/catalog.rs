//! `cairn:///catalog.json`: every entry of the world with its type, lines and tokens, in order of address and
//! unranked. Files are told from what is known of them, and read only where they changed since. Beside it
//! the documents that an operator names, as they are now.

use super::declared;
use crate::changes::reconcile::survey_now;
use cairn_store::Store;
use cairn_text::mime;
use cairn_types::{Manifest, SessionId, Status, Uri, built_in};
use cairn_world::{Doc, Entry, Listed, Refusal, Scheme, Stored, World};
use serde::Serialize;

/// The entry that is always there.
const CATALOG: &str = "catalog.json";
/// How many bytes a token has, about: what was never read was never counted.
const BYTES_PER_TOKEN: u64 = 4;

/// What tells of the world itself.
#[derive(Debug)]
pub(super) struct Catalog {
    store: Store,
    session: SessionId,
    /// The files.
    world: World,
    manifest: Manifest,
}

impl Catalog {
    pub(super) fn new(store: Store, session: SessionId, world: World) -> Catalog {
        Catalog { store, session, world, manifest: declared("cairn") }
    }

    /// A document as it is now.
    fn document(&self, doc: &Doc) -> Result<Entry, Refusal> {
        let content = self.world.doc(doc)?.into_bytes();
        let mime = mime::of_path(&doc.name).unwrap_or("text/markdown").to_owned();
        Ok(Entry { content, mime, tags: Vec::new() })
    }

    /// Every entry as a line, in order of address.
    fn rows(&self) -> Result<Vec<String>, Refusal> {
        let survey = survey_now(&self.store, &self.world, &self.session);
        let mut rows = Vec::new();
        for (path, known) in survey.files() {
            let named = mime::of_path(path).unwrap_or("text/markdown");
            let kind = if known.lines.is_some() { named } else { "application/octet-stream" };
            rows.push((path.to_owned(), row(path, kind, (known.bytes, known.lines))?));
        }
        for manifest in built_in().iter().filter(|manifest| !manifest.writers.is_empty()) {
            let stored = Stored::new(self.store.clone(), self.session.clone(), manifest.clone());
            let all = Uri {
                scheme: manifest.name.clone(),
                host: String::new(),
                path: String::new(),
                channel: None,
            };
            for Listed { uri, .. } in stored.list(&all)? {
                let Some(entry) = stored.get(&uri)? else { continue };
                rows.push(row_of(uri.to_string(), &entry)?);
            }
        }
        for doc in self.world.docs() {
            // One that cannot be read is missed by whoever reads it.
            let Ok(entry) = self.document(doc) else { continue };
            rows.push(row_of(format!("cairn:///{}", doc.name), &entry)?);
        }
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }
}

/// An entry as it is told. Written as it is and not built as a tree first, since there are many.
#[derive(Serialize)]
struct CatalogRow<'a> {
    path: &'a str,
    channels: Channels<'a>,
}

#[derive(Serialize)]
struct Channels<'a> {
    body: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    mimetype: &'a str,
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u32>,
}

fn row(path: &str, mimetype: &str, (bytes, lines): (u64, Option<u32>)) -> Result<String, Refusal> {
    let body = Body { mimetype, tokens: bytes.div_ceil(BYTES_PER_TOKEN), lines };
    let row = CatalogRow { path, channels: Channels { body } };
    let refused = |e| Refusal { status: Status::FAILED, text: format!("{path}: {e}") };
    serde_json::to_string(&row).map_err(refused)
}

/// The row of an entry that was read, by its address.
fn row_of(address: String, entry: &Entry) -> Result<(String, String), Refusal> {
    let lines = String::from_utf8_lossy(&entry.content).lines().count();
    let size = (entry.content.len() as u64, u32::try_from(lines).ok());
    let row = row(&address, &entry.mime, size)?;
    Ok((address, row))
}

impl Scheme for Catalog {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        if uri.path != CATALOG {
            let doc = self.world.docs().iter().find(|doc| doc.name == uri.path);
            return doc.map(|doc| self.document(doc)).transpose();
        }
        // One entry in a line, so that lines can be paged and searched.
        let content = format!("[\n{}\n]\n", self.rows()?.join(",\n")).into_bytes();
        Ok(Some(Entry { content, mime: "application/json".to_owned(), tags: Vec::new() }))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let docs = self.world.docs().iter().map(|doc| doc.name.as_str());
        let mut names: Vec<&str> = docs.chain([CATALOG]).collect();
        names.retain(|name| name.starts_with(&under.path));
        names.sort_unstable();
        let uri = |name: &str| Uri { path: name.to_owned(), ..under.entry() };
        let listed = |name| Listed { uri: uri(name), bytes: None, tags: Vec::new() };
        Ok(names.into_iter().map(listed).collect())
    }
}
