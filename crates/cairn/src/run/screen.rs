//! The screen of a run: the model's words on stdout, everything else on stderr, questions answered
//! by typed lines. Nothing from models, files or tools reaches the terminal raw.

use super::outcome::Watch;
use crate::{diff, to_wire};
use cairn_protocol::RunResult;
use cairn_runtime::{Driver, Event, Sink};
use cairn_store::Store;
use cairn_text::shown::clean;
use cairn_types::{
    Body, Drive, Fact, Hash, Intent, Outcome, Proposal, ProposalId, ProposalKind, Remember, Reply,
    Settled, Verdict,
};
use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard};

/// Said on start-up as long as it is true.
pub const NOT_SANDBOXED: &str =
    "Commands are not sandboxed yet: an allowed command can do whatever you can.";

const SHORT: usize = 40;

/// The screen.
#[derive(Default)]
pub struct Screen {
    state: Mutex<State>,
    pub(super) watch: Watch,
}

#[derive(Default)]
struct State {
    store: Option<Store>,
    question: Option<Question>,
    refusing: bool,
    rows: HashMap<String, String>,
    mid_line: bool,
    colour: bool,
    /// The last fault that was told.
    fault: String,
}

struct Question {
    proposal: ProposalId,
    kind: ProposalKind,
    shown: String,
    shown_hash: Hash,
}

/// What a typed line means.
pub enum Answer {
    /// Nothing to send.
    Nothing,
    /// Words for the agent.
    Steer(String),
    /// A word on the open question.
    Word {
        /// Which question.
        proposal: ProposalId,
        /// The word.
        verdict: Verdict,
        /// Words with a refusal.
        words: Option<String>,
        /// How far it reaches.
        remember: Remember,
        /// What was shown.
        shown_hash: Hash,
    },
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while drawing must not stop the run; the state is still whole.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn began(&self, driver: &Driver, remark: Option<&str>, may_act: bool) {
        let mut state = self.state();
        state.store = Some(driver.store().clone());
        state.colour = std::io::stderr().is_terminal() && crate::place::env("NO_COLOR").is_none();
        for line in remark.into_iter().chain(may_act.then_some(NOT_SANDBOXED)) {
            state.line(Tone::Dim, line);
        }
    }

    pub(super) fn ended(&self, driver: &Driver, result: &RunResult) {
        let mut state = self.state();
        if !result.why.is_empty() && result.why != state.fault {
            state.line(Tone::Bad, &format!("{}: {}", result.status, result.why));
        }
        if result.status == "approval-needed" {
            state.line(Tone::Bad, "Something needed approval and nobody was there to give it. Run it in a terminal, or with --yolo.");
        }
        let cost = match result.cost {
            Some(cost) => cairn_types::PicoUsd(cost).to_string(),
            None => "cost unknown (no price is configured)".to_owned(),
        };
        let usage = result.usage;
        state.line(
            Tone::Plain,
            &format!(
                "{}: {} turns, {} tokens in, {} out, {cost}, {}.{} s",
                result.status,
                result.turns,
                usage.input,
                usage.output,
                result.duration_ms / 1000,
                result.duration_ms % 1000 / 100,
            ),
        );
        state.line(Tone::Dim, &format!("run {}", driver.run_id()));
        let queued = driver.engine().queued_laps();
        if queued > 0 {
            state.line(
                Tone::Plain,
                &format!(
                    "{queued} queued prompts wait; go on with cairn run --resume {}",
                    driver.run_id()
                ),
            );
        }
    }

    /// What a typed line means now.
    pub(super) fn answer(&self, line: &str) -> Answer {
        let mut state = self.state();
        state.mid_line = false;
        let line = line.trim();
        let Some(question) = &state.question else {
            return if line.is_empty() { Answer::Nothing } else { Answer::Steer(line.to_owned()) };
        };
        let (proposal, shown_hash) = (question.proposal.clone(), question.shown_hash);
        let word = |verdict, words, remember| Answer::Word {
            proposal,
            verdict,
            words,
            remember,
            shown_hash,
        };
        if state.refusing {
            return word(
                Verdict::Refuse,
                (!line.is_empty()).then(|| line.to_owned()),
                Remember::Once,
            );
        }
        match (question.kind, line) {
            (ProposalKind::Indeterminate, "h") => word(Verdict::Happened, None, Remember::Once),
            (ProposalKind::Indeterminate, "r") => word(Verdict::Allow, None, Remember::Once),
            (ProposalKind::Indeterminate, "s") => word(Verdict::Skip, None, Remember::Once),
            (ProposalKind::Indeterminate, _) => state.ask_again(),
            (_, "y" | "yes") => word(Verdict::Allow, None, Remember::Once),
            (_, "n" | "no") => word(Verdict::Refuse, None, Remember::Once),
            (_, "a") => word(Verdict::Allow, None, Remember::Run),
            (_, "d") => {
                let shown = question.shown.clone();
                state.block(&shown, usize::MAX);
                state.ask_again()
            }
            (_, "r") => {
                state.refusing = true;
                state.prompt("what shall it do instead? ");
                Answer::Nothing
            }
            _ => state.ask_again(),
        }
    }
}

