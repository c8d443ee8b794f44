//! Contents that come as files: adopted, compressed when it pays, read back piece by piece.

use crate::kit::{Bench, Driver};
use cairn_store::{Gc, Kept, SpooledFile, StoreError};
use cairn_types::{ContentRef, Hash};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn text() -> Vec<u8> {
    "the same line again\n".repeat(40_000).into_bytes()
}

fn noise() -> Vec<u8> {
    (0..20_000u32).flat_map(|i| Hash::of(&i.to_le_bytes()).0).collect()
}

/// A file without a name in the store's own folder.
fn spooled(bench: &Bench, bytes: &[u8]) -> SpooledFile {
    let folder = bench.store.spool();
    std::fs::create_dir_all(&folder).unwrap();
    let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR;
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let mut file = File::from(rustix::fs::open(folder, flags, mode).unwrap());
    file.write_all(bytes).unwrap();
    SpooledFile { file: Arc::new(file), content: ContentRef::of(bytes) }
}

fn path_of(bench: &Bench, bytes: &[u8]) -> PathBuf {
    let name = Hash::of(bytes).to_string();
    bench.home().join("contents").join(&name[..2]).join(&name[2..])
}

fn pieces(bench: &Bench, bytes: &[u8]) -> Result<(Vec<u8>, usize), StoreError> {
    let (mut all, mut longest) = (Vec::new(), 0);
    bench.store.each_of_content(&Hash::of(bytes), &mut |piece| {
        all.extend_from_slice(piece);
        longest = longest.max(piece.len());
    })?;
    Ok((all, longest))
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

// keeps: output-kept
#[tokio::test]
async fn a_spooled_content_is_stored_like_any_other_and_read_in_pieces() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    for bytes in [text(), noise()] {
        driver.keep(vec![Kept::File(spooled(&bench, &bytes))]).await.unwrap();
        assert!(bench.store.content(&Hash::of(&bytes)).unwrap() == bytes);
        let (all, longest) = pieces(&bench, &bytes).unwrap();
        assert!(all == bytes && longest <= 64 * 1024, "pieces of {longest}");
    }
    let stored = |bytes: &[u8]| std::fs::metadata(path_of(&bench, bytes)).unwrap();
    assert!(stored(&text()).len() < text().len() as u64 / 10, "text is compressed");
    assert_eq!(stored(&noise()).len(), noise().len() as u64);
    assert_eq!(files(&bench.store.spool()), 0);
}

// keeps: output-kept
#[tokio::test]
async fn what_does_not_compress_becomes_the_stored_file_itself() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    let spooled = spooled(&bench, &noise());
    driver.keep(vec![Kept::File(spooled.clone())]).await.unwrap();
    let (is, was) =
        (std::fs::metadata(path_of(&bench, &noise())).unwrap(), spooled.file.metadata());
    assert_eq!((is.ino(), is.nlink()), (was.unwrap().ino(), 1));
}

#[tokio::test]
async fn a_file_that_once_had_a_name_is_copied() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    let path = bench.home().join("named");
    std::fs::write(&path, noise()).unwrap();
    let file = Arc::new(File::open(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
    let kept = Kept::File(SpooledFile { file, content: ContentRef::of(&noise()) });
    driver.keep(vec![kept]).await.unwrap();
    assert!(bench.store.content(&Hash::of(&noise())).unwrap() == noise());
}

#[tokio::test]
async fn a_file_that_is_not_what_it_is_said_to_be_is_refused() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    let mut other = spooled(&bench, &text());
    other.content.hash = Hash::of(&noise());
    let mut longer = spooled(&bench, &noise());
    longer.content = ContentRef::of(&noise()[..300_000]);
    for wrong in [other, longer] {
        let hash = wrong.content.hash;
        let refused = driver.keep(vec![Kept::File(wrong)]).await.unwrap_err().to_string();
        assert!(refused.contains("not the bytes it was said to hold"), "{refused}");
        assert!(matches!(bench.store.content(&hash), Err(StoreError::ContentMissing { .. })));
        let folder = bench.home().join("contents").join(&hash.to_string()[..2]);
        assert_eq!(files(&folder), 0, "a draft was left");
    }
}

#[tokio::test]
async fn the_same_content_may_come_in_both_forms_and_be_repaired_by_either() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    for bytes in [text(), noise()] {
        let forms = |n: usize| match n % 2 {
            0 => Kept::File(spooled(&bench, &bytes)),
            _ => Kept::Bytes(bytes.clone()),
        };
        for n in 0..6 {
            if n == 3 || n == 4 {
                std::fs::remove_file(path_of(&bench, &bytes)).unwrap();
            }
            driver.keep(vec![forms(n)]).await.unwrap();
            assert!(bench.store.content(&Hash::of(&bytes)).unwrap() == bytes, "{n}");
        }
    }
}

#[tokio::test]
async fn damage_is_found_before_the_first_piece() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    for bytes in [text(), noise()] {
        driver.keep(vec![Kept::File(spooled(&bench, &bytes))]).await.unwrap();
        let path = path_of(&bench, &bytes);
        let sound = std::fs::read(&path).unwrap();
        let mut flipped = sound.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for damaged in [&flipped, &sound[..sound.len() - 5], &[&sound[..], b"more"].concat()] {
            std::fs::write(&path, damaged).unwrap();
            let mut told = 0;
            let hash = Hash::of(&bytes);
            let read = bench.store.each_of_content(&hash, &mut |piece| told += piece.len());
            assert!(matches!(read, Err(StoreError::ContentCorrupt { .. })), "{read:?}");
            assert_eq!(told, 0);
        }
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(pieces(&bench, &bytes), Err(StoreError::ContentMissing { .. })));
    }
}

/// Where a file system knows no nameless files a crash may leave one with a name.
#[tokio::test]
async fn what_a_crash_left_of_a_spool_is_freed_when_nobody_can_be_writing_it() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.store.spool()).unwrap();
    let [old, young] = ["1-0.tmp", "2-0.tmp"].map(|name| bench.store.spool().join(name));
    let hours_ago = std::time::Duration::from_secs(2 * 3600);
    std::fs::write(&young, "x").unwrap();
    let file = File::create(&old).unwrap();
    file.set_modified(young.metadata().unwrap().modified().unwrap() - hours_ago).unwrap();
    let freed = bench.store.gc(&Gc::default()).unwrap();
    assert_eq!((freed.files, old.exists(), young.exists()), (1, false, true));
}
