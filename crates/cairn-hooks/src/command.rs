//! A command as a hook: the event as JSON on stdin, the answer from its exit code, stdout and stderr.
//! The sandbox starts it, bounds it and ends all it started.

use super::declared::Declared;
use super::event::{Event, PERMISSION_PROMPT};
use super::reading::{self, Ended, Printed};
use super::{Answer, Hook, HookEvent, HookWord};
use crate::trust::Trusted;
use cairn_sandbox::{End, Errors, Finished, Host, Keep, Spec, Way};
use cairn_world::Workspace;
use futures_util::future::{BoxFuture, FutureExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How many bytes of an answer are read.
const MOST_OUT: usize = 1 << 20;
/// How many bytes of stderr are read.
const MOST_ERR: usize = 128 << 10;
/// How long output is still read after everything ended.
const GRACE: Duration = Duration::from_millis(50);
/// The length of a name, in characters.
const NAME: usize = 60;

/// What every command that is a hook is run with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The shell.
    pub shell: PathBuf,
    /// The environment that commands get; the project's directory is added.
    pub env: Vec<(String, String)>,
    /// The project.
    pub workspace: Arc<Workspace>,
    /// How its processes are held together.
    pub way: Way,
}

/// A command that is asked.
#[derive(Debug)]
pub struct CommandHook {
    name: String,
    declared: Declared,
    setup: Setup,
    /// The project's own hooks run only as long as they are what was trusted, and allow nothing.
    trusted: Option<Arc<Trusted>>,
}

impl CommandHook {
    /// A hook of the user's.
    #[must_use]
    pub fn own(declared: Declared, setup: Setup) -> CommandHook {
        let name = name_of(&declared.command);
        CommandHook { name, declared, setup, trusted: None }
    }

    /// A hook of the project's, which was trusted.
    #[must_use]
    pub fn of_project(declared: Declared, setup: Setup, trusted: Arc<Trusted>) -> CommandHook {
        let name = format!("project: {}", name_of(&declared.command));
        CommandHook { name, declared, setup, trusted: Some(trusted) }
    }

    async fn ask(&self, event: &Event) -> Answer {
        if let Some(trusted) = &self.trusted
            && let Err(why) = trusted.still_holds(&self.setup.workspace)
        {
            return reading::answer(event, Ended::Speechless(why), &Printed::default());
        }
        let (ended, printed) = match self.run(event).await {
            Ok(finished) => of_finished(&finished, self.declared.timeout_ms),
            Err(why) => (Ended::Speechless(why), Printed::default()),
        };
        let mut answer = reading::answer(event, ended, &printed);
        if self.trusted.is_some() && answer.word == Some(HookWord::Allow) {
            answer.word = None;
        }
        answer
    }

    async fn run(&self, event: &Event) -> Result<Finished, String> {
        let Setup { shell, env, workspace, way } = &self.setup;
        let root = workspace.path().to_string_lossy().into_owned();
        let mut env = env.clone();
        for name in ["CAIRN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
            env.push((name.to_owned(), root.clone()));
        }
        let mut input = event.to_json().to_string().into_bytes();
        input.push(b'\n');
        let spec = Spec {
            command: self.declared.command.clone(),
            shell: shell.clone(),
            flags: Spec::shell_flags(),
            cwd: workspace.handle().map_err(|e| format!("its directory: {e}"))?,
            env,
            timeout: Duration::from_millis(self.declared.timeout_ms),
            grace: GRACE,
            keep: Keep { in_memory: MOST_OUT, on_disk: None },
            way: *way,
            context: Host::context(),
            filter: None,
            input: cairn_sandbox::Input::Bytes(input),
            errors: Errors::Apart(MOST_ERR),
        };
        let never = CancellationToken::new();
        cairn_sandbox::run(spec, &never, &mut |_| {}).await.map_err(|e| e.to_string())
    }
}

impl Hook for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, event: HookEvent, tool: Option<&str>) -> bool {
        let matcher = &self.declared.matcher;
        event == self.declared.event
            && match event {
                HookEvent::Notification => matcher.means(PERMISSION_PROMPT),
                _ => tool.is_none_or(|tool| matcher.fits(tool)),
            }
    }

    fn on<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Answer> {
        self.ask(event).boxed()
    }
}

/// A command in one line.
fn name_of(command: &str) -> String {
    let line = command.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut name: String = line.chars().filter(|c| !c.is_control()).take(NAME).collect();
    if name.len() < command.trim().len() {
        name.push('…');
    }
    name
}

fn of_finished(finished: &Finished, timeout_ms: u64) -> (Ended, Printed) {
    let ended = match finished.end {
        End::Exited(code) => Ended::Exit(code),
        End::Signalled(signal) => Ended::Speechless(format!("it was ended by signal {signal}")),
        End::TimedOut => Ended::Speechless(format!("it did not answer within {timeout_ms} ms")),
        End::Cancelled => Ended::Speechless("it was stopped".to_owned()),
    };
    let whole = finished.head.len() + finished.tail.len();
    let printed = Printed {
        out: String::from_utf8_lossy(&[&finished.head[..], &finished.tail].concat()).into_owned(),
        is_cut: finished.bytes > whole as u64,
        err: String::from_utf8_lossy(&finished.errors).into_owned(),
    };
    (ended, printed)
}
