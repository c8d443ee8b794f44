//! OpenAI Responses, without anything kept at the server: how a request is written and how an
//! answer is read.

mod body;
mod reply;

pub(crate) use body::render;
pub(crate) use reply::Reply;
