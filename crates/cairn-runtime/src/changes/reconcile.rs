//! What changed on disk by nobody's op: found by a look at the members, and recorded as a row of the session's
//! own run, so that every other run hears of it as of any run's changes. One process does this at a time.

use crate::RunError;
use crate::client::Client;
use cairn_store::{HomeLock, Store};
use cairn_types::{Body, Change, FileKind, FileState, Hash, RunId, SessionId};
use cairn_world::{Noticed, Survey, Surveyed, World};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The longest text whose bytes are kept, so that others are told what it now says.
const KEPT: usize = 256 << 10;
/// How often another process is waited for, a millisecond each time.
const WAITS: u32 = 200;

/// What was known of the members when this process last looked.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    survey: Survey,
    /// The file that it was written to, as it was then.
    stamp: Option<Stamp>,
}

/// What tells whether a file is still the one that was written.
type Stamp = (u64, u64, i64, i64);

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
}

/// Whether anybody ever looked at the members of this session's project.
pub(crate) fn has_looked(store: &Store, session: &SessionId) -> bool {
    store.survey_file(session).exists()
}

/// What is known of changes before they are found, and recorded with them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// Whose doing they are: a run whose command worked on the files themselves.
    pub(crate) doer: Option<RunId>,
    /// The run that has just begun, to which what lies there is no news.
    pub(crate) beginner: Option<RunId>,
}

/// Looks at the members, and records what changed by nobody's op.
pub(crate) async fn reconcile(
    (store, world): (Store, Arc<World>),
    session: SessionId,
    (sight, known): (Sight, Known),
) -> Result<Sight, RunError> {
    let Some(_alone) = alone(&store, &session).await? else {
        // Whoever has it records what it finds, and that is told like anybody's change.
        return Ok(sight);
    };
    let (scanned, mut sight) = {
        let (store, world, session) = (store.clone(), Arc::clone(&world), session.clone());
        let look = move || look(&store, &world, &session, sight);
        match tokio::task::spawn_blocking(look).await {
            Ok(looked) => looked,
            // A look that failed found nothing; the next one begins anew.
            Err(_) => return Ok(Sight::default()),
        }
    };
    let Scan { noticed, is_first, is_changed } = scanned;
    if !is_first && !noticed.is_empty() {
        let ambient = unannounced(&store, &session, &sight.survey.upto, noticed)?;
        if !ambient.is_empty() {
            record((store.clone(), world), &session, ambient, known).await?;
        }
    }
    sight.survey.upto = store.newest_receipt(&session)?.unwrap_or_default();
    // Receipts of ops that changed no member are known here and not written down: whoever reads the file looks
    // through them once more and finds nothing.
    if is_changed || sight.stamp.is_none() {
        keep(&store, &session, &mut sight);
    }
    Ok(sight)
}

