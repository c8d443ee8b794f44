//! What a run shows of its own rows: `fold` leaves of a result only where it stands, `open` shows it again.
//! Nothing is lost by it, and a row can be read by its address all the same.

use crate::op::OpState;
use crate::state::Engine;
use crate::view::Item;
use cairn_text::glob::{self, PathGlob};
use cairn_types::{Coord, OpName, Outcome, Place, RunId, Status};

/// How a row's address begins.
const ROW: &str = "log:///";

/// What folding or opening comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folding {
    /// Its status.
    pub status: Status,
    /// What is told of it.
    pub text: String,
}

/// Rows of a run's own log, as a target names them.
enum NamedRows {
    One(Coord),
    /// All whose coordinate begins with these numbers.
    Under(String),
    Like(PathGlob),
    /// All that show this path or address, or changed it.
    Of(String),
}

impl NamedRows {
    fn hold(&self, at: Coord, of: Option<&str>) -> bool {
        match self {
            NamedRows::Of(path) => of == Some(path),
            NamedRows::One(one) => *one == at,
            NamedRows::Under(start) => {
                start.is_empty() || at.to_string().starts_with(start.as_str())
            }
            NamedRows::Like(glob) => glob.matches(&at.to_string()),
        }
    }
}

/// A path or an address in the one form in which it is compared.
fn plain(target: &str) -> String {
    match Place::of(target) {
        Ok(Place::Entry(uri)) => uri.to_string(),
        Ok(Place::Path(path)) => glob::plain(&path),
        Err(_) => target.to_owned(),
    }
}

impl OpState {
    /// The path or address whose content its row shows.
    pub(crate) fn shows(&self) -> Option<String> {
        let is_one = matches!(self.intent.op, Some(OpName::Read | OpName::Edit));
        is_one.then(|| plain(&self.intent.target))
    }
}

/// The rows that a target names; why it names none.
fn named(own: Option<&RunId>, path: &str) -> Result<NamedRows, Folding> {
    let refuse = |status, text: String| Err(Folding { status, text });
    let Some(rest) = path.strip_prefix("log:").map(|rest| rest.trim_start_matches('/')) else {
        return Ok(NamedRows::Of(plain(path)));
    };
    let rest = match rest.split_once('#') {
        Some((_, channel)) => {
            let text = format!("a row is opened and folded whole, not its #{channel}");
            return refuse(Status::BAD_REQUEST, text);
        }
        None => rest.trim_end_matches('/'),
    };
    let first = rest.split('/').next().unwrap_or_default();
    let rest = match first.parse::<RunId>() {
        Ok(run) if Some(&run) == own => rest[first.len()..].trim_start_matches('/'),
        Ok(run) => {
            let text = format!("the rows of {run} are its own to open and fold");
            return refuse(Status::REFUSED, text);
        }
        Err(_) => rest,
    };
    if let Ok(at) = rest.parse() {
        return Ok(NamedRows::One(at));
    }
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    if rest.is_empty() || (rest.split('/').count() < 3 && rest.split('/').all(is_number)) {
        let start = if rest.is_empty() { String::new() } else { format!("{rest}/") };
        return Ok(NamedRows::Under(start));
    }
    match PathGlob::parse(rest) {
        Ok(glob) if rest.contains(['*', '?', '[', '{']) => Ok(NamedRows::Like(glob)),
        _ => {
            let text =
                format!("{path} is not the address of rows, such as {ROW}1/2/3 or {ROW}1/**");
            refuse(Status::BAD_REQUEST, text)
        }
    }
}

impl Engine {
    /// What opening or folding these rows comes to.
    #[must_use]
    pub fn folding(&self, path: &str, op: OpName) -> Folding {
        let fold = op == OpName::Fold;
        let rows = match named(self.id.as_ref(), path) {
            Ok(rows) => rows,
            Err(refused) => return refused,
        };
        let states: Vec<bool> = self.items.iter().filter_map(|item| shown(item, &rows)).collect();
        let changed = states.iter().filter(|folded| **folded != fold).count();
        let (status, text) = match (states.len(), changed, fold) {
            (0, ..) if matches!(rows, NamedRows::Of(_)) => {
                (Status::NOT_FOUND, format!("no row shows {path}"))
            }
            (0, ..) => (Status::NOT_FOUND, format!("there is no row {path}")),
            (_, 0, true) => (Status::UNCHANGED, format!("{path} is folded already")),
            (_, 0, false) => (Status::UNCHANGED, format!("{path} is open already")),
            (_, n, true) => (Status::OK, format!("folded {}", counted(n))),
            (_, n, false) => (Status::OK, format!("opened {}", counted(n))),
        };
        Folding { status, text }
    }

    /// The rows that are meant and folded.
    #[must_use]
    pub fn folded(&self, path: &str) -> Vec<Coord> {
        let Ok(rows) = named(self.id.as_ref(), path) else { return Vec::new() };
        let folded = self.items.iter().filter(|item| shown(item, &rows) == Some(true));
        let place = folded.filter_map(|item| match item {
            Item::Result { at, .. } => Some(*at),
            _ => None,
        });
        place.collect()
    }

    /// An op has its outcome: if it folded or opened rows, that is how they are shown from here on.
    pub(crate) fn took_fold(&mut self, outcome: &Outcome) {
        let Some(intent) = self.op(outcome.at).map(|op| &op.intent) else { return };
        let fold = match intent.op {
            Some(OpName::Fold) => true,
            Some(OpName::Open) => false,
            _ => return,
        };
        let rows = named(self.id.as_ref(), &intent.target);
        let (Ok(rows), Status::OK) = (rows, outcome.status) else { return };
        let mut changed = Vec::new();
        for item in &mut self.items {
            if shown(item, &rows).is_none_or(|folded| folded == fold) {
                continue;
            }
            if let Item::Result { at, folded, .. } = item {
                *folded = fold;
                changed.push(*at);
            }
        }
        self.folds += u64::from(!changed.is_empty());
        if fold {
            // What is not in view is told whole when it is read again.
            self.in_view.retain(|_, at| !changed.contains(at));
        }
    }

    /// How often rows were folded or opened: messages made before the last time are not as they are sent now.
    #[must_use]
    pub fn folds(&self) -> u64 {
        self.folds
    }
}

/// Whether a row that is meant is folded; nothing of what is not meant.
fn shown(item: &Item, rows: &NamedRows) -> Option<bool> {
    match item {
        Item::Result { at, of, folded, .. } if rows.hold(*at, of.as_deref()) => Some(*folded),
        _ => None,
    }
}

fn counted(rows: usize) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}
