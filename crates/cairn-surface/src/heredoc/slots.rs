//! The slots of a statement as they stand: what is in them, in whatever order, up to the body. What they mean for an
//! op is not looked at here.

use super::{Fault, shown};

/// What stands in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot<'a> {
    /// What is between the brackets.
    pub text: &'a str,
    /// Where the bracket stands.
    pub at: usize,
}

/// The slots before a body.
#[derive(Debug, Default)]
pub(super) struct Slots<'a> {
    /// `[…]`
    pub signal: Option<Slot<'a>>,
    /// `(…)`
    pub target: Option<Slot<'a>>,
    /// `<…>`
    pub scope: Option<Slot<'a>>,
    /// What is wrong with them, the first thing.
    pub fault: Option<Fault>,
}

/// How slots are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The body begins here.
    Body(usize),
    /// Something else stands here.
    Broken(usize),
    /// There are none, and no body: a name is only spoken of.
    Mention,
}

/// Reads the slots behind a name that stands with its `<<` at this byte.
pub(super) fn slots<'a>(text: &'a str, start: usize, name: &str) -> (Slots<'a>, End) {
    let mut slots = Slots::default();
    let mut at = start + 2 + name.len();
    let other = |slots: Slots<'a>, at: usize| other(slots, text, at, (start, name));
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        let inner = match rest.as_bytes() {
            [b':', ..] => return (slots, End::Body(at + 1)),
            [b'(', ..] => balanced(rest),
            [b'[', ..] => within(rest, b']'),
            [b'<', b'<', ..] => return other(slots, at),
            [b'<', ..] => within(rest, b'>'),
            _ => return other(slots, at),
        };
        let Some(inner) = inner else {
            let note = format!("{} is not closed", shown(rest));
            slots.blame(Fault::new("slot_unclosed", at, note));
            return (slots, End::Broken(at + 1));
        };
        slots.take(Slot { text: inner, at }, rest);
        at += inner.len() + 2;
    }
}

/// Slots that are followed by neither a slot nor a body.
fn other<'a>(
    mut slots: Slots<'a>,
    text: &'a str,
    at: usize,
    (start, name): (usize, &str),
) -> (Slots<'a>, End) {
    let rest = &text[at..];
    if !slots.is_any() && !rest.is_empty() {
        return (slots, End::Mention);
    }
    slots.blame(match rest {
        "" => {
            let note = format!("the text ends before the body of <<{name}");
            Fault::new("unparsed_tail", start, note)
        }
        _ if rest.starts_with("<<") => {
            let note = format!("another statement begins before the body of <<{name}");
            Fault::new("body_missing", start, note)
        }
        _ => {
            let said = shown(rest);
            let note = format!("{said:?} stands before the body; a body is read behind \":\"");
            Fault::new("slot_unknown", at, note)
        }
    });
    (slots, End::Broken(at))
}

impl<'a> Slots<'a> {
    /// Whether there is one.
    pub(super) fn is_any(&self) -> bool {
        self.signal.is_some() || self.target.is_some() || self.scope.is_some()
    }

    fn take(&mut self, slot: Slot<'a>, rest: &str) {
        let place = match rest.as_bytes() {
            [b'(', ..] => &mut self.target,
            [b'[', ..] => &mut self.signal,
            _ => &mut self.scope,
        };
        match place {
            None => *place = Some(slot),
            Some(_) => {
                let again = shown(&rest[..slot.text.len() + 2]);
                self.blame(Fault::new(
                    "slot_twice",
                    slot.at,
                    format!("{again} is the second of its kind"),
                ));
            }
        }
    }

    /// Only the first fault of a statement is told.
    fn blame(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }
}

/// What stands in balanced parentheses at the beginning. None where another statement begins before they are closed.
fn balanced(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return text.get(1..at),
            b')' => depth -= 1,
            b'<' if bytes.get(at + 1) == Some(&b'<') => return None,
            _ => {}
        }
    }
    None
}

/// What stands between a bracket at the beginning and its end, in the same line. None where another statement begins
/// before it is closed.
fn within(text: &str, close: u8) -> Option<&str> {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            b'\n' => return None,
            b'<' if bytes.get(at + 1) == Some(&b'<') => return None,
            byte if *byte == close => return text.get(1..at),
            _ => {}
        }
    }
    None
}
