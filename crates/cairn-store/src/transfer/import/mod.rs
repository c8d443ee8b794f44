//! Takes in an exported session. The file is not believed: its size is bounded, its bundle must
//! verify, every content must have its hash, every path must lie beneath a root, and what is stored in
//! the end must give the same bundle again. Nothing in it runs, and its runs are never driven.

mod parts;
mod rows;

use crate::StoreError;
use crate::contents::is_kept;
use crate::contents::packed::Packed;
use crate::home::Home;
use crate::keys::Keys;
use crate::log::batch::Kept;
use crate::receipts::heads::HeadFiles;
use crate::receipts::verify::{Report, Verdict, verify_bytes};
use crate::transfer::export::{ContentHeader, FORMAT, Header};
use cairn_types::{Hash, SessionId, to_canonical};
use parts::Parts;
use rusqlite::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// The longest line outside the bundle.
const MOST_LINE: u64 = 16 << 20;
/// The largest bundle; it is judged in memory.
const MOST_BUNDLE: u64 = 1 << 30;
/// The largest content.
const MOST_CONTENT: u64 = 1 << 30;
/// How many bytes of contents are stored in one transaction.
const BATCH: usize = 32 << 20;
/// The longest name.
const MOST_NAME: usize = 200;

/// A file to be taken in.
#[derive(Debug)]
pub struct Import<'a> {
    /// The file.
    pub file: &'a mut File,
    /// The root its session shall work on, as a person chose it.
    pub root: String,
    /// The time, milliseconds since 1970.
    pub at: u64,
}

/// What was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The session.
    pub session: SessionId,
    /// How many runs it has.
    pub runs: u64,
    /// How many contents came with it.
    pub contents: u64,
    /// How its bundle was judged.
    pub report: Report,
    /// Whether this home itself had signed it.
    pub own: bool,
}

fn refuse<T>(why: impl Into<String>) -> Result<T, StoreError> {
    Err(StoreError::NotImported { why: why.into() })
}

fn hold(holds: bool, why: &str) -> Result<(), StoreError> {
    if holds { Ok(()) } else { refuse(why) }
}

impl Import<'_> {
    /// Where the session worked before, as the file says.
    pub fn recorded_root(file: &mut File) -> Result<String, StoreError> {
        Ok(Source::new(file)?.header()?.root)
    }

    /// Checks the whole file, then stores it, then shows it.
    pub(crate) fn all(
        &mut self,
        conn: &Connection,
        home: &Home,
        keys: &Keys,
    ) -> Result<Imported, StoreError> {
        let mut source = Source::new(self.file)?;
        let header = source.header()?;
        let bundle = source.exactly(header.bundle, MOST_BUNDLE)?;
        let report = verify_bytes(&bundle, None);
        if matches!(report.verdict, Verdict::Refuted | Verdict::Unverifiable) {
            return refuse(format!("its bundle does not hold: {}", report.why));
        }
        let parts = Parts::read(&bundle, &header)?;
        rows::refuse_known(conn, &parts)?;
        let own = parts.is_signed_by(keys)?;
        let named = parts.named();
        source.contents(&header, &mut |hash, _| {
            hold(named.contains(&hash), "it holds a content that nothing names")
        })?;
        let kept = self.keep_contents(conn, home, &header)?;
        let stored = rows::ImportedRows {
            conn,
            home,
            keys,
            parts: &parts,
            header: &header,
            bundle: &bundle,
        };
        let heads = stored.insert(&self.root, self.at, &kept)?;
        let mut files = HeadFiles::default();
        heads.iter().for_each(|head| files.note(home, head));
        let session = header.session_id.clone();
        let (runs, contents) = (header.runs.len() as u64, header.contents);
        Ok(Imported { session, runs, contents, report, own })
    }

    /// Stores the contents. Until the session is there nobody names them, and `gc` would free them.
    fn keep_contents(
        &mut self,
        conn: &Connection,
        home: &Home,
        header: &Header,
    ) -> Result<HashSet<Hash>, StoreError> {
        let mut source = Source::new(self.file)?;
        source.header()?;
        source.exactly(header.bundle, MOST_BUNDLE)?;
        let (mut kept, mut waiting, mut bytes) = (HashSet::new(), Vec::new(), 0);
        source.contents(header, &mut |hash, content| {
            kept.insert(hash);
            bytes += content.len();
            waiting.push(content);
            if bytes > BATCH {
                bytes = 0;
                return put(conn, home, std::mem::take(&mut waiting));
            }
            Ok(())
        })?;
        put(conn, home, waiting)?;
        Ok(kept)
    }
}

