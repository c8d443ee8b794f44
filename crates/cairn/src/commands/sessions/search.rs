//! `cairn sessions search`: literal words in prompts, replies and names, newest first. Holds one text
//! at a time, however long the history is.

use crate::cli;
use crate::commands::log::time;
use crate::home::{named, place};
use crate::output::out::say;
use crate::run::Usage;
use anyhow::Result;
use cairn_store::{RunRow, SessionRow, Store, StoreError};
use cairn_text::shown::clean;
use cairn_types::{Body, ContentRef, Fact, Writer};
use serde_json::json;
use std::ops::{ControlFlow, Range};
use std::process::ExitCode;

/// How much is shown before and after the words.
const AROUND: usize = 40;

/// Runs the command.
pub fn search(args: &cli::Search) -> Result<ExitCode> {
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        return Err(Usage("there are no words to look for; write them in quotes".into()).into());
    }
    let store = place::store_to_read()?;
    let only =
        args.session.as_deref().map(|text| named::session(&store, Some(text))).transpose()?;
    let mut sessions = store.sessions()?;
    sessions.retain(|session| only.as_ref().is_none_or(|only| session.id == *only));
    let mut runs = Vec::new();
    for session in &sessions {
        runs.extend(store.runs(&session.id)?);
    }
    runs.sort_by_key(|run| std::cmp::Reverse((run.made, run.created_at)));
    let words = Words::new(&words);
    let mut looking = Looking { store: &store, words, args, found: 0, looked: Looked::default() };
    for session in &sessions {
        looking.session(session);
    }
    for run in &runs {
        if looking.run(run)?.is_break() {
            break;
        }
    }
    looking.end();
    Ok(ExitCode::SUCCESS)
}

/// How much was looked at.
#[derive(Default)]
struct Looked {
    runs: u64,
    texts: u64,
    bytes: u64,
    /// Texts that were freed.
    freed: u64,
    /// Texts that are damaged, or missing although nobody freed them.
    unreadable: u64,
}

/// A search that goes on.
struct Looking<'a> {
    store: &'a Store,
    words: Words,
    args: &'a cli::Search,
    found: u64,
    looked: Looked,
}

