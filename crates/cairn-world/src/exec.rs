//! Commands: what is shown before one runs, and what is told after it ran.

use crate::Settings;
use crate::read::whole;
use crate::settled::{Performed, Prepared, Refusal};
use crate::workspace::{Opened, Workspace};
use cairn_sandbox::{End, Finished, Spec};
use cairn_text::shown::clean;
use cairn_types::{CommandOutput, ContentRef, Status};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How much of each end of an output the model is told.
const TOLD: usize = 16 * 1024;
/// How much of each end of an output is kept.
const KEPT: usize = 256 * 1024;
/// The longest command, a little under what the system takes.
const MAX_COMMAND: usize = 128 * 1024 - 256;
/// How long output is still read after everything ended.
const GRACE: Duration = Duration::from_millis(50);
/// The length of a label, in characters.
const LABEL: usize = 80;

/// A command to run.
pub(crate) struct Run<'a> {
    pub(crate) command: &'a str,
    pub(crate) cwd: Option<&'a str>,
    pub(crate) timeout_ms: Option<u64>,
}

/// What running a command would mean. The command stands last and indented, so that nothing in it
/// can pass for a line of ours.
pub(crate) fn prepare(workspace: &Workspace, settings: &Settings, run: &Run<'_>) -> Prepared {
    let command = run.command;
    let first = command.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
    let cleaned = clean(first);
    let mut label: String = cleaned.chars().take(LABEL).collect();
    if label.len() < cleaned.len() || command.trim().lines().count() > 1 {
        label.push('…');
    }
    let label = format!("run: {label}");
    let cwd = match admit(command).and_then(|()| directory(workspace, run)) {
        Ok(cwd) if cwd.path == "." => workspace.path().display().to_string(),
        Ok(cwd) => workspace.path().join(cwd.path).display().to_string(),
        Err(refusal) => {
            return Prepared { label, settled: Some(refusal.into()), ..Prepared::default() };
        }
    };
    let names: Vec<&str> = settings.env.iter().map(|(name, _)| name.as_str()).collect();
    let indented: String = command.lines().map(|line| format!("  {line}\n")).collect();
    let shown = format!(
        "cwd: {}\nshell: {}\ntimeout: {} ms\nenvironment: {}\ncommand:\n{indented}",
        cwd,
        settings.shell.display(),
        timeout(settings, run.timeout_ms).as_millis(),
        names.join(" "),
    );
    Prepared { shown, label, ..Prepared::default() }
}

/// The directory a command runs in.
fn directory(workspace: &Workspace, run: &Run<'_>) -> Result<Opened, Refusal> {
    let opened = workspace.open_existing(run.cwd.unwrap_or("."))?;
    if !opened.is_directory() {
        let text = format!("{} is not a directory", opened.path);
        return Err(Refusal::new(Status::CONFLICT, text));
    }
    Ok(opened)
}

fn admit(command: &str) -> Result<(), Refusal> {
    if command.trim().is_empty() {
        return Err(Refusal::new(Status::BAD_REQUEST, "the command is empty"));
    }
    if command.contains('\0') {
        return Err(Refusal::new(Status::BAD_REQUEST, "the command holds a NUL byte"));
    }
    if command.len() > MAX_COMMAND {
        let text = format!("the command is {} bytes long, more than {MAX_COMMAND}", command.len());
        return Err(Refusal::new(Status::TOO_LARGE, text));
    }
    Ok(())
}

fn timeout(settings: &Settings, asked: Option<u64>) -> Duration {
    let asked = asked.filter(|ms| *ms > 0).map_or(settings.timeout, Duration::from_millis);
    asked.min(settings.timeout_max)
}

