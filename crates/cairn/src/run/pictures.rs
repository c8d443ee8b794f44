//! Pictures and documents that a person shows with a task: files, told apart by their first bytes.

use super::Usage;
use cairn_world::{Shown, media_kind};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many files go with one task.
const MOST: usize = 20;

/// Reads the files, or says which one cannot be shown and why.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Shown>, Usage> {
    if paths.len() > MOST {
        let (count, most) = (paths.len(), MOST);
        return Err(Usage(format!("{count} files are shown; {most} at most go with a task")));
    }
    paths.iter().map(|path| one(path)).collect()
}

fn one(path: &Path) -> Result<Shown, Usage> {
    let shown = path.display();
    let wrong = |why: String| Usage(format!("{shown} {why}"));
    let unreadable = |why: std::io::Error| wrong(format!("cannot be read: {why}"));
    // Asked before it is opened: a pipe would be waited for.
    let meta = path.metadata().map_err(unreadable)?;
    if !meta.is_file() {
        return Err(wrong("is not a file; --image takes a file".to_owned()));
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    (&mut file).take(16).read_to_end(&mut bytes).map_err(unreadable)?;
    let kind = media_kind(&bytes).ok_or_else(|| {
        wrong(
            "is neither a picture (PNG, JPEG, GIF, WebP) nor a PDF; name other files in the task"
                .to_owned(),
        )
    })?;
    file.take(kind.most).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > kind.most {
        let (mime, most) = (kind.mime, kind.most >> 20);
        return Err(wrong(format!("is larger than {most} MiB, the most of {mime} that is shown")));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Shown { mime: kind.mime, name, bytes })
}

/// What a person should know of a model that may not see what it is shown.
pub fn unseen(shown: &[Shown], model: &str, sees: crate::model::Sees) -> Option<String> {
    let is_pdf = |shown: &&Shown| shown.mime == "application/pdf";
    let images = !sees.images && shown.iter().any(|shown| !is_pdf(&shown));
    let documents = !sees.documents && shown.iter().any(|shown| is_pdf(&shown));
    let what = match (images, documents) {
        (false, false) => return None,
        (true, false) => "images",
        (false, true) => "PDFs",
        (true, true) => "images and PDFs",
    };
    Some(format!(
        "{model} is not known to take {what}: it is told that they are there and does not see them. \
         `cairn models list` shows which models do."
    ))
}
