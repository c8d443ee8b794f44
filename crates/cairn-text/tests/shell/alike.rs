//! Random lines against real shells: what is known is what they run.

use crate::dice::Dice;
use crate::real::{self, Folder, NAMES, Ran};
use crate::soup;
use cairn_text::shell::parse;
use cairn_types::{CommandLine, Joint, RedirectKind, Simple};

/// A number that whoever runs the test may set: `CAIRN_LINES`, how many lines, and `CAIRN_SEED`, which
/// ones.
#[allow(clippy::disallowed_methods, reason = "a test asks how long it shall run")]
fn told(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Whether what the line runs depends on nothing but its text, in the folder it is run in.
fn is_telling(shell: &str, commands: &[Simple]) -> bool {
    let words = |c: &Simple| {
        let plain = c.words.iter().all(|w| !(w.open && w.text.contains('~')));
        let name = c.words.first().map_or("a", |word| word.text.as_str());
        let named = shell == "bash" || NAMES.contains(&name);
        plain && named && !name.contains('/') && !matches!(name, ":" | "." | "[" | "bg" | "fg")
    };
    let files = |c: &Simple| {
        // What was closed cannot be copied.
        let closes = c.redirects.iter().any(|redirect| redirect.target == "-");
        (!closes || c.redirects.len() == 1)
            && c.redirects.iter().all(|redirect| match redirect.kind {
                RedirectKind::HereDoc => true,
                RedirectKind::Dup => matches!(redirect.target.as_str(), "-" | "0" | "1" | "2"),
                _ => matches!(redirect.target.as_str(), "f" | "g" | "/dev/null"),
            })
    };
    commands.iter().all(|c| words(c) && files(c))
}

/// What runs when every command that is one ends with `code`.
fn expected(commands: &[Simple], code: u8) -> Vec<Ran> {
    let (mut ran, mut status, mut runs) = (Vec::new(), 0, true);
    for command in commands {
        runs = match command.joint {
            Joint::Then => true,
            Joint::And => status == 0,
            Joint::Or => status != 0,
            Joint::Pipe => runs,
        };
        if runs {
            status = if command.words.is_empty() { 0 } else { code };
            ran.push(command.words.iter().map(|word| word.text.clone()).collect());
        }
    }
    ran.retain(|words: &Ran| !words.is_empty());
    ran
}

fn compare(shell: &str, cases: usize) {
    if !real::has(shell) {
        return eprintln!("there is no {shell} to compare with");
    }
    let (folder, seed) = (Folder::new(&format!("alike-{shell}")), told("CAIRN_SEED", 0) as u64);
    let (mut known, mut compared, mut wrong) = (0, 0, Vec::new());
    for batch in 0..cases.div_ceil(1000) {
        let mut lines = Vec::new();
        for case in batch * 1000..cases.min((batch + 1) * 1000) {
            let mut dice = Dice::seeded(seed << 32 | case as u64);
            let (line, code) = (soup::line(&mut dice), u8::from(dice.one_in(2)));
            if let CommandLine::Known(commands) = parse(&line) {
                known += 1;
                if is_telling(shell, &commands) {
                    lines.push((commands, (line, code)));
                }
            }
        }
        let (commands, lines): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
        let ran = real::ran(shell, folder.path(), &lines);
        for ((commands, (line, code)), mut ran) in commands.iter().zip(&lines).zip(ran) {
            let mut meant = expected(commands, *code);
            if commands.iter().any(|c| c.joint == Joint::Pipe) {
                ran.sort();
                meant.sort();
            }
            compared += 1;
            if ran != meant {
                wrong.push(format!("{line:?}\n  {shell} {ran:?}\n  read {meant:?}"));
            }
        }
    }
    eprintln!("{shell}: {cases} lines, {known} known, {compared} compared, {} wrong", wrong.len());
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared * 5 > cases, "only {compared} of {cases} lines could be compared");
}

// keeps: reads-like-the-shell
#[test]
fn what_is_known_is_what_bash_runs() {
    compare("bash", told("CAIRN_LINES", 3000));
}

// keeps: reads-like-the-shell
#[test]
fn what_is_known_is_what_dash_runs() {
    compare("dash", told("CAIRN_LINES", 3000));
}
