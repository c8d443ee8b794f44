//! Runs scripts over a content, line by line, as sed does.

use super::{Address, Bit, Command, Script, Substitute, Verb};
use crate::patch::{PatchProblem, refuse_too_much};

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

/// The content after a script.
pub(in crate::patch) fn run(script: &Script, content: &str) -> Result<String, PatchProblem> {
    refuse_too_much(script.commands.len(), content.len())?;
    let total = content.split_inclusive('\n').count();
    let end = if content.contains("\r\n") { "\r\n" } else { "\n" };
    let mut progress = vec![Progress::default(); script.commands.len()];
    let mut out = String::with_capacity(content.len());
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
        put(&mut out, &now.above, end);
        if kept {
            put(
                &mut out,
                &(now.text + "\n"),
                if line.len() > bare.len() { &line[bare.len()..] } else { end },
            );
        }
        put(&mut out, &now.below, end);
        if out.len() > crate::patch::MAX_BYTES {
            return Err(PatchProblem::TooLarge { limit: crate::patch::MAX_BYTES });
        }
    }
    if !content.ends_with('\n') {
        // The last line keeps its missing end, whichever line that is now.
        let ended =
            out.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest).len());
        out.truncate(ended.unwrap_or(out.len()));
    }
    refuse_idle(script, &progress, total)?;
    Ok(out)
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
