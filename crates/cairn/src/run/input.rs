//! What people and programs say while a run works: lines, answers, Ctrl-Z.

use super::Usage;
use super::editor;
use super::json::Json;
use super::question::Answer;
use super::screen::Screen;
use crate::signals;
use anyhow::{Context, Result};
use cairn_engine::{NewText, Word};
use cairn_protocol as wire;
use cairn_runtime::{Command, Event, Sink};
use cairn_types::{By, Mode, ProposalId, Remember, Verdict};
use rustix::fs::{FileType, fstat};
use rustix::process::{
    Pid, Signal, getpgid, getpgrp, getpid, getppid, getsid, kill_process, kill_process_group,
};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// Ctrl-Z sends the command that is waited for to the background. Where there is none that can be sent, the
/// process is suspended, as usual.
pub fn watch_suspends(commands: UnboundedSender<Command>, screen: Arc<Screen>) {
    let kind = SignalKind::from_raw(Signal::TSTP.as_raw());
    let Some(mut suspends) = signals::listen_unless_ignored(kind) else { return };
    tokio::spawn(async move {
        while suspends.recv().await.is_some() {
            let (tell, told) = oneshot::channel();
            let is_sent = !editor::is_open()
                && commands.send(Command::Background(Some(tell))).is_ok()
                && told.await.unwrap_or(false);
            match is_sent {
                // The terminal suspends everything that runs beside this process, as in a pipeline.
                true => drop(kill_process_group(getpgrp(), Signal::CONT)),
                false if can_be_resumed() => {
                    screen.end_line();
                    let _ = kill_process(getpid(), Signal::STOP);
                    screen.resumed();
                }
                false => screen.event(&Event::Notice(NOT_SUSPENDED.to_owned())),
            }
        }
    });
}

const NOT_SUSPENDED: &str = "no command runs that could be sent to the background, and there is no shell \
     that could resume this program";

/// Whether a shell stands above this process that could let it go on; where none does, the system would not
/// suspend it either.
fn can_be_resumed() -> bool {
    let (group, session) = (getpgrp(), getsid(None).ok());
    let mut above = getppid();
    while let Some(parent) = above {
        if getsid(Some(parent)).ok() != session {
            return false;
        }
        if getpgid(Some(parent)).ok() != Some(group) {
            return true;
        }
        above = parent_of(parent);
    }
    false
}

fn parent_of(process: Pid) -> Option<Pid> {
    let stat = format!("/proc/{}/stat", process.as_raw_nonzero());
    let stat = std::fs::read_to_string(stat).ok()?;
    // After the name, which may hold anything: the state, then the parent.
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
    Pid::from_raw(parent.parse().ok()?)
}

/// How much piped input is taken into a task.
const MOST_PIPED: u64 = 16 << 20;

/// All that is piped in. Says so when it takes a while: whoever holds the pipe may never close it.
pub fn piped() -> Result<String> {
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
            let _ = writeln!(
                std::io::stderr().lock(),
                "reading piped input until it ends; add </dev/null when there is none"
            );
        }
    });
    let mut text = String::new();
    let read = std::io::stdin().take(MOST_PIPED + 1).read_to_string(&mut text);
    drop(done);
    read.context("the piped input cannot be read as UTF-8 text")?;
    if text.len() as u64 > MOST_PIPED {
        return Err(Usage(
            "more than 16 MiB are piped in; put it into a file and name that in the task"
                .to_owned(),
        )
        .into());
    }
    Ok(text)
}

/// A person of this name; of this account's number where there is none.
pub fn person_named(name: &str) -> By {
    let name = name.trim();
    if name.is_empty() { person() } else { By::Person(name.chars().take(80).collect()) }
}

/// Who sits at this terminal.
pub fn person() -> By {
    let uid = || format!("uid {}", rustix::process::getuid().as_raw());
    By::Person(
        crate::home::place::env("USER")
            .or_else(|| crate::home::place::env("LOGNAME"))
            .unwrap_or_else(uid),
    )
}

/// Where a person types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// On standard input.
    Stdin,
    /// At the terminal of this process, while standard input is something else.
    Terminal,
}

impl Keys {
    fn open(self) -> Option<Box<dyn BufRead>> {
        Some(match self {
            Keys::Stdin => Box::new(std::io::stdin().lock()),
            Keys::Terminal => Box::new(BufReader::new(File::open(TERMINAL).ok()?)),
        })
    }
}

/// The terminal of this process, whatever its input and output are.
const TERMINAL: &str = "/dev/tty";

/// Whether something is piped in while a person sees what is asked and can type. Whoever gives
/// `/dev/null` says that nobody is there, and a job in the background must not read keys.
pub fn has_terminal_beside() -> bool {
    let piped = fstat(std::io::stdin()).is_ok_and(|stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        matches!(kind, FileType::Fifo | FileType::RegularFile | FileType::Socket)
    });
    let Ok(terminal) = OpenOptions::new().read(true).write(true).open(TERMINAL) else {
        return false;
    };
    let in_front = rustix::termios::tcgetpgrp(&terminal).ok() == Some(rustix::process::getpgrp());
    piped && in_front && std::io::stderr().is_terminal()
}

