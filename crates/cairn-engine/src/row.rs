//! Rows: what a run's facts say of each op and of what others changed, gathered in one place. Made from facts
//! alone; decides nothing and looks at no contents. What wants to know what became of an op reads its row.

use cairn_types::{
    Begin, Body, ContentRef, Coord, Decision, Delta, Fact, Hooked, Intent, Outcome, Proposal,
    RowPlace, Stream,
};
use std::collections::HashMap;
use std::ops::Deref;

/// A body with the fact that recorded it, which has its number, its time and its run.
#[derive(Debug)]
pub struct Recorded<'a, T> {
    /// The fact.
    pub fact: &'a Fact,
    /// Its body.
    pub body: &'a T,
}

impl<T> Clone for Recorded<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Recorded<'_, T> {}

impl<T> Deref for Recorded<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.body
    }
}

/// A receipt, as far as a row shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowReceipt {
    /// Its id.
    pub id: String,
    /// Its hash, in hex.
    pub hash: String,
}

/// An op with everything that is recorded of it.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// Its coordinate.
    pub at: Coord,
    /// What was asked for: what a hook made of it, where one changed it.
    pub intent: Option<Recorded<'a, Intent>>,
    /// The questions that were put, oldest first.
    pub questions: Vec<Recorded<'a, Proposal>>,
    /// The decisions on it, oldest first.
    pub decisions: Vec<Recorded<'a, Decision>>,
    /// Its beginnings, oldest first: it begins again where a crash lost the first.
    pub begins: Vec<Recorded<'a, Begin>>,
    /// What happened, before the hooks that look at results answered.
    pub performed: Option<Recorded<'a, Outcome>>,
    /// The result, as the model reads it.
    pub outcome: Option<Recorded<'a, Outcome>>,
    /// What hooks answered about it, oldest first.
    pub hooks: Vec<Recorded<'a, Hooked>>,
    /// How the stream ended that it had opened.
    pub stream: Option<Recorded<'a, Stream>>,
    /// The receipt of its outcome. No fact says it: a reader that shows it sets it from the store.
    pub receipt: Option<RowReceipt>,
    /// All of these facts, in their order.
    pub facts: Vec<&'a Fact>,
}

impl<'a> Row<'a> {
    fn new(at: Coord) -> Row<'a> {
        Row {
            at,
            intent: None,
            questions: Vec::new(),
            decisions: Vec::new(),
            begins: Vec::new(),
            performed: None,
            outcome: None,
            hooks: Vec::new(),
            stream: None,
            receipt: None,
            facts: Vec::new(),
        }
    }

    /// Its outcome; while hooks look at its result, or where the run was cut off there, what was performed.
    #[must_use]
    pub fn result(&self) -> Option<Recorded<'a, Outcome>> {
        self.outcome.or(self.performed)
    }

    /// The fact that recorded what it did: that it was performed, where hooks looked at the result, else its
    /// outcome.
    #[must_use]
    pub fn first_result(&self) -> Option<Recorded<'a, Outcome>> {
        self.performed.or(self.outcome)
    }

    /// The decision by which a person took a part of it or gave another text.
    #[must_use]
    pub fn choice(&self) -> Option<Recorded<'a, Decision>> {
        self.decisions.iter().rev().find(|decision| decision.is_choice()).copied()
    }

    /// What its command printed, as far as that was kept; of one in the background once it is over.
    #[must_use]
    pub fn output(&self) -> Option<ContentRef> {
        let of_stream = self.stream.and_then(|stream| stream.body.output.as_ref());
        let of_outcome = self.outcome.and_then(|outcome| outcome.body.output.as_ref());
        of_stream.or(of_outcome).map(|output| output.kept)
    }

    /// Its newest text in a channel: `input`, `result`, `output`, `shown` of a question, `words` of a decision.
    #[must_use]
    pub fn content(&self, channel: &str) -> Option<ContentRef> {
        match channel {
            "input" => self.intent.map(|intent| intent.input),
            "result" => self.result().map(|done| done.result),
            "output" => self.output().or_else(|| Some(self.performed?.output.as_ref()?.kept)),
            "shown" => self.questions.last().map(|question| question.shown),
            "words" => self.decisions.iter().rev().find_map(|decision| decision.words),
            _ => None,
        }
    }
}

/// What a run was told that others changed. It has no receipt: the rows that made the changes have theirs.
#[derive(Debug, Clone, Copy)]
pub struct ChangesRow<'a> {
    /// Its number among such rows of the run, from 1.
    pub n: u32,
    /// What was noticed, and the text the model reads about it.
    pub delta: Recorded<'a, Delta>,
}

