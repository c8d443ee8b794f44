//! `cairn:///catalog.json`: every entry of the world with its type, lines and tokens, in order of address and
//! unranked. Files are told from what is known of them, and read only where they changed since.

use super::declared;
use crate::reconcile::survey_now;
use cairn_store::Store;
use cairn_text::mime;
use cairn_types::{Manifest, SessionId, Status, Uri, built_in};
use cairn_world::{Entry, Listed, Refusal, Scheme, Stored, World};
use serde::Serialize;

/// The one entry there is.
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
                let lines = String::from_utf8_lossy(&entry.content).lines().count();
                let size = (entry.content.len() as u64, u32::try_from(lines).ok());
                let address = uri.to_string();
                let row = row(&address, &entry.mime, size)?;
                rows.push((address, row));
            }
        }
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }
}

/// An entry as it is told. Written as it is and not built as a tree first, since there are many.
#[derive(Serialize)]
struct Row<'a> {
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
    let row = Row { path, channels: Channels { body } };
    let refused = |e| Refusal { status: Status::FAILED, text: format!("{path}: {e}") };
    serde_json::to_string(&row).map_err(refused)
}

impl Scheme for Catalog {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        if uri.path != CATALOG {
            return Ok(None);
        }
        // One entry in a line, so that lines can be paged and searched.
        let content = format!("[\n{}\n]\n", self.rows()?.join(",\n")).into_bytes();
        Ok(Some(Entry { content, mime: "application/json".to_owned(), tags: Vec::new() }))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let uri = Uri { path: CATALOG.to_owned(), ..under.entry() };
        let is_there = CATALOG.starts_with(&under.path);
        Ok(is_there.then_some(Listed { uri, bytes: None, tags: Vec::new() }).into_iter().collect())
    }
}
