//! What a command sees of our environment: an allow-list, never a secret.

use std::path::PathBuf;

/// Names every command may see; a trailing `*` stands for any ending.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "MAVEN_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    "GEM_HOME",
    "GEM_PATH",
    "RBENV_ROOT",
    "DOTNET_ROOT",
    "SDKROOT",
    "ANDROID_HOME",
    "CC",
    "CXX",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Words of a name that mark a secret, whatever list names it; more than one is the same with an `S`.
const SECRET: &[&str] = &["KEY", "CREDENTIAL"];

/// The same, also at the end of a longer word: `PGPASSWORD`, `AUTHTOKEN`.
const SECRET_PARTS: &[&str] = &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY"];

/// Last words of a name that mark one.
const SECRET_ENDS: &[&str] = &["_PAT", "_PWD", "_AUTH"];

/// Last words of a name that says where a secret is, or whose, and not what it is.
const ABOUT: &[&str] = &["URL", "HOST", "PROJECT", "NAME", "ID", "ENDPOINT", "FILE", "PATH"];

/// Names that end like those and hold a secret all the same.
const SECRET_IDS: &[&str] = &["ACCESS_KEY_ID", "SECRET_ID"];

/// What every command is told. Nobody is there to edit a text: git takes the message or the plan that it proposes.
const ADDED: &[(&str, &str)] = &[
    ("AGENT", "cairn"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
    ("NO_COLOR", "1"),
];

/// The environment for a command: what our list and `allow` name of `source`, plus a few settings
/// that keep programs from waiting for a person. What looks like a secret only passes when `allow`
/// names it in full. Sorted.
pub fn environment(
    source: impl Iterator<Item = (String, String)>,
    allow: &[&str],
) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = source
        .filter(|(name, _)| ALLOWED.iter().chain(allow).any(|pattern| is_named(pattern, name)))
        .filter(|(name, _)| !names_secret(name) || allow.contains(&name.as_str()))
        .filter(|(name, _)| !ADDED.iter().any(|(added, _)| added == name))
        .collect();
    out.extend(ADDED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    out.sort();
    out
}

fn is_named(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// Whether a variable's name says that it holds a secret.
#[must_use]
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if SECRET_IDS.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    if words().count() > 1 && words().next_back().is_some_and(|last| ABOUT.contains(&last)) {
        return false;
    }
    let marks = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let one = word.strip_suffix('S').unwrap_or(word);
        SECRET.contains(&one) || SECRET_PARTS.iter().any(|part| one.ends_with(part))
    };
    words().any(marks) || SECRET_ENDS.iter().any(|end| name.ends_with(end))
}

/// The shell commands are run by unless one is named: bash where it is installed, else sh.
#[must_use]
pub fn shell() -> PathBuf {
    let bash = PathBuf::from("/bin/bash");
    if bash.exists() { bash } else { PathBuf::from("/bin/sh") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_secrets_by_its_whole_words() {
        for name in [
            "OPENAI_API_KEY",
            "API_KEYS",
            "KEY",
            "GITHUB_TOKEN",
            "TOKEN_2",
            "PGPASSWORD",
            "npm_config__authToken",
            "CLIENT_SECRET",
            "MY_SECRET_VAR",
            "STRIPE_APIKEY",
            "GOOGLE_CREDENTIALS",
            "AWS_ACCESS_KEY_ID",
            "VAULT_SECRET_ID",
            "AZURE_PAT",
            "REGISTRY_AUTH",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "SECRET_MANAGER_PROJECT",
            "KEYCLOAK_URL",
            "KEYCLOAK_REALM",
            "TOKEN_ENDPOINT",
            "SECRETS_HOST",
            "KEY_NAME",
            "KMS_KEY_ID",
            "PASSWORD_FILE",
            "SSH_KEY_PATH",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "KEYBOARD_LAYOUT",
            "PWD",
            "PATH",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }

    #[test]
    fn only_named_variables_pass_and_never_a_secret() {
        let source = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "sk"),
            ("GITHUB_TOKEN", "t"),
            ("MY_VAR", "1"),
            ("MY_SECRET_VAR", "s"),
            ("LC_SECRET", "s"),
            ("OTHER", "x"),
            ("MY_PAT", "s"),
            ("PAGER", "less"),
            ("LD_PRELOAD", "evil.so"),
        ];
        let source = source.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned()));
        let got: Vec<String> =
            environment(source, &["MY_*"]).into_iter().map(|(n, v)| format!("{n}={v}")).collect();
        let expected = [
            "AGENT=cairn",
            "GIT_EDITOR=true",
            "GIT_SEQUENCE_EDITOR=true",
            "GIT_TERMINAL_PROMPT=0",
            "LC_ALL=C",
            "MY_VAR=1",
            "NO_COLOR=1",
            "PAGER=cat",
            "PATH=/bin",
        ];
        assert_eq!(got, expected);
    }
}
