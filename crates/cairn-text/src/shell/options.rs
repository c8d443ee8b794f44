//! A closed table of programs and their options that name a command to run, for rules that deny. A program or an
//! option that is not here is not looked into.

use super::deny::base;
use crate::git_config::{GitSetting, GitSettingUse};
use cairn_types::ShellWord;

/// Options of which the value is a command.
struct CommandOption {
    /// The programs that have it.
    programs: &'static [&'static str],
    /// Its long names; they may be cut short.
    long: &'static [&'static str],
    /// Its short name: a letter that may stand among others, or several that stand for it together.
    short: &'static str,
    /// What stands before the command in the value.
    lead: &'static str,
}

const fn option(
    programs: &'static [&'static str],
    long: &'static [&'static str],
    short: &'static str,
) -> CommandOption {
    CommandOption { programs, long, short, lead: "" }
}

const TARS: &[&str] = &["tar", "gtar", "bsdtar"];

const OPTIONS: [CommandOption; 14] = [
    CommandOption { lead: "exec=", ..option(TARS, &["--checkpoint-action"], "") },
    option(TARS, &["--use-compress-program"], "I"),
    option(TARS, &["--info-script", "--new-volume-script"], "F"),
    option(TARS, &["--to-command", "--rsh-command", "--rmt-command"], ""),
    option(&["rsync"], &["--rsh", "--rsync-path"], "e"),
    option(&["scp", "sftp"], &[], "S"),
    option(&["zip"], &["--unzip-command"], "TT"),
    option(&["rg"], &["--pre", "--hostname-bin"], ""),
    option(&["sort", "gsort"], &["--compress-program"], ""),
    option(&["split", "gsplit"], &["--filter"], ""),
    option(&["man"], &["--pager"], "P"),
    option(&["tcpdump"], &["--postrotate-command"], "z"),
    option(&["nc", "ncat", "netcat"], &["--exec", "--sh-exec"], "e"),
    option(&["nc", "ncat", "netcat"], &[], "c"),
];

/// Options of git's commands of which the value is a command.
const GIT_OPTIONS: [CommandOption; 9] = [
    option(&["grep"], &["--open-files-in-pager"], "O"),
    option(&["rebase"], &["--exec"], "x"),
    option(&["difftool"], &["--extcmd"], "x"),
    option(&["clone", "fetch", "pull", "ls-remote", "fetch-pack"], &["--upload-pack"], ""),
    option(&["clone"], &[], "u"),
    option(&["push", "send-pack"], &["--receive-pack"], ""),
    option(&["push", "send-pack", "archive", "fetch-pack", "ls-remote"], &["--exec"], ""),
    option(
        &["filter-branch"],
        &[
            "--setup",
            "--env-filter",
            "--tree-filter",
            "--index-filter",
            "--parent-filter",
            "--msg-filter",
            "--commit-filter",
            "--tag-name-filter",
        ],
        "",
    ),
    option(&["send-email"], &["--to-cmd", "--cc-cmd", "--header-cmd", "--sendmail-cmd"], ""),
];

/// The option of `git clone` of which the value is a setting for the new repository.
const CLONE_SETTING: CommandOption = option(&["clone"], &["--config"], "c");

/// Options of `ssh -o` of which the value is a command.
const SSH_OPTIONS: [&str; 3] = ["proxycommand", "localcommand", "knownhostscommand"];
/// Programs that take them.
const SSHS: [&str; 5] = ["ssh", "scp", "sftp", "sshfs", "ssh-copy-id"];
/// Options of git's own before its command that have a value apart.
const GIT_VALUES: [&str; 6] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];
/// Options of tar's older form, without a dash, that have a value.
const TAR_VALUES: &str = "bCfFgHIKLNTVX";

/// The commands that a program's words name in options, as text for a shell.
pub(super) fn commands_in_options(words: &[ShellWord]) -> Vec<String> {
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let program = base(&first.text);
    let rest: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let mut found = values_of(&OPTIONS, program, &rest);
    match program {
        "git" => found.extend(in_git(&rest)),
        "go" => found.extend(in_go(&rest)),
        "socat" => found.extend(in_socat(&rest)),
        name if TARS.contains(&name) => found.extend(in_older_tar(&rest)),
        name if SSHS.contains(&name) => found.extend(in_ssh(&rest)),
        _ => {}
    }
    found
}

/// The values of a program's options among words.
fn values_of(options: &[CommandOption], program: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for option in options.iter().filter(|option| option.programs.contains(&program)) {
        for (at, word) in words.iter().enumerate() {
            let value = match word.starts_with("--") {
                true => long_value(option, word),
                false => short_value(option, word),
            };
            let value = match value {
                Some("") => words.get(at + 1).copied(),
                value => value,
            };
            found
                .extend(value.and_then(|value| value.strip_prefix(option.lead)).map(str::to_owned));
        }
    }
    found
}

