//! What is known of programs that run other programs, for rules that deny. Nothing here widens what a
//! rule allows.

/// What a command does with its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs what some of its words say, as a command or as text for a shell.
    Runs,
    /// The same, and adds words that it reads.
    RunsWithMore,
    /// A shell: the same, and without a script it runs what it reads.
    Shell,
    /// Runs a program of another language that is among its words.
    Interprets,
    /// Only prints, searches or records its words.
    Takes,
    /// Nothing is known.
    Unknown,
}

const RUNS: [&str; 89] = [
    "env",
    "sudo",
    "doas",
    "su",
    "runuser",
    "sg",
    "ip",
    "pkexec",
    "run0",
    "nohup",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "timeout",
    "gtimeout",
    "time",
    "command",
    "exec",
    "builtin",
    "eval",
    "trap",
    "busybox",
    "toybox",
    "find",
    "gfind",
    "fd",
    "fdfind",
    "ssh",
    "rsh",
    "mosh",
    "watch",
    "strace",
    "ltrace",
    "gdb",
    "valgrind",
    "perf",
    "setsid",
    "stdbuf",
    "unbuffer",
    "script",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "proot",
    "fakeroot",
    "flock",
    "setarch",
    "linux32",
    "linux64",
    "systemd-run",
    "systemd-inhibit",
    "docker",
    "podman",
    "kubectl",
    "tmux",
    "screen",
    "expect",
    "caffeinate",
    "entr",
    "at",
    "batch",
    "direnv",
    "chronic",
    "nix-shell",
    "nix",
    "uv",
    "uvx",
    "npx",
    "pnpx",
    "bunx",
    "npm",
    "pnpm",
    "yarn",
    "pipx",
    "poetry",
    "pdm",
    "hatch",
    "rye",
    "bundle",
    "prlimit",
    "setpriv",
    "cgexec",
    "numactl",
    "dbus-run-session",
    "xvfb-run",
    "rlwrap",
];

const RUNS_WITH_MORE: [&str; 3] = ["xargs", "gxargs", "parallel"];

const SHELLS: [&str; 13] = [
    "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "yash",
    "pwsh",
];

const INTERPRETS: [&str; 28] = [
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "tclsh",
    "osascript",
    "vim",
    "vi",
    "nvim",
    "view",
    "ex",
    "ed",
    "emacs",
    "sed",
    "gsed",
    "make",
];

const TAKES: [&str; 32] = [
    "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "ls", "cat", "head", "tail",
    "wc", "cd", "pwd", "test", "[", "true", "false", ":", "mkdir", "touch", "stat", "file", "diff",
    "cmp", "basename", "dirname", "which", "man", "git", "sort",
];

/// What a command of this name does with its words.
pub(super) fn kind(name: &str) -> Kind {
    let is = |list: &[&str]| list.contains(&name);
    match () {
        () if is(&RUNS) => Kind::Runs,
        () if is(&RUNS_WITH_MORE) => Kind::RunsWithMore,
        () if is(&SHELLS) => Kind::Shell,
        () if is(&INTERPRETS) || name.starts_with("python3.") => Kind::Interprets,
        () if is(&TAKES) => Kind::Takes,
        () => Kind::Unknown,
    }
}

/// The words after which a wrapper's command stands, where it stands after nothing else.
pub(super) fn starters(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "find" | "gfind" => Some(&["-exec", "-execdir", "-ok", "-okdir"]),
        "fd" | "fdfind" => Some(&["-x", "--exec", "-X", "--exec-batch"]),
        "docker" | "podman" | "kubectl" | "direnv" => Some(&["exec", "run"]),
        "uv" | "pipx" | "poetry" | "pdm" | "hatch" | "rye" | "pnpm" | "yarn" | "npm" | "bundle" => {
            Some(&["run", "exec", "dlx", "x"])
        }
        "nix" => Some(&["-c", "--command"]),
        "ip" => Some(&["exec"]),
        _ => None,
    }
}

/// How many words that are no options may stand before a wrapper's command.
pub(super) fn operands(name: &str) -> usize {
    match name {
        "ssh" | "rsh" | "mosh" | "chroot" | "flock" | "su" | "runuser" | "sg" | "ip"
        | "setarch" | "taskset" | "perf" | "docker" | "podman" | "kubectl" | "direnv" => 1,
        "bwrap" => 64,
        _ => 0,
    }
}

/// Whether a command of git's may run others that its words name.
pub(super) fn git_runs(word: &str) -> bool {
    matches!(word, "-c" | "config" | "bisect" | "foreach" | "rebase" | "filter-branch" | "difftool")
}

/// The letter that many programs take for a long option.
pub(super) fn letter(long: &str) -> Option<char> {
    match long {
        "recursive" => Some('r'),
        "force" => Some('f'),
        "all" => Some('a'),
        "delete" => Some('d'),
        _ => None,
    }
}
