//! A stream of server-sent events: how it is asked for, and what is handed on until it ends. It is not asked for
//! again when it ends.

use super::events::{Events, TooLarge};
use super::{Ending, refused};
use crate::reach::{
    Address, Asked, Asking, Head, Leads, MOST, Said, Web, cause, refusal, unpacked,
};
use cairn_types::{Status, StreamState};
use cairn_world::Refusal;
use reqwest::Response;
use reqwest::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};

/// What a stream of events is declared as.
const EVENTS: &str = "text/event-stream";

/// Asks for a stream of events.
pub(super) async fn open(
    address: &Address,
    web: &Web,
    leads: &Leads,
) -> Result<Box<Response>, Refusal> {
    let headers = HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static(EVENTS)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ]);
    let asked = Asking { web, leads: Some(leads), headers }.ask(address).await?;
    match asked {
        Asked { said: Said::More(response), heads } if response.status() == 200 => {
            heads.last().map_or(Ok(()), fits)?;
            Ok(response)
        }
        asked => Err(refused(asked, "that is no stream of events").await),
    }
}

/// Whether an answer is what was asked for.
fn fits(head: &Head) -> Result<(), Refusal> {
    let declared = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let declared = String::from_utf8_lossy(declared);
    let essence = declared.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(EVENTS) {
        let is = if essence.is_empty() { "of no type" } else { essence };
        let text = format!("{} is {is}, not {EVENTS}, and is not opened", head.address);
        return Err(refusal(Status::NOT_TEXT, text));
    }
    unpacked(head)
}

/// Hands on what comes until it ends.
pub(super) async fn run(mut response: Box<Response>, hand_on: &mut impl FnMut(&[u8])) -> Ending {
    let mut events = Events::default();
    loop {
        match response.chunk().await {
            Ok(None) => return (StreamState::Exited, "closed by the server".to_owned()),
            Err(why) => {
                return (StreamState::Failed, format!("the connection broke: {}", cause(why)));
            }
            Ok(Some(piece)) => {
                if let Err(TooLarge) = events.push(&piece, hand_on) {
                    let why = format!("413: an event is larger than {} MiB", MOST >> 20);
                    return (StreamState::Failed, why);
                }
            }
        }
    }
}
