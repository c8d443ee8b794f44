//! The facts about where a run begins: what the program was told about the machine, and what the
//! files of the repository say. A few lines, each safe to read as one.

use super::frame::one_line;
use cairn_world::{Head, Index, Repository};
use std::path::PathBuf;

/// What is known about the machine and the person when a run begins. The run's model is told it.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Operating system and architecture.
    pub platform: String,
    /// The shell that commands run in.
    pub shell: String,
    /// What commands are kept in, and what else runs code; empty where there is nothing to say.
    pub commands: String,
    /// Whether commands that are waited for run over an overlay of the working root.
    pub overlaid: bool,
    /// Today, as `2026-01-31`.
    pub date: String,
    /// The person's home, canonical.
    pub home: Option<PathBuf>,
    /// The person's own instructions.
    pub own: Option<Own>,
}

/// A person's own instructions, for all their projects.
#[derive(Debug, Clone)]
pub struct Own {
    /// Where they are written.
    pub path: String,
    /// What they are.
    pub text: String,
}

/// What is told of git where the working root is only a part of the repository.
const PART: &str = "only reads here, and takes all outside the working root for deleted; commits are made in the repository's own folder";
/// How much of a commit's id is told.
const SHORT: usize = 12;

/// The facts, one per line.
pub(super) fn told(root: &str, about: &Surroundings, repository: Option<&Repository>) -> String {
    let mut text = "\nWhen this run began:\n".to_owned();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{name}: {}\n", one_line(value)));
        }
    };
    line("platform", &about.platform);
    line("shell", &about.shell);
    line("commands", &about.commands);
    line("date", &about.date);
    line("working root", root);
    match repository {
        None => line("repository", "none"),
        Some(repository) => {
            line("repository", &repository.root.to_string_lossy());
            line("checked out", &checked_out(&repository.head));
            line("tracked", &tracked(repository));
            if about.overlaid && repository.root != std::path::Path::new(root) {
                line("git", PART);
            }
        }
    }
    text
}

fn checked_out(head: &Head) -> String {
    let short = |commit: &str| commit.chars().take(SHORT).collect::<String>();
    match head {
        Head::Branch { name, commit: Some(commit) } => {
            format!("branch {name}, commit {}", short(commit))
        }
        Head::Branch { name, commit: None } => format!("branch {name}"),
        Head::Unborn { name } => format!("branch {name}, no commit yet"),
        Head::Detached { commit } => format!("commit {}, no branch", short(commit)),
        Head::Unreadable => "not known".to_owned(),
    }
}

fn tracked(repository: &Repository) -> String {
    match repository.index {
        None => String::new(),
        // A file in conflict has several entries.
        Some(Index { entries, conflicts: Some(true) }) => {
            format!("{entries} entries of the index, some in conflict")
        }
        Some(Index { entries: 1, .. }) => "1 file".to_owned(),
        Some(Index { entries, .. }) => format!("{entries} files"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_a_few_lines_whatever_they_are() {
        let about = Surroundings {
            platform: "linux x86_64".into(),
            shell: "/bin/sh".into(),
            date: "2026-01-31".into(),
            ..Surroundings::default()
        };
        let check = |root: &str, repository: Option<Repository>, expected: &str| {
            let told = told(root, &about, repository.as_ref());
            let known = "\nWhen this run began:\nplatform: linux x86_64\nshell: /bin/sh\ndate: 2026-01-31\n";
            assert_eq!(told.strip_prefix(known), Some(expected));
        };
        let at = |head: Head, index| Some(Repository { root: "/p".into(), head, index });
        let name = || "main".to_owned();
        let commit = "0123456789abcdef0123456789abcdef01234567".to_owned();
        check("/w", None, "working root: /w\nrepository: none\n");
        check("/it's\nsay: x", None, "working root: /it's\\nsay: x\nrepository: none\n");
        check(
            "/p/w",
            at(
                Head::Branch { name: name(), commit: Some(commit.clone()) },
                Some(Index { entries: 12, conflicts: Some(false) }),
            ),
            "working root: /p/w\nrepository: /p\nchecked out: branch main, commit 0123456789ab\n\
             tracked: 12 files\n",
        );
        let overlaid = Surroundings { overlaid: true, ..about.clone() };
        let part = at(Head::Unborn { name: name() }, None);
        assert!(super::told("/p/w", &overlaid, part.as_ref()).ends_with(&format!("git: {PART}\n")));
        assert!(!super::told("/p", &overlaid, part.as_ref()).contains("git: "));
        let conflict = Some(Index { entries: 3, conflicts: Some(true) });
        check(
            "/p",
            at(Head::Detached { commit }, conflict),
            "working root: /p\nrepository: /p\nchecked out: commit 0123456789ab, no branch\n\
             tracked: 3 entries of the index, some in conflict\n",
        );
        check(
            "/p",
            at(Head::Unborn { name: name() }, None),
            "working root: /p\nrepository: /p\nchecked out: branch main, no commit yet\n",
        );
        check(
            "/p",
            at(Head::Unreadable, None),
            "working root: /p\nrepository: /p\nchecked out: not known\n",
        );
    }
}