async fn alone(store: &Store, session: &SessionId) -> Result<Option<HomeLock>, RunError> {
    for _ in 0..WAITS {
        if let Some(lock) = store.try_lock_survey(session)? {
            return Ok(Some(lock));
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(None)
}

struct Scan {
    noticed: Vec<Noticed>,
    /// Nobody had looked before: nothing has changed since.
    is_first: bool,
    is_changed: bool,
}

fn look(store: &Store, world: &World, session: &SessionId, sight: Sight) -> (Scan, Sight) {
    let file = store.survey_file(session);
    let now = stamp(&file);
    let mut sight = match (sight.stamp, now) {
        (Some(then), Some(now)) if then == now => sight,
        (_, Some(_)) => {
            let survey = fs::File::open(&file).ok().and_then(Survey::read);
            Sight {
                stamp: survey.is_some().then_some(now).flatten(),
                survey: survey.unwrap_or_default(),
            }
        }
        (_, None) => Sight::default(),
    };
    let is_first = sight.stamp.is_none();
    let scanned = world.scan(&mut sight.survey);
    let is_changed = scanned.read > 0 || !scanned.noticed.is_empty();
    (Scan { noticed: scanned.noticed, is_first, is_changed }, sight)
}

/// What the members are now, told to nobody: what changed since somebody last looked stays to be noticed.
pub(crate) fn survey_now(store: &Store, world: &World, session: &SessionId) -> Survey {
    // Where another has it, what it finds is not kept here.
    let alone = store.try_lock_survey(session).ok().flatten();
    let (scan, mut sight) = look(store, world, session, Sight::default());
    if scan.is_first && alone.is_some() {
        sight.survey.upto = store.newest_receipt(session).ok().flatten().unwrap_or_default();
        keep(store, session, &mut sight);
    }
    sight.survey
}

/// Keeps what is known; where it cannot be, the next process looks at everything again.
fn keep(store: &Store, session: &SessionId, sight: &mut Sight) {
    let kept = store.keep_survey(session, &sight.survey.pack());
    sight.stamp = kept.ok().and_then(|()| stamp(&store.survey_file(session)));
}

/// Those that no op made: neither one whose row says so, nor one that has begun and has no row yet.
fn unannounced(
    store: &Store,
    session: &SessionId,
    upto: &str,
    noticed: Vec<Noticed>,
) -> Result<Vec<Noticed>, RunError> {
    let mut announced = Announced::default();
    for (_, fact) in store.outcomes_since(session, upto)?.unwrap_or_default() {
        if let Body::Outcome(outcome) = &fact.body {
            announced.take(&outcome.changes);
        }
    }
    for run in store.runs(session)? {
        if store.driven_by(&run.id).is_none() {
            continue;
        }
        store.own_facts(&run.id, &["begin", "outcome"], &mut |fact| {
            if let Body::Begin(begin) = &fact.body {
                announced.take(&begin.changes);
            }
            ControlFlow::Break(())
        })?;
    }
    let mut ambient: Vec<Noticed> =
        noticed.into_iter().filter(|one| !announced.says(one)).collect();
    for one in &mut ambient {
        // What was changed by other means is what an op had left.
        if let (Some(before), Some(left)) = (&mut one.before, announced.left(&one.path)) {
            before.hash = Some(left);
        }
    }
    Ok(ambient)
}

/// What ops led to, as they say themselves.
#[derive(Default)]
struct Announced {
    /// By path, the newest last.
    states: HashMap<String, Vec<After>>,
    /// Directories that were moved with all that is in them.
    whole: Vec<String>,
}

/// What a path was after an op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Gone,
    /// It was moved there and not read.
    Something,
    Content(Hash),
}

impl Announced {
    fn take(&mut self, changes: &[Change]) {
        for change in changes {
            let after = match &change.after {
                None => After::Gone,
                Some(state) => state.hash.map_or(After::Something, After::Content),
            };
            self.states.entry(change.path.clone()).or_default().push(after);
            let mut states = [&change.before, &change.after].into_iter().flatten();
            if states.any(|state| state.aside.is_some() && state.kind == FileKind::Directory) {
                self.whole.push(format!("{}/", change.path));
            }
        }
    }

    /// Whether an op led to this.
    fn says(&self, one: &Noticed) -> bool {
        let states = self.states.get(&one.path).map(Vec::as_slice).unwrap_or_default();
        let is = |state: &After| match (state, &one.after) {
            (After::Gone, after) => after.is_none(),
            (After::Something, after) => after.is_some(),
            (After::Content(hash), after) => {
                after.as_ref().is_some_and(|after| after.hash == Some(*hash))
            }
        };
        states.iter().any(is) || self.whole.iter().any(|whole| one.path.starts_with(whole))
    }

    /// The content that the newest op left at a path.
    fn left(&self, path: &str) -> Option<Hash> {
        match self.states.get(path)?.last()? {
            After::Content(hash) => Some(*hash),
            After::Gone | After::Something => None,
        }
    }
}

/// Records them as one row of the session's own run.
async fn record(
    (store, world): (Store, Arc<World>),
    session: &SessionId,
    noticed: Vec<Noticed>,
    known: Known,
) -> Result<Option<String>, RunError> {
    let mut spans = Map::new();
    let mut contents = Vec::new();
    let mut changes = Vec::new();
    for one in noticed {
        let (before, after) = (one.before.as_ref().map(state), one.after.as_ref().map(state));
        spans.insert(one.path.clone(), json!(one.spans));
        contents.extend(one.content.filter(|content| may_keep(&world, content)));
        changes.push(Change::between(one.path, before, after));
    }
    let mut system = Client::system(store, world, session).await?;
    let named = |run: Option<RunId>| run.map(|run| run.to_string());
    let (source, beginner) = (named(known.doer), named(known.beginner));
    let told = json!({"source": source, "beginner": beginner, "spans": Value::Object(spans)});
    system.note(changes, told.to_string(), contents).await
}

/// Whether the bytes of a file that somebody else wrote are kept: not if there is a secret in them.
fn may_keep(world: &World, content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    content.len() <= KEPT && world.scrubber().text(&text) == text
}

fn state(known: &Surveyed) -> FileState {
    FileState {
        hash: known.hash,
        bytes: Some(known.bytes),
        ..FileState::of(FileKind::File, known.mode)
    }
}
