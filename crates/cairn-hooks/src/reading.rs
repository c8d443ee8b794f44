//! What a command's end and its output mean. Total: whatever it printed, there is an answer.

use super::event::{Event, What};
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

/// How a shell ends that could not start what it was told to: it may not, or there is none.
const UNSTARTABLE: i32 = 126;
const UNFOUND: i32 = 127;

/// The answer of a command that was asked about an event.
pub(super) fn answer(event: &Event, ended: Ended, printed: &Printed) -> Answer {
    let kind = event.kind();
    match ended {
        Ended::Speechless(why) => speechless(kind, why),
        Ended::Exit(0) if printed.is_cut => {
            speechless(kind, "its answer is too long to be read".to_owned())
        }
        Ended::Exit(0) => spoken(event, printed.out.trim()),
        Ended::Exit(2) if kind.may().block => {
            Answer { block: Some(reason(Some(printed.err.trim()))), ..Answer::default() }
        }
        Ended::Exit(code) => {
            let first = printed.err.trim().lines().next().unwrap_or_default();
            let colon = if first.is_empty() { "" } else { ": " };
            let why = format!("it ended with exit code {code}{colon}{}", cut(first));
            match code {
                UNSTARTABLE | UNFOUND => speechless(kind, why),
                _ => problem(why),
            }
        }
    }
}

/// A hook that guards something and cannot speak says no; any other is only reported.
fn speechless(kind: HookEvent, why: String) -> Answer {
    let block = kind.is_gate().then(|| format!("it could not be asked: {why}"));
    Answer { block, ..problem(why) }
}

/// One that spoke and cannot be understood may have said no. So it does, also where a person would be
/// asked: the yes of another hook would spare that question.
fn unclear(kind: HookEvent, why: String) -> Answer {
    let guards = kind.is_gate() || kind == HookEvent::PermissionRequest;
    let block = guards.then(|| format!("what it said cannot be understood: {why}"));
    Answer { block, ..problem(why) }
}

fn problem(why: String) -> Answer {
    Answer { problem: Some(why), ..Answer::default() }
}

fn spoken(event: &Event, out: &str) -> Answer {
    let kind = event.kind();
    if !out.starts_with('{') {
        let is_told = matches!(
            kind,
            HookEvent::SessionStart | HookEvent::UserPromptSubmit | HookEvent::TurnStart
        );
        let context = if is_told && !out.is_empty() { vec![cut(out)] } else { Vec::new() };
        return Answer { context, ..Answer::default() };
    }
    match serde_json::from_str::<Map<String, Value>>(out) {
        Ok(said) => match no_word(&said) {
            None => of_json(event, &said),
            Some(why) => Answer { stop: of_json(event, &said).stop, ..unclear(kind, why) },
        },
        Err(e) => unclear(kind, format!("its answer is not one JSON object: {e}")),
    }
}

/// What stands where a decision should, and is none of those there are.
fn no_word(said: &Map<String, Value>) -> Option<String> {
    let inner = said.get("hookSpecificOutput").unwrap_or(&Value::Null);
    let is_map = |value: &Value| value.is_object() || value.is_null();
    if !is_map(inner) {
        return Some("its hookSpecificOutput is no object".to_owned());
    }
    let deeper = inner.get("decision").unwrap_or(&Value::Null);
    if !is_map(deeper) {
        return Some("the decision of its hookSpecificOutput is no object".to_owned());
    }
    let known = |value: &Value| match value {
        Value::Null => true,
        Value::String(word) => {
            matches!(word.as_str(), "" | "block" | "deny" | "allow" | "approve" | "ask")
        }
        _ => false,
    };
    let words = [
        ("decision", said.get("decision")),
        ("permissionDecision", inner.get("permissionDecision")),
        ("behavior", deeper.get("behavior")),
    ];
    let (name, value) =
        words.into_iter().find_map(|(name, value)| Some((name, value.filter(|v| !known(v))?)))?;
    Some(cut(&format!("its {name} is {value}, which is none of block, deny, allow, approve, ask")))
}