impl Looking<'_> {
    fn is_full(&self) -> bool {
        self.found >= self.args.limit
    }

    fn session(&mut self, session: &SessionRow) {
        let Some(name) = session.name.as_deref().filter(|_| !self.is_full()) else { return };
        if let Some(at) = self.words.find(name) {
            self.tell(&session.id.to_string(), session.last_at, "name", name, at);
        }
    }

    fn run(&mut self, run: &RunRow) -> Result<ControlFlow<()>> {
        if self.is_full() {
            return Ok(ControlFlow::Break(()));
        }
        self.looked.runs += 1;
        if let Some((name, at)) = run.name.as_deref().and_then(|n| Some((n, self.words.find(n)?))) {
            self.tell(&format!("log://{}", run.id), run.created_at, "name", name, at);
        }
        let store = self.store;
        let mut failed = None;
        store.own_facts(&run.id, &["prompt", "steer", "reply"], &mut |fact| {
            if self.is_full() {
                return ControlFlow::Break(());
            }
            failed = self.fact(&fact).err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failed.map_or(Ok(ControlFlow::Continue(())), Err)
    }

    fn fact(&mut self, fact: &Fact) -> Result<()> {
        let run = &fact.run;
        let address = match &fact.body {
            Body::Prompt(prompt) => format!("log://{run}/{}", prompt.lap),
            Body::Steer(steer) if steer.writer != Writer::System => format!("log://{run}"),
            Body::Reply(reply) => format!("log://{run}/{}/{}#reply", reply.lap, reply.turn),
            _ => return Ok(()),
        };
        let Some(text) = fact.body.main_text() else { return Ok(()) };
        if let Some(text) = self.text(&text)?
            && let Some(at) = self.words.find(&text)
        {
            self.tell(&address, fact.at, fact.body.kind(), &text, at);
        }
        Ok(())
    }

    /// A text, unless it was freed.
    fn text(&mut self, text: &ContentRef) -> Result<Option<String>> {
        self.looked.texts += 1;
        match self.store.content(&text.hash) {
            Ok(bytes) => {
                self.looked.bytes += bytes.len() as u64;
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
            Err(StoreError::ContentFreed { .. }) => {
                self.looked.freed += 1;
                Ok(None)
            }
            Err(StoreError::ContentMissing { .. } | StoreError::ContentCorrupt { .. }) => {
                self.looked.unreadable += 1;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn tell(&mut self, address: &str, when: u64, kind: &str, text: &str, at: Range<usize>) {
        self.found += 1;
        let snippet = snippet(text, at);
        if self.args.json {
            say!("{}", json!({"address": address, "kind": kind, "at": when, "snippet": snippet}));
        } else {
            say!("{address}  {}  {kind}\n    {}", time(when), clean(&snippet));
        }
    }

    fn end(&self) {
        let Looked { runs, texts, bytes, freed, unreadable } = self.looked;
        let full = self.is_full();
        if self.args.json {
            say!(
                "{}",
                json!({"found": self.found, "complete": !full, "runs": runs, "texts": texts, "bytes": bytes, "missing": freed + unreadable, "freed": freed, "unreadable": unreadable})
            );
            return;
        }
        let freed = match freed {
            0 => String::new(),
            _ => format!("; {freed} texts were freed by `cairn gc` and not looked at"),
        };
        let unreadable = match unreadable {
            0 => String::new(),
            _ => format!("; {unreadable} texts are damaged or missing: cairn doctor --deep"),
        };
        let more = if full { "; there may be more, see --limit" } else { "" };
        let places = if self.found == 1 { "place" } else { "places" };
        say!(
            "{} {places}; looked at {texts} texts, {bytes} bytes, of {runs} runs{freed}{unreadable}{more}",
            self.found
        );
    }
}

/// Words to look for, large and small letters alike.
struct Words(Vec<char>);

impl Words {
    fn new(words: &str) -> Words {
        Words(words.chars().map(folded).collect())
    }

    /// Where they first stand in a text.
    fn find(&self, text: &str) -> Option<Range<usize>> {
        text.char_indices().find_map(|(start, _)| {
            let mut rest = text[start..].char_indices();
            let fits = self.0.iter().all(|c| rest.next().is_some_and(|(_, d)| folded(d) == *c));
            fits.then(|| start..start + rest.offset())
        })
    }
}

/// A letter as a small one, where that is one letter.
fn folded(c: char) -> char {
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// The words and a little around them, on one line.
fn snippet(text: &str, at: Range<usize>) -> String {
    let before = text[..at.start].char_indices().rev().nth(AROUND - 1);
    let after = text[at.end..].char_indices().nth(AROUND);
    let from = before.map_or(0, |(index, _)| index);
    let to = after.map_or(text.len(), |(index, _)| at.end + index);
    let line = text[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
    let (head, tail) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
    format!("{head}{line}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_as_they_are_written_large_and_small_alike() {
        let check = |words: &str, text: &str, found: Option<&str>| {
            let at = Words::new(words).find(text);
            assert_eq!(at.map(|at| &text[at]), found, "{words:?} in {text:?}");
        };
        check("off by ONE", "an Off by one error", Some("Off by one"));
        check("ÄRGER", "viel ärger", Some("ärger"));
        check("a.b", "aXb", None);
        check("(", "f(x)", Some("("));
        check("ab", "aab", Some("ab"));
        check("ab", "a", None);
        check("İ", "xİy", Some("İ"));
    }

    #[test]
    fn a_snippet_is_one_line_around_the_words() {
        let text = format!("{} needle\n{}", "é".repeat(50), "x".repeat(50));
        let at = Words::new("NEEDLE").find(&text).unwrap();
        assert_eq!(snippet(&text, at), format!("…{} needle {}…", "é".repeat(39), "x".repeat(39)));
        assert_eq!(snippet("just this", 0..4), "just this");
    }
}
