//! The door of a driven run: a socket in the home through which another terminal says a word on an open
//! question. Only the same account is let in, and one line is heard and answered.

use super::input::{command, person_named};
use cairn_engine::DecideError;
use cairn_protocol as wire;
use cairn_runtime::Command;
use cairn_types::RunId;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// The longest line that is heard: texts of files are in it.
const LONGEST: u64 = 64 << 20;
/// How long somebody at the door may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long those at the door keep a run that is over.
const PARTING: Duration = Duration::from_secs(1);

/// What is said at the door.
#[derive(Debug, Serialize, Deserialize)]
pub struct Letter {
    /// Who says it.
    pub by: String,
    /// What.
    pub command: wire::Command,
}

/// What is answered.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Reply {
    /// 200 when it was taken and is durable, else why not: 400, 404, 409.
    pub code: u16,
    /// A sentence; empty when it was taken.
    pub why: String,
    /// Of 409: when somebody else decided, milliseconds since 1970.
    pub at: Option<u64>,
}

impl From<DecideError> for Reply {
    fn from(why: DecideError) -> Reply {
        let code = match &why {
            DecideError::NoSuchProposal(_) => 404,
            DecideError::Decided { .. } | DecideError::Stale(_) => 409,
            DecideError::Unfit { .. }
            | DecideError::NoRule(_)
            | DecideError::TooWide(_)
            | DecideError::Everything(_)
            | DecideError::Misfit(_) => 400,
        };
        Reply { code, at: why.decided_at(), why: why.to_string() }
    }
}

/// Where the doors of a home are.
pub fn folder(home: &Path) -> PathBuf {
    home.join("talk")
}

/// The door of a run, by a path that is short wherever the home lies. The folder must stay open.
pub fn address(folder: &File, run: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{run}", folder.as_raw_fd()))
}

/// An open door; it is gone when this is dropped.
#[derive(Debug)]
pub struct Door {
    socket: Socket,
    /// Lets people in.
    keeper: JoinHandle<()>,
    /// Closed once nobody stands at the door.
    empty: mpsc::Receiver<()>,
}

impl Door {
    /// Lets nobody in any more and waits a little for those who are owed an answer: a word that was
    /// taken may be the one that ended the run.
    pub async fn close(self) {
        let Door { socket, keeper, mut empty } = self;
        drop(socket);
        keeper.abort();
        let _ = tokio::time::timeout(PARTING, empty.recv()).await;
    }
}

/// A socket's file.
#[derive(Debug)]
struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens the door of a run that this process drives.
pub fn open(
    home: &Path,
    run: &RunId,
    commands: mpsc::UnboundedSender<Command>,
) -> io::Result<Door> {
    let folder = folder(home);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
    let socket = Socket(folder.join(run.as_str()));
    // Whoever left one behind no longer drives the run.
    let _ = fs::remove_file(&socket.0);
    let listener = UnixListener::bind(address(&File::open(&folder)?, run.as_str()))?;
    fs::set_permissions(&socket.0, fs::Permissions::from_mode(0o600))?;
    let (inside, empty) = mpsc::channel::<()>(1);
    let keeper = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (commands, inside) = (commands.clone(), inside.clone());
            tokio::spawn(async move {
                let _ = tokio::time::timeout(PATIENCE, serve(stream, commands)).await;
                drop(inside);
            });
        }
    });
    Ok(Door { socket, keeper, empty })
}

async fn serve(mut stream: UnixStream, commands: mpsc::UnboundedSender<Command>) -> io::Result<()> {
    if stream.peer_cred()?.uid() != rustix::process::getuid().as_raw() {
        return Ok(());
    }
    let (reader, mut writer) = stream.split();
    let mut line = String::new();
    BufReader::new(reader.take(LONGEST)).read_line(&mut line).await?;
    let reply = match serde_json::from_str::<Letter>(&line) {
        Err(_) if line.len() as u64 >= LONGEST => {
            let why = format!("400: what is said is longer than {LONGEST} bytes");
            Reply { code: 400, why, at: None }
        }
        Ok(letter) => heard(letter, &commands).await,
        Err(why) => Reply { code: 400, why: format!("400: {why}"), at: None },
    };
    let mut said = serde_json::to_vec(&reply)?;
    said.push(b'\n');
    writer.write_all(&said).await
}

/// Passes a word on and waits until it is durable, or refused.
async fn heard(letter: Letter, commands: &mpsc::UnboundedSender<Command>) -> Reply {
    let refused = |code, why: String| Reply { code, why, at: None };
    let word = match command(letter.command) {
        Ok(Command::Decide(mut word, _)) => {
            word.by = person_named(&letter.by);
            word
        }
        Ok(_) => return refused(400, "400: only decisions are taken at the door".to_owned()),
        Err(why) => return refused(400, format!("400: {why}")),
    };
    let gone = || refused(404, "404: the run is no longer driven".to_owned());
    let (tell, told) = oneshot::channel();
    if commands.send(Command::Decide(word, Some(tell))).is_err() {
        return gone();
    }
    match told.await {
        Ok(Ok(())) => Reply { code: 200, ..Reply::default() },
        Ok(Err(why)) => Reply::from(why),
        Err(_) => gone(),
    }
}
