//! What a command's end and its output mean. Total: whatever it printed, there is an answer.

use super::event::Event;
use super::{Answer, calls};
use cairn_types::{HookEvent, HookWord};
use serde_json::{Map, Value};

/// How many bytes of one text are taken.
const MOST_TEXT: usize = 64 << 10;
const NO_REASON: &str = "no reason was given";

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// By itself.
    Exit(i32),
    /// It did not come to say anything, for this reason.
    Speechless(String),
}

/// What a command printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Printed {
    /// On stdout.
    pub(super) out: String,
    /// There was more of that than is taken.
    pub(super) is_cut: bool,
    /// On stderr.
    pub(super) err: String,
}

/// The answer of a command that was asked about an event.
pub(super) fn answer(event: &Event, ended: Ended, printed: &Printed) -> Answer {
    let kind = event.kind();
    match ended {
        Ended::Speechless(why) => speechless(kind, why),
        Ended::Exit(0) if printed.is_cut => {
            speechless(kind, "its answer is too long to be read".to_owned())
        }
        Ended::Exit(0) => spoken(event, printed.out.trim()),
        Ended::Exit(2) if can_block(kind) => {
            Answer { block: Some(reason(Some(printed.err.trim()))), ..Answer::default() }
        }
        Ended::Exit(code) => {
            let first = printed.err.trim().lines().next().unwrap_or_default();
            let colon = if first.is_empty() { "" } else { ": " };
            problem(format!("it ended with exit code {code}{colon}{}", cut(first)))
        }
    }
}

/// A hook that guards something and cannot speak says no; any other is only reported.
fn speechless(kind: HookEvent, why: String) -> Answer {
    let block = kind.is_gate().then(|| format!("it could not be asked: {why}"));
    Answer { block, ..problem(why) }
}

fn problem(why: String) -> Answer {
    Answer { problem: Some(why), ..Answer::default() }
}

fn can_block(kind: HookEvent) -> bool {
    !matches!(kind, HookEvent::SessionStart | HookEvent::SessionEnd)
}

fn spoken(event: &Event, out: &str) -> Answer {
    let kind = event.kind();
    if !out.starts_with('{') {
        let is_told = matches!(kind, HookEvent::SessionStart | HookEvent::UserPromptSubmit);
        let context = if is_told && !out.is_empty() { vec![cut(out)] } else { Vec::new() };
        return Answer { context, ..Answer::default() };
    }
    match serde_json::from_str::<Map<String, Value>>(out) {
        Ok(said) => of_json(event, &said),
        Err(e) => problem(format!("its answer is not JSON: {e}")),
    }
}

fn of_json(event: &Event, said: &Map<String, Value>) -> Answer {
    let kind = event.kind();
    let none = Map::new();
    let inner = said.get("hookSpecificOutput").and_then(Value::as_object).unwrap_or(&none);
    let text = |map: &Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
    };
    let decision = text(inner, "permissionDecision").or_else(|| text(said, "decision"));
    let why = text(inner, "permissionDecisionReason").or_else(|| text(said, "reason"));
    let blocks = matches!(decision.as_deref(), Some("block" | "deny")) && can_block(kind);
    let is_op = kind == HookEvent::PreToolUse;
    let word = match decision.as_deref() {
        Some("allow" | "approve") if is_op => Some(HookWord::Allow),
        Some("ask") if is_op => Some(HookWord::Ask),
        _ => None,
    };
    let wanted = inner.get("updatedInput").or_else(|| said.get("updatedInput"));
    let input = wanted.and_then(Value::as_object).zip(event.call().filter(|_| is_op));
    let stops = said.get("continue").and_then(Value::as_bool) == Some(false);
    let added = [text(inner, "additionalContext"), text(said, "additionalContext")];
    Answer {
        block: blocks.then(|| reason(why.as_deref())),
        substitute: text(said, "substitute").filter(|_| kind.is_of_op()),
        input: input
            .and_then(|(wanted, call)| calls::changed_input(call, &event.place.root, wanted)),
        context: added.into_iter().flatten().map(|text| cut(&text)).collect(),
        word,
        stop: stops.then(|| reason(text(said, "stopReason").as_deref())),
        problem: None,
    }
}

fn reason(given: Option<&str>) -> String {
    cut(given.filter(|why| !why.is_empty()).unwrap_or(NO_REASON))
}

