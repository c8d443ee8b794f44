//! What commands are kept in here, found out by confining one that does nothing.

use super::{Finding, note, ok, problem};
use crate::home::place;
use crate::run;
use crate::setup::sandbox::{self, CommandSettings, Found};
use cairn_sandbox::Level;
use cairn_types::SandboxLayer;

pub(super) fn findings() -> Vec<Finding> {
    let config = place::root(None).and_then(|root| place::config(&root));
    let level =
        config.as_ref().map_or(Level::default(), |config| CommandSettings::read(config).level());
    let found = match run::block_on(sandbox::looked_at()) {
        Ok(found) => found,
        Err(why) => {
            let fix = "free some of what this process may have open";
            return vec![note("sandbox", format!("could not be tried: {why}"), fix)];
        }
    };
    vec![confined(level, &found), overlaid(level, &found), landlock(&found), memory(level, &found)]
}

fn confined(level: Level, found: &Found) -> Finding {
    let what = "sandbox";
    let word = level.word();
    match (&found.confine, level) {
        (None, Level::Open) => note(
            what,
            "commands run unconfined (sandbox.level is open), and could be confined",
            "leave out sandbox.level and CAIRN_SANDBOX, or set one to workspace",
        ),
        (None, _) => ok(what, format!("level {word}: {}", SandboxLayer::join_names(&found.layers))),
        (Some(why), Level::Open) => note(
            what,
            format!("commands run unconfined (sandbox.level is open); they could not be: {why}"),
            fix(why),
        ),
        (Some(why), _) => problem(
            what,
            format!("commands cannot be confined, so none runs: {why}"),
            format!("{}\nor run commands unconfined: --sandbox open", fix(why)),
        ),
    }
}

/// What helps against what was refused.
fn fix(why: &str) -> String {
    let set = "see `namespaces` above";
    match why {
        why if why.starts_with("Landlock") => {
            "use Linux 5.13 or newer with landlock in its lsm= parameter".to_owned()
        }
        why if why.contains("/proc of its own") => {
            "in a container: let /proc be mounted (--security-opt systempaths=unconfined)"
                .to_owned()
        }
        why if why.contains("could not be started") => {
            format!("{set}; in a container: --security-opt seccomp=unconfined, or --privileged")
        }
        _ => format!("{set}; Linux 5.13 or newer is needed"),
    }
}

fn overlaid(level: Level, found: &Found) -> Finding {
    let what = "overlay";
    match &found.overlay {
        None if level == Level::Open => note(
            what,
            "not used at level open: commands change the files themselves",
            "see `sandbox`",
        ),
        None if found.confine.is_none() => {
            ok(what, "what a command changed is shown before it counts")
        }
        None => note(what, "not tried, because commands cannot be confined", "see `sandbox`"),
        Some(why) if level == Level::Open => note(what, format!("cannot be had: {why}"), FIX),
        Some(why) => note(
            what,
            format!("cannot be had: {why}; commands are asked about before they run"),
            FIX,
        ),
    }
}

const FIX: &str =
    "use Linux 5.11 or newer, and a home on a file system that overlayfs takes (ext4, xfs, btrfs)";

/// Whether a group could be made that bounds what commands take.
fn memory(level: Level, found: &Found) -> Finding {
    let what = "memory";
    match found.layers.contains(&SandboxLayer::MemoryCap) {
        _ if level == Level::Open => note(what, "not bounded at level open", "see `sandbox`"),
        true => ok(what, "what commands take together is bounded (sandbox.memory)"),
        false if found.confine.is_some() => {
            note(what, "not tried, because commands cannot be confined", "see `sandbox`")
        }
        false => note(
            what,
            "what commands take is not bounded: no cgroup can be made here",
            "start cairn where you may: systemd-run --user --scope cairn …",
        ),
    }
}

fn landlock(found: &Found) -> Finding {
    match found.landlock {
        0 => note(
            "landlock",
            "not in force",
            "Linux 5.13 has it; add landlock to its lsm= parameter",
        ),
        version => ok("landlock", format!("in force, ABI {version}")),
    }
}
