//! The packet view with its contents: the state of a run as one message, made anew each turn. The task first, then
//! what changes slowly above what changes fast, and what a reply must be like last. Plain: nothing is left out to
//! save room.

use crate::background::ending;
use crate::model::transcript::{parts_of, text_of};
use crate::run_record::rows;
use cairn_engine::{Engine, Item, Lap};
use cairn_provider::{Message, Part, Request};
use cairn_store::StoreError;
use cairn_surface::any::{self, Turn};
use cairn_surface::{envelope, native};
use cairn_types::{
    Action, Call, ContentRef, Hash, Media, RowPlace, Surface, ToolUse, UnreadParts, Visible,
};
use std::fmt::Write;
use std::sync::Arc;

/// So many lines of what is shown as it stands.
pub(crate) const MOST_LINES: u64 = 2000;

/// Where contents are read.
pub(crate) type Contents<'a> = &'a dyn Fn(&Hash) -> Result<Vec<u8>, StoreError>;

/// A run's rows as they are told, made once each.
#[derive(Default)]
pub(crate) struct Packet {
    system: Arc<str>,
    /// How ops are written.
    instructions: Arc<str>,
    rows: Vec<PacketRow>,
    folds: u64,
}

/// What an item says.
#[derive(Debug, Clone, Default)]
struct PacketRow {
    /// One line: where it stands, what was asked for, what became of it. Empty for what is no row.
    head: String,
    /// What is told of it.
    body: Arc<str>,
    media: Vec<Media>,
    /// What it reads as a whole: shown as it stands now, not as it was.
    shows: Option<String>,
    /// The loop whose op it is the result of.
    of_lap: Option<u32>,
}

impl Packet {
    /// Takes the items that are new since the last call.
    pub(crate) fn extend(
        &mut self,
        engine: &Engine,
        content: Contents<'_>,
    ) -> Result<(), StoreError> {
        if let (Some(run), true) = (engine.run(), self.system.is_empty()) {
            self.system = text_of(&content(&run.system.hash)?);
            self.instructions = text_of(&content(&run.tools.hash)?);
        }
        if std::mem::replace(&mut self.folds, engine.model_view().folds())
            != engine.model_view().folds()
        {
            self.rows.clear();
        }
        let items = engine.items();
        for n in self.rows.len()..items.len() {
            self.rows.push(row(&items[n], (engine.surface(), &items[..n]), content)?);
        }
        Ok(())
    }

    /// What is shown as it stands now: whatever was read as a whole and is not folded, in the order it was first read.
    pub(crate) fn shows(&self) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for path in self.rows.iter().filter_map(|row| row.shows.as_ref()) {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        paths
    }

    /// The request that asks for the next turn.
    pub(crate) fn request(
        &self,
        engine: &Engine,
        content: Contents<'_>,
    ) -> Result<Request, StoreError> {
        let text = |r: &ContentRef| content(&r.hash).map(|bytes| text_of(&bytes));
        let lap = engine.lap();
        let is_plain = lap.is_some_and(Lap::is_plain);
        let turn = engine.totals().turns() + 1;
        let mut said = String::new();
        let mut media: Vec<Media> = Vec::new();
        let task = lap.and_then(Lap::prompt).and_then(|at| engine.items().get(at));
        if let Some(Item::User { text: prompt, media: shown }) =
            task.or(engine.lap().and_then(|lap| lap.held().first()))
        {
            let _ = write!(said, "# Task\n{}\n", text(prompt)?.trim_end());
            media.extend(shown.iter().cloned());
        }
        let visible = lap.map(Lap::visible).unwrap_or_default();
        if !visible.is_empty() {
            said.push_str("\n# Visible\n");
        }
        for Visible { path, content, .. } in visible {
            let _ = write!(said, "## {path}\n{}", framed(text(content)?.trim_end()));
        }
        self.log(engine, visible, (&mut said, &mut media));
        if let Some(problems) = lap.and_then(Lap::problems).filter(|_| !is_plain) {
            let _ = write!(
                said,
                "\n# Problems\n{}",
                UnreadParts::from_json(&text(&problems)?).text_for_model()
            );
        }
        let system = match is_plain {
            true => {
                let _ = write!(
                    said,
                    "\n# Answer (turn {turn})\nThe answer to the task, in plain words.\n"
                );
                self.system.clone()
            }
            false => {
                let wanted = requirements(engine);
                let _ = write!(said, "\n# Requirements (turn {turn})\n{}\n", wanted.trim_end());
                Arc::from(format!("{}\n{}", self.system.trim_end(), self.instructions))
            }
        };
        let parts: Vec<Part> = parts_of(Arc::from(said), &media, &content)?;
        Ok(Request {
            system,
            messages: vec![Arc::new(Message::User { parts })],
            ..Request::default()
        })
    }

