//! What a guardian tells us through its status pipe: five-byte records, each written at once.

use crate::End;
use cairn_types::SandboxLayer;
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
    /// What it was kept in, as bits in the order of `LAYERS`.
    Confined = 11,
    /// Something that confines it failed: a stage in the upper half, the system's reason in the lower.
    NoLayer = 12,
}

/// The bit of the cap on processes: had where the kernel counts by namespace, or by group.
pub(crate) const PROCESS_CAP: i32 = 1 << 9;
/// The bit of the cap on memory: had where a group can be made.
pub(crate) const MEMORY_CAP: i32 = 1 << 10;

/// What a confined command is kept in; the last two where they are to be had.
pub(crate) const LAYERS: [SandboxLayer; 11] = [
    SandboxLayer::UserNamespace,
    SandboxLayer::MountNamespace,
    SandboxLayer::PidNamespace,
    SandboxLayer::NetworkNamespace,
    SandboxLayer::IpcNamespace,
    SandboxLayer::OwnProc,
    SandboxLayer::MinimalRoot,
    SandboxLayer::Landlock,
    SandboxLayer::Seccomp,
    SandboxLayer::ProcessCap,
    SandboxLayer::MemoryCap,
];

const TAGS: [Tag; 12] = [
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
    Tag::Confined,
    Tag::NoLayer,
];

/// Everything a guardian told.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) layers: Vec<SandboxLayer>,
    pub(crate) end: Option<End>,
    pub(crate) failed: Option<(Tag, io::Error)>,
    /// The stage of confining it that failed.
    pub(crate) stage: Option<i32>,
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
            Tag::PidNamespace => report.layers.push(SandboxLayer::PidNamespace),
            Tag::OwnProc => report.layers.push(SandboxLayer::OwnProc),
            Tag::Subreaper => report.layers.push(SandboxLayer::Subreaper),
            Tag::NoSuchWay | Tag::NoDirectory | Tag::NoProcess | Tag::NoShell => {
                report.failed = Some((tag, io::Error::from_raw_os_error(number)));
            }
            Tag::Exited => report.end = Some(End::Exited(number)),
            Tag::Signalled => report.end = Some(End::Signalled(number)),
            Tag::Left => report.left = true,
            Tag::Confined => {
                let is_in = |n: &usize| number & (1 << n) != 0;
                let names = (0..LAYERS.len()).filter(is_in).map(|n| LAYERS[n].clone());
                report.layers.extend(names);
            }
            Tag::NoLayer => {
                report.stage = Some(number >> 16);
                report.failed = Some((tag, io::Error::from_raw_os_error(number & 0xffff)));
            }
        }
    }
    report
}
