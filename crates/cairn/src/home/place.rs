//! Where things are on this machine: the home, the user's file, the project's root. The only readers
//! of the environment are here and in `main`.

use crate::config::{Config, Files, MORE_OPERATOR};
use crate::run::Usage;
use crate::setup::git_excludes;
use anyhow::{Context, Result};
use cairn_runtime::{Own, Surroundings};
use cairn_store::{Access, Options, Store};
use cairn_world::{GitConfigFiles, Workspace, with_imports};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much of a person's own instructions is read. Less is told.
const MOST_OF_OWN: u64 = 1 << 20;

/// Whether whoever sits at a terminal wants colours: `NO_COLOR` is not set, and the terminal is no dumb one.
pub fn wants_colour() -> bool {
    env("NO_COLOR").is_none() && env("TERM").is_none_or(|term| term != "dumb")
}

/// One environment variable, if it is set to something readable.
#[allow(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
#[must_use]
pub fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A path that an environment variable holds, whatever its bytes.
#[allow(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
pub fn env_path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// All readable environment variables.
#[allow(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
pub fn env_all() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
}

/// `CAIRN_HOME`, or the XDG data directory.
pub fn home() -> Result<PathBuf> {
    if let Some(home) = env("CAIRN_HOME") {
        return Ok(PathBuf::from(home));
    }
    let data = env("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| env("HOME").map(|home| PathBuf::from(home).join(".local/share")))
        .context("there is no place for Cairn's data: set CAIRN_HOME or HOME")?;
    Ok(data.join("cairn"))
}

/// The user's own configuration.
pub fn user_file() -> Option<PathBuf> {
    let folder = env("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| env("HOME").map(|home| PathBuf::from(home).join(".config")))?;
    Some(folder.join("cairn/cairn.toml"))
}

/// Where git looks for the configuration of the machine and of the person.
pub fn git_config_files() -> GitConfigFiles {
    let home = env_path("HOME");
    let machine = env_path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let xdg = env_path("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let own = [xdg.map(|xdg| xdg.join("git/config")), home.as_ref().map(|h| h.join(".gitconfig"))];
    let own: Vec<PathBuf> = match env_path("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => own.into_iter().flatten().collect(),
    };
    GitConfigFiles { files: std::iter::once(machine).chain(own).collect(), home }
}

/// The person's own instructions for agents, beside their configuration. It is their own file, so
/// links to it are followed; what it imports must lie beneath its folder.
fn own_instructions() -> Option<Own> {
    let path = user_file()?.with_file_name("AGENTS.md");
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(&path).ok()?.take(MOST_OF_OWN).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let folder = Workspace::open(path.parent()?).ok()?;
    let (text, _) = with_imports(&folder, "AGENTS.md", &text, usize::try_from(MOST_OF_OWN).ok()?);
    Some(Own { path: path.to_string_lossy().into_owned(), text })
}

/// What a new run's model is told about where it begins; commands run in `shell`, confined so.
pub fn surroundings(shell: &Path, (commands, overlaid): (String, bool)) -> Surroundings {
    let now = i64::try_from(cairn_runtime::now_ms()).ok();
    let now = now.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let date = now.map(|at| at.to_zoned(jiff::tz::TimeZone::system()).date().to_string());
    Surroundings {
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        shell: shell.to_string_lossy().into_owned(),
        commands,
        overlaid,
        date: date.unwrap_or_default(),
        home: env("HOME").and_then(|home| Path::new(&home).canonicalize().ok()),
        own: own_instructions(),
    }
}

/// The project's folder, canonical: the one given, or the current one.
pub fn root(cwd: Option<&Path>) -> Result<PathBuf> {
    named(cwd.unwrap_or(Path::new(".")), "name the project's folder with --cwd")
}

/// A folder besides the project's, canonical.
pub fn folder(given: &Path) -> Result<PathBuf> {
    named(given, "name a folder that is there with --add-dir")
}

fn named(given: &Path, fix: &str) -> Result<PathBuf> {
    let shown = given.display();
    let root = given
        .canonicalize()
        .map_err(|why| Usage(format!("the folder {shown} cannot be opened ({why}); {fix}")))?;
    if !root.is_dir() {
        return Err(Usage(format!("{shown} is not a folder; {fix}")).into());
    }
    if root.to_str().is_none() {
        let root = root.display();
        return Err(Usage(format!("the folder's name is not UTF-8: {root}; rename it")).into());
    }
    Ok(root)
}

/// Where whoever runs the machine puts ceilings.
pub const OPERATOR: &str = "/etc/cairn/cairn.toml";

/// Whether git ignores a project's folder: what is built there says nothing about how to work in it.
pub fn is_ignored(root: &Path) -> bool {
    cairn_world::is_ignored_folder(root, &git_excludes::read())
}

/// The files that configure work in a folder. One more operator's file may be named: it can only
/// narrow. A folder that git ignores configures nothing.
pub fn config_files(root: Option<&Path>) -> Files {
    Files {
        operator: Some(PathBuf::from(OPERATOR)),
        more_operator: env_path(MORE_OPERATOR),
        user: user_file(),
        project: root.map(|root| root.join("cairn.toml")).filter(|file| {
            file.symlink_metadata().is_ok() && !file.parent().is_some_and(is_ignored)
        }),
    }
}

/// The configuration for a project.
pub fn config(root: &Path) -> Result<Config> {
    Ok(Config::load(&config_files(Some(root)), &env)?)
}

/// The shell that runs commands.
pub fn shell(config: &Config) -> PathBuf {
    config.text("shell").map_or_else(cairn_sandbox::shell, PathBuf::from)
}

/// The store, for commands that write.
pub fn store() -> Result<Store> {
    open(Access::ReadWrite)
}

/// The store, for commands that only look.
pub fn store_to_read() -> Result<Store> {
    open(Access::ReadOnly)
}

fn open(access: Access) -> Result<Store> {
    Ok(Store::open(&Options { home: home()?, access, busy_timeout: Duration::from_secs(30) })?)
}
