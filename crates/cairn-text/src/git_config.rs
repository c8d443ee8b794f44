//! git's configuration format: the settings a text holds, and which of them name files or commands. Never
//! fails: what git would refuse is read as far as it goes.

/// A setting as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// The section's name, in lower case.
    pub section: String,
    /// The part of the section's name in quotes, as it is written.
    pub subsection: Option<String>,
    /// The setting's own name in its section, in lower case.
    pub name: String,
    /// The value without quotes and comments; `None` where the name stands alone.
    pub value: Option<String>,
}

/// What git does with a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitSettingUse {
    /// Reads the file that it names as configuration, where the setting stands.
    Include,
    /// Reads or runs the file or folder that it names.
    Path,
    /// Runs it as a command.
    Command,
    /// Runs what follows a `!` as a command.
    CommandAfterBang,
    /// Runs what follows `ext::` as a command.
    CommandAfterExt,
    /// Nothing of these.
    Other,
}

/// Programs that run the file that is named after them.
const INTERPRETERS: [&str; 19] = [
    ".", "source", "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "python",
    "pypy", "perl", "ruby", "node", "php", "lua", "tclsh",
];

/// Settings without a subsection that matter, or with any: section, name, and what git does with the value.
const SETTINGS: [(&str, &str, GitSettingUse); 63] = {
    use GitSettingUse::{Command, CommandAfterBang, CommandAfterExt, Include, Path};
    [
        ("include", "path", Include),
        ("includeif", "path", Include),
        ("core", "hookspath", Path),
        ("core", "attributesfile", Path),
        ("init", "templatedir", Path),
        ("core", "alternaterefscommand", Command),
        ("core", "askpass", Command),
        ("core", "editor", Command),
        ("core", "fsmonitor", Command),
        ("core", "gitproxy", Command),
        ("core", "pager", Command),
        ("core", "sshcommand", Command),
        ("sequence", "editor", Command),
        ("interactive", "difffilter", Command),
        ("filter", "clean", Command),
        ("filter", "smudge", Command),
        ("filter", "process", Command),
        ("diff", "command", Command),
        ("diff", "textconv", Command),
        ("diff", "external", Command),
        ("merge", "driver", Command),
        ("difftool", "cmd", Command),
        ("difftool", "path", Command),
        ("mergetool", "cmd", Command),
        ("mergetool", "path", Command),
        ("guitool", "cmd", Command),
        ("browser", "cmd", Command),
        ("browser", "path", Command),
        ("man", "cmd", Command),
        ("man", "path", Command),
        ("web", "browser", Command),
        ("credential", "helper", Command),
        ("gpg", "program", Command),
        ("gpg", "defaultkeycommand", Command),
        ("hook", "command", Command),
        ("tar", "command", Command),
        ("trailer", "command", Command),
        ("trailer", "cmd", Command),
        ("uploadpack", "packobjectshook", Command),
        ("remote", "uploadpack", Command),
        ("remote", "receivepack", Command),
        ("remote", "proxycommand", Command),
        ("sendemail", "smtpserver", Command),
        ("sendemail", "sendmailcmd", Command),
        ("sendemail", "tocmd", Command),
        ("sendemail", "cccmd", Command),
        ("sendemail", "headercmd", Command),
        ("imap", "tunnel", Command),
        ("instaweb", "httpd", Command),
        ("instaweb", "browser", Command),
        ("instaweb", "modulepath", Path),
        ("lfs.customtransfer", "path", Command),
        ("lfs.extension", "clean", Command),
        ("lfs.extension", "smudge", Command),
        ("lfs", "path", Command),
        ("lfs", "clean", Command),
        ("lfs", "smudge", Command),
        ("submodule", "update", CommandAfterBang),
        ("remote", "url", CommandAfterExt),
        ("remote", "pushurl", CommandAfterExt),
        ("submodule", "url", CommandAfterExt),
        ("branch", "remote", CommandAfterExt),
        ("branch", "pushremote", CommandAfterExt),
    ]
};

