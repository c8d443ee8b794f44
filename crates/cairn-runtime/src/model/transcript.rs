//! The view with its contents: engine items, which are hashes, become provider messages. Messages
//! once made change only when a run folds or opens rows, so a longer request begins with the bytes of a
//! shorter one.

use crate::background::ending;
use crate::model::messages::hold;
use crate::model::packet::Contents;
use crate::run_record::rows;
use crate::{Messages, RunError};
use cairn_engine::{Engine, Item, Lap};
use cairn_provider::{CallText, Effort, Message, Part, Request, Thought};
use cairn_store::{Store, StoreError};
use cairn_types::{Body, ContentRef, Drive, Fact, Hash, Media, RowPlace};
use std::sync::Arc;

/// Stands below each result that a small model is told: it forgets that it may stop.
const REMINDER: &str = "\n(If the task is done, answer in words and call nothing.)";

/// A run's messages so far.
#[derive(Default)]
pub(crate) struct Transcript {
    system: Arc<str>,
    tools: Arc<str>,
    messages: Vec<Arc<Message>>,
    /// How often rows had been folded or opened when they were made.
    folds: u64,
    /// What stands below each result.
    reminder: &'static str,
}

impl Transcript {
    /// Takes the items that are new since the last call.
    pub(crate) fn extend(
        &mut self,
        engine: &Engine,
        content: Contents<'_>,
    ) -> Result<(), StoreError> {
        let text = |r: &ContentRef| content(&r.hash).map(|bytes| text_of(&bytes));
        if let (Some(run), true) = (engine.run(), self.system.is_empty()) {
            self.system = text(&run.system)?;
            self.tools = text(&run.tools)?;
            self.reminder = if run.small { REMINDER } else { "" };
        }
        if std::mem::replace(&mut self.folds, engine.model_view().folds())
            != engine.model_view().folds()
        {
            self.messages.clear();
        }
        for item in &engine.items()[self.messages.len()..] {
            let message = self.message(item, content)?;
            self.messages.push(Arc::new(message));
        }
        Ok(())
    }

    /// Everything that would be sent if the model were asked now, with what it is told then first.
    pub(crate) fn next(
        &self,
        engine: &Engine,
        content: Contents<'_>,
    ) -> Result<Request, StoreError> {
        let mut request = self.request(engine.items().len());
        for item in engine.lap().into_iter().flat_map(Lap::held) {
            request.messages.push(Arc::new(self.message(item, content)?));
        }
        Ok(request)
    }

    /// The request that shows the first `messages` items.
    #[must_use]
    pub(crate) fn request(&self, messages: usize) -> Request {
        Request {
            system: self.system.clone(),
            tools: self.tools.clone(),
            messages: self.messages[..messages.min(self.messages.len())].to_vec(),
            ..Request::default()
        }
    }

    /// An item as a message, after those before it.
    fn message(&self, item: &Item, content: Contents<'_>) -> Result<Message, StoreError> {
        let mut message = message(item, &self.messages, content)?;
        if let Message::Result { parts, .. } = &mut message
            && let Some(Part::Text(told)) = parts.first_mut()
            && !self.reminder.is_empty()
        {
            *told = Arc::from(format!("{told}{}", self.reminder));
        }
        Ok(message)
    }
}

fn message(
    item: &Item,
    before: &[Arc<Message>],
    content: Contents<'_>,
) -> Result<Message, StoreError> {
    let text = |r: &ContentRef| content(&r.hash).map(|bytes| text_of(&bytes));
    Ok(match item {
        Item::User { text: said, media } => {
            Message::User { parts: parts_of(text(said)?, media, content)? }
        }
        Item::News(told) => Message::User { parts: vec![Part::Text(text(told)?)] },
        Item::FoldedNews { n, .. } => {
            Message::User { parts: vec![Part::Text(folded(RowPlace::Changes(*n)))] }
        }
        Item::Over { row, content: told } => {
            let row = rows::address(*row);
            let told = text(told)?;
            let said = format!("{row}, which was sent to the background, is over:\n{told}");
            Message::User { parts: vec![Part::Text(Arc::from(said))] }
        }
        Item::Ended(stream) => {
            let row = rows::address(stream.at);
            let mut said = format!("{row} is over: {}", ending(stream));
            if stream.output.is_some() {
                said.push_str(&format!("; its output is {row}#output"));
            }
            Message::User { parts: vec![Part::Text(Arc::from(said))] }
        }
        Item::Result { at, call, status, folded: true, .. } => Message::Result {
            call: call.clone(),
            name: name_of(call, before),
            parts: vec![Part::Text(folded(*at))],
            failed: !status.is_success(),
        },
        Item::Result { call, content: told, media, status, .. } => Message::Result {
            call: call.clone(),
            name: name_of(call, before),
            parts: parts_of(text(told)?, media, content)?,
            failed: !status.is_success(),
        },
        Item::Assistant { text: said, calls, thoughts, .. } => Message::Assistant {
            text: said.as_ref().map(text).transpose()?,
            calls: calls
                .iter()
                .map(|call| {
                    let args = text(&call.args)?;
                    Ok(CallText { id: call.id.clone(), name: call.name.clone(), args })
                })
                .collect::<Result<_, StoreError>>()?,
            thoughts: match thoughts {
                Some(kept) => Thought::read_all(&text(kept)?),
                None => Vec::new(),
            },
        },
    })
}