impl ChangesRow<'_> {
    /// Its place in the run's log.
    #[must_use]
    pub fn place(&self) -> RowPlace {
        RowPlace::Changes(self.n)
    }

    /// Its text in a channel: it has a `result` alone.
    #[must_use]
    pub fn content(&self, channel: &str) -> Option<ContentRef> {
        (channel == "result").then_some(self.delta.text)
    }
}

/// The rows of a run, in the order in which they were asked for, and what it was told that others changed.
#[derive(Debug, Clone, Default)]
pub struct Rows<'a> {
    rows: Vec<Row<'a>>,
    places: HashMap<Coord, usize>,
    deltas: Vec<Recorded<'a, Delta>>,
}

impl<'a> Rows<'a> {
    /// The rows of a run that has these facts.
    #[must_use]
    pub fn fold(facts: impl IntoIterator<Item = &'a Fact>) -> Rows<'a> {
        let mut rows = Rows::default();
        facts.into_iter().for_each(|fact| rows.apply(fact));
        rows
    }

    /// Takes one more fact. Only here it is decided which kinds of facts belong to a row.
    fn apply(&mut self, fact: &'a Fact) {
        match &fact.body {
            Body::Intent(body) => self.row(body.at, fact).intent = Some(Recorded { fact, body }),
            Body::Proposal(body) => {
                self.row(body.at, fact).questions.push(Recorded { fact, body });
            }
            Body::Decision(body) => {
                self.row(body.at, fact).decisions.push(Recorded { fact, body });
            }
            Body::Begin(body) => self.row(body.at, fact).begins.push(Recorded { fact, body }),
            Body::Performed(body) => {
                self.row(body.at, fact).performed = Some(Recorded { fact, body });
            }
            Body::Outcome(body) => self.row(body.at, fact).outcome = Some(Recorded { fact, body }),
            Body::Hook(body) => {
                if let Some(at) = body.at {
                    self.row(at, fact).hooks.push(Recorded { fact, body });
                }
            }
            Body::Stream(body) => self.row(body.at, fact).stream = Some(Recorded { fact, body }),
            Body::Delta(body) => self.deltas.push(Recorded { fact, body }),
            // Of no row. Which hosts a command may reach is shown with the question about them.
            _ => {}
        }
    }

    /// The row that a fact belongs to.
    fn row(&mut self, at: Coord, fact: &'a Fact) -> &mut Row<'a> {
        let place = *self.places.entry(at).or_insert(self.rows.len());
        if place == self.rows.len() {
            self.rows.push(Row::new(at));
        }
        let row = &mut self.rows[place];
        row.facts.push(fact);
        row
    }

    /// The row at a coordinate.
    #[must_use]
    pub fn get(&self, at: Coord) -> Option<&Row<'a>> {
        self.places.get(&at).and_then(|place| self.rows.get(*place))
    }

    /// All rows, in the order in which they were asked for.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Row<'a>> {
        self.rows.iter()
    }

    /// What others changed, in the order in which the run was told of it.
    pub fn changes(&self) -> impl Iterator<Item = ChangesRow<'a>> {
        (1..).zip(&self.deltas).map(|(n, delta)| ChangesRow { n, delta: *delta })
    }

    /// What others changed, by its number.
    #[must_use]
    pub fn changes_at(&self, n: u32) -> Option<ChangesRow<'a>> {
        let delta = self.deltas.get(usize::try_from(n.checked_sub(1)?).ok()?)?;
        Some(ChangesRow { n, delta: *delta })
    }

    /// What others changed, as this fact tells it.
    #[must_use]
    pub fn changes_of(&self, fact: &Fact) -> Option<ChangesRow<'a>> {
        let place = self.deltas.binary_search_by_key(&fact.n, |delta| delta.fact.n).ok()?;
        self.changes_at(u32::try_from(place).ok()?.checked_add(1)?)
    }

    /// The rows that have what `done` picks of them, in the order in which that was recorded.
    #[must_use]
    pub fn sorted_by<T>(
        &self,
        done: impl Fn(&Row<'a>) -> Option<Recorded<'a, T>>,
    ) -> Vec<(&Row<'a>, Recorded<'a, T>)> {
        let mut sorted: Vec<_> =
            self.rows.iter().filter_map(|row| Some((row, done(row)?))).collect();
        sorted.sort_by_key(|(_, done)| done.fact.n);
        sorted
    }
}
