//! A run's own rows for the scheme that shows them: what each was asked with, what it told, what its command
//! printed, and which of them must not be read by now. Never another run's.

use crate::background::Streams;
use crate::run_record::RunRecord;
use crate::schemes::{OwnRows, Shown, ShownRow};
use cairn_engine::{ChangesRow, Engine, OpInRun, Recorded, Rows};
use cairn_store::StoreError;
use cairn_types::{
    Action, Body, Carry, Coord, Drive, Fact, Intent, OpName, Place, RowPlace, RunId, Status, Uri,
    scheme_of,
};
use cairn_world::Performed;
use std::collections::BTreeMap;

/// The scheme of rows.
const SCHEME: &str = "log";

/// Whether a path is a row's address.
pub(crate) fn is_row(path: &str) -> bool {
    scheme_of(path) == Some(SCHEME)
}

/// A row's address, as its own run writes it.
pub(crate) fn address(place: impl Into<RowPlace>) -> String {
    format!("{SCHEME}:///{}", place.into())
}

/// The address of a row or of what is above rows.
fn uri(path: &str) -> Option<Uri> {
    match Place::of(path) {
        Ok(Place::Entry(uri)) if uri.scheme == SCHEME => Some(uri),
        _ => None,
    }
}

/// The address of what a command of a run printed.
pub(crate) fn command(run: &RunId, at: Coord) -> String {
    format!("exec:///{run}/{at}")
}

/// The same command as a row of this run with this channel, where the address is `exec:///RUN/loop/turn/op` of
/// it, or `exec:///loop/turn/op`; any other address as it is.
pub(crate) fn of_command(own: &RunId, path: &str, channel: &str) -> String {
    let rest = path.strip_prefix("exec:").map(|rest| rest.trim_start_matches('/'));
    let own = |rest: &str| {
        let at = rest.strip_prefix(own.as_str()).and_then(|at| at.strip_prefix('/'));
        at.unwrap_or(rest).split('#').next().and_then(|at| at.parse::<Coord>().ok())
    };
    match rest.and_then(own) {
        Some(at) => format!("{}{channel}", address(at)),
        None => path.to_owned(),
    }
}

/// The row of an op that an address names; what follows `#` is no part of it.
pub(crate) fn coordinate(path: &str) -> Option<Coord> {
    uri(path)?.path.parse().ok()
}

/// The number of what others changed, where an address names that.
pub(crate) fn changes_number(path: &str) -> Option<u32> {
    match uri(path)?.path.parse() {
        Ok(RowPlace::Changes(n)) => Some(n),
        _ => None,
    }
}

/// What is said of something that is no row's address.
pub(crate) fn not_an_address(path: &str) -> String {
    format!("{path} is not the address of a row, such as log:///1/2/3")
}

/// The address of rows that an action looks at, if it does.
fn looked_at(action: &Action) -> Option<&str> {
    let path = match action {
        Action::Read(read) => Some(&read.path),
        Action::List { path, .. } => Some(path),
        Action::Find(find) => find.under.as_ref(),
        Action::Copy(Carry { from, .. }) | Action::Move(Carry { from, .. }) => Some(from),
        _ => None,
    };
    path.map(String::as_str).filter(|path| is_row(path))
}

/// Whether an action looks at rows.
pub(crate) fn looks_at_rows(action: &Action) -> bool {
    looked_at(action).is_some()
}

/// The row whose command's output an action looks at.
fn output_of(action: &Action) -> Option<Coord> {
    let uri = uri(looked_at(action)?)?;
    let is_output = uri.channel.as_deref() == Some("output");
    is_output.then(|| uri.path.parse().ok()).flatten()
}

/// Whether lines are read as they stand.
fn is_plain(action: &Action) -> bool {
    matches!(action, Action::Read(read) if read.scope.is_none() && read.matcher.is_none())
}

impl OwnRows {
    /// Shows the rows that are durable, if one of these ops looks at rows, for as long as
    /// what is given back is held. Of a command that still runs it sees what was printed so far, where an op
    /// names it and wants more than lines as they stand.
    pub(crate) fn show_durable(
        &self,
        run: &RunRecord,
        streams: &Streams,
        actions: &[&Action],
    ) -> Result<Option<Shown>, StoreError> {
        if !actions.iter().copied().any(looks_at_rows) {
            return Ok(None);
        }
        let facts = run.journal.store().facts(run.journal.run_id(), 0)?;
        let mut rows = shown_rows(&facts, run.engine());
        for at in actions.iter().copied().filter(|action| !is_plain(action)).filter_map(output_of) {
            let row = rows.get_mut(&RowPlace::Op(at));
            if let (Some(row), Some(printed)) = (row, streams.printed(at)) {
                row.printed = Some(printed);
            }
        }
        Ok(Some(self.show(rows)))
    }

    /// Lines of what a command printed that still runs, without holding all of it; nothing where the row is
    /// like any. The rows must be shown.
    pub(crate) fn running_lines(&self, streams: &Streams, action: &Action) -> Option<Performed> {
        let Action::Read(read) = action else { return None };
        let at = output_of(action).filter(|_| is_plain(action))?;
        match self.is_replaced(at) {
            true => None,
            false => streams.lines(at, read),
        }
    }
}