/// What is shown of a row that is folded.
fn folded(place: impl Into<RowPlace>) -> Arc<str> {
    Arc::from(format!("folded; it is {}", rows::address(place)))
}

/// A text and what is shown with it.
pub(crate) fn parts_of(
    text: Arc<str>,
    media: &[Media],
    content: Contents<'_>,
) -> Result<Vec<Part>, StoreError> {
    let mut parts = vec![Part::Text(text)];
    for shown in media {
        let data: Arc<[u8]> = Arc::from(content(&shown.content.hash)?);
        let mime: Arc<str> = Arc::from(shown.mime.as_str());
        parts.push(match shown.mime.starts_with("image/") {
            true => Part::Image { mime, data },
            false => Part::Document { mime, name: Arc::from(shown.name.as_str()), data },
        });
    }
    Ok(parts)
}

/// What the model called the tool whose result this is.
fn name_of(id: &str, before: &[Arc<Message>]) -> String {
    let name = |message: &Arc<Message>| match &**message {
        Message::Assistant { calls, .. } => {
            calls.iter().find(|call| call.id == id).map(|call| call.name.clone())
        }
        Message::User { .. } | Message::Result { .. } => None,
    };
    before.iter().rev().find_map(name).unwrap_or_default()
}

pub(crate) fn text_of(bytes: &[u8]) -> Arc<str> {
    Arc::from(String::from_utf8_lossy(bytes))
}

/// A request as it was, and how the model was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The request.
    pub request: Request,
    /// How the model was asked, for `cairn_provider::http::render_as`.
    pub form: Option<String>,
}

/// The request that asked for this turn, rebuilt from the log. Absent when it was never asked.
pub fn request_at(
    facts: &[Fact],
    (lap, turn): (u32, u32),
    store: &Store,
) -> Result<Option<Asked>, RunError> {
    let mut engine = Engine::default();
    for fact in facts {
        engine.apply(fact);
        if let Body::Ask(ask) = &fact.body
            && (ask.lap, ask.turn) == (lap, turn)
        {
            let content = |hash: &Hash| store.content(hash);
            let messages = Messages::load(&engine, store)?;
            let mut request = messages.request(&engine, engine.items().len(), &content)?;
            let Some(drive) = driven(facts, (lap, turn)) else {
                return Ok(Some(Asked { request, form: None }));
            };
            request.effort = Effort::of_word(drive.effort.as_deref());
            request.max_output = ask.max_output;
            let schema = drive.schema.as_ref().map(|schema| store.content(&schema.hash));
            let schema = schema.transpose()?.map(|bytes| text_of(&bytes));
            hold(&mut request, &engine, (drive.form.as_deref(), schema));
            return Ok(Some(Asked { request, form: drive.form.clone() }));
        }
    }
    Ok(None)
}

/// Who drove the run when this turn's reply came; whoever came last, when none did.
fn driven(facts: &[Fact], turn: (u32, u32)) -> Option<&Drive> {
    let is_it = |fact: &&Fact| matches!(&fact.body, Body::Reply(r) if (r.lap, r.turn) == turn);
    let until = facts.iter().find(is_it).map_or(u64::MAX, |fact| fact.n);
    facts.iter().rev().filter(|fact| fact.n < until).find_map(|fact| match &fact.body {
        Body::Drive(drive) => Some(drive),
        _ => None,
    })
}