/// What stands in an object, as far as it can be said at the event.
fn of_json(event: &Event, said: &Map<String, Value>) -> Answer {
    let none = Map::new();
    let within = |map: &Map<String, Value>, key: &str| map.get(key)?.as_object().cloned();
    let inner = within(said, "hookSpecificOutput").unwrap_or_default();
    // A permission request is answered one level deeper.
    let deeper = within(&inner, "decision").unwrap_or_default();
    let text = |map: &Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
    };
    let may = event.kind().may();
    let decision = text(&deeper, "behavior")
        .or_else(|| text(&inner, "permissionDecision"))
        .or_else(|| text(said, "decision"));
    let why = text(&deeper, "message")
        .or_else(|| text(&inner, "permissionDecisionReason"))
        .or_else(|| text(said, "reason"));
    let blocks = matches!(decision.as_deref(), Some("block" | "deny")) && may.block;
    let word = match decision.as_deref() {
        Some("allow" | "approve") => Some(HookWord::Allow),
        Some("ask") => Some(HookWord::Ask),
        _ => None,
    };
    let mut wanted = [&deeper, &inner, said].into_iter();
    let wanted = wanted.find_map(|map| map.get("updatedInput")?.as_object()).unwrap_or(&none);
    let is = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_bool);
    let stop = if is(said, "continue") == Some(false) {
        Some(reason(text(said, "stopReason").as_deref()))
    } else {
        // Refused, and no further.
        (blocks && is(&deeper, "interrupt") == Some(true)).then(|| reason(why.as_deref()))
    };
    let added = [text(&inner, "additionalContext"), text(said, "additionalContext")];
    Answer {
        block: blocks.then(|| reason(why.as_deref())),
        substitute: text(said, "substitute").filter(|_| may.substitute),
        input: changed(event, wanted).filter(|_| may.input),
        tool: text(&inner, "updatedTool")
            .or_else(|| text(said, "updatedTool"))
            .filter(|_| event.kind() == HookEvent::UnknownTool),
        context: added.iter().flatten().filter(|_| may.context).map(|text| cut(text)).collect(),
        word: word.filter(|_| may.word),
        stop: stop.filter(|_| may.stop),
        problem: None,
    }
}

