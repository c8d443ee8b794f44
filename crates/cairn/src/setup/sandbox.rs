//! How commands are confined here: the level that was chosen, and what this machine can do about it. What
//! it can do is found out by doing it, once per start of the machine, and kept in the home.

use crate::config::Config;
use crate::home::place;
use crate::home::private::{self, Seen};
use crate::run::Usage;
use crate::setup::privacy;
use anyhow::Result;
use cairn_sandbox::{Can, Level, Own, Sandbox, Surroundings};
use cairn_types::SandboxLayer;
use cairn_world::{Confine, Runtime, Runtimes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was found out, and when that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// This start of the machine, this user, this program.
    of: String,
    /// Why commands cannot be confined.
    pub confine: Option<String>,
    /// Why there are no overlays.
    pub overlay: Option<String>,
    /// The version of Landlock.
    pub landlock: i32,
    /// The layers that are in force.
    pub layers: Vec<SandboxLayer>,
}

/// How commands are to be run, as it is configured: at which level they are confined, and what runs code.
pub struct CommandSettings<'a> {
    config: &'a Config,
    level: Level,
}

impl<'a> CommandSettings<'a> {
    /// Reads them from the configuration.
    pub fn read(config: &'a Config) -> CommandSettings<'a> {
        let level = config.text("sandbox.level").and_then(Level::named).unwrap_or_default();
        CommandSettings { config, level }
    }

    /// The level that commands are to run at.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The names of executors of which this key is set; the star is the key's own.
    fn executors(&self, key: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.config.names_of(key).filter(|name| *name != "*")
    }

    /// What runs code, by name.
    pub fn runtimes(&self) -> Result<Runtimes> {
        let named = self.executors("executors.*.command");
        let names: BTreeSet<&str> = named.chain(self.executors("executors.*.effect")).collect();
        let declared = names.into_iter().map(|name| {
            let command = self.config.list(&format!("executors.{name}.command"));
            let Some((program, arguments)) = command.split_first() else {
                let text =
                    format!("[executors.{name}] needs a command, such as [\"ruby\", \"-e\"]");
                return Err(Usage(text).into());
            };
            let effect = self.config.text(&format!("executors.{name}.effect"));
            Ok(Runtime {
                name: name.to_owned(),
                programs: vec![program.clone()],
                arguments: arguments.to_vec(),
                reads: false,
                discards: matches!(effect, Some("pure" | "read")),
            })
        });
        Ok(Runtimes::with(declared.collect::<Result<_>>()?))
    }

    /// How commands in these folders are confined. `env` is what they are given.
    pub async fn confine(&self, folders: &[PathBuf], env: &[(String, String)]) -> Result<Confine> {
        if self.level == Level::Open {
            return Ok(Confine::Open);
        }
        self.confine_from(&place::home()?, folders, env).await
    }

    /// The same, where what they need is kept in another home. The user's own is hidden all the same.
    pub async fn confine_from(
        &self,
        home: &Path,
        folders: &[PathBuf],
        env: &[(String, String)],
    ) -> Result<Confine> {
        if self.level == Level::Open {
            return Ok(Confine::Open);
        }
        // What processes left that were killed.
        Own::clear_stale(&home.join("sandbox"));
        let found = found(home).await;
        if let Some(why) = found.confine {
            let fix =
                "`cairn doctor` says what is missing; --sandbox open runs commands unconfined";
            return Ok(Confine::Refused(format!("commands cannot be confined here: {why}; {fix}")));
        }
        let overlays =
            found.overlay.is_none() && folders.iter().all(|folder| !holds_mounts(folder));
        let mut private = privacy::places(self.config, env)?;
        private.seal(&std::path::absolute(home)?);
        let sandbox = Arc::new(Sandbox::new(Surroundings {
            home: place::env("HOME").map(PathBuf::from),
            env: env.to_vec(),
            private,
            own: home.join("sandbox"),
            level: self.level,
            processes: u32::try_from(self.config.count("sandbox.processes"))?,
            memory: memory().map(|all| all / 100 * self.config.count("sandbox.memory")),
            overlays,
        }));
        if !overlays {
            return Ok(Confine::Direct(sandbox));
        }
        let layers = home.join("overlays");
        DirBuilder::new().recursive(true).mode(0o700).create(&layers)?;
        // What drivers left that were killed.
        Own::clear_stale(&layers);
        Ok(Confine::Overlay(sandbox, layers))
    }

    /// What the model is told of commands: what they are kept in, and what runs code besides what it knows.
    pub fn description_for_model(&self, confine: &Confine) -> String {
        let network = match self.level {
            Level::Strict => "no network",
            Level::Workspace | Level::Open => {
                "no network but hosts that the person lets them reach"
            }
        };
        let changes = match confine {
            Confine::Open => None,
            Confine::Refused(_) => return "none can run here".to_owned(),
            Confine::Direct(_) => Some("they change the files themselves"),
            Confine::Overlay(..) => {
                Some("what they change in the project is shown to the person before it counts")
            }
        };
        let kept = changes.map(|changes| {
            format!("confined: {network}; /tmp and the home are their own; {changes}")
        });
        let own: Vec<&str> = self.executors("executors.*.command").collect();
        let runtimes = (!own.is_empty()).then(|| format!("further runtimes: {}", own.join(", ")));
        kept.into_iter().chain(runtimes).collect::<Vec<_>>().join("; ")
    }

    /// Whether commands that are waited for run over an overlay, as far as that is known without trying.
    pub fn is_overlaid(&self, root: &Path) -> bool {
        let known = || place::home().ok().and_then(|home| kept(&home));
        self.level != Level::Open
            && !holds_mounts(root)
            && known().is_none_or(|found| found.confine.is_none() && found.overlay.is_none())
    }
}

/// What a person is told when a run begins, where commands are not confined as they should be.
pub fn remark(confine: &Confine) -> Option<String> {
    match confine {
        Confine::Open => {
            let told = "Commands are not sandboxed (level open): an allowed command can do whatever you can.";
            Some(told.to_owned())
        }
        Confine::Refused(why) => Some(format!("No command can run: {why}")),
        Confine::Direct(_) => {
            let told = "Overlays cannot be had here: commands are asked about before they run, and undo does not \
                        cover what they change.";
            Some(told.to_owned())
        }
        Confine::Overlay(..) => None,
    }
}

/// What this machine can do.
pub async fn found(home: &Path) -> Found {
    if let Some(found) = kept(home) {
        return found;
    }
    let found = tried(&home.join("sandbox")).await;
    // A no may be another one next time, and is found out again; so is what cannot be kept.
    let is_yes = found.confine.is_none() && found.overlay.is_none();
    if let Some(text) = serde_json::to_string(&found).ok().filter(|_| is_yes) {
        let _ = private::replace(&home.join(FILE), &text, Seen::ByOwner);
    }
    found
}

/// What this machine can do, without keeping what was found out.
pub async fn looked_at() -> Found {
    let own = |above: &Path| above.join(format!("cairn-tries-{}", std::process::id()));
    let made = |path: &PathBuf| DirBuilder::new().mode(0o700).create(path).is_ok();
    let home = place::home().ok();
    let above = [
        Some(std::env::temp_dir()),
        home.clone(),
        home.and_then(|home| home.parent().map(Path::to_owned)),
    ];
    let mut tries = above.into_iter().flatten().map(|above| own(&above));
    let place = tries.find(made).unwrap_or_else(|| own(&std::env::temp_dir()));
    let found = tried(&place).await;
    let _ = std::fs::remove_dir_all(&place);
    found
}

/// Finds it out in a directory that is made in this place.
async fn tried(place: &Path) -> Found {
    let Can { confine, overlay, landlock, layers } = cairn_sandbox::can(place).await;
    let why = |problem: Option<cairn_sandbox::SandboxError>| problem.map(|p| reason(&p));
    Found { of: of(), confine: why(confine), overlay: why(overlay), landlock, layers }
}

/// What a sandbox was refused, without the sentence around it.
fn reason(problem: &cairn_sandbox::SandboxError) -> String {
    match problem {
        cairn_sandbox::SandboxError::Layer { what, source } => format!("{what}: {source}"),
        other => other.to_string(),
    }
}

const FILE: &str = "can.json";

fn kept(home: &Path) -> Option<Found> {
    let text = std::fs::read_to_string(home.join(FILE)).ok()?;
    serde_json::from_str::<Found>(&text).ok().filter(|found| found.of == of())
}

/// When what was found out holds.
fn of() -> String {
    let start = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::metadata("/proc/self/ns/mnt").map(|found| found.ino()).unwrap_or(0);
    let user = rustix::process::geteuid().as_raw();
    format!("{} {namespace} {user} {}", start.trim(), env!("CARGO_PKG_VERSION"))
}

/// How much memory the machine has, in bytes.
fn memory() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Whether other file systems are mounted within a folder: an overlay would not show them.
fn holds_mounts(folder: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let Some(folder) = folder.to_str() else { return false };
    let within = format!("{}/", folder.trim_end_matches('/'));
    // Spaces and the like are written as octal escapes there.
    let escaped = within.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011");
    mounts.lines().filter_map(|line| line.split(' ').nth(4)).any(|at| at.starts_with(&escaped))
}
