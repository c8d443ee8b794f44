//! What this machine can do to confine a command, found out by doing it.

use super::landlock;
use super::{Access, Confined, Level, Place, Sandbox, Surroundings};
use crate::own::Own;
use crate::{End, Errors, Keep, SandboxError, Spec, Way};
use cairn_types::PrivatePlaces;
use cairn_types::SandboxLayer;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What this machine can do.
#[derive(Debug)]
pub struct Can {
    /// Why commands cannot be confined; absent where they can.
    pub confine: Option<SandboxError>,
    /// Why there are no overlays; absent where there are.
    pub overlay: Option<SandboxError>,
    /// The version of Landlock; 0 where there is none.
    pub landlock: i32,
    /// The layers that were in force.
    pub layers: Vec<SandboxLayer>,
}

/// How much memory what is tried may have.
const MEMORY: u64 = 256 << 20;

/// Finds out by running nothing in particular, in a directory that is made in this place.
pub async fn can(place: &Path) -> Can {
    let direct = attempt(place, false).await;
    let overlaid = match &direct {
        Ok(_) => attempt(place, true).await.map(drop),
        Err(_) => Ok(()),
    };
    let (confine, layers) = match direct {
        Ok(layers) => (None, layers),
        Err(problem) => (Some(problem), Vec::new()),
    };
    Can { confine, overlay: overlaid.err(), landlock: landlock::version(), layers }
}

async fn attempt(place: &Path, overlaid: bool) -> Result<Vec<SandboxLayer>, SandboxError> {
    let start = |source| SandboxError::Start { step: "a directory to try it in", source };
    let own = Own::make(place).map_err(start)?;
    let path = |name: &str| -> std::io::Result<PathBuf> {
        let path = own.path().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(path)
    };
    let work = path("tried").map_err(start)?;
    path("layer/upper").and_then(|_| path("layer/work")).map_err(start)?;
    let directory = File::open(&work).map_err(start)?;
    let found = directory.metadata().map_err(start)?;
    let around = Surroundings {
        home: None,
        env: Vec::new(),
        private: PrivatePlaces::default(),
        own: own.path().join("own"),
        level: Level::Strict,
        processes: 512,
        memory: Some(MEMORY),
        overlays: overlaid,
    };
    let access = if overlaid { Access::Overlay(own.path().join("layer")) } else { Access::Write };
    let tried = Place { path: work.clone(), is: (found.dev(), found.ino()), access };
    let sandbox = Arc::new(Sandbox::new(around));
    let spec = Spec {
        command: "echo > tried".to_owned(),
        shell: PathBuf::from("/bin/sh"),
        flags: Spec::shell_flags(),
        cwd: OwnedFd::from(directory),
        env: Vec::new(),
        timeout: Duration::from_secs(10),
        grace: Duration::from_millis(50),
        keep: Keep::default(),
        way: Way::Best,
        context: Arc::new(Confined {
            sandbox,
            places: vec![tried],
            cwd: work,
            unreadable: Vec::new(),
            reach: None,
        }),
        filter: None,
        input: crate::Input::Nothing,
        errors: Errors::Joined,
    };
    let finished = crate::run(spec, &CancellationToken::new(), &mut |_| {}).await?;
    match finished.end {
        End::Exited(0) => Ok(finished.layers),
        end => Err(SandboxError::Layer {
            what: "a command that does nothing".to_owned(),
            source: std::io::Error::other(format!("{end:?}")),
        }),
    }
}