/// The arguments that are wanted. An op keeps those that are not named; a call that made no sense has
/// none to keep.
fn changed(event: &Event, wanted: &Map<String, Value>) -> Option<String> {
    match (&event.what, event.call()) {
        (What::UnknownTool(_), _) => {
            (!wanted.is_empty()).then(|| Value::Object(wanted.clone()).to_string())
        }
        (_, Some(call)) => calls::changed_input(call, &event.place.root, wanted),
        (_, None) => None,
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
    use super::super::event::{Call, Done, Event, Place, Request, Senseless, What, Word};
    use super::*;
    use cairn_types::{Action, Approval, Coord, Exec, Mode, RunId, SessionId, Status, Verdict};
    use proptest::prelude::*;

    fn event(kind: HookEvent) -> Event {
        let action = Action::Exec(Exec { command: "ls".into(), ..Exec::default() });
        let call = Call { at: Coord { lap: 1, turn: 1, seq: 1 }, tool: "bash".to_owned(), action };
        let done =
            Done { status: Status::OK, exit: Some(0), text: String::new(), changes: Vec::new() };
        let what = match kind {
            HookEvent::SessionStart => What::SessionStart { resumed: false },
            HookEvent::UserPromptSubmit => What::UserPromptSubmit { prompt: "go".into() },
            HookEvent::TurnStart => What::TurnStart(Request {
                turn: 1,
                model: "scripted/test".into(),
                messages: 1,
                bytes: 2,
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
                What::PermissionRequest { call, shown: "ls".into(), hosts: Vec::new() }
            }
            HookEvent::Notification => {
                What::Notification { proposal: "p1.1.1".into(), message: "ls".into() }
            }
            HookEvent::Decided => {
                let (proposal, by) = ("p1.1.1".into(), "me".into());
                What::Decided(call, Word { proposal, verdict: Verdict::Allow, by, words: None })
            }
            HookEvent::Accepting => What::Accepting { call, by: "me".into() },
            HookEvent::PostToolUse => What::PostToolUse(call, done),
            HookEvent::PostToolUseFailure => What::PostToolUseFailure(call, done),
            HookEvent::TurnEnd => What::TurnEnd { turn: 1, ops: Vec::new() },
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
        let Answer { block, substitute, input, tool, context, word, stop, problem } =
            answer(&event(kind), Ended::Exit(code), &printed);
        let parts = [
            block.map(|t| format!("block {t}")),
            substitute.map(|t| format!("instead {t}")),
            input.map(|t| format!("input {t}")),
            tool.map(|t| format!("tool {t}")),
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
            (
                PreToolUse,
                127,
                "",
                "",
                "block it could not be asked: it ended with exit code 127; problem it ended with exit code 127",
            ),
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
    }

    #[test]
    fn a_guard_that_cannot_be_understood_says_no_and_any_other_is_only_reported() {
        let known = r#"{"decision":"block","reason":"no"}"#;
        let two = format!("{known}\nchecked");
        for (out, why) in [
            (two.as_str(), "its answer is not one JSON object"),
            (r#"{"decision":"#, "its answer is not one JSON object"),
            (r#"{"decision":"block"}{"decision":"block"}"#, "its answer is not one JSON object"),
            (r#"{"decision":"Block"}"#, r#"its decision is "Block", which is none of"#),
            (r#"{"decision":false}"#, "its decision is false, which is none of"),
            (r#"{"decision":{"behavior":"deny"}}"#, "its decision is {"),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"denied"}}"#,
                r#"its permissionDecision is "denied", which"#,
            ),
            (
                r#"{"decision":"approve","hookSpecificOutput":{"decision":{"behavior":"refuse"}}}"#,
                r#"its behavior is "refuse", which"#,
            ),
            (r#"{"hookSpecificOutput":{"decision":"deny"}}"#, "the decision of its hook"),
            (r#"{"hookSpecificOutput":["deny"]}"#, "its hookSpecificOutput is no object"),
        ] {
            for kind in HookEvent::ALL {
                let guards = kind.is_gate() || kind == HookEvent::PermissionRequest;
                let before = if guards { "block what it said cannot be understood: " } else { "" };
                let problem = if guards { "" } else { "problem " };
                let answer = said(kind, 0, out, "");
                assert!(answer.starts_with(&format!("{before}{problem}{why}")), "{kind} {answer}");
                assert!(answer.contains("problem ") && !answer.contains("Allow"), "{answer}");
            }
        }
        // Nothing is said by what is empty, and a word to stop is heard beside any other.
        assert_eq!(said(HookEvent::PreToolUse, 0, r#"{"decision":null}"#, ""), "");
        assert_eq!(said(HookEvent::PreToolUse, 0, r#"{"decision":""}"#, ""), "");
        let stops = said(HookEvent::Stop, 0, r#"{"decision":"no","continue":false}"#, "");
        assert!(stops.starts_with("stop no reason was given; problem its decision"), "{stops}");
    }

    #[test]
    fn what_an_answer_may_not_do_at_its_event_is_dropped() {
        use HookEvent::*;
        let deeper =
            |decision: &str| format!(r#"{{"hookSpecificOutput":{{"decision":{decision}}}}}"#);
        for (kind, out, expected) in [
            (PermissionRequest, deeper(r#"{"behavior":"deny","message":"m"}"#), "block m"),
            (PermissionRequest, deeper(r#"{"behavior":"allow"}"#), "Allow"),
            (
                PermissionRequest,
                deeper(r#"{"behavior":"allow","updatedInput":{"command":"ls -l"}}"#),
                r#"input {"command":"ls -l"}; Allow"#,
            ),
            (
                PermissionRequest,
                deeper(r#"{"behavior":"deny","message":"m","interrupt":true}"#),
                "block m; stop m",
            ),
            (PermissionRequest, r#"{"decision":"block","reason":"r"}"#.to_owned(), "block r"),
            (PermissionRequest, r#"{"substitute":"x"}"#.to_owned(), ""),
            (Accepting, r#"{"decision":"block","reason":"r"}"#.to_owned(), "block r"),
            (Accepting, deeper(r#"{"behavior":"allow","updatedInput":{"command":"x"}}"#), ""),
            (Accepting, r#"{"hookSpecificOutput":{"additionalContext":"c"}}"#.to_owned(), ""),
            (Decided, r#"{"decision":"block","continue":false}"#.to_owned(), ""),
            (Notification, r#"{"decision":"block","additionalContext":"c"}"#.to_owned(), ""),
            (
                UnknownTool,
                r#"{"hookSpecificOutput":{"updatedTool":"Bash","updatedInput":{"command":"ls"}}}"#
                    .to_owned(),
                r#"input {"command":"ls"}; tool Bash"#,
            ),
            (UnknownTool, r#"{"substitute":"there is none"}"#.to_owned(), "instead there is none"),
            (PreToolUse, r#"{"updatedTool":"Bash"}"#.to_owned(), ""),
            (PostToolUseFailure, r#"{"substitute":"short"}"#.to_owned(), "instead short"),
            (TurnStart, "it is late".to_owned(), "adds it is late"),
            (TurnStart, r#"{"decision":"block","reason":"r"}"#.to_owned(), "block r"),
            (TurnEnd, "noise".to_owned(), ""),
            (TurnEnd, r#"{"additionalContext":"c","decision":"block"}"#.to_owned(), "adds c"),
            (TurnEnd, r#"{"continue":false,"stopReason":"late"}"#.to_owned(), "stop late"),
        ] {
            assert_eq!(said(kind, 0, &out, ""), expected, "{kind} {out}");
        }
        for kind in HookEvent::ALL {
            let refuses = said(kind, 2, "", "no") == "block no";
            assert_eq!(refuses, kind.may().block, "{kind}");
        }
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
            out in "(é|日|😀|.){0,200}", json in "\\{\"[a-z]{1,8}\":[\\[\\{\"a-z0-9é日😀]{0,9}\\}?", err in "(é|日|😀|.){0,50}",
            code in -1..300, kind in 0..HookEvent::ALL.len(),
        ) {
            for out in [out, json] {
                let printed = Printed { out, is_cut: false, err: err.clone() };
                answer(&event(HookEvent::ALL[kind]), Ended::Exit(code), &printed);
            }
        }
    }
}
