//! What is a member of the project, as the configuration says it.

use crate::config::Config;
use crate::setup::git_excludes;
use cairn_text::glob::{GlobError, PathGlob};
use cairn_world::Membership;

/// The membership that is configured.
pub fn of(config: &Config) -> Result<Membership, GlobError> {
    let globs = |name: &str| -> Result<Vec<PathGlob>, GlobError> {
        config.list(name).iter().map(|glob| PathGlob::parse(glob)).collect()
    };
    Ok(Membership {
        add: globs("membership.add")?,
        ignore: globs("membership.ignore")?,
        read_only: globs("membership.read_only")?,
        tracked: config.flag("membership.tracked"),
        global_excludes: git_excludes::read(),
    })
}
