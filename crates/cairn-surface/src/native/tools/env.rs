//! `env` runs a command and keeps nothing that it changes.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Body, Example, Fits, Ranged, Skin};
use cairn_types::{Action, Effect, Exec};

fields! {
    /// Run a shell command only to see what it prints: nothing of what it changes is kept.
    Env {
        /// The command, one string for the shell, or code for another runtime.
        command: String, or "cmd" "script" "code";
        /// What runs it, such as bash, python, node or sqlite. Default the shell.
        runtime: Option<String>, or "language" "interpreter";
        /// Directory relative to the project root. Default the root.
        cwd: Option<String>, or "workdir" "working_directory" "dir";
        /// When to end it, in milliseconds.
        timeout_ms: Option<u64>, or "timeout";
    }
}

impl BuiltInTool for Env {
    const NAME: &'static str = "env";
    const ALIASES: &'static [&'static str] = &["try_command", "dry_run"];
    const EFFECT: Effect = Effect::Read;
    const STATEMENT_PLACE: u32 = 120;
    const TARGETS: &'static [&'static str] = &["cwd"];
    const EXAMPLE: &'static str = r#"{"command":"git log -3"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["env"],
            words: &["ENV"],
            target: &[("cwd", Fits::Any)],
            signal: Some("runtime"),
            scope: Some(Ranged::Seconds("timeout_ms")),
            body: Some(("command", Body::Trimmed)),
            examples: &[Example {
                tag: "<env>git log -3</env>",
                heredoc: "<<ENV:git log -3:ENV",
                why: "For looking, when the other is for doing.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let timeout_ms = self.timeout_ms.filter(|n| *n > 0);
        let Env { command, runtime, cwd, .. } = self;
        let discard = true;
        Ok(Action::Exec(Exec { command, runtime, cwd, timeout_ms, discard, ..Exec::default() }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Exec(exec) = action else { return None };
        let Exec { command, runtime, cwd, timeout_ms, discard, .. } = exec.clone();
        discard.then_some(Env { command, runtime, cwd, timeout_ms })
    }
}