    /// Everything that happened, in its order; the task stands above.
    fn log(
        &self,
        engine: &Engine,
        visible: &[Visible],
        (said, media): (&mut String, &mut Vec<Media>),
    ) {
        let task = engine.lap().and_then(Lap::prompt);
        let rooms = self.rooms(engine);
        let mut log = String::new();
        for (n, (row, room)) in self.rows.iter().zip(rooms).enumerate() {
            if Some(n) == task || row.head.is_empty() {
                continue;
            }
            let is_shown =
                row.shows.as_ref().is_some_and(|path| visible.iter().any(|one| one.path == *path));
            let body: Arc<str> = match (is_shown, room) {
                (true, _) => Arc::from("shown above as it stands now"),
                (false, Some(room)) => Arc::from(envelope::cut(&row.body, room).text),
                (false, None) => row.body.clone(),
            };
            let _ = writeln!(log, "## {}", row.head);
            log.push_str(&framed(body.trim_end()));
            media.extend(row.media.iter().cloned());
        }
        if !log.is_empty() {
            let _ = write!(said, "\n# Log\n{log}");
        }
    }

    /// How much of each row is shown, where that is bounded: on the envelope so much of each result, and of the results
    /// of a loop together, the newest first; of earlier loops nothing. What people said is never cut.
    fn rooms(&self, engine: &Engine) -> Vec<Option<usize>> {
        let mut rooms = vec![None; self.rows.len()];
        if engine.surface() != Surface::Envelope {
            return rooms;
        }
        let lap = engine.lap().map(|lap| lap.lap);
        let mut shown = 0;
        for (row, room) in self.rows.iter().zip(&mut rooms).rev() {
            *room = match (row.of_lap, lap) {
                (None, _) => None,
                (Some(of), Some(lap)) if of == lap => {
                    let room = envelope::budget(shown);
                    shown += room.min(row.body.len());
                    Some(room)
                }
                (Some(_), _) => Some(0),
            };
        }
        rooms
    }
}

/// A text that nobody here wrote, between two lines that it cannot hold where it could pass for a heading: they hold the
/// hash of what stands between them.
fn framed(body: &str) -> String {
    let end = if body.is_empty() { "" } else { "\n" };
    if !body.lines().any(|line| line.starts_with('#')) {
        return format!("{body}{end}");
    }
    let hash = Hash::of(body.as_bytes()).to_string();
    let mark: String = hash.chars().take(12).collect();
    format!("text-{mark}\n{body}\ntext-{mark}\n")
}

/// What a reply must be like.
fn requirements(engine: &Engine) -> String {
    turn(engine, &given(engine)).requirements()
}

/// The tools that the run was given.
pub(crate) fn given(engine: &Engine) -> Vec<&'static native::Tool> {
    engine.run().map(|run| any::tools_named(&run.given)).unwrap_or_default()
}

/// The turn that is asked for.
pub(crate) fn turn<'a>(engine: &'a Engine, tools: &'a [&'static native::Tool]) -> Turn<'a> {
    let lap = engine.lap();
    Turn {
        surface: engine.surface(),
        tools,
        nonce: lap.and_then(Lap::nonce).unwrap_or_default(),
        is_first: !lap.is_some_and(Lap::has_asked),
        requires_tool: engine.tool_use() == ToolUse::Required,
    }
}

