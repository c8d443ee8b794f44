//! Hooks as another agent's `settings.json` declares them. What Cairn has no event for is named, not
//! guessed at.

use super::declared::{Declared, DeclaredError, Entry, Listed, not_asked_yet};
use cairn_types::{HookEvent, is_event_elsewhere};
use serde_json::Value;

/// Reads the `hooks` of a settings file; one without them has none.
pub fn parse_settings(text: &str) -> Result<Listed, DeclaredError> {
    let form = |what: &str| DeclaredError::Form(what.to_owned());
    let settings: Value = serde_json::from_str(text)
        .map_err(|e| DeclaredError::Form(format!("it is not JSON: {e}")))?;
    let mut imported = Listed::default();
    let Some(events) = settings.get("hooks") else { return Ok(imported) };
    let events = events.as_object().ok_or_else(|| form("its hooks are not an object"))?;
    for (name, groups) in events {
        let Ok(event) = name.parse::<HookEvent>() else {
            imported.left_out.push(match is_event_elsewhere(name) {
                true => not_asked_yet(name),
                false => format!("{name}: there is no such event here"),
            });
            continue;
        };
        let groups = groups.as_array().ok_or_else(|| form(&format!("{name} is not a list")))?;
        for group in groups {
            let hooks = group.get("hooks").and_then(Value::as_array);
            let hooks = hooks.ok_or_else(|| form(&format!("a part of {name} has no hooks")))?;
            let matcher = group.get("matcher").and_then(Value::as_str).map(str::to_owned);
            let has_matcher = event.is_of_op() || event == HookEvent::Notification;
            let matcher = matcher.filter(|_| has_matcher);
            for hook in hooks {
                imported.take(event, matcher.clone(), hook)?;
            }
        }
    }
    Ok(imported)
}

impl Listed {
    fn take(
        &mut self,
        event: HookEvent,
        matcher: Option<String>,
        hook: &Value,
    ) -> Result<(), DeclaredError> {
        let kind = hook.get("type").and_then(Value::as_str).unwrap_or("command");
        let command = hook.get("command").and_then(Value::as_str);
        let (Some(command), "command") = (command, kind) else {
            self.left_out.push(format!("{event}: a hook of type {kind:?}"));
            return Ok(());
        };
        // There it is seconds.
        let seconds = hook.get("timeout").and_then(Value::as_u64);
        let timeout_ms = seconds.map(|seconds| seconds.saturating_mul(1000));
        let entry = Entry { matcher, command: command.to_owned(), timeout_ms };
        self.hooks.push(Declared::new(event, entry)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_of_elsewhere_are_taken_and_what_is_not_is_named() {
        let text = r#"{"model":"x","hooks":{
            "PreToolUse":[{"matcher":"Edit|Write","hooks":[
                {"type":"command","command":"a","timeout":5},{"type":"prompt","prompt":"b"}]}],
            "Stop":[{"hooks":[{"type":"command","command":"c"}]}],
            "SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"s"}]}],
            "Notification":[{"matcher":"idle_prompt","hooks":[{"type":"command","command":"n"}]}],
            "PreCompact":[{"hooks":[{"type":"command","command":"d"}]}],
            "Quux":[{"hooks":[{"type":"command","command":"d"}]}]}}"#;
        let imported = parse_settings(text).unwrap();
        let shown: Vec<String> = imported
            .hooks
            .iter()
            .map(|hook| format!("{} {} {}", hook.event, hook.command, hook.timeout_ms))
            .collect();
        assert_eq!(
            shown,
            ["PreToolUse a 5000", "Stop c 60000", "SessionStart s 60000", "Notification n 60000"]
        );
        assert!(!imported.hooks[3].matcher.means("permission_prompt"));
        assert!(imported.hooks[0].matcher.fits("write") && !imported.hooks[0].matcher.fits("bash"));
        assert_eq!(
            imported.left_out,
            [
                "PreToolUse: a hook of type \"prompt\"",
                "PreCompact: not asked yet, since Cairn does nothing yet that it is about",
                "Quux: there is no such event here"
            ]
        );
        assert!(parse_settings("{}").unwrap().hooks.is_empty());
        for wrong in
            ["", "[1", r#"{"hooks":[]}"#, r#"{"hooks":{"Stop":{}}}"#, r#"{"hooks":{"Stop":[{}]}}"#]
        {
            assert!(parse_settings(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_end_the_process() {
        let deep = format!("{{\"hooks\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse_settings(&deep).is_err());
    }
}