impl GitSetting {
    /// A setting by its whole name, `section.subsection.name`; none where that is no setting's.
    #[must_use]
    pub fn named(full_name: &str, value: &str) -> Option<GitSetting> {
        let (section, rest) = full_name.split_once('.')?;
        let (subsection, name) = match rest.rsplit_once('.') {
            Some((subsection, name)) => (Some(subsection.to_owned()), name),
            None => (None, rest),
        };
        let (section, name) = (section.to_lowercase(), name.to_lowercase());
        Some(GitSetting { section, subsection, name, value: Some(value.to_owned()) })
    }

    /// What git does with its value.
    #[must_use]
    pub fn used_as(&self) -> GitSettingUse {
        match self.section.as_str() {
            "alias" => return GitSettingUse::CommandAfterBang,
            "pager" => return GitSettingUse::Command,
            _ => {}
        }
        let found = SETTINGS
            .iter()
            .find(|(section, name, _)| *section == self.section && *name == self.name);
        found.map_or(GitSettingUse::Other, |(.., used_as)| *used_as)
    }

    /// The whole name with its section, for people.
    #[must_use]
    pub fn full_name(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.name),
            None => format!("{}.{}", self.section, self.name),
        }
    }
}

/// All settings of a configuration file, in order.
#[must_use]
pub fn parse_git_config(text: &str) -> Vec<GitSetting> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ConfigReader { rest: text.chars().peekable(), settings: Vec::new() };
    reader.read_all();
    reader.settings
}

struct ConfigReader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    settings: Vec<GitSetting>,
}

impl ConfigReader<'_> {
    fn read_all(&mut self) {
        let (mut section, mut subsection) = (String::new(), None);
        while let Some(c) = self.rest.peek().copied() {
            match c {
                '#' | ';' => self.skip_line(),
                '[' => {
                    self.rest.next();
                    (section, subsection) = self.read_header();
                }
                c if c.is_ascii_alphabetic() => {
                    let (name, value) = self.read_setting();
                    let (section, subsection) = (section.clone(), subsection.clone());
                    self.settings.push(GitSetting { section, subsection, name, value });
                }
                _ => {
                    self.rest.next();
                }
            }
        }
    }

    fn skip_line(&mut self) {
        while self.rest.next().is_some_and(|c| c != '\n') {}
    }

    /// Reads what follows a `[`, to the `]` or the line's end.
    fn read_header(&mut self) -> (String, Option<String>) {
        let (mut name, mut quoted) = (String::new(), None);
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            match c {
                ']' => break,
                '"' => quoted = Some(self.read_subsection()),
                c if c.is_whitespace() => {}
                c => name.extend(c.to_lowercase()),
            }
        }
        // The older form: `[section.subsection]`.
        match (quoted, name.split_once('.')) {
            (None, Some((section, subsection))) => {
                (section.to_owned(), Some(subsection.to_owned()))
            }
            (quoted, _) => (name, quoted),
        }
    }

    /// Reads a name in quotes, to its end or the line's.
    fn read_subsection(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            match c {
                '"' => break,
                '\\' => name.extend(self.rest.next_if(|c| *c != '\n')),
                c => name.push(c),
            }
        }
        name
    }

    fn read_setting(&mut self) -> (String, Option<String>) {
        let mut key = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
            key.push(c.to_ascii_lowercase());
        }
        while self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
        match self.rest.next_if(|c| *c == '=') {
            Some(_) => (key, Some(self.read_value())),
            None => {
                self.skip_line();
                (key, None)
            }
        }
    }

    /// Reads a value to the end of its last line, without quotes, comments and blanks around it.
    fn read_value(&mut self) -> String {
        let (mut value, mut in_quotes, mut blanks) = (String::new(), false, String::new());
        while let Some(c) = self.rest.next() {
            let kept = match c {
                '\n' => break,
                '"' => {
                    in_quotes = !in_quotes;
                    value.push_str(&std::mem::take(&mut blanks));
                    continue;
                }
                '#' | ';' if !in_quotes => {
                    self.skip_line();
                    break;
                }
                '\\' => match self.read_escaped() {
                    Some(c) => c,
                    None => continue,
                },
                c if c.is_whitespace() && !in_quotes => {
                    if !value.is_empty() {
                        blanks.push(c);
                    }
                    continue;
                }
                c => c,
            };
            value.push_str(&std::mem::take(&mut blanks));
            value.push(kept);
        }
        value
    }

    /// The character that a backslash and what follows it stand for; none where a line goes on.
    fn read_escaped(&mut self) -> Option<char> {
        match self.rest.next()? {
            '\n' => None,
            '\r' if self.rest.peek() == Some(&'\n') => {
                self.rest.next();
                None
            }
            'n' => Some('\n'),
            't' => Some('\t'),
            'b' => Some('\u{8}'),
            c => Some(c),
        }
    }
}

