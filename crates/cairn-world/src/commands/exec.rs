//! Commands: what is shown before one runs, and what is told after it ran.

use crate::commands::output;
use crate::commands::rehearse::beside;
use crate::commands::runtimes::Chosen;
use crate::folders::roots::Roots;
use crate::folders::workspace::{Opened, Workspace};
use crate::settled::{Performed, Prepared, Refusal};
use crate::{Acting, Background, Confine, OnOutput, Settings};
use cairn_sandbox::network::{HostPort, Refusal as Unreached};
use cairn_sandbox::{End, Errors, Filter, Finished, Host, Input, Running, SandboxError, Spec};
use cairn_text::scrub::Window;
use cairn_text::shown::clean;
use cairn_types::{Exec, Status};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The longest command, a little under what the system takes.
const MAX_COMMAND: usize = 128 * 1024 - 256;
/// How long output is still read after everything ended.
const GRACE: Duration = Duration::from_millis(50);
/// The length of a label, in characters.
const LABEL: usize = 80;

/// What is shown of one that does not run over an overlay.
const DIRECT: &str = "files: the files themselves; undo will not cover what it changes\n";

/// What running a command would mean. The command stands last and indented, so that nothing in it
/// can pass for a line of ours.
pub(crate) fn prepare(workspace: &Workspace, settings: &Settings, run: &Exec) -> Prepared {
    let command = &run.command;
    let first = command.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
    let cleaned = clean(first);
    let mut label: String = cleaned.chars().take(LABEL).collect();
    if label.len() < cleaned.len() || command.trim().lines().count() > 1 {
        label.push('…');
    }
    let label = format!("run: {label}");
    let admitted = admit(command).and_then(|()| runs(settings, run));
    let admitted = admitted.and_then(|(shell, ..)| Ok((shell, inner_directory(workspace, run)?)));
    let (shell, cwd) = match admitted {
        Ok((shell, cwd)) => (shell, cwd.display().to_string()),
        Err(refusal) => {
            return Prepared { label, settled: Some(refusal.into()), ..Prepared::default() };
        }
    };
    let names: Vec<&str> = settings.env.iter().map(|(name, _)| name.as_str()).collect();
    let indented: String = command.lines().map(|line| format!("  {line}\n")).collect();
    let limit = match limit(settings, run) {
        Some(limit) => format!("{} ms", limit.as_millis()),
        None => "none, it runs in the background".to_owned(),
    };
    let is_overlaid = !run.background && matches!(settings.confine, Confine::Overlay(..));
    let files = if is_overlaid { "" } else { DIRECT };
    let shown = format!(
        "cwd: {}\nshell: {}\ntimeout: {limit}\nenvironment: {}\n{files}command:\n{indented}",
        cwd,
        shell.display(),
        names.join(" "),
    );
    Prepared { shown, label, ..Prepared::default() }
}

/// The directory a command runs in.
fn directory(workspace: &Workspace, run: &Exec) -> Result<Opened, Refusal> {
    let opened = workspace.open_existing(run.cwd.as_deref().unwrap_or("."))?;
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

/// When a command is ended, if ever: in the background only where that was asked for.
fn limit(settings: &Settings, run: &Exec) -> Option<Duration> {
    let asked = run.timeout_ms.filter(|ms| *ms > 0).map(Duration::from_millis);
    match run.background {
        true => asked,
        false => Some(asked.unwrap_or(settings.timeout).min(settings.timeout_max)),
    }
}

/// The directory a command runs in, as it is named.
pub(crate) fn inner_directory(workspace: &Workspace, run: &Exec) -> Result<PathBuf, Refusal> {
    let opened = directory(workspace, run)?;
    Ok(match opened.path.as_str() {
        "." => workspace.path().to_owned(),
        inner => workspace.path().join(inner),
    })
}

/// What runs a command: the program, what stands before the command, and whether it is read instead.
fn runs(settings: &Settings, run: &Exec) -> Result<(PathBuf, Vec<String>, bool), Refusal> {
    let Some(name) = &run.runtime else {
        return Ok((settings.shell.clone(), Spec::shell_flags(), false));
    };
    let path = settings.env.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or("", |(_, value)| value.as_str());
    let Chosen { program, runtime } = settings.runtimes.choose(name, path)?;
    Ok((program, runtime.arguments, runtime.reads))
}

/// A command as the sandbox takes it, not confined yet, or why it cannot be run.
pub(crate) fn spec(
    workspace: &Workspace,
    settings: &Settings,
    run: &Exec,
) -> Result<Spec, Refusal> {
    admit(&run.command)?;
    let (shell, flags, reads) = runs(settings, run)?;
    let input = match reads {
        true => Input::Bytes(run.command.clone().into_bytes()),
        false => Input::Nothing,
    };
    Ok(Spec {
        command: if reads { String::new() } else { run.command.clone() },
        shell,
        flags,
        cwd: directory(workspace, run)?.fd,
        env: settings.env.clone(),
        timeout: limit(settings, run).unwrap_or(Duration::MAX),
        grace: GRACE,
        keep: output::limits(settings.spool.as_deref()),
        way: settings.way,
        context: Host::context(),
        filter: Some(Box::new(WithoutSecrets(settings.scrubber.window()))),
        input,
        errors: Errors::Joined,
    })
}

/// What a command prints, with a marker in the place of each secret.
#[derive(Debug)]
struct WithoutSecrets(Window);

impl Filter for WithoutSecrets {
    fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.0.push(piece)
    }

    fn finish(&mut self) -> Vec<u8> {
        self.0.finish()
    }
}

