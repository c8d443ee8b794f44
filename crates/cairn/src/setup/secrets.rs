//! Which values are secret here: keys that were loaded, variables whose names say so, passwords in
//! URLs. Says nothing of what is done where one is found.

use crate::config::{Config, Value};
use crate::home::place;
use crate::model::credentials::{self, Stored};
use crate::model::known;
use cairn_sandbox::names_secret;
use cairn_text::scrub::{Find, Known, Scrubber};
use cairn_types::Secret;
use std::path::Path;

/// A value of a variable that is no longer than this and only letters is a word.
const LONGEST_WORD: usize = 15;
/// One that is no longer than this and only digits is a number.
const LONGEST_NUMBER: usize = 11;

/// Finds this machine's secrets, with this home's tags.
pub fn scrubber(config: &Config, salt: [u8; 32]) -> Scrubber {
    Scrubber::new(salt, known(config, place::env_all()))
}

/// Finds this machine's secrets in what is said where no home is open.
pub fn in_messages() -> Scrubber {
    let files = place::config_files(place::root(None).ok().as_deref());
    let (config, _) = Config::what_can_be_read(&files, &place::env);
    scrubber(&config, [0; 32])
}

/// What a command is given of our environment: nothing that holds a secret, whatever its name, but
/// what the user named in full.
pub fn environment(config: &Config, scrubber: &Scrubber) -> Vec<(String, String)> {
    let named: Vec<&str> = config.list("pass_env").iter().map(String::as_str).collect();
    let mut environment = cairn_sandbox::environment(place::env_all(), &named);
    let is_clean = |value: &str| !scrubber.finds(value).iter().any(|find| *find != Find::Marker);
    environment.retain(|(name, value)| named.contains(&name.as_str()) || is_clean(value));
    environment
}

fn known(config: &Config, env: impl Iterator<Item = (String, String)>) -> Vec<Known> {
    let mut found = Vec::new();
    let names = known::KNOWN.iter().map(|known| known.name).chain(config.declared_providers());
    let of_providers: Vec<String> =
        names.flat_map(|provider| credentials::variables(provider, config)).collect();
    for (name, value) in env {
        let is_key = of_providers.contains(&name);
        if is_key || names_secret(&name) && may_be_secret(&value) {
            found.push(Known::new(&name, &Secret::new(value.as_str())));
        }
        found.extend(passwords(&value).into_iter().map(|password| Known::new(&name, &password)));
    }
    // A file that cannot be read gives no keys, and says so where one is needed.
    for (provider, key) in Stored::load().unwrap_or_default().keys() {
        found.push(Known::new(provider, key));
    }
    for (name, setting) in config.settings() {
        if let Value::Text(text) = &setting.value {
            let name = name.rsplit('.').next().unwrap_or(name);
            found.extend(passwords(text).into_iter().map(|password| Known::new(name, &password)));
        }
    }
    found
}

/// Whether a value can be what its variable's name says: no path, no word, no number, no address.
fn may_be_secret(value: &str) -> bool {
    let only = |class: fn(&u8) -> bool| value.as_bytes().iter().all(class);
    let is_word = only(u8::is_ascii_lowercase) || only(u8::is_ascii_uppercase);
    let is_path = value.starts_with(['/', '~', '.']) && Path::new(value).exists();
    let is_word = is_word && value.len() <= LONGEST_WORD;
    let is_number = only(u8::is_ascii_digit) && value.len() <= LONGEST_NUMBER;
    !(is_path || is_word || is_number || is_plain_url(value))
}

/// Whether a value is a URL that holds no secret: nobody's name before its host, and no query, which
/// may be signed.
fn is_plain_url(value: &str) -> bool {
    value.split_once("://").is_some_and(|(scheme, rest)| {
        let is_scheme = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
        let is_plain = |b: u8| b.is_ascii_graphic() && !b"@?".contains(&b);
        !scheme.is_empty() && scheme.bytes().all(is_scheme) && rest.bytes().all(is_plain)
    })
}

/// The password in a URL, as it stands there and as it is sent.
fn passwords(url: &str) -> Vec<Secret> {
    let user = url.split_once("://").and_then(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next()?;
        authority.rsplit_once('@')
    });
    let Some((_, password)) = user.and_then(|(user, _)| user.split_once(':')) else {
        return Vec::new();
    };
    let mut found = vec![Secret::new(password)];
    if password.contains('%') {
        found.push(Secret::new(decoded(password)));
    }
    found
}

fn decoded(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let hex = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        match (first, after.get(..2).and_then(hex)) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = &after[2..];
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_variable_holds_is_a_secret_by_its_name_or_as_part_of_a_url() {
        let hidden = |name: &str, value: &str| {
            let env = [(name.to_owned(), value.to_owned())];
            let known = known(&Config::default(), env.into_iter());
            Scrubber::new([0; 32], known).text(value).contains(&format!("[secret {name} "))
        };
        for (name, value) in [
            ("GITHUB_TOKEN", "0123-abcd"),
            ("PGPASSWORD", "korrekt-pferd"),
            ("AZURE_PAT", "abcdefgh1"),
            ("OPENAI_API_KEY", "wordonly"),
            ("HTTPS_PROXY", "http://me:geh-eim-99@proxy:1"),
            ("ANYTHING", "redis://:p%40ssword-1@h/0"),
            ("UPLOAD_TOKEN", "https://store.example/x?sig=abc-123"),
        ] {
            assert!(hidden(name, value), "{name}");
        }
        for (name, value) in [
            ("GITHUB_TOKEN", "abc-123"),
            ("DB_PASSWORD", "postgres"),
            ("SSH_KEY", "/etc/passwd"),
            ("SOME_KEY", "20240101"),
            ("EDITOR", "emacs-29.1"),
            ("SECRET_MANAGER_PROJECT", "acme-prod-1"),
            ("KEYCLOAK_URL", "https://id.example/auth"),
            ("TOKEN_SERVER", "https://id.example/auth"),
        ] {
            assert!(!hidden(name, value), "{name}");
        }
    }
}
