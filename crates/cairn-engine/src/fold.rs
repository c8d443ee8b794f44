//! What a run shows of its own rows: `fold` leaves of a result only where it stands, `open` shows it again.
//! Nothing is lost by it, and a row can be read by its address all the same.

use crate::model_view::ModelView;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::view::Item;
use cairn_text::glob::{self, PathGlob};
use cairn_types::{Intent, OpName, Outcome, Place, RowPlace, RunId, Status};

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

/// Rows of a run's own log, as a target names them. What others changed is named by itself alone, so that
/// whatever folds ops folds the same as before it had an address.
enum NamedRows {
    One(RowPlace),
    /// All ops whose coordinate begins with these numbers.
    Under(String),
    /// All of what others changed.
    AllChanges,
    /// All ops whose coordinate matches.
    Like(PathGlob),
    /// All of what others changed whose place matches.
    ChangesLike(PathGlob),
    /// All that show this path or address, or changed it.
    Of(String),
}

impl NamedRows {
    fn hold(&self, row: &ItemRow<'_>) -> bool {
        let is_op = matches!(row.place, RowPlace::Op(_));
        let place = || row.place.to_string();
        match self {
            NamedRows::Of(path) => row.of == Some(path),
            NamedRows::One(one) => *one == row.place,
            NamedRows::Under(start) => is_op && place().starts_with(start.as_str()),
            NamedRows::AllChanges => !is_op,
            NamedRows::Like(glob) => is_op && glob.matches(&place()),
            NamedRows::ChangesLike(glob) => !is_op && glob.matches(&place()),
        }
    }
}

/// An item of the transcript that is a row.
struct ItemRow<'a> {
    /// Its place among the items.
    index: usize,
    place: RowPlace,
    /// The path or address that it shows or changed.
    of: Option<&'a str>,
    is_folded: bool,
}

/// The items that are rows.
fn item_rows(items: &[Item]) -> impl Iterator<Item = ItemRow<'_>> {
    let mut changes = 0;
    items.iter().enumerate().filter_map(move |(index, item)| {
        let (place, of, is_folded) = match item {
            Item::Result { at, of, folded, .. } => (RowPlace::Op(*at), of.as_deref(), *folded),
            Item::News(_) | Item::FoldedNews { .. } => {
                changes += 1;
                (RowPlace::Changes(changes), None, matches!(item, Item::FoldedNews { .. }))
            }
            Item::User { .. } | Item::Assistant { .. } | Item::Over { .. } | Item::Ended(_) => {
                return None;
            }
        };
        Some(ItemRow { index, place, of, is_folded })
    })
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
    if let Ok(place) = rest.parse() {
        return Ok(NamedRows::One(place));
    }
    if rest == RowPlace::CHANGES {
        return Ok(NamedRows::AllChanges);
    }
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    if rest.is_empty() || (rest.split('/').count() < 3 && rest.split('/').all(is_number)) {
        let start = if rest.is_empty() { String::new() } else { format!("{rest}/") };
        return Ok(NamedRows::Under(start));
    }
    match PathGlob::parse(rest) {
        Ok(glob) if rest.contains(['*', '?', '[', '{']) => Ok(match rest.split('/').next() {
            Some(RowPlace::CHANGES) => NamedRows::ChangesLike(glob),
            _ => NamedRows::Like(glob),
        }),
        _ => {
            let text =
                format!("{path} is not the address of rows, such as {ROW}1/2/3 or {ROW}1/**");
            refuse(Status::BAD_REQUEST, text)
        }
    }
}

impl OpInRun<'_> {
    /// What it comes to where it opens or folds rows.
    #[must_use]
    pub fn folding(&self) -> Folding {
        let (path, fold) = (&self.intent.target, self.intent.op != Some(OpName::Open));
        let rows = match self.named_rows() {
            Ok(rows) => rows,
            Err(refused) => return refused,
        };
        let named = item_rows(&self.run.model_view.items).filter(|row| rows.hold(row));
        let states: Vec<bool> = named.map(|row| row.is_folded).collect();
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

    /// The rows that it names and that are folded.
    #[must_use]
    pub fn folded_rows(&self) -> Vec<RowPlace> {
        let Ok(rows) = self.named_rows() else { return Vec::new() };
        let items = item_rows(&self.run.model_view.items);
        items.filter(|row| row.is_folded && rows.hold(row)).map(|row| row.place).collect()
    }

    fn named_rows(&self) -> Result<NamedRows, Folding> {
        named(self.run.id.as_ref(), &self.intent.target)
    }
}

impl ModelView {
    /// An op has its outcome: if it folded or opened rows, that is how they are shown from here on.
    pub(crate) fn took_fold(&mut self, run: &RunId, intent: &Intent, outcome: &Outcome) {
        let fold = match intent.op {
            Some(OpName::Fold) => true,
            Some(OpName::Open) => false,
            _ => return,
        };
        let rows = named(Some(run), &intent.target);
        let (Ok(rows), Status::OK) = (rows, outcome.status) else { return };
        let named = item_rows(&self.items).filter(|row| row.is_folded != fold && rows.hold(row));
        let changed: Vec<(usize, RowPlace)> = named.map(|row| (row.index, row.place)).collect();
        for (index, place) in &changed {
            self.items[*index].set_folded(*place, fold);
        }
        self.folds += u64::from(!changed.is_empty());
        if fold {
            // What is not in view is told whole when it is read again.
            let is_changed = |at| changed.iter().any(|(_, place)| *place == RowPlace::Op(at));
            self.in_view.retain(|_, at| !is_changed(*at));
        }
    }
}

impl Item {
    /// Folds or opens the item of the row at this place.
    fn set_folded(&mut self, place: RowPlace, fold: bool) {
        match (self, place) {
            (Item::Result { folded, .. }, _) => *folded = fold,
            (item, RowPlace::Changes(n)) => match *item {
                Item::News(text) if fold => *item = Item::FoldedNews { n, text },
                Item::FoldedNews { text, .. } if !fold => *item = Item::News(text),
                _ => {}
            },
            _ => {}
        }
    }
}

fn counted(rows: usize) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}
