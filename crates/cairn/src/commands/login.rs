//! `cairn login` and `cairn logout`: asks for a provider's key without showing it, stores it for its
//! owner alone, forgets it. Says where keys come from, never what they are.

use crate::cli;
use crate::config::Config;
use crate::home::place;
use crate::model::credentials::{self, Stored};
use crate::model::known;
use crate::output::out::say;
use crate::run::Usage;
use anyhow::{Context, Result};
use cairn_types::Secret;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::{Value, json};
use std::io::{IsTerminal, Read, Stdin, Write};
use std::process::ExitCode;

/// The longest piped input that may hold a key.
const MOST_PIPED: u64 = 1 << 16;

/// Runs `cairn login`.
pub fn login(args: &cli::Login) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    if !args.rest.is_empty() {
        return Err(Usage(
            "a key on the command line can be seen by others, so it is not taken from there; change \
             it if it was real. Give it when asked, or pipe it in: cairn login PROVIDER < FILE"
                .to_owned(),
        )
        .into());
    }
    if args.list {
        list(&config, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let given = match &args.provider {
        Some(given) => given.clone(),
        None => ask_for_provider()?,
    };
    let provider = provider(&given, &config)?;
    // A file that cannot be used is told before anyone types a key.
    let mut stored = Stored::load()?;
    let Some(typed) = typed(provider)? else {
        let _ = writeln!(std::io::stderr().lock(), "cancelled; nothing is stored");
        return Ok(ExitCode::from(3));
    };
    stored.put(provider, credentials::checked(&typed)?);
    stored.save()?;
    say!("the key of {provider} is stored in {}", credentials::path()?.display());
    if let Some(variable) = credentials::in_environment(provider, &config, &place::env) {
        say!("{variable} is set in this environment and is used before it");
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `cairn logout`.
pub fn logout(args: &cli::Logout) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    let mut stored = Stored::load()?;
    let provider = match stored.has(&args.provider) {
        true => args.provider.as_str(),
        false => provider(&args.provider, &config)?,
    };
    if !stored.take(provider) {
        return Err(Usage(format!(
            "no key of {provider} is stored; `cairn login --list` shows where keys come from"
        ))
        .into());
    }
    stored.save()?;
    say!("the key of {provider} is forgotten");
    if let Some(variable) = credentials::in_environment(provider, &config, &place::env) {
        say!("{variable} is still set in this environment");
    }
    Ok(ExitCode::SUCCESS)
}

/// The provider that is meant. What was given is not repeated: it may be a key.
fn provider<'a>(given: &'a str, config: &Config) -> Result<&'a str> {
    let provider = known::canonical(given);
    let declared = || config.declared_providers().any(|declared| declared == provider);
    if known::find(provider).is_some() || declared() {
        return Ok(provider);
    }
    let names: Vec<&str> = known::KNOWN.iter().map(|known| known.name).collect();
    Err(Usage(format!(
        "there is no such provider; known are {}, and those you declare under [providers.NAME]",
        names.join(", ")
    ))
    .into())
}

fn list(config: &Config, as_json: bool) -> Result<()> {
    let keys = keys(config)?;
    for key in &keys {
        match as_json {
            true => say!("{}", key.as_json()),
            false => say!("{}  {}", cairn_text::shown::clean(&key.provider), key.from()),
        }
    }
    if keys.is_empty() && !as_json {
        say!("no key is set; `cairn login PROVIDER` stores one");
    }
    Ok(())
}

/// That a provider's key is there, and where. What it is, is not known here.
pub struct Key {
    /// The provider.
    pub provider: String,
    /// The variable that holds it, which is used before a stored one.
    variable: Option<String>,
    /// Whether one is stored.
    is_stored: bool,
}

impl Key {
    /// Where it comes from, in words.
    pub fn from(&self) -> String {
        match (&self.variable, self.is_stored) {
            (Some(variable), false) => format!("environment ({variable})"),
            (Some(variable), true) => {
                format!("environment ({variable}); the stored one is not used")
            }
            (None, _) => "file".to_owned(),
        }
    }

    fn as_json(&self) -> Value {
        let from = if self.variable.is_some() { "environment" } else { "file" };
        json!({"provider": self.provider, "from": from, "variable": self.variable, "stored": self.is_stored})
    }
}

/// Whose keys there are, and where each comes from.
pub fn keys(config: &Config) -> Result<Vec<Key>> {
    let stored = Stored::load()?;
    let mut names: Vec<&str> = known::KNOWN.iter().map(|known| known.name).collect();
    for name in config.declared_providers().map(known::canonical).chain(stored.providers()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut keys = Vec::new();
    for name in names {
        let variable = credentials::in_environment(name, config, &place::env);
        let is_stored = stored.has(name);
        if variable.is_some() || is_stored {
            keys.push(Key { provider: name.to_owned(), variable, is_stored });
        }
    }
    Ok(keys)
}

fn ask_for_provider() -> Result<String> {
    let needed = || Usage("which provider? write cairn login PROVIDER".to_owned());
    if !std::io::stdin().is_terminal() {
        return Err(needed().into());
    }
    prompt("provider (openai, anthropic, google, openrouter, …): ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

fn prompt(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// The key as it was typed or piped in; `None` when someone thought better of it.
fn typed(provider: &str) -> Result<Option<Secret>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let typed = unseen(&stdin, &format!("key of {provider} (it is not shown): "));
        prompt("\n");
        return typed;
    }
    let mut text = String::new();
    let read = stdin.take(MOST_PIPED).read_to_string(&mut text);
    read.map_err(|_| Usage("the piped input is not text; nothing is stored".to_owned()))?;
    Ok(Some(Secret::new(text)))
}

/// A terminal that shows nothing of what is typed, until this is dropped.
struct Unseen<'a> {
    terminal: &'a Stdin,
    before: Termios,
}

impl<'a> Unseen<'a> {
    fn begin(terminal: &'a Stdin) -> Result<Unseen<'a>> {
        let before = tcgetattr(terminal).context("the terminal cannot be asked")?;
        let mut silent = before.clone();
        // Interrupts are read as keys, too: a process that they end leaves the terminal silent.
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(terminal, OptionalActions::Flush, &silent)
            .context("the terminal cannot be made silent; pipe the key in instead")?;
        Ok(Unseen { terminal, before })
    }
}

impl Drop for Unseen<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
    }
}

/// A line of keys, none of them shown. Who is asked can type at once: it is silent by then.
fn unseen(terminal: &Stdin, question: &str) -> Result<Option<Secret>> {
    let _silence = Unseen::begin(terminal)?;
    prompt(question);
    let mut typed = Vec::new();
    for byte in terminal.lock().bytes() {
        match byte? {
            b'\r' | b'\n' | 0x04 => break,
            0x03 => return Ok(None),
            0x15 => typed.clear(),
            0x08 | 0x7f => {
                typed.pop();
            }
            byte => typed.push(byte),
        }
    }
    Ok(Some(Secret::new(String::from_utf8_lossy(&typed))))
}
