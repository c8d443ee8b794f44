//! What of the things that are shown a command must not see: covered by nothing, or by a copy without secret
//! values. Makes steps; carries out none.

use super::layout::{Layout, NO_DIRECTORY, NO_FILE, Place, Surroundings, really};
use super::settings::{self, Seen};
use super::steps::{Bind, Step};
use super::{Access, Confined, closed, home};
use crate::SandboxError;
use cairn_types::PrivatePlaces;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is seen in place of something.
#[derive(Debug, Clone)]
enum Cover {
    /// An empty file or directory.
    Nothing,
    /// This file.
    File(PathBuf),
}

/// All that is covered, by its path.
#[derive(Debug)]
pub(super) struct Covers {
    covers: BTreeMap<PathBuf, Cover>,
    /// Holds what is empty.
    own: PathBuf,
}

impl Covers {
    /// The same with these files, which show this one that nobody can read.
    pub(super) fn and_unreadable(
        mut self,
        files: &[PathBuf],
        shown: Option<&Path>,
    ) -> Result<Covers, SandboxError> {
        for file in files {
            let Some(shown) = shown else {
                let what = "keeping files from being read".to_owned();
                let source = std::io::ErrorKind::Unsupported.into();
                return Err(SandboxError::Layer { what, source });
            };
            let real = really(file).into_iter();
            for path in real.chain([file.clone()]) {
                // What shows nothing stays that way.
                if !matches!(self.covers.get(&path), Some(Cover::Nothing)) {
                    self.covers.insert(path, Cover::File(shown.to_owned()));
                }
            }
        }
        Ok(self)
    }

    /// Covers each where it lies in something shown.
    pub(super) fn mask(self, layout: &mut Layout, confined: &Confined) -> Result<(), SandboxError> {
        let places = &confined.places;
        let own = &self.own;
        let mut covered: Vec<PathBuf> = Vec::new();
        for (path, cover) in self.covers {
            // A directory comes before what is in it, and shows none of that once it is covered.
            if covered.iter().any(|above| path.starts_with(above)) {
                continue;
            }
            let is_shown = layout.shown.iter().any(|shown| path.starts_with(shown));
            let is_place = confined.outer_places().any(|place| place.path.starts_with(&path));
            if !is_shown || is_place {
                continue;
            }
            let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
            // What is shown by itself is a file where it is shown, also if it is a link here.
            let is_file = found.is_file() || found.is_symlink() && layout.shown.contains(&path);
            let from = match cover {
                Cover::Nothing if found.is_dir() => own.join(NO_DIRECTORY),
                Cover::Nothing if is_file => own.join(NO_FILE),
                Cover::File(file) if is_file => file,
                Cover::Nothing | Cover::File(_) => continue,
            };
            for place in places.iter().filter(|place| place.access == Access::Write) {
                layout.hold(place, &path)?;
            }
            layout.steps.push(Step::Bind(Bind::of(&from, &path)?));
            covered.push(path);
        }
        Ok(())
    }
}

/// What nobody may see; a name that leads through links also by what it leads to. `own` holds what it is covered
/// with.
pub(super) fn covers(
    around: &Surroundings,
    places: &[Place],
    own: &Path,
) -> Result<Covers, SandboxError> {
    let private = &around.private;
    let mut covers = BTreeMap::new();
    for file in private.settings().flat_map(settings::files) {
        let start = |source| SandboxError::Start { step: "a copy of settings", source };
        let cover = match settings::seen(&file, own) {
            Ok(Seen::Copy(copy)) => Cover::File(copy),
            Ok(Seen::Nothing) => Cover::Nothing,
            Ok(Seen::Itself) => continue,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            // What we cannot read a command cannot either.
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => continue,
            Err(e) => return Err(start(e)),
        };
        covers.insert(file, cover);
    }
    let hidden = private.hidden().flat_map(|place| still_private(private, place));
    let trash = places.iter().map(|place| place.path.join(".cairn/trash"));
    covers.extend(hidden.chain(trash).map(|path| (path, Cover::Nothing)));
    let real: Vec<(PathBuf, Cover)> =
        covers.iter().filter_map(|(path, cover)| Some((really(path)?, cover.clone()))).collect();
    covers.extend(real);
    if rustix::process::geteuid().is_root() {
        let needed = |path: &Path| is_needed(around, places, path);
        let closed = closed::to_others().iter().filter(|path| !needed(path));
        covers.extend(closed.map(|path| (path.clone(), Cover::Nothing)));
    }
    Ok(Covers { covers, own: own.to_owned() })
}

/// A private place; where something in it was opened, all that lies beside that.
fn still_private(private: &PrivatePlaces, place: &Path) -> Vec<PathBuf> {
    if private.covering(place).is_none() {
        return Vec::new();
    }
    if !private.leads_to_opened(place) {
        return vec![place.to_owned()];
    }
    let inner = std::fs::read_dir(place).into_iter().flatten().flatten();
    inner.flat_map(|entry| still_private(private, &entry.path())).collect()
}

/// Whether what others cannot read is of a place that is worked on, or leads to programs that are used.
fn is_needed(around: &Surroundings, places: &[Place], path: &Path) -> bool {
    let on_path = around.variable("PATH").unwrap_or_default().split(':');
    let named = home::NAMED_BY.iter().filter_map(|name| around.variable(name));
    places.iter().any(|place| path.starts_with(&place.path))
        || on_path.chain(named).any(|used| Path::new(used).starts_with(path))
}
