//! Calling a person who is not at the terminal: a bell, or a notice of the desktop where the terminal
//! is known to pass one on. Once for each question, never into a pipe, and in plain characters only.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Someone who typed a line this recently is there.
const THERE: Duration = Duration::from_secs(3);
/// How much of a question a notice holds.
const LONGEST: usize = 80;

/// How to call.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Not at all.
    #[default]
    Off,
    /// With a bell.
    Bell,
    /// With a bell and `OSC 9`, as iTerm, WezTerm, Ghostty and kitty have it.
    Osc9,
    /// With a bell and `OSC 777`, as foot, urxvt and VTE have it.
    Osc777,
}

impl Call {
    /// What the setting means at this terminal.
    pub fn of(setting: &str, env: &dyn Fn(&str) -> Option<String>) -> Call {
        match setting {
            _ if !std::io::stderr().is_terminal() => Call::Off,
            "off" => Call::Off,
            "desktop" => Call::desktop(env),
            _ => Call::Bell,
        }
    }

    /// What the terminal is known to pass on. Inside tmux and screen nothing is.
    fn desktop(env: &dyn Fn(&str) -> Option<String>) -> Call {
        let term = env("TERM").unwrap_or_default();
        let program = env("TERM_PROGRAM").unwrap_or_default();
        if env("TMUX").is_some() || term.starts_with("screen") || term.starts_with("tmux") {
            Call::Bell
        } else if matches!(program.as_str(), "iTerm.app" | "WezTerm" | "ghostty")
            || term == "xterm-kitty"
        {
            Call::Osc9
        } else if term.starts_with("foot")
            || term.starts_with("rxvt-unicode")
            || env("VTE_VERSION").is_some()
        {
            Call::Osc777
        } else {
            Call::Bell
        }
    }

    /// The bytes that call, for a question in a few words.
    fn bytes(self, question: &str) -> String {
        let words = plain(question);
        match self {
            Call::Off => String::new(),
            Call::Bell => "\x07".to_owned(),
            Call::Osc9 => format!("\x07\x1b]9;Cairn asks: {words}\x1b\\"),
            Call::Osc777 => format!("\x07\x1b]777;notify;Cairn asks;{words}\x1b\\"),
        }
    }
}

/// Letters, digits and what stands between them: nothing that a terminal could take for an order.
fn plain(text: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || " ./-_+:,()'\"=@#%&*?".contains(c);
    text.chars().map(|c| if safe(c) { c } else { ' ' }).take(LONGEST).collect()
}

/// Who is called, and when they were last there.
#[derive(Debug, Default)]
pub struct Bell {
    call: Call,
    typed: Option<Instant>,
}

impl Bell {
    /// A bell that calls like this.
    pub fn new(call: Call) -> Bell {
        Bell { call, typed: None }
    }

    /// Someone typed a line.
    pub fn typed(&mut self) {
        self.typed = Some(Instant::now());
    }

    /// Calls whoever is not there.
    pub fn ring(&self, question: &str) {
        if self.typed.is_some_and(|at| at.elapsed() < THERE) {
            return;
        }
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "{}", self.call.bytes(question)).and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_goes_only_where_the_terminal_is_known_to_pass_it_on() {
        let check = |set: &[(&str, &str)], call: Call| {
            let env = |name: &str| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(Call::desktop(&env), call, "{set:?}");
        };
        check(&[("TERM_PROGRAM", "WezTerm")], Call::Osc9);
        check(&[("TERM", "xterm-kitty")], Call::Osc9);
        check(&[("TERM", "foot-extra")], Call::Osc777);
        check(&[("VTE_VERSION", "7600"), ("TERM", "xterm-256color")], Call::Osc777);
        check(&[("TERM", "xterm-256color")], Call::Bell);
        check(&[("TERM_PROGRAM", "WezTerm"), ("TMUX", "x")], Call::Bell);
        check(&[], Call::Bell);
    }

    #[test]
    fn nothing_in_a_question_can_end_the_notice_or_begin_another() {
        let evil = "run: a\x1b\\\x07\x1b]0;title\u{9c}; rm\n";
        assert_eq!(
            Call::Osc777.bytes(evil),
            "\x07\x1b]777;notify;Cairn asks;run: a     0 title   rm \x1b\\"
        );
        assert_eq!(Call::Osc9.bytes(&"x".repeat(500)).len(), 3 + 2 + 12 + 80 + 2);
        assert_eq!(Call::Bell.bytes(evil), "\x07");
        assert_eq!(Call::Off.bytes(evil), "");
    }
}