/// Runs a command in the root.
pub(crate) async fn perform(
    workspace: &Workspace,
    settings: &Settings,
    (run, cancel): (&Run<'_>, &CancellationToken),
    on_output: &mut (dyn FnMut(&[u8]) + Send),
) -> Performed {
    if let Err(refusal) = admit(run.command) {
        return refusal.into();
    }
    let cwd = match directory(workspace, run) {
        Ok(cwd) => cwd.fd,
        Err(refusal) => return refusal.into(),
    };
    let timeout = timeout(settings, run.timeout_ms);
    let spec = Spec {
        command: run.command.to_owned(),
        shell: settings.shell.clone(),
        cwd,
        env: settings.env.clone(),
        timeout,
        grace: GRACE,
        keep_head: KEPT,
        keep_tail: KEPT,
        way: settings.way,
    };
    match cairn_sandbox::run(spec, cancel, on_output).await {
        Ok(finished) => told(finished, timeout),
        Err(problem) => Performed::told(Status::FAILED, problem.to_string()),
    }
}

fn told(finished: Finished, timeout: Duration) -> Performed {
    let (status, exit, last) = match finished.end {
        End::Exited(code) => (Status::OK, Some(code), format!("exit={code}")),
        End::Signalled(signal) => (Status::OK, None, format!("ended by signal {signal}")),
        End::TimedOut => {
            let ms = timeout.as_millis();
            let text = format!("timed out after {ms} ms, everything it started was ended");
            (Status(408), None, text)
        }
        End::Cancelled => {
            let text = "cancelled, everything it started was ended".to_owned();
            (Status::CANCELLED, None, text)
        }
    };
    let shown = ends(&finished, TOLD);
    let mut text = String::from_utf8_lossy(&shown).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&last);
    let kept = ends(&finished, KEPT);
    let output =
        CommandOutput { bytes: finished.bytes, hash: finished.hash, kept: ContentRef::of(&kept) };
    Performed {
        exit,
        output: Some(output),
        layers: finished.layers,
        contents: vec![kept],
        ..Performed::told(status, text)
    }
}

/// The output, or its two ends of at most `size` bytes each with a line between that says how much
/// is missing. Never cuts a character.
fn ends(finished: &Finished, size: usize) -> Vec<u8> {
    let is_whole = (finished.head.len() + finished.tail.len()) as u64 == finished.bytes;
    if is_whole && finished.bytes <= 2 * size as u64 {
        return [finished.head.as_slice(), &finished.tail].concat();
    }
    let head = &finished.head[..finished.head.len().min(size)];
    let head = &head[..whole(head)];
    let joined;
    let end = if finished.tail.len() >= size {
        &finished.tail
    } else {
        joined = [finished.head.as_slice(), &finished.tail].concat();
        &joined
    };
    let tail = &end[end.len().saturating_sub(size)..];
    let tail = &tail[continuation(tail)..];
    let missing = finished.bytes - (head.len() + tail.len()) as u64;
    let between = format!("\n… {missing} bytes not shown …\n");
    [head, between.as_bytes(), tail].concat()
}

/// How many bytes at the start are the rest of a character cut before them.
fn continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|b| (**b & 0xc0) == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_types::Hash;
    use proptest::prelude::*;

    fn finished(text: &str, keep: usize) -> Finished {
        let all = text.as_bytes();
        let head = all[..all.len().min(keep)].to_vec();
        let tail = all[head.len().max(all.len().saturating_sub(keep))..].to_vec();
        let (bytes, hash) = (all.len() as u64, Hash::of(all));
        Finished { end: End::Exited(0), head, tail, bytes, hash, ms: 0, layers: Vec::new() }
    }

    proptest! {
        #[test]
        fn both_ends_are_whole_characters_and_the_missing_bytes_are_counted(
            text in "[aé漢😀]{0,60}", keep in 20usize..60, size in 5usize..20,
        ) {
            let shown = String::from_utf8(ends(&finished(&text, keep), size)).unwrap();
            match shown.split_once("\n… ") {
                None => prop_assert_eq!(shown, text),
                Some((head, rest)) => {
                    let (missing, tail) = rest.split_once(" bytes not shown …\n").unwrap();
                    prop_assert!(text.starts_with(head) && text.ends_with(tail));
                    let missing: usize = missing.parse().unwrap();
                    prop_assert_eq!(head.len() + missing + tail.len(), text.len());
                }
            }
        }
    }
}