fn row(
    item: &Item,
    (surface, before): (Surface, &[Item]),
    content: Contents<'_>,
) -> Result<PacketRow, StoreError> {
    let text = |r: &ContentRef| content(&r.hash).map(|bytes| text_of(&bytes));
    Ok(match item {
        Item::User { text: said, media } => PacketRow {
            head: "said to you".to_owned(),
            body: text(said)?,
            media: media.clone(),
            ..PacketRow::default()
        },
        Item::News(told) => PacketRow {
            head: "changed by others".to_owned(),
            body: text(told)?,
            ..PacketRow::default()
        },
        Item::FoldedNews { n, .. } => {
            let row = rows::address(RowPlace::Changes(*n));
            PacketRow { head: format!("{row} changed by others, folded"), ..PacketRow::default() }
        }
        // What it asked for stands in the rows; an answer, or words alone, nowhere else.
        Item::Assistant { text: Some(said), calls, problems: None, .. } if calls.is_empty() => {
            PacketRow { head: "said by you".to_owned(), body: text(said)?, ..PacketRow::default() }
        }
        // What could not be read is shown once, with what is wrong there; then only that it was.
        Item::Assistant { calls, problems: Some(problems), .. } if calls.is_empty() => {
            let kinds = UnreadParts::from_json(&text(problems)?).kinds().join(", ");
            PacketRow { head: format!("said by you, not read: {kinds}"), ..PacketRow::default() }
        }
        Item::Over { row, content } => {
            let head = format!("{} went on in the background and is over", rows::address(*row));
            PacketRow { head, body: text(content)?, ..PacketRow::default() }
        }
        Item::Ended(stream) => {
            let row = rows::address(stream.at);
            let output = stream.output.is_some().then(|| format!("its output is {row}#output"));
            let head = format!("{row} is over: {}", ending(stream));
            PacketRow { head, body: Arc::from(output.unwrap_or_default()), ..PacketRow::default() }
        }
        // Its prose is nobody's business any more; what it asked for stands in the rows.
        Item::Assistant { .. } => PacketRow::default(),
        Item::Result { at, call, content: told, media, status, folded, .. } => {
            let asked = asked(call, before, content)?;
            let (what, shows) = match &asked {
                Some((tool, Some(action))) => {
                    let name = any::called(surface, tool);
                    (format!("{name} {}", line(&action.target())), whole(action))
                }
                Some((tool, None)) => (any::called(surface, tool).to_owned(), None),
                None => (String::new(), None),
            };
            let head = format!("{} {what}, {status}", rows::address(*at));
            match folded {
                true => PacketRow { head: format!("{head}, folded"), ..PacketRow::default() },
                false => PacketRow {
                    head,
                    body: text(told)?,
                    media: media.clone(),
                    shows: shows.filter(|_| status.is_success()),
                    of_lap: Some(at.lap),
                },
            }
        }
    })
}

/// The tool that a call names, and what was asked for.
fn asked(
    id: &str,
    before: &[Item],
    content: Contents<'_>,
) -> Result<Option<(String, Option<Action>)>, StoreError> {
    let calls = before.iter().rev().find_map(|item| match item {
        Item::Assistant { calls, .. } => Some(calls.as_slice()),
        _ => None,
    });
    let call = calls.and_then(|calls| calls.iter().find(|call| call.id == id));
    let Some(Call { name, args, .. }) = call else { return Ok(None) };
    let args = text_of(&content(&args.hash)?);
    Ok(Some((name.clone(), native::parse(name, &args).action.ok())))
}

/// The path that an action reads as a whole.
fn whole(action: &Action) -> Option<String> {
    let Action::Read(read) = action else { return None };
    let is_whole = read.first == 1
        && read.limit >= MOST_LINES
        && !read.hashes
        && read.scope.is_none()
        && read.matcher.is_none();
    let is_entry =
        matches!(cairn_types::scheme_of(&read.path), None | Some("known" | "unknown" | "memory"));
    (is_whole && is_entry).then(|| read.path.clone())
}

/// A target in one line.
fn line(target: &str) -> String {
    let first = target.lines().next().unwrap_or_default();
    let mut cut: String = first.chars().take(120).collect();
    if cut.len() < target.trim_end().len() {
        cut.push('…');
    }
    cut
}
