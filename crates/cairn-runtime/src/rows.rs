//! A run's own rows, read by its model: `log:///loop/turn/op` is what the row told it, with
//! `#output` all that was kept of a command's output and `#input` what it was asked with. Never
//! another run's.

use crate::Driver;
use crate::background::ending;
use cairn_store::StoreError;
use cairn_types::{
    Body, ContentRef, Coord, Fact, Intent, Outcome, Policy, Read, RunId, Status, Stream,
};
use cairn_world::{Lines, Performed};

/// How a row's address begins.
const ROW: &str = "log:///";

/// Whether a path is a row's address.
pub(crate) fn is_row(path: &str) -> bool {
    path.starts_with("log:")
}

/// A row's address, as its own run writes it.
pub(crate) fn address(at: Coord) -> String {
    format!("{ROW}{at}")
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

/// The row that an address names; what follows `#` is no part of it.
pub(crate) fn coordinate(path: &str) -> Option<Coord> {
    path.split('#').next()?.strip_prefix(ROW)?.parse().ok()
}

/// What is said of something that is no row's address.
pub(crate) fn not_an_address(path: &str) -> String {
    format!("{path} is not the address of a row, such as log:///1/2/3")
}

impl Driver {
    /// Lines of a row.
    pub(crate) fn read_row(&self, read: &Read) -> Result<Performed, StoreError> {
        let path = &read.path;
        let refuse = |status, text: String| Ok(Performed::told(status, text));
        let channel = path.split_once('#').map_or("result", |(_, channel)| channel);
        let Some(at) = coordinate(path) else {
            return refuse(Status::BAD_REQUEST, not_an_address(path));
        };
        let facts = self.store.facts(self.run_id(), 0)?;
        // What a hook put in a result's place stands for all of it.
        let is_replaced = is_replaced(facts.iter().chain(&self.pending.facts), at);
        let channel = if channel == "output" && is_replaced { "result" } else { channel };
        if channel == "output"
            && let Some(lines) = self.streams.lines(at, read)
        {
            return Ok(lines);
        }
        if self.is_kept_back(&facts, at) {
            let text = format!("{path} shows what is kept from being read by the policy");
            return refuse(Status::REFUSED, text);
        }
        if channel == "output"
            && let Some(stream) = facts.iter().find_map(|fact| stream_at(&fact.body, at))
        {
            return self.read_stream(read, stream);
        }
        let content: Option<ContentRef> = match channel {
            "input" => facts.iter().rev().find_map(|fact| match &fact.body {
                Body::Intent(intent) if intent.at == at => Some(intent.input),
                _ => None,
            }),
            "result" | "output" => facts.iter().find_map(|fact| match &fact.body {
                Body::Outcome(done) if done.at == at && channel == "result" => Some(done.result),
                Body::Outcome(done) if done.at == at => done.output.as_ref().map(|o| o.kept),
                _ => None,
            }),
            other => {
                let text = format!("a row has no #{other}; there are #result, #output and #input");
                return refuse(Status::BAD_REQUEST, text);
            }
        };
        match content {
            None => refuse(Status::NOT_FOUND, format!("there is no {path}")),
            Some(content) => self.lines(read, &content),
        }
    }

    /// Whether a row shows what rules that came after it keep from being read, by itself or through a
    /// row that it shows.
    fn is_kept_back(&self, facts: &[Fact], at: Coord) -> bool {
        let mut todo = vec![at];
        let mut known = Vec::new();
        while let Some(at) = todo.pop() {
            if known.contains(&at) {
                continue;
            }
            known.push(at);
            let Some((intent, outcome, policy)) = made(facts, at) else { continue };
            if self.engine.keeps_back(intent, outcome, policy) {
                return true;
            }
            let reads = intent.subject.iter().flat_map(|subject| &subject.reads);
            todo.extend(reads.filter_map(|path| coordinate(path)));
        }
        false
    }

    /// Lines of a content.
    fn lines(&self, read: &Read, content: &ContentRef) -> Result<Performed, StoreError> {
        let mut lines = Lines::new(read);
        self.store.each_of_content(&content.hash, &mut |piece| lines.take(piece))?;
        Ok(lines.told(&read.path))
    }

    /// Lines of what a command in the background printed, and how it ended.
    fn read_stream(&self, read: &Read, stream: &Stream) -> Result<Performed, StoreError> {
        let ending = ending(stream);
        Ok(match &stream.output {
            None => Performed::told(Status::OK, ending),
            Some(output) => {
                let mut told = self.lines(read, &output.kept)?;
                told.text = format!("{}\n{ending}", told.text);
                told
            }
        })
    }
}

/// What a row was asked for and came to, and the rules in force when it did.
fn made(facts: &[Fact], at: Coord) -> Option<(&Intent, &Outcome, &Policy)> {
    let (mut asked, mut rules) = (None, None);
    for fact in facts {
        match &fact.body {
            Body::Drive(drive) => rules = Some(&drive.policy),
            Body::Intent(intent) if intent.at == at => asked = Some(intent),
            Body::Outcome(outcome) if outcome.at == at => return Some((asked?, outcome, rules?)),
            _ => {}
        }
    }
    None
}

/// Whether the model was told something else than what the op came to.
fn is_replaced<'a>(facts: impl Iterator<Item = &'a Fact>, at: Coord) -> bool {
    let mut came = None;
    for fact in facts {
        match &fact.body {
            Body::Performed(done) if done.at == at => came = Some(done.result.hash),
            Body::Outcome(done) if done.at == at => {
                let told = done.own.unwrap_or(done.result.hash);
                return came.is_some_and(|came| came != told);
            }
            _ => {}
        }
    }
    false
}

/// The end of the command in the background that this op started.
pub(crate) fn stream_at(body: &Body, at: Coord) -> Option<&Stream> {
    match body {
        Body::Stream(stream) if stream.at == at => Some(stream),
        _ => None,
    }
}
