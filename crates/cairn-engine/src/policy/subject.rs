//! What an op touches, told from what was asked for: paths it looks at and changes, the command it
//! runs, the hosts that names. Looks nothing up.

use crate::schemes::is_remote;
use cairn_text::{patch, shell};
use cairn_types::{
    Action, Carry, CommandLine, EditBody, Exec, Place, Post, Status, Subject, scheme_of,
};

/// The longest command whose text is kept for rules, in bytes.
const LONGEST: usize = 16 << 10;

/// What this action touches.
#[must_use]
pub fn of(action: &Action) -> Subject {
    let reads = |paths: Vec<String>| {
        let hosts = paths.iter().flat_map(|path| reached(path)).collect();
        Subject { reads: paths, hosts, ..Subject::default() }
    };
    let writes = |paths: Vec<String>| Subject { writes: paths, ..Subject::default() };
    match action {
        Action::Find(find) => reads(vec![find.under.clone().unwrap_or_else(|| ".".to_owned())]),
        Action::List { path, .. } => reads(vec![path.clone()]),
        Action::Read(read) => reads(vec![read.path.clone()]),
        Action::Edit(edit) => writes(edited(edit.path.as_deref(), &edit.body)),
        Action::Copy(Carry { from, to, .. }) => {
            Subject { writes: vec![to.clone()], ..reads(vec![from.clone()]) }
        }
        Action::Move(Carry { from, to, .. }) => writes(vec![from.clone(), to.clone()]),
        Action::Kill { path } => writes(vec![path.clone()]),
        Action::Exec(exec) => Subject { beside: exec.background, ..run(exec) },
        Action::Send(Post { to: Some(to), status, text }) => {
            let is_input = matches!(scheme_of(to), Some("exec" | "log"));
            match is_input && *status == Status::OK.0 {
                // What a shell reads it runs.
                true => Subject { beside: true, reads: vec![to.clone()], ..line(text) },
                false => reads(vec![to.clone()]),
            }
        }
        Action::Send(_)
        | Action::Open { .. }
        | Action::Fold { .. }
        | Action::Todo { .. }
        | Action::Consult(_)
        // Its source says what it touches.
        | Action::Call(_) => Subject::default(),
    }
}

/// The paths of an edit: the one it is given, and those its patch names.
fn edited(path: Option<&str>, body: &EditBody) -> Vec<String> {
    let mut paths: Vec<String> = path.map(str::to_owned).into_iter().collect();
    if let EditBody::Patch(text) = body {
        for file in patch::parse(text).unwrap_or_default() {
            paths.extend(file.path.into_iter().chain(file.moved_to));
        }
    }
    paths.dedup();
    paths
}

/// A line for the shell.
fn line(text: &str) -> Subject {
    run(&Exec { command: text.to_owned(), ..Exec::default() })
}

fn run(exec: &Exec) -> Subject {
    let Exec { command, cwd, runtime, .. } = exec;
    let line = match runtime.as_deref() {
        None | Some("sh" | "bash") => shell::parse(command),
        Some(runtime) => CommandLine::Unsure { why: format!("code for {runtime}") },
    };
    let (hosts, text) = match &line {
        CommandLine::Known(commands) => {
            let words = commands.iter().flat_map(|simple| &simple.words);
            let mut hosts: Vec<String> = words.flat_map(|word| hosts(&word.text)).collect();
            hosts.sort_unstable();
            hosts.dedup();
            (hosts, None)
        }
        CommandLine::Unsure { .. } => {
            (Vec::new(), (command.len() <= LONGEST).then(|| command.to_owned()))
        }
    };
    Subject { cwd: cwd.clone(), command: Some(line), text, hosts, ..Subject::default() }
}

/// The host that reading an entry reaches, and the same with its port where that is not a usual one.
fn reached(path: &str) -> Vec<String> {
    let uri = match Place::of(path) {
        Ok(Place::Entry(uri)) if is_remote(path) => uri.to_string(),
        _ => return Vec::new(),
    };
    let Some(named) = host(&uri) else { return Vec::new() };
    let authority = uri.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let port = match authority.rsplit_once(':') {
        Some((_, port)) if !port.ends_with(']') && !USUAL.contains(&port) => Some(port),
        _ => None,
    };
    let whole = port.map(|port| match named.contains(':') {
        true => format!("[{named}]:{port}"),
        false => format!("{named}:{port}"),
    });
    std::iter::once(named).chain(whole).collect()
}

