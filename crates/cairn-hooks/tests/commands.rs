//! Commands as hooks, in real bash and Python: each thing a script can do, and what comes of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use cairn_hooks::trust::{self, Trusted};
use cairn_hooks::{
    Answer, Call, CommandHook, Declared, Done, Entry, Event, Hook, HookEvent, HookWord, Hooks,
    Place, Request, Senseless, Setup, What, Word,
};
use cairn_sandbox::Way;
use cairn_types::{Action, Approval, Coord, Exec, Mode, RunId, SessionId, Status, Verdict};
use cairn_world::Workspace;
use std::path::Path;
use std::sync::Arc;

fn setup(root: &Path) -> Setup {
    Setup {
        shell: cairn_sandbox::shell(),
        env: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
        workspace: Arc::new(Workspace::open(root).unwrap()),
        way: Way::Best,
    }
}

fn event(root: &Path, kind: HookEvent) -> Event {
    let action = Action::Exec(Exec { command: "rm -rf x".into(), ..Exec::default() });
    let call = Call { at: Coord { lap: 1, turn: 2, seq: 3 }, tool: "bash".to_owned(), action };
    let done = |status| Done { status, exit: Some(1), text: "out".into(), changes: Vec::new() };
    let proposal = String::from("p1.2.3");
    let what = match kind {
        HookEvent::TurnStart => What::TurnStart(Request {
            turn: 2,
            model: "scripted/test".into(),
            messages: 3,
            bytes: 40,
        }),
        HookEvent::UnknownTool => What::UnknownTool(Senseless {
            at: call.at,
            tool: "shell_exec".into(),
            args: r#"{"cmd":"ls"}"#.into(),
            is_known: false,
            error: "there is no tool".into(),
        }),
        HookEvent::PreToolUse => What::PreToolUse(call),
        HookEvent::PermissionRequest => {
            What::PermissionRequest { call, shown: "rm".into(), hosts: Vec::new() }
        }
        HookEvent::Notification => What::Notification { proposal, message: "bash rm".into() },
        HookEvent::Decided => {
            let (verdict, words) = (Verdict::Refuse, Some("not that".into()));
            What::Decided(call, Word { proposal, verdict, by: "me".into(), words })
        }
        HookEvent::Accepting => What::Accepting { call, by: "me".into() },
        HookEvent::PostToolUse => What::PostToolUse(call, done(Status::OK)),
        HookEvent::PostToolUseFailure => What::PostToolUseFailure(call, done(Status::FAILED)),
        HookEvent::TurnEnd => {
            What::TurnEnd { turn: 2, ops: vec![(call.at, "bash".into(), Status::OK)] }
        }
        HookEvent::UserPromptSubmit => What::UserPromptSubmit { prompt: "fix it".into() },
        HookEvent::Stop => What::Stop { is_again: true, last: "done".into() },
        HookEvent::SessionStart => What::SessionStart { resumed: false },
        HookEvent::SessionEnd => What::SessionEnd { status: Status::OK },
    };
    let place = Place {
        session: SessionId::new(1, 1),
        run: RunId::new(1, 1),
        root: root.to_string_lossy().into_owned(),
        mode: Mode::Act,
        approval: Approval::Ask,
    };
    Event { place, what }
}

fn declared(kind: HookEvent, command: &str, timeout_ms: Option<u64>) -> Declared {
    Declared::new(kind, Entry { matcher: None, command: command.to_owned(), timeout_ms }).unwrap()
}

async fn ask(root: &Path, kind: HookEvent, command: &str) -> Answer {
    let hook = CommandHook::own(declared(kind, command, None), setup(root));
    hook.on(&event(root, kind)).await
}

fn blocked(why: &str) -> Answer {
    Answer { block: Some(why.to_owned()), ..Answer::default() }
}

fn adds(text: &str) -> Answer {
    Answer { context: vec![text.to_owned()], ..Answer::default() }
}

