//! `cairn parse` and `cairn surface`: what a reply would do, and what a model is told. Neither does anything.

use crate::cli;
use crate::model::manner;
use crate::output::out::say;
use crate::run::Usage;
use anyhow::{Context, Result};
use cairn_surface::any::{self, Telling, Turn};
use cairn_surface::native::message::Message;
use cairn_surface::native::{self, Tool};
use cairn_surface::{Places, Position, Reading, Repair, Trouble, Written, shown};
use cairn_types::Surface;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::string::FromUtf8Error;

/// So many ops of a reply are read.
const MOST_OPS: usize = 10_000;

/// Reads a reply on standard input and shows what it would do.
pub fn parse(args: &cli::Parse) -> Result<ExitCode> {
    let surface = named(&args.surface)?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("the reply cannot be read")?;
    let tools = args.tools.as_deref().map(tools).transpose()?;
    let said = match (String::from_utf8(bytes), surface) {
        (Err(wrong), _) => Said::not_utf8(&wrong),
        (Ok(text), Surface::Native) => Said::from(native::message::read(&text, tools.as_deref())),
        (Ok(text), _) => {
            let all: Vec<&'static Tool> = native::tools().iter().collect();
            let (repeated, is_decision) = any::nonce_of(&text);
            let nonce = args.nonce.as_deref().unwrap_or(&repeated);
            let (is_first, requires_tool) = (!is_decision, false);
            Said::from(
                Turn { surface, tools: &all, nonce, is_first, requires_tool }.read(&text, MOST_OPS),
            )
        }
    };
    match args.json {
        true => say!("{}", said.json()),
        false => said.tell(),
    }
    Ok(ExitCode::SUCCESS)
}

/// A list of tools from a file.
fn tools(file: &Path) -> Result<String, Usage> {
    let read = std::fs::read_to_string(file);
    let text = read.map_err(|why| Usage(format!("{} cannot be read: {why}", file.display())))?;
    match native::message::tools_problem(&text) {
        Some(why) => Err(Usage(format!("{}: {why}", file.display()))),
        None => Ok(text),
    }
}

/// What a reply says, as it is printed.
#[derive(Default)]
struct Said {
    /// The ops, and where each begins.
    ops: Vec<(Value, Position)>,
    repairs: Vec<Repair>,
    problems: Vec<Trouble>,
    text: String,
    terminal: Option<u16>,
}

impl From<Message> for Said {
    fn from(said: Message) -> Said {
        let Message { calls, repairs, problems, text, terminal, .. } = said;
        let ops = calls.into_iter().map(|call| (call.shown, call.at)).collect();
        Said { ops, repairs, problems, text, terminal }
    }
}

impl From<Reading> for Said {
    fn from(said: Reading) -> Said {
        let ops = said.ops.iter().map(|written| (op(written), written.at)).collect();
        let Reading { repairs, problems, text, terminal, .. } = said;
        Said { ops, repairs, problems, text, terminal }
    }
}

fn named(name: &str) -> Result<Surface, Usage> {
    name.parse().map_err(|why: cairn_types::NoSuchSurface| Usage(why.to_string()))
}

impl Said {
    /// Of bytes that are no text nothing is read: what was lost may stand in any op.
    fn not_utf8(wrong: &FromUtf8Error) -> Said {
        let text = String::from_utf8_lossy(wrong.as_bytes());
        let (places, byte) = (Places::new(&text), wrong.utf8_error().valid_up_to());
        let bad = wrong.as_bytes().get(byte).copied().unwrap_or_default();
        let problem = Trouble {
            kind: "not_utf8",
            at: places.at(byte),
            note: format!("the byte {bad:#04x} is no UTF-8; nothing of the reply is read"),
            snippet: places.snippet(byte),
        };
        Said { problems: vec![problem], ..Said::default() }
    }

    fn json(&self) -> Value {
        let repair = |one: &Repair| json!({"kind": one.kind, "line": one.at.line, "column": one.at.column, "note": one.note});
        let problem = |one: &Trouble| {
            let (line, column) = (one.at.line, one.at.column);
            json!({"kind": one.kind, "line": line, "column": column, "note": one.note, "snippet": one.snippet})
        };
        json!({
            "ops": self.ops.iter().map(|(op, _)| op).collect::<Vec<_>>(),
            "repairs": self.repairs.iter().map(repair).collect::<Vec<_>>(),
            "problems": self.problems.iter().map(problem).collect::<Vec<_>>(),
            "text": self.text,
            "terminal": self.terminal,
        })
    }

    fn tell(&self) {
        for (op, at) in &self.ops {
            let word = |key: &str| op[key].as_str().map(line).unwrap_or_default();
            let (what, target, body) = (word("op"), word("target"), word("body"));
            let said: Vec<String> =
                [what, target, body].into_iter().filter(|w| !w.is_empty()).collect();
            say!("{}:{}\t{}", at.line, at.column, said.join(" "));
        }
        for Repair { kind, at, note } in &self.repairs {
            say!("{}:{}\trepaired {kind}: {}", at.line, at.column, line(note));
        }
        for Trouble { kind, at, note, .. } in &self.problems {
            say!("{}:{}\tproblem {kind}: {}", at.line, at.column, line(note));
        }
        if let Some(status) = self.terminal {
            say!("ends with {status}");
        }
    }
}

/// An op; one that nothing here can do has the status that it would get.
fn op(written: &Written) -> Value {
    let mut said = match &written.parsed.action {
        Ok(action) => shown(action),
        Err(misread) => {
            json!({"op": written.tool, "attrs": written.args, "status": misread.status.0})
        }
    };
    if let (true, Value::Object(fields)) = (written.is_unclosed, &mut said) {
        fields.insert("unclosed".to_owned(), true.into());
    }
    let is_skipped = written.follows_misread && !written.parsed.effect.is_read_only();
    if let (true, Value::Object(fields)) = (is_skipped, &mut said) {
        fields.insert("skipped".to_owned(), true.into());
    }
    said
}

fn line(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    cairn_text::shown::clean(first)
}

/// Shows what a model is told of a surface.
pub fn surface(args: &cli::Surfaces) -> Result<ExitCode> {
    let cli::SurfacesCommand::Show(args) = &args.command;
    let surface = named(&args.name)?;
    let only: Vec<String> = match args.small {
        true => manner::small(surface).map(str::to_owned).to_vec(),
        false => Vec::new(),
    };
    let tools = native::given(true, &native::ON_REQUEST.map(str::to_owned), &only);
    let turn =
        Turn { surface, tools: &tools, nonce: "NONCE", is_first: true, requires_tool: false };
    let told = any::told(surface, &tools, Telling::of_small(args.small));
    let schemas = any::told(Surface::Native, &tools, Telling::of_small(args.small));
    let schemas: Value = serde_json::from_str(&schemas).context("the tools are no JSON")?;
    let last = turn.requirements();
    let tokens = (told.len() + last.len()).div_ceil(4);
    if args.json {
        // Tool calls are taught by the schemas alone.
        let told = if surface.is_text() { told.as_str() } else { "" };
        say!(
            "{}",
            json!({"surface": surface, "instructions": told, "requirements": last, "tools": schemas, "tokens": tokens})
        );
        return Ok(ExitCode::SUCCESS);
    }
    match surface.is_text() {
        true => say!("{}", told.trim_end()),
        false => say!("{schemas:#}"),
    }
    if !last.is_empty() {
        say!("\nLast in each request:\n\n{}", last.trim_end());
    }
    say!("\nAbout {tokens} tokens.");
    Ok(ExitCode::SUCCESS)
}
