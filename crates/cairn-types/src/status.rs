//! What became of an op or a loop, as an HTTP-like number.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An HTTP-like status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Status(pub u16);

impl Status {
    /// Begun, and going on by itself.
    pub const RUNNING: Status = Status(102);
    /// Done.
    pub const OK: Status = Status(200);
    /// Made something new.
    pub const CREATED: Status = Status(201);
    /// Not as it was asked for: the text as it stands, where a structure was wanted.
    pub const RAW: Status = Status(203);
    /// Looked, found nothing.
    pub const NOTHING_FOUND: Status = Status(204);
    /// Nothing changed.
    pub const UNCHANGED: Status = Status(304);
    /// The request makes no sense.
    pub const BAD_REQUEST: Status = Status(400);
    /// Refused by a person, a mode or a policy.
    pub const REFUSED: Status = Status(403);
    /// There is no such thing.
    pub const NOT_FOUND: Status = Status(404);
    /// It took too long.
    pub const TIMED_OUT: Status = Status(408);
    /// The world is not as the request assumed.
    pub const CONFLICT: Status = Status(409);
    /// It was there, and is no more.
    pub const GONE: Status = Status(410);
    /// Too large.
    pub const TOO_LARGE: Status = Status(413);
    /// Not text.
    pub const NOT_TEXT: Status = Status(415);
    /// The scope lies outside the content.
    pub const OUT_OF_RANGE: Status = Status(416);
    /// Understood, but cannot be done as asked.
    pub const UNPROCESSABLE: Status = Status(422);
    /// A limit was reached.
    pub const LIMIT: Status = Status(429);
    /// Cancelled.
    pub const CANCELLED: Status = Status(499);
    /// Failed, or nobody knows whether it happened.
    pub const FAILED: Status = Status(500);
    /// There is no such tool.
    pub const NOT_IMPLEMENTED: Status = Status(501);

    /// Whether whoever says it to all who listen has said the last word: it is done, there was nothing to do, it
    /// cannot be done, or it is given up.
    #[must_use]
    pub fn ends_work(self) -> bool {
        matches!(
            self,
            Status::OK | Status::NOTHING_FOUND | Status::UNPROCESSABLE | Status::CANCELLED
        )
    }

    /// Whether the op acted, or looked and answered.
    #[must_use]
    pub fn is_success(self) -> bool {
        self.0 < 400
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