/// Puts contents in, in one transaction.
fn put(conn: &Connection, home: &Home, contents: Vec<Vec<u8>>) -> Result<(), StoreError> {
    let pack = |bytes| Packed::new(home, Kept::Bytes(bytes));
    let contents: Vec<Packed> = contents.into_iter().map(pack).collect::<Result<_, _>>()?;
    let tx = conn.unchecked_transaction()?;
    for content in contents {
        content.insert(&tx, home)?;
    }
    Ok(tx.commit()?)
}

/// Whether all of these are here. Inside the transaction that names them.
fn all_kept(conn: &Connection, home: &Home, hashes: &HashSet<Hash>) -> Result<(), StoreError> {
    for hash in hashes {
        let kept = is_kept(conn, home, hash)?;
        hold(kept, "what it holds was freed by another process meanwhile; try again")?;
    }
    Ok(())
}

/// The file, read from its beginning.
struct Source<'a>(BufReader<&'a mut File>);

impl<'a> Source<'a> {
    fn new(file: &'a mut File) -> Result<Source<'a>, StoreError> {
        let found = file.seek(SeekFrom::Start(0));
        found
            .map_err(|why| StoreError::NotImported { why: format!("it cannot be read: {why}") })?;
        Ok(Source(BufReader::new(file)))
    }

    /// A line of canonical JSON with exactly the keys it should have.
    fn line<T: Serialize + DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        let mut line = Vec::new();
        let read = (&mut self.0).take(MOST_LINE).read_until(b'\n', &mut line);
        hold(read.is_ok() && line.pop() == Some(b'\n'), "it was cut off, or a line is too long")?;
        let value: Option<T> = serde_json::from_slice(&line).ok();
        let same = |value: &T| to_canonical(value).is_ok_and(|again| again.as_bytes() == line);
        match value.filter(same) {
            Some(value) => Ok(value),
            None => refuse("it is no export of Cairn, or of a later version"),
        }
    }

    fn header(&mut self) -> Result<Header, StoreError> {
        let header: Header = self.line()?;
        let known = header.r#type == "export" && header.format == FORMAT && header.v == 1;
        hold(known, "it is no export of Cairn, or of a later version")?;
        let names = header.runs.iter().map(|run| &run.name).chain([&header.name]).flatten();
        let plain = |name: &String| {
            !name.is_empty() && name.len() <= MOST_NAME && !name.chars().any(char::is_control)
        };
        hold(names.into_iter().all(plain), "a name in it is too long, empty or not plain text")?;
        Ok(header)
    }

    /// So many bytes, if they are not too many. Nothing is set aside for bytes that do not come.
    fn exactly(&mut self, bytes: u64, most: u64) -> Result<Vec<u8>, StoreError> {
        if bytes > most {
            return refuse(format!("a part of it has {bytes} bytes; {most} are taken at most"));
        }
        let mut found = Vec::new();
        let read = (&mut self.0).take(bytes).read_to_end(&mut found);
        hold(read.is_ok() && found.len() as u64 == bytes, "it was cut off")?;
        Ok(found)
    }

    /// Every content in order, each with its hash checked, and then the file's end.
    fn contents(
        &mut self,
        header: &Header,
        each: &mut dyn FnMut(Hash, Vec<u8>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut last = None;
        for _ in 0..header.contents {
            let line: ContentHeader = self.line()?;
            let next = line.r#type == "content" && Some(line.hash) > last;
            hold(next, "its contents are not in order")?;
            last = Some(line.hash);
            let content = self.exactly(line.bytes, MOST_CONTENT)?;
            if Hash::of(&content) != line.hash {
                return refuse(format!("the content {} does not have that hash", line.hash));
            }
            hold(self.exactly(1, 1)? == b"\n", "a content is longer than it says")?;
            each(line.hash, content)?;
        }
        let mut more = [0];
        hold(self.0.read(&mut more).is_ok_and(|read| read == 0), "something follows its end")
    }
}
