//! `bash` runs a command.

use super::BuiltInTool;
use crate::native::declare::{Way, fields};
use crate::skin::{Body, Example, Fits, Ranged, Skin};
use cairn_types::{Action, Effect, Exec};

fields! {
    /// Run a shell command and wait for it. Everything it started ends with it. The result is its
    /// output and its exit code. In the background it runs until it ends, is removed by its row, or
    /// the work is over; reading its row's #output shows what it printed, send writes to its input, and
    /// you are told when it ended.
    Bash {
        /// The command, one string for the shell, or code for another runtime.
        command: String, or "cmd" "script" "code";
        /// What runs it, such as bash, python, node or sqlite. Default the shell.
        runtime: Option<String>, or "language" "interpreter";
        /// Directory relative to the project root. Default the root.
        cwd: Option<String>, or "workdir" "working_directory" "dir";
        /// When to end it, in milliseconds.
        timeout_ms: Option<u64>, or "timeout";
        /// Do not wait for it, as for a server. Default false.
        background: bool, or "run_in_background" "is_background";
        /// In the background: go on with the work when it ends, even if it was over. Default false.
        wake: bool, or "notify";
    }
}

impl BuiltInTool for Bash {
    const NAME: &'static str = "bash";
    const ALIASES: &'static [&'static str] =
        &["shell", "sh", "exec", "run_command", "run_shell_command", "execute_command", "terminal"];
    const EFFECT: Effect = Effect::Host;
    const STATEMENT_PLACE: u32 = 110;
    const TARGETS: &'static [&'static str] = &["cwd"];
    const WAYS: &'static [Way] = &[
        Way { needs: &[], leaves: &["background", "wake"] },
        Way { needs: &["background"], leaves: &[] },
    ];
    const EXAMPLE: &'static str = r#"{"command":"cargo test"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["sh"],
            words: &["EXEC"],
            target: &[("cwd", Fits::Any)],
            signal: Some("runtime"),
            scope: Some(Ranged::Seconds("timeout_ms")),
            body: Some(("command", Body::Trimmed)),
            examples: &[Example {
                tag: "<sh>cargo test</sh>",
                heredoc: "<<EXEC:cargo test:EXEC",
                why: "A command, and nothing around it.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let timeout_ms = self.timeout_ms.filter(|n| *n > 0);
        let Bash { command, runtime, cwd, background, wake, .. } = self;
        if wake && !background {
            return Err("wake is for a command in the background".to_owned());
        }
        let (wakes, discard) = (wake, false);
        Ok(Action::Exec(Exec { command, runtime, cwd, timeout_ms, background, wakes, discard }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Exec(exec) = action else { return None };
        let Exec { command, runtime, cwd, timeout_ms, background, wakes, discard } = exec.clone();
        (!discard).then_some(Bash { command, runtime, cwd, timeout_ms, background, wake: wakes })
    }
}