// keeps: hook-commands
#[tokio::test]
async fn a_script_reads_the_event_and_its_end_is_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let python = r#"python3 -c '
import json, sys
e = json.load(sys.stdin)
if e["tool_name"] == "Bash" and "rm -rf" in e["tool_input"]["command"]:
    print("no rm -rf", file=sys.stderr)
    sys.exit(2)
'"#;
    let changes = r#"python3 -c '
import json, sys
e = json.load(sys.stdin)
c = e["tool_input"]["command"].replace("rm -rf", "trash")
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": c}}}))
'"#;
    use HookEvent::*;
    let changed = |input: &str| Answer { input: Some(input.to_owned()), ..Answer::default() };
    let word = |word| Answer { word: Some(word), ..Answer::default() };
    for (kind, command, expected) in [
        (PreToolUse, "cat > /dev/null", Answer::default()),
        (PreToolUse, "exit 0", Answer::default()),
        (PreToolUse, python, blocked("no rm -rf")),
        (PreToolUse, "grep -q 'rm -rf' && { echo never >&2; exit 2; }; exit 0", blocked("never")),
        (PreToolUse, changes, changed(r#"{"command":"trash x"}"#)),
        (
            PreToolUse,
            r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'"#,
            word(HookWord::Allow),
        ),
        (
            PreToolUse,
            r#"echo '{"substitute":"from the cache"}'"#,
            Answer { substitute: Some("from the cache".to_owned()), ..Answer::default() },
        ),
        (
            PreToolUse,
            "echo noise >&2; echo '{\"decision\":\"block\",\"reason\":\"policy\"}'",
            blocked("policy"),
        ),
        (
            PreToolUse,
            r#"test "$CLAUDE_PROJECT_DIR" = "$PWD" -a "$CAIRN_PROJECT_DIR" = "$PWD" || exit 2"#,
            Answer::default(),
        ),
        (PostToolUse, r#"grep -q '"exit":1' || exit 1; echo lint >&2; exit 2"#, blocked("lint")),
        (
            PostToolUse,
            r#"echo '{"hookSpecificOutput":{"additionalContext":"formatted"}}'"#,
            adds("formatted"),
        ),
        (
            UserPromptSubmit,
            r#"grep -q '"prompt":"fix it"' && echo 'branch main'"#,
            adds("branch main"),
        ),
        (SessionStart, r#"grep -q '"source":"startup"' && echo hello"#, adds("hello")),
        (
            Stop,
            r#"grep -q '"stop_hook_active":true' && echo '{"decision":"block","reason":"again"}'"#,
            blocked("again"),
        ),
        (SessionEnd, r#"cat > seen; grep -q SessionEnd seen"#, Answer::default()),
    ] {
        assert_eq!(ask(&root, kind, command).await, expected, "{kind} {command}");
    }
    assert!(root.join("seen").exists());
}

// keeps: hook-commands
#[tokio::test]
async fn a_script_reads_what_an_event_has_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    use HookEvent::*;
    let changed = |input: &str| Answer { input: Some(input.to_owned()), ..Answer::default() };
    for (kind, command, expected) in [
        (
            PermissionRequest,
            r#"grep -q '"proposal_shown":"rm"' && echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not now"}}}'"#,
            blocked("not now"),
        ),
        (Accepting, r#"grep -q '"by":"me"' && { echo frozen >&2; exit 2; }"#, blocked("frozen")),
        (Decided, r#"grep -q '"verdict":"refuse".*"words":"not that"'"#, Answer::default()),
        (Notification, r#"grep -q '"notification_type":"permission_prompt"'"#, Answer::default()),
        (
            PostToolUseFailure,
            r#"grep -q '"error":"out"' && echo '{"additionalContext":"known"}'"#,
            adds("known"),
        ),
        (
            UnknownTool,
            r#"grep -q '"reason":"unknown"' && echo '{"updatedTool":"Bash","updatedInput":{"command":"ls"}}'"#,
            Answer { tool: Some("Bash".to_owned()), ..changed(r#"{"command":"ls"}"#) },
        ),
        (TurnStart, r#"grep -q '"messages":3' && echo 'be brief'"#, adds("be brief")),
        (TurnEnd, r#"grep -q '"cairn_tool":"bash","status":200'"#, Answer::default()),
    ] {
        assert_eq!(ask(&root, kind, command).await, expected, "{kind} {command}");
    }
}

// keeps: hook-commands
#[tokio::test]
async fn a_hook_that_hangs_or_floods_is_ended_and_a_guard_then_says_no() {
    let folder = tempfile::tempdir().unwrap();
    for kind in HookEvent::ALL {
        let slow = declared(kind, "sleep 1000 & wait", Some(50));
        let hook = CommandHook::own(slow, setup(folder.path()));
        let answer = hook.on(&event(folder.path(), kind)).await;
        assert_eq!(answer.block.is_some(), kind.is_gate(), "{kind}");
        assert_eq!(answer.problem.as_deref(), Some("it did not answer within 50 ms"));
        let flood = ask(folder.path(), kind, "head -c 5000000 /dev/zero | tr '\\0' '{'").await;
        assert_eq!(flood.block.is_some(), kind.is_gate(), "{kind}");
        assert_eq!(flood.problem.as_deref(), Some("its answer is too long to be read"));
    }
    let gone = ask(folder.path(), HookEvent::PreToolUse, "/no/such/program").await;
    assert!(gone.block.is_some() && gone.problem.unwrap().contains("exit code 127"));
    let killed = ask(folder.path(), HookEvent::PreToolUse, "kill -9 $$").await;
    assert!(killed.block.is_some(), "{killed:?}");
}

// keeps: trust-hash
#[tokio::test]
async fn a_projects_hook_allows_nothing_and_runs_only_as_it_was_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join(".cairn")).unwrap();
    let file = "[[PreToolUse]]\ncommand = \"sh guard.sh\"\n";
    std::fs::write(root.join(".cairn/hooks.toml"), file).unwrap();
    let yes = r#"echo '{"decision":"approve","hookSpecificOutput":{"additionalContext":"ran"}}'"#;
    std::fs::write(root.join("guard.sh"), yes).unwrap();
    let setup = setup(root);
    let executable = trust::read(&setup.workspace).unwrap().unwrap();
    let trusted = Arc::new(Trusted::new(&executable));
    let hook = CommandHook::of_project(executable.hooks[0].clone(), setup.clone(), trusted.clone());
    let asked = Declared { event: HookEvent::PermissionRequest, ..executable.hooks[0].clone() };
    let asked = CommandHook::of_project(asked, setup, trusted);
    assert_eq!(asked.on(&event(root, HookEvent::PermissionRequest)).await, adds("ran"));
    let event = event(root, HookEvent::PreToolUse);
    assert_eq!(hook.on(&event).await, adds("ran"));
    std::fs::write(root.join("guard.sh"), "touch ran-untrusted").unwrap();
    let answer = hook.on(&event).await;
    assert!(answer.block.unwrap().contains("not what was trusted"));
    assert!(!root.join("ran-untrusted").exists());
}

// keeps: hook-commands
#[test]
fn hooks_of_the_same_name_are_told_apart_and_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let hook = |kind, matcher: &str, command: &str| -> Arc<dyn Hook> {
        let entry = Entry {
            matcher: Some(matcher.to_owned()),
            command: command.to_owned(),
            timeout_ms: None,
        };
        Arc::new(CommandHook::own(Declared::new(kind, entry).unwrap(), setup(folder.path())))
    };
    let hooks = Hooks::new(vec![
        hook(HookEvent::Stop, "", "z"),
        hook(HookEvent::PreToolUse, "Bash", "a"),
        hook(HookEvent::PreToolUse, "Edit|Write", "a"),
        hook(HookEvent::PreToolUse, "mcp__.*", "never"),
    ]);
    let plans: Vec<String> = hooks
        .plans(&[])
        .iter()
        .map(|plan| format!("{} {} {}", plan.event, plan.name, plan.tools.join(",")))
        .collect();
    assert_eq!(plans, ["PreToolUse a bash,env", "PreToolUse a (2) write,edit", "Stop z "]);
    assert!(hooks.named("a (2)").is_some() && hooks.named("b").is_none());
}
