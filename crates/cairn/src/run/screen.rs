//! The screen of a run: the model's words on stdout, everything else on stderr, questions answered
//! by typed lines. Nothing from models, files or tools reaches the terminal raw.

use super::bell::{Bell, Call};
use super::excerpt::{Excerpt, counted};
use super::input::person;
use super::interaction::{self, Typed};
use super::outcome::Watch;
use super::pen::{Block, Pen, Tone};
use super::question::{Answer, CHOOSE, CHOOSE_ANSWERS, Choosing, Next, Question};
use super::remembering::{self, Kept};
use super::schema;
use crate::commands::{diff, log};
use crate::output::{money, to_wire};
use cairn_engine::Word;
use cairn_protocol::RunResult;
use cairn_runtime::{Driver, Event, Sink};
use cairn_store::Store;
use cairn_types::{
    Approval, Body, By, Coord, Decision, Drive, Fact, Hooked, Intent, OpName, Outcome, PicoUsd,
    Proposal, ProposalKind, Remember, Settled, Surface, Verdict, Writer,
};
use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How many lines of a change that nobody is asked about are shown.
const SHORT: usize = 40;
/// How many lines of a question are shown before somebody asks for all of it.
const QUESTION: usize = 20;
/// How many lines of an output are shown.
const OUTPUT: usize = 12;
/// How many characters of a hook's words are shown.
const SAID: usize = 300;
/// For how long a command runs before it is said that it can be sent to the background.
const LONG: Duration = Duration::from_secs(5);
/// How many lines of a task are shown.
const TASK: usize = 8;

/// The screen.
#[derive(Default)]
pub struct Screen {
    state: Mutex<State>,
    pub(super) watch: Watch,
}

#[derive(Default)]
struct State {
    store: Option<Store>,
    asking: AskedOnScreen,
    ops: ShownOps,
    pen: Pen,
    bell: Bell,
    /// Whether somebody can type here.
    has_keys: bool,
    /// Whether words are shown as they come; into a pipe only whole replies go.
    streams: bool,
    /// Whether the answer must follow a schema: whoever reads it from a pipe wants it bare.
    has_schema: bool,
    /// The command that runs, since when, and when it last showed a sign of life.
    running: Option<(String, Instant)>,
    /// The command that runs over an overlay and since when, until it was said what can be done with it.
    hinting: Option<(Coord, Instant)>,
    /// The turn that the model was last asked for.
    turn: (u32, u32),
    /// How the model writes ops.
    surface: Option<Surface>,
    /// The last fault that was told.
    fault: String,
}

/// The question that is put to the person, and what of the answer was typed so far.
#[derive(Default)]
struct AskedOnScreen {
    question: Option<Question>,
    /// Why it is refused is being asked.
    is_refusing: bool,
    /// What a yes shall be remembered for is being asked.
    is_remembering: bool,
    /// Its items are being chosen among.
    choosing: Option<Choosing>,
}

impl AskedOnScreen {
    /// Ends it, and returns the question.
    fn close(&mut self) -> Option<Question> {
        std::mem::take(self).question
    }

    /// The item that is being chosen or not, in one line, and its lines.
    fn chosen_item(&self) -> Option<(String, String)> {
        self.question.as_ref()?.item(self.choosing.as_ref()?)
    }
}

/// What is known of the ops that were requested and have no outcome yet.
#[derive(Default)]
struct ShownOps {
    /// Each in one line.
    rows: HashMap<Coord, String>,
    /// Those whose result is shown whole: lists, and what a person answered.
    shown_whole: HashSet<Coord>,
    /// Those that say something to whoever listens.
    messages: HashSet<Coord>,
    /// The one whose diff a person has just seen and decided on.
    approved: Option<Coord>,
}

impl ShownOps {
    fn request(&mut self, intent: &Intent) {
        if intent.is_for_everyone() {
            self.messages.insert(intent.at);
        }
        if matches!(intent.op, Some(OpName::Todo | OpName::Consult)) {
            self.shown_whole.insert(intent.at);
        }
        self.rows.insert(intent.at, format!("{} {}", intent.at, log::asked(intent)));
    }
}

