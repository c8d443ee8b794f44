//! Runs scripts over a content, line by line, as sed does.

use super::{Address, Bit, Command, Script, Substitute, Verb};
use crate::edit::{Edited, Piece, Work};
use crate::patch::{PatchProblem, refuse_too_much};
use std::ops::Range;

/// How much longer a line may become than four times what it was.
const MAX_GROWTH: usize = 64 << 10;

/// Where a command stands within its range.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Within a range that is not over.
    inside: bool,
    /// It has acted on some line.
    acted: bool,
}

/// A line on its way through the script.
struct Line {
    number: usize,
    last: bool,
    /// The most bytes it may have.
    most: usize,
    text: String,
    above: String,
    below: String,
}

/// The content after a script, and where it moved the lines that stayed.
pub(in crate::patch) fn run(script: &Script, content: &str) -> Result<Edited, PatchProblem> {
    refuse_too_much(script.commands.len(), content.len())?;
    let total = content.split_inclusive('\n').count();
    let end = if content.contains("\r\n") { "\r\n" } else { "\n" };
    let mut progress = vec![Progress::default(); script.commands.len()];
    let mut out = String::with_capacity(content.len());
    let (mut pieces, mut at) = (Vec::new(), 0);
    for (index, line) in content.split_inclusive('\n').enumerate() {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = bare.strip_suffix('\r').filter(|_| bare.len() < line.len()).unwrap_or(bare);
        let mut now = Line {
            number: index + 1,
            last: index + 1 == total,
            most: 4 * bare.len() + MAX_GROWTH,
            text: bare.to_owned(),
            above: String::new(),
            below: String::new(),
        };
        let kept = through(script, &mut progress, &mut now)?;
        let before = out.len();
        put(&mut out, &now.above, end);
        let own = out.len();
        let stays = kept && now.text == bare;
        if kept {
            let own_end = if line.len() > bare.len() { &line[bare.len()..] } else { end };
            put(&mut out, &(now.text + "\n"), own_end);
        }
        put(&mut out, &now.below, end);
        if !line.ends_with('\n') {
            // The last line keeps its missing end, whichever line that is now.
            remove_last_end(&mut out);
        }
        let made = out.get(before..).unwrap_or_default();
        match stays.then(|| made.split_at(own - before)) {
            Some((above, rest)) => {
                push_piece(&mut pieces, at..at, above);
                push_piece(
                    &mut pieces,
                    at + line.len()..at + line.len(),
                    rest.get(line.len()..).unwrap_or_default(),
                );
            }
            None => push_piece(&mut pieces, at..at + line.len(), made),
        }
        at += line.len();
        if out.len() > crate::patch::MAX_BYTES {
            return Err(PatchProblem::TooLarge { limit: crate::patch::MAX_BYTES });
        }
    }
    refuse_idle(script, &progress, total)?;
    let mut work = Work::on(content);
    work.exchange(&pieces);
    match work.content() == out {
        true => Ok(work.done(Vec::new())),
        // The line before a deleted last one lost its end too.
        false => Ok(Edited::rewritten(None, out)),
    }
}

/// Adds what replaces a range of the content, together with what was inserted at the same place before it.
fn push_piece(pieces: &mut Vec<Piece>, at: Range<usize>, text: &str) {
    match pieces.last_mut() {
        _ if at.is_empty() && text.is_empty() => {}
        Some(last) if last.at.is_empty() && last.at == at => last.text.push_str(text),
        _ => pieces.push(Piece { at, text: text.to_owned() }),
    }
}

fn remove_last_end(out: &mut String) {
    let ended = out.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest).len());
    out.truncate(ended.unwrap_or(out.len()));
}

/// Lines that end with a line feed each, with the given line end.
fn put(out: &mut String, lines: &str, end: &str) {
    for line in lines.split_inclusive('\n') {
        out.push_str(line.strip_suffix('\n').unwrap_or(line));
        out.push_str(end);
    }
}

/// Runs the commands on one line. Says whether the line stays.
fn through(script: &Script, all: &mut [Progress], line: &mut Line) -> Result<bool, PatchProblem> {
    for (command, progress) in script.commands.iter().zip(all) {
        let addressed = addressed(command, progress, line) != command.negated;
        if !addressed {
            continue;
        }
        match &command.verb {
            Verb::Substitute(change) => {
                progress.acted |= change.apply(&mut line.text, line.most)?
            }
            Verb::Insert(text) => line.above.push_str(&format!("{text}\n")),
            Verb::Append(text) => line.below.push_str(&format!("{text}\n")),
            Verb::Delete => {}
            // A range changes into one text, at its end.
            Verb::Change(text) if command.to.is_none() || command.negated || !progress.inside => {
                line.above.push_str(&format!("{text}\n"));
            }
            Verb::Change(_) => {}
        }
        if !matches!(command.verb, Verb::Substitute(_)) {
            progress.acted = true;
        }
        if matches!(command.verb, Verb::Delete | Verb::Change(_)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a command's addresses take in this line.
fn addressed(command: &Command, progress: &mut Progress, line: &Line) -> bool {
    let is = |address: &Address| match address {
        Address::Line(number) => *number == line.number,
        Address::Last => line.last,
        Address::Pattern(pattern) => pattern.is_match(&line.text),
    };
    let (Some(from), to) = (&command.from, &command.to) else { return true };
    let Some(to) = to else { return is(from) };
    if progress.inside {
        let over = match to {
            Address::Line(number) => *number <= line.number,
            other => is(other),
        };
        progress.inside = !over;
        return true;
    }
    let begins = is(from);
    let one = matches!(to, Address::Line(number) if *number <= line.number)
        || (matches!(to, Address::Last) && line.last);
    progress.inside = begins && !one;
    begins
}

impl Substitute {
    /// Replaces what it shall in a text. Says whether there was anything.
    fn apply(&self, text: &mut String, most: usize) -> Result<bool, PatchProblem> {
        let mut out = String::new();
        let (mut from, mut count) = (0, 0);
        for groups in self.pattern.captures_iter(text) {
            count += 1;
            let Some(found) = groups.get(0) else { continue };
            if count < self.nth {
                continue;
            }
            out.push_str(&text[from..found.start()]);
            for bit in &self.replacement {
                match bit {
                    Bit::Text(text) => out.push_str(text),
                    Bit::Group(n) => {
                        out.push_str(groups.get(*n).map_or("", |group| group.as_str()))
                    }
                }
            }
            from = found.end();
            if out.len() > most {
                return Err(PatchProblem::LongLine { most });
            }
            if !self.all {
                break;
            }
        }
        if count < self.nth {
            return Ok(false);
        }
        out.push_str(&text[from..]);
        *text = out;
        Ok(true)
    }
}

/// Refuses a command that did nothing, or whose range never ended.
fn refuse_idle(script: &Script, all: &[Progress], total: usize) -> Result<(), PatchProblem> {
    for (index, (command, progress)) in script.commands.iter().zip(all).enumerate() {
        let beyond = matches!(command.to, Some(Address::Line(number)) if number > total);
        if !progress.acted || progress.inside || beyond {
            let command = command.shown.clone();
            return Err(PatchProblem::NoMatch { part: index + 1, command });
        }
    }
    Ok(())
}
