//! What a command was confined by, by name.

use crate::open_name::open_names;

open_names! {
    /// A layer of the confinement of a command.
    SandboxLayer {
        /// A user namespace.
        UserNamespace = "user-namespace",
        /// A mount namespace.
        MountNamespace = "mount-namespace",
        /// A process namespace.
        PidNamespace = "pid-namespace",
        /// A network namespace.
        NetworkNamespace = "network-namespace",
        /// A namespace for inter-process communication.
        IpcNamespace = "ipc-namespace",
        /// A `/proc` of its own.
        OwnProc = "own-proc",
        /// A root with only what it needs.
        MinimalRoot = "minimal-root",
        /// Landlock rules.
        Landlock = "landlock",
        /// A system call filter.
        Seccomp = "seccomp",
        /// A limit on processes.
        ProcessCap = "process-cap",
        /// A limit on memory.
        MemoryCap = "memory-cap",
        /// A process that takes in orphaned children.
        Subreaper = "subreaper",
        /// An overlay: what the command changes does not count before it was looked at.
        Overlay = "overlay",
    }
}

impl SandboxLayer {
    /// Joins the names of layers for a line of text.
    #[must_use]
    pub fn join_names(layers: &[SandboxLayer]) -> String {
        layers.iter().map(SandboxLayer::as_str).collect::<Vec<_>>().join(", ")
    }
}
