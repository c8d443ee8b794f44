//! What a guardian tells us through its status pipe: five-byte records, each written at once.

use crate::End;
use std::io;

/// A record's length: its tag and a number.
pub(crate) const RECORD: usize = 5;

/// The kinds of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    /// A PID namespace holds the command.
    PidNamespace = 1,
    /// It sees a `/proc` of its own.
    OwnProc = 2,
    /// A subreaper holds the command.
    Subreaper = 3,
    /// This way of holding it cannot be had; the number is the system's reason.
    NoSuchWay = 4,
    /// Its directory could not be entered.
    NoDirectory = 5,
    /// The process for it could not be made.
    NoProcess = 6,
    /// The shell could not be executed.
    NoShell = 7,
    /// It exited with this code.
    Exited = 8,
    /// It was ended by this signal.
    Signalled = 9,
    /// Something it started could not be ended.
    Left = 10,
}

const TAGS: [Tag; 10] = [
    Tag::PidNamespace,
    Tag::OwnProc,
    Tag::Subreaper,
    Tag::NoSuchWay,
    Tag::NoDirectory,
    Tag::NoProcess,
    Tag::NoShell,
    Tag::Exited,
    Tag::Signalled,
    Tag::Left,
];

/// Everything a guardian told.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) layers: Vec<String>,
    pub(crate) end: Option<End>,
    pub(crate) failed: Option<(Tag, io::Error)>,
    pub(crate) left: bool,
}

/// One record's bytes.
pub(crate) fn record(tag: Tag, number: i32) -> [u8; RECORD] {
    let [a, b, c, d] = number.to_le_bytes();
    [tag as u8, a, b, c, d]
}

/// Reads the records; an unknown or cut one is passed over.
pub(crate) fn read(bytes: &[u8]) -> Report {
    let mut report = Report::default();
    for chunk in bytes.chunks_exact(RECORD) {
        let number = i32::from_le_bytes([chunk[1], chunk[2], chunk[3], chunk[4]]);
        let Some(tag) = TAGS.into_iter().find(|t| *t as u8 == chunk[0]) else { continue };
        match tag {
            Tag::PidNamespace => report.layers.push("pid-namespace".to_owned()),
            Tag::OwnProc => report.layers.push("own-proc".to_owned()),
            Tag::Subreaper => report.layers.push("subreaper".to_owned()),
            Tag::NoSuchWay | Tag::NoDirectory | Tag::NoProcess | Tag::NoShell => {
                report.failed = Some((tag, io::Error::from_raw_os_error(number)));
            }
            Tag::Exited => report.end = Some(End::Exited(number)),
            Tag::Signalled => report.end = Some(End::Signalled(number)),
            Tag::Left => report.left = true,
        }
    }
    report
}