impl Screen {
    /// A screen with a person in front of it, whom questions call like this. By default nobody is there.
    pub(super) fn new(call: Call) -> Screen {
        let screen = Screen::default();
        screen.state().bell = Bell::new(call);
        screen.state().has_keys = true;
        screen
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while drawing must not stop the run; the state is still whole.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn began(&self, driver: &Driver, remarks: &[String]) {
        let mut state = self.state();
        state.store = Some(driver.store().clone());
        state.pen = Pen::new(crate::home::place::wants_colour());
        state.streams = std::io::stdout().is_terminal();
        state.surface = Some(driver.engine().surface());
        state.remember_open_ops(driver);
        for line in remarks {
            state.pen.line(Tone::Dim, line);
        }
    }

    pub(super) fn ended(&self, driver: &Driver, result: &RunResult) {
        let mut state = self.state();
        if !result.why.is_empty() && result.why != state.fault {
            state.pen.line(Tone::Bad, &format!("{}: {}", result.status, result.why));
        }
        if result.status == "approval-needed" {
            state.pen.line(Tone::Bad, "Something needed approval and nobody was there to give it. Run it in a terminal to be asked; --yolo accepts all but what only a person may allow.");
        }
        let mut cost = money::of_turns(result.cost.map(PicoUsd), result.unpriced_turns);
        if let (Some(of_loop), true) = (result.loop_cost, result.loop_cost != result.cost) {
            cost = format!("{cost} (the last loop {})", money::shown(PicoUsd(of_loop)));
        }
        let usage = result.usage;
        state.pen.line(
            Tone::Plain,
            &format!(
                "{}: {} {}, {} tokens in, {} out, {cost}, {}.{} s",
                result.status,
                result.turns,
                if result.turns == 1 { "turn" } else { "turns" },
                usage.input,
                usage.output,
                result.duration_ms / 1000,
                result.duration_ms % 1000 / 100,
            ),
        );
        state.pen.line(Tone::Dim, &format!("run {}", driver.run_id()));
        let queued = driver.engine().queued_laps();
        if queued > 0 {
            state.pen.line(
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
        state.pen.answered();
        state.bell.typed();
        let line = line.trim();
        let Some(question) = &state.asking.question else {
            return if line.is_empty() { Answer::Nothing } else { Answer::Steer(line.to_owned()) };
        };
        let mut word = Word::new(question.proposal.clone(), Verdict::Allow, person());
        word.shown_hash = Some(question.shown_hash);
        if let (Some(typed), false) = (question.typed(line), state.asking.is_refusing) {
            return state.consulted(typed, word);
        }
        if state.asking.is_refusing && line.is_empty() {
            state.asking.is_refusing = false;
            return state.ask_again();
        }
        if state.asking.is_refusing {
            word.verdict = Verdict::Refuse;
            word.words = Some(line.to_owned());
            return Answer::Word(Box::new(word));
        }
        if state.asking.is_remembering {
            let kept = remembering::read(line, &question.offers, cairn_runtime::now_ms());
            state.asking.is_remembering = false;
            return match kept {
                Some(Kept { remember, rule, until }) => {
                    Answer::Word(Box::new(Word { remember, rule, until, ..word }))
                }
                None => state.not_an_answer(remembering::HOW),
            };
        }
        if state.asking.choosing.is_some() {
            return state.chose(line, word);
        }
        if let Some(answers) = question.cannot_be_kept(line) {
            return state.not_an_answer(answers);
        }
        match (question.kind, line) {
            (ProposalKind::Indeterminate, "h") => word.verdict = Verdict::Happened,
            (ProposalKind::Indeterminate, "s") => word.verdict = Verdict::Skip,
            (ProposalKind::Indeterminate, "r") | (_, "y" | "Y" | "yes") => {}
            (ProposalKind::Indeterminate, _) => return state.not_an_answer("h, r or s"),
            (_, "n" | "N" | "no") => word.verdict = Verdict::Refuse,
            (ProposalKind::Network, "s") => word.remember = Remember::Session,
            (_, "a") => word.remember = Remember::Run,
            _ => return state.asked_more(line),
        }
        Answer::Word(Box::new(word))
    }

    /// Says why nothing was decided, and asks again.
    pub(super) fn not_decided(&self, why: &str) {
        let mut state = self.state();
        state.pen.line(Tone::Dim, &format!("{why}; nothing is decided"));
        let _ = state.ask_again();
    }

    /// Says once of a command that takes long how it is sent to the background.
    pub(super) fn hint(&self) {
        let mut state = self.state();
        let Some((at, _)) = state.hinting.take_if(|(_, since)| since.elapsed() >= LONG) else {
            return;
        };
        let said = format!("  {at} is still running; Ctrl-Z sends it to the background");
        state.pen.line(Tone::Dim, &said);
    }

    /// Somebody let the program go on that they had suspended: an open question is put again.
    pub(super) fn resumed(&self) {
        let _ = self.state().ask_again();
    }

    /// Ends a line that is still open, before something else is said.
    pub(super) fn end_line(&self) {
        self.state().pen.end_line();
    }
}

impl Sink for Screen {
    fn event(&self, event: &Event) {
        self.watch.look(event);
        let mut state = self.state();
        match event {
            Event::Reasoning { text, .. } => state.pen.thinks(text),
            Event::Text { text, .. } => {
                state.thought();
                if state.streams {
                    state.pen.says(text);
                }
            }
            Event::Output { text, .. } => state.printed(text),
            Event::Progress { done, total, .. } => {
                state.pen.moving(&format!("  {done} of {total} changes made"));
            }
            // Read on request: it would come between the lines of what is waited for.
            Event::Stream { .. } => {}
            Event::Running(at) => {
                state.hinting = Some((*at, Instant::now()));
                state.runs(*at);
            }
            Event::Retrying { attempt, wait_ms, why } => {
                state.pen.thought();
                let void = if state.pen.end_line() { "; the words above are void" } else { "" };
                let (s, tenth) = (wait_ms / 1000, wait_ms % 1000 / 100);
                let said = format!("{why}{void}; attempt {attempt} in {s}.{tenth} s");
                state.pen.line(Tone::Dim, &said);
            }
            Event::StillOpen { proposal, shown } => state.ask(proposal, shown),
            Event::Notice(text) => {
                state.pen.line(Tone::Dim, text);
                let _ = state.ask_again();
            }
            Event::Fact { fact, text, .. } => state.fact(fact, text.as_deref().unwrap_or_default()),
        }
    }
}

impl State {
    fn fact(&mut self, fact: &Fact, text: &str) {
        if matches!(fact.body, Body::Proposal(_) | Body::Decision(_) | Body::Outcome(_)) {
            self.hinting = None;
        }
        match &fact.body {
            Body::Drive(drive) => self.driven(fact, drive),
            Body::Prompt(prompt) => {
                self.prompted(text);
                for shown in &prompt.media {
                    self.pen.line(Tone::Dim, &format!("  with {}, {}", shown.name, shown.mime));
                }
            }
            Body::Steer(steer) if steer.writer == Writer::System || steer.from.is_some() => {
                self.pen.line(Tone::Dim, &format!("told the agent: {text}"));
            }
            Body::Steer(_) => {
                self.pen.line(Tone::Dim, "told the agent; it hears it after what it is doing")
            }
            Body::Delta(delta) => {
                let paths: Vec<&str> = delta.noticed.iter().map(|one| one.path.as_str()).collect();
                self.pen.line(
                    Tone::Dim,
                    &format!("told the agent what others changed: {}", paths.join(", ")),
                );
            }
            Body::Abort(_) => self.pen.line(Tone::Dim, "stopping"),
            Body::Ask(ask) => self.turn = (ask.lap, ask.turn),
            Body::Reply(reply) if reply.problems.is_some() => self.unread(text),
            Body::Reply(_) => self.replied(text),
            Body::Fault(fault) => {
                self.pen.thought();
                self.pen.line(Tone::Bad, &fault.message);
                self.fault.clone_from(&fault.message);
            }
            Body::Intent(intent) => self.requested(intent),
            Body::Proposal(proposal) => self.ask(proposal, text),
            Body::Decision(decision) => {
                let question = self.asking.close().filter(|_| !decision.is_choice());
                self.ops.approved = question.map(|question| question.at);
                if let Some(said) = spoken(decision) {
                    self.pen.line(Tone::Dim, &format!("{}: {said}", decision.at));
                }
                if let Some(said) = log::remembered(decision) {
                    self.pen.line(Tone::Dim, &said);
                }
                if let Some(mode) = decision.mode {
                    self.pen.line(Tone::Dim, &format!("it goes on in {}", to_wire::word(&mode)));
                }
            }
            Body::Outcome(outcome) => self.settled(outcome, text),
            Body::Begin(begin) => self.runs(begin.at),
            Body::Reach(reach) => self.runs(reach.at),
            Body::Stream(stream) => self.pen.line(Tone::Dim, &log::stream(stream)),
            Body::Hook(hooked) => self.hooked(hooked, text),
            // What the screen shows elsewhere, or not at all.
            _ => {}
        }
    }

    fn driven(&mut self, fact: &Fact, drive: &Drive) {
        self.has_schema = drive.schema.is_some();
        let mode = to_wire::word(&drive.mode);
        let asks = match (drive.mode.may_act(), drive.approval) {
            (false, _) | (_, Approval::Ask) => "",
            (true, Approval::Yolo) => ", asks nothing",
            (true, Approval::Nobody) => ", nobody to ask",
        };
        let written = match self.surface.filter(|surface| surface.is_text()) {
            Some(surface) => format!(", written in {surface}"),
            None => String::new(),
        };
        let (run, model) = (&fact.run, &drive.model);
        self.pen.line(Tone::Dim, &format!("run {run}, model {model}, {mode}{asks}{written}"));
    }

    /// What a person asked for. They know it: of what was piped in, the beginning is enough.
    fn prompted(&mut self, text: &str) {
        let (head, hidden, tail) = Excerpt::cut(2 * TASK).with(text).lines();
        let rest = hidden + tail.len() as u64;
        let (shown, rest) = match hidden {
            0 => ([head, tail].concat(), 0),
            _ => (head, rest),
        };
        self.pen.line(Tone::Plain, &format!("> {}", shown.join("\n")));
        if rest > 0 {
            self.pen.line(Tone::Dim, &format!("  … and {} more", counted(rest)));
        }
    }

    /// The model has thought: what was drawn of it becomes a count.
    fn thought(&mut self) {
        if let Some(lines) = self.pen.thought() {
            let (lines, (lap, turn)) = (counted(lines), self.turn);
            let said = format!("  thought {lines}; cairn show {lap}/{turn}#reasoning");
            self.pen.line(Tone::Dim, &said);
        }
    }

    fn replied(&mut self, text: &str) {
        self.thought();
        if !self.streams && !text.is_empty() {
            self.answers(text);
        }
        self.pen.end_line();
    }

    /// What is left of a reply that could not be read as a whole is no answer.
    fn unread(&mut self, text: &str) {
        self.thought();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            self.pen.line(Tone::Dim, &format!("  said: {line}"));
        }
    }

    /// Words that are, or may be, the answer.
    fn answers(&mut self, text: &str) {
        self.pen.says(if self.has_schema { schema::unfenced(text) } else { text });
        self.pen.end_line();
    }

    /// Rows whose ops an earlier driver left open are named, too.
    fn remember_open_ops(&mut self, driver: &Driver) {
        let open = driver.engine().lap().map(|lap| lap.ops.as_slice()).unwrap_or_default();
        for op in open.iter().filter(|op| op.status().is_none()) {
            self.requested(&op.intent);
        }
    }

    /// A command prints: its last line is shown, at most a few times a second.
    fn printed(&mut self, text: &str) {
        let Some((row, drawn)) = &mut self.running else { return };
        if drawn.elapsed() < Duration::from_millis(300) {
            return;
        }
        *drawn = Instant::now();
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let moving = format!("  {row}: {last}");
        self.pen.moving(&moving);
    }

    fn runs(&mut self, at: Coord) {
        if let Some(row) = self.ops.rows.get(&at) {
            self.running = Some((row.clone(), Instant::now()));
            self.pen.moving(&format!("  {row}"));
        }
    }

    /// A hook that says nothing is not shown; one with a problem was told of already.
    fn hooked(&mut self, hooked: &Hooked, text: &str) {
        if !to_wire::said(&hooked.answer).is_empty() {
            let said: Vec<&str> = text.split_whitespace().collect();
            let said: String = said.join(" ").chars().take(SAID).collect();
            self.pen.line(Tone::Dim, &format!("{}: {said}", log::hook(hooked)));
        }
    }

    fn requested(&mut self, intent: &Intent) {
        self.ops.request(intent);
    }

    fn settled(&mut self, outcome: &Outcome, text: &str) {
        let row = self.ops.rows.remove(&outcome.at).unwrap_or_default();
        self.running = None;
        if self.asking.question.as_ref().is_some_and(|question| question.at == outcome.at) {
            self.asking.close();
        }
        let end = match outcome.exit.filter(|_| outcome.status.is_success()) {
            Some(code) => format!("exit {code}"),
            None => outcome.status.to_string(),
        };
        let is_command = outcome.output.is_some();
        let well = outcome.status.is_success() && (!is_command || outcome.exit == Some(0));
        self.pen.line(if well { Tone::Good } else { Tone::Bad }, &format!("  {row}  → {end}"));
        if outcome.is_sent() {
            let goes_on =
                "it goes on in the background; what it changes is asked about when it is over";
            self.pen.line(Tone::Dim, &format!("      {goes_on}"));
        }
        let seen = self.ops.approved.take() == Some(outcome.at);
        let is_word = self.ops.messages.remove(&outcome.at);
        if is_word && outcome.is_last_word() {
            self.answers(text);
            return;
        }
        if is_word || self.ops.shown_whole.remove(&outcome.at) {
            self.pen.excerpt(Block::Text, Excerpt::of(text, QUESTION));
            return;
        }
        if !is_command && !outcome.changes.is_empty() && seen {
            // The person has just seen it.
        } else if !is_command && !outcome.changes.is_empty() {
            let store = self.store.clone();
            for change in &outcome.changes {
                if let Some(store) = &store {
                    let excerpt = Excerpt::cut(SHORT).with(&diff::of(store, change));
                    self.pen.excerpt(Block::Diff, excerpt);
                }
            }
        } else if is_command
            || !outcome.status.is_success()
            || outcome.settled != Settled::Performed
        {
            let excerpt = self.printed_all(outcome, text);
            self.pen.excerpt(Block::Text, excerpt);
        }
    }

    /// An op's result. Of a long output the model is told the two ends; what is counted is all of it.
    fn printed_all(&self, outcome: &Outcome, text: &str) -> Excerpt {
        let told = Excerpt::cut(OUTPUT).with(text);
        let output = outcome.output.as_ref().filter(|output| output.bytes > text.len() as u64);
        let (Some(output), Some(store)) = (output, &self.store) else { return told };
        let mut all = Excerpt::cut(OUTPUT);
        all.is_part = output.bytes != output.kept.bytes;
        match store.each_of_content(&output.kept.hash, &mut |piece| all.take(piece)) {
            Ok(()) => {
                // How it ended stands on a line of its own.
                all.end_line();
                let lines: Vec<&str> = text.lines().collect();
                let ended = lines.iter().rposition(|line| line.starts_with("exit="));
                let last = ended.unwrap_or(lines.len().saturating_sub(1));
                all.take(lines[last..].join("\n").as_bytes());
                all
            }
            Err(_) => told,
        }
    }

    fn ask(&mut self, proposal: &Proposal, shown: &str) {
        let label = proposal.line();
        self.pen.line(Tone::Plain, &format!("? {} {label}", proposal.at));
        let question = Question::new(proposal, shown);
        self.pen.excerpt(question.block(), Excerpt::of(shown, question.lines()));
        self.bell.ring(label);
        (self.asking.question, self.asking.choosing) = (Some(question), None);
        if !self.has_keys {
            let how = interaction::how(proposal);
            return self.pen.line(Tone::Plain, &format!("decide from another terminal: {how}"));
        }
        let _ = self.ask_again();
    }

    /// A line typed at what the agent puts to a person.
    fn consulted(&mut self, typed: Typed, word: Word) -> Answer {
        match typed {
            Typed::Word(verdict, words, mode) => {
                Answer::Word(Box::new(Word { verdict, words, mode, ..word }))
            }
            Typed::WantsWords => {
                self.asking.is_refusing = true;
                self.pen.prompt("what shall be different? ");
                Answer::Nothing
            }
            Typed::Again => self.show_whole(),
            Typed::Unclear(answers) => self.not_an_answer(answers),
        }
    }

    fn show_whole(&mut self) -> Answer {
        if let Some(question) = &self.asking.question {
            let (kind, shown) = (question.block(), question.shown.clone());
            self.pen.block(kind, &shown);
        }
        self.ask_again()
    }

    /// A key that decides nothing yet.
    fn asked_more(&mut self, key: &str) -> Answer {
        let Some(question) = &self.asking.question else { return Answer::Nothing };
        match key {
            "m" => {
                let menu = remembering::menu(&question.offers);
                self.asking.is_remembering = true;
                self.pen.line(Tone::Plain, &menu);
                self.pen.prompt("which? ");
                Answer::Nothing
            }
            "d" => self.show_whole(),
            "r" => {
                self.asking.is_refusing = true;
                self.pen.prompt("what shall it do instead? ");
                Answer::Nothing
            }
            "c" if question.has_choice() => {
                self.asking.choosing = Some(Choosing::default());
                self.ask_again()
            }
            "e" if question.has_texts() => {
                Answer::Edit(question.proposal.clone(), question.shown_hash)
            }
            _ => {
                let answers = question.answers();
                self.not_an_answer(answers)
            }
        }
    }

    /// An answer while the question's items are chosen among. Who takes none of them refuses.
    fn chose(&mut self, line: &str, mut word: Word) -> Answer {
        let (Some(question), Some(choosing)) = (&self.asking.question, &mut self.asking.choosing)
        else {
            return Answer::Nothing;
        };
        match choosing.hear(line, question) {
            Next::Ask => return self.ask_again(),
            Next::NoAnswer => return self.not_an_answer(CHOOSE_ANSWERS),
            Next::Back => {
                self.asking.choosing = None;
                return self.ask_again();
            }
            Next::Chosen(items) if items.is_empty() => word.verdict = Verdict::Refuse,
            Next::Chosen(items) => word.items = Some(items),
        }
        self.asking.choosing = None;
        Answer::Word(Box::new(word))
    }

    fn not_an_answer(&mut self, answers: &str) -> Answer {
        self.pen.line(Tone::Dim, &format!("answer with {answers}"));
        self.ask_again()
    }

    fn ask_again(&mut self) -> Answer {
        let Some(question) = &self.asking.question else { return Answer::Nothing };
        let chosen = self.asking.chosen_item();
        let prompt = match chosen {
            Some((label, lines)) => {
                let kind = question.block();
                self.pen.line(Tone::Plain, &label);
                self.pen.block(kind, &lines);
                CHOOSE.to_owned()
            }
            None => question.prompt(),
        };
        self.pen.prompt(&prompt);
        Answer::Nothing
    }
}

/// A decision that is not simply yes, as people say it.
fn spoken(decision: &Decision) -> Option<String> {
    Some(match (decision.verdict, &decision.by) {
        (Verdict::Allow, _) => return log::choice(decision),
        (Verdict::Refuse, By::Person(_)) => "refused".to_owned(),
        (Verdict::Refuse, By::Nobody) => "refused: nobody is there to allow it".to_owned(),
        (Verdict::Refuse, By::Gate(gate)) => format!("refused by {gate}"),
        (Verdict::Refuse, by) => format!("refused by {by}"),
        (Verdict::Cancel, By::Timeout) => "nobody answered in time".to_owned(),
        (Verdict::Cancel, _) => "withdrawn".to_owned(),
        (Verdict::Happened, _) => "it happened".to_owned(),
        (Verdict::Skip, _) => "skipped".to_owned(),
        (Verdict::Answer, by) => format!("answered by {by}"),
    })
}