impl Sink for Screen {
    fn event(&self, event: &Event) {
        self.watch.look(event);
        let mut state = self.state();
        match event {
            Event::Text { text, .. } => state.says(text),
            Event::Reasoning { .. } | Event::Output { .. } => {}
            Event::Retrying { attempt, wait_ms, why } => state.line(
                Tone::Dim,
                &format!(
                    "{why}; attempt {attempt} in {}.{} s",
                    wait_ms / 1000,
                    wait_ms % 1000 / 100
                ),
            ),
            Event::Notice(text) => state.line(Tone::Dim, text),
            Event::Fact { fact, text, .. } => state.fact(fact, text.as_deref().unwrap_or_default()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tone {
    Plain,
    Dim,
    Good,
    Bad,
}

impl State {
    fn fact(&mut self, fact: &Fact, text: &str) {
        match &fact.body {
            Body::Drive(drive) => self.driven(fact, drive),
            Body::Prompt(_) => self.line(Tone::Plain, &format!("> {text}")),
            Body::Steer(_) => {
                self.line(Tone::Dim, "told the agent; it hears it after what it is doing")
            }
            Body::Abort(_) => self.line(Tone::Dim, "stopping"),
            Body::Reply(reply) => self.replied(reply),
            Body::Fault(fault) => {
                self.line(Tone::Bad, &fault.message);
                self.fault.clone_from(&fault.message);
            }
            Body::Intent(intent) => self.requested(intent),
            Body::Proposal(proposal) => self.ask(proposal, text),
            Body::Decision(decision) => {
                (self.question, self.refusing) = (None, false);
                if decision.verdict != Verdict::Allow {
                    let by = to_wire::by(&decision.by);
                    self.line(
                        Tone::Dim,
                        &format!("{}: {} ({by})", decision.at, to_wire::word(&decision.verdict)),
                    );
                }
            }
            Body::Outcome(outcome) => self.settled(outcome, text),
            Body::Run(_) | Body::Ask(_) | Body::Begin(_) | Body::End(_) | Body::Unknown { .. } => {}
        }
    }

    fn driven(&mut self, fact: &Fact, drive: &Drive) {
        let mode = to_wire::word(&drive.mode);
        self.line(Tone::Dim, &format!("run {}, model {}, {mode}", fact.run, drive.model));
    }

    fn replied(&mut self, _: &Reply) {
        self.end_line();
    }

    fn requested(&mut self, intent: &Intent) {
        let row = format!("{} {} {}", intent.at, intent.tool, intent.target);
        self.rows.insert(intent.at.to_string(), row);
    }

    fn settled(&mut self, outcome: &Outcome, text: &str) {
        let row = self.rows.remove(&outcome.at.to_string()).unwrap_or_default();
        let end = match outcome.exit {
            Some(code) => format!("exit {code}"),
            None => outcome.status.to_string(),
        };
        let well = outcome.status.is_success() && outcome.exit.is_none_or(|code| code == 0);
        self.line(if well { Tone::Good } else { Tone::Bad }, &format!("  {row}  → {end}"));
        if !outcome.changes.is_empty() {
            let store = self.store.clone();
            for change in &outcome.changes {
                if let Some(store) = &store {
                    self.block(&diff::of(store, change), SHORT);
                }
            }
        } else if outcome.exit.is_some()
            || !outcome.status.is_success()
            || outcome.settled != Settled::Performed
        {
            self.block(text, 12);
        }
    }

    fn ask(&mut self, proposal: &Proposal, shown: &str) {
        let label = proposal.items.first().map(|item| item.label.as_str()).unwrap_or_default();
        self.line(Tone::Plain, &format!("? {} {label}", proposal.at));
        self.block(shown, SHORT);
        self.question = Some(Question {
            proposal: proposal.id.clone(),
            kind: proposal.kind,
            shown: shown.to_owned(),
            shown_hash: proposal.shown_hash,
        });
        let _ = self.ask_again();
    }

    fn ask_again(&mut self) -> Answer {
        let prompt = match self.question.as_ref().map(|question| question.kind) {
            Some(ProposalKind::Edit) => {
                "allow? y yes, n no, a all edits in this run, d show the diff, r refuse with words: "
            }
            Some(ProposalKind::Exec) => {
                "allow? y yes, n no, a all commands in this run, d show it in full, r refuse with words: "
            }
            Some(ProposalKind::Indeterminate) => {
                "what became of it? h it happened, r run it, s skip it: "
            }
            None => return Answer::Nothing,
        };
        self.prompt(prompt);
        Answer::Nothing
    }

    fn prompt(&mut self, text: &str) {
        self.end_line();
        let _ = write!(std::io::stderr().lock(), "{text}");
        let _ = std::io::stderr().flush();
        self.mid_line = true;
    }

    /// The model's words, as they come.
    fn says(&mut self, text: &str) {
        let text = clean(text);
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if let Some(last) = text.chars().last() {
            self.mid_line = last != '\n';
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.mid_line) {
            let _ = writeln!(std::io::stdout().lock());
        }
    }

    fn line(&mut self, tone: Tone, text: &str) {
        self.end_line();
        let text = clean(text);
        let code = match tone {
            Tone::Plain => "",
            Tone::Dim => "\x1b[2m",
            Tone::Good => "\x1b[32m",
            Tone::Bad => "\x1b[31m",
        };
        let _ = match self.colour && !code.is_empty() {
            true => writeln!(std::io::stderr().lock(), "{code}{text}\x1b[0m"),
            false => writeln!(std::io::stderr().lock(), "{text}"),
        };
    }

    /// Several lines, indented, the middle left out when there are too many.
    fn block(&mut self, text: &str, most: usize) {
        let text = clean(text);
        let lines: Vec<&str> = text.lines().collect();
        let (head, tail) =
            if lines.len() <= most { (lines.len(), 0) } else { (most / 2, most - most / 2) };
        for line in &lines[..head] {
            self.diff_line(line);
        }
        if tail > 0 {
            self.line(Tone::Dim, &format!("      … {} lines …", lines.len() - head - tail));
        }
        for line in &lines[lines.len() - tail..] {
            self.diff_line(line);
        }
    }

    fn diff_line(&mut self, line: &str) {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            _ => Tone::Dim,
        };
        self.line(tone, &format!("      {line}"));
    }
}