impl RunRecord {
    /// Why rows are not opened, where one of them must not be read by now.
    pub(crate) fn refusal_to_open(&self, at: Coord) -> Result<Option<Performed>, StoreError> {
        let is_open = |op: &OpInRun<'_>| op.intent.op == Some(OpName::Open);
        let op = self.engine().op_in_run(at).ok().filter(is_open);
        let opened = op.map(|op| op.folded_rows()).unwrap_or_default();
        if opened.is_empty() {
            return Ok(None);
        }
        let rows =
            shown_rows(&self.journal.store().facts(self.journal.run_id(), 0)?, self.engine());
        let is_kept_back = |at: &&RowPlace| rows.get(at).is_some_and(|row| row.is_kept_back);
        Ok(opened.iter().find(is_kept_back).map(|at| {
            let text = format!("{} shows what is kept from being read by the policy", address(*at));
            Performed::told(Status::REFUSED, text)
        }))
    }
}

/// What the rows of these facts show, and which of them must not be read by now.
fn shown_rows(facts: &[Fact], engine: &Engine) -> BTreeMap<RowPlace, ShownRow> {
    let rows = Rows::fold(facts);
    let mut shown: BTreeMap<RowPlace, ShownRow> =
        rows.iter().map(|row| (row.at.into(), ShownRow::of(row))).collect();
    let drives: Vec<Recorded<'_, Drive>> = facts.iter().filter_map(drive).collect();
    let rules_before = |fact: &Fact| {
        let last_drive = drives.iter().rfind(|drive| drive.fact.n < fact.n);
        last_drive.map(|drive| &drive.body.policy)
    };
    let of_changes = |row: ChangesRow<'_>| {
        let rules = rules_before(row.delta.fact);
        let is_kept_back = rules
            .is_some_and(|rules| engine.policy_in_force().keeps_changes_back(&row.delta, rules));
        (row.place(), ShownRow::of_changes(&row, is_kept_back))
    };
    let mut changes = rows.changes().peekable();
    for (row, done) in rows.sorted_by(|row| row.outcome) {
        // An op showed no row that came later.
        let earlier = |row: &ChangesRow<'_>| row.delta.fact.n < done.fact.n;
        shown.extend(std::iter::from_fn(|| changes.next_if(earlier)).map(of_changes));
        let Some((intent, rules)) = row.intent.zip(rules_before(done.fact)) else { continue };
        let is_kept_back = engine.policy_in_force().keeps_back(&intent, &done, rules)
            || (done.status.is_success() && shows_kept_back(&done.fact.run, &intent, &shown));
        if let Some(one) = shown.get_mut(&row.at.into()) {
            one.is_kept_back = is_kept_back;
        }
    }
    shown.extend(changes.map(of_changes));
    shown
}

fn drive(fact: &Fact) -> Option<Recorded<'_, Drive>> {
    match &fact.body {
        Body::Drive(body) => Some(Recorded { fact, body }),
        _ => None,
    }
}

/// Whether an op of a run showed a row that must not be read: the one it names, by whatever address, or those
/// beneath what it names.
fn shows_kept_back(run: &RunId, intent: &Intent, rows: &BTreeMap<RowPlace, ShownRow>) -> bool {
    let reads = intent.subject.iter().flat_map(|subject| &subject.reads);
    let named = reads.filter_map(|path| Some(uri(&of_command(run, path, ""))?.path));
    let named: Vec<String> = named.collect();
    let is_shown = |at: &RowPlace| named.iter().any(|path| is_beneath(&at.to_string(), path));
    !named.is_empty() && rows.iter().any(|(at, row)| row.is_kept_back && is_shown(at))
}

/// Whether a row is at a path or beneath it; where the path is a glob, beneath what comes before that.
fn is_beneath(row: &str, path: &str) -> bool {
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{']);
    let mut parts = row.split('/');
    let mut lead = path.split('/').filter(|part| !part.is_empty()).take_while(is_plain);
    lead.all(|part| parts.next().is_some_and(|own| same(own, part)))
}

/// Whether two parts of a row's address are the same, however the number is written.
fn same(own: &str, part: &str) -> bool {
    own == part || part.parse::<u32>().is_ok_and(|part| own.parse() == Ok(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_beneath_what_an_op_names_or_could_have_come_upon() {
        let check = |path: &str, expected: bool| {
            let path = uri(path).unwrap().path;
            assert_eq!(is_beneath("1/12/3", &path), expected, "{path}");
        };
        assert!(is_beneath("changes/2", "") && is_beneath("changes/2", "changes/*"));
        assert!(!is_beneath("changes/2", "2") && !is_beneath("changes/2", "changes/1"));
        check("log:///", true);
        check("log:///1", true);
        check("log:///1/12", true);
        check("log:///1/12/3", true);
        check("log://01/12/3#output", true);
        check("log:///1/*/9", true);
        check("log:///*", true);
        check("log:///1/1", false);
        check("log:///1/2", false);
        check("log:///1/12/3/4", false);
        check("log:///2/*", false);
    }
}
