//! Looks whether members changed since they were last looked at. Costs a stat of each, and reads those
//! alone that changed, or may have.

use super::files::Files;
use super::marks::{self, Marks};
use super::walk::{self, Changed, Terms, Walked};
use super::{Survey, Surveyed};
use crate::folders::workspace::Workspace;
use std::sync::OnceLock;

/// The most members that are looked at, about.
const MOST: usize = 200_000;
/// The most threads that look.
const THREADS: usize = 8;
/// So few members are looked at sooner than a thread is started.
const FEW: usize = 256;

/// A member that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noticed {
    /// Its path.
    pub path: String,
    /// What it was; none when it is new.
    pub before: Option<Surveyed>,
    /// What it is; none when it is gone.
    pub after: Option<Surveyed>,
    /// The lines of it that are new, from 1, first and last; none where that is not known.
    pub spans: Vec<(usize, usize)>,
    /// Its bytes, where it was read as a text. A first look keeps none.
    pub content: Option<Vec<u8>>,
}

/// What a look took and gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// What changed, in order of path.
    pub noticed: Vec<Noticed>,
    /// How many members there are.
    pub files: usize,
    /// How many of them were asked whether they are as they were.
    pub asked: usize,
    /// How many of them were read.
    pub read: usize,
    /// There were more than are looked at. What was known of those is as it was.
    pub is_cut: bool,
}

/// Looks at every member, and brings the survey up to date.
pub(crate) fn scan(workspace: &Workspace, survey: &mut Survey) -> Scanned {
    look(workspace, survey, MOST)
}

fn look(workspace: &Workspace, survey: &mut Survey, most: usize) -> Scanned {
    let files = std::mem::take(&mut survey.files);
    let terms = Terms {
        workspace,
        files: &files,
        begun_ns: now_ns(),
        takes_content: !survey.is_empty(),
        most,
        threads: threads(files.len()),
    };
    let walked = match walk::walk(&terms) {
        // Which of too many are looked at must not depend on which thread is faster.
        Some(walked) if walked.is_cut && walked.files >= most && terms.threads > 1 => {
            walk::walk(&Terms { threads: 1, ..terms })
        }
        walked => walked,
    };
    let Some(walked) = walked else {
        survey.files = files;
        return Scanned { is_cut: true, ..Scanned::default() };
    };
    survey.is_looked_at = true;
    let Walked { files: members, asked, is_cut, .. } = walked;
    let read = walked.changed.len();
    let noticed = match read == 0 && walked.gone.is_empty() {
        true => {
            survey.files = files;
            Vec::new()
        }
        false => take_up(survey, files, walked),
    };
    Scanned { noticed, files: members, asked, read, is_cut }
}

/// Gives the survey what was and still is, and what is new, in order. Says what is not as it was.
fn take_up(survey: &mut Survey, files: Files, walked: Walked) -> Vec<Noticed> {
    let Walked { mut changed, mut gone, .. } = walked;
    changed.sort_by(|one, other| one.path.cmp(&other.path));
    gone.sort_unstable();
    let text = files.text().len() + changed.iter().map(|one| one.path.len()).sum::<usize>();
    let mut now = Files::with_room(files.len() + changed.len(), text);
    let mut noticed = Vec::with_capacity(changed.len() + gone.len());
    let mut changed = changed.into_iter().peekable();
    let mut gone = gone.into_iter().peekable();
    for (nth, (path, known)) in files.iter().enumerate() {
        while let Some(new) = changed.next_if(|one| one.path.as_str() < path) {
            noticed.extend(take_one(survey, (&mut now, new), None));
        }
        if let Some(one) = changed.next_if(|one| one.before == Some(nth)) {
            noticed.extend(take_one(survey, (&mut now, one), Some(known)));
        } else if gone.next_if_eq(&nth).is_none() {
            now.push(path, known.clone());
        } else {
            let (path, before) = (path.to_owned(), Some(known.clone()));
            noticed.push(Noticed { path, before, after: None, spans: Vec::new(), content: None });
        }
    }
    for new in changed {
        noticed.extend(take_one(survey, (&mut now, new), None));
    }
    survey.files = now;
    noticed
}

/// Adds one that was read. Says if it is not as it was.
fn take_one(
    survey: &Survey,
    (now, one): (&mut Files, Changed),
    before: Option<&Surveyed>,
) -> Option<Noticed> {
    let Changed { path, now: (after, content), .. } = one;
    now.push(&path, after.clone());
    if before.is_some_and(|before| before.is_alike(&after)) {
        return None;
    }
    let spans = match before.map(|before| (survey.marks(before), survey.marks(&after))) {
        None => marks::whole(&after.marks),
        Some((Some(old), Some(new))) => marks::spans(&old, &new),
        Some(_) => Vec::new(),
    };
    Some(Noticed { path, before: before.cloned(), after: Some(after), spans, content })
}

impl Survey {
    /// The marks of a file; none where they were kept, and are not what they were.
    pub(super) fn marks(&self, known: &Surveyed) -> Option<Vec<u32>> {
        match &known.marks {
            Marks::Here(bytes) => Some(marks::numbers(bytes)),
            Marks::There(place) => self.kept.as_ref()?.marks(*place),
        }
    }
}

impl Surveyed {
    /// Whether it is the same file to whoever reads it.
    fn is_alike(&self, other: &Surveyed) -> bool {
        let same = match (self.hash, other.hash) {
            (Some(one), Some(other)) => one == other,
            _ => self.stat == other.stat,
        };
        same && self.mode == other.mode
    }
}

/// How many threads look, where so many members were known.
fn threads(known: usize) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    match known {
        1..FEW => 1,
        _ => *CORES.get_or_init(|| {
            std::thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS))
        }),
    }
}

fn now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn of_too_many_members_the_same_ones_are_looked_at_each_time() {
        let holder = tempfile::tempdir().unwrap();
        for n in 0..1_200 {
            let folder = holder.path().join(format!("d{}", n % 40));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("f{n}")), format!("{n}\n")).unwrap();
        }
        let workspace = Workspace::open(holder.path()).unwrap();
        let mut first = Survey::default();
        let scanned = look(&workspace, &mut first, 500);
        assert!(scanned.is_cut && (500..530).contains(&scanned.files), "{}", scanned.files);
        let names = |survey: &Survey| -> Vec<String> {
            survey.files().map(|(path, _)| path.to_owned()).collect()
        };
        for _ in 0..20 {
            let mut other = Survey::default();
            look(&workspace, &mut other, 500);
            assert_eq!(names(&other), names(&first));
            let again = look(&workspace, &mut other, 500);
            assert_eq!((again.noticed, again.is_cut), (Vec::new(), true));
        }
        let (kept, gone) = (names(&first).len(), names(&first)[0].clone());
        fs::remove_file(holder.path().join(&gone)).unwrap();
        let after = look(&workspace, &mut first, 500);
        let of = |one: &Noticed| (one.path.clone(), one.after.is_none());
        assert!(after.noticed.iter().map(of).any(|told| told == (gone.clone(), true)));
        assert!(after.noticed.iter().all(|one| one.path == gone || one.before.is_none()));
        assert!(names(&first).len() >= kept - 1);
    }
}
