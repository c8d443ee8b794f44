//! `log:///loop/turn/op` and `log:///changes/N`, as a run's own model sees them: what a row told it, with
//! `#output` all that was kept of a command's output and `#input` what it was asked with. Only the run's own rows, and of those none that
//! shows what must not be read by now. Which rows there are is the driver's to say, while an op looks.

use super::{declared, failed};
use crate::background::ending;
use cairn_engine::{ChangesRow, Row};
use cairn_store::Store;
use cairn_types::{ContentRef, Coord, Manifest, Read, RowPlace, Status, Uri};
use cairn_world::{Entry, Lines, Listed, Performed, Refusal, Scheme};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// What a row has to show.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownRow {
    /// What it was asked with.
    pub(crate) input: Option<ContentRef>,
    /// What it told; nothing as long as it is not done.
    pub(crate) told: Option<ContentRef>,
    /// What its command printed.
    pub(crate) output: Option<ContentRef>,
    /// How its command in the background ended.
    pub(crate) ending: Option<String>,
    /// What its command printed so far that still runs.
    pub(crate) printed: Option<Vec<u8>>,
    /// It shows what must not be read.
    pub(crate) is_kept_back: bool,
    /// The model was told something else than what it came to.
    pub(crate) is_replaced: bool,
}

/// A text of a row.
enum Text<'a> {
    /// The store keeps it.
    Kept(ContentRef),
    /// It is still being printed.
    Printed(&'a [u8]),
    /// Nobody knows it.
    Unknown,
}

impl ShownRow {
    /// What a row has to show, as far as facts say.
    pub(crate) fn of(row: &Row<'_>) -> ShownRow {
        let told = row.outcome.map(|done| done.own.unwrap_or(done.result.hash));
        let came = row.performed.map(|done| done.result.hash);
        ShownRow {
            input: row.intent.map(|intent| intent.input),
            told: row.outcome.map(|done| done.result),
            output: row.output(),
            ending: row.stream.map(|stream| ending(&stream)),
            // A hook may have replaced the result; then no part of the original is shown.
            is_replaced: told.zip(came).is_some_and(|(told, came)| told != came),
            ..ShownRow::default()
        }
    }

    /// What a row has to show that tells what others changed.
    pub(crate) fn of_changes(row: &ChangesRow<'_>, is_kept_back: bool) -> ShownRow {
        ShownRow { told: Some(row.delta.text), is_kept_back, ..ShownRow::default() }
    }

    /// Its text in a channel, if it has one there.
    fn text(&self, channel: &str) -> Option<Text<'_>> {
        let kept = match channel {
            "input" => self.input,
            "output" if self.is_replaced => self.told,
            "output" => match (&self.printed, self.output, &self.ending) {
                (Some(printed), ..) => return Some(Text::Printed(printed)),
                (None, None, Some(_)) => return Some(Text::Unknown),
                (None, output, _) => output,
            },
            _ => self.told,
        };
        kept.map(Text::Kept)
    }
}

type Known = RwLock<BTreeMap<RowPlace, ShownRow>>;

/// A run's own rows.
#[derive(Debug, Clone)]
pub(crate) struct OwnRows {
    store: Store,
    known: Arc<Known>,
    manifest: Manifest,
}

/// That rows are shown; they are not any more when it is dropped.
pub(crate) struct Shown(Arc<Known>);

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl OwnRows {
    pub(crate) fn new(store: Store) -> OwnRows {
        OwnRows { store, known: Arc::default(), manifest: declared("log") }
    }

    /// Shows these rows and no others.
    pub(crate) fn show(&self, rows: BTreeMap<RowPlace, ShownRow>) -> Shown {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = rows;
        Shown(self.known.clone())
    }

    /// Whether the model was told something else than what a row came to.
    pub(crate) fn is_replaced(&self, at: Coord) -> bool {
        self.rows().get(&at.into()).is_some_and(|row| row.is_replaced)
    }

    fn rows(&self) -> RwLockReadGuard<'_, BTreeMap<RowPlace, ShownRow>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A row by its address, unless it must not be read.
    fn row<'a>(
        &self,
        rows: &'a BTreeMap<RowPlace, ShownRow>,
        uri: &Uri,
    ) -> Result<Option<&'a ShownRow>, Refusal> {
        let row = uri.path.parse().ok().and_then(|place: RowPlace| rows.get(&place));
        // What is printed by now is no older than the rules.
        let is_new = |row: &ShownRow| channel_of(uri) == "output" && row.printed.is_some();
        match row.filter(|row| row.is_kept_back && !is_new(row)) {
            None => Ok(row),
            Some(_) => {
                let text = format!("{uri} shows what is kept from being read by the policy");
                Err(Refusal { status: Status::REFUSED, text })
            }
        }
    }
}

fn channel_of(uri: &Uri) -> &str {
    uri.channel.as_deref().unwrap_or("result")
}

impl Scheme for OwnRows {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        let (rows, channel) = (self.rows(), channel_of(uri));
        let Some(row) = self.row(&rows, uri)? else { return Ok(None) };
        let content = match row.text(channel) {
            None | Some(Text::Unknown) => return Ok(None),
            Some(Text::Printed(printed)) => printed.to_vec(),
            Some(Text::Kept(kept)) => {
                self.store.content(&kept.hash).map_err(|error| failed(uri, &error))?
            }
        };
        Ok(Some(Entry { content, mime: mime_of(channel).to_owned(), tags: Vec::new() }))
    }

    fn lines(&self, uri: &Uri, read: &Read) -> Result<Option<Performed>, Refusal> {
        let (rows, channel) = (self.rows(), channel_of(uri));
        let Some(row) = self.row(&rows, uri)?.filter(|_| channel != "input") else {
            return Ok(None);
        };
        let ending = row.ending.as_deref().filter(|_| channel == "output" && !row.is_replaced);
        let mut told = match row.text(channel) {
            None | Some(Text::Printed(_)) => return Ok(None),
            Some(Text::Unknown) => {
                return Ok(Some(Performed::told(Status::OK, ending.unwrap_or_default())));
            }
            Some(Text::Kept(kept)) => {
                let mut lines = Lines::new(read);
                let each = self.store.each_of_content(&kept.hash, &mut |piece| lines.take(piece));
                each.map_err(|error| failed(uri, &error))?;
                lines.told(&uri.to_string())
            }
        };
        if let Some(ending) = ending {
            told.text = format!("{}\n{ending}", told.text);
        }
        Ok(Some(told))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let listed = |(place, row): (&RowPlace, &ShownRow)| {
            let uri = Uri { path: place.to_string(), ..under.entry() };
            Some(Listed { uri, bytes: Some(row.told?.bytes), tags: Vec::new() })
        };
        let mut listed: Vec<Listed> = self.rows().iter().filter_map(listed).collect();
        listed.retain(|one| one.uri.path.starts_with(&under.path));
        Ok(listed)
    }
}

/// The type of a row's channel: what an op is asked with is JSON.
pub(super) fn mime_of(channel: &str) -> &'static str {
    if channel == "input" { "application/json" } else { "text/markdown" }
}
