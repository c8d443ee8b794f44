//! Runs a command to its end: reads its output, keeps its time, and ends all it started.

use crate::confine::{Confined, Confining, Held};
use crate::guard::Hold;
use crate::kept::{Ends, Kept};
use crate::report::{self, Report, Tag};
use crate::start::{Started, start};
use crate::way_out::WayOut;
use crate::{End, Errors, Finished, Over, SandboxError, Spec, Wanted, Way};
use cairn_types::SandboxLayer;
use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions, pidfd_send_signal, waitid};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio_util::sync::CancellationToken;

/// How much output is read at once.
const CHUNK: usize = 64 * 1024;
/// How long we wait for everything to end after we ended it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs the command. When this returns, or when its future is dropped, everything the command
/// started has ended. `on_output` sees every byte that passes the filter as it comes.
pub async fn run(
    mut spec: Spec,
    cancel: &CancellationToken,
    on_output: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Finished, SandboxError> {
    let mut kept = Kept::new(spec.keep.clone());
    let mut sink = |chunk: &[u8]| {
        if !chunk.is_empty() {
            kept.push(chunk);
            on_output(chunk);
        }
    };
    let over = run_filtered(&mut spec, cancel, &mut sink).await?;
    Ok(over.with(kept))
}

/// Runs the command; `sink` keeps what passes the filter.
pub(crate) async fn run_filtered(
    spec: &mut Spec,
    cancel: &CancellationToken,
    sink: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Over, SandboxError> {
    let context = Arc::clone(&spec.context);
    let Some(mut filter) = spec.filter.take() else {
        return context.carry_out(spec, cancel, sink).await;
    };
    let mut filtered = |chunk: &[u8]| sink(&filter.push(chunk));
    let over = context.carry_out(spec, cancel, &mut filtered).await;
    sink(&filter.finish());
    over
}

impl Over {
    pub(crate) fn with(self, kept: Kept) -> Finished {
        let Over { end, layers, ms, errors, wanted, starved } = self;
        let Ends { head, tail, spool, bytes, hash } = kept.finish();
        Finished { end, head, tail, spool, bytes, hash, ms, layers, errors, wanted, starved }
    }
}

/// Runs a command of this machine, confined or not; `sink` is given what it prints.
pub(crate) async fn carry_out(
    spec: &Spec,
    confined: Option<&Confined>,
    cancel: &CancellationToken,
    sink: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Over, SandboxError> {
    let begun = Instant::now();
    if cancel.is_cancelled() {
        return Ok(over(End::Cancelled, Vec::new(), begun));
    }
    let ways = if confined.is_some() { &[Hold::Confined] } else { ways(spec.way) };
    for (n, hold) in ways.iter().enumerate() {
        let is_last = n + 1 == ways.len();
        let mut command = match Command::start(spec, *hold, confined) {
            Ok(command) => command,
            Err(SandboxError::Start { .. }) if !is_last => continue,
            Err(problem) => return Err(problem),
        };
        let stopped = command.watch(spec, cancel, sink).await?;
        let report = command.report();
        match settle(report, stopped, spec, command.confining()) {
            Settled::End(end, layers) => {
                return Ok(Over {
                    errors: std::mem::take(&mut command.errors.kept),
                    wanted: command.way_out.wanted(),
                    starved: command.confining.as_ref().map_or(0, Held::starved),
                    ..over(end, layers, begun)
                });
            }
            Settled::TryNext(_) if !is_last => {}
            Settled::TryNext(problem) | Settled::Problem(problem) => return Err(problem),
        }
    }
    Err(SandboxError::GuardianKilled)
}

fn ways(way: Way) -> &'static [Hold] {
    match way {
        Way::Best if rustix::process::geteuid().is_root() => {
            &[Hold::Namespace, Hold::UserNamespace, Hold::Subreaper]
        }
        Way::Best => &[Hold::UserNamespace, Hold::Subreaper],
        Way::Subreaper => &[Hold::Subreaper],
    }
}

fn over(end: End, layers: Vec<SandboxLayer>, begun: Instant) -> Over {
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Over { end, layers, ms, errors: Vec::new(), wanted: Wanted::default(), starved: 0 }
}

/// What a guardian's report comes to.
enum Settled {
    End(End, Vec<SandboxLayer>),
    TryNext(SandboxError),
    Problem(SandboxError),
}

fn settle(
    report: Report,
    stopped: Option<End>,
    spec: &Spec,
    confining: Option<&Confining>,
) -> Settled {
    let start = |step, source| SandboxError::Start { step, source };
    match report.failed {
        Some((Tag::NoShell, source)) => {
            return Settled::Problem(SandboxError::Shell { shell: spec.shell.clone(), source });
        }
        Some((Tag::NoLayer, e)) => {
            return Settled::Problem(match (confining, report.stage) {
                (Some(confining), Some(stage)) => crate::confine::failed(&confining.root, stage, e),
                _ => start("confining it", e),
            });
        }
        Some((Tag::NoDirectory, e)) => return Settled::Problem(start("its directory", e)),
        Some((Tag::NoProcess, e)) => return Settled::Problem(start("a process", e)),
        Some((_, e)) => return Settled::TryNext(start("holding its processes together", e)),
        None => {}
    }
    match stopped.or(report.end) {
        _ if report.left => Settled::Problem(SandboxError::WouldNotEnd),
        Some(end) => Settled::End(end, report.layers),
        None => Settled::Problem(SandboxError::GuardianKilled),
    }
}

/// A started command. Dropping it ends it.
struct Command {
    process: AsyncFd<OwnedFd>,
    output: AsyncFd<OwnedFd>,
    errors: ErrorPipe,
    status: OwnedFd,
    life: Option<OwnedFd>,
    hold: Hold,
    reaped: bool,
    confining: Option<Held>,
    way_out: WayOut,
}

/// A command's stderr, where it is taken apart.
struct ErrorPipe {
    pipe: Option<AsyncFd<OwnedFd>>,
    most: usize,
    kept: Vec<u8>,
}

impl ErrorPipe {
    fn new(pipe: Option<OwnedFd>, errors: Errors) -> Result<Self, SandboxError> {
        let most = match errors {
            Errors::Joined => 0,
            Errors::Apart(most) => most,
        };
        Ok(Self { pipe: pipe.map(watched).transpose()?, most, kept: Vec::new() })
    }

    /// Takes what is there, waiting for something; for ever when there is no such pipe.
    async fn take_some(&mut self) -> io::Result<()> {
        let Some(pipe) = &self.pipe else { return std::future::pending().await };
        let mut buffer = [0; 4096];
        let n = read_some(pipe, &mut buffer).await?;
        if n == 0 {
            self.pipe = None;
        }
        let room = self.most - self.kept.len();
        self.kept.extend_from_slice(&buffer[..n.min(room)]);
        Ok(())
    }
}

impl Command {
    /// Starts it with its guardian.
    fn start(spec: &Spec, hold: Hold, confined: Option<&Confined>) -> Result<Self, SandboxError> {
        let Started { process, life, status, output, errors, confining, passed } =
            start(spec, hold, confined)?;
        let reach = confined.and_then(|confined| confined.reach.as_ref());
        let way_out = WayOut::new(passed, reach)?;
        let process = watched(process)?;
        let output = watched(output)?;
        let errors = ErrorPipe::new(errors, spec.errors)?;
        let (life, reaped) = (Some(life), false);
        Ok(Self { process, output, errors, status, life, hold, reaped, confining, way_out })
    }

    fn confining(&self) -> Option<&Confining> {
        self.confining.as_ref().map(|held| &held.confining)
    }

    /// Reads until the guardian, and so everything, has ended. Says what we ended it for, if we did.
    async fn watch(
        &mut self,
        spec: &Spec,
        cancel: &CancellationToken,
        sink: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<Option<End>, SandboxError> {
        let mut buffer = vec![0; CHUNK];
        let mut stopped = None;
        let mut is_open = true;
        let time_up = tokio::time::sleep(spec.timeout);
        tokio::pin!(time_up);
        loop {
            let stop = tokio::select! {
                biased;
                () = cancel.cancelled(), if stopped.is_none() => End::Cancelled,
                () = &mut time_up => End::TimedOut,
                ended = self.process.readable() => {
                    ended.map_err(|source| SandboxError::Watch { source })?.retain_ready();
                    break;
                }
                read = read_some(&self.output, &mut buffer), if is_open => {
                    let n = read.map_err(|source| SandboxError::Watch { source })?;
                    is_open = n > 0;
                    sink(&buffer[..n]);
                    continue;
                }
                opened = self.way_out.open() => {
                    opened.map_err(|source| SandboxError::Watch { source })?;
                    continue;
                }
                taken = self.errors.take_some() => {
                    taken.map_err(|source| SandboxError::Watch { source })?;
                    continue;
                }
            };
            if stopped.replace(stop).is_some() {
                return Err(SandboxError::WouldNotEnd);
            }
            self.end();
            time_up.as_mut().reset(tokio::time::Instant::now() + PATIENCE);
        }
        self.reap();
        let rest = async {
            while is_open {
                match read_some(&self.output, &mut buffer).await {
                    Ok(n) if n > 0 => sink(&buffer[..n]),
                    _ => is_open = false,
                }
            }
            while self.errors.pipe.is_some() && self.errors.take_some().await.is_ok() {}
        };
        // Someone outside may still hold the pipe: its end is never waited for.
        let _ = tokio::time::timeout(spec.grace, rest).await;
        Ok(stopped)
    }

    /// Ends the guardian and with it everything.
    fn end(&mut self) {
        if self.hold == Hold::Subreaper {
            self.life = None;
        } else {
            let _ = pidfd_send_signal(self.process.get_ref(), Signal::KILL);
        }
    }

    fn reap(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let process = WaitId::PidFd(std::os::fd::AsFd::as_fd(self.process.get_ref()));
        self.reaped = matches!(waitid(process, options), Ok(Some(_)) | Err(Errno::CHILD));
    }

    fn report(&self) -> Report {
        let mut bytes = [0; 32 * report::RECORD];
        let length = rustix::io::read(&self.status, &mut bytes).unwrap_or(0);
        report::read(&bytes[..length])
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.end();
        let until = Instant::now() + Duration::from_millis(250);
        while !self.reaped && Instant::now() < until {
            self.reap();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[expect(unsafe_code, reason = "tokio cannot see that an OwnedFd stays open")]
pub(crate) fn watched(fd: OwnedFd) -> Result<AsyncFd<OwnedFd>, SandboxError> {
    // SAFETY: the handle is owned, so it stays open and the same until the AsyncFd is dropped.
    let watched = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
    watched.map_err(|e| SandboxError::Watch { source: e.into() })
}

/// Reads what is there, waiting for something; 0 when no writer is left.
async fn read_some(output: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    output.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut *buffer)?)).await
}
