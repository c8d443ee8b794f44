//! What can go wrong with a response, and doing it to a connection. Bytes count over the whole
//! response, its head included.

use crate::wire::{Connection, Response};
use std::io;
use std::time::Duration;

/// A fault to inject into one response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed after so many bytes.
    CutClose(usize),
    /// The connection is reset after so many bytes.
    CutReset(usize),
    /// After so many bytes nothing comes for so long; then the rest does.
    Stall(usize, Duration),
    /// The response is this status instead.
    Status {
        /// The status.
        code: u16,
        /// The body.
        body: String,
        /// The value of `Retry-After`.
        retry_after: Option<String>,
    },
    /// These bytes instead of the whole response, head included, and then the connection closes.
    Garbage(Vec<u8>),
    /// These pieces instead of the whole response, head included, with so much time between them, and then the
    /// connection closes.
    Pieces(Vec<Vec<u8>>, Duration),
}

/// Whether a connection can carry another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connected {
    Yes,
    No,
}

impl Fault {
    /// A status with a body and no `Retry-After`.
    #[must_use]
    pub fn status(code: u16, body: impl Into<String>) -> Self {
        Fault::Status { code, body: body.into(), retry_after: None }
    }

    /// Sends what is left of a response under this fault.
    pub(crate) fn send(
        &self,
        connection: &mut Connection,
        response: &Response,
    ) -> io::Result<Connected> {
        let bytes = response.bytes();
        let until = |at: &usize| (*at).min(bytes.len());
        match self {
            Fault::CutClose(at) => connection.write(&bytes[..until(at)])?,
            Fault::CutReset(at) => {
                connection.write(&bytes[..until(at)])?;
                connection.reset_on_close()?;
            }
            Fault::Garbage(garbage) => connection.write(garbage)?,
            Fault::Pieces(pieces, pause) => {
                for piece in pieces {
                    connection.write(piece)?;
                    connection.pause(*pause);
                }
            }
            Fault::Stall(at, pause) => {
                connection.write(&bytes[..until(at)])?;
                connection.pause(*pause);
                connection.write(&bytes[until(at)..])?;
                return Ok(Connected::Yes);
            }
            Fault::Status { code, body, retry_after } => {
                let response = Response::plain(*code, body, retry_after.as_deref());
                connection.write(&response.bytes())?;
                return Ok(Connected::Yes);
            }
        }
        Ok(Connected::No)
    }
}
