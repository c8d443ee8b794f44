//! Starts a guardian with its command: prepares all it needs, then makes the one `clone`.
#![expect(unsafe_code, reason = "clone, and the signal mask around it")]

use crate::confine::{Confined, Held};
use crate::guard::{self, Hold, Plan};
use crate::{Errors, Input, SandboxError, Spec, enter, ids, way_out};
use rustix::fs::{MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// The stack of a process on its way to `exec`, in 16-byte words: 64 KiB.
const STACK_WORDS: usize = 4096;

/// A guardian that was started, and the handles to it.
pub(crate) struct Started {
    /// The guardian itself.
    pub(crate) process: OwnedFd,
    /// Open as long as we live; its end is the guardian's sign.
    pub(crate) life: OwnedFd,
    /// Its report. Does not block.
    pub(crate) status: OwnedFd,
    /// The command's output. Does not block.
    pub(crate) output: OwnedFd,
    /// Its stderr, where that is taken apart. Does not block.
    pub(crate) errors: Option<OwnedFd>,
    /// What confines it.
    pub(crate) confining: Option<Held>,
    /// What the socket for its proxy comes by.
    pub(crate) passed: Option<OwnedFd>,
}

/// The texts a command is made of, as the system takes them.
struct Texts {
    shell: CString,
    argv: Vec<CString>,
    envp: Vec<CString>,
}

impl Texts {
    fn new(spec: &Spec, confined: Option<&Confined>) -> Result<Self, SandboxError> {
        let text = |what, bytes: &[u8]| CString::new(bytes).map_err(|_| SandboxError::Nul { what });
        let shell = text("the shell's path", spec.shell.as_os_str().as_bytes())?;
        let mut argv = vec![shell.clone()];
        for flag in &spec.flags {
            argv.push(text("an argument", flag.as_bytes())?);
        }
        if !spec.command.is_empty() {
            argv.push(text("the command", spec.command.as_bytes())?);
        }
        let reach = confined.and_then(|confined| confined.reach.as_ref());
        let out = way_out::VARIABLES.iter().filter(|_| reach.is_some());
        let own = spec.env.iter().filter(|(name, _)| {
            let is_out = way_out::VARIABLES.iter().any(|(known, _)| known == name);
            // Its own place for temporary files is where such files usually are.
            let is_place = confined.is_some() && name == "TMPDIR";
            !(reach.is_some() && is_out || is_place)
        });
        let pairs = own.map(|(name, value)| format!("{name}={value}"));
        let pairs = pairs.chain(out.map(|(name, value)| format!("{name}={value}")));
        let envp =
            pairs.map(|pair| text("the environment", pair.as_bytes())).collect::<Result<_, _>>()?;
        Ok(Self { shell, argv, envp })
    }
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|t| t.as_ptr()).chain([ptr::null()]).collect()
}

fn refused(step: &'static str) -> impl Fn(rustix::io::Errno) -> SandboxError {
    move |e| SandboxError::Start { step, source: e.into() }
}

/// A pipe whose reading end does not block.
fn quiet_pipe() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(refused("a pipe"))?;
    rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK).map_err(refused("a pipe"))?;
    Ok((read, write))
}

/// A file without a name that holds what the command reads: nobody has to write while it runs.
fn file_of(input: &[u8]) -> Result<OwnedFd, SandboxError> {
    let refused = refused("a file for its input");
    let file = rustix::fs::memfd_create(c"input", MemfdFlags::CLOEXEC).map_err(&refused)?;
    let mut left = input;
    while !left.is_empty() {
        let n = rustix::io::write(&file, left).map_err(&refused)?;
        left = &left[n..];
    }
    rustix::fs::seek(&file, SeekFrom::Start(0)).map_err(&refused)?;
    Ok(file)
}

/// Starts the command held in this way.
pub(crate) fn start(
    spec: &Spec,
    hold: Hold,
    confined: Option<&Confined>,
) -> Result<Started, SandboxError> {
    let texts = Texts::new(spec, confined)?;
    let (argv, envp) = (pointers(&texts.argv), pointers(&texts.envp));
    let (uid_map, gid_map) = ids::own();
    let (output, output_end) = quiet_pipe()?;
    let (status, status_end) = quiet_pipe()?;
    let (life_end, life) = pipe_with(PipeFlags::CLOEXEC).map_err(refused("a pipe"))?;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let input = match &spec.input {
        Input::Bytes(bytes) => file_of(bytes)?,
        Input::From(fd) => {
            fd.try_clone().map_err(|source| SandboxError::Start { step: "its input", source })?
        }
        Input::Nothing => {
            rustix::fs::open("/dev/null", flags, Mode::empty()).map_err(refused("/dev/null"))?
        }
    };
    let (errors, errors_end) = match spec.errors {
        Errors::Joined => (None, None),
        Errors::Apart(_) => {
            let (read, write) = quiet_pipe()?;
            (Some(read), Some(write))
        }
    };
    let held = confined.map(|confined| confined.sandbox.confining(confined));
    let held = held.transpose()?;
    let has_way_out = confined.is_some_and(|confined| confined.reach.is_some());
    let (passed, pass_end) = match has_way_out {
        true => {
            let ends = way_out::ends()
                .map_err(|source| SandboxError::Start { step: "a socket", source })?;
            (Some(ends.0), Some(ends.1))
        }
        false => (None, None),
    };
    // For a handful of system calls; only its last pages are ever touched.
    let mut stack: Vec<u128> = Vec::with_capacity(STACK_WORDS);
    let plan = Plan {
        hold,
        stack_end: stack.spare_capacity_mut().as_mut_ptr_range().end.cast(),
        shell: texts.shell.as_ptr(),
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        uid_map: uid_map.as_bytes(),
        gid_map: gid_map.as_bytes(),
        cwd: spec.cwd.as_fd().as_raw_fd(),
        input: input.as_raw_fd(),
        output: output_end.as_raw_fd(),
        errors: errors_end.as_ref().unwrap_or(&output_end).as_raw_fd(),
        status: status_end.as_raw_fd(),
        life: life_end.as_raw_fd(),
        confining: held.as_ref().map_or(ptr::null(), |held| ptr::from_ref(&held.confining)),
        pass: pass_end.as_ref().map_or(-1, AsRawFd::as_raw_fd),
    };
    let process = match &held {
        Some(held) => {
            enter::start(&plan, held.ground.handles(), held.group()).map_err(|source| {
                SandboxError::Layer { what: "namespaces of its own".to_owned(), source }
            })?
        }
        None => clone_guardian(&plan)
            .map_err(|source| SandboxError::Start { step: "a process", source })?,
    };
    Ok(Started { process, life, status, output, errors, confining: held, passed })
}

/// Starts a guardian that confines nothing.
fn clone_guardian(plan: &Plan) -> io::Result<OwnedFd> {
    let namespaces = match plan.hold {
        Hold::Namespace => libc::CLONE_NEWPID,
        Hold::UserNamespace => libc::CLONE_NEWPID | libc::CLONE_NEWUSER,
        Hold::Subreaper | Hold::Confined => 0,
    };
    let mut pidfd = -1;
    // SAFETY: with every signal blocked no handler runs in the copy before its own mask and
    // dispositions are set. The copy only runs `guard`, which makes system calls and never
    // returns; the plan's pointers live in the caller's frame, of which it has a copy. The
    // handle written by a successful clone is ours alone.
    guard::unsignalled(|| unsafe {
        let made = guard::clone(namespaces | libc::CLONE_PIDFD, &raw mut pidfd);
        if made == 0 {
            guard::guard(plan);
        }
        made
    })?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(pidfd) })
}