/// How long a typed line may be, and one that a program writes.
const LONGEST_LINE: u64 = 16 << 20;

/// The lines of some input until it ends. One that is not UTF-8 or too long is said and left out.
fn lines(sink: &dyn Sink, mut input: Box<dyn BufRead>) -> impl Iterator<Item = String> {
    std::iter::from_fn(move || {
        loop {
            let mut line = Vec::new();
            if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).ok()? == 0 {
                return None;
            }
            if line.len() as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
                input.skip_until(b'\n').ok()?;
                let said = "a line of more than 16 MiB was left out; put the text into a file and name that";
                sink.event(&Event::Notice(said.to_owned()));
                continue;
            }
            match String::from_utf8(line) {
                Ok(line) => return Some(line),
                Err(_) => {
                    sink.event(&Event::Notice("a line that is not UTF-8 was left out".to_owned()))
                }
            }
        }
    })
}

/// Lines a person types: an answer while a question is open, else words for the agent.
pub fn terminal(commands: UnboundedSender<Command>, screen: Arc<Screen>, keys: Keys) {
    std::thread::spawn(move || {
        let typed = keys.open().map(|input| lines(&*screen, input));
        for line in typed.into_iter().flatten() {
            let command = match screen.answer(&line) {
                Answer::Nothing => continue,
                Answer::Steer(text) => Command::Steer(text),
                Answer::Word(word) => Command::Decide(*word, None),
                Answer::Edit(proposal, shown_hash) => match edited(&commands, &proposal) {
                    Ok(texts) => {
                        let word = Word::new(proposal, Verdict::Allow, person());
                        let word = Word { shown_hash: Some(shown_hash), texts, ..word };
                        Command::Decide(word, None)
                    }
                    Err(why) => {
                        screen.not_decided(&why);
                        continue;
                    }
                },
            };
            if commands.send(command).is_err() {
                return;
            }
        }
        let _ = commands.send(Command::Gone);
    });
}

/// The texts of an open question as a person edits them, if they do.
fn edited(
    commands: &UnboundedSender<Command>,
    proposal: &ProposalId,
) -> Result<Vec<NewText>, String> {
    let (tell, told) = oneshot::channel();
    let _ = commands.send(Command::Texts(proposal.clone(), tell));
    let texts = told.blocking_recv().unwrap_or_default();
    if texts.is_empty() {
        return Err("there is no text to edit".to_owned());
    }
    editor::edited(&texts)
}

/// Commands a program writes, one JSON object per line.
pub fn json(commands: UnboundedSender<Command>, json: Arc<Json>) {
    std::thread::spawn(move || {
        for line in lines(&*json, Box::new(std::io::stdin().lock())) {
            if line.trim().is_empty() {
                continue;
            }
            match line.parse::<wire::Command>().map_err(|e| e.to_string()).and_then(command) {
                Ok(command) => {
                    if commands.send(command).is_err() {
                        return;
                    }
                }
                Err(why) => json.event(&Event::Notice(why)),
            }
        }
        let _ = commands.send(Command::Gone);
    });
}

pub(super) fn command(said: wire::Command) -> Result<Command, String> {
    Ok(match said {
        wire::Command::Steer { text } => Command::Steer(text),
        wire::Command::Prompt { text } => Command::Prompt(text),
        wire::Command::Background {} => Command::Background(None),
        wire::Command::Abort {} => Command::Abort("stopped by the client".to_owned()),
        wire::Command::Decide {
            proposal,
            verdict,
            shown_hash,
            items,
            texts,
            words,
            remember,
            rule,
            until,
            mode,
        } => {
            let shown_hash = match shown_hash.map(|hash| hash.parse()).transpose() {
                Ok(hash) => hash,
                Err(_) => return Err("decide: shown_hash is not a hash".to_owned()),
            };
            let verdict = match verdict {
                wire::Verdict::Allow => Verdict::Allow,
                wire::Verdict::Refuse => Verdict::Refuse,
                wire::Verdict::Happened => Verdict::Happened,
                wire::Verdict::Skip => Verdict::Skip,
                wire::Verdict::Answer => Verdict::Answer,
            };
            let remember = match remember {
                wire::Remember::Once => Remember::Once,
                wire::Remember::Run => Remember::Run,
                wire::Remember::Session => Remember::Session,
                wire::Remember::Project => Remember::Project,
                wire::Remember::Always => Remember::Always,
            };
            let mode = mode.map(|mode| match mode {
                wire::Mode::Plan => Mode::Plan,
                wire::Mode::Act => Mode::Act,
                wire::Mode::AcceptEdits => Mode::AcceptEdits,
            });
            let text = |wire::Text { path, text }| NewText { path, text };
            let texts = texts.into_iter().map(text).collect();
            let word = Word::new(ProposalId(proposal), verdict, person());
            let word =
                Word { shown_hash, items, texts, words, remember, rule, until, mode, ..word };
            Command::Decide(word, None)
        }
    })
}
