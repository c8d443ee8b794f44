//! The steps by which a command's own root is built: plain data, made before the `clone`, carried out after
//! it. Paths in the new root are relative to it; those of the machine are absolute.

use std::ffi::CString;

/// One step.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Makes a directory, unless there is one.
    Directory(CString),
    /// Makes an empty file to mount on, unless there is one.
    File(CString),
    /// Makes a link.
    Link {
        /// What it says.
        to: CString,
        /// Where it is.
        at: CString,
    },
    /// Shows something of the machine.
    Bind(Bind),
    /// Shows something of the machine in place of what is there; what is gone by then needs no cover.
    Cover(Bind),
    /// Mounts an empty file system that lives as long as the command.
    Empty {
        /// Where.
        at: CString,
        /// How large, whose, and with which mode.
        options: CString,
    },
    /// Mounts a copy-on-write view of a directory.
    Overlay {
        /// The directory that is seen through it.
        lower: Bind,
        /// Where its changes are kept: `upper` and `work` in this directory.
        layer: CString,
        /// Where.
        at: CString,
    },
    /// Has an overlay that is mounted at this place of the machine look again at what is beneath it.
    Refresh(CString),
    /// Mounts a `/proc` of the command's own processes.
    Proc(CString),
    /// Mounts terminals of its own.
    Terminals(CString),
}

/// Something of the machine that is shown in the new root.
#[derive(Debug, Clone)]
pub(crate) struct Bind {
    /// Where it is on the machine.
    pub(crate) from: CString,
    /// Which file or directory it must be: device and number.
    pub(crate) is: Option<(u64, u64)>,
    /// Where it is shown.
    pub(crate) at: CString,
    /// Whether it can be written to.
    pub(crate) write: bool,
    /// Whether devices work there.
    pub(crate) devices: bool,
    /// Whether the command runs without it when it is gone.
    pub(crate) optional: bool,
}

impl Step {
    /// What it does, for a sentence about why it failed.
    pub(crate) fn told(&self) -> String {
        let text = |text: &CString| text.to_string_lossy().into_owned();
        match self {
            Step::Directory(at) | Step::File(at) => format!("/{}", text(at)),
            Step::Link { at, .. } => format!("the link /{}", text(at)),
            Step::Bind(bind) => format!("showing {}", text(&bind.from)),
            Step::Cover(bind) => format!("covering /{}", text(&bind.at)),
            Step::Empty { at, .. } => format!("an empty /{}", text(at)),
            Step::Overlay { lower, .. } => format!("an overlay of {}", text(&lower.from)),
            Step::Refresh(at) => format!("looking again at what is beneath {}", text(at)),
            Step::Proc(_) => "a /proc of its own".to_owned(),
            Step::Terminals(_) => "terminals of its own".to_owned(),
        }
    }
}

/// A root, and the place it is built on.
#[derive(Debug)]
pub(crate) struct Root {
    /// An empty place; nothing that is shown lies beneath it.
    pub(crate) base: CString,
    /// How the root is built.
    pub(crate) steps: Vec<Step>,
}

/// Everything that confines one command, as it is carried out after the `clone`.
#[derive(Debug)]
pub(crate) struct Confining {
    /// What it sees.
    pub(crate) root: Root,
    /// The directory the command runs in, in the new root.
    pub(crate) cwd: CString,
    /// Where it may write, in the new root.
    pub(crate) writable: Vec<CString>,
    /// What the kernel lets it call.
    pub(crate) filter: Vec<libc::sock_filter>,
    /// Capabilities that root keeps, as bits.
    pub(crate) capabilities: u64,
    /// So many processes it may have at once.
    pub(crate) processes: u32,
    /// What its group does.
    pub(crate) group: Grouped,
}

/// What a group does for the commands in it; nothing where there is none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Grouped {
    /// It bounds their memory.
    pub(crate) bounds: bool,
    /// It counts their processes.
    pub(crate) counts: bool,
}
