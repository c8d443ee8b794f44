//! What a run came to, read from its facts one at a time: its task, its model, how its last loop
//! ended or who drives it, what it took. Prints nothing.

use crate::commands::diff::unreadable;
use crate::output::tally::Tally;
use anyhow::Result;
use cairn_store::{RunRow, Store};
use cairn_types::{Body, By, ContentRef, End, Fact, Status, Verdict};
use std::ops::ControlFlow;

/// A run in a few words.
#[derive(Debug, Default)]
pub struct Outline {
    /// The first line of what it was asked first.
    pub task: Option<String>,
    /// The model it was last driven with.
    pub model: Option<String>,
    /// How its last loop ended, or where it is.
    pub state: State,
    /// What its own turns took.
    pub tally: Tally,
}

/// Where a run's last loop is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum State {
    /// It was never given a task.
    #[default]
    Empty,
    /// Somebody drives it now.
    Running(String),
    /// Its loop has not ended; it can go on.
    Paused,
    /// Its loop ended, and something in it was refused because nobody was there to allow it.
    ApprovalNeeded,
    /// Its loop ended like this, and why.
    Ended(Status, String),
}

impl State {
    /// In one word.
    pub fn word(&self) -> &'static str {
        match self {
            State::Empty => "empty",
            State::Running(_) => "running",
            State::Paused => "paused",
            State::ApprovalNeeded => "approval-needed",
            State::Ended(Status::CANCELLED, _) => "cancelled",
            State::Ended(Status::LIMIT, _) => "limit",
            State::Ended(status, _) if status.is_success() => "done",
            State::Ended(..) => "failed",
        }
    }
}

/// What is gathered while the facts go by, newest first.
#[derive(Default)]
struct Gathered {
    model: Option<String>,
    tally: Tally,
    first_prompt: Option<ContentRef>,
    /// The newest loop that was asked for here, or begun by a forebear.
    last_loop: Option<u32>,
    last_end: Option<End>,
    /// In the loop that ended last something was refused because nobody was there to allow it.
    wanted_approval: bool,
}

impl Gathered {
    fn own(&mut self, fact: Fact) {
        match fact.body {
            Body::Drive(drive) => drop(self.model.get_or_insert(drive.model)),
            Body::Reply(reply) => self.tally.add(reply.usage, reply.cost),
            Body::Prompt(prompt) => {
                self.last_loop = self.last_loop.max(Some(prompt.lap));
                self.first_prompt = Some(prompt.text);
            }
            Body::End(end) => drop(self.last_end.get_or_insert(end)),
            Body::Decision(decision) => {
                let is_last = self.last_end.as_ref().is_some_and(|end| end.lap == decision.at.lap);
                let is_refused = decision.by == By::Nobody && decision.verdict == Verdict::Refuse;
                self.wanted_approval |= is_last && is_refused;
            }
            _ => {}
        }
    }

    /// A fork shares what its forebears began, not what was waiting there.
    fn inherited(&mut self, fact: Fact) {
        match fact.body {
            Body::Ask(ask) => self.last_loop = self.last_loop.max(Some(ask.lap)),
            Body::Prompt(prompt) => self.first_prompt = Some(prompt.text),
            other => self.own(Fact { body: other, ..fact }),
        }
    }

    fn state(&self) -> State {
        match (self.last_loop, &self.last_end) {
            (None, None) => State::Empty,
            (Some(last), Some(end)) if end.lap < last => State::Paused,
            (_, Some(end)) if end.status.is_success() && self.wanted_approval => {
                State::ApprovalNeeded
            }
            (_, Some(end)) => State::Ended(end.status, end.why.clone()),
            (Some(_), None) => State::Paused,
        }
    }
}

/// Reads a run's outline.
pub fn of(store: &Store, run: &RunRow) -> Result<Outline> {
    let mut gathered = Gathered::default();
    store.own_facts(&run.id, &["drive", "prompt", "reply", "decision", "end"], &mut |fact| {
        gathered.own(fact);
        ControlFlow::Continue(())
    })?;
    let mut parent = run.parent.clone().filter(|_| gathered.first_prompt.is_none());
    while let Some(point) = parent {
        store.own_facts(&point.run, &["drive", "prompt", "ask", "end"], &mut |fact| {
            if fact.n <= point.n {
                gathered.inherited(fact);
            }
            ControlFlow::Continue(())
        })?;
        let next = store.run(&point.run)?.and_then(|run| run.parent);
        parent = next.filter(|_| gathered.first_prompt.is_none());
    }
    let state = match store.driven_by(&run.id) {
        Some(by) => State::Running(by),
        None => gathered.state(),
    };
    let task = gathered.first_prompt.map(|text| first_line(store, &text));
    Ok(Outline { task, model: gathered.model, state, tally: gathered.tally })
}

fn first_line(store: &Store, text: &ContentRef) -> String {
    match store.content(&text.hash) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
        }
        Err(why) => format!("({})", unreadable(&why)),
    }
}