/// The paths that a command's text may name, as they are written: every word with a `/` or a `.` in it, the file that
/// a program such as `sh` is to run, and every other word that is no option and no command's name by its place. Of a
/// path that begins with a variable or a substitution the rest is given, without the `/`.
#[must_use]
pub fn paths_in_command(command: &str) -> Vec<CommandPath> {
    let mut found = Vec::new();
    split_words(command, &mut found);
    // Words in quotes hold blanks, and may be commands in turn.
    let mut rest = command;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = &rest[at..=at];
        let inner = &rest[at + 1..];
        let Some(end) = inner.find(quote) else { break };
        let text = &inner[..end];
        if text.contains(char::is_whitespace) {
            push_word(text, false, &mut found);
        }
        rest = &inner[end + 1..];
    }
    found.dedup();
    found
}

/// A path that a command may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPath {
    /// As it is written.
    pub text: String,
    /// It has a `/` or a `.`, or an interpreter runs it, so it is one even if nothing stands there yet.
    pub is_certain: bool,
}

fn split_words(command: &str, found: &mut Vec<CommandPath>) {
    let (mut word, mut is_first, mut before) = (String::new(), true, ' ');
    let (mut is_script, mut is_options_value) = (false, false);
    let is_end = |c: char| c.is_whitespace() || "\"'|;&()<>`{}!=,".contains(c);
    for c in command.chars().chain([' ']) {
        if !is_end(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            // What a substitution gives is not known; what stands behind it is.
            let beneath = word.strip_prefix('/').filter(|_| ")}`".contains(before));
            match beneath {
                Some(path) => push_path(path, true, found),
                None if is_script && !word.starts_with(['-', '+', '$']) => {
                    push_path(&word, true, found)
                }
                None => push_word(&word, is_first, found),
            }
            let is_option = word.starts_with(['-', '+']);
            (is_first, is_script) = match is_script && (is_option || is_options_value) {
                // What follows is a command's text, or another option, or what this option is set to.
                true => (is_command_option(&word), !is_command_option(&word)),
                false => (false, is_interpreter(&word)),
            };
            is_options_value = is_option && word.ends_with(['o', 'O', 'W', 'X']);
            word.clear();
        }
        if "|;&(`{!".contains(c) {
            (is_first, is_script) = (true, false);
        }
        before = c;
    }
}

/// Whether a program runs the file that is named after it, by its name without a version.
fn is_interpreter(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&bare)
}

/// Whether a shell takes what follows this option for a command's text: `-c`, also after other letters.
fn is_command_option(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')
}

fn push_word(word: &str, is_first: bool, found: &mut Vec<CommandPath>) {
    if let Some(variable) = word.strip_prefix('$') {
        if let Some((_, path)) = variable.split_once('/') {
            push_path(path, true, found);
        }
        return;
    }
    let is_certain = word.contains('/') || (word.contains('.') && !is_first);
    if !word.starts_with('-') && (is_certain || !is_first) {
        push_path(word, is_certain, found);
    }
}

