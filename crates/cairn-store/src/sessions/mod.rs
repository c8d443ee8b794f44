//! What belongs to a session rather than to one run: entries, mail, money, subscriptions and answers, each written
//! with the rows that say it; and deleting a session with all that.

pub(crate) mod answers;
pub(crate) mod entries;
pub(crate) mod mail;
pub(crate) mod money;
pub(crate) mod remove;
pub(crate) mod session_rows;
pub(crate) mod subscriptions;