/// The ports that a rule need not name.
const USUAL: [&str; 2] = ["80", "443"];

/// The host that a word names, and the same with its port where that is not a usual one.
fn hosts(word: &str) -> Vec<String> {
    let Some(named) = host(word) else { return Vec::new() };
    let with = word.split_once("://").and_then(|(_, rest)| {
        let authority = rest.split(['/', '\\', '?', '#']).next()?;
        let (before, port) = authority.rsplit_once(':')?;
        let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        let is_plain = !before.ends_with(']') && is_port && !USUAL.contains(&port);
        is_plain.then(|| format!("{named}:{port}"))
    });
    std::iter::once(named.clone()).chain(with).collect()
}

/// The host that a word names, as a URL or as `user@host:path` does.
pub(super) fn host(word: &str) -> Option<String> {
    let rest = match word.split_once("://") {
        Some((scheme, rest)) => {
            let scheme = scheme.rsplit('=').next().unwrap_or(scheme);
            let plain = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
            (!scheme.is_empty() && scheme.chars().all(plain)).then_some(rest)?
        }
        None => word.split_once('@').filter(|(_, rest)| rest.contains(':'))?.1,
    };
    // A browser takes a backslash for a slash; what follows must not pose as the host.
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let named = authority.rsplit('@').next().unwrap_or_default();
    let bare = match named.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => named.split(':').next().unwrap_or_default(),
    };
    (!bare.is_empty()).then(|| bare.trim_end_matches('.').to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_from_whatever_poses_as_one() {
        for (word, expected) in [
            ("https://example.org/a", Some("example.org")),
            ("https://good.org@evil.org/a", Some("evil.org")),
            ("https://EVIL.org.:443/", Some("evil.org")),
            ("http://evil.org\\@good.org/", Some("evil.org")),
            ("http://[::1]:80/", Some("::1")),
            ("--url=https://evil.org", Some("evil.org")),
            ("git@evil.org:a/b.git", Some("evil.org")),
            ("evil.org", None),
            ("a@b", None),
        ] {
            assert_eq!(host(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn reading_a_page_reaches_the_host_that_it_names() {
        let check = |path: &str, expected: &[&str]| {
            let read = cairn_types::Read { path: path.to_owned(), ..Default::default() };
            assert_eq!(of(&Action::Read(read)).hosts, expected, "{path}");
        };
        check("https://Docs.rs/a?b#headers", &["docs.rs"]);
        check("https:///docs.rs/a", &["docs.rs"]);
        check("http://docs.rs:80", &["docs.rs"]);
        check("http://docs.rs:8080/", &["docs.rs", "docs.rs:8080"]);
        check("http://me:pw@docs.rs:8080?x", &["docs.rs", "docs.rs:8080"]);
        check("http://[::1]/", &["::1"]);
        check("http://[::1]:8080/", &["::1", "[::1]:8080"]);
        check("http://evil.org\\@docs.rs/", &["evil.org"]);
        check("sse://docs.rs:443/a", &["docs.rs"]);
        check("sses://docs.rs:8443/a", &["docs.rs", "docs.rs:8443"]);
        check("ws://[::1]:8080/", &["::1", "[::1]:8080"]);
        check("wss://Docs.rs?x", &["docs.rs"]);
        check("src/a.rs", &[]);
        check("known:///https://docs.rs", &[]);
        let copy = Carry::of("https://docs.rs/a".to_owned(), "a.md".to_owned());
        assert_eq!(of(&Action::Copy(copy)).hosts, ["docs.rs"]);
    }

    #[test]
    fn every_path_of_a_patch_is_named() {
        let text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch";
        let action = Action::Edit(cairn_types::Edit::of(None, EditBody::Patch(text.to_owned())));
        assert_eq!(of(&action).writes, ["a", "b", "c"]);
    }
}