fn push_path(text: &str, is_certain: bool, found: &mut Vec<CommandPath>) {
    if !text.is_empty() {
        found.push(CommandPath { text: text.to_owned(), is_certain });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let settings = parse_git_config(text).into_iter().map(|setting| match &setting.value {
            Some(value) => format!("{}={value}", setting.full_name()),
            None => setting.full_name(),
        });
        assert_eq!(settings.collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        check("[core]\n\thooksPath = tools/hooks\n", &["core.hookspath=tools/hooks"]);
        check("[CORE] HooksPath=a # b\n", &["core.hookspath=a"]);
        check("[a \"B.c\"]\nx=1\n[a.B]\ny = 2", &["a.B.c.x=1", "a.b.y=2"]);
        check("[a \"q\\\"\\\\\"]x", &["a.q\"\\.x"]);
        check("[a]\nx = \"one ; two\" three  ; four\n", &["a.x=one ; two three"]);
        check("[a]\nx = one \\\n  two\ny", &["a.x=one   two", "a.y"]);
        check("[a]\r\nx = y\r\nz = \"w\" \r\n", &["a.x=y", "a.z=w"]);
        check("[a]\nx = \\\"s\\\" \\t\\n.\n", &["a.x=\"s\" \t\n."]);
        check("\u{feff}# c\n; d\n[a]x=é日😀\n", &["a.x=é日😀"]);
        check("[a \nb = c\n[", &["a.b=c"]);
        check("[a]\nx = \"open\ny = 2", &["a.x=open", "a.y=2"]);
        check("", &[]);
    }

    #[test]
    fn no_text_makes_it_fail() {
        for text in
            ["[", "[\"", "[\"\\", "a=\\", "[a]x=\"\\", "=", "[]=", "é", "[é \"日\"]😀=x", "\0"]
        {
            let _ = parse_git_config(text);
            let _ = paths_in_command(text);
        }
    }

    #[test]
    fn it_is_known_what_git_does_with_a_setting() {
        let check = |text: &str, expected: GitSettingUse| {
            let setting = parse_git_config(text).pop().unwrap();
            assert_eq!(setting.used_as(), expected, "{text}");
        };
        check("[includeIf \"gitdir:~/x/\"]path=a", GitSettingUse::Include);
        check("[core]attributesFile=a", GitSettingUse::Path);
        check("[filter \"lfs\"]process=a", GitSettingUse::Command);
        check("[credential \"https://example.org\"]helper=a", GitSettingUse::Command);
        check("[gpg \"ssh\"]program=a", GitSettingUse::Command);
        check("[alias]x=!a", GitSettingUse::CommandAfterBang);
        check("[pager]log=a", GitSettingUse::Command);
        check("[remote \"a\"]pushurl=ext::a", GitSettingUse::CommandAfterExt);
        check("[core]excludesFile=a", GitSettingUse::Other);
        check("[user]name=a/b", GitSettingUse::Other);
    }

    #[test]
    fn a_command_names_what_may_be_a_file() {
        let check = |command: &str, expected: &[&str]| {
            let paths = paths_in_command(command).into_iter();
            let paths = paths.map(|path| match path.is_certain {
                true => path.text,
                false => format!("{}?", path.text),
            });
            assert_eq!(paths.collect::<Vec<_>>(), expected, "{command}");
        };
        check("tools/clean %f", &["tools/clean", "%f?"]);
        check("sh clean.sh --x=a/b", &["clean.sh", "a/b"]);
        check("git-lfs clean -- %f", &["clean?", "%f?"]);
        check("true && ./x | cat", &["./x"]);
        check("'my tools/x'", &["tools/x", "my tools/x"]);
        check("$PWD/a", &["a"]);
        check("\"$(git rev-parse)/b\"", &["rev-parse?", "b"]);
        check("/usr/bin/x", &["/usr/bin/x"]);
        check("sh fpy", &["fpy"]);
        check("env X=y /bin/bash -e fpy %f", &["X?", "y?", "/bin/bash", "fpy", "%f?"]);
        check("python3.12 -u fpy", &["fpy"]);
        check("sh -e -o errexit fpy %f", &["errexit", "fpy", "%f?"]);
        check("sh -c 'git log'", &["log?", "git log?"]);
        check("vim", &[]);
        check("", &[]);
    }
}