/// The value of a long option, empty where it is the next word; none where it is another option.
fn long_value<'a>(option: &CommandOption, word: &'a str) -> Option<&'a str> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let is_cut = |long: &&str| name.len() > 3 && long.starts_with(name);
    option.long.iter().any(is_cut).then_some(value)
}

/// The value of a short option, empty where it is the next word; none where it is another option.
fn short_value<'a>(option: &CommandOption, word: &'a str) -> Option<&'a str> {
    let letters = word.strip_prefix('-').filter(|_| !option.short.is_empty())?;
    let at = letters.find(option.short)?;
    // What stands before it are letters of their own, and no value.
    let is_cluster = letters[..at].bytes().all(|b| b.is_ascii_alphanumeric());
    is_cluster.then(|| letters[at + option.short.len()..].trim_start_matches('='))
}

/// What git's settings, options and commands name.
fn in_git(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        if *word == "-c" {
            let setting = words.get(at + 1).and_then(|setting| setting.split_once('='));
            found.extend(setting.and_then(|(name, value)| in_setting(name, value)));
        }
        at += if GIT_VALUES.contains(word) { 2 } else { 1 };
    }
    let Some((command, rest)) = words.get(at..).and_then(<[&str]>::split_first) else {
        return found;
    };
    found.extend(values_of(&GIT_OPTIONS, command, rest));
    let starter = match *command {
        "bisect" => "run",
        "submodule" => "foreach",
        _ => "",
    };
    if let Some(begin) = rest.iter().position(|word| *word == starter) {
        let is_option = |word: &&&str| matches!(**word, "--recursive" | "--quiet" | "-q");
        let words: Vec<&str> = rest[begin + 1..].iter().skip_while(is_option).copied().collect();
        found.push(words.join(" "));
    }
    if *command == "config" {
        let pairs = rest.windows(2).filter_map(|pair| in_setting(pair[0], pair[1]));
        found.extend(pairs);
    }
    if *command == "clone" {
        let settings = values_of(&[CLONE_SETTING], command, rest);
        let settings = settings.iter().filter_map(|setting| setting.split_once('='));
        found.extend(settings.filter_map(|(name, value)| in_setting(name, value)));
    }
    found
}

/// The command that a setting of git's is, if it is one.
fn in_setting(name: &str, value: &str) -> Option<String> {
    let setting = GitSetting::named(name, value)?;
    match setting.used_as() {
        GitSettingUse::Command => Some(value.trim_start_matches('!').to_owned()),
        GitSettingUse::CommandAfterBang => value.strip_prefix('!').map(str::to_owned),
        GitSettingUse::CommandAfterExt => value.strip_prefix("ext::").map(str::to_owned),
        GitSettingUse::Include | GitSettingUse::Path | GitSettingUse::Other => None,
    }
}

fn in_ssh(words: &[&str]) -> Vec<String> {
    let given = |(at, word): (usize, &&str)| {
        let option = match word.strip_prefix("-o")? {
            "" => words.get(at + 1)?,
            joined => joined,
        };
        let (name, value) = option.trim_start().split_once(['=', ' ', '\t'])?;
        SSH_OPTIONS.contains(&name.to_lowercase().as_str()).then(|| value.trim().to_owned())
    };
    words.iter().enumerate().filter_map(given).collect()
}

/// `tar cIf 'command' archive`: the values stand in the order of their letters.
fn in_older_tar(words: &[&str]) -> Vec<String> {
    let Some((letters, rest)) = words.split_first().filter(|(first, _)| !first.starts_with('-'))
    else {
        return Vec::new();
    };
    let values = letters.chars().filter(|letter| TAR_VALUES.contains(*letter)).zip(rest);
    values
        .filter(|(letter, _)| "FI".contains(*letter))
        .map(|(_, value)| (*value).to_owned())
        .collect()
}

fn in_go(words: &[&str]) -> Vec<String> {
    let given = |(at, word): (usize, &&str)| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let is_command = matches!(name.trim_start_matches('-'), "exec" | "toolexec" | "vettool");
        let value = if value.is_empty() { words.get(at + 1).copied()? } else { value };
        (name.starts_with('-') && is_command).then(|| value.to_owned())
    };
    words.iter().enumerate().filter_map(given).collect()
}

fn in_socat(words: &[&str]) -> Vec<String> {
    let given = |word: &&str| {
        let (kind, command) = word.split_once(':')?;
        let is_command = matches!(kind.to_lowercase().as_str(), "exec" | "system" | "shell");
        is_command.then(|| command.split(',').next().unwrap_or_default().to_owned())
    };
    words.iter().filter_map(given).collect()
}
