//! The person's global git excludes: the file that `core.excludesFile` of their git configuration names, by
//! default `git/ignore` in their configuration folder. Git is not run, and a project's own `.git/config` is not
//! read.

use crate::home::place;
use cairn_world::GlobalExcludes;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a file is read.
const MOST_BYTES: u64 = 1 << 20;
/// How deep one configuration file includes another.
const DEEPEST: usize = 10;

/// Reads the excludes; they say nothing where there are none.
pub fn read() -> GlobalExcludes {
    let environment = Environment {
        home: place::env_path("HOME"),
        config: place::env_path("XDG_CONFIG_HOME"),
        system: match place::env("GIT_CONFIG_NOSYSTEM") {
            Some(_) => None,
            None => Some(
                place::env_path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into()),
            ),
        },
        global: place::env_path("GIT_CONFIG_GLOBAL"),
    };
    environment.excludes_file().map(|path| GlobalExcludes::read(&path)).unwrap_or_default()
}

/// Where a person's git configuration is.
struct Environment {
    home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    config: Option<PathBuf>,
    system: Option<PathBuf>,
    /// The one file that stands for the person's two.
    global: Option<PathBuf>,
}

impl Environment {
    /// The file that is in force.
    fn excludes_file(&self) -> Option<PathBuf> {
        let own = match &self.global {
            Some(global) => vec![global.clone()],
            None => [self.folder("config"), self.home.as_ref().map(|home| home.join(".gitconfig"))]
                .into_iter()
                .flatten()
                .collect(),
        };
        let mut found = None;
        for path in self.system.iter().chain(&own) {
            self.read_configuration(path, DEEPEST, &mut found);
        }
        match found {
            Some(value) => self.expanded(&value).filter(|path| path.is_absolute()),
            None => self.folder("ignore"),
        }
    }

    /// Something in the person's folder of git's configuration.
    fn folder(&self, name: &str) -> Option<PathBuf> {
        let default = || self.home.as_ref().map(|home| home.join(".config"));
        Some(self.config.clone().or_else(default)?.join("git").join(name))
    }

    fn expanded(&self, value: &str) -> Option<PathBuf> {
        match value.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref()?.join(rest)),
            None => Some(PathBuf::from(value)),
        }
    }

    /// Reads a file and those that it includes; the last value counts.
    fn read_configuration(&self, path: &Path, depth: usize, found: &mut Option<String>) {
        let Some(text) = read_text(path).filter(|_| depth > 0) else { return };
        for Setting { name, value } in settings(&text) {
            match name.as_str() {
                "core.excludesfile" => *found = Some(value),
                "include.path" => {
                    let folder = path.parent().unwrap_or(Path::new("/"));
                    if let Some(included) = self.expanded(&value) {
                        self.read_configuration(&folder.join(included), depth - 1, found);
                    }
                }
                _ => {}
            }
        }
    }
}

fn read_text(path: &Path) -> Option<String> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|m| m.is_file()))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line of a git configuration.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    /// Section and name in lower case; empty in a section with a subsection, since none of those counts here.
    name: String,
    value: String,
}

fn settings(text: &str) -> Vec<Setting> {
    let (mut section, mut found) = (String::new(), Vec::new());
    let text = text.replace("\r\n", "\n").replace("\\\n", "");
    for line in text.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let Some((name, rest)) = rest.split_once(']') else { continue };
            let has_subsection = name.contains('"');
            section = if has_subsection { String::new() } else { name.trim().to_lowercase() };
            line = rest.trim();
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        if !section.is_empty() && !name.starts_with(['#', ';']) {
            let name = format!("{section}.{}", name.trim().to_lowercase());
            found.push(Setting { name, value: unquoted(value.trim()) });
        }
    }
    found
}

/// A value without its quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let (mut out, mut is_quoted) = (String::new(), false);
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    if is_quoted { out } else { out.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which file is in force with these files in a home, given as `path=text`.
    fn in_force(files: &[&str]) -> Option<String> {
        let home = tempfile::tempdir().unwrap();
        for file in files {
            let (path, text) = file.split_once('=').unwrap();
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let home = home.path().to_owned();
        let environment =
            Environment { home: Some(home.clone()), config: None, system: None, global: None };
        let path = environment.excludes_file()?;
        Some(path.strip_prefix(&home).unwrap_or(&path).to_str()?.to_owned())
    }

    #[test]
    fn the_persons_last_setting_counts_and_there_is_a_default() {
        let check = |files: &[&str], expected: Option<&str>| {
            assert_eq!(in_force(files).as_deref(), expected, "{files:?}");
        };
        check(&[], Some(".config/git/ignore"));
        check(&[".gitconfig=[core]\n\tExcludesFile = ~/.mine # all\n"], Some(".mine"));
        check(&[".gitconfig=[core] excludesfile = \"/etc/a b\"\n"], Some("/etc/a b"));
        check(&[".gitconfig=[core \"x\"]\nexcludesfile = /a\n"], Some(".config/git/ignore"));
        check(&[".gitconfig=[core]\nexcludesfile =\n"], None);
        let both = [".config/git/config=[core]\nexcludesfile=/a\n", ".gitconfig=[user]\nname=b\n"];
        check(&both, Some("/a"));
        let included = [".gitconfig=[include]\npath = more\n", "more=[core]\nexcludesFile=/b\n"];
        check(&included, Some("/b"));
        check(&[".gitconfig=[include]\npath = .gitconfig\n"], Some(".config/git/ignore"));
    }
}
