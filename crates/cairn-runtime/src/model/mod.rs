//! Asking the model: the messages and the system message it is sent, what a call may cost, and what it answered.
//! When it is asked is the engine's to decide.

mod ask;
pub(crate) mod calls;
pub(crate) mod messages;
pub(crate) mod model_calls;
pub(crate) mod money;
pub(crate) mod nested;
mod packet;
pub(crate) mod prepared_ask;
pub(crate) mod system;
pub(crate) mod transcript;
mod written;
