//! What a world is told when it is made: how commands run, and what is kept from whom. Plain data.

use crate::commands::rehearse::Confine;
use crate::commands::runtimes::Runtimes;
use crate::folders::ruled::Ruled;
use crate::folders::unread::Unread;
use crate::git::settings::GitConfigFiles;
use crate::membership::Membership;
use cairn_sandbox::Way;
use cairn_text::glob::PathGlob;
use cairn_text::scrub::Scrubber;
use cairn_types::{PrivatePlaces, Removed};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How commands run, and what is a member, private, or kept from being read or changed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The shell.
    pub shell: PathBuf,
    /// What runs code besides it.
    pub runtimes: Arc<Runtimes>,
    /// The whole environment of a command.
    pub env: Vec<(String, String)>,
    /// How long a command may take when it does not say.
    pub timeout: Duration,
    /// How long a command may take at most.
    pub timeout_max: Duration,
    /// How a command's processes are held together.
    pub way: Way,
    /// What commands are kept from.
    pub confine: Confine,
    /// Where the output of a command is kept while it is too long for memory; without such a place
    /// less is kept.
    pub spool: Option<PathBuf>,
    /// What is kept from being read.
    pub unread: Unread,
    /// What commands find and cannot read: what rules keep from being read by any way.
    pub unreadable: Arc<[PathGlob]>,
    /// What is a member of the project.
    pub membership: Membership,
    /// What no op on files sees, whatever the project is.
    pub private: Arc<PrivatePlaces>,
    /// What rules on changes name.
    pub ruled: Ruled,
    /// So much may be removed that it need not be known what of it git ignores.
    pub little: Removed,
    /// Finds the secrets in what commands print.
    pub scrubber: Scrubber,
    /// Where the person's own git configuration is.
    pub git_config: GitConfigFiles,
}

impl Settings {
    /// The usual limits, with this shell and environment.
    #[must_use]
    pub fn new(shell: PathBuf, env: Vec<(String, String)>) -> Self {
        let (timeout, timeout_max) = (Duration::from_secs(120), Duration::from_secs(600));
        Self {
            shell,
            runtimes: Arc::new(Runtimes::with(Vec::new())),
            env,
            timeout,
            timeout_max,
            way: Way::Best,
            confine: Confine::Open,
            spool: None,
            unread: Unread::default(),
            unreadable: Arc::default(),
            membership: Membership::default(),
            private: Arc::default(),
            ruled: Ruled::default(),
            little: Removed::LITTLE,
            scrubber: Scrubber::default(),
            git_config: GitConfigFiles::default(),
        }
    }
}