/// The beginning of a text, as much of it as is taken.
fn cut(text: &str) -> String {
    if text.len() <= MOST_TEXT {
        return text.to_owned();
    }
    let end = (0..=MOST_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n… ({} more bytes)", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::super::event::{Call, Done, Event, Place, What};
    use super::*;
    use cairn_types::{Action, Approval, Coord, Mode, RunId, SessionId, Status};
    use proptest::prelude::*;

    fn event(kind: HookEvent) -> Event {
        let action =
            Action::Exec { command: "ls".into(), cwd: None, timeout_ms: None, background: false };
        let call = Call { at: Coord { lap: 1, turn: 1, seq: 1 }, tool: "bash", action };
        let done =
            Done { status: Status::OK, exit: Some(0), text: String::new(), changes: Vec::new() };
        let what = match kind {
            HookEvent::SessionStart => What::SessionStart { resumed: false },
            HookEvent::UserPromptSubmit => What::UserPromptSubmit { prompt: "go".into() },
            HookEvent::PreToolUse => What::PreToolUse(call),
            HookEvent::PostToolUse => What::PostToolUse(call, done),
            HookEvent::Stop => What::Stop { is_again: false, last: String::new() },
            HookEvent::SessionEnd => What::SessionEnd { status: Status::OK },
        };
        let place = Place {
            session: SessionId::new(1, 1),
            run: RunId::new(1, 1),
            root: "/p".into(),
            mode: Mode::Act,
            approval: Approval::Ask,
        };
        Event { place, what }
    }

    fn said(kind: HookEvent, code: i32, out: &str, err: &str) -> String {
        let printed = Printed { out: out.into(), is_cut: false, err: err.into() };
        let Answer { block, substitute, input, context, word, stop, problem } =
            answer(&event(kind), Ended::Exit(code), &printed);
        let parts = [
            block.map(|t| format!("block {t}")),
            substitute.map(|t| format!("instead {t}")),
            input.map(|t| format!("input {t}")),
            (!context.is_empty()).then(|| format!("adds {}", context.join("|"))),
            word.map(|word| format!("{word:?}")),
            stop.map(|t| format!("stop {t}")),
            problem.map(|t| format!("problem {t}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_a_script_does_means_what_it_means_elsewhere() {
        use HookEvent::*;
        let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}"#;
        for (kind, code, out, err, expected) in [
            (PreToolUse, 0, "", "", ""),
            (PreToolUse, 0, "fine", "noise", ""),
            (PreToolUse, 2, "", "no\n", "block no"),
            (PreToolUse, 2, deny, "", "block no reason was given"),
            (PreToolUse, 1, "", "oops\nmore", "problem it ended with exit code 1: oops"),
            (PreToolUse, 127, "", "", "problem it ended with exit code 127"),
            (PreToolUse, 0, deny, "", "block r"),
            (PreToolUse, 1, deny, "", "problem it ended with exit code 1"),
            (PreToolUse, 0, r#"{"decision":"block","reason":"r"}"#, "", "block r"),
            (PreToolUse, 0, r#"{"decision":"approve"}"#, "", "Allow"),
            (PreToolUse, 0, r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#, "", "Ask"),
            (
                PreToolUse,
                0,
                r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls -l"},"additionalContext":"c"}}"#,
                "",
                r#"input {"command":"ls -l"}; adds c; Allow"#,
            ),
            (PreToolUse, 0, r#"{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}"#, "", ""),
            (PreToolUse, 0, r#"{"substitute":"cached"}"#, "", "instead cached"),
            (PreToolUse, 0, r#"{"continue":false,"stopReason":"late"}"#, "", "stop late"),
            (PreToolUse, 0, r#"{"suppressOutput":true}"#, "", ""),
            (PostToolUse, 2, "", "lint", "block lint"),
            (PostToolUse, 0, r#"{"hookSpecificOutput":{"updatedInput":{"command":"x"}}}"#, "", ""),
            (PostToolUse, 0, r#"{"substitute":"short"}"#, "", "instead short"),
            (UserPromptSubmit, 0, "on main\n", "", "adds on main"),
            (UserPromptSubmit, 2, "", "no", "block no"),
            (SessionStart, 0, "hello", "", "adds hello"),
            (SessionStart, 2, "", "no", "problem it ended with exit code 2: no"),
            (SessionStart, 0, r#"{"decision":"block"}"#, "", ""),
            (Stop, 0, r#"{"decision":"block","reason":"tests"}"#, "", "block tests"),
            (Stop, 0, r#"{"substitute":"x"}"#, "", ""),
            (SessionEnd, 2, "", "", "problem it ended with exit code 2"),
        ] {
            assert_eq!(said(kind, code, out, err), expected, "{kind} {code} {out} {err}");
        }
        let broken = said(PreToolUse, 0, "{\"decision\":", "");
        assert!(broken.starts_with("problem its answer is not JSON"), "{broken}");
    }

    #[test]
    fn a_guard_that_cannot_speak_says_no_and_any_other_is_only_reported() {
        for kind in HookEvent::ALL {
            for (ended, is_cut) in
                [(Ended::Speechless("late".into()), false), (Ended::Exit(0), true)]
            {
                let printed = Printed { is_cut, ..Printed::default() };
                let answer = answer(&event(kind), ended, &printed);
                assert_eq!(answer.block.is_some(), kind.is_gate(), "{kind}");
                assert!(answer.problem.is_some());
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_a_command_prints_there_is_an_answer(
            out in ".{0,200}", json in "\\{\"[a-z]{1,8}\":[\\[\\{\"a-z0-9]{0,9}\\}?", err in ".{0,50}",
            code in -1..300, kind in 0..6usize,
        ) {
            for out in [out, json] {
                let printed = Printed { out, is_cut: false, err: err.clone() };
                answer(&event(HookEvent::ALL[kind]), Ended::Exit(code), &printed);
            }
        }
    }
}