/// A command that works on the files themselves. Folders are searched for it, so it is worked out beside the caller's
/// thread.
async fn direct(roots: &Arc<Roots>, settings: &Arc<Settings>, run: &Exec) -> Result<Spec, Refusal> {
    let (roots, settings, run) = (Arc::clone(roots), Arc::clone(settings), run.clone());
    beside(move || direct_here(&roots, &settings, &run)).await?
}

fn direct_here(roots: &Roots, settings: &Settings, run: &Exec) -> Result<Spec, Refusal> {
    let workspace = roots.of(run.cwd.as_deref().unwrap_or("."));
    let mut spec = spec(workspace, settings, run)?;
    spec.context = Confine::direct(settings, roots, inner_directory(workspace, run)?)?;
    // Nobody sees which rules it changes.
    roots.main().ignored.keep_all(roots.laid());
    Ok(spec)
}

/// Starts a command in the background.
pub(crate) async fn start(
    roots: &Arc<Roots>,
    settings: &Arc<Settings>,
    run: &Exec,
    on_output: OnOutput,
) -> Result<Background, Refusal> {
    let spec = direct(roots, settings, run).await?;
    let running = match spec.input {
        Input::Nothing => Running::listening(spec, on_output).map_err(|e| {
            Refusal::new(Status::FAILED, format!("it cannot be given an input: {e}"))
        })?,
        Input::Bytes(_) | Input::From(_) => Running::telling(spec, on_output),
    };
    Ok(Background::new(running))
}

/// Runs a command on the files themselves.
pub(crate) async fn perform(
    roots: &Arc<Roots>,
    settings: &Arc<Settings>,
    run: &Exec,
    acting: Acting<'_>,
) -> Performed {
    match direct(roots, settings, run).await {
        Ok(spec) => finish(spec, acting).await,
        Err(refusal) => refusal.into(),
    }
}

/// Runs a command to its end.
pub(crate) async fn finish(spec: Spec, acting: Acting<'_>) -> Performed {
    let timeout = spec.timeout;
    let finished = cairn_sandbox::run(spec, acting.cancel, acting.on_output).await;
    ended(finished, timeout, acting.row).await
}

/// What a command that ended, or could not be run, comes to.
pub(crate) async fn ended(
    finished: Result<Finished, SandboxError>,
    timeout: Duration,
    row: &str,
) -> Performed {
    match finished {
        Ok(finished) => settled(finished, timeout, row).await,
        Err(problem @ SandboxError::Layer { .. }) => {
            Performed::told(Status::NOT_IMPLEMENTED, problem.to_string())
        }
        Err(problem) => Performed::told(Status::FAILED, problem.to_string()),
    }
}

/// What is said of a command that a signal ended.
pub(crate) fn signalled(signal: i32) -> String {
    format!("ended by signal {signal}")
}

/// What is said of hosts that a command wanted to reach and did not: those that it may not, and those of which
/// it makes no difference who allows them.
fn unreached(wanted: &[String], others: &[(HostPort, Unreached)]) -> String {
    let mut said = match wanted.is_empty() {
        true => String::new(),
        false => format!("not reached, because it is not allowed: {}\n", wanted.join(", ")),
    };
    for (host, why) in others {
        let host = named(host);
        said.push_str(&match why {
            Unreached::NotCovered => continue,
            Unreached::Inside(address) => {
                let place = if address.is_loopback() { "this machine" } else { "a private address" };
                format!("not reached, because it leads to {place} ({address}): {host}; allow the address itself to reach it\n")
            }
            Unreached::Unresolved => format!("not reached, because it could not be resolved: {host}\n"),
            Unreached::Method => format!("not reached, because only GET and HEAD are passed on over plain http: {host}; use https for anything else\n"),
        });
    }
    said
}

/// What is said where the system ended processes because commands had all the memory they may have.
pub(crate) fn starved(processes: u64) -> String {
    match processes {
        0 => String::new(),
        n => format!(
            "{n} of its processes ended by the system: commands here had all the memory they may have (sandbox.memory)\n"
        ),
    }
}

/// A host as a rule names it: the usual ports go without saying.
fn named(host: &HostPort) -> String {
    match host.port {
        80 | 443 => host.host.to_string(),
        _ => host.to_string(),
    }
}

/// What a command that ended comes to.
async fn settled(mut finished: Finished, timeout: Duration, row: &str) -> Performed {
    let (status, exit, last) = match finished.end {
        End::Exited(code) => (Status::OK, Some(code), format!("exit={code}")),
        End::Signalled(signal) => (Status::OK, None, signalled(signal)),
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
    let mut text = output::told(&finished, row);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let wanted: Vec<String> = finished.wanted.refused.iter().map(named).collect();
    text.push_str(&unreached(&wanted, &finished.wanted.unreached));
    text.push_str(&starved(finished.starved));
    text.push_str(&last);
    let output::Kept { output, contents, spooled } = output::keep(&mut finished).await;
    Performed {
        exit,
        output: Some(output),
        layers: finished.layers,
        wanted,
        contents,
        spooled,
        ..Performed::told(status, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_why_a_host_was_not_reached() {
        let check = |why: Unreached, expected: &str| {
            let said = unreached(&[], &[("a.test:443".parse().unwrap(), why)]);
            assert_eq!(said, format!("not reached, because {expected}\n"));
        };
        check(
            Unreached::Inside([10, 1, 2, 3].into()),
            "it leads to a private address (10.1.2.3): a.test; allow the address itself to reach it",
        );
        check(
            Unreached::Inside([127, 0, 0, 1].into()),
            "it leads to this machine (127.0.0.1): a.test; allow the address itself to reach it",
        );
        check(Unreached::Unresolved, "it could not be resolved: a.test");
        check(
            Unreached::Method,
            "only GET and HEAD are passed on over plain http: a.test; use https for anything else",
        );
    }
}
