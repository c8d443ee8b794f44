//! What a model wrote on a text surface, as the calls that it comes to; and what it is asked with there besides
//! messages: what it sees as it stands, and what its reply must repeat.

use crate::model::packet;
use crate::model::prepared_ask::PreparedAsk;
use crate::run_record::RunRecord;
use crate::{Event, Sink, clock};
use cairn_engine::{Engine, Lap, Marks};
use cairn_provider::CallText;
use cairn_surface::any;
use cairn_surface::{Position, Reading};
use cairn_text::scrub::Scrubber;
use cairn_types::{Action, Finish, Hash, Read, Surface, UnreadPart, UnreadParts};
use cairn_world::World;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A reply as calls.
#[derive(Debug, Default)]
pub(crate) struct ParsedReply {
    /// The calls, and how each was written.
    pub(crate) calls: Vec<(CallText, Marks)>,
    /// What is left as prose.
    pub(crate) text: String,
    /// What it thought aloud.
    pub(crate) reasoning: String,
    /// What could not be read.
    pub(crate) unread: UnreadParts,
    /// Repairs that belong to no call.
    pub(crate) repairs: Vec<String>,
    /// It says that nothing more is to be done, and that by no call.
    pub(crate) is_final: bool,
}

impl ParsedReply {
    /// Reads a reply on a text surface. The answer that was asked for in plain words is one.
    pub(crate) fn read(engine: &Engine, text: &str, finish: Finish) -> ParsedReply {
        let lap = engine.lap();
        if lap.is_some_and(Lap::is_plain) {
            let (said, reasoning) = any::without_thoughts(text);
            return ParsedReply {
                text: said.trim().to_owned(),
                reasoning,
                ..ParsedReply::default()
            };
        }
        let tools = packet::given(engine);
        let turn = packet::turn(engine, &tools);
        let at = lap.map_or((0, 0), |lap| (lap.lap, lap.turn + 1));
        let reading = match finish {
            Finish::Length | Finish::Filtered => turn.read_cut(text, MOST_OPS),
            Finish::Stop | Finish::Calls => turn.read(text, MOST_OPS),
        };
        heard(reading, at)
    }

    /// Shows a person the text of the reply. If parts of it could not be read, shows only those: the rest may be
    /// fragments. The model reads about them with its next turn.
    pub(crate) fn report(&self, sink: &dyn Sink, scrubber: &Scrubber) {
        match self.unread.first_line() {
            Some(unread) => sink.event(&Event::Notice(scrubber.text(&unread).into_owned())),
            None if self.text.trim().is_empty() => {}
            None => {
                let text = scrubber.text(&self.text).into_owned();
                sink.event(&Event::Text { offset: 0, text });
            }
        }
    }
}

impl PreparedAsk {
    /// The same, with what the model is asked with on a text surface besides messages.
    pub(crate) async fn with_shown(mut self, run: &RunRecord, world: &World) -> PreparedAsk {
        match run.engine().surface() {
            Surface::Envelope => self.with_nonce(clock::new_nonce()),
            surface if surface.is_text() => {
                for path in run.messages.shows(run.engine()) {
                    if let Some((shown, hash)) = as_it_stands(run, world, &path).await {
                        self.show(path, shown, hash);
                    }
                }
                self
            }
            _ => self,
        }
    }
}

/// What a file or an entry says now, and the hash of all of it where that is all; nothing where it is gone, or may not be shown.
async fn as_it_stands(
    run: &RunRecord,
    world: &World,
    path: &str,
) -> Option<(String, Option<Hash>)> {
    if !run.engine().policy_in_force().may_show(path) {
        return None;
    }
    let read =
        Read { path: path.to_owned(), first: 1, limit: packet::MOST_LINES, ..Read::default() };
    let looked = world.look(&Action::Read(read), path, &CancellationToken::new()).await;
    let whole = looked.seen.iter().find(|seen| seen.path == path && !seen.part);
    let hash = whole.map(|seen| seen.hash);
    looked.status.is_success().then_some((looked.text, hash))
}

/// More ops than this are not even recorded; a driver's own cap is far below.
const MOST_OPS: usize = 1_000;

/// A reading as calls. Repairs belong to the op that begins last before them.
fn heard(reading: Reading, (lap, turn): (u32, u32)) -> ParsedReply {
    let starts: Vec<Position> = reading.ops.iter().map(|op| op.at).collect();
    let mut of_ops: Vec<Vec<String>> = vec![Vec::new(); starts.len()];
    let mut repairs = Vec::new();
    for repair in &reading.repairs {
        match starts.partition_point(|start| *start <= repair.at).checked_sub(1) {
            Some(n) => of_ops[n].push(repair.note.clone()),
            None => repairs.push(repair.note.clone()),
        }
    }
    let unread = |one: cairn_surface::Trouble| UnreadPart {
        kind: one.kind.to_owned(),
        line: one.at.line as u64,
        column: one.at.column as u64,
        note: one.note,
        snippet: one.snippet,
    };
    let unread: UnreadParts = reading.problems.into_iter().map(unread).collect();
    let is_final = reading.terminal.is_some() && reading.ops.is_empty();
    let calls =
        reading.ops.into_iter().zip(of_ops).zip(1..).map(|((op, repairs), seq): (_, u32)| {
            let id = format!("{lap}/{turn}/{seq}");
            let args: Arc<str> = Arc::from(Value::Object(op.args).to_string());
            let call = CallText { id, name: op.tool.to_owned(), args };
            let (unclosed, follows_misread) = (op.is_unclosed, op.follows_misread);
            (call, Marks { repairs, unclosed, follows_misread, refused: None })
        });
    ParsedReply {
        calls: calls.collect(),
        text: reading.text.trim().to_owned(),
        reasoning: reading.reasoning,
        unread,
        repairs,
        is_final,
    }
}
